"""One paper: what the snapshots of the store hold of it. Its reviewers are numbered, and nothing is said of who they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from analysis import fetch, store
from analysis.errors import Trouble
from analysis.sample import Sample, load
from analysis.snapshots import Snapshot, choose
from analysis.standing import USUAL
from analysis.statistics import queries
from analysis.statistics.paper import example
from analysis.statistics.standing import Given, given

PAGE = "https://openreview.net/forum?id="
REVIEW = ["snapshot", "stage", "linked_to", "review", "rating", "confidence", "experience"]
PUBLIC_IDS = "openreview"  # what `paper_ids` is where forums are OpenReview's own


@dataclass(frozen=True)
class Paper:
    """A paper as the store knows it. `held` are the snapshots that list it, oldest first.

    `reviews`: a row a snapshot and rated review: snapshot, stage, review, rating, confidence, experience. `review`
    numbers the reviews of the paper from 1; across two snapshots the number is the same review only where these are
    linked (`linked_to` names the first of them). `review_ids` are OpenReview's, in that order, of the last snapshot.
    """

    forum: str
    title: str | None
    outcome: str
    tier: str | None
    held: tuple[Snapshot, ...]
    reviews: pd.DataFrame
    review_ids: tuple[str, ...]

    @property
    def link(self) -> str:
        """Where it is on OpenReview; empty for a paper rebuilt from counts, which has a made-up id."""
        return f"{PAGE}{self.forum}" if self.held[-1].paper_ids == PUBLIC_IDS else ""

    def ratings(self, snapshot: str) -> list[int]:
        """Its ratings at a snapshot, the lowest first."""
        return sorted(self.reviews.loc[self.reviews["snapshot"] == snapshot, "rating"].tolist())


def find(database: Path, venue: str, year: int, forum: str) -> Paper:
    """The paper of a forum id, or of an address that ends in one; Trouble where no snapshot of the year lists it."""
    wanted = forum.strip().rpartition("id=")[2].partition("&")[0]
    held = fetch.ensure(database, venue, year)
    with store.reading(database) as con:
        found = {one.snapshot_id: store.submission(con, one.snapshot_id, wanted) for one in held}
        held = [one for one in held if found[one.snapshot_id]]
        if not held:
            raise Trouble(
                f"No snapshot of {venue} {year} lists a paper `{wanted}`: give the id at the end of its address, "
                f"{PAGE}..., and the year of that paper (bundled papers have made-up ids)."
            )
        held = [one for one in held if one.paper_ids == held[-1].paper_ids]
        rated = {one.snapshot_id: store.reviews_of(con, one.snapshot_id, wanted) for one in held}
    said = found[held[-1].snapshot_id]
    reviews, numbers = _numbered(held, rated)
    last = tuple(numbers[held[-1].review_ids])
    return Paper(wanted, said["title"], said["outcome"], said["tier"], tuple(held), reviews, last)


def _numbered(
    held: Sequence[Snapshot], rated: Mapping[int, pd.DataFrame]
) -> tuple[pd.DataFrame, dict[str, dict[str, int]]]:
    """The reviews of all snapshots with a number each in place of their ids, and the numbers of the ids."""
    numbers: dict[str, dict[str, int]] = {}
    parts = []
    for one in held:
        frame, linked = rated[one.snapshot_id], numbers.setdefault(one.review_ids, {})
        review = [linked.setdefault(review_id, len(linked) + 1) for review_id in frame["review_id"]]
        first = next(other.name for other in held if other.review_ids == one.review_ids)
        columns = {"snapshot": one.name, "stage": one.stage, "linked_to": first, "review": review}
        parts.append(frame.drop(columns="review_id").assign(**columns))
    return pd.concat(parts, ignore_index=True)[REVIEW], numbers


# What is asked about it ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """A paper, or ratings that could be one's, with the sample to place them in."""

    sample: Sample
    given: Given
    reviews: pd.DataFrame  # as those of `Paper`
    paper: Paper | None = None


def ask(database: Path, venue: str, year: int, forum: str, ratings: Sequence[int], at: str) -> tuple[Asked | None, str]:
    """What to place, and a sentence on what it is; None where the year has no reviews yet.

    `at` names the snapshot; without it the first one is taken in which the paper has ratings, as `stand` does. With
    neither a forum nor ratings the most frequent ratings of the snapshot are an example.
    """
    if forum:
        return _ask_of_paper(database, find(database, venue, year, forum), at)
    whole = load(database, venue, year, at, population="all", usual=USUAL)
    if whole.reviews.empty:
        return None, f"{whole.snapshot.title} has no reviews yet."
    point = given(whole, ratings) if ratings else given(whole, example(whole))
    said = (
        f"Ratings {point.text}."
        if ratings
        else f"No paper was asked for: {point.text}, the most frequent ratings, are an example."
    )
    shown = queries.carrying(_as_reviews(whole, point), [_asking(whole.snapshot, "ratings", list(point.ratings))])
    return Asked(whole, point, shown), said


def _ask_of_paper(database: Path, paper: Paper, at: str) -> tuple[Asked, str]:
    rated = [one for one in paper.held if paper.ratings(one.name)]
    first = paper.held[0]
    if not rated:
        raise Trouble(
            f"The paper {paper.forum} of {first.venue} {first.year} has no rating in any snapshot of the store."
        )
    chosen, _ = choose(rated, at, usual=USUAL)
    whole = load(database, first.venue, first.year, chosen.name, population="all")
    shown = queries.carrying(paper.reviews, [_asking(first, "forum", paper.forum)])
    return Asked(whole, given(whole, paper.ratings(chosen.name)), shown, paper), described(paper)


def _asking(taken: Snapshot, name: str, value: object) -> queries.Query:
    """The command that shows these reviews."""
    venue = f" --venue {taken.venue}" if taken.venue != "ICLR" else ""
    return {"command": f"python -m analysis run{venue} --years {taken.year} --only 12 -p {name} '{value}'"}


def described(paper: Paper) -> str:
    """Title, outcome and address of a paper, as far as they are known."""
    tier = f" ({paper.tier})" if paper.tier else ""
    where = paper.link or "a paper rebuilt from counts, with a made-up id"
    return f"{paper.title or paper.forum}: {paper.outcome.replace('_', '-')}{tier}; {where}."


def _as_reviews(whole: Sample, point: Given) -> pd.DataFrame:
    taken, rows = whole.snapshot, range(1, len(point.ratings) + 1)
    frame = pd.DataFrame({"review": rows, "rating": point.ratings, "confidence": None, "experience": None})
    return frame.assign(snapshot=taken.name, stage=taken.stage, linked_to=taken.name)[REVIEW]
