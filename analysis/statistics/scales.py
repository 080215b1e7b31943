"""Scales: what can be said of two years that did not rate on the same levels, and what each answer takes for granted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd

from analysis.sample import Sample
from analysis.statistics import register
from analysis.statistics.intervals import DRAWS, limits, resampled, resampled_counts
from analysis.statistics.ratings import attained
from analysis.venues import Scale

STEP = 0.25  # between the averages of a rank map: finer than what papers with four reviews can have


# Ranks --------------------------------------------------------------------------------------------------------------


@register("rank-map", takes="samples", shares=("percentile",))
def rank_map(samples: Sequence[Sample], draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Which average of another year stands as high among its papers as this average does among its own?

    From the first sample to each of the others, a row for every quarter point: `percentile` is the mid-rank of
    `average` in the first year (linear between the averages that occur), `value` the average of the other year with
    that mid-rank (equipercentile linking; Kolen and Brennan 2014, 2). It takes the two years' papers for equally good,
    which nobody knows: a rank is all that it keeps. `low` to `high` is the middle 95 % of bootstrap draws over the
    papers of both years; averages sit on a lattice, so it is a range and not a 95 % interval. Stages are not mixed:
    `note` says where that refuses a year.
    """
    first, *others = samples
    frames = [_mapped(first, other, draws, seed) for other in others]
    columns = ["year", "average", "percentile", "than", "value", "low", "high", "stage", "n", "n_than", "note"]
    return pd.concat(frames, ignore_index=True)[columns] if frames else pd.DataFrame(columns=columns)


def _mapped(first: Sample, other: Sample, draws: int, seed: int) -> pd.DataFrame:
    named, note = _named(first, other), _refused(first, other)
    one, two = attained(first), attained(other)
    x = _quarter_points(one["average"])
    if note or two.empty or not len(x):
        missing = dict.fromkeys(("average", "percentile", "value", "low", "high"), np.nan)
        return pd.DataFrame([{**named, **missing, "n": len(first.papers), "n_than": len(other.papers), "note": note}])
    averages = one["average"].to_numpy(), two["average"].to_numpy()
    counts = one["count"].to_numpy(), two["count"].to_numpy()
    # The two years are drawn independently, so from streams of their own.
    streams = zip(resampled_counts(counts[0], draws, seed), resampled_counts(counts[1], draws, seed + 1), strict=True)
    drawn = [_linked(x, averages, pair) for blocks in streams for pair in zip(*blocks, strict=True)]
    low, high = limits(np.array(drawn))
    columns = {"average": x, "percentile": np.interp(x, averages[0], _mid_ranks(counts[0]))}
    ends = {"value": _linked(x, averages, counts), "low": low, "high": high}
    sizes = {"n": counts[0].sum(), "n_than": counts[1].sum(), "note": ""}
    return pd.DataFrame({**columns, **ends}).assign(**named, **sizes)


def _quarter_points(averages: pd.Series) -> np.ndarray:
    """The quarter points from the lowest average to the highest."""
    if averages.empty:
        return np.array([])
    return np.arange(np.ceil(averages.iloc[0] / STEP), np.floor(averages.iloc[-1] / STEP) + 1) * STEP


def _mid_ranks(count: np.ndarray) -> np.ndarray:
    return (count.cumsum() - count / 2) / count.sum()


def _linked(x: np.ndarray, averages: tuple[np.ndarray, ...], counts: tuple[np.ndarray, ...]) -> np.ndarray:
    """The averages of the second year whose mid-ranks are those of `x` in the first."""
    (one, ranks), (two, levels) = (
        (average[count > 0], _mid_ranks(count[count > 0])) for average, count in zip(averages, counts, strict=True)
    )
    return np.interp(np.interp(x, one, ranks), levels, two)


# Review against review ----------------------------------------------------------------------------------------------


class Common(NamedTuple):
    """A way to lay the ratings of two years on one scale: matrices that take their levels to places on it."""

    reading: str
    old: np.ndarray  # the levels of the first year
    new: np.ndarray  # of the second
    first: np.ndarray
    second: np.ndarray
    levels: np.ndarray  # of the common scale


