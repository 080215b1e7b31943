"""Harshness: who rates lower on the same paper, who differs from the co-reviewers, whose ratings agree with the decision.

By what reviewers say of their experience (ICLR 2020) or their confidence. Levels are compared, people are not.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.errors import Trouble
from analysis.sample import Sample
from analysis.statistics import register
from analysis.statistics.intervals import DRAWS, estimates
from analysis.statistics.ledger import require_accepted
from analysis.statistics.ratings import labels
from analysis.statistics.reviewers import places_of, tally, with_answer
from analysis.venues import Scale

SIDES = ("accepted", "rejected", "both")


# On the same paper --------------------------------------------------------------------------------------------------


@register("experience-within-paper", need="experience", shares=())
def experience_within_paper(sample: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """On the same paper, do reviewers with more experience in the area rate lower?

    `value` is how many rating points a level lies above (below: negative) the average review, by least squares with an
    effect for each paper and one for each level: only differences between reviewers of one paper count, so levels may
    review different papers. Effects are centred on all reviews. `papers` have the level and another one; a level that
    never met the others has no value. Assumes that the difference of two levels is the same on every paper, and
    distances between ratings. Limits: bootstrap over papers. It is a difference between answers, not what more
    experience would do to a reviewer.
    """
    return _within_paper(sample, "experience", draws, seed)


@register("confidence-within-paper", need="confidence", shares=())
def confidence_within_paper(sample: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """On the same paper, do more confident reviewers rate lower or higher?

    As experience-within-paper, by confidence. A reviewer may be confident because the paper is clearly good or bad: it
    says what goes together, not what follows from what.
    """
    return _within_paper(sample, "confidence", draws, seed)


def _within_paper(sample: Sample, field: str, draws: int, seed: int) -> pd.DataFrame:
    known, scale = with_answer(sample, field)
    size = len(scale.levels)
    given, total = _by_level(known, field, scale, known.reviews["rating"].to_numpy(dtype=np.int64))
    columns = estimates(_normal_equations(given, total), lambda sums: _effects(sums, size), draws, seed)
    met = (given > 0) & (given.sum(axis=1, keepdims=True) > given)
    counts = {"papers": met.sum(axis=0), "n": given.sum(axis=0)}
    return pd.DataFrame({**_named(scale), **columns, **counts})


def _named(scale: Scale) -> dict[str, object]:
    return {"level": np.array(scale.levels, dtype=np.int64), "label": labels(scale)}


def _by_level(known: Sample, field: str, scale: Scale, amounts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many reviews of each level a paper has, and the sum of their amounts: both papers x levels, exact."""
    place = places_of(known, field, scale.levels)
    count = tally(known, place, len(scale.levels))
    row = np.searchsorted(known.papers["paper"].to_numpy(), known.reviews["paper"].to_numpy())
    summed = np.bincount(row * len(scale.levels) + place, weights=amounts, minlength=count.size)
    return count, summed.reshape(count.shape).astype(np.int64)


def _normal_equations(given: np.ndarray, total: np.ndarray) -> np.ndarray:
    """What each paper adds to the normal equations of levels within papers: counts, right side, matrix (upper triangle)."""
    reviews = np.maximum(given.sum(axis=1, keepdims=True), 1)
    first, second = np.triu_indices(given.shape[1])
    shared = np.where(first == second, given[:, first], 0) - given[:, first] * given[:, second] / reviews
    return np.column_stack([given, total - given * total.sum(axis=1, keepdims=True) / reviews, shared])


def _effects(sums: np.ndarray, size: int) -> np.ndarray:
    """The effect of each level, draws x levels, centred on the reviews; NaN for a level that no paper ties to the others."""
    count, right = sums[:, :size], sums[:, size : 2 * size]
    matrix = np.zeros((len(sums), size, size))
    first, second = np.triu_indices(size)
    matrix[:, first, second] = matrix[:, second, first] = sums[:, 2 * size :]
    # The matrix of tied levels has one free constant, which centring takes out: so a generalised inverse will do.
    effect = (np.linalg.pinv(matrix, rcond=1e-9, hermitian=True) @ right[:, :, np.newaxis])[:, :, 0]
    tied = _tied(matrix, count)
    weight = np.where(tied, count, 0)
    centre = (effect * weight).sum(axis=1) / np.maximum(weight.sum(axis=1), 1)
    return np.where(tied, effect - centre[:, np.newaxis], np.nan)


