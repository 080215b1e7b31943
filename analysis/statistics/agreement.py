"""Agreement: how much alike the reviewers of one paper rate it, and what an average of so few ratings can tell.

Everything here is a function of sums over kinds of papers, so a thousand resampled conferences cost little more than one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from analysis.sample import Sample, require_linked
from analysis.statistics import queries, register
from analysis.statistics.intervals import (
    DRAWS,
    Z,
    corrected,
    from_resampled,
    limits,
    shares_of_papers,
)
from analysis.statistics.intervals import kinds_of as different
from analysis.statistics.ledger import LEFT
from analysis.statistics.ratings import text_of

MEASURES = ("icc", "alpha_interval", "alpha_ordinal", "correlation")
DEVIATIONS = ("within_sd", "between_sd", "root_between_mean_square")
PANELS = range(1, 9)  # reviewers: more than eight are rare at any venue
QUARTER = (
    0.25  # an end of a scale is the outer quarter of its span: 1 and 8 of 1 3 6 8; 1, 2, 3 and 8, 9, 10 of 1 to 10
)


# Measures -----------------------------------------------------------------------------------------------------------


@register("agreement", shares=())
def agreement(sample: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """How much do the reviewers of one paper agree?

    A row a measure. `icc`: the intraclass correlation ICC(1) of a one-way layout with unequal groups, by the analysis of
    variance (Donner 1986): the share of the variance of single ratings that lies between papers. `alpha_interval` and
    `alpha_ordinal`: Krippendorff's alpha, papers with two ratings or more. `correlation`: the Pearson correlation of all
    pairs of reviewers of one paper, in both orders (Fisher 1925). 0 is what strangers' ratings would have, 1 is perfect;
    below 0 reviewers of one paper differ more than those of two. Assumes that reviewers are exchangeable; they are not
    told apart. Limits: BCa bootstrap over papers. After the discussion it is convergence, not accuracy. Checked: 2019 and
    2020 final .464 and .392, alpha .465 and .394; 2020 at release .244.
    """
    kinds, counts = kinds_of(sample.profiles())
    columns = corrected(_sums(kinds, sample.scale.levels), counts, _measures(sample.scale.levels), draws, seed)
    return pd.DataFrame(
        {"measure": MEASURES, **columns, "papers": _panels(counts, kinds), "n": int(counts @ kinds.sum(axis=1))}
    )


@register("variation", shares=())
def variation(sample: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """How far apart are the ratings of one paper, and how far apart are papers?

    Standard deviations in rating points: `within_sd` of single ratings about their paper, `between_sd` of papers about
    each other, by variance components (0 where the component is negative). `root_between_mean_square` is not a spread of
    papers: it holds the noise of single ratings too, and grows with the number of reviewers. Tran et al. (arXiv
    2010.05137) print it as "std between" (2.9595 for 2020). Limits: BCa bootstrap over papers. Points of different scales
    are not compared. Checked: 1.104 and 1.027 for 2019, 1.721 and 1.381 for 2020, final.
    """
    kinds, counts = kinds_of(sample.profiles())
    columns = corrected(moments_of(kinds, sample.scale.levels), counts, _deviations, draws, seed)
    return pd.DataFrame(
        {"measure": DEVIATIONS, **columns, "papers": int(counts.sum()), "n": int(counts @ kinds.sum(axis=1))}
    )


@register("agreement-change", takes="pair", shares=())
def agreement_change(before: Sample, after: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """How much does agreement grow between two snapshots of the same papers?

    A row a measure (as in `agreement`) and group of papers: `reviewed` are those with a review in both snapshots, `active`
    those of them that were not withdrawn or desk-rejected, where outcomes are completely known. `value` is `after` less `before`, whose
    own limits stand beside them. Both are computed on the same resampled papers, so the limits of the difference are
    paired (BCa). Growth is convergence: reviewers read each other and the authors' reply, and that they agree does not
    make them right. Checked: 2020 from .244 to .392; active papers .367 at the end.
    """
    first, second, outcomes = _same_papers(before, after)
    groups = {"reviewed": np.ones(len(outcomes), dtype=bool)}
    if after.snapshot.outcomes == "complete":
        groups["active"] = ~np.isin(outcomes, LEFT)
    levels = before.scale.levels, after.scale.levels
    parts = [
        pd.DataFrame({"papers": name, **_changes(first[kept], second[kept], levels, draws, seed)})
        for name, kept in groups.items()
    ]
    return pd.concat(parts, ignore_index=True)


def kinds_of(profiles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The kinds of papers with a rating, and how many papers are of each: most papers are like some other."""
    return different(profiles[profiles.sum(axis=1) > 0])


