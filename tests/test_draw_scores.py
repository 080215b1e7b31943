"""Figures of scores: what is drawn is what the frames hold."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from drawing import drawn, heights, lengths, notes, texts_outside, texts_that_overlap, ticks, whiskers
from samples import make_sample

from analysis.draw import draw_averages, draw_deciles, draw_ratings, draw_top
from analysis.draw.canvas import ACCEPT
from analysis.statistics.ratings import averages, ratings
from analysis.statistics.thresholds import deciles, top
from analysis.venues import Scale


@pytest.fixture(scope="module")
def release(bundled_sample):
    return bundled_sample(2020, "2019-11-08")


@pytest.fixture(scope="module")
def big(bundled_sample):
    return bundled_sample(2026)


# Ratings ------------------------------------------------------------------------------------------------------------


def test_bars_of_ratings_stand_on_the_declared_scale(release):
    frame = ratings(release)
    ax = drawn(draw_ratings, frame)
    assert [bar.get_x() + bar.get_width() / 2 for bar in ax.patches] == pytest.approx([1, 3, 6, 8])
    assert heights(ax) == frame["value"].tolist()
    assert ticks(ax.xaxis) == ["1\nReject", "3\nWeak Reject", "6\nWeak Accept", "8\nAccept"]
    assert notes(ax)[:4] == ["17.8 %", "45.8 %", "27.8 %", "8.6 %"]


def test_a_level_that_nobody_used_is_drawn_as_zero():
    ax = drawn(draw_ratings, ratings(make_sample([[1, 1], [6]])))
    assert heights(ax) == pytest.approx([2 / 3, 0, 1 / 3, 0])
    assert notes(ax)[:4] == ["66.7 %", "0", "33.3 %", "0"]
    assert len(ax.get_xticks()) == 4


def test_levels_next_to_each_other_do_not_merge():
    scale = Scale((0, 1, 2, 3, 4, 5, 6, 7), accept_from=4)
    ax = drawn(draw_ratings, ratings(make_sample([[0, 1, 1, 1], [3, 4, 6, 7]], scale=scale)))
    assert heights(ax) == pytest.approx(np.array([1, 3, 0, 1, 1, 0, 1, 1]) / 8)
    right = [bar.get_x() + bar.get_width() for bar in ax.patches]
    assert all(edge < bar.get_x() for edge, bar in zip(right, ax.patches[1:], strict=False))


def test_the_accept_side_is_told_by_colour_hatching_rule_and_words(release):
    ax = drawn(draw_ratings, ratings(release))
    assert [bool(bar.get_hatch()) for bar in ax.patches] == [False, False, True, True]
    assert len({bar.get_facecolor() for bar in ax.patches}) == 2
    assert [line.get_xdata()[0] for line in ax.lines] == [4.5]
    assert notes(ax)[4:] == ["below 6: 63.6 %", "accept side: 36.4 %"]


def test_without_a_known_accept_side_nothing_is_told_apart():
    ax = drawn(draw_ratings, ratings(make_sample([[1, 6]], scale=None, described=False)))
    assert len({bar.get_facecolor() for bar in ax.patches}) == 1
    assert not any("accept side" in text for text in notes(ax))


def test_own_ratings_are_marked_and_counted(big):
    texts = notes(drawn(draw_ratings, ratings(big), own=(6, 2, 6)))
    assert texts[-2:] == ["yours\n●", "yours\n●●"]


def test_intervals_of_ratings_are_drawn(release):
    frame = ratings(release)
    ends = [segment[:, 1].tolist() for segment in whiskers(drawn(draw_ratings, frame))]
    assert ends == frame[["low", "high"]].to_numpy().tolist()


def test_no_text_of_data_is_read_as_a_formula():
    scale = Scale((1, 3, 6, 8), {1: "$x_1^2$ 50% \\alpha", 3: "<b>", 6: "_", 8: "^"}, accept_from=6)
    ax = drawn(draw_ratings, ratings(make_sample([[1, 6]], scale=scale)))
    assert "$x_1^2$" in ticks(ax.xaxis)[0]
    assert not any(text.get_parse_math() for text in (*ax.get_xticklabels(), *ax.texts))


# Averages and thresholds --------------------------------------------------------------------------------------------


def test_a_needle_stands_at_every_exact_average(big):
    frame = averages(big)
    segments = whiskers(drawn(draw_averages, frame))
    assert [segment[0, 0] for segment in segments] == frame["average"].tolist()
    assert [segment[1, 1] for segment in segments] == frame["count"].tolist()


def test_hundreds_of_averages_keep_thin_needles():
    values = np.unique(np.concatenate([np.arange(10 * n + 1) / n for n in range(3, 13)]))
    frame = pd.DataFrame({"average": values, "count": np.arange(len(values)) + 1})
    ax = drawn(draw_averages, frame)
    assert len(values) > 400
    assert ax.collections[0].get_linewidth()[0] <= 0.7


def test_thresholds_are_marked_in_words(release):
    ax = drawn(draw_averages, averages(release), top=top(release))
    assert notes(ax) == ["top 10 %: 6.00 or more", "top 25 %: 5.00 or more", "top 50 %: 4.00 or more"]
    assert len({tuple(color) for color in ax.collections[0].get_colors()}) == 4


def test_the_own_average_is_marked(release):
    assert notes(drawn(draw_averages, averages(release), own=4.6666667)) == ["yours: 4.67"]


def test_the_curve_of_thresholds_goes_through_the_table(release):
    frame = top(release)
    ax = drawn(draw_top, frame)
    assert all(line.get_xdata().tolist() == frame["top"].tolist() for line in ax.lines)
    assert all(line.get_ydata().tolist() == frame["value"].tolist() for line in ax.lines)
    assert notes(ax)[:3] == ["7.33  (6 8 8)", "6.67  (6 6 8)", "6.00  (6 6 6)"]
    broad = frame[frame["high"] > frame["low"]]
    assert [segment[:, 1].tolist() for segment in whiskers(ax)] == broad[["low", "high"]].to_numpy().tolist()


# Deciles ------------------------------------------------------------------------------------------------------------


def test_deciles_stand_highest_first_with_their_sizes(release):
    frame = deciles(release)
    ax = drawn(draw_deciles, frame)
    assert lengths(ax) == frame["value"].tolist()
    assert ticks(ax.yaxis)[:3] == ["1: 6.00 to 8.00", "2: 5.20 to 5.75", "3: 5.00"]
    assert ax.yaxis_inverted()
    assert notes(ax)[0] == "89.0 % of 291"
    assert ax.get_xlabel() == "share accepted"


def test_where_outcomes_are_not_known_the_sizes_are_drawn(bundled_sample):
    frame = deciles(bundled_sample(2024))
    ax = drawn(draw_deciles, frame)
    assert lengths(ax) == frame["n"].tolist()
    assert ax.get_xlabel() == "papers"
    assert not any("%" in text for text in notes(ax))


def test_an_empty_group_is_named_as_such():
    frame = deciles(make_sample([[6, 6]] * 5, ["accepted"] * 5))
    ax = drawn(draw_deciles, frame)
    assert ticks(ax.yaxis).count("1: none") == 1
    assert len(ax.patches) == 10


# Layout -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", ["iclr", "column", "slide"])
@pytest.mark.parametrize(
    ("draw", "statistic"),
    [(draw_ratings, ratings), (draw_averages, averages), (draw_top, top), (draw_deciles, deciles)],
)
def test_labels_neither_overlap_nor_leave_the_figure(big, bundled_sample, draw, statistic, width):
    for sample in (bundled_sample(2017), big, bundled_sample(2026, "2025-11-22"), bundled_sample(2020, "release")):
        options = {"top": top(sample)} if draw is draw_averages else {}
        ax = drawn(draw, statistic(sample), width=width, **options)
        assert texts_outside(ax) == []
        assert texts_that_overlap(ax) == []


def test_one_colour_stands_for_acceptance_in_all_figures(release):
    ratings_bar = drawn(draw_ratings, ratings(release)).patches[-1].get_facecolor()
    decile_bar = drawn(draw_deciles, deciles(release)).patches[0].get_facecolor()
    assert ratings_bar == decile_bar == pytest.approx((*[int(ACCEPT[i : i + 2], 16) / 255 for i in (1, 3, 5)], 1))
