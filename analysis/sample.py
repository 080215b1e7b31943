"""The sample: what every statistic is computed on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from analysis import fetch, store
from analysis.errors import Trouble, choices, count, percent
from analysis.snapshots import DECIDED, Snapshot, choose
from analysis.venues import Scale, VenueYear, venue_year

FEW_PAPERS = 100  # below this an interval comes with a warning

POPULATIONS = {
    "all": "all submissions",
    "reviewed": "papers with a review",
    "active": "papers with a review, neither withdrawn nor desk-rejected",
    "decided": "papers with a review that were accepted, rejected or sent to the workshop",
}


@dataclass(frozen=True)
class Sample:
    """One snapshot of a venue-year, restricted to one population.

    `papers`: a row a paper, in order of `paper` (integer key): outcome, tier, reviews (how many with a rating), total and
    squares (sums of the ratings and of their squares), accept_side (ratings on the accept side), average (NaN without a review).
    `reviews`: a row a review that has a rating, in order of `paper`: review (the same number in all snapshots whose
    `review_ids` agree), rating, confidence, experience (NaN where missing).
    `remarks`: sentences to print with every number made of it.
    """

    snapshot: Snapshot
    form: VenueYear
    population: str
    papers: pd.DataFrame
    reviews: pd.DataFrame
    remarks: tuple[str, ...] = ()
    chosen: Snapshot | None = None  # the one that was asked for, where `snapshot` stands in for it
    comments: pd.DataFrame | None = None  # a row a comment, where they were asked for

    @property
    def asked(self) -> Snapshot:
        """The snapshot that was asked for; results lie in its folder even where another one had to stand in."""
        return self.chosen or self.snapshot

    @property
    def scale(self) -> Scale:
        """The declared scale of the ratings; where none is declared, the levels seen."""
        return scale_of(self.form.rating_scale, self.form.described, self.reviews["rating"])

    @property
    def title(self) -> str:
        """Venue, year, snapshot, stage and population, as a caption says them."""
        return f"{self.snapshot.title} ({self.snapshot.stage}), {POPULATIONS[self.population]}"

    def profiles(self) -> np.ndarray:
        """How many ratings of each level a paper has: papers x levels, in the order of `papers` and of the scale."""
        levels = np.asarray(self.scale.levels)
        row = np.searchsorted(self.papers["paper"].to_numpy(), self.reviews["paper"].to_numpy())
        column = np.searchsorted(levels, self.reviews["rating"].to_numpy())
        cells = np.bincount(row * len(levels) + column, minlength=len(self.papers) * len(levels))
        return cells.reshape(len(self.papers), len(levels))

    def having(self, mask: np.ndarray) -> Sample:
        """The same with only the papers that the mask (a boolean a paper) keeps."""
        papers = self.papers[mask].reset_index(drop=True)
        reviews = self.reviews[self.reviews["paper"].isin(papers["paper"])].reset_index(drop=True)
        return replace(self, papers=papers, reviews=reviews, comments=self._comments_of(papers))

    def having_reviews(self, mask: np.ndarray) -> Sample:
        """The same with only the reviews that the mask keeps, and the papers that still have one."""
        reviews = self.reviews[mask].reset_index(drop=True)
        papers = self.papers[self.papers["paper"].isin(reviews["paper"])].reset_index(drop=True)
        papers = with_ratings(papers, reviews, self.scale.accept_from)
        return replace(self, papers=papers, reviews=reviews, comments=self._comments_of(papers))

    def _comments_of(self, papers: pd.DataFrame) -> pd.DataFrame | None:
        if self.comments is None:
            return None
        return self.comments[self.comments["paper"].isin(papers["paper"])].reset_index(drop=True)

    def split(self, column: str) -> Iterator[tuple[object, Sample]]:
        """A sample for each value of a column of `papers` or `reviews`, in order; missing values are left out."""
        frame, keep = (self.papers, Sample.having) if column in self.papers else (self.reviews, Sample.having_reviews)
        if column not in frame:
            names = [*self.papers.columns, *self.reviews.columns]
            raise Trouble(f"There is no column `{column}` to split by; there are {choices(dict.fromkeys(names))}.")
        for value in sorted(frame[column].dropna().unique()):
            yield _plain(value), keep(self, (frame[column] == value).to_numpy())


def split_pair(before: Sample, after: Sample, column: str) -> Iterator[tuple[object, tuple[Sample, Sample]]]:
    """Two samples for each value of a column of the second snapshot: its papers or reviews, and the same ones of the first.

    Trouble for a column of reviews where only papers are linked.
    """
    for value, part in after.split(column):
        if column in after.papers:
            yield value, (before.having(before.papers["paper"].isin(part.papers["paper"]).to_numpy()), part)
        else:
            require_linked(before, after)
            same = before.reviews["review"].isin(part.reviews["review"]).to_numpy()
            yield value, (before.having_reviews(same), part)


def are_linked(before: Sample, after: Sample, same: str = "review_ids") -> bool:
    """Whether the reviews (or, with ``same="paper_ids"``, the papers) of two samples are the same ones."""
    return getattr(before.snapshot, same) == getattr(after.snapshot, same)


def require_linked(before: Sample, after: Sample, same: str = "review_ids") -> None:
    """Trouble, in one sentence, where two samples cannot be compared paper by paper, or review by review."""
    if are_linked(before, after, same):
        return
    what, instead = {
        "paper_ids": ("papers", "take two snapshots from one source"),
        "review_ids": ("reviews", "`stat multiset-movement` needs only the same papers"),
    }[same]
    raise Trouble(
        f"Which {what} of {before.snapshot.title} and {after.snapshot.name} are the same ones is not known: {instead}."
    )


def _plain(value: object) -> object:
    """3 for 3.0: a level that could be missing is kept as a float."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def scale_of(declared: Scale | None, described: bool, answers: pd.Series) -> Scale:
    """The declared scale of a question; where this year's is not described the levels seen, marked undeclared.

    A level that the declared scale does not have is added to it, which is then no longer called declared: nothing is dropped.
    """
    seen = {int(level) for level in np.unique(answers.to_numpy())}
    if declared is not None and described and seen.issubset(declared.levels):
        return declared
    known = declared if declared is not None and described else Scale(())
    accept_from = declared.accept_from if declared is not None else None
    return Scale(tuple(sorted(seen.union(known.levels))), known.labels, accept_from, declared=False)