def _panels(counts: np.ndarray, kinds: np.ndarray) -> int:
    """How many papers have two ratings or more: one rating has none to agree with."""
    return int(counts[kinds.sum(axis=1) > 1].sum())


def moments_of(kinds: np.ndarray, levels: Sequence[int]) -> np.ndarray:
    """What an analysis of variance needs of each kind of paper: 1, reviews, their square, sum, sum of squares, sum²/reviews."""
    size, values = kinds.sum(axis=1), np.array(levels)
    total, squares = kinds @ values, kinds @ values**2
    return np.column_stack([np.ones(len(size)), size, size**2, total, squares, total**2 / size])


def _sums(kinds: np.ndarray, levels: Sequence[int]) -> np.ndarray:
    """The moments, those of pairs of reviewers, and how often two ratings meet on a paper (Krippendorff's coincidences)."""
    size, values = kinds.sum(axis=1), np.array(levels)
    total, squares = kinds @ values, kinds @ values**2
    pairs = np.column_stack([size * (size - 1), (size - 1) * total, (size - 1) * squares, total**2 - squares])
    first, second = np.triu_indices(len(levels))
    met = kinds[:, first] * kinds[:, second] - np.where(first == second, kinds[:, first], 0)
    others = np.maximum(size - 1, 1)[:, np.newaxis]  # a single rating meets none: its row is 0
    return np.column_stack([moments_of(kinds, levels), pairs, met / others])


