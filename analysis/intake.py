"""Taking notes in: pages of raw notes into the archive, and from there, forum by forum, into the tables."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime
from importlib.metadata import version
from itertools import islice
from pathlib import Path

from analysis import archive, store
from analysis.ahead import rows_of
from analysis.archive import PAPERS, Kept, Said
from analysis.errors import Trouble, choices, count, percent
from analysis.forms import TABLES, Row, Rows, read_forum
from analysis.snapshots import DECIDED, Snapshot
from analysis.spool import Spool, gathered
from analysis.venues import VenueYear, venue_year

MOST_UNREADABLE = 0.02  # of the reviews: with more, the form is not the one that venues.toml describes
GATHERED = "loading.notes"  # beside the files of a venue-year, while it is being loaded
FEW_UNDECIDED = 0.01  # of the active papers: a few stay so for ever (late withdrawals, decisions by hand)

Say = Callable[[str], None]


def take_in(
    pages: Iterable[list[dict]],
    form: VenueYear,
    name: str,
    stage: str,
    taken_at: datetime,
    source: str,
    database: Path,
    say: Say,
    unreadable: bool = False,
) -> None:
    """Keep scrubbed notes as a snapshot, and make its tables; the same notes again change nothing.

    Where many reviews have no readable rating this stops, unless `unreadable` says to go on.
    """
    said = _said(form, name, stage, taken_at, source)
    place = archive.place_of(archive.folder_of(database), form.venue, form.year)
    with store.loading(database, f"loading {_title(said)}"), gathered(pages, place / GATHERED) as came:
        _publish(came, form, said, database, say, unreadable)


def publish(
    came: Spool,
    form: VenueYear,
    name: str,
    stage: str,
    taken_at: datetime,
    source: str,
    database: Path,
    say: Say,
    unreadable: bool = False,
) -> None:
    """As `take_in`, of notes that are on disk already; waits for another load to end."""
    said = _said(form, name, stage, taken_at, source)
    with store.loading(database, f"loading {_title(said)}", store.LOAD_WAIT):
        _publish(came, form, said, database, say, unreadable)


def _publish(came: Spool, form: VenueYear, said: Said, database: Path, say: Say, unreadable: bool) -> None:
    with archive.drafted(came, archive.folder_of(database), said) as draft:
        if same := _held(database, draft.said):
            if same.name == said["name"]:
                draft.keep()  # whoever threw the notes away has them again
            say(f"{same.title} holds the same notes already; nothing was changed.")
            return
        with store.rebuilding(database) as con:
            _save(con, draft, form, say, unreadable)
            draft.keep()


def rebuild(database: Path, say: Say, unreadable: bool = False) -> None:
    """Make the tables of all fetched snapshots anew from their notes, as they are read now."""
    folder = archive.folder_of(database)
    newest = {(one.said["venue"], one.said["year"], one.said["name"]): one for one in archive.kept(folder)}
    if not newest:
        raise Trouble(f"There are no notes in {folder} to rebuild from: fetch a year with --source api or notes first.")
    with store.loading(database, "rebuilding"), store.rebuilding(database) as con:
        for one in newest.values():
            form = venue_year(one.said["venue"], int(one.said["year"]), database)
            _save(con, one, form, say, unreadable)


def _said(form: VenueYear, name: str, stage: str, taken_at: datetime, source: str) -> Said:
    """What a file of notes says of itself, so that tables can be made of it alone."""
    return {
        "venue": form.venue,
        "year": str(form.year),
        "name": name,
        "stage": stage,
        "taken_at": taken_at.isoformat(),
        "source": source,
        "client_version": version("openreview-py") if source == "api" else "",
    }


def _held(database: Path, said: Said) -> Snapshot | None:
    """The snapshot with the same notes, whatever its name."""
    held = store.held(database, said["venue"], int(said["year"]))
    return next((one for one in held if one.digest == said["digest"]), None)


def _title(said: Said) -> str:
    return f"{said['venue']} {said['year']}, {said['name']}"


def _save(con, notes: Kept, form: VenueYear, say: Say, unreadable: bool) -> None:
    reading = _Reading(form, datetime.fromisoformat(notes.said["taken_at"]).date())
    snapshot = _snapshot(notes.said, form)

    def batches() -> Iterator[Rows]:
        yield from reading.batches(notes)
        reading.check(unreadable)
        snapshot["outcomes"] = reading.outcomes  # the store asks for it after the rows

    store.save(con, snapshot, batches())
    papers, reviews = count(reading.papers.total(), "paper"), count(reading.reviews, "review")
    say(f"loaded {_title(notes.said)}: {papers}, {reviews}, {count(reading.problems, 'problem')}")


def _snapshot(said: Said, form: VenueYear) -> dict:
    """The row of `snapshots`, but for how far outcomes are known."""
    return {
        "venue": form.venue,
        "year": form.year,
        "name": said["name"],
        "stage": said["stage"],
        "taken_at": datetime.fromisoformat(said["taken_at"]),
        "source": said["source"],
        "paper_ids": "openreview",
        "review_ids": "openreview",
        "official_counts": json.dumps(form.official) if form.official else None,
        "digest": said["digest"],
        "client_version": said["client_version"] or None,
    }


class _Reading:
    """The rows of one snapshot while they are read, and what they add up to."""

    def __init__(self, form: VenueYear, day: date) -> None:
        self.form, self.day = form, day
        self.papers: Counter[str] = Counter()  # by outcome
        self.reviews = self.unrated = self.problems = 0
        self.examples: list[str] = []
        # Of papers only what tells twins: a large year has forty thousand.
        self.titles: dict[int, tuple[str, str]] = {}  # by the hash of a decided paper's title: forum and outcome
        self.withdrawn: list[tuple[str, str]] = []  # forum and title

    def batches(self, notes: Kept) -> Iterator[Rows]:
        forums = self._forums(notes)
        while some := list(islice(forums, PAPERS)):
            batch: Rows = {table: [row for rows in some for row in rows[table]] for table in TABLES}
            self._count(batch)
            yield batch
        twins = [problem for paper in self.withdrawn if (problem := self._twin(*paper))]
        self.problems += len(twins)
        yield {"problems": twins}

    def _forums(self, notes: Kept) -> Iterator[Rows]:
        if notes.came:
            yield from rows_of(notes.came, self.form)
            notes.written()  # before the memory is needed for something else
        else:
            for batch in notes.batches():
                yield from (read_forum(forum, self.form) for forum in batch)

    def _count(self, batch: Rows) -> None:
        for paper in batch["submissions"]:
            self._note_outcome(paper)
        ratings = [review["rating"] for review in batch["reviews"]]
        self.reviews += len(ratings)
        self.unrated += ratings.count(None)
        self.problems += len(batch["problems"])
        told = (row for row in batch["problems"] if row["field"] == self.form.rating.field)
        self.examples += [f"`{row['value']}` ({row['reason']})" for row in islice(told, 3 - len(self.examples))]

    def _note_outcome(self, paper: Row) -> None:
        outcome, title = paper["outcome"], _plain(paper["title"])
        self.papers[outcome] += 1
        if outcome != "undecided":
            paper["outcome_as_of"] = self.day.isoformat()
        if outcome in DECIDED and title:
            self.titles[hash(title)] = paper["forum"], outcome
        if outcome == "withdrawn" and title:
            self.withdrawn.append((paper["forum"], paper["title"]))

    def _twin(self, forum: str, title: str) -> Row | None:
        """A withdrawn paper that was decided under another forum: 2018 moved withdrawn papers, and one was accepted."""
        other = self.titles.get(hash(_plain(title)))
        if not other:
            return None
        reason = f"withdrawn here, and {other[1]} as {other[0]}: each counts as what it is"
        row = {"forum": forum, "note_id": forum, "field": "title"}
        return {**row, "value": title[:80], "reason": reason}

    def check(self, unreadable: bool) -> None:
        """Trouble where there is nothing, or where the ratings are not those of the form."""
        form, title = self.form, f"{self.form.venue} {self.form.year}"
        if not self.papers:
            raise Trouble(
                f"No public notes of {title} came: the year is not public yet, or the account may not read it, or "
                f"venues.toml has another group or listing than OpenReview (it says {choices(form.listings)})."
            )
        if form.described and not unreadable and self.unrated > MOST_UNREADABLE * self.reviews:
            share, reviews = percent(self.unrated / self.reviews), count(self.reviews, "review")
            raise Trouble(
                f"{share} of {reviews} of {title} have no readable `{form.rating.field}`, such as "
                f"{choices(self.examples)}: correct the form in venues.toml, or go on with --unreadable."
            )

    @property
    def outcomes(self) -> str:
        """How far outcomes are known."""
        papers = self.papers
        active = papers.total() - papers["withdrawn"] - papers["desk_rejected"]
        if not papers["accepted"]:
            return "none"
        return "complete" if papers["undecided"] < FEW_UNDECIDED * active else "accepted only"


def _plain(title: object) -> str:
    return " ".join(str(title or "").casefold().split())
