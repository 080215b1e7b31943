"""The line: how sharply averages part accepted from other papers, and who crossed it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.sample import Sample
from analysis.statistics import register
from analysis.statistics.acceptance import by_way, is_accepted, ways
from analysis.statistics.intervals import Z, shares_of_papers

FOLDS = 10
STEPS = 50  # Newton's method settles within ten; where there is no finite estimate it never does
SETTLED = 1e-9
SINGULAR = 1e12  # the condition of an information matrix that says nothing
GRID = 0.05  # points of the rating scale between two places of a drawn curve


# Logistic regression ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fit:
    """A logistic regression: coefficients with their covariance; NaN where there is no finite estimate."""

    coefficients: np.ndarray
    covariance: np.ndarray

    def log_odds(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The log-odds at each row of `x` (with its column of ones), and their standard errors."""
        return x @ self.coefficients, np.sqrt(np.einsum("ij,jk,ik->i", x, self.covariance, x))


def fit(x: np.ndarray, accepted: np.ndarray, n: np.ndarray) -> Fit:
    """Maximum likelihood of a logistic regression on kinds of papers: `accepted` of `n` have the predictors `x`.

    `x` is kinds x coefficients, with a column of ones. Newton's method with halved steps (iteratively reweighted least
    squares; McCullagh and Nelder 1989). Where the predictors part accepted and other papers without overlap, or do not
    vary, there is no finite estimate, and all is NaN.
    """
    size = x.shape[1]
    coefficients, likelihood = np.zeros(size), -np.log(2) * n.sum()
    for _ in range(STEPS):
        expected = share(x @ coefficients)
        information = (x * (n * expected * (1 - expected))[:, np.newaxis]).T @ x
        if not np.linalg.cond(information) < SINGULAR:
            break
        step = np.linalg.solve(information, x.T @ (accepted - n * expected))
        while (reached := _log_likelihood(x @ (coefficients + step), accepted, n)) < likelihood:
            if np.abs(step).max() < SETTLED:
                break
            step = step / 2
        coefficients, likelihood = coefficients + step, reached
        if np.abs(step).max() < SETTLED:
            return Fit(coefficients, np.linalg.inv(information))
    return Fit(np.full(size, np.nan), np.full((size, size), np.nan))


def share(log_odds: np.ndarray) -> np.ndarray:
    """The share that has these log-odds."""
    return 1 / (1 + np.exp(-np.clip(log_odds, -700, 700)))


def _log_likelihood(log_odds: np.ndarray, accepted: np.ndarray, n: np.ndarray) -> float:
    return float(accepted @ log_odds - n @ np.logaddexp(0, log_odds))


def with_ones(*predictors: np.ndarray) -> np.ndarray:
    """The predictors as columns, after a column of ones."""
    return np.column_stack([np.ones(len(predictors[0])), *predictors]).astype(float)


def fit_averages(average: np.ndarray, accepted: np.ndarray) -> Fit:
    """The logistic regression of acceptance on the average of a paper."""
    kinds, row, n = np.unique(average, return_inverse=True, return_counts=True)
    return fit(with_ones(kinds), np.bincount(row[accepted], minlength=len(n)), n)


@register("logit", shares=())
def logit(sample: Sample) -> pd.DataFrame:
    """How fast do the odds of acceptance rise with the average, and where are they even?

    A logistic regression of accepted on the paper average, by maximum likelihood: `slope` (log-odds a point of the
    average), `constant`, and `even` (the average with a fitted share of 50 %, by the delta method). `withdrawn` as in
    acceptance-by-average. `se` and the Wald limits take papers as independent and log-odds as straight in the average.
    Missing where averages part accepted and other papers without overlap (there is no finite estimate), and limits of
    `even` where the slope is not told from 0. Averages of different scales differ in meaning, so neither slopes nor
    `even` compare across scales; scores held after the discussion partly follow the decision in the making.

    Checked against Tran et al. (2020, arXiv 2010.05137), ICLR 2020 with withdrawn papers as rejected: 2.396 +- 0.109
    and -13.02; recomputed 2.393 +- 0.106 and -13.05.
    """
    return by_way({way: _coefficients(*_papers(sample, mask)) for way, mask in ways(sample).items()})


