"""Movement: what changed between two snapshots of a year, review by review where these are linked, else paper by paper.

Reviews that came or went between the two are in neither count; `movement-coverage` says how many. Nothing here is an
effect of a rebuttal: nobody drew lots for who writes one, or whose reviewers answer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.sample import Sample, are_linked, require_linked, scale_of
from analysis.snapshots import OUTCOMES
from analysis.statistics import register
from analysis.statistics.intervals import (
    DRAWS,
    corrected,
    estimates,
    from_resampled,
    kinds_of,
    limits,
    shares_of_papers,
)
from analysis.statistics.ledger import require_accepted
from analysis.statistics.ratings import labels
from analysis.venues import Scale

CHANGES = ("changed", "up", "down", "same")  # changed = up + down
DIRECTIONS = ("fell", "stayed", "rose")
ENOUGH = 10  # papers that went each way from one start: fewer have no share worth weighting
BIN = 0.5  # rating points: starting averages in [x, x + 0.5) are alike
PERMUTED = ("permuted", "permuted_low", "permuted_high")


# Reviews that are linked --------------------------------------------------------------------------------------------


def matched(before: Sample, after: Sample) -> pd.DataFrame:
    """A row a review that has a rating in both snapshots, in order of `paper`: paper, first and second rating.

    `confidence` and `experience` are those of the second snapshot, `..._before` those of the first; `outcome` is the
    paper's. Trouble where it is not known which reviews are the same.
    """
    require_linked(before, after)
    one, other = before.reviews, after.reviews
    _, here, there = np.intersect1d(one["review"], other["review"], assume_unique=True, return_indices=True)
    order = np.argsort(there)  # the second snapshot's order is that of its papers
    one, other = one.iloc[here[order]], other.iloc[there[order]]
    outcome = after.papers["outcome"].to_numpy()[np.searchsorted(after.papers["paper"], other["paper"])]
    columns = {"paper": other["paper"].to_numpy(), "outcome": outcome}
    columns |= {"first": one["rating"].to_numpy(np.int64), "second": other["rating"].to_numpy(np.int64)}
    for name in ("confidence", "experience"):
        columns |= {name: other[name].to_numpy(), f"{name}_before": one[name].to_numpy()}
    return pd.DataFrame(columns)


def rating_scale(before: Sample, after: Sample) -> Scale:
    """The scale of both snapshots; where none is declared, the levels seen in either."""
    seen = pd.concat([before.reviews["rating"], after.reviews["rating"]])
    return scale_of(before.form.rating_scale, before.form.described, seen)


@register("movement", takes="pair", linked="review_ids")
def movement(before: Sample, after: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """How many ratings went up, went down or stayed between two snapshots?

    Of the reviews with a rating in both, review by review; `changed` is up and down together. Limits resample papers.
    A rating that went up and came back between the two counts as the same. Checked: 907 of 7,690 (11.79 %), 828 up and
    79 down, between the two snapshots of ICLR 2020 in 2019.
    """
    return _changes(_tally(matched(before, after)), draws, seed)


@register("movement-matrix", takes="pair", linked="review_ids")
def transitions(before: Sample, after: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """To which rating did each rating go?

    A row for each first and second rating of the scale (`before`, `after`), absent ones zero; `value` is the share of
    the reviews that began with that rating (n), resampled by paper. Checked: the sixteen counts of ICLR 2020.
    """
    reviews, levels = matched(before, after), rating_scale(before, after).levels
    rows, papers = _rows(reviews)
    second = np.searchsorted(levels, reviews["second"])
    parts = []
    for level in levels:
        began = (reviews["first"] == level).to_numpy()
        table = _cells(rows[began], second[began], papers, len(levels))
        parts.append(
            pd.DataFrame({"before": level, "after": levels, **_shares(table, np.eye(len(levels)), draws, seed)})
        )
    names = ["before", "after", "count", "value", "low", "high", "n"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=names)


def _rows(reviews: pd.DataFrame) -> tuple[np.ndarray, int]:
    """The row of each review's paper among the papers that have one, and how many these are."""
    papers, rows = np.unique(reviews["paper"].to_numpy(), return_inverse=True)
    return rows, len(papers)


def _cells(rows: np.ndarray, places: np.ndarray, papers: int, kinds: int) -> np.ndarray:
    """How many reviews a paper has of each kind: papers x kinds."""
    return np.bincount(rows * kinds + places, minlength=papers * kinds).reshape(papers, kinds)


