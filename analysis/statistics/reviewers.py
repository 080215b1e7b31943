"""Reviewers: what they say of their experience and confidence, and how they rate by it. Counted, never ranked or
named.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.sample import Sample, scale_of
from analysis.statistics import register
from analysis.statistics.intervals import DRAWS, estimates, shares_of_papers, shares_of_reviews
from analysis.statistics.ratings import labels
from analysis.statistics.years import standard_deviation
from analysis.venues import Scale

# ICLR 2020: 3 "I have published one or two papers in this area", 4 "I have published in this field for several years".
PUBLISHED_FROM = 3


# How often each level -----------------------------------------------------------------------------------------------


@register("experience", need="experience")
def experience(sample: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """How much experience in the area of the paper do reviewers say they have?

    A row a level, absent ones zero; `value` is the share of the reviews that name a level, resampled by paper. It
    counts reviews, not people: somebody with six reviews counts six times. Asked in ICLR 2020 only. Checked: 1,094 /
    2,522 / 2,640 / 1,437 on 2019-11-08.
    """
    return _levels(sample, "experience", draws, seed)


@register("confidence", need="confidence")
def confidence(sample: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """How confident do reviewers say they are?

    A row a level, absent ones zero; `value` is the share of the reviews that name a level, resampled by paper. It
    counts reviews, not people, and what reviewers say of themselves, not how right they are.
    """
    return _levels(sample, "confidence", draws, seed)


@register("published-in-area", need="experience")
def published_in_area(sample: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """What share of the reviews is by people who have not published in the area?

    "no" are the levels below "I have published one or two papers in this area", "yes" that level and the one above;
    limits resample papers. Checked: 47.00 % on 2019-11-08; the thread of 2019 said 47 % (46.97 % of 7,583 reviews).
    """
    answered, scale = with_answer(sample, "experience")
    profiles = _profiles(answered, "experience", scale.levels)
    has = np.array(scale.levels) >= PUBLISHED_FROM
    grouped = np.column_stack([profiles[:, ~has].sum(axis=1), profiles[:, has].sum(axis=1)])
    return pd.DataFrame({"published": ["no", "yes"], **shares_of_reviews(grouped, draws, seed)})


def _levels(sample: Sample, field: str, draws: int, seed: int) -> pd.DataFrame:
    answered, scale = with_answer(sample, field)
    columns = shares_of_reviews(_profiles(answered, field, scale.levels), draws, seed)
    return pd.DataFrame({"level": np.array(scale.levels, dtype=np.int64), "label": labels(scale), **columns})


def with_answer(sample: Sample, field: str) -> tuple[Sample, Scale]:
    """The reviews that have the field, and its scale."""
    answered = sample.having_reviews(sample.reviews[field].notna().to_numpy())
    return answered, scale_of(getattr(sample.form, f"{field}_scale"), sample.form.described, answered.reviews[field])


def _profiles(answered: Sample, field: str, levels: tuple[int, ...]) -> np.ndarray:
    """How many reviews of each level a paper has: papers x levels."""
    return tally(answered, places_of(answered, field, levels), len(levels))


def places_of(answered: Sample, column: str, levels: tuple[int, ...]) -> np.ndarray:
    """Which of the levels each review has."""
    return np.searchsorted(levels, answered.reviews[column].to_numpy(dtype=np.int64))


def tally(answered: Sample, place: np.ndarray, places: int) -> np.ndarray:
    """How many reviews a paper has in each place: papers x places."""
    row = np.searchsorted(answered.papers["paper"].to_numpy(), answered.reviews["paper"].to_numpy())
    cells = np.bincount(row * places + place, minlength=len(answered.papers) * places)
    return cells.reshape(len(answered.papers), places)


# Ratings by level ---------------------------------------------------------------------------------------------------


@register("experience-ratings", need="experience", shares=())
def experience_ratings(sample: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Do reviewers with more experience in the area rate lower?

    `value` is the mean rating of the reviews of a level, resampled by paper, `sd` their standard deviation. It says
    nothing of why: levels review different papers. Checked: 4.524 / 4.123 / 3.730 / 3.381 on 2019-11-08.
    """
    return _ratings_by_level(sample, "experience", draws, seed)


