"""Fates: what else goes with acceptance among papers of the same average."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.sample import Sample
from analysis.statistics import register
from analysis.statistics.acceptance import by_way, is_accepted, ways
from analysis.statistics.intervals import Z, benjamini_hochberg, shares_of_papers
from analysis.statistics.line import ends, line_of
from analysis.statistics.ratings import text_of

ENOUGH = 20  # papers that a profile, or a group near the line, must have to be compared
NEAR = 0.5  # points of the average around the line


# Same average, other fate -------------------------------------------------------------------------------------------


@register("fates", shares=("value", "low", "high", "others"))
def fates(sample: Sample) -> pd.DataFrame:
    """Of papers with the same average and as many reviews, do some sets of ratings fare better than others?

    One row for each set of ratings of at least 20 papers that has at least one rival: another such set with the same
    average and the same number of reviews. `value` is the share accepted, with Wilson limits; `others` the share among all other papers of the
    same average and number of reviews; `p` is Fisher's exact test of the two, `q` the same after Benjamini-Hochberg
    over the rows of each way to treat withdrawn papers, and `differs` whether q is at most 0.05. `withdrawn` as in acceptance-by-average.
    It compares papers that differ in much else, so it is no advice on how to be rated.
    """
    return by_way({way: _rivals(sample.having(mask)) for way, mask in ways(sample).items()})


def _rivals(sample: Sample) -> pd.DataFrame:
    levels = np.asarray(sample.scale.levels, dtype=np.int64)
    kinds, kind, n = np.unique(sample.profiles(), axis=0, return_inverse=True, return_counts=True)
    accepted = np.bincount(kind.ravel()[is_accepted(sample)], minlength=len(n))
    reviews, total = kinds.sum(axis=1), kinds @ levels
    alike = np.unique(np.column_stack([total, reviews]), axis=0, return_inverse=True)[1].ravel()
    rivals = np.bincount(alike[n >= ENOUGH], minlength=alike.max(initial=-1) + 1)[alike]
    shown = np.flatnonzero((n >= ENOUGH) & (rivals > 1))
    all_won, all_n = (np.bincount(alike, weights=papers).astype(np.int64)[alike] for papers in (accepted, n))
    others = all_won - accepted, all_n - n
    log = _log_factorials(int(all_n[shown].max(initial=0)))
    p = [fisher(accepted[row], n[row], others[0][row], others[1][row], log) for row in shown]
    frame = pd.DataFrame(
        {
            "average": total[shown] / reviews[shown],
            "reviews": reviews[shown],
            "ratings": [text_of(np.repeat(levels, kinds[row])) for row in shown],
            "accepted": accepted[shown],
            **shares_of_papers(accepted[shown], n[shown]),
            "n": n[shown],
            "others": others[0][shown] / others[1][shown],
            "n_others": others[1][shown],
            **_tested(p),
        }
    )
    return frame.sort_values(["average", "reviews", "ratings"], ignore_index=True)


def _tested(p) -> dict[str, np.ndarray]:
    p = np.asarray(p, dtype=float)
    q = benjamini_hochberg(p)
    return {"p": p, "q": q, "differs": q <= 0.05}


def fisher(accepted: int, n: int, others_accepted: int, n_others: int, log: np.ndarray) -> float:
    """The two-sided p-value of Fisher's exact test that two shares are equal: all tables as unlikely as this one, or more.

    `log` has the logarithms of 0!, 1!, ... up to at least that of the number of papers.
    """
    won = int(accepted + others_accepted)
    possible = np.arange(max(0, won - int(n_others)), min(int(n), won) + 1)
    weight = (
        log[n]
        - log[possible]
        - log[n - possible]
        + log[n_others]
        - log[won - possible]
        - log[n_others - won + possible]
    )
    chance = np.exp(weight - weight.max())
    own = chance[accepted - possible[0]]
    return float(min(chance[chance <= own * (1 + 1e-7)].sum() / chance.sum(), 1))


def _log_factorials(n: int) -> np.ndarray:
    """The logarithms of 0!, 1!, ..., n!."""
    return np.concatenate([[0.0], np.log(np.arange(1, n + 1)).cumsum()])


# Near the line ------------------------------------------------------------------------------------------------------


@register("near-the-line", shares=("share", "value", "low", "high"))
def near_the_line(sample: Sample) -> pd.DataFrame:
    """Within half a point of the line, what else goes with acceptance at the same average?

    Papers whose average is at most half a point from the line (see the statistic line). A row compares a group with all other
    papers near the line at the same exact averages: `value` is the difference of the shares accepted, a Mantel-Haenszel risk
    difference over the averages, with Sato's (1989) limits; `n` and `n_others` are the papers at averages where there are both, 20 or
    more each; `share` is accepted / n. `p` is the Cochran-Mantel-Haenszel test without correction, `q` after
    Benjamini-Hochberg over the rows of each way to treat withdrawn papers (as in acceptance-by-average), `differs`
    whether q is at most 0.05. Groups: each lowest and each highest rating, the range between them, the number of
    reviews, and a mean confidence (and experience, where the form asked) above the median; of two groups that are each
    other's rest the upper one is given. Groups overlap with one another and with what is not in the data: associations, not causes.
    """
    return by_way({way: _near(sample.having(mask)) for way, mask in ways(sample).items()})


def _near(sample: Sample) -> pd.DataFrame:
    average = sample.papers["average"].to_numpy()
    line = line_of(average, is_accepted(sample))
    # A millionth of slack: 17/3 - 1/2 is not a float that 31/6 equals.
    near = sample.having(np.abs(average - line) <= NEAR + 1e-6)
    averages, stratum = np.unique(near.papers["average"].to_numpy(), return_inverse=True)

    def counted(*masks: np.ndarray) -> list[np.ndarray]:
        return [np.bincount(stratum[mask], minlength=len(averages)) for mask in masks]

    accepted = is_accepted(near)
    rows = []
    for split, group, mask in _groups(near):
        won, n, others_won, others = counted(mask & accepted, mask, ~mask & accepted, ~mask)
        both = (n > 0) & (others > 0)
        if min(n[both].sum(), others[both].sum()) >= ENOUGH:
            share = won[both].sum() / n[both].sum()
            compared = difference(won[both], n[both], others_won[both], others[both])
            rows.append((split, group, share, *compared, n[both].sum(), others[both].sum()))
    frame = pd.DataFrame(rows, columns=["split", "group", "share", "value", "low", "high", "p", "n", "n_others"])
    return frame.drop(columns="p").assign(line=line, **_tested(frame["p"]))


def _groups(near: Sample) -> Iterator[tuple[str, str, np.ndarray]]:
    """The groups near the line: split, group, and a mask of papers."""
    lowest, highest = ends(near)
    whole = {"lowest rating": lowest, "highest rating": highest, "range": highest - lowest}
    whole["reviews"] = near.papers["reviews"].to_numpy()
    for split, values in whole.items():
        seen = np.unique(values)
        for value in seen[len(seen) == 2 :]:
            yield split, str(value), values == value
    for field in ("confidence", "experience"):
        mean = _mean_of(near, field)
        if not np.isnan(mean).all():
            middle = np.nanmedian(mean)
            yield f"mean {field}", f"above {middle:.2f}", mean > middle


def _mean_of(sample: Sample, field: str) -> np.ndarray:
    """The mean of a field over the reviews of each paper that have it; NaN where none has."""
    known = sample.reviews[sample.reviews[field].notna()]
    row = np.searchsorted(sample.papers["paper"].to_numpy(), known["paper"].to_numpy())
    sums, n = (np.bincount(row, weights=w, minlength=len(sample.papers)) for w in (known[field].to_numpy(float), None))
    return np.divide(sums, n, out=np.full(len(sample.papers), np.nan), where=n > 0)


def difference(
    won: np.ndarray, n: np.ndarray, others_won: np.ndarray, others: np.ndarray
) -> tuple[float, float, float, float]:
    """How much higher the share accepted is in a group than among the others of the same stratum: value, low, high, p.

    Each argument has a count for each stratum, and no stratum is without one of the two. Mantel and Haenszel's weights; Sato's
    variance (Biometrics 1989), which holds for many small strata and for few large ones.
    """
    a, n1, c, n0 = (np.asarray(one, dtype=float) for one in (won, n, others_won, others))
    total = n1 + n0
    weight = (n1 * n0 / total).sum()
    value = ((a * n0 - c * n1) / total).sum() / weight
    by_value = ((n1**2 * c - n0**2 * a + n1 * n0 * (n0 - n1) / 2) / total**2).sum()
    alone = ((a * (n0 - c) + c * (n1 - a)) / (2 * total)).sum()
    half = Z * np.sqrt(max(value * by_value + alone, 0)) / weight
    return value, value - half, value + half, _cochran(a, n1, a + c, total)


def _cochran(a: np.ndarray, n1: np.ndarray, m: np.ndarray, total: np.ndarray) -> float:
    """The p-value of the Cochran-Mantel-Haenszel test, without continuity correction."""
    expected = n1 * m / total
    variance = n1 * (total - n1) * m * (total - m) / (total**2 * np.maximum(total - 1, 1))
    if not variance.sum() > 0:
        return np.nan
    z = abs((a - expected).sum()) / np.sqrt(variance.sum())
    return math.erfc(z / math.sqrt(2))