def with_ratings(papers: pd.DataFrame, reviews: pd.DataFrame, accept_from: int | None) -> pd.DataFrame:
    """The papers with the exact sums of their ratings, and their average."""
    keys, rating = papers["paper"].to_numpy(), reviews["rating"].to_numpy().astype(np.int64)
    row = np.searchsorted(keys, reviews["paper"].to_numpy())

    def summed(weights: np.ndarray) -> np.ndarray:
        return np.bincount(row, weights=weights, minlength=len(keys)).astype(np.int64)

    n, total = summed(np.ones(len(row))), summed(rating)
    on_accept_side = rating >= accept_from if accept_from is not None else np.zeros(len(rating))
    # Equal fractions give equal floats, so averages can be compared with ==.
    average = np.divide(total, n, out=np.full(len(keys), np.nan), where=n > 0)
    return papers.assign(
        reviews=n, total=total, squares=summed(rating**2), accept_side=summed(on_accept_side), average=average
    )


def load(
    database: Path,
    venue: str,
    year: int,
    snapshot: str = "",
    population: str = "reviewed",
    source: str = "",
    usual: tuple[str, ...] = ("decision", "latest"),
    need: str = "",
    columns: tuple[str, ...] = (),
    join: Path | None = None,
) -> Sample:
    """Read one snapshot, loading it first where it is bundled.

    `need` names a review column without which the snapshot is no use: the newest one that has it is taken then, and a remark
    says so. `columns` names further columns of submissions or reviews, or a scored field; `comments` brings that table. `join` is a CSV or Parquet file
    keyed by `forum` or `review_id` whose columns come with it. Trouble for an unknown name, or a population that this
    snapshot does not know.
    """
    if population not in POPULATIONS:
        raise Trouble(f"There is no population `{population}`; there are {choices(POPULATIONS)}.")
    form = venue_year(venue, year, database)
    held = fetch.ensure(database, venue, year, source)
    chosen, excuse = choose(held, snapshot, form.decision_snapshot, usual)
    with store.reading(database) as con:
        found, lacking = _with_field(con, held, chosen, need)
        papers = store.papers(con, found.snapshot_id, columns, join)
        reviews = store.rated_reviews(con, found.snapshot_id, columns, join)
        comments = store.comments(con, found.snapshot_id) if "comments" in columns else None
    accept_from = form.rating_scale.accept_from if form.rating_scale else None
    papers = with_ratings(papers, reviews, accept_from)
    remarks = (*filter(None, (excuse, lacking)), *form.remarks)
    whole = Sample(found, form, "all", papers, reviews, remarks, chosen, comments)
    return restrict(whole, population)


