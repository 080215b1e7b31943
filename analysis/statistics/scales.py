"""Scales: what can be said of two years that did not rate on the same levels, and what each answer takes for granted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    """A way to lay the ratings of two years on one scale: matrices that take levels to places on it."""

    reading: str
    first: np.ndarray
    second: np.ndarray
    levels: np.ndarray  # the numbers of the common scale


@register("preference", takes="samples", shares=("value", "low", "high"))
def preference(samples: Sequence[Sample], draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """How often is a review of one year more favourable than one of the year before?

    `value` is the probability that a random review of `year` stands higher than a random one of `than`, ties counted
    half; `delta` is Cliff's (1993), 2 value - 1. Years on one declared scale are compared by level; other scales where
    venues.toml says which levels correspond by their words: where these leave two readings open there is a row for
    either, and the truth may lie between. Limits resample the papers of both years. Rows go from each sample to the
    next; stages are not mixed, and `note` says what is refused.
    """
    rows = [row for pair in pairwise(samples) for row in _preferred(*pair, draws, seed)]
    columns = ["year", "than", "stage", "reading", "value", "low", "high", "delta", "n", "n_than", "note"]
    return pd.DataFrame(rows, columns=columns)


def _preferred(before: Sample, after: Sample, draws: int, seed: int) -> Iterator[dict[str, object]]:
    for common, named in _readings(before, after):
        if common is None:
            yield named
            continue
        win = np.subtract.outer(common.levels, common.levels)
        win = (win > 0) + (win == 0) / 2  # rows: the level in `year`; columns: in `than`

        def share(one: np.ndarray, two: np.ndarray, win: np.ndarray = win) -> np.ndarray:
            return ((two @ win) * one).sum(axis=1) / (one.sum(axis=1) * two.sum(axis=1))

        columns = _estimated(before, after, common, share, draws, seed)
        yield {**named, **columns, "delta": 2 * columns["value"] - 1}


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
    rows = [row for pair in pairwise(samples) for row in _changed(*pair, draws, seed)]
    columns = ["year", "than", "stage", "reading", "difference", "value", "low", "high", "rest", "share", "n", "note"]
    return pd.DataFrame(rows, columns=columns)


def _changed(before: Sample, after: Sample, draws: int, seed: int) -> Iterator[dict[str, object]]:
    old, new = np.array(before.scale.levels), np.array(after.scale.levels)
    for common, named in _readings(before, after):
        if common is None:
            yield named
            continue
        first, second = common.first @ common.levels - old, new - common.second @ common.levels

        def by_label(one: np.ndarray, two: np.ndarray, first=first, second=second) -> np.ndarray:
            return one @ first / one.sum(axis=1) + two @ second / two.sum(axis=1)

        yield _part(named, before, after, by_label, draws, seed)
    if common is not None and before.scale.levels != after.scale.levels:
        yield _part({**named, "reading": "by rank"}, before, after, _difference(old, new), draws, seed)


def _difference(old: np.ndarray, new: np.ndarray):
    return lambda one, two: two @ new / two.sum(axis=1) - one @ old / one.sum(axis=1)


def _part(named: dict, before: Sample, after: Sample, estimate, draws: int, seed: int) -> dict[str, object]:
    old, new = np.array(before.scale.levels), np.array(after.scale.levels)
    columns = _estimated(before, after, _as_they_are(before.scale, after.scale), estimate, draws, seed)
    totals = (sample.profiles().sum(axis=0, keepdims=True) for sample in (before, after))
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = float(_difference(old, new)(*totals)[0])
        share = float(np.divide(columns["value"], difference)) if difference else np.nan
    return {**named, **columns, "difference": difference, "rest": difference - columns["value"], "share": share}


def _as_they_are(old: Scale, new: Scale) -> Common:
    return Common("", np.eye(len(old.levels)), np.eye(len(new.levels)), np.array(()))


def _estimated(before: Sample, after: Sample, common: Common, estimate, draws: int, seed: int) -> dict[str, object]:
    """The columns value, low, high and both n of an estimate from the reviews on each place, papers of both years
    resampled independently.
    """
    profiles = before.profiles() @ common.first, after.profiles() @ common.second
    n, n_than = (int(profile.sum()) for profile in reversed(profiles))
    if not (n and n_than):
        return {**dict.fromkeys(("value", "low", "high"), np.nan), "n": n, "n_than": n_than}
    value = estimate(*(profile.sum(axis=0, keepdims=True) for profile in profiles))[0]
    blocks = zip(resampled(profiles[0], draws, seed), resampled(profiles[1], draws, seed + 1), strict=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = limits(np.concatenate([estimate(*block) for block in blocks])[:, np.newaxis])
    return {"value": float(value), "low": float(low[0]), "high": float(high[0]), "n": n, "n_than": n_than}


def _readings(before: Sample, after: Sample) -> Iterator[tuple[Common | None, dict[str, object]]]:
    """Each way to compare two years, with the columns that name it; where there is none the reason is in `note`."""
    named, note = _named(after, before), _refused(before, after)
    found = [] if note else list(_commons(before, after))
    if not found:
        note = note or _undeclared(before, after)
        yield None, {**named, "n": len(after.reviews), "n_than": len(before.reviews), "note": note}
    for common in found:
        yield common, {**named, "reading": common.reading, "note": ""}


def _commons(before: Sample, after: Sample) -> Iterator[Common]:
    one, two = before.scale, after.scale
    if not (one.declared and two.declared):
        return
    if one.levels == two.levels:
        yield _as_they_are(one, two)._replace(reading="same scale", levels=np.array(one.levels))
    elif two.name in one.corresponds:
        for reading, matrix in _matrices(one, two, before.snapshot.year):
            yield Common(reading, matrix, np.eye(len(two.levels)), np.array(two.levels))
    elif one.name in two.corresponds:
        for reading, matrix in _matrices(two, one, after.snapshot.year):
            yield Common(reading, np.eye(len(one.levels)), matrix, np.array(one.levels))


def _matrices(scale: Scale, other: Scale, year: int) -> Iterator[tuple[str, np.ndarray]]:
    """Levels of a scale to levels of another as its words are read: one way, or low and high."""
    meant = [scale.corresponds[other.name][level] for level in scale.levels]
    open_to = any(len(levels) > 1 for levels in meant)
    for end, reading in ((0, f"by label, {year} read low"), (-1, f"by label, {year} read high")):
        place = np.searchsorted(other.levels, [levels[end] for levels in meant])
        yield (reading if open_to else "by label"), np.eye(len(other.levels))[place]
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
