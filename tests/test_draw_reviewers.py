"""Figures of reviewers: rows in the order of the form, in its own words."""

from __future__ import annotations

import numpy as np
import pytest
from drawing import drawn, heights, lengths, notes, texts_outside, texts_that_overlap, ticks, whiskers
from samples import make_sample

from analysis.draw import draw_confidence, draw_experience, draw_panels, draw_rating_counts, draw_ratings_by_level
from analysis.statistics import reviewers


@pytest.fixture(scope="module")
def release(bundled_sample):
    return bundled_sample(2020, "2019-11-08")


@pytest.fixture(scope="module")
def big(bundled_sample):
    return bundled_sample(2026)


def test_experience_stands_in_order_with_shares_and_counts(release):
    frame = reviewers.experience(release)
    ax = drawn(draw_experience, frame)
    assert lengths(ax) == frame["value"].tolist()
    assert ticks(ax.yaxis)[0] == "1  I do not know much about this area"
    assert ax.yaxis_inverted()
    assert notes(ax) == ["14.2 %\n1,094", "32.8 %\n2,522", "34.3 %\n2,640", "18.7 %\n1,437"]
    assert ax.get_xlabel() == "share of 7,693 reviews"


def test_a_bracket_holds_the_levels_that_have_not_published(release):
    ax = drawn(draw_experience, reviewers.experience(release), published=reviewers.published_in_area(release))
    assert notes(ax)[-1] == "47.0 %\nhave not\npublished\nin this area"
    bracket = ax.lines[-1].get_ydata()
    assert (np.rint(bracket[[0, -1]]) == [0, 1]).all()
    colors = [bar.get_facecolor() for bar in ax.patches]
    assert colors[0] == colors[1] != colors[2] == colors[3]


def test_absent_levels_of_experience_keep_their_row():
    frame = reviewers.experience(make_sample([[1, 3]], experience=[[2, 2]]))
    ax = drawn(draw_experience, frame)
    assert lengths(ax) == [0, 1, 0, 0]
    assert notes(ax)[0] == "0.0 %\n0"


def test_long_wording_is_whole_where_there_is_room_and_cut_where_there_is_not(big):
    frame = reviewers.confidence(big)
    whole, cut, column = (
        ticks(drawn(draw_confidence, frame, **options).yaxis)[1].replace("\n", " ")
        for options in ({"ratio": 0.95}, {}, {"width": "column"})
    )
    assert whole == f"2  {frame['label'][1].rstrip('.')}"
    assert cut == column == "2  You are willing to defend your assessment"


def test_mean_ratings_are_dots_with_intervals_and_sizes(release):
    frame = reviewers.experience_ratings(release)
    ax = drawn(draw_ratings_by_level, frame)
    assert ax.lines[0].get_xdata().tolist() == frame["value"].tolist()
    assert [segment[:, 0].tolist() for segment in whiskers(ax)] == frame[["low", "high"]].to_numpy().tolist()
    assert notes(ax) == [
        text for n, mean in (("1,094", "4.52"), ("2,522", "4.12"), ("2,640", "3.73"), ("1,437", "3.38"))
        for text in (f"n = {n}", mean)
    ]  # fmt: skip


def test_papers_without_a_reviewer_who_has_published_stand_out(release):
    frame = reviewers.experience_panels(release)
    ax = drawn(draw_panels, frame)
    assert heights(ax) == frame["value"].tolist()
    assert ticks(ax.xaxis)[:2] == ["none", "1"]
    assert notes(ax)[0] == "13.6 %\n348"
    assert len({bar.get_facecolor() for bar in ax.patches}) == 2


def test_the_heat_map_has_a_row_a_level_in_order(release):
    frame = reviewers.experience_counts(release)
    ax = drawn(draw_rating_counts, frame)
    assert ticks(ax.yaxis)[0].startswith("1  I do not know")
    assert ticks(ax.xaxis) == ["1", "3", "6", "8"]
    assert notes(ax)[0] == "10.0 %\n109"
    assert ax.collections[0].get_array().reshape(4, 4)[3, 0] == frame[frame["level"] == 4]["value"].iloc[0]


@pytest.mark.parametrize("width", ["iclr", "column", "slide"])
def test_labels_neither_overlap_nor_leave_the_figure(release, big, width):
    published = reviewers.published_in_area(release)
    axes = [
        drawn(draw_experience, reviewers.experience(release), published=published, width=width),
        drawn(draw_confidence, reviewers.confidence(big), width=width, ratio=0.95),
        drawn(draw_ratings_by_level, reviewers.confidence_ratings(big), width=width),
        drawn(draw_panels, reviewers.experience_panels(release), width=width),
        drawn(draw_rating_counts, reviewers.confidence_counts(big), width=width),
    ]
    for ax in axes:
        assert texts_outside(ax) == []
        assert texts_that_overlap(ax) == []