def _tally(reviews: pd.DataFrame, mask: np.ndarray | None = None) -> np.ndarray:
    """How many ratings of each paper went down, stayed and went up: papers x 3. Papers without one of the mask stay."""
    rows, papers = _rows(reviews)
    places = np.sign(reviews["second"].to_numpy() - reviews["first"].to_numpy()) + 1
    return _cells(rows, places, papers, 3) if mask is None else _cells(rows[mask], places[mask], papers, 3)


def _shares(table: np.ndarray, kinds: np.ndarray, draws: int, seed: int) -> dict[str, np.ndarray]:
    """Count, value, low, high and n of sums of columns: `kinds` is columns x answers of zeros and ones."""
    count = (table.sum(axis=0) @ kinds).astype(np.int64)
    # Few ratings go down: plain percentile limits of so rare a share cover 92 % of the time at 100 papers, these 96 %.
    columns = corrected(*kinds_of(table), lambda sums: sums @ kinds / sums.sum(axis=1, keepdims=True), draws, seed)
    return {"count": count, **columns, "n": np.full(len(count), table.sum())}


def _changes(table: np.ndarray, draws: int, seed: int) -> pd.DataFrame:
    kinds = np.array([[1, 0, 1, 0], [0, 0, 0, 1], [1, 1, 0, 0]])  # down, same, up to the rows of CHANGES
    return pd.DataFrame({"change": CHANGES, **_shares(table, kinds, draws, seed)})


# By what ------------------------------------------------------------------------------------------------------------


def movement_by(
    before: Sample, after: Sample, column: str, of: str = "after", draws: int = DRAWS, seed: int = 0
) -> pd.DataFrame:
    """How many ratings changed at each level of `experience`, `confidence`, `rating` (the first one) or `outcome`.

    A row a level and change, in order, absent levels with n = 0; limits resample papers. Of experience and confidence
    the level of the second snapshot is taken, with ``of="before"`` that of the first.
    """
    reviews = matched(before, after)
    name = {"rating": "first", "outcome": "outcome"}.get(column, column if of == "after" else f"{column}_before")
    parts = []
    for level, label in _levels(before, after, reviews[name].dropna(), column):
        part = _changes(_tally(reviews, (reviews[name] == level).to_numpy()), draws, seed)
        parts.append(pd.DataFrame({"level": level, "label": label, **part}))
    names = ["level", "label", "change", "count", "value", "low", "high", "n"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=names)


def _levels(before: Sample, after: Sample, seen: pd.Series, column: str) -> list[tuple[object, str]]:
    if column == "outcome":
        return [(outcome, outcome.replace("_", "-")) for outcome in OUTCOMES if outcome in set(seen)]
    if column == "rating":
        scale = rating_scale(before, after)
    else:
        scale = scale_of(getattr(after.form, f"{column}_scale"), after.form.described, seen)
    return list(zip(scale.levels, labels(scale), strict=True))


