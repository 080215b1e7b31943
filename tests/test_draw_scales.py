"""Figures of years on different scales, on the bundled years."""

from __future__ import annotations

import pandas as pd
import pytest
from drawing import WIDTHS, drawn, notes, texts_outside, texts_that_overlap, ticks
from samples import edge_samples

from analysis import notebook, words
from analysis.draw import draw_preference, draw_rank_map, draw_scale_change, draw_sides
from analysis.statistics import scales
from analysis.statistics.ratings import ratings
from analysis.statistics.years import years

YEARS = (2020, 2021, 2022, 2023, 2024, 2026)


@pytest.fixture(scope="module")
def at_release(bundled_sample):
    return [bundled_sample(year, "release") for year in YEARS]


@pytest.fixture(scope="module")
def frames(at_release, bundled_sample):
    final = [bundled_sample(year, "final") for year in (2019, 2020)]
    changes = pd.concat([scales.scale_change(some, draws=20) for some in (at_release, final)], ignore_index=True)
    return {
        "sides": notebook.each_year(lambda sample: ratings(sample, draws=20), at_release),
        "years": years(at_release, draws=20),
        "rank map": scales.rank_map(at_release[::-1], draws=20),
        "preference": scales.preference(at_release, draws=20),
        "scale change": changes,
    }


def figure(frames, name: str, **options):
    draw = {"rank map": draw_rank_map, "preference": draw_preference, "scale change": draw_scale_change}
    if name == "sides":
        return drawn(draw_sides, frames[name], years=frames["years"], **options)
    return drawn(draw[name], frames[name], **options)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["sides", "rank map", "preference", "scale change"])
def test_texts_stay_inside_and_apart(frames, name, width):
    ax = figure(frames, name, width=width, ratio=0.8 if name == "rank map" else 0.56)
    assert texts_outside(ax) == []
    assert texts_that_overlap(ax) == []


def test_bars_reach_as_far_as_the_accept_side_and_the_rest(frames):
    ax = figure(frames, "sides")
    for place, row in enumerate(frames["years"].itertuples()):
        bars = [bar for bar in ax.patches if abs(bar.get_y() + bar.get_height() / 2 - place) < 0.1]
        ends = [bar.get_x() + width for bar in bars for width in (0, bar.get_width())]
        assert max(ends) == pytest.approx(row.value)
        assert min(ends) == pytest.approx(row.value - 1)
    assert "0 2 4 6 8 10" in notes(ax) and "1 to 10" in notes(ax)


def test_rules_stand_where_the_scale_changes(frames):
    ax = figure(frames, "sides")
    rules = [line.get_ydata()[0] for line in ax.lines if line.get_linestyle() == "--"]
    assert rules == [0.5, 1.5, 4.5]


def test_a_line_a_year_and_equality(frames):
    ax = figure(frames, "rank map", ratio=0.8)
    assert sorted(text for text in notes(ax) if text.isdigit()) == ["2020", "2021", "2022", "2023", "2024"]
    assert ax.get_xlabel() == "average in 2026"


def test_two_readings_are_a_range_and_one_is_a_dot(frames):
    ax = figure(frames, "preference")
    assert notes(ax)[0].count(" to ") == 1 and "to" not in notes(ax)[-2]
    assert ticks(ax.yaxis) == ["2021 against 2020", "2022 against 2021", "2023 against 2022", "2024 against 2023", "2026 against 2024"]  # fmt: skip


def test_years_on_one_scale_are_not_in_the_picture_of_the_scale(frames):
    rows = ticks(figure(frames, "scale change").yaxis)
    assert rows == ["2019 to 2020, final", "2020 to 2021, release", "2021 to 2022, release", "2024 to 2026, release"]


def test_words_say_what_the_frames_do(frames):
    told = words.scale_change(frames["scale change"])
    assert told.title.startswith("From 2024 to 2026 the mean fell by 0.67: 98 % of that is the new scale")
    assert "cannot be known" in told.caption
    assert "50.3 %" in words.preference(frames["preference"]).title
    assert "4.86 in 2024" in words.rank_map(frames["rank map"]).title
    assert "33 % (2026) to 40 % (2021)" in words.sides(frames["sides"], frames["years"]).title


@pytest.mark.filterwarnings("error")
def test_the_smallest_years_can_be_drawn_and_told():
    for sample in edge_samples():
        pair = [sample, sample]
        told = []
        for statistic, draw, tell in (
            (scales.rank_map, draw_rank_map, words.rank_map),
            (scales.preference, draw_preference, words.preference),
            (scales.scale_change, draw_scale_change, words.scale_change),
        ):
            frame = statistic(pair, draws=5)
            told.append(tell(frame))
            drawn(draw, frame)
        frame, sums = notebook.each_year(ratings, pair[:1]), years(pair[:1], draws=5)
        drawn(draw_sides, frame, years=sums)
        told.append(words.sides(frame, sums))
        assert all(one.title for one in told)
