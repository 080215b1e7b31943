"""Ratings: the individual ones, and the averages of papers."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.sample import Sample
from analysis.statistics import register
from analysis.statistics.intervals import DRAWS, shares_of_papers, shares_of_reviews
from analysis.venues import Scale


def labels(scale: Scale) -> list[str]:
    """The words beside the levels; empty where the form has none."""
    return [scale.labels.get(level, "") for level in scale.levels]


def text_of(ratings) -> str:
    """Ratings as people write them: lowest first, ``2 4 6 6``."""
    return " ".join(str(int(rating)) for rating in sorted(ratings))


@register("ratings")
def ratings(sample: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """How often was each rating given?

    One row a level of the declared scale, in order; a level that nobody used has count 0, and where no scale is
    declared the levels are those seen. `value` is the share of all ratings. Limits resample whole papers, since the
    reviews of a paper are not independent (Wilson over reviews covered 86.5 % of the time for the accept side of
    2020, this 96.5 %). Do not compare the means of two scales with it: 2020 has four levels, other years five to ten.

    Checked against the published histograms of 2017, 2019, 2020, 2022, 2023 and 2026.
    """
    scale = sample.scale
    known = scale.accept_from is not None
    accept_side = pd.array([level >= scale.accept_from if known else None for level in scale.levels], dtype="boolean")
    return pd.DataFrame(
        {
            "rating": np.array(scale.levels, dtype=np.int64),
            "label": labels(scale),
            "accept_side": accept_side,
            **shares_of_reviews(sample.profiles(), draws, seed),
        }
    )


@register("averages", shares=("value", "low", "high", "below", "at_or_above"))
def averages(sample: Sample) -> pd.DataFrame:
    """How many papers have each average, and how many stand below it?

    One row for each paper average that occurs, ascending: the plain mean of the ratings, kept as an exact fraction
    (`exact`), so there are no bins to choose and no gaps of their making. `value` is the share of papers with exactly
    this average, with Wilson limits; `below` the share strictly below, `at_or_above` the rest. Papers without a
    review have no average and are left out.
    """
    found = attained(sample)
    n = int(found["count"].sum())
    below = found["count"].cumsum() - found["count"]
    return pd.DataFrame(
        {
            "average": found["average"],
            "exact": found["total"].astype(str) + "/" + found["reviews"].astype(str),
            "count": found["count"],
            **shares_of_papers(found["count"], np.full(len(found), n)),
            "below": below / n,
            "at_or_above": (n - below) / n,
            "n": n,
        }
    )


def attained(sample: Sample) -> pd.DataFrame:
    """The averages that occur, ascending: average, its fraction in lowest terms (total, reviews), count and accepted
    papers.
    """
    papers = sample.papers[sample.papers["reviews"] > 0]
    total, reviews = papers["total"].to_numpy(), papers["reviews"].to_numpy()
    divisor = np.gcd(total, reviews)
    average, first, row = np.unique(papers["average"].to_numpy(), return_index=True, return_inverse=True)
    accepted = np.bincount(row, weights=papers["outcome"] == "accepted", minlength=len(average))
    return pd.DataFrame(
        {
            "average": average,
            "total": (total // divisor)[first],
            "reviews": (reviews // divisor)[first],
            "count": np.bincount(row, minlength=len(average)),
            "accepted": accepted.astype(np.int64),
        }
    )
