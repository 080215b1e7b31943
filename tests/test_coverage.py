"""Do the 95 % intervals cover the truth 95 times in 100? A seeded simulation of conferences whose truth is known.

A paper has one of nine qualities; given it, its two to five reviewers rate independently, so reviews of one paper are
correlated. After the discussion two reviews in five are made anew, nearer to what the paper deserves. Thresholds, and
shares of pairs of papers, claim no interval and are not here.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from samples import SCALE, make_sample
from scipy.stats import multivariate_normal, norm

from analysis.sample import Sample, with_ratings
from analysis.statistics.agreement import agreement, agreement_change, unanimity, variation
from analysis.statistics.arbitrariness import REVIEWERS, arbitrariness
from analysis.statistics.harshness import experience_gap, experience_within_paper
from analysis.statistics.intervals import estimates
from analysis.statistics.ratings import ratings

CONFERENCES, DRAWS = 800, 199  # the quantiles of few draws are rough, not biased
WITHIN = (0.93, 0.97)
LEVELS = np.array(SCALE.levels)
QUALITY = np.linspace(-1.8, 1.8, 9)
SHARE = np.exp(-(QUALITY**2) / 2) / np.exp(-(QUALITY**2) / 2).sum()
SIZES, SIZE_SHARE = np.array([2, 3, 4, 5]), np.array([0.1, 0.5, 0.3, 0.1])
HARSH = np.array([0.3, 0.1, -0.1, -0.3])  # how much each level of experience moves a reviewer's mark
ANEW = 0.4  # of the reviews, in the discussion
ACCEPTED = 0.3  # of the papers, as the venue wants it: a decision, not an estimate


def chances(weight: float, shift: np.ndarray | float = 0.0) -> np.ndarray:
    """The chance of each rating, qualities x levels, when a mark is `weight` times the quality, a shift, and noise."""
    marks = weight * QUALITY + shift
    cuts = np.array([-0.5, 0.4, 1.2])[:, np.newaxis] - marks
    below = np.vectorize(NormalDist().cdf)(cuts)
    return np.diff(np.vstack([np.zeros(9), below, np.ones(9)]), axis=0).T


BY_EXPERIENCE = np.array([chances(0.6, shift) for shift in HARSH])  # level x quality x rating
BEFORE = BY_EXPERIENCE.mean(axis=0)
RENEWED = chances(1.6)
AFTER = (1 - ANEW) * BEFORE + ANEW * RENEWED


# The truth ----------------------------------------------------------------------------------------------------------


def spread(given: np.ndarray) -> tuple[float, float]:
    """The variances of ratings within and between papers, from the chances given a paper's quality."""
    mean = given @ LEVELS
    return SHARE @ (given @ LEVELS**2 - mean**2), SHARE @ mean**2 - (SHARE @ mean) ** 2


def icc(given: np.ndarray) -> float:
    within, between = spread(given)
    return between / (within + between)


def ordinal_alpha(given: np.ndarray) -> float:
    """One less how far apart two ratings of a paper are over any two, in ranks."""
    met, marginal = np.einsum("q,qa,qb->ab", SHARE, given, given), SHARE @ given
    ranks = marginal.cumsum() - marginal / 2
    apart = np.subtract.outer(ranks, ranks) ** 2
    return 1 - (met * apart).sum() / (np.outer(marginal, marginal) * apart).sum()


def panels(of: np.ndarray) -> float:
    """The mean over panels of two to five of something that is given for each size and quality."""
    return float(SIZE_SHARE @ of @ SHARE)


def repeated(reviewers: int) -> float:
    """How much of its top share a second panel repeats, when scores are normal with the true variances."""
    correlation = reviewers * icc(BEFORE) / (1 + (reviewers - 1) * icc(BEFORE))
    threshold = norm.isf(ACCEPTED)
    both = multivariate_normal([0, 0], [[1, correlation], [correlation, 1]]).cdf([-threshold, -threshold])
    return both / ACCEPTED


