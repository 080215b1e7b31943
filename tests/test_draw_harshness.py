"""Figures of harshness, and the words with them."""

from __future__ import annotations

import re

import pytest
from drawing import WIDTHS, drawn, notes, texts_outside, texts_that_overlap, whiskers
from samples import edge_samples

from analysis import words
from analysis.draw import draw_decisions, draw_within_paper
from analysis.sample import restrict
from analysis.statistics import harshness

FIGURES = {
    "within paper": (draw_within_paper, words.within_paper, harshness.experience_within_paper),
    "decisions": (draw_decisions, words.decisions, harshness.experience_decisions),
}


@pytest.fixture(scope="module")
def release(bundled_sample):
    return bundled_sample(2020, "2019-11-08")


def test_levels_stand_around_the_average_review(release):
    frame = harshness.experience_within_paper(release, draws=40)
    ax = drawn(draw_within_paper, frame)
    dots = [x for line in ax.lines if line.get_marker() == "o" for x in line.get_xdata()]
    assert dots == frame["value"].tolist()
    low, high = ax.get_xlim()
    assert low == -high
    assert [tuple(segment[:, 0]) for segment in whiskers(ax)][-4:] == list(
        zip(frame["low"], frame["high"], strict=True)
    )
    assert {"n = 1,094", "+0.55", "\N{MINUS SIGN}0.44"} <= set(notes(ax))
    told = words.within_paper(frame, "experience")
    assert (
        told.title
        == "On the same paper, the most experienced reviewers rate 0.99 points lower than the least experienced"
    )
    assert "why they differ it does not tell" in told.caption


def test_levels_whose_intervals_overlap_are_not_told_apart(bundled_sample):
    told = words.within_paper(harshness.confidence_within_paper(bundled_sample(2017), draws=200), "confidence")
    assert told.title.endswith("rate much alike")


def test_accepted_papers_are_filled_and_rejected_ones_hollow(release):
    frame = harshness.experience_decisions(release, draws=40)
    ax = drawn(draw_decisions, frame)
    shares = {line.get_markerfacecolor(): list(line.get_xdata()) for line in ax.lines if line.get_marker() == "o"}
    assert shares["white"] == frame.loc[frame["outcome"] == "rejected", "value"].tolist()
    assert shares["#1f6fae"] == frame.loc[frame["outcome"] == "accepted", "value"].tolist()
    assert "by construction" in words.decisions(frame, "experience").caption


def test_where_only_acceptances_are_known_nothing_is_said_of_rejections(bundled_sample):
    frame = harshness.confidence_decisions(bundled_sample(2026), draws=20)
    assert notes(drawn(draw_decisions, frame))[-1] == "filled: accepted papers"
    told = words.decisions(frame, "confidence")
    assert "which others were rejected is not known" in told.caption and "rejections" not in told.title


def test_points_of_few_reviews_are_left_out(bundled_sample):
    frame = harshness.confidence_decisions(bundled_sample(2017), draws=20)
    ax = drawn(draw_decisions, frame)
    assert sum(len(line.get_xdata()) for line in ax.lines if line.get_marker() == "o") == 6
    assert "30 reviews or more" in ax.get_xlabel()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", FIGURES)
def test_labels_neither_overlap_nor_leave_the_figure(release, bundled_sample, name, width):
    draw, _, statistic = FIGURES[name]
    by_confidence = getattr(harshness, statistic.__name__.replace("experience", "confidence"))
    for frame, ratio in ((statistic(release, draws=20), 0.7), (by_confidence(bundled_sample(2023), draws=20), 0.95)):
        ax = drawn(draw, frame, width=width, ratio=ratio)
        assert texts_outside(ax) == []
        assert texts_that_overlap(ax) == []


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", FIGURES)
def test_the_first_day_and_the_smallest_conference_can_be_drawn_and_told(name):
    draw, tell, statistic = FIGURES[name]
    for sample in edge_samples():
        frame = statistic(restrict(sample, "reviewed"), draws=20)
        assert texts_outside(drawn(draw, frame)) == []
        title, caption, alt = tell(frame, "experience")
        assert all(text and not re.search(r"\bnan\b", text) for text in (title, caption, alt)), (title, caption, alt)
