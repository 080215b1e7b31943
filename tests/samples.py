"""Small samples made by hand, and the properties that every statistic has on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np
import pandas as pd
from hypothesis import strategies

from analysis.sample import Sample, restrict, with_ratings
from analysis.snapshots import Snapshot
from analysis.statistics import Statistic, statistics
from analysis.venues import Question, Scale, venue_year

SCALE = Scale((1, 3, 6, 8), {1: "reject", 3: "weak reject", 6: "weak accept", 8: "accept"}, accept_from=6)
FOUR = Scale((1, 2, 3, 4), {level: f"level {level}" for level in range(1, 5)})
OUTCOMES = ("accepted", "rejected", "withdrawn")

# A paper: its ratings with an experience each (0 = not said), and its outcome.
reviews = strategies.lists(
    strategies.tuples(strategies.sampled_from(SCALE.levels), strategies.integers(0, 4)), max_size=5
)
papers = strategies.lists(strategies.tuples(reviews, strategies.sampled_from(OUTCOMES)), max_size=30)


def make_sample(
    ratings: Sequence[Sequence[int]],
    outcomes: Sequence[str] = (),
    tiers: Sequence[str | None] = (),
    experience: Sequence[Sequence[int]] = (),
    scale: Scale | None = SCALE,
    stage: str = "release",
    known: str = "complete",
    year: int = 2020,
    described: bool = True,
    official: dict[str, int] | None = None,
) -> Sample:
    """The whole sample of these papers: each a list of ratings, and of experiences (0 = not said) beside them."""
    rows = [(paper, rating) for paper, some in enumerate(ratings) for rating in some]
    given = [level or np.nan for some in experience for level in some] or [np.nan] * len(rows)
    frame = pd.DataFrame(rows, columns=["paper", "rating"]).astype("int64").assign(confidence=given, experience=given)
    frame["rating"] = frame["rating"].astype("int8")
    frame.insert(1, "review", np.arange(len(frame), dtype="uint64"))
    outcomes = list(outcomes) or ["rejected"] * len(ratings)
    listed = {"paper": np.arange(len(ratings)), "outcome": outcomes, "tier": list(tiers) or [None] * len(ratings)}
    form = replace(
        venue_year("ICLR", 2020),
        rating=Question("rating", scale) if scale else None,
        experience=Question("experience", FOUR),
        confidence=Question("confidence", FOUR),
        tiers=("talk", "poster"),
        official=official or {},
        described=described,
    )
    listed = with_ratings(pd.DataFrame(listed), frame, scale.accept_from if scale else None)
    return Sample(snapshot(year, stage, known, len(listed), len(frame)), form, "all", listed, frame)


def snapshot(year: int, stage: str, known: str, papers: int, reviews: int) -> Snapshot:
    taken = datetime(year - 1, 11, 8)
    name = "final" if stage == "final" else f"{taken:%Y-%m-%d}"
    return Snapshot(1, "ICLR", year, name, stage, taken, "test", known, "test", "test", papers, reviews, "")


def drawn_sample(drawn: Sequence[tuple], population: str = "all", **options) -> Sample:
    """The sample of papers that the strategy `papers` drew."""
    ratings = [[rating for rating, _ in some] for some, _ in drawn]
    experience = [[level for _, level in some] for some, _ in drawn]
    outcomes = [outcome for _, outcome in drawn]
    return restrict(make_sample(ratings, outcomes, experience=experience, **options), population)


def make_pair(
    papers: Sequence[Sequence[tuple[int | None, int | None, int]]], outcomes: Sequence[str] = (), **options
) -> tuple[Sample, Sample]:
    """Two snapshots of these papers: each a list of reviews as (first rating, second rating, experience), None = not there."""
    before, after = (
        make_sample(
            [[review[place] for review in some if review[place] is not None] for some in papers],
            outcomes,
            experience=[[review[2] for review in some if review[place] is not None] for some in papers],
            stage=stage,
            **options,
        )
        for place, stage in enumerate(("release", "final"))
    )
    numbered = [review for some in papers for review in some]
    for place, sample in enumerate((before, after)):
        there = [number for number, review in enumerate(numbered) if review[place] is not None]
        sample.reviews["review"] = np.array(there, dtype="uint64")
    return before, after


def reordered(drawn: Sequence[tuple]) -> list[tuple]:
    """The same papers in another order, and so are the reviews of each."""
    return [(some[::-1], outcome) for some, outcome in drawn[::-1]]


def of_family(family: str, takes: str = "sample") -> list[Statistic]:
    """The statistics of one file that take a sample, or what else is named."""
    return [
        one for one in statistics().values() if one.function.__module__.endswith(f".{family}") and one.takes == takes
    ]


def assert_order_is_irrelevant(family: str, drawn: Sequence[tuple]) -> None:
    """Every statistic of a file gives the same frame, to the last bit, whatever the order of papers and reviews."""
    for one in of_family(family):
        first, second = (drawn_sample(some, one.population) for some in (drawn, reordered(drawn)))
        pd.testing.assert_frame_equal(one.function(first), one.function(second), check_exact=True, obj=one.name)


def assert_columns_hold(family: str, *samples: Sample) -> None:
    """Every statistic of a file has the same columns on all these samples, and limits around its values."""
    for one in of_family(family):
        frames = [one.function(restrict(sample, one.population)) for sample in samples]
        assert len({tuple(frame.columns) for frame in frames}) == 1, one.name
        for frame in frames:
            if {"low", "high"} <= set(frame.columns):
                known = frame.dropna(subset=["value", "low", "high"])
                assert (known["low"] <= known["value"] + 1e-12).all(), one.name
                assert (known["value"] <= known["high"] + 1e-12).all(), one.name


def edge_samples() -> list[Sample]:
    """No paper; a paper without a review; one paper with one review; papers that are all equal; an ordinary handful."""
    return [
        make_sample([]),
        make_sample([[]]),
        make_sample([[6]], ["accepted"], experience=[[3]]),
        make_sample([[6, 6]] * 5, ["accepted"] * 5, experience=[[2, 2]] * 5),
        make_sample(
            [[1, 3], [6, 8, 8], [3], []],
            ["rejected", "accepted", "withdrawn", "withdrawn"],
            experience=[[1, 2], [3, 4, 0], [2]],
        ),
    ]