def truth() -> dict[str, float]:
    within, between = spread(BEFORE)
    rating, size = SHARE @ BEFORE, SIZES[:, np.newaxis]
    above = [1 - BEFORE[:, : gap + 1].sum(axis=1) for gap in range(3)]
    bridged = sum(panels(1 - p**size - (1 - p) ** size) * gap for p, gap in zip(above, np.diff(LEVELS), strict=True))
    unanimous = panels((BEFORE[np.newaxis] ** size[:, :, np.newaxis]).sum(axis=2))
    opposite = panels(
        1 - (1 - BEFORE[:, 0]) ** size - (1 - BEFORE[:, 3]) ** size + (1 - BEFORE[:, 0] - BEFORE[:, 3]) ** size
    )
    return {
        **dict.fromkeys(("icc", "alpha_interval", "correlation"), icc(BEFORE)),
        "alpha_ordinal": ordinal_alpha(BEFORE),
        "within_sd": within**0.5,
        "between_sd": between**0.5,
        "change of icc": icc(AFTER) - icc(BEFORE),
        "change of alpha_ordinal": ordinal_alpha(AFTER) - ordinal_alpha(BEFORE),
        "accept side": rating[LEVELS >= 6].sum(),
        **{f"share of {level}": share for level, share in zip(LEVELS, rating, strict=True)},
        "mean rating": rating @ LEVELS,
        "unanimous": unanimous,
        "opposite": opposite,
        "range": bridged / 7,
        **{f"again by {reviewers}": repeated(reviewers) for reviewers in REVIEWERS},
    }


# The simulation -----------------------------------------------------------------------------------------------------