@register("confidence-ratings", need="confidence", shares=())
def confidence_ratings(sample: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Do more confident reviewers rate lower or higher?

    `value` is the mean rating of the reviews of a level, resampled by paper, `sd` their standard deviation. It says
    nothing of why: levels review different papers.
    """
    return _ratings_by_level(sample, "confidence", draws, seed)


@register("experience-counts", need="experience")
def experience_counts(sample: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """How often did reviewers of each experience give each rating?

    A row a level and rating; `value` is the share of the rating among the reviews of the level, resampled by paper.
    """
    return _counts_by_level(sample, "experience", draws, seed)


@register("confidence-counts", need="confidence")
def confidence_counts(sample: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """How often did reviewers of each confidence give each rating?

    A row a level and rating; `value` is the share of the rating among the reviews of the level, resampled by paper.
    """
    return _counts_by_level(sample, "confidence", draws, seed)


def _ratings_by_level(sample: Sample, field: str, draws: int, seed: int) -> pd.DataFrame:
    ratings = np.array(sample.scale.levels)
    rows = [
        {"level": level, "label": label, **_mean_rating(table, ratings, draws, seed)}
        for level, label, table in _tables(sample, field)
    ]
    return pd.DataFrame(rows, columns=["level", "label", "value", "low", "high", "sd", "n"])


def _mean_rating(table: np.ndarray, ratings: np.ndarray, draws: int, seed: int) -> dict[str, float]:
    """Mean and sd of the ratings in a table of papers x ratings. Papers without such a review are resampled too."""
    sums = np.column_stack([table @ ratings, table.sum(axis=1)])
    columns = estimates(sums, lambda drawn: drawn[:, :1] / drawn[:, 1:], draws, seed)
    n, total, squares = (int(table.sum(axis=0) @ ratings**power) for power in range(3))
    return {**{name: value[0] for name, value in columns.items()}, "sd": standard_deviation(n, total, squares), "n": n}


def _counts_by_level(sample: Sample, field: str, draws: int, seed: int) -> pd.DataFrame:
    ratings = np.array(sample.scale.levels)
    parts = [
        pd.DataFrame({"level": level, "label": label, "rating": ratings, **shares_of_reviews(table, draws, seed)})
        for level, label, table in _tables(sample, field)
    ]
    columns = ["level", "label", "rating", "count", "value", "low", "high", "n"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def _tables(sample: Sample, field: str) -> Iterator[tuple[int, str, np.ndarray]]:
    """For each level of a field, with its label: how many of its reviews gave each rating, papers x ratings."""
    answered, scale = with_answer(sample, field)
    ratings = sample.scale.levels
    place = places_of(answered, field, scale.levels) * len(ratings) + places_of(answered, "rating", ratings)
    cells = tally(answered, place, len(scale.levels) * len(ratings))
    for start, (level, label) in enumerate(zip(scale.levels, labels(scale), strict=True)):
        yield level, label, cells[:, start * len(ratings) : (start + 1) * len(ratings)]


# Panels -------------------------------------------------------------------------------------------------------------


@register("experience-panels", need="experience")
def experience_panels(sample: Sample) -> pd.DataFrame:
    """How many reviewers of a paper have published in its area, and how many papers have none?

    A row for each number of such reviewers (`published`), from 0; `value` is the share of the papers with a review
    that names an experience level, with Wilson limits. Panels differ in size: two reviewers without publications are
    likelier than four.
    """
    answered, scale = with_answer(sample, "experience")
    has = np.array(scale.levels) >= PUBLISHED_FROM
    published = _profiles(answered, "experience", scale.levels)[:, has].sum(axis=1)
    count = np.bincount(published, minlength=1)
    n = np.full(len(count), count.sum())
    return pd.DataFrame({"published": np.arange(len(count)), "count": count, **shares_of_papers(count, n), "n": n})


# Reproductions of classical tests -----------------------------------------------------------------------------------


@register("experience-tests", need="experience", shares=())
def experience_tests(sample: Sample) -> pd.DataFrame:
    """What do the classical tests of experience against rating give, that published analyses used?

    Spearman's rank correlation and the Kruskal-Wallis H (corrected for ties; `degrees` of freedom), as reproductions
    of published numbers: both assume independent reviews, and the reviews of a paper are not, so no p-value is given.
    For an estimate with an interval see experience-ratings. Checked on 2019-11-08: -0.175 and 237.0.
    """
    crossed = np.array([table.sum(axis=0) for _, _, table in _tables(sample, "experience")])
    seen = int(crossed.any(axis=-1).sum())
    return pd.DataFrame(
        {
            "test": ["Spearman's rho of experience and rating", "Kruskal-Wallis H of rating by experience"],
            "value": [spearman(crossed), kruskal_wallis(crossed)] if seen > 1 else [np.nan, np.nan],
            "degrees": pd.array([None, max(seen - 1, 0)], dtype="Int64"),
            "n": int(crossed.sum()),
            "assumes": "independent reviews: a reproduction",
        }
    )


def mid_ranks(counts: np.ndarray) -> np.ndarray:
    """The mid-rank of each value, when the values ascend and occur so often."""
    return counts.cumsum() - (counts - 1) / 2


def spearman(crossed: np.ndarray) -> float:
    """Spearman's rho of a table of counts, levels x ratings: the correlation of mid-ranks; NaN where one side does
    not vary.
    """
    n = crossed.sum()
    rows, columns = (mid_ranks(crossed.sum(axis=axis)) - (n + 1) / 2 for axis in (1, 0))
    spread = (crossed.sum(axis=1) @ rows**2) * (crossed.sum(axis=0) @ columns**2)
    return float(rows @ crossed @ columns / np.sqrt(spread)) if spread > 0 else np.nan


def kruskal_wallis(crossed: np.ndarray) -> float:
    """The Kruskal-Wallis H, corrected for ties, of a table of counts, groups x ordered values; NaN where values do
    not vary.
    """
    crossed = crossed[crossed.sum(axis=1) > 0]
    n, ties, sizes = int(crossed.sum()), crossed.sum(axis=0), crossed.sum(axis=1)
    correction = 1 - sum(int(t) ** 3 - int(t) for t in ties) / (n**3 - n)
    between = ((crossed @ mid_ranks(ties)) ** 2 / sizes).sum() * 12 / (n * (n + 1)) - 3 * (n + 1)
    return float(between / correction) if correction > 0 else np.nan
