"""Figures of topics, on made-up keywords with everything that text can hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from drawing import WIDTHS, drawn, notes, texts_outside, texts_that_overlap, ticks
from samples import make_sample

from analysis import words
from analysis.draw import draw_topic_funnel, draw_topics
from analysis.statistics import topics

EVIL = ["$x_1^2$", "50 % off", "<b>", "a_b^c", "=1+1", "learning theory & a very long name of a keyword that goes on"]


@pytest.fixture(scope="module")
def sample():
    """A keyword of every rate from 0 to 1, and one that is alone."""
    generator = np.random.default_rng(2)
    names = [*EVIL, *(f"keyword {number:02d}" for number in range(20))]
    marks = generator.integers(0, len(names), 1500)
    accepted = generator.random(1500) < np.linspace(0.05, 0.6, len(names))[marks]
    made = make_sample(
        [[3, 6] if one else [1, 3] for one in accepted], np.where(accepted, "accepted", "rejected").tolist()
    )
    keywords = pd.Series([[names[mark]] for mark in marks], dtype=object)
    return replace(made, papers=made.papers.assign(keywords=keywords))


@pytest.fixture(scope="module", params=[True, False], ids=["rates", "averages"])
def made(request, sample):
    frame = (topics.keywords if request.param else topics.keyword_averages)(sample)
    return frame, request.param


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("width", WIDTHS)
def test_texts_stay_inside_and_apart(made, width):
    frame, rates = made
    limits = topics.funnel_limits(frame)
    for ax in (
        drawn(draw_topic_funnel, frame, width=width, ratio=0.7, limits=limits, rates=rates),
        drawn(draw_topics, frame, width=width, ratio=0.7, rates=rates),
    ):
        assert texts_outside(ax) == []
        assert texts_that_overlap(ax) == []


def test_every_topic_is_a_dot_and_those_outside_are_named(made):
    frame, rates = made
    ax = drawn(draw_topic_funnel, frame, ratio=0.7, limits=topics.funnel_limits(frame), rates=rates)
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    assert sorted(np.concatenate([line.get_ydata() for line in dots])) == sorted(frame["value"])
    named = frame[frame["p"] <= 0.05].sort_values(["p", "topic"]).head(12)
    assert len(notes(ax)) == len(named)
    bold = sum(text.get_fontweight() == "bold" for text in ax.texts)
    assert bold == (named["q"] <= 0.05).sum()


def test_names_are_text_whatever_they_hold(made):
    frame, rates = made
    rows = ticks(drawn(draw_topics, frame.sort_values("topic", ignore_index=True), ratio=0.7, rates=rates).yaxis)
    assert {"$x_1^2$", "50 % off", "<b>", "a_b^c", "=1+1"} <= {row.replace("\N{NO-BREAK SPACE}", " ") for row in rows}


def test_where_none_stands_out_the_largest_are_named(sample):
    frame = topics.keywords(sample).assign(p=1.0, q=1.0)
    ax = drawn(draw_topic_funnel, frame, ratio=0.7, limits=topics.funnel_limits(frame))
    assert len(notes(ax)) == 3
    told = words.topic_funnel(frame, "keywords")
    assert told.title.startswith("None of") and "no reason to choose a keyword" in told.caption


def test_no_topic_at_all_is_said(sample):
    frame = topics.keywords(sample, least=10_000)
    for draw, options in ((draw_topic_funnel, {"limits": topics.funnel_limits(frame)}), (draw_topics, {})):
        drawn(draw, frame, **options)
    assert words.topics(frame, "keywords").title