def _with_field(con, held: list[Snapshot], chosen: Snapshot, need: str) -> tuple[Snapshot, str]:
    """The chosen snapshot, or the newest that has the needed review column, with a sentence about it."""
    having = [one for one in held if need and store.has_field(con, one.snapshot_id, need)]
    if not need or chosen in having:
        return chosen, ""
    if not having and not chosen.reviews:
        return chosen, f"{chosen.title} has no reviews yet."
    if not having:
        raise Trouble(f"{chosen.venue} {chosen.year} has no {need} of the reviewers in any snapshot of the store.")
    newest = max(having, key=lambda one: one.order)
    return (
        newest,
        f"{chosen.title} has no {need} of the reviewers: this is {newest.name} ({newest.stage}), the newest that has it.",
    )


def restrict(whole: Sample, population: str) -> Sample:
    """The sample of a population, with a remark on what it leaves out; Trouble where outcomes are not known far enough."""
    papers, outcomes = whole.papers, whole.papers["outcome"]
    if population == "decided" and whole.snapshot.outcomes != "complete":
        raise Trouble(_undecidable(whole))
    reviewed = papers["reviews"] > 0
    keep = {
        "all": reviewed | True,
        "reviewed": reviewed,
        "active": reviewed & ~outcomes.isin(("withdrawn", "desk_rejected")),
        "decided": reviewed & outcomes.isin(DECIDED),
    }[population]
    kept = replace(whole.having(keep.to_numpy()), population=population)
    said = filter(None, (_left_out(whole, kept), _few(kept)))
    return replace(kept, remarks=(*kept.remarks, *said))


def _left_out(whole: Sample, kept: Sample) -> str:
    before, after = len(whole.papers), len(kept.papers)
    if before == after:
        return ""
    gone = count(before - after, "paper")
    return f"{whole.snapshot.title}: {gone} of {before:,} left out; {after:,} remain ({POPULATIONS[kept.population]})."


def _few(kept: Sample) -> str:
    n = len(kept.papers)
    return f"{kept.snapshot.title}: {count(n, 'paper')} only, so intervals are rough." if 0 < n < FEW_PAPERS else ""


def _undecidable(whole: Sample) -> str:
    accepted = int((whole.papers["outcome"] == "accepted").sum())
    reviewed = int((whole.papers["reviews"] > 0).sum())
    sentence = f"{whole.snapshot.title}: which papers were decided is not known (outcomes: {whole.snapshot.outcomes})"
    if not accepted:
        return f"{sentence}; take --population reviewed or active."
    share = f"accepted / reviewed = {accepted:,} / {reviewed:,} = {percent(accepted / reviewed)}"
    return f"{sentence}; what is known is {share}: take --population reviewed."
