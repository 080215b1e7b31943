"""Intervals: Wilson where the unit is the paper, a bootstrap over papers for everything about reviews."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from statistics import NormalDist
from typing import TypeVar

import numpy as np

Result = TypeVar("Result")

LEVEL = 0.95
Z = 1.959963984540054  # the 0.975 quantile of the normal distribution
DRAWS = 1000
BLOCK = 100  # draws that share one generator: blocks can be computed anywhere, in any order, with the same result


def wilson(successes, n) -> tuple[np.ndarray, np.ndarray]:
    """95 % limits of a share of independent papers; NaN where `n` is 0.

    Wilson (1927). Not for reviews: those of one paper are not independent, use `bootstrap`.
    """
    successes, n = np.asarray(successes, dtype=float), np.asarray(n, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        share, shrink = successes / n, 1 + Z**2 / n
        centre = (share + Z**2 / (2 * n)) / shrink
        half = Z / shrink * np.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
        # The formula is exact at the ends, floating point is not.
        low = np.where(successes == 0, 0.0, centre - half)
        high = np.where(successes == n, 1.0, centre + half)
    return np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan)


def kinds_of(papers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different rows in order, and how many papers have each: numpy's `unique`, on one number a row."""
    papers = np.asarray(papers)
    if not papers.size:
        return np.unique(papers, axis=0, return_counts=True)
    # Sorting rows is twenty times slower than sorting numbers that have the same order.
    key, size = np.zeros(len(papers), dtype=np.int64), 1
    for column in papers.T:
        code, codes = _coded(column)
        if size * codes >= 2**62:
            key, size = _coded(key, most=0)
        key, size = key * codes + code, size * codes
    _, first, counts = np.unique(key, return_index=True, return_counts=True)
    return papers[first], counts


def _coded(column: np.ndarray, most: int = 1000) -> tuple[np.ndarray, int]:
    """Whole numbers from 0 in the order of the values, and how many there can be; counts are so nearly as they are."""
    if column.dtype.kind in "iu" and int(column.max()) - int(column.min()) < most:
        return column.astype(np.int64) - int(column.min()), int(column.max()) - int(column.min()) + 1
    values, code = np.unique(column, return_inverse=True)
    return code, len(values)


def resampled(papers: np.ndarray, draws: int = DRAWS, seed: int = 0) -> Iterator[np.ndarray]:
    """Sums over resampled papers, in blocks of up to `BLOCK` rows: draws x columns.

    `papers` is papers x columns. Papers with equal rows are exchangeable, so whole kinds of papers are drawn at once:
    the cost depends on how many kinds there are, not on how many papers, and the order of rows does not matter.
    """
    kinds, counts = kinds_of(papers)
    for weights in resampled_counts(counts, draws, seed):
        yield weights @ kinds


