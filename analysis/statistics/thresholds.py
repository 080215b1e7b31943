"""Thresholds: the average that the top x % of papers reach, and papers in ten groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.sample import Sample
from analysis.statistics import register
from analysis.statistics.intervals import DRAWS, from_resampled, limits, shares_of_papers
from analysis.statistics.ledger import knows_accepted
from analysis.statistics.ratings import attained, text_of

# The rows of the table in the thread on ICLR 2020, in thousandths: places in an order are then exact integers.
TOP = (10, 50, 100, 125, 150, 200, 250, 300, 400, 500, 600, 700, 800, 900)
GROUPS = 10


@register("top", shares=("top", "above", "at", "at_or_above"))
def top(sample: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Which average do the top 1, 5, 10 ... 90 % of papers reach?

    `value` is a threshold: the 1 - `top` quantile of the paper averages, by linear interpolation (`numpy.quantile`).
    Averages sit on a lattice and many papers share one, so more or fewer papers than `top` reach it: `above` is the
    share strictly above, `at` exactly at, `at_or_above` both. `example` is a real set of ratings that reaches it: of
    the papers with the lowest average that does, the most frequent set (then the shortest, then the lowest ratings
    first). `low` to `high` is the range of the middle 95 % of bootstrap draws over papers: on a lattice that is not a
    95 % interval.

    Checked against nvrv/iclr-analysis for both snapshots of 2019.
    """
    found = attained(sample)
    average, count = found["average"].to_numpy(), found["count"].to_numpy()
    threshold, low, high = _thresholds(average, count, draws, seed)
    n = int(count.sum())
    above, at = (_share(average, count, compare, threshold) for compare in (np.greater, np.equal))
    return pd.DataFrame(
        {
            "top": np.array(TOP) / 1000,
            "value": threshold,
            "low": low,
            "high": high,
            "above": above,
            "at": at,
            "at_or_above": above + at,
            "example": _examples(sample, threshold),
            "n": n,
        }
    )


def _thresholds(average: np.ndarray, count: np.ndarray, draws: int, seed: int) -> tuple[np.ndarray, ...]:
    """The thresholds, and the ends of their bootstrap ranges."""
    if not len(average):
        return (np.full(len(TOP), np.nan),) * 3
    drawn = from_resampled(lambda counts: quantiles(average, counts, TOP), count, draws, seed)
    return quantiles(average, count[np.newaxis], TOP)[0], *limits(drawn)


def quantiles(values: np.ndarray, counts: np.ndarray, top: Sequence[int]) -> np.ndarray:
    """The values above which `top` thousandths lie, by linear interpolation: draws x len(top).

    `values` ascend; `counts` (draws x values) says how often each occurs. As `numpy.quantile`, but with exact places.
    """
    reached = counts.cumsum(axis=1)
    last = int(reached[0, -1]) - 1
    place, rest = np.divmod(last * (1000 - np.array(top)), 1000)
    lower, upper = (values[_holding(reached, places)] for places in (place, np.minimum(place + 1, last)))
    return lower + (upper - lower) * (rest / 1000)


def _holding(reached: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Which value stands at each place (from 0) of the sorted order; `reached` says how many stand up to each."""
    return (reached[:, np.newaxis, :] <= places[np.newaxis, :, np.newaxis]).sum(axis=2)


def _share(average: np.ndarray, count: np.ndarray, compare: np.ufunc, threshold: np.ndarray) -> np.ndarray:
    """The share of papers whose average compares so with each threshold."""
    papers = compare(average[np.newaxis], threshold[:, np.newaxis]) @ count
    return np.divide(papers, count.sum(), out=np.full(len(threshold), np.nan), where=count.sum() > 0)


def _examples(sample: Sample, threshold: np.ndarray) -> list[str]:
    """For each threshold the most frequent ratings among the papers with the lowest average that reaches it."""
    levels, profiles = np.array(sample.scale.levels), sample.profiles()
    kinds, counts = np.unique(profiles[profiles.any(axis=1)], axis=0, return_counts=True)
    sets = [tuple(np.repeat(levels, kind).tolist()) for kind in kinds]
    ranked = sorted(
        (sum(ratings) / len(ratings), -papers, len(ratings), ratings)
        for ratings, papers in zip(sets, counts.tolist(), strict=True)
    )
    return [next((text_of(ratings) for average, *_, ratings in ranked if average >= least), "") for least in threshold]


@register("deciles", shares=("share", "value", "low", "high"))
def deciles(sample: Sample) -> pd.DataFrame:
    """What separates each tenth of the papers from the next, and how many of each tenth were accepted?

    Group 1 has the highest averages. Papers with equal averages stay together: all of them go to the group in which
    the middle of their block falls, so groups are unequal, `n` is their size and `share` their part of all; a group
    that no middle falls into is empty. `lowest` and `highest` are the averages at its ends. `value` is the share of
    its papers that were accepted, with Wilson limits; missing where it is not known who was accepted.
    """
    found = attained(sample)
    group = _group(found["count"].to_numpy())
    sums = [np.bincount(group, weights=found[name], minlength=GROUPS) for name in ("count", "accepted")]
    n, accepted = (papers.astype(np.int64) for papers in sums)
    ends = found.groupby(group)["average"].agg(["min", "max"]).reindex(range(GROUPS))
    known = np.where(n > 0, accepted, np.nan) if knows_accepted(sample) else np.full(GROUPS, np.nan)
    return pd.DataFrame(
        {
            "group": np.arange(1, GROUPS + 1),
            "lowest": ends["min"].to_numpy(),
            "highest": ends["max"].to_numpy(),
            "share": n / n.sum() if n.sum() else np.full(GROUPS, np.nan),
            "accepted": pd.array(known, dtype="Int64"),
            **shares_of_papers(known, n),
            "n": n,
        }
    )


def _group(count: np.ndarray) -> np.ndarray:
    """The group (from 0, the highest) of each average: where the middle of its papers falls, counted from the top."""
    above = count.sum() - count.cumsum()
    return (2 * above + count) * GROUPS // (2 * count.sum()) if len(count) else count.astype(np.int64)