def draw(chance: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """A rating for each row of chances."""
    return LEVELS[(generator.random(len(chance))[:, np.newaxis] > chance.cumsum(axis=1)[:, :-1]).sum(axis=1)]


def conference(papers: int, generator: np.random.Generator) -> tuple[Sample, Sample]:
    """The same papers at release and after the discussion."""
    quality = generator.choice(9, papers, p=SHARE)
    paper = np.repeat(np.arange(papers), generator.choice(SIZES, papers, p=SIZE_SHARE))
    level = generator.integers(4, size=len(paper))
    before = draw(BY_EXPERIENCE[level, quality[paper]], generator)
    anew = generator.random(len(paper)) < ANEW
    after = np.where(anew, draw(RENEWED[quality[paper]], generator), before)
    return tuple(
        sample_of(papers, paper, rating, level + 1.0, stage)
        for rating, stage in ((before, "release"), (after, "final"))
    )


EMPTY = {stage: make_sample([], stage=stage) for stage in ("release", "final")}


def sample_of(papers: int, paper: np.ndarray, rating: np.ndarray, level: np.ndarray, stage: str) -> Sample:
    reviews = pd.DataFrame({"paper": paper, "rating": rating, "confidence": level, "experience": level})
    listed = pd.DataFrame({"paper": np.arange(papers), "outcome": "undecided", "tier": None})
    known = replace(EMPTY[stage].snapshot, outcomes="none")
    return replace(EMPTY[stage], snapshot=known, papers=with_ratings(listed, reviews, 6), reviews=reviews)


def decided(sample: Sample) -> Sample:
    """The same sample with its best papers accepted, by average."""
    best = sample.papers["average"].rank(method="first", ascending=False) <= ACCEPTED * len(sample.papers)
    papers = sample.papers.assign(outcome=np.where(best, "accepted", "rejected"))
    return replace(sample, snapshot=replace(sample.snapshot, outcomes="complete"), papers=papers)


def intervals(before: Sample, after: Sample, seed: int) -> dict[str, tuple[float, float]]:
    """The limits of what `truth` knows, by the statistics that people call; fewer of them for large conferences."""
    change = agreement_change(before, after, draws=DRAWS, seed=seed)
    frames = [
        change.assign(low=change["before_low"], high=change["before_high"], name=change["measure"]),
        change.assign(name="change of " + change["measure"]),
        means(before, seed),
    ]
    if len(before.papers) <= 100:
        rated = ratings(before, draws=DRAWS, seed=seed)
        frames += [rated.assign(name="share of " + rated["rating"].astype(str))]
        frames += [
            one(before, draws=DRAWS, seed=seed).rename(columns={"measure": "name"}) for one in (variation, unanimity)
        ]
        again = arbitrariness(decided(before), draws=DRAWS, seed=seed)
        frames += [again.assign(name="again by " + again["reviewers"].astype(str))]
    found = pd.concat([frame[["name", "low", "high"]] for frame in frames])
    return {row.name: (row.low, row.high) for row in found.itertuples(index=False)}


def means(sample: Sample, seed: int = 0) -> pd.DataFrame:
    """The accept side and the mean rating, by the interval that all such shares and means have."""
    sums = sample.papers[["accept_side", "total", "reviews"]]
    columns = estimates(sums, lambda drawn: drawn[:, :2] / drawn[:, 2:], DRAWS, seed)
    return pd.DataFrame({"name": ["accept side", "mean rating"], **columns})


@pytest.fixture(scope="module", params=[100, 400])
def covered(request) -> pd.Series:
    """How often each interval covers its truth."""
    generator, true = np.random.default_rng(request.param), truth()
    hits: dict[str, int] = {}
    for seed in range(CONFERENCES):  # with one seed all would share the roughness of the draws
        for name, (low, high) in intervals(*conference(request.param, generator), seed).items():
            if name in true:
                hits[name] = hits.get(name, 0) + (low <= true[name] <= high)
    return pd.Series(hits) / CONFERENCES


def test_intervals_that_claim_95_percent_cover_93_to_97(covered):
    assert covered[~covered.between(*WITHIN)].to_dict() == {}


def test_the_truth_is_that_of_a_very_large_conference():
    before, after = conference(60_000, np.random.default_rng(1))
    found = {
        **agreement(before, draws=2).set_index("measure")["value"],
        **variation(before, draws=2).set_index("measure")["value"],
    }
    found |= {**unanimity(before, draws=2).set_index("measure")["value"], **means(before).set_index("name")["value"]}
    found |= {f"share of {row.rating}": row.value for row in ratings(before, draws=2).itertuples()}
    found |= {f"change of {row.measure}": row.value for row in agreement_change(before, after, draws=2).itertuples()}
    again = arbitrariness(decided(before), draws=2)
    found |= {f"again by {row.reviewers}": row.value for row in again.itertuples()}
    for name, value in truth().items():
        assert found[name] == pytest.approx(value, abs=0.025), name


# Levels of experience on the same paper -------------------------------------------------------------------------------


def levels(sample: Sample, seed: int = 0, draws: int = DRAWS) -> pd.DataFrame:
    """How far each level is from the others on the same papers, and from its co-reviewers."""
    frames = [
        one(sample, draws=draws, seed=seed).assign(name=name)
        for name, one in (("within paper", experience_within_paper), ("gap", experience_gap))
    ]
    found = pd.concat(frames, ignore_index=True)
    return found.set_index(found["name"] + " " + found["level"].astype(str))[["value", "low", "high"]]


def test_intervals_of_harshness_cover_93_to_97_percent():
    """The truth is what a very large conference gives: a shift of the mark is no fixed number of rating points."""
    true = levels(conference(100_000, np.random.default_rng(2))[0], draws=2)["value"]
    generator, conferences, hits = np.random.default_rng(3), 500, 0
    for seed in range(conferences):
        found = levels(conference(100, generator)[0], seed)
        hits = hits + (found["low"].le(true) & found["high"].ge(true)).to_numpy()
    covered = pd.Series(hits / conferences, true.index)
    assert covered[~covered.between(0.925, 0.975)].to_dict() == {}  # 500 conferences: one in a hundred is off by chance
    assert WITHIN[0] <= covered.mean() <= WITHIN[1]