def _tied(matrix: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Which levels hang together with the most frequent one, through papers that both review: draws x levels."""
    size = matrix.shape[1]
    if not size:  # before the first review
        return np.zeros(count.shape, dtype=bool)
    meets = (matrix < -1e-9) | np.eye(size, dtype=bool)
    for _ in range(max(size - 1, 1).bit_length()):
        meets = (meets[:, :, :, np.newaxis] & meets[:, np.newaxis]).any(axis=2)
    tied = np.take_along_axis(meets, count.argmax(axis=1)[:, np.newaxis, np.newaxis], axis=1)[:, 0]
    return tied & (tied.sum(axis=1, keepdims=True) > 1)


# Against the co-reviewers -------------------------------------------------------------------------------------------


@register("experience-gap", need="experience", shares=())
def experience_gap(sample: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """How far are reviewers of each experience from the mean of their co-reviewers?

    `value` is the mean of rating less the mean rating of the other reviewers of the paper (leave-one-out), over the
    reviews of the level that have a co-reviewer, whatever the co-reviewers said of themselves; `apart` the mean of its
    size without the sign. Unlike experience-within-paper it does not ask who the co-reviewers are. Limits: bootstrap over
    papers.
    """
    return _gap(sample, "experience", draws, seed)


@register("confidence-gap", need="confidence", shares=())
def confidence_gap(sample: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """How far are reviewers of each confidence from the mean of their co-reviewers?

    As experience-gap, by confidence. That somebody differs from two or three others does not make them wrong.
    """
    return _gap(sample, "confidence", draws, seed)


def _gap(sample: Sample, field: str, draws: int, seed: int) -> pd.DataFrame:
    row = np.searchsorted(sample.papers["paper"].to_numpy(), sample.reviews["paper"].to_numpy())
    size, total = (sample.papers[name].to_numpy()[row] for name in ("reviews", "total"))
    # The gap of a review is this over the number of its co-reviewers: whole numbers add up to the same in any order.
    gap = size * sample.reviews["rating"].to_numpy(dtype=np.int64) - total
    reviewed = sample.papers.set_index("paper")["reviews"]
    kept = sample.reviews[field].notna().to_numpy() & (size > 1)
    known, scale = with_answer(sample.having_reviews(kept), field)
    others = reviewed.loc[known.papers["paper"]].to_numpy()[:, np.newaxis] - 1
    count, signed = _by_level(known, field, scale, gap[kept])
    _, unsigned = _by_level(known, field, scale, np.abs(gap[kept]))
    rows = []
    for place, (level, label) in enumerate(zip(scale.levels, labels(scale), strict=True)):
        sums = np.column_stack([signed[:, [place]] / others, unsigned[:, [place]] / others, count[:, place]])
        columns = estimates(sums, lambda drawn: drawn[:, :2] / drawn[:, 2:], draws, seed)
        ends = {name: column[0] for name, column in columns.items()}
        rows.append({"level": level, "label": label, **ends, "apart": columns["value"][1], "n": count[:, place].sum()})
    return pd.DataFrame(rows, columns=["level", "label", "value", "low", "high", "apart", "n"])


# Against the decision -----------------------------------------------------------------------------------------------


@register("experience-decisions", need="experience")
def experience_decisions(sample: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """How often is a rating on the side of the decision, by the reviewer's experience?

    A row for each `outcome` and level: of the reviews of accepted papers the share on the accept side, of those of
    rejected papers the share not on it. Harsher reviewers agree with rejections and disagree with acceptances by
    construction, so neither says who judges better; `both` is the mean of the two shares, in which harshness alone
    cancels in part. Ratings are among what was decided on, so agreement is no test of either. Withdrawn papers have no
    decision; where only the accepted are known (2026), there are only their rows. Limits: bootstrap over papers.
    """
    return _decisions(sample, "experience", draws, seed)


@register("confidence-decisions", need="confidence")
def confidence_decisions(sample: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """How often is a rating on the side of the decision, by the reviewer's confidence?

    As experience-decisions, by confidence.
    """
    return _decisions(sample, "confidence", draws, seed)


def _decisions(sample: Sample, field: str, draws: int, seed: int) -> pd.DataFrame:
    require_accepted(sample)
    if sample.scale.accept_from is None:
        raise Trouble(f"{sample.snapshot.title}: which ratings are on the accept side is not declared in venues.toml.")
    rows = [
        {
            "outcome": outcome,
            "level": level,
            "label": label,
            **{name: column[place] for name, column in columns.items()},
        }
        for level, label, columns in _agreeing(sample, field, draws, seed)
        for place, outcome in enumerate(SIDES if _knows_rejected(sample) else SIDES[:1])
    ]
    frame = pd.DataFrame(rows, columns=["outcome", "level", "label", "value", "low", "high", "n"])
    order = frame["outcome"].map(SIDES.index)
    return frame.assign(order=order).sort_values(["order", "level"], ignore_index=True).drop(columns="order")


def _knows_rejected(sample: Sample) -> bool:
    return sample.snapshot.outcomes == "complete"


def _agreeing(sample: Sample, field: str, draws: int, seed: int) -> Iterator[tuple[int, str, dict[str, np.ndarray]]]:
    """For each level the shares on the decision's side of accepted and of rejected papers, and their mean."""
    known, scale = with_answer(sample, field)
    above = (known.reviews["rating"] >= sample.scale.accept_from).to_numpy().astype(np.int64)
    count, accepting = _by_level(known, field, scale, above)
    outcome = known.papers["outcome"].to_numpy()
    accepted = (outcome == "accepted")[:, np.newaxis]
    rejected = (outcome == "rejected")[:, np.newaxis]
    sums = (accepting * accepted, count * accepted, (count - accepting) * rejected, count * rejected)

    def shares(drawn: np.ndarray) -> np.ndarray:
        each = drawn[:, [0, 2]] / drawn[:, [1, 3]]
        return np.column_stack([each, each.mean(axis=1)])

    for place, (level, label) in enumerate(zip(scale.levels, labels(scale), strict=True)):
        columns = np.column_stack([part[:, place] for part in sums])
        n = columns.sum(axis=0)[[1, 3]]
        yield level, label, {**estimates(columns, shares, draws, seed), "n": np.append(n, n.sum())}