@register("preference", takes="samples", shares=("value", "low", "high"))
def preference(samples: Sequence[Sample], draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """How often is a review of one year more favourable than one of the year before?

    `value` is the probability that a random review of `year` stands higher than a random one of `than`, ties counted
    half; `delta` is Cliff's (1993), 2 value - 1. Years on one declared scale are compared by level; other scales where
    venues.toml says which levels correspond by their words: where these leave two readings open there is a row for
    either, and the truth may lie between. Limits resample the papers of both years. Rows go from each sample to the
    next; stages are not mixed, and `note` says what is refused.
    """
    rows = [row for pair in pairwise(samples) for row in _rows(*pair, _preferred, draws, seed)]
    columns = ["year", "than", "stage", "reading", "value", "low", "high", "delta", "n", "n_than", "note"]
    return pd.DataFrame(rows, columns=columns).assign(delta=lambda frame: 2 * frame["value"].astype(float) - 1)


def _preferred(common: Common, one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """The probability that a review of the second is higher, from sums over papers (draws x levels) of both."""
    above = np.subtract.outer(common.levels, common.levels)
    wins = (above > 0) + (above == 0) / 2  # rows: the level of the second; columns: of the first
    favourable = (two @ common.second @ wins * (one @ common.first)).sum(axis=1)
    return favourable / (one.sum(axis=1) * two.sum(axis=1))


@register("scale-change", takes="samples", shares=("share",))
def scale_change(samples: Sequence[Sample], draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """How much of the change of the mean rating from one year to the next is the new scale?

    Nobody can know: the same reviewers would have to rate the same papers on both scales. Two readings bound it. By
    label: reviewers choose words, and each review keeps its words on the other year's scale (the correspondences of
    venues.toml; two rows where they leave two readings open); `value` is the change that this alone makes, `rest` what
    is left for papers and reviewers. By rank: the reviews of both years are equally favourable, so all of the change
    is the scale. `difference` is the change of the mean, of use for nothing else: means of two scales are not
    comparable. `share` is value / difference. Limits resample the papers of both years. Only like stages; the words
    are weighted as the year that is put on the other's scale used them.
    """
    rows = [row for pair in pairwise(samples) for row in _rows(*pair, _made_by_words, draws, seed)]
    columns = ["year", "than", "stage", "reading", "difference", "value", "low", "high", "rest", "share", "n", "note"]
    frame = pd.DataFrame(rows, columns=columns)
    value, difference = (frame[name].to_numpy(dtype=float) for name in ("value", "difference"))
    share = np.divide(value, difference, out=np.full(len(frame), np.nan), where=difference != 0)
    return frame.assign(rest=difference - value, share=share)


def _made_by_words(common: Common, one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """The change of the mean when reviews keep their words: of the years only one is laid on the other's scale."""
    first, second = common.first @ common.levels - common.old, common.new - common.second @ common.levels
    return one @ first / one.sum(axis=1) + two @ second / two.sum(axis=1)


def _difference(common: Common, one: np.ndarray, two: np.ndarray) -> np.ndarray:
    return two @ common.new / two.sum(axis=1) - one @ common.old / one.sum(axis=1)


Estimate = Callable[[Common, np.ndarray, np.ndarray], np.ndarray]


def _rows(before: Sample, after: Sample, estimate: Estimate, draws: int, seed: int) -> Iterator[dict[str, object]]:
    """A row for each way to compare two years: the estimate with its limits, and the change of the mean.

    For what words make of it also the reading by rank, where the scales differ.
    """
    named, note = _named(after, before), _refused(before, after)
    found = [] if note else list(_commons(before, after))
    sizes = {"n": len(after.reviews), "n_than": len(before.reviews)}
    if not found:
        yield {**named, **sizes, "note": note or _undeclared(before, after)}
        return
    if estimate is _made_by_words and before.scale.levels != after.scale.levels:
        found.append(found[0]._replace(reading="by rank"))
    totals, drawn = _sums(before, after, draws, seed)
    for common in found:
        of_reading = _difference if common.reading == "by rank" else estimate
        with np.errstate(divide="ignore", invalid="ignore"):
            value, difference = (float(one(common, *totals)[0]) for one in (of_reading, _difference))
            low, high = limits(np.concatenate([of_reading(common, *sums) for sums in drawn])[:, np.newaxis])
        ends = {"value": value, "low": low[0], "high": high[0], "difference": difference}
        yield {**named, "reading": common.reading, **ends, **sizes, "note": ""}


def _sums(before: Sample, after: Sample, draws: int, seed: int) -> tuple[tuple, list[tuple[np.ndarray, np.ndarray]]]:
    """How many reviews of each level both years have, and in blocks of draws over the papers of both, independently."""
    profiles = before.profiles(), after.profiles()
    totals = tuple(profile.sum(axis=0, keepdims=True) for profile in profiles)
    if not (len(profiles[0]) and len(profiles[1])):
        return totals, [totals]
    streams = resampled(profiles[0], draws, seed), resampled(profiles[1], draws, seed + 1)
    return totals, list(zip(*streams, strict=True))


def _commons(before: Sample, after: Sample) -> Iterator[Common]:
    one, two = before.scale, after.scale
    if not (one.declared and two.declared):
        return
    old, new = np.array(one.levels), np.array(two.levels)
    keep_old, keep_new = np.eye(len(old), dtype=np.int64), np.eye(len(new), dtype=np.int64)
    if one.levels == two.levels:
        yield Common("same scale", old, new, keep_old, keep_new, old)
    elif two.name in one.corresponds:
        for reading, moved in _moved(one, two, before.snapshot.year):
            yield Common(reading, old, new, moved, keep_new, new)
    elif one.name in two.corresponds:
        for reading, moved in _moved(two, one, after.snapshot.year):
            yield Common(reading, old, new, keep_old, moved, old)


def _moved(scale: Scale, other: Scale, year: int) -> Iterator[tuple[str, np.ndarray]]:
    """Levels of a scale to levels of another as its words are read: one way, or low and high."""
    meant = [scale.corresponds[other.name][level] for level in scale.levels]
    open_to = any(len(levels) > 1 for levels in meant)
    for end, reading in ((0, f"by label, {year} read low"), (-1, f"by label, {year} read high")):
        place = np.searchsorted(other.levels, [levels[end] for levels in meant])
        yield (reading if open_to else "by label"), np.eye(len(other.levels), dtype=np.int64)[place]
        if not open_to:
            return


def _named(year: Sample, than: Sample) -> dict[str, object]:
    stages = dict.fromkeys((year.snapshot.stage, than.snapshot.stage))
    return {"year": year.snapshot.year, "than": than.snapshot.year, "stage": " and ".join(stages)}


def _refused(one: Sample, two: Sample) -> str:
    """Why two samples are not compared at all, or an empty text."""
    if one.snapshot.stage == two.snapshot.stage:
        return ""
    said = (f"{sample.snapshot.year} is {sample.snapshot.stage}" for sample in (one, two))
    return f"not compared: {', '.join(said)}"


def _undeclared(one: Sample, two: Sample) -> str:
    for sample in (one, two):
        if not sample.scale.declared:
            return f"not compared: the scale of {sample.snapshot.year} is not declared"
    scales = " and ".join(" ".join(map(str, sample.scale.levels)) for sample in (one, two))
    return f"not compared: venues.toml does not say which levels of {scales} correspond"
