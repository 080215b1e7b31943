"""Standing: where given ratings are among the papers of a snapshot, and what was decided for such papers.

Every rule here is plain and deterministic, so that another program (the page's script) gives the same answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np
import pandas as pd

from analysis.errors import Trouble, choices, count, percent
from analysis.sample import Sample
from analysis.statistics import register
from analysis.statistics.intervals import DRAWS, estimates, shares_of_papers
from analysis.statistics.ledger import groups, knows_accepted, require_accepted
from analysis.statistics.ratings import attained, text_of

ENOUGH_ALIKE = 30  # fewer papers with the same ratings say too little: a wider likeness is taken
ENOUGH_NEAR = 50  # papers that a window around the average has to hold

# The populations that a paper can be placed in, as the sentence calls their papers.
PLACED = {
    "reviewed": "with a review",
    "active": "with a review and neither withdrawn nor desk-rejected",
    "decided": "with a review and a decision",
}

POSITION = ("below", "tied", "at_or_below", "mid_rank", "top", "top_mid_rank", "top_at_or_below")


@dataclass(frozen=True)
class Given:
    """What is to be placed: the ratings of one paper, or the averages that a printed decimal may stand for.

    `text` is what people typed. `ratings` ascend and are empty where only an average is known. `averages` are exact
    and ascend.
    """

    text: str
    ratings: tuple[int, ...]
    averages: tuple[Fraction, ...]

    @property
    def lowest(self) -> Fraction:
        return self.averages[0]

    @property
    def highest(self) -> Fraction:
        return self.averages[-1]

    def distance(self, average: Fraction) -> Fraction:
        """How far an average lies outside the given ones; 0 within."""
        return max(self.lowest - average, average - self.highest, Fraction(0))


# What is given ------------------------------------------------------------------------------------------------------


def given(sample: Sample, ratings: Sequence[int] | Given) -> Given:
    """Ratings checked against the scale; Trouble naming the scale for one that it does not have."""
    if isinstance(ratings, Given):
        return ratings
    if not ratings:
        raise Trouble("Which ratings? Give those of one paper, as in 3 6 6, or an average.")
    scale = sample.scale
    for rating in ratings:
        if rating not in scale.levels:
            offered = f"the scale is {choices(scale.levels)}" if scale.declared else f"seen are {choices(scale.levels)}"
            raise Trouble(f"{rating} is not a rating of {sample.snapshot.venue} {sample.snapshot.year}: {offered}.")
    ordered = tuple(sorted(int(rating) for rating in ratings))
    return Given(text_of(ordered), ordered, (Fraction(sum(ordered), len(ordered)),))


def match_average(sample: Sample, average: str) -> Given:
    """The attainable averages that a printed decimal stands for: 4.67 is 14/3.

    Attainable is every mean of 1 to m ratings of the scale, m the most reviews that a paper of the sample has. A
    decimal stands for all of them that are at most half a unit of its last printed digit away (a tie may have been
    rounded either way), so 4.5 and 4.50 differ, and 4 stands for everything from 3.5 to 4.5. Trouble where there is
    none.
    """
    text = average.strip()
    whole, _, decimals = text.partition(".")
    if not (whole + decimals).isdecimal() or not (whole + decimals).isascii():
        raise Trouble(f"{average!r} is not an average: give a decimal as it is printed, such as 4.67.")
    printed, half = Fraction(int(whole + decimals), 10 ** len(decimals)), Fraction(1, 2 * 10 ** len(decimals))
    near = sorted(one for one in _attainable(sample) if abs(one - printed) <= half)
    if not near:
        raise Trouble(_no_average(sample, text))
    return Given(text, (), tuple(near))


def _attainable(sample: Sample) -> set[Fraction]:
    """Every mean of 1 to m ratings of the scale, m the most reviews of one paper."""
    found, totals = set(), {0}
    for reviews in range(1, _most_reviews(sample) + 1):
        totals = {total + level for total in totals for level in sample.scale.levels}
        found.update(Fraction(total, reviews) for total in totals)
    return found


def _most_reviews(sample: Sample) -> int:
    return int(sample.papers["reviews"].max()) if len(sample.papers) else 0


def _no_average(sample: Sample, text: str) -> str:
    year = f"{sample.snapshot.venue} {sample.snapshot.year}"
    most = _most_reviews(sample)
    return f"No 1 to {most} ratings of {year} have an average of {text}: the scale is {choices(sample.scale.levels)}."


# Where it stands ----------------------------------------------------------------------------------------------------


@register("positions", takes="ratings", population="all", shares=POSITION)
def positions(sample: Sample, ratings: Sequence[int] | Given) -> pd.DataFrame:
    """Where do these ratings stand among the papers of the snapshot?

    A row a population: reviewed, active, decided (by final outcome; left out where that is not known), and reviewed
    papers with as many reviews. `below` is the share of papers with a lower average, `tied` with the same,
    `at_or_below` both, `mid_rank` below and half of the tied. From the other end `top` is 1 - below (read strictly,
    everybody tied is ahead), `top_mid_rank` 1 - mid_rank and `top_at_or_below` 1 - at_or_below. They are three right
    answers to one question, so all are given. Where a decimal stands for several averages, papers from the lowest to
    the highest of them are tied. A paper is placed among papers as rated at the stage of this snapshot: take one of
    the same stage as the ratings.

    Checked: 6 6 6 in ICLR 2020, final, of shaohua0116/ICLR2020-OpenReviewData: 78.21 % below, 8.24 % tied.
    """
    point, papers = given(sample, ratings), sample.papers
    masks = groups(sample)
    among = {name: masks[name] for name in ("reviewed", "active", "decided")}
    if sample.snapshot.outcomes != "complete":
        del among["decided"]
    if point.ratings:
        n = len(point.ratings)
        among[f"with {count(n, 'review')}"] = (papers["reviews"] == n).to_numpy()
    average = papers["average"].to_numpy()
    return pd.DataFrame([{"population": name, **_position(average[mask], point)} for name, mask in among.items()])


def _position(average: np.ndarray, point: Given) -> dict[str, float]:
    """The columns of a position. Equal fractions are equal floats, so averages can be compared as they are."""
    n = len(average)
    below = int((average < float(point.lowest)).sum())
    reached = int((average <= float(point.highest)).sum())
    # Twice the papers, so that half of the tied stays an integer.
    doubled = (2 * below, 2 * (reached - below), 2 * reached, below + reached)
    doubled += (2 * (n - below), 2 * n - below - reached, 2 * (n - reached))
    return {**{name: papers / (2 * n) if n else np.nan for name, papers in zip(POSITION, doubled, strict=True)}, "n": n}


@register("one-changed", takes="ratings", population="all", shares=POSITION)
def one_changed(sample: Sample, ratings: Sequence[int] | Given) -> pd.DataFrame:
    """Where would the paper stand if one reviewer moved by one level of the scale?

    A row for each different rating and direction ("one 4 to 6"), lowest rating first, down before up, with the new
    ratings, their average and the position among the reviewed papers of the same snapshot, all others unchanged: a
    position at the same stage, not a forecast of the discussion. Empty where only an average is given.
    """
    point = given(sample, ratings)
    reviewed = sample.papers["average"].dropna().to_numpy()
    rows = []
    for old, new in _moves(sample.scale.levels, point.ratings):
        changed = list(point.ratings)
        changed[changed.index(old)] = new
        moved = given(sample, changed)
        columns = {"change": f"one {old} to {new}", "ratings": moved.text, "average": float(moved.lowest)}
        rows.append({**columns, **_position(reviewed, moved)})
    return pd.DataFrame(rows, columns=["change", "ratings", "average", *POSITION, "n"])


def _moves(levels: Sequence[int], ratings: Sequence[int]) -> list[tuple[int, int]]:
    """Each step of the scale from a rating that is there, as (old, new), in order."""
    return sorted((old, new) for step in pairwise(levels) for old, new in (step, step[::-1]) if old in ratings)


# What was decided ---------------------------------------------------------------------------------------------------


@register("fate", takes="ratings", population="all")
def fate(sample: Sample, ratings: Sequence[int] | Given, population: str = "reviewed") -> pd.DataFrame:
    """How many of the reviewed papers with such ratings were accepted?

    The last row is the answer. The likenesses are tried in this order: exactly these ratings; as many reviews, and as
    many of them on the accept side; an average near this one. The first two need 30 papers: with fewer their row
    shows `n` and no value, and the next is tried. The third takes the smallest distance at which 50 reviewed papers
    lie, whatever their number of reviews, equally far to both sides (all papers, if there are fewer); `like` tells
    the distance. `lowest` and `highest` are the averages of the papers found. `value` is accepted / n of all reviewed
    papers, withdrawn ones included (or of those active or decided), with Wilson limits. It counts past papers and
    predicts nothing for one. Trouble where it is not known who was accepted.
    """
    require_accepted(sample)
    point, rows = given(sample, ratings), []
    for like, papers, enough in _likenesses(sample.having(groups(sample)[population]), point):
        rows.append(_accepted(like, papers, enough))
        if len(papers) >= enough:
            break
    frame = pd.DataFrame(rows)
    return frame.assign(accepted=frame["accepted"].astype("Int64"))


def alike(sample: Sample, ratings: Sequence[int] | Given, population: str = "reviewed") -> tuple[str, pd.DataFrame]:
    """The papers that answer `fate`: what they have in common with these ratings, and the papers."""
    for like, papers, enough in _likenesses(sample.having(groups(sample)[population]), given(sample, ratings)):
        if len(papers) >= enough:
            return like, papers
    raise AssertionError("the last likeness wants no number of papers")


def _likenesses(reviewed: Sample, point: Given):
    """The papers alike in each way, closest first: what it is called, the papers, how many are enough."""
    papers, scale = reviewed.papers, reviewed.scale
    if point.ratings:
        yield f"exactly {point.text}", papers[_same_profile(reviewed, point)], ENOUGH_ALIKE
    if point.ratings and scale.accept_from is not None:
        n, side = len(point.ratings), sum(rating >= scale.accept_from for rating in point.ratings)
        alike = (papers["reviews"] == n) & (papers["accept_side"] == side)
        yield f"{side} of {n} ratings at {scale.accept_from} or more", papers[alike], ENOUGH_ALIKE
    distance = _distance(reviewed, point)
    low, high = float(point.lowest - distance), float(point.highest + distance)
    near = f"an average of {_decimal(point.lowest)}" if low == high else f"an average from {low:.2f} to {high:.2f}"
    # An average at the end of the window is the same fraction, so also the same float.
    yield near, papers[papers["average"].between(low, high)], 0


def _same_profile(reviewed: Sample, point: Given) -> np.ndarray:
    wanted = [point.ratings.count(level) for level in reviewed.scale.levels]
    # Where no scale is declared, the levels seen may lack one that was asked for: as many reviews rule that out.
    as_many = (reviewed.papers["reviews"] == len(point.ratings)).to_numpy()
    return (reviewed.profiles() == wanted).all(axis=1) & as_many


def _distance(reviewed: Sample, point: Given) -> Fraction:
    """How far from the average to go, evenly to both sides, until there are enough papers; exact."""
    found = attained(reviewed)
    exact = map(Fraction, found["total"].tolist(), found["reviews"].tolist())
    away = sorted(zip(map(point.distance, exact), found["count"].tolist(), strict=True))
    reached = accumulate(papers for _, papers in away)
    enough = (distance for (distance, _), papers in zip(away, reached, strict=True) if papers >= ENOUGH_NEAR)
    return next(enough, away[-1][0] if away else Fraction(0))


def _accepted(like: str, papers: pd.DataFrame, enough: int) -> dict[str, object]:
    n = len(papers)
    accepted = int((papers["outcome"] == "accepted").sum()) if n >= enough else None
    share = shares_of_papers(np.nan if accepted is None else accepted, n)
    ends = {"lowest": papers["average"].min(), "highest": papers["average"].max()}
    return {"like": like, **ends, "accepted": accepted, **{name: float(value) for name, value in share.items()}, "n": n}


# How sure an average is ---------------------------------------------------------------------------------------------


@register("error-of-average", shares=())
def error_of_average(sample: Sample, reviews: int | None = None, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """How far would an average move if other reviewers had read the paper?

    `value` is the standard error of an average of so many reviews (each number seen, or the one asked for): the
    within-paper standard deviation over its root. The variance is pooled over papers, sum of squares about the paper
    averages / (reviews - papers), and resampled by paper; `n` counts the papers with two reviews or more. It takes
    reviewers as independent and equally spread on every paper. That holds at best at release: after the discussion
    ratings have moved towards each other, and `meaning` says so.

    Checked: within-paper sd 1.104 (2019) and 1.721 (2020), final.
    """
    papers = sample.papers[sample.papers["reviews"] > 1]
    n, total, squares = (papers[name].to_numpy() for name in ("reviews", "total", "squares"))
    spread = np.column_stack([(n * squares - total**2) / n, n - 1])
    sd = estimates(spread, lambda sums: np.sqrt(sums[:, :1] / sums[:, 1:]), draws, seed)
    sizes = np.arange(1, _most_reviews(sample) + 1) if reviews is None else np.array([reviews])
    columns = {name: value / np.sqrt(sizes) for name, value in sd.items()}
    return pd.DataFrame({"reviews": sizes, **columns, "n": len(papers), "meaning": _meaning(sample)})


def _meaning(sample: Sample) -> str:
    if sample.snapshot.stage == "release":
        return "standard error of an average"
    return "disagreement that the discussion left: too small for an error"


# In one sentence ----------------------------------------------------------------------------------------------------


def sentence(sample: Sample, ratings: Sequence[int] | Given, population: str = "reviewed") -> str:
    """The answer in one plain sentence: where among the papers of a population, and what was decided for papers alike."""
    point = given(sample, ratings)
    at = positions(sample, point).set_index("population").loc[population]
    if not at["n"]:
        return f"{sample.snapshot.title} has no paper {PLACED[population]} to compare with."
    below, tied, top, middle = (percent(at[name], 2) for name in ("below", "tied", "top", "top_mid_rank"))
    taken = sample.snapshot.title
    if sample.snapshot.stage != sample.snapshot.name:
        taken += f" ({sample.snapshot.stage})"
    papers = f"{count(int(at['n']), 'paper')} {PLACED[population]} in {taken}"
    place = f"{_named(point)} is above {below} of the {papers} and level with {tied}"
    return f"{place}: top {top} read strictly, {middle} by mid-rank; {_fate_clause(sample, point, population)}"


def _named(point: Given) -> str:
    if point.ratings:
        return f"{point.text} (average {_decimal(point.lowest)})"
    if len(point.averages) == 1:
        return f"An average of {point.text} ({point.lowest})"
    ends = f"{_decimal(point.lowest)} to {_decimal(point.highest)}"
    return f"An average of {point.text} ({len(point.averages)} attainable ones round to it, {ends})"


def _decimal(average: Fraction) -> str:
    return f"{float(average):.2f}"


def _fate_clause(sample: Sample, point: Given, population: str) -> str:
    if not knows_fate(sample, population):
        return f"which of them were accepted is not known (outcomes: {sample.snapshot.outcomes})."
    answer = fate(sample, point, population).iloc[-1]
    value, low, high = (percent(answer[name]) for name in ("value", "low", "high"))
    papers = count(int(answer["n"]), "paper")
    return f"of {papers} with {answer['like']}, {value} were accepted (95 % limits {low} to {high})."


def knows_fate(sample: Sample, population: str) -> bool:
    """Whether it is known how many papers of a population were accepted: who was active in the end takes all outcomes."""
    return sample.snapshot.outcomes == "complete" or (population == "reviewed" and knows_accepted(sample))
