"""Arbitrariness: would an accepted paper be accepted again by other reviewers? Models, beside the experiments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np
import pandas as pd

from analysis.sample import Sample
from analysis.statistics import register
from analysis.statistics.acceptance import is_accepted
from analysis.statistics.agreement import intraclass, kinds_of, moments_of
from analysis.statistics.intervals import DRAWS, corrected, each_block, wilson
from analysis.statistics.ledger import require_accepted
from analysis.statistics.line import Fit, fit_averages, share, with_ones

REVIEWERS = tuple(range(1, 11))
WITHIN = 1.0  # points: reviewers deviate as those of papers whose average is so near (Tran et al. 2020)
PANELS = (None, *REVIEWERS)  # None: as many reviewers as the paper had
PAPERS = 1000  # of one simulation, which has a seed of its own and can be computed anywhere, with the same result
SIMULATIONS = 100
NORMAL = NormalDist()
NORMAL_BELOW = np.frompyfunc(NORMAL.cdf, 1, 1)


# The experiments, the only measurements -----------------------------------------------------------------------------

# Both committees accepted, one of the two did, neither did. 2014: the table in Lawrence's slides of the experiment (22 + 22 + 21 +
# 101 of 166 papers). 2021: 882 papers, 23 % decided differently, about half of the accepted ones accepted by one
# committee only: 203 and 99 papers are solved from these published shares, so the last digit is ours.
EXPERIMENTS = (
    ("NIPS 2014", 22, 43, 101, "Cortes and Lawrence (2021), arXiv 2109.09774"),
    ("NeurIPS 2021", 99, 203, 580, "Beygelzimer et al. (2023), arXiv 2306.03262"),
)


def experiments() -> pd.DataFrame:
    """What two committees decided on the same papers: the share of acceptances that the other committee repeated.

    `value` = 2 both / (2 both + one). Limits are Wilson's for both / (both + one), carried over, since the two
    committees' decisions on one paper are one observation. "57 % would be rejected again", often quoted for 2014, takes the
    22.5 % that the committees were meant to accept as the denominator; of what they accepted it is 49 %.
    """
    rows = []
    for name, both, one, neither, source in EXPERIMENTS:
        low, high = (float(2 * end / (1 + end)) for end in wilson(both, both + one))
        value = 2 * both / (2 * both + one)
        share = (2 * both + one) / (2 * (both + one + neither))
        rows.append((name, both, one, neither, share, value, low, high, both + one + neither, source))
    names = ["experiment", "both", "one", "neither", "accepted", "value", "low", "high", "n", "source"]
    return pd.DataFrame(rows, columns=names)


def newest(frame: pd.DataFrame) -> pd.DataFrame:
    """Of a frame with `year` and `stage` the newest year that has two stages, or else the newest."""
    stages = frame.groupby("year")["stage"].nunique()
    return frame[frame["year"] == stages.index[stages == stages.max()].max()].reset_index(drop=True)


# A model of normal scores -------------------------------------------------------------------------------------------


@register("arbitrariness", shares=("value", "low", "high", "accepted"))
def arbitrariness(sample: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """In a model, how often would an accepted paper be accepted again by as many other reviewers?

    A model, not a measurement. A paper's quality is normal with the between-paper variance component of the ratings,
    and a rating adds normal noise with the within-paper variance; a panel of 1, 2, ... 10 reviewers averages, and the
    top share is accepted, as large as `accepted` (accepted / reviewed in the sample, which is also what lots would
    give). `value` is the probability that a second panel accepts a paper that the first one did; it follows from the
    correlation of two averages (`correlation`, by Spearman and Brown) by numerical integration. Limits: BCa bootstrap over
    papers of the variance components, with the share accepted kept. It leaves out area chairs, discussion, and that scores are
    coarse. Taken at release, where reviewers have not seen each other, it is the lower bound of two; final scores have
    converged and give the upper one.
    """
    require_accepted(sample)
    kinds, counts = kinds_of(sample.profiles())
    n = int(counts.sum())
    accepted = is_accepted(sample)[sample.papers["reviews"] > 0].mean() if n else np.nan

    def estimate(sums: np.ndarray) -> np.ndarray:
        return _again(panel_correlation(intraclass(sums)), accepted)

    moments = moments_of(kinds, sample.scale.levels)
    columns = corrected(moments, counts, estimate, draws, seed)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = panel_correlation(intraclass((counts @ moments)[np.newaxis]))[0]
    known = {"correlation": correlation, "accepted": accepted}
    return pd.DataFrame({"reviewers": REVIEWERS, **known, **columns, "n": n})


def panel_correlation(icc: np.ndarray) -> np.ndarray:
    """The correlation of the averages of two panels of 1, 2, ... 10 reviewers, by Spearman and Brown; a negative ICC is 0."""
    single, reviewers = np.maximum(icc, 0)[:, np.newaxis], np.array(REVIEWERS)
    return reviewers * single / (1 + (reviewers - 1) * single)


def _again(correlation: np.ndarray, accepted: float) -> np.ndarray:
    """P(second accepts | first accepted) when both accept a top share of normal averages with this correlation."""
    if not 0 < accepted < 1:
        return np.where(np.isnan(correlation), np.nan, accepted)
    return np.interp(correlation, *_table(accepted))


@cache
def _table(accepted: float) -> tuple[np.ndarray, np.ndarray]:
    """Correlations, and for each the part of a top share that a second, so correlated top share repeats.

    Gauss and Legendre's quadrature of P(second above the threshold | place of the first) over the top share. It is
    smooth in one number that is needed ten thousand times, hence the table.
    """
    correlations = np.sin(np.linspace(0, np.pi / 2, 301))  # closer together near 1, where the share rises steeply
    nodes, weights = np.polynomial.legendre.leggauss(100)
    threshold = NORMAL.inv_cdf(1 - accepted)
    first = np.array([NORMAL.inv_cdf(1 - accepted * place) for place in (nodes + 1) / 2])
    rho = correlations[:-1, np.newaxis]
    above = NORMAL_BELOW((rho * first - threshold) / np.sqrt(1 - rho**2)).astype(float)
    return correlations, np.append(above @ weights / 2, 1.0)


# The simulation of Tran et al. --------------------------------------------------------------------------------------


@register("resampling")
def resampling(sample: Sample, draws: int = SIMULATIONS, seed: int = 0) -> pd.DataFrame:
    """In the simulation of Tran et al. (2020), how often is an accepted paper accepted again?

    A model, not a measurement. Draw a paper; make two panels by adding to its average, for each reviewer, a deviation
    (rating less paper average) drawn from the reviews of papers whose average is within 1 point; let the logistic regression of
    acceptance on averages (withdrawn papers as rejected) decide on each panel's average; count how often the second accepts among those that the first
    did. `reviewers` is as many as the paper had ("own"), or 1, 2, ... 10 for all. Limits are those of the simulation alone (Wilson; `draws` simulations of 1,000
    papers, each with its seed), not of the model. The paper's average stands for its quality, though it has the noise of its
    own reviewers in it; deviations from an average that the review is part of are too small; both make it look less arbitrary.

    Checked against Tran et al. (arXiv 2010.05137): 75, 70, 70 and 66 % for ICLR 2017 to 2020, to 2 points.
    """
    require_accepted(sample)
    source = Source.of(sample)
    none = np.zeros((len(PANELS), 2), dtype=np.int64)
    counts = each_block(lambda number: simulated(source, seed, number), draws) if source.known else []
    first, both = sum(counts, none).T
    low, high = wilson(both, first)
    value = np.divide(both, first, out=np.full(len(PANELS), np.nan), where=first > 0)
    columns = {"value": value, "low": low, "high": high, "accepted_first": first}
    return pd.DataFrame({"reviewers": [str(panel or "own") for panel in PANELS], **columns, "n": len(source.average)})


@dataclass(frozen=True)
class Source:
    """What papers are simulated from, in order of average: averages, numbers of reviews, deviations and where the pool of
    deviations of each paper begins and ends, and the fitted decision.
    """

    average: np.ndarray
    reviews: np.ndarray
    deviation: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    fitted: Fit

    @property
    def known(self) -> bool:
        return bool(np.isfinite(self.fitted.coefficients).all())

    @classmethod
    def of(cls, sample: Sample) -> Source:
        reviewed = (sample.papers["reviews"] > 0).to_numpy()
        papers = sample.papers[reviewed]
        average, reviews = papers["average"].to_numpy(), papers["reviews"].to_numpy()
        fitted = fit_averages(average, is_accepted(sample)[reviewed])
        row = np.searchsorted(papers["paper"].to_numpy(), sample.reviews["paper"].to_numpy())
        of_review = average[row]
        deviation = sample.reviews["rating"].to_numpy() - of_review
        # Sorted by what is drawn, so that the order of the rows changes nothing.
        pool, order = np.lexsort((deviation, of_review)), np.lexsort((reviews, average))
        average, reviews, near = average[order], reviews[order], of_review[pool]
        # A millionth of slack: averages that differ by 1 exactly do not as floats.
        begin = np.searchsorted(near, average - WITHIN - 1e-6, side="left")
        end = np.searchsorted(near, average + WITHIN + 1e-6, side="right")
        return cls(average, reviews, deviation[pool], begin, end, fitted)


def simulated(source: Source, seed: int, number: int) -> np.ndarray:
    """One of the simulations: for each of `PANELS`, how many papers a first panel accepts, and how many of these a second does."""
    generator = np.random.default_rng([seed, number])
    paper = generator.integers(0, len(source.average), PAPERS)
    most = max(REVIEWERS[-1], int(source.reviews.max()))
    pool = (source.end - source.begin)[paper, np.newaxis, np.newaxis]
    drawn = source.begin[paper, np.newaxis, np.newaxis] + generator.integers(0, pool, (PAPERS, 2, most))
    reached = source.deviation[drawn].cumsum(axis=2)  # of the first 1, 2, ... reviewers of both panels
    chance = generator.random((PAPERS, 2))
    counts = []
    for panel in PANELS:
        size = source.reviews[paper] if panel is None else np.full(PAPERS, panel)
        deviation = np.take_along_axis(reached, (size - 1)[:, np.newaxis, np.newaxis], axis=2)[..., 0]
        average = source.average[paper, np.newaxis] + deviation / size[:, np.newaxis]
        accepts = chance < share(with_ones(average.ravel()) @ source.fitted.coefficients).reshape(PAPERS, 2)
        counts.append((accepts[:, 0].sum(), accepts.all(axis=1).sum()))
    return np.array(counts)