def resampled_counts(counts: np.ndarray, draws: int = DRAWS, seed: int = 0) -> Iterator[np.ndarray]:
    """How often each kind of paper is drawn, in blocks: draws x kinds. `counts` says how many papers are of each
    kind.
    """
    for block in range(-(-draws // BLOCK)):
        yield _drawn_counts(counts, draws, seed, block)


def _drawn_counts(counts: np.ndarray, draws: int, seed: int, block: int) -> np.ndarray:
    n = int(counts.sum())
    generator = np.random.default_rng([seed, block])
    return generator.multinomial(n, counts / n, size=min(BLOCK, draws - block * BLOCK))


def from_resampled(
    function: Callable[[np.ndarray], np.ndarray], counts: np.ndarray, draws: int = DRAWS, seed: int = 0
) -> np.ndarray:
    """What a function makes of each block of `resampled_counts`, one after the other in one array, computed wherever
    `each_block` computes.
    """

    def of_block(block: int) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return function(_drawn_counts(counts, draws, seed, block))

    return np.concatenate(each_block(of_block, -(-draws // BLOCK)))


def each_block(function: Callable[[int], Result], blocks: int) -> list[Result]:
    """What a function gives for block 0, 1, ...: here, or spread over a cluster (`spread_by`). Blocks have seeds of their
    own, so the result is the same.
    """
    return list(_spread[-1](function, range(blocks)))


Map = Callable[[Callable[[int], Result], Iterable[int]], Iterable[Result]]
_spread: list[Map] = [map]  # for the process: the last one counts


@contextmanager
def spread_by(mapped: Map) -> Iterator[None]:
    """Within the block, `each_block` is done by this function, which does what `map` does."""
    _spread.append(mapped)
    try:
        yield
    finally:
        _spread.pop()


def bootstrap(
    papers: np.ndarray, estimate: Callable[[np.ndarray], np.ndarray], draws: int = DRAWS, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """95 % percentile limits, expanded for few papers, of an estimate that is a function of sums over papers.

    `papers` is papers x columns; `estimate` takes sums (draws x columns) and gives draws x estimates. Resampling
    whole papers keeps the reviews of a paper together (cluster bootstrap; Davison and Hinkley 1997, 3.8). NaN for no
    papers at all.
    """
    papers = np.asarray(papers)
    with np.errstate(divide="ignore", invalid="ignore"):
        if len(papers) == 0:
            nothing = np.full(estimate(np.zeros((1, papers.shape[1]))).shape[1:], np.nan)
            return nothing, nothing
    return _percentiles(*kinds_of(papers), estimate, draws, seed)


def _percentiles(
    kinds: np.ndarray, counts: np.ndarray, estimate: Callable[[np.ndarray], np.ndarray], draws: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    drawn = from_resampled(lambda weights: estimate(weights @ kinds), counts, draws, seed)
    return limits(drawn, int(counts.sum()))


def shares_of_papers(successes, n) -> dict[str, np.ndarray]:
    """The columns value, low, high (Wilson) of shares of papers; NaN where `n` is 0 or not known."""
    successes, n = np.asarray(successes, dtype=float), np.asarray(n, dtype=float)
    value = np.divide(successes, n, out=np.full(n.shape, np.nan), where=n > 0)
    low, high = wilson(successes, n)
    return {"value": value, "low": low, "high": high}


def estimates(
    papers: np.ndarray, estimate: Callable[[np.ndarray], np.ndarray], draws: int = DRAWS, seed: int = 0
) -> dict[str, np.ndarray]:
    """The columns value, low, high (`bootstrap`) of estimates that are functions of sums over papers."""
    papers = np.asarray(papers)
    # Summed kind by kind, so that sums of fractions do not depend on the order of the rows either.
    kinds, counts = kinds_of(papers)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = estimate((counts @ kinds)[np.newaxis])[0]
    low, high = (
        _percentiles(kinds, counts, estimate, draws, seed) if len(papers) else (np.full(value.shape, np.nan),) * 2
    )
    return {"value": value, "low": low, "high": high}


def shares_of_reviews(profiles: np.ndarray, draws: int = DRAWS, seed: int = 0) -> dict[str, np.ndarray]:
    """The columns count, value, low, high (`bootstrap`), n of what reviews say. `profiles` is papers x answers,
    counts of reviews.
    """
    count = profiles.sum(axis=0)
    columns = estimates(profiles, lambda sums: sums / sums.sum(axis=1, keepdims=True), draws, seed)
    return {"count": count, **columns, "n": np.full(count.shape, count.sum())}


def limits(drawn: np.ndarray, papers: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The 2.5 and 97.5 % quantiles of bootstrap draws (draws x estimates), leaving out draws without a value.

    With the number of `papers` that were resampled the tails are expanded as `reach` says. Quantiles are those at
    (draws + 1) p (Davison and Hinkley 1997, 5.2.1): others lie inwards by more, the fewer draws there are.
    """
    tail = (1 - LEVEL) / 2 if papers is None else NormalDist().cdf(-reach(papers))
    empty = np.isnan(drawn).all(axis=0)
    filled = np.where(empty, 0.0, drawn)
    low, high = np.nanquantile(filled, [tail, 1 - tail], axis=0, method="weibull")
    return np.where(empty, np.nan, low), np.where(empty, np.nan, high)


def reach(papers: int) -> float:
    """How many standard errors a 95 % interval reaches to each side: a little more than 1.96, since draws vary by n - 1
    of n, and how far they vary is itself an estimate (a t quantile; expanded intervals of Hesterberg 2015).
    """
    return (Z + (Z**3 + Z) / (4 * papers)) * float(np.sqrt(papers / max(papers - 1, 1)))


# Corrected for bias and skewness ------------------------------------------------------------------------------------


def corrected(
    kinds: np.ndarray,
    counts: np.ndarray,
    estimate: Callable[[np.ndarray], np.ndarray],
    draws: int = DRAWS,
    seed: int = 0,
) -> dict[str, np.ndarray]:
    """The columns value, low, high of estimates that bend, such as ratios of variances.

    `kinds` is kinds of papers x columns, `counts` how many papers are of each; `estimate` is a function of sums as in
    `bootstrap`. The limits are bias-corrected and accelerated (BCa; Efron 1987), over papers: the plain percentile
    limits of an intraclass correlation lie too low and are too narrow (93.5 % at 100 papers, these 94.7 %).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        if not counts.sum():
            nothing = np.full(estimate(np.zeros((1, kinds.shape[1]))).shape[1:], np.nan)
            return dict.fromkeys(("value", "low", "high"), nothing)
        sums = counts @ kinds
        value = estimate(sums[np.newaxis])[0]
        drawn = from_resampled(lambda weights: estimate(weights @ kinds), counts, draws, seed)
        acceleration = _acceleration(estimate(sums - kinds), counts)
    ends = [
        _corrected_limits(*each, papers=int(counts.sum())) for each in zip(drawn.T, value, acceleration, strict=True)
    ]
    low, high = np.array(ends).reshape(-1, 2).T
    return {"value": value, "low": low, "high": high}


def _acceleration(without: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """A sixth of the skewness of the estimates' influences, from leaving out one paper of each kind; 0 without any."""
    known = np.isfinite(without).all(axis=0)
    influence = np.where(known, counts @ without / counts.sum() - without, 0.0)
    spread = (counts @ influence**2) ** 1.5
    return np.divide(counts @ influence**3, 6 * spread, out=np.zeros(len(spread)), where=spread > 0)


def _corrected_limits(drawn: np.ndarray, value: float, acceleration: float, papers: int) -> tuple[float, float]:
    """The limits of one estimate; its draws without a value are left out."""
    drawn = drawn[np.isfinite(drawn)]
    if not len(drawn) or not np.isfinite(value):
        return np.nan, np.nan
    normal = NormalDist()
    below = ((drawn < value).mean() + (drawn <= value).mean()) / 2
    bias = normal.inv_cdf(min(max(below, 0.1), 0.9))  # a handful of papers says no more about it
    tails = [bias + end for end in (-reach(papers), reach(papers))]
    levels = [normal.cdf(bias + tail / max(1 - acceleration * tail, 0.2)) for tail in tails]
    low, high = np.quantile(drawn, levels, method="weibull")
    return min(low, value), max(high, value)


# Several tests at once ----------------------------------------------------------------------------------------------


def benjamini_hochberg(p: np.ndarray) -> np.ndarray:
    """The p-values of several tests adjusted for how many there are (q-values); missing ones are no tests.

    Rejecting where q <= 0.05 keeps the expected share of false findings at 5 % (Benjamini and Hochberg 1995).
    """
    p = np.asarray(p, dtype=float)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")[::-1]]  # the largest first
    ranks = np.arange(len(order), 0, -1)
    q = np.full(p.shape, np.nan)
    q[order] = np.minimum.accumulate(np.minimum(p[order] * len(order) / np.maximum(ranks, 1), 1))
    return q


def clustered_shares(counts: np.ndarray, sizes: np.ndarray) -> dict[str, np.ndarray]:
    """The columns value, low, high of shares of reviews, counts / sizes, with the variance taken between papers.

    `counts` is papers x shares, `sizes` the reviews of each paper (a column). The ratio is linearised (Cochran 1977,
    *Sampling Techniques*, 6.13 and 9.2): what a bootstrap over papers converges to, for where whole curves would need one. Limits are
    normal and stay within 0 and 1: all of it with one paper, which tells no variance; NaN without reviews.
    """
    papers, total = len(sizes), sizes.sum()
    if not total:
        return dict.fromkeys(("value", "low", "high"), np.full(counts.shape[1], np.nan))
    value = counts.sum(axis=0) / total
    if papers < 2:
        return {"value": value, "low": np.zeros(len(value)), "high": np.ones(len(value))}
    # The sum of squares about the share from sums of whole numbers, which are exact in any order of the papers.
    own, mixed, square = (counts**2).sum(axis=0), (counts * sizes).sum(axis=0), (sizes**2).sum()
    about = np.maximum(own - 2 * value * mixed + value**2 * square, 0)
    error = np.sqrt(about * papers / (papers - 1)) / total
    return {"value": value, "low": np.maximum(value - Z * error, 0), "high": np.minimum(value + Z * error, 1)}
