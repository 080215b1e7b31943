"""Figures of texts and times, on made-up reviews of a realistic size."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import numpy as np
import pandas as pd
import pytest
from drawing import WIDTHS, drawn, heights, lengths, notes, texts_outside, texts_that_overlap, ticks
from samples import make_sample

from analysis import notebook, words
from analysis.draw import (
    draw_arrivals,
    draw_discussion,
    draw_hours,
    draw_length_curves,
    draw_thread_lengths,
)
from analysis.statistics import texts


@pytest.fixture(scope="module")
def frames():
    generator = np.random.default_rng(3)
    ratings = generator.choice([1, 3, 6, 8], (300, 3))
    sample = make_sample(ratings.tolist())
    hours = np.round(generator.normal(500, 120, 900)).clip(0).astype("timedelta64[h]")
    reviews = sample.reviews.assign(
        words=np.round(generator.lognormal(5.7 + 0.06 * sample.reviews["rating"], 0.5)),
        created_at=np.datetime64("2019-10-04", "us") + hours,
    )
    kinds = generator.choice(["authors", "reviewer", "area_chair", "public"], 1200, p=(0.7, 0.2, 0.02, 0.08))
    paper = np.sort(generator.choice(300, 1200))
    comments = pd.DataFrame({"paper": paper, "kind": "official_comment", "author_kind": kinds, "words": 80.0})
    sample = replace(sample, reviews=reviews, comments=comments)
    return {
        "lengths": notebook.each_level(texts.length_curve, sample, "rating"),
        "arrivals": texts.arrivals(sample),
        "hours": texts.hours(sample),
        "discussion": texts.discussion(sample, draws=50),
        "threads": texts.thread_lengths(sample),
    }


DRAW = {
    "lengths": (draw_length_curves, {"by": "rating"}),
    "arrivals": (draw_arrivals, {"released": date(2019, 11, 5), "due": date(2019, 10, 30)}),
    "hours": (draw_hours, {}),
    "discussion": (draw_discussion, {}),
    "threads": (draw_thread_lengths, {}),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", DRAW)
def test_texts_stay_inside_and_apart(frames, name, width):
    draw, options = DRAW[name]
    ax = drawn(draw, frames[name], width=width, **options)
    assert texts_outside(ax) == []
    assert texts_that_overlap(ax) == []


def test_a_curve_a_level_with_its_median(frames):
    frame = frames["lengths"]
    ax = drawn(draw_length_curves, frame, by="rating")
    half = frame[frame["value"] >= 0.5].drop_duplicates("rating").sort_values("words")
    said = [text for text in notes(ax) if "words" in text]
    assert said == [f"{row.rating}: {row.words:,} words, n = {row.n:,}" for row in half.itertuples()]
    assert sum(line.get_drawstyle() == "steps-post" for line in ax.lines) == 4


def test_a_bar_a_day_anywhere_on_earth_and_lines_at_what_was_due(frames):
    frame = frames["arrivals"]
    ax = drawn(draw_arrivals, frame, **DRAW["arrivals"][1])
    assert heights(ax) == frame.loc[frame["clock"] == "AoE", "count"].tolist()
    assert {"released\n5 Nov", "due\n30 Oct"} <= set(notes(ax))


def test_hours_have_both_clocks(frames):
    ax = drawn(draw_hours, frames["hours"])
    assert ticks(ax.xaxis)[:2] == ["0\n12", "3\n15"]
    assert sum(heights(ax)) == pytest.approx(1)


def test_who_kind_writes(frames):
    ax = drawn(draw_discussion, frames["discussion"])
    assert ticks(ax.yaxis) == ["authors", "reviewers", "area chairs", "the public"]
    assert sum(lengths(ax)) == pytest.approx(4)


def test_words_say_what_the_frames_do(frames):
    assert "of rating 8 have more than" in words.length_curves(frames["lengths"], "rating").title
    assert "A paper has 4.0 public comments" in words.discussion(frames["discussion"]).title
    assert "900 reviews" in words.arrivals(frames["arrivals"]).title
    assert "UTC" in words.hours(frames["hours"]).title
    assert "no public comment" in words.thread_lengths(frames["threads"]).title


@pytest.mark.filterwarnings("error")
def test_the_smallest_can_be_drawn_and_told():
    one = make_sample([[6]])
    one = replace(one, reviews=one.reviews.assign(words=7.0, created_at=np.datetime64("2019-10-04", "us")))
    comments = pd.DataFrame({"paper": [0], "kind": ["comment"], "author_kind": ["public"], "words": [3.0]})
    one = replace(one, comments=comments)
    for frame, draw, told in (
        (notebook.each_level(texts.length_curve, one, "rating"), draw_length_curves, words.length_curves),
        (texts.arrivals(one), draw_arrivals, words.arrivals),
        (texts.hours(one), draw_hours, words.hours),
        (texts.discussion(one), draw_discussion, words.discussion),
        (texts.thread_lengths(one), draw_thread_lengths, words.thread_lengths),
    ):
        more = {"by": "rating"} if draw is draw_length_curves else {}
        assert texts_outside(drawn(draw, frame, **more)) == []
        assert told(frame, *more.values()).title