def _papers(sample: Sample, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Average and fate of the papers that a mask keeps."""
    return sample.papers["average"].to_numpy()[mask], is_accepted(sample)[mask]


def _coefficients(average: np.ndarray, accepted: np.ndarray) -> pd.DataFrame:
    fitted = fit_averages(average, accepted)
    constant, slope = fitted.coefficients
    errors = np.sqrt(np.diag(fitted.covariance))
    even, error = even_odds(fitted)
    value, se = np.array([slope, constant, even]), np.array([errors[1], errors[0], error])
    limits = {"low": value - Z * se, "high": value + Z * se}
    counts = {"accepted": int(accepted.sum()), "n": len(average)}
    return pd.DataFrame({"item": ["slope", "constant", "even"], "value": value, "se": se, **limits, **counts})


def even_odds(fitted: Fit) -> tuple[float, float]:
    """The predictor at which the fitted share is 50 %, with its standard error where the slope is told from 0."""
    constant, slope = fitted.coefficients
    if not abs(slope) > 0:
        return np.nan, np.nan
    gradient = np.array([-1 / slope, constant / slope**2])
    told = abs(slope) > Z * np.sqrt(fitted.covariance[1, 1])
    return -constant / slope, float(np.sqrt(gradient @ fitted.covariance @ gradient)) if told else np.nan


@register("acceptance-curve")
def acceptance_curve(sample: Sample) -> pd.DataFrame:
    """What share of the papers does the logistic curve expect to be accepted, at each average?

    The fit of the statistic logit, drawn: `value` at every 0.05 points from the lowest to the highest average, with
    the 95 % band of the curve at each place (Wald limits of the log-odds). The band is about the curve, not about one paper; no rows where
    there is no finite estimate.
    """
    return by_way({way: _curve(*_papers(sample, mask)) for way, mask in ways(sample).items()})


def _curve(average: np.ndarray, accepted: np.ndarray) -> pd.DataFrame:
    fitted = fit_averages(average, accepted)
    known = len(average) and np.isfinite(fitted.coefficients).all()
    ends = (round(average.min() / GRID), round(average.max() / GRID)) if known else (0, -1)
    places = GRID * np.arange(ends[0], ends[1] + 1)
    log_odds, error = fitted.log_odds(with_ones(places))
    band = {"low": share(log_odds - Z * error), "high": share(log_odds + Z * error)}
    return pd.DataFrame({"average": places, "value": share(log_odds), **band, "n": len(average)})


# The area under the curve -------------------------------------------------------------------------------------------


def area(score: np.ndarray, accepted: np.ndarray, others: np.ndarray) -> dict[str, float]:
    """The area under the ROC curve, by ranks with ties counted half: value, low, high.

    `accepted` and `others` count the papers with each `score`. With a further axis (scores x folds) only papers of the
    same fold are compared, and the folds are pooled by their pairs. Limits by DeLong, DeLong and Clarke-Pearson (1988) on
    the logit scale; none where the area is 0 or 1.
    """
    folds = zip(*(np.atleast_2d(np.asarray(one, dtype=float).T) for one in (score, accepted, others)), strict=True)
    found = [one for one in map(_fold_area, *zip(*folds, strict=True)) if one[0] > 0]
    pairs, value, variance = np.array(found).reshape(-1, 3).T
    if not len(pairs) or np.isnan(value).any():
        return dict.fromkeys(("value", "low", "high"), np.nan)
    weight = pairs / pairs.sum()
    pooled, error = float(weight @ value), float(np.sqrt(weight**2 @ variance))
    if not 0 < pooled < 1:
        return {"value": pooled, "low": np.nan, "high": np.nan}
    log_odds, half = np.log(pooled / (1 - pooled)), Z * error / (pooled * (1 - pooled))
    return {"value": pooled, "low": float(share(log_odds - half)), "high": float(share(log_odds + half))}


def _fold_area(score: np.ndarray, accepted: np.ndarray, others: np.ndarray) -> tuple[float, float, float]:
    """How many pairs of an accepted and another paper there are, the share that the accepted one wins, and its variance."""
    scores, row = np.unique(score, return_inverse=True)
    won, lost = (np.bincount(row, weights=papers, minlength=len(scores)) for papers in (accepted, others))
    if not won.sum() or not lost.sum() or np.isnan(score).any():
        return won.sum() * lost.sum(), np.nan, np.nan
    beaten = (lost.cumsum() - lost / 2) / lost.sum()  # share of the others that an accepted paper is ahead of
    ahead = 1 - (won.cumsum() - won / 2) / won.sum()  # share of the accepted that are ahead of another paper
    value = won @ beaten / won.sum()
    variance = sum(
        papers @ (placed - value) ** 2 / max(papers.sum() - 1, 1) / papers.sum()
        for papers, placed in ((won, beaten), (lost, ahead))
    )
    return won.sum() * lost.sum(), value, variance


@register("auc", shares=())
def auc(sample: Sample, seed: int = 0) -> pd.DataFrame:
    """How often does an accepted paper have a better score than one that was not accepted?

    The area under the ROC curve (0.5: the score tells nothing; 1: it tells all), ties half. `predictor`: the paper average; how many of its
    ratings are on the accept side (as a share); or the average together with the lowest and the highest rating and the number of
    reviews. `value` is cross-validated: each paper is scored by a logistic regression fitted on the other nine of
    ten folds (drawn with the seed), and compared within its fold; `in_sample` is fitted and measured on the same
    papers. DeLong limits, papers taken as independent. It says how well scores and decisions agree, not whether either is right.

    Checked: .958 for the average in ICLR 2020, decided papers.
    """
    offered = _predictors(sample)
    rows = [
        {
            "withdrawn": way,
            "predictor": name,
            **_area(tuple(one[mask] for one in columns), is_accepted(sample)[mask], seed),
        }
        for way, mask in ways(sample).items()
        for name, columns in offered.items()
    ]
    return pd.DataFrame(rows)


def _predictors(sample: Sample) -> dict[str, tuple[np.ndarray, ...]]:
    papers = sample.papers
    average = papers["average"].to_numpy()
    found = {"average": (average,)}
    if sample.scale.accept_from is not None:
        found["share on the accept side"] = ((papers["accept_side"] / papers["reviews"]).to_numpy(),)
    lowest, highest = ends(sample)
    return found | {"average, lowest, highest, reviews": (average, lowest, highest, papers["reviews"].to_numpy())}


def ends(sample: Sample) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and the highest rating of each paper; 0 for one without a review."""
    levels, given = np.asarray(sample.scale.levels, dtype=np.int64), sample.profiles() > 0
    if not given.any():
        return np.zeros(len(given), dtype=np.int64), np.zeros(len(given), dtype=np.int64)
    found = levels[given.argmax(axis=1)], levels[::-1][given[:, ::-1].argmax(axis=1)]
    return tuple(np.where(given.any(axis=1), end, 0) for end in found)


def _area(predictors: tuple[np.ndarray, ...], accepted: np.ndarray, seed: int) -> dict[str, float]:
    kinds, row, n = np.unique(np.column_stack(predictors), axis=0, return_inverse=True, return_counts=True)
    row = row.ravel()
    x, won = _independent(with_ones(*kinds.T)), np.bincount(row[accepted], minlength=len(n))
    known = area(x @ fit(x, won, n).coefficients, won, n - won)
    crossed = _cross_validated(x, *_folds(won, n - won, seed))
    return {**crossed, "in_sample": known["value"], "accepted": int(won.sum()), "n": int(n.sum())}


def _independent(x: np.ndarray) -> np.ndarray:
    """The columns that say something new: where each paper has three reviews, their number does not."""
    kept = [0]
    for column in range(1, x.shape[1]):
        if len(x) and np.linalg.matrix_rank(x[:, [*kept, column]]) > len(kept):
            kept.append(column)
    return x[:, kept]


def _folds(accepted: np.ndarray, others: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """How many papers of each kind and fate are in each fold: two tables, kinds x folds. Papers of a kind and fate are alike, so
    dealing them out does not depend on the order of the rows.
    """
    kind = np.repeat(np.arange(2 * len(accepted)), np.concatenate([accepted, others]))
    fold = np.random.default_rng(seed).permutation(len(kind)) % FOLDS
    cells = np.bincount(kind * FOLDS + fold, minlength=2 * len(accepted) * FOLDS)
    return tuple(np.split(cells.reshape(-1, FOLDS), 2))


def _cross_validated(x: np.ndarray, accepted: np.ndarray, others: np.ndarray) -> dict[str, float]:
    """The area under the curve of what each fold's papers score by a fit to all other folds."""
    won, n = accepted.sum(axis=1), (accepted + others).sum(axis=1)
    scores = [
        x @ fit(x, won - accepted[:, fold], n - accepted[:, fold] - others[:, fold]).coefficients
        for fold in range(FOLDS)
    ]
    score = np.column_stack(scores) if len(x) else np.zeros((0, FOLDS))
    return area(score, accepted, others)


# The line -----------------------------------------------------------------------------------------------------------


def line_of(average: np.ndarray, accepted: np.ndarray) -> float:
    """The average of the last paper that gets in when as many as were accepted are taken by average alone."""
    many = int(accepted.sum())
    return float(np.sort(average)[::-1][many - 1]) if many else np.nan


@register("line")
def line(sample: Sample) -> pd.DataFrame:
    """How many papers were accepted below the line, and how many above it were not?

    `line` is the average that would accept the same number of papers: that of the last one in, when papers are taken
    by average alone. Papers exactly on it are neither above nor below and have a row of their own: only some of them
    would be needed. Rows `above`, `on`, `below`; value is the share of them that was accepted, with Wilson limits;
    `withdrawn` as in acceptance-by-average (as rejected: papers above the line that were not accepted are also those
    withdrawn). A paper on the other side is no error: the average is not the decision, and says nothing of the reasons for it.
    """
    return by_way({way: _sides(*_papers(sample, mask)) for way, mask in ways(sample).items()})


def _sides(average: np.ndarray, accepted: np.ndarray) -> pd.DataFrame:
    where = line_of(average, accepted)
    masks = {"above": average > where, "on": average == where, "below": average < where}
    n = np.array([mask.sum() for mask in masks.values()])
    won = np.array([(mask & accepted).sum() for mask in masks.values()])
    columns = {"accepted": won, "others": n - won, **shares_of_papers(won, n), "n": n}
    return pd.DataFrame({"side": list(masks), "line": where, **columns})