def _components(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean squares within and between papers, and the variance component between, from sums of `moments_of`."""
    papers, n, sizes, total, squares, explained = sums[:, :6].T
    within = (squares - explained) / (n - papers)
    between = (explained - total**2 / n) / (papers - 1)
    # n0, the size of a panel where all are equal, is a little less than the mean size where they are not.
    return within, between, (between - within) * (papers - 1) / (n - sizes / n)


def intraclass(sums: np.ndarray) -> np.ndarray:
    within, _, component = _components(sums)
    return component / (component + within)


def _deviations(sums: np.ndarray) -> np.ndarray:
    within, between, component = _components(sums)
    return np.sqrt(np.maximum(np.column_stack([within, component, between]), 0))


def _measures(levels: Sequence[int]):
    """The four measures as a function of sums of `_sums`."""
    values = np.array(levels, dtype=float)

    def estimate(sums: np.ndarray) -> np.ndarray:
        met = _symmetric(sums[:, 10:], len(values))
        marginal = met.sum(axis=2)
        # For ordinal data the distance of two levels is how many ratings lie between them: alpha of the mid-ranks.
        ranks = marginal.cumsum(axis=1) - marginal / 2
        alphas = [_alpha(met, marginal, places) for places in (np.broadcast_to(values, ranks.shape), ranks)]
        return np.column_stack([intraclass(sums), *alphas, _correlation(sums[:, 6:10])])

    return estimate


def _symmetric(triangle: np.ndarray, size: int) -> np.ndarray:
    """Matrices from their upper triangles."""
    full = np.zeros((len(triangle), size, size))
    first, second = np.triu_indices(size)
    full[:, first, second] = full[:, second, first] = triangle
    return full


def _alpha(met: np.ndarray, marginal: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Krippendorff's alpha: one less the mean squared distance of ratings that meet over that of any two ratings."""
    n = marginal.sum(axis=1)
    apart = (places[:, :, np.newaxis] - places[:, np.newaxis]) ** 2
    observed = (met * apart).sum(axis=(1, 2)) / n
    expected = (marginal[:, :, np.newaxis] * marginal[:, np.newaxis] * apart).sum(axis=(1, 2)) / (n * (n - 1))
    return 1 - observed / expected


def _correlation(sums: np.ndarray) -> np.ndarray:
    """The correlation of the two ratings of a pair; both orders are counted, so both have the same mean and variance."""
    pairs, total, squares, products = sums.T
    mean = total / pairs
    return (products / pairs - mean**2) / (squares / pairs - mean**2)


# Change -------------------------------------------------------------------------------------------------------------


def _same_papers(before: Sample, after: Sample) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The profiles of the papers that have a review in both samples, and the outcomes of these papers."""
    require_linked(before, after, same="paper_ids")
    keys = [one.papers.loc[one.papers["reviews"] > 0, "paper"].to_numpy() for one in (before, after)]
    same = np.intersect1d(*keys, assume_unique=True)
    first, second = (np.searchsorted(one.papers["paper"].to_numpy(), same) for one in (before, after))
    return before.profiles()[first], after.profiles()[second], after.papers["outcome"].to_numpy()[second]


def _changes(
    first: np.ndarray, second: np.ndarray, levels: tuple[Sequence[int], Sequence[int]], draws: int, seed: int
) -> dict[str, object]:
    """Each measure before and after, and its difference, on the same resampled papers."""
    split = first.shape[1]
    kinds, counts = kinds_of(np.column_stack([first, second]))
    sums = [_sums(kinds[:, :split], levels[0]), _sums(kinds[:, split:], levels[1])]
    measures = [_measures(some) for some in levels]

    def estimate(both: np.ndarray) -> np.ndarray:
        old, new = measures[0](both[:, : sums[0].shape[1]]), measures[1](both[:, sums[0].shape[1] :])
        return np.column_stack([old, new, new - old])

    columns = corrected(np.column_stack(sums), counts, estimate, draws, seed)
    value, low, high = (columns[name].reshape(3, len(MEASURES)) for name in ("value", "low", "high"))
    sides = {
        f"{side}{end}": column[place]
        for place, side in enumerate(("before", "after"))
        for end, column in (("", value), ("_low", low), ("_high", high))
    }
    return {"measure": MEASURES, **sides, "value": value[2], "low": low[2], "high": high[2], "n": int(counts.sum())}


def agreement_by_year(
    around: Sequence[tuple[Sample | None, Sample | None]], draws: int = DRAWS, seed: int = 0
) -> pd.DataFrame:
    """Agreement of every year at release and after the discussion: what `agreement-change` gives, with the year in front.

    A year of which only one of the two samples is there has that one's values, and no difference.
    """
    frames = [_year(before, after, draws, seed) for before, after in around if before is not None or after is not None]
    return queries.together(frames) if frames else pd.DataFrame(columns=["year", "papers", "measure", "n"])


def _year(before: Sample | None, after: Sample | None, draws: int, seed: int) -> pd.DataFrame:
    some = before or after
    if before is not None and after is not None:
        frame = agreement_change(before, after, draws, seed)
    else:
        alone = agreement(some, draws, seed).assign(n=int((some.papers["reviews"] > 0).sum()))
        side, other = ("before", "after") if after is None else ("after", "before")
        names = {"value": side, "low": f"{side}_low", "high": f"{side}_high"}
        missing = [other, f"{other}_low", f"{other}_high", "value", "low", "high"]
        frame = alone.rename(columns=names).assign(papers="reviewed", **dict.fromkeys(missing, np.nan))
    about = {
        "year": some.snapshot.year,
        "before_stage": before.snapshot.stage if before is not None else "",
        "after_stage": after.snapshot.stage if after is not None else "",
        # Scores that were put back to those at release: a final snapshot would show no discussion.
        "put_back": some.form.decision_snapshot == "release",
    }
    sides = [f"{side}{end}" for side in ("before", "after") for end in ("", "_low", "_high")]
    return frame.assign(**about)[
        [*list(about)[:1], "papers", "measure", *sides, "value", "low", "high", "n", *list(about)[1:]]
    ]


# What an average can tell -------------------------------------------------------------------------------------------


def _called(sample: Sample) -> str:
    """What the same formula gives before and after reviewers have read each other."""
    return (
        "reliability" if sample.snapshot.stage == "release" else f"agreement ({sample.snapshot.stage}), not reliability"
    )


@register("reliability", shares=("papers_with",))
def reliability(sample: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """How reliable is the average of one, two, three ... reviewers?

    A row for each number of reviewers. `value` is the Spearman-Brown reliability of their average, k icc / (1 + (k - 1)
    icc), 0 for a negative icc: the correlation with the average of as many other reviewers. `error` is its standard error in
    rating points, within_sd / sqrt(k). `papers_with` is the share of papers that have so many. Assumes that reviewers rate
    a paper independently, which holds at release at best: for later scores `called` says that it is agreement, not
    reliability. Limits: BCa bootstrap over papers. Points of different scales are not compared.
    """
    kinds, counts = kinds_of(sample.profiles())
    size = np.array(PANELS)

    def estimate(sums: np.ndarray) -> np.ndarray:
        icc, within = np.maximum(intraclass(sums), 0)[:, np.newaxis], _components(sums)[0][:, np.newaxis]
        return np.column_stack([size * icc / (1 + (size - 1) * icc), np.sqrt(np.maximum(within, 0) / size)])

    columns = corrected(moments_of(kinds, sample.scale.levels), counts, estimate, draws, seed)
    of = {name: column.reshape(2, len(size)) for name, column in columns.items()}
    papers = np.bincount(kinds.sum(axis=1), weights=counts, minlength=len(size) + 1)[size]
    return pd.DataFrame(
        {
            "reviewers": size,
            **{name: column[0] for name, column in of.items()},
            "error": of["value"][1],
            "error_low": of["low"][1],
            "error_high": of["high"][1],
            "papers_with": papers / counts.sum() if len(counts) else np.nan,
            "called": _called(sample),
            "n": int(counts.sum()),
        }
    )


@register("uncertain-order", shares=("value", "low", "high"))
def uncertain_order(sample: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """For how many pairs of papers do the averages not tell which is better?

    The order of two papers is `uncertain` where their averages differ by at most 1.96 standard errors of the difference,
    within_sd * sqrt(1/k + 1/m) for k and m reviewers; `tied` where the averages are equal, which is part of it. `value` is
    the share of all pairs of papers. Pairs are counted by average and number of reviewers, never listed. It says what a
    paper's own reviewers can tell, not what a committee does, and assumes independent reviewers with the same spread for
    every paper: for scores after release see `called`. `low` to `high` is the range of the middle 95 % of bootstrap draws
    over papers, without the pairs that a paper makes with its copies: averages sit on a lattice, and a share that jumps
    from step to step has no 95 % interval.
    """
    kinds, counts = kinds_of(sample.profiles())
    moments, cells = moments_of(kinds, sample.scale.levels), _cells(kinds, sample.scale.levels)
    n = int(counts.sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        value = _unordered(counts[np.newaxis], moments, cells)[0]
    low = high = value
    if n:
        copies = (n - 1) / 2
        low, high = limits(
            from_resampled(lambda weights: _unordered(weights, moments, cells, copies), counts, draws, seed)
        )
    columns = {"value": value, "low": np.fmin(low, value), "high": np.fmax(high, value)}
    pairs = n * (n - 1) // 2
    return pd.DataFrame({"order": ["uncertain", "tied"], **columns, "pairs": pairs, "called": _called(sample), "n": n})


Cells = dict[int, tuple[np.ndarray, np.ndarray]]


def _cells(kinds: np.ndarray, levels: Sequence[int]) -> Cells:
    """For each number of reviewers the averages that occur, ascending, and which kinds have each: kinds x averages."""
    size, total = kinds.sum(axis=1), kinds @ np.array(levels)
    cells = {}
    for reviewers in np.unique(size):
        totals = np.unique(total[size == reviewers])
        member = (size == reviewers)[:, np.newaxis] & (total[:, np.newaxis] == totals)
        cells[int(reviewers)] = totals / reviewers, member.astype(np.int64)
    return cells


def _unordered(weights: np.ndarray, moments: np.ndarray, cells: Cells, copies: float = 0) -> np.ndarray:
    """The shares of pairs whose order is uncertain, and that are tied: draws x 2. `copies` pairs are of one paper drawn twice."""
    within = np.sqrt(np.maximum(_components(weights @ moments)[0], 0))
    papers = {size: weights @ member for size, (_, member) in cells.items()}
    pairs = weights.sum(axis=1) * (weights.sum(axis=1) - 1) / 2
    uncertain, tied = np.zeros(len(weights)), np.zeros(len(weights))
    for first in cells:
        for second in (size for size in cells if size >= first):
            error = within * np.sqrt(1 / first + 1 / second)
            each = cells[first][0], papers[first], cells[second][0], papers[second], first == second
            uncertain += _near(*each, reach=Z * error)
            tied += _near(*each, reach=np.zeros(len(weights)))
    uncertain[np.isnan(within)] = np.nan  # nobody rated a paper twice: how far ratings differ is not known
    return (np.column_stack([uncertain, tied]) - copies) / (pairs - copies)[:, np.newaxis]


def _near(
    average: np.ndarray,
    papers: np.ndarray,
    others: np.ndarray,
    others_papers: np.ndarray,
    same: bool,
    reach: np.ndarray,
) -> np.ndarray:
    """How many pairs of papers of two panel sizes have averages at most `reach` apart, a number a draw."""
    start = np.searchsorted(others, average - reach[:, np.newaxis], side="left")
    stop = np.searchsorted(others, average + reach[:, np.newaxis], side="right")
    below = np.column_stack([np.zeros(len(papers)), others_papers.cumsum(axis=1)])
    near = (papers * (np.take_along_axis(below, stop, 1) - np.take_along_axis(below, start, 1))).sum(axis=1)
    return (
        (near - papers.sum(axis=1)) / 2 if same else near
    )  # within one size each paper is near itself, each pair twice


# Against independence -----------------------------------------------------------------------------------------------


@register("unanimity", shares=("value", "low", "high", "independent"))
def unanimity(sample: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """How often are reviewers unanimous or at opposite ends, and how often would strangers be?

    Papers with two ratings or more. `unanimous`: all ratings equal. `opposite`: a rating in the lowest and one in the
    highest quarter of the scale's span (`ends` names these levels; a 1 and an 8 in 2020). Both are shares of papers, with
    Wilson limits. `range`: highest less lowest rating as a share of the scale's span, averaged over papers (BCa bootstrap over papers).
    `independent` is what the same ratings give when they are dealt anew to panels of the same sizes, all deals weighed
    alike (exact); `ratio` is `value` over it. The dealing takes no account of how good papers are: that is the point.
    """
    kinds, counts = kinds_of(sample.profiles())
    several = kinds.sum(axis=1) > 1
    kinds, counts = kinds[several], counts[several]
    levels, n = np.array(sample.scale.levels), int(counts.sum())
    low, high = _ends(levels)
    seen = np.column_stack([_is_unanimous(kinds), _is_opposite(kinds, low, high), _range(kinds, levels)])
    shares = shares_of_papers(counts @ seen[:, :2], np.full(2, n))
    ranged = corrected(
        np.column_stack([seen[:, 2], np.ones(len(kinds))]), counts, lambda sums: sums[:, :1] / sums[:, 1:], draws, seed
    )
    frame = pd.DataFrame({name: [*shares[name], *ranged[name]] for name in ("value", "low", "high")})
    frame["independent"] = _expected(kinds, counts, levels, low, high)
    frame["ratio"] = frame["value"] / frame["independent"].where(frame["independent"] > 0)
    ends = f"{text_of(levels[low])} and {text_of(levels[high])}"
    frame.insert(0, "measure", ["unanimous", "opposite", "range"])
    frame.insert(1, "ends", ["", ends, ""])
    return frame.assign(n=n)


def _ends(levels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which levels are an end of the scale: those in the outer quarters of its span."""
    if not len(levels):
        return np.zeros(0, dtype=bool), np.zeros(0, dtype=bool)
    span = levels[-1] - levels[0]
    low = levels < levels[0] + QUARTER * span
    return low, levels > levels[-1] - QUARTER * span


def _is_unanimous(kinds: np.ndarray) -> np.ndarray:
    return (kinds > 0).sum(axis=1) == 1


def _is_opposite(kinds: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return kinds[:, low].any(axis=1) & kinds[:, high].any(axis=1)


def _range(kinds: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Highest less lowest rating, as a share of the span of the scale."""
    if len(levels) < 2:
        return np.zeros(len(kinds))
    given = kinds > 0
    lowest, highest = given.argmax(axis=1), given.shape[1] - 1 - given[:, ::-1].argmax(axis=1)
    return (levels[highest] - levels[lowest]) / (levels[-1] - levels[0])


def _expected(
    kinds: np.ndarray, counts: np.ndarray, levels: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """The three measures when all the ratings are dealt at random to panels of the same sizes: the mean over all deals."""
    sizes, kind = np.unique(kinds.sum(axis=1), return_inverse=True)
    papers, pool = np.bincount(kind, weights=counts, minlength=len(sizes)), counts @ kinds
    if not len(sizes):
        return np.full(3, np.nan)

    def only(mask: np.ndarray) -> np.ndarray:
        """For each size, the chance that all ratings of a panel come from these levels."""
        return np.array([_chance(int(pool[mask].sum()), int(pool.sum()), int(size)) for size in sizes])

    each = np.eye(len(levels), dtype=bool)
    unanimous = sum(only(level) for level in each)
    opposite = 1 - only(~low) - only(~high) + only(~low & ~high)
    # A range is made of the gaps between levels that it bridges: neither all ratings below a gap nor all above.
    gaps = [(levels >= upper, upper - lower) for lower, upper in pairwise(levels)]
    bridged = sum((1 - only(above) - only(~above)) * gap for above, gap in gaps)
    ranged = bridged / (levels[-1] - levels[0]) if gaps else np.zeros(len(sizes))
    return np.array([unanimous @ papers, opposite @ papers, ranged @ papers]) / papers.sum()


def _chance(some: int, n: int, size: int) -> float:
    """The chance that `size` ratings drawn from `n` without putting back are all among `some` of them."""
    drawn = np.arange(size)
    return float(np.prod(np.maximum(some - drawn, 0) / (n - drawn)))