@register("movement-by-experience", takes="pair", linked="review_ids", need="experience")
def movement_by_experience(before: Sample, after: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Do reviewers with more experience in the area change their ratings more often?

    By the experience that the second snapshot has. Levels review different papers and begin with different ratings.
    Checked on ICLR 2020: 9.48 / 11.15 / 12.97 / 12.53 % changed.
    """
    return movement_by(before, after, "experience", draws=draws, seed=seed)


@register("movement-by-confidence", takes="pair", linked="review_ids", need="confidence")
def movement_by_confidence(before: Sample, after: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Do confident reviewers change their ratings less often?

    By the confidence that the second snapshot has, which may itself have changed. Levels review different papers.
    """
    return movement_by(before, after, "confidence", draws=draws, seed=seed)


@register("movement-by-rating", takes="pair", linked="review_ids")
def movement_by_rating(before: Sample, after: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Which first ratings changed most often?

    The lowest rating can only go up and the highest only down, so the ends of the scale say nothing of harshness.
    """
    return movement_by(before, after, "rating", draws=draws, seed=seed)


@register("movement-by-outcome", takes="pair", linked="review_ids")
def movement_by_outcome(before: Sample, after: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Did the ratings of papers that were accepted in the end change more often?

    By the latest known outcome; those of papers that were withdrawn often had nobody left to answer. Scores and
    decision are made from one discussion, so neither is the cause of the other here.
    """
    return movement_by(before, after, "outcome", draws=draws, seed=seed)


# Towards the others -------------------------------------------------------------------------------------------------


@register("conformity", takes="pair", linked="review_ids", shares=("value", "low", "high", *PERMUTED))
def conformity(before: Sample, after: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Do ratings move towards those of the other reviewers of the paper?

    Of the reviews whose first rating was not the mean of their co-reviewers' first ratings (n), the share that then
    moved in the direction of that mean (`towards`) or against it (`away`), a row a first rating and `all`; limits
    resample papers. The lowest ratings can only go up, which is towards the others, so this is compared with panels
    dealt anew among the reviews with the same first rating: `permuted` and its 95 % range. It is a movement in a
    direction, not agreement reached, and authors, who answer all reviewers at once, move them too.
    """
    reviews, levels = _with_panel(before, matched(before, after)), rating_scale(before, after).levels
    rows, papers = _rows(reviews)
    side, step = reviews["side"].to_numpy(), np.sign(reviews["second"] - reviews["first"]).to_numpy()
    first, generator = reviews["first"].to_numpy(), np.random.default_rng(seed)
    dealt = {level: _dealt(side[first == level], step[first == level], draws, generator) for level in levels}
    dealt["all"] = sum(dealt.values(), np.zeros((draws, 2)))
    parts = []
    for level in (*levels, "all"):
        mask = (side != 0) & ((first == level) | (level == "all"))
        table = _cells(rows[mask], (side * step)[mask] + 1, papers, 3)
        shares = _shares(table, np.array([[0, 1], [0, 0], [1, 0]]), draws, seed)
        chance = _by_chance(dealt[level], shares["n"])
        parts.append(pd.DataFrame({"rating": str(level), "move": ["towards", "away"], **shares, **chance}))
    return pd.concat(parts, ignore_index=True)[["rating", "move", "count", "value", "low", "high", *PERMUTED, "n"]]


def _with_panel(before: Sample, reviews: pd.DataFrame) -> pd.DataFrame:
    """The reviews with co-reviewers, and on which `side` of the first rating the mean of theirs lies: -1, 0, 1.

    A rating is below the mean of the others where it is below the mean of all: whole numbers are compared.
    """
    papers = before.papers
    place = np.searchsorted(papers["paper"], reviews["paper"])
    n, total = papers["reviews"].to_numpy()[place], papers["total"].to_numpy()[place]
    return reviews.assign(side=np.sign(total - n * reviews["first"]))[n > 1].reset_index(drop=True)


def _dealt(side: np.ndarray, step: np.ndarray, draws: int, generator: np.random.Generator) -> np.ndarray:
    """How many reviews move towards and away when panels are dealt anew: draws x 2.

    Only the numbers of panels below, level and above matter, so these are drawn without replacement, first those of
    the reviews that went up, then those of the reviews that went down.
    """
    below, level, above = (np.full(draws, (side == one).sum()) for one in (-1, 0, 1))
    ups, downs = ((step == one).sum() for one in (1, -1))
    up_above = generator.hypergeometric(above, below + level, ups)
    up_below = generator.hypergeometric(below, level, ups - up_above)
    level = level - (ups - up_above - up_below)
    above, below = above - up_above, below - up_below
    down_below = generator.hypergeometric(below, level + above, downs)
    down_above = generator.hypergeometric(above, level, downs - down_below)
    return np.column_stack([up_above + down_below, up_below + down_above])


def _by_chance(dealt: np.ndarray, n: np.ndarray) -> dict[str, np.ndarray]:
    shares = np.divide(dealt, n, out=np.full(dealt.shape, np.nan), where=n > 0)
    return dict(zip(PERMUTED, (shares.mean(axis=0), *limits(shares)), strict=True))


# Papers -------------------------------------------------------------------------------------------------------------


@register("movement-coverage", takes="pair", population="all")
def coverage(before: Sample, after: Sample) -> pd.DataFrame:
    """What do the two snapshots have in common, and what is left out when they are compared?

    A row for papers with a rating, and, where these are linked, for reviews: how many are in both, only in the first,
    only in the second. `same_number` counts the papers in both that have as many ratings in each. It has no interval.
    """
    require_linked(before, after, "paper_ids")
    one, other = ((part.papers[part.papers["reviews"] > 0]) for part in (before, after))
    both = one.merge(other, on="paper")
    rows = [{"of": "papers", **_overlap(one["paper"], other["paper"])}]
    rows[0]["same_number"] = int((both["reviews_x"] == both["reviews_y"]).sum())
    if are_linked(before, after):
        rows.append({"of": "reviews", **_overlap(before.reviews["review"], after.reviews["review"])})
    return pd.DataFrame(rows).astype({name: "Int64" for name in rows[0] if name != "of"})


def _overlap(one: pd.Series, other: pd.Series) -> dict[str, int]:
    both = len(np.intersect1d(one, other, assume_unique=True))
    return {"in_both": both, "only_before": len(one) - both, "only_after": len(other) - both}


@register("multiset-movement", takes="pair")
def multiset_movement(before: Sample, after: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """How much did the ratings of papers change, where it is not known which review is which?

    Of the papers with as many ratings in both snapshots. `at least` is the fewest ratings of a paper that must have
    changed: those that the two multisets do not share. `up`, `down` and `same` compare the two profiles place by place
    when both are sorted, the pairing with the fewest steps; a place is not a reviewer. Moves that cross or swap stay
    unseen, and one long move can pass for two short ones: only `at least` is a bound. Limits resample papers.
    """
    one, other = _same_number(before, after)
    levels = rating_scale(before, after).levels
    rows, papers = _rows(one.reviews)
    places = np.sign(_sorted(other, levels) - _sorted(one, levels)) + 1
    shared = sum(_least_of(one, other, level) for level in levels)
    table = np.column_stack([_cells(rows, places, papers, 3), one.papers["reviews"] - shared])
    kinds = np.array([[0, 0, 1, 0], [0, 0, 0, 1], [0, 1, 0, 0], [1, 0, 0, 0]])
    count = (table.sum(axis=0) @ kinds).astype(np.int64)
    columns = corrected(
        *kinds_of(table), lambda sums: sums @ kinds / sums[:, :3].sum(axis=1, keepdims=True), draws, seed
    )
    return pd.DataFrame({"change": ("at least", *CHANGES[1:]), "count": count, **columns, "n": len(rows)})


def _same_number(before: Sample, after: Sample) -> tuple[Sample, Sample]:
    """The papers of both snapshots that have as many ratings in each, and at least one."""
    one, other = same_papers(before, after)
    same = (one.papers["reviews"] == other.papers["reviews"]).to_numpy()
    return one.having(same), other.having(same)


def same_papers(before: Sample, after: Sample) -> tuple[Sample, Sample]:
    """The two samples with only the papers that have a rating in both; Trouble where papers are not linked."""
    require_linked(before, after, "paper_ids")
    rated = [part.papers.loc[part.papers["reviews"] > 0, "paper"] for part in (before, after)]
    both = np.intersect1d(*rated, assume_unique=True)
    one, other = (part.having(part.papers["paper"].isin(both).to_numpy()) for part in (before, after))
    return one, other


def _sorted(sample: Sample, levels: Sequence[int]) -> np.ndarray:
    """The places on the scale of a sample's ratings, paper after paper, each paper's from the lowest up."""
    rows, _ = _rows(sample.reviews)
    return np.sort(rows * len(levels) + np.searchsorted(levels, sample.reviews["rating"])) % max(len(levels), 1)


def _least_of(one: Sample, other: Sample, level: int) -> np.ndarray:
    """How many ratings of a level a paper has in both samples at least."""
    counts = []
    for part in (one, other):
        rows = np.searchsorted(part.papers["paper"], part.reviews.loc[part.reviews["rating"] == level, "paper"])
        counts.append(np.bincount(rows, minlength=len(part.papers)))
    return np.minimum(*counts)


# Averages -----------------------------------------------------------------------------------------------------------


def averages(before: Sample, after: Sample) -> pd.DataFrame:
    """A row a paper with a rating in both: its average in each (`start`, `end`), which `way` it went (-1, 0, 1), the
    `bin` of its start (in halves of a point) and its outcome. Exact averages are compared.
    """
    one, other = same_papers(before, after)
    start, end = one.papers["average"].to_numpy(), other.papers["average"].to_numpy()
    columns = {"start": start, "end": end, "way": np.sign(end - start).astype(np.int64)}
    columns |= {"bin": np.floor(start / BIN).astype(np.int64), "outcome": other.papers["outcome"].to_numpy()}
    return pd.DataFrame(columns, index=one.papers["paper"].to_numpy()).rename_axis("paper").reset_index()


@register("mean-averages", takes="pair", shares=())
def mean_averages(before: Sample, after: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """What is the mean of the paper averages in each of the two snapshots, and by how much did it move?

    Of the papers with a rating in both, which are resampled; the two means share a scale, so their difference means
    something. Checked on ICLR 2020: 3.91 and 4.18.
    """
    papers = averages(before, after)
    table = np.column_stack([papers["start"], papers["end"], np.ones(len(papers))])
    columns = estimates(table, lambda sums: _with_difference(sums[:, :2] / sums[:, 2:]), draws, seed)
    return pd.DataFrame(
        {"snapshot": [before.snapshot.name, after.snapshot.name, "difference"], **columns, "n": len(papers)}
    )


def _with_difference(means: np.ndarray) -> np.ndarray:
    return np.column_stack([means, means[:, 1] - means[:, 0]])


@register("average-movement", takes="pair")
def average_movement(before: Sample, after: Sample) -> pd.DataFrame:
    """How many papers' averages rose, fell or stayed between two snapshots, by where they started?

    A row for each starting average in [x, x + 0.5) and direction, then for `all` papers; `value` is the share of the
    papers with that start, with Wilson limits. An average moves when a rating changes, and when a review comes or
    goes. Low averages have more room to rise than to fall.
    """
    papers = averages(before, after)
    bins, count = np.unique(papers["bin"]), _cells_of(papers).sum(axis=2)
    count = np.vstack([count, count.sum(axis=0)])
    n = np.repeat(count.sum(axis=1), len(DIRECTIONS))
    starts = np.repeat([*map(_range_of, bins), "all"], len(DIRECTIONS))
    ways = DIRECTIONS * len(count)
    return pd.DataFrame(
        {"start": starts, "direction": ways, "count": count.ravel(), **shares_of_papers(count.ravel(), n), "n": n}
    )


def _range_of(place: int) -> str:
    """``4.0 to 4.5``: the starting averages of a bin; the upper end is not in it."""
    return f"{place * BIN:.1f} to {(place + 1) * BIN:.1f}"


def _cells_of(papers: pd.DataFrame) -> np.ndarray:
    """How many papers of each bin went each way and were accepted: bins x (fell, stayed, rose) x (no, yes)."""
    bins, place = np.unique(papers["bin"], return_inverse=True)
    accepted = (papers["outcome"] == "accepted").to_numpy()
    cell = (place * len(DIRECTIONS) + papers["way"].to_numpy() + 1) * 2 + accepted
    return np.bincount(cell, minlength=len(bins) * 6).reshape(-1, len(DIRECTIONS), 2)


@register("average-fates", takes="pair", population="decided")
def average_fates(before: Sample, after: Sample) -> pd.DataFrame:
    """What was decided for averages that rose, stayed and fell, from the same start?

    A row for each starting average in [x, x + 0.5) and direction: accepted / n of the decided papers, with Wilson
    limits. Not an effect of the rebuttal: what raises ratings, a better paper or a shared view, also gets papers in,
    and late ratings follow the decision in the making. Trouble where it is not known who was accepted.
    """
    require_accepted(after)
    papers = averages(before, after)
    cells = _cells_of(papers)
    count, n = cells[:, :, 1].ravel(), cells.sum(axis=2).ravel()
    starts = np.repeat([_range_of(place) for place in np.unique(papers["bin"])], len(DIRECTIONS)).astype(object)
    ways = list(DIRECTIONS) * len(cells)
    frame = pd.DataFrame({"start": starts, "direction": ways, "accepted": count, **shares_of_papers(count, n), "n": n})
    return frame.astype({"accepted": "int64"})


@register("average-fates-standardised", takes="pair", population="decided", shares=("value", "low", "high", "within"))
def standardised_fates(before: Sample, after: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """What share of the papers whose averages rose, stayed or fell was accepted, had all started alike?

    Directly standardised: the share accepted at each start in [x, x + 0.5), weighted by all papers that started there.
    Only starts count from which at least ten papers went each way; `within` is the share of the decided papers that
    they hold. `crude` is the plain share among these papers. Limits resample papers. Not an effect of the rebuttal;
    starts are alike only to half a point.
    """
    require_accepted(after)
    cells = _cells_of(averages(before, after))
    enough = (cells.sum(axis=2) >= ENOUGH).all(axis=1)
    used = cells[enough]
    columns = {"value": _standardised(used[np.newaxis], used)[0], **_drawn_limits(used, draws, seed)}
    n, accepted = used.sum(axis=(0, 2)), used[:, :, 1].sum(axis=0)
    within = used.sum() / cells.sum() if cells.sum() else np.nan
    crude = shares_of_papers(accepted, n)["value"]
    return pd.DataFrame({"direction": DIRECTIONS, **columns, "crude": crude, "within": within, "n": n})


def _drawn_limits(used: np.ndarray, draws: int, seed: int) -> dict[str, np.ndarray]:
    if not used.size:
        return dict.fromkeys(("low", "high"), np.full(len(DIRECTIONS), np.nan))
    drawn = from_resampled(lambda block: _standardised(block, used), used.ravel(), draws, seed)
    return dict(zip(("low", "high"), limits(drawn), strict=True))


def _standardised(drawn: np.ndarray, used: np.ndarray) -> np.ndarray:
    """Shares accepted (draws x 3) of drawn cells, weighted by how many papers of the real ones started in each bin."""
    cells, weights = drawn.reshape(len(drawn), *used.shape), used.sum(axis=(1, 2))
    n = cells.sum(axis=3)
    # A bin that a draw left empty on one side has no share there, and no weight.
    share = np.divide(cells[..., 1], n, out=np.zeros(n.shape), where=n > 0)
    weight = weights[:, np.newaxis] * (n > 0)
    total = weight.sum(axis=1)
    return np.divide((share * weight).sum(axis=1), total, out=np.full(total.shape, np.nan), where=total > 0)


# Reproductions of classical tests -----------------------------------------------------------------------------------


@register("movement-tests", takes="pair", linked="review_ids", shares=())
def movement_tests(before: Sample, after: Sample) -> pd.DataFrame:
    """What do the classical tests of symmetry give, that published analyses used?

    Bowker's test of symmetry of the transition matrix (degrees: pairs of ratings between which anything moved) and the
    Stuart-Maxwell test of equal margins (degrees: levels that anything moved to or from, less one in each group that
    moves are within). Reproductions of published numbers: both assume independent reviews, and the reviews of a paper
    are not, so no p-value is given. Checked on ICLR 2020: 621.7 (6) and 587.1 (3).
    """
    reviews, levels = matched(before, after), rating_scale(before, after).levels
    place = np.searchsorted(levels, reviews[["first", "second"]])
    matrix = _cells(place[:, 0], place[:, 1], len(levels), len(levels))
    (symmetry, pairs), (margins, degrees) = bowker(matrix), stuart_maxwell(matrix)
    return pd.DataFrame(
        {
            "test": ["Bowker's test of symmetry", "Stuart-Maxwell test of equal margins"],
            "value": [symmetry, margins],
            "degrees": [pairs, degrees],
            "n": int(matrix.sum()),
            "assumes": "independent reviews: a reproduction",
        }
    )


def bowker(matrix: np.ndarray) -> tuple[float, int]:
    """Bowker's statistic of a square table of counts, and its degrees of freedom; NaN where nothing moved."""
    above, below = (table[np.triu_indices(len(matrix), 1)] for table in (matrix, matrix.T))
    moved = above + below > 0
    value = ((above - below)[moved] ** 2 / (above + below)[moved]).sum()
    return (float(value) if moved.any() else np.nan), int(moved.sum())


def stuart_maxwell(matrix: np.ndarray) -> tuple[float, int]:
    """The Stuart-Maxwell statistic of a square table of counts, and its degrees of freedom; NaN where nothing moved."""
    gain = matrix.sum(axis=0) - matrix.sum(axis=1)
    moves = matrix + matrix.T - 2 * np.diag(np.diag(matrix))
    spread = np.diag(moves.sum(axis=1)) - moves
    degrees = int(np.linalg.matrix_rank(spread)) if len(spread) else 0
    return (float(gain @ np.linalg.pinv(spread, hermitian=True) @ gain) if degrees else np.nan), degrees
