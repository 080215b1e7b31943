"""Fetch: from a source into the store. The only module that knows both."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from analysis import DATABASE, __version__, archive, store
from analysis.errors import Trouble, choices, count
from analysis.snapshots import Snapshot
from analysis.sources import bundled
from analysis.spool import Spool, made, opened
from analysis.venues import VenueYear, known_years, venue_year

if TYPE_CHECKING:
    from analysis.sources.openreview import Session

DISCUSSION = timedelta(days=14)  # reviews that old have been answered, and ratings have begun to move
DECISIONS_BY = (2, 15)  # in the conference's year, where venues.toml does not know the day

# Scores move while reviews are discussed: pages that came longer ago than this are not made one snapshot with new ones.
LONGEST_PAUSE = timedelta(hours=12)

Say = Callable[[str], None]


@dataclass(frozen=True)
class Asked:
    """How to fetch: from where, under which name, with how much patience."""

    source: str = "bundled"
    load: tuple[Path, ...] = ()  # files of saved notes
    snapshot: str = ""
    max_wait: float = 75  # minutes: the window of the API's limit, and some
    unreadable: bool = False


def fetch(venue: str, years: Sequence[int], asked: Asked, database: Path = DATABASE, say: Say = print) -> None:
    """Load venue-years from a source; Trouble, before anything is asked for, where one of them cannot be had."""
    forms = [check(venue, year, database, asked.source) for year in years]
    if asked.source == "bundled":
        load_bundled(years, database, say)
    elif asked.source == "notes":
        for form in forms or [_form_of(venue, asked.load, database)]:
            _from_notes(form, asked, database, say)
    else:
        _from_api(forms, asked, database, say)


def check(venue: str, year: int, database: Path, source: str) -> VenueYear:
    """What is known of a venue-year; Trouble where it cannot be had from a source, whatever the reason."""
    form = venue_year(venue, year, database)
    if form.absent:
        raise Trouble(form.absent)
    if source == "bundled" and not bundled_of(venue, [year]):
        raise Trouble(_missing(venue, year, source))
    return form


# Bundled counts -----------------------------------------------------------------------------------------------------


def load_bundled(
    years: Iterable[int], database: Path = DATABASE, say: Say = lambda line: None, wait: float = 0
) -> None:
    """Load the bundled counts of these years; what is already there is left alone, byte for byte."""
    if not _unloaded(years, database):
        return
    with store.loading(database, "loading bundled counts", wait):
        if missing := _unloaded(years, database):  # another process may have been here first
            with store.rebuilding(database) as con:
                for year in missing:
                    for snapshot, rows in bundled.snapshots(year):
                        store.save(con, snapshot, [rows])
                        say(f"loaded {snapshot['venue']} {year}, {snapshot['name']}")


def _unloaded(years: Iterable[int], database: Path) -> list[int]:
    held = {one.year: one.digest for one in store.held(database, bundled.VENUE, source="bundled")}
    return [year for year in years if held.get(year) != bundled.digest(year)]


def bundled_of(venue: str, years: Iterable[int]) -> list[int]:
    """Those of the years whose counts ship with the suite."""
    return [year for year in years if venue == bundled.VENUE and year in bundled.years()]


def available_years(database: Path, venue: str, source: str = "") -> list[int]:
    """The years that can be had without a fetch: bundled, or in the store."""
    held = {one.year for one in store.held(database, venue, source=source)}
    loadable = venue == bundled.VENUE and source in ("", "bundled") and not database.is_dir()
    shipped = bundled.years() if loadable else []
    return sorted(held.union(shipped))


def ensure(database: Path, venue: str, year: int, source: str = "") -> list[Snapshot]:
    """The snapshots of a venue-year in the store, loading the bundled ones when they are not there.

    Trouble, naming the fetch to run, where the year is neither held nor bundled.
    """
    form = venue_year(venue, year, database)
    if source in ("", "bundled") and not database.is_dir():
        load_bundled(bundled_of(venue, [year]), database, wait=store.LOAD_WAIT)
    held = store.held(database, venue, year, source)
    if not held:
        raise Trouble(form.absent or _missing(venue, year, source))
    return held


def _missing(venue: str, year: int, source: str) -> str:
    if source == "bundled":
        return f"{venue} {year} is not bundled (bundled are {choices(bundled.years())}); fetch it with --source api."
    return (
        f"{venue} {year} is not in the store and not bundled: "
        f"run `python -m analysis fetch --source api --years {year}` (a free OpenReview account is enough)."
    )


# Notes: from OpenReview, or saved -----------------------------------------------------------------------------------


def _from_api(forms: Sequence[VenueYear], asked: Asked, database: Path, say: Say) -> None:
    """Whole listings, one year after the other, with one log-in for all; goes on with what was interrupted."""
    from analysis.sources import openreview

    session, notes = openreview.Session(say, max_wait=asked.max_wait), archive.folder_of(database)
    titles = ", ".join(f"{form.venue} {form.year}" for form in forms)
    with store.fetching(notes, f"fetching {titles}"), _uncollected():
        done = _done(forms, notes, session, asked)
        for form in forms:
            if form.year in done:
                session.say(f"{form.venue} {form.year} was fetched before the interruption.")
                continue
            _year_from_api(form, done, session, asked, database)
            done.append(form.year)


def _year_from_api(form: VenueYear, done: list[int], session: Session, asked: Asked, database: Path) -> None:
    """Pages to disk as they come, and when all are there into the store."""
    from analysis.intake import publish

    spool = _spool_of(form, done, session, asked, archive.folder_of(database))
    try:
        started = datetime.fromisoformat(spool.said["started"])
        if not spool.complete:
            _fill(spool, form, session)
        if spool.restricted:
            session.say(f"{count(spool.restricted, 'note')} left out that not everyone may read.")
        named = _called(form, started, asked, database)
        publish(spool, form, *named, started, "api", database, session.say, asked.unreadable)
    except BaseException:
        spool.close() if spool.papers else spool.remove()  # nothing to go on from
        raise
    spool.remove()


def _fill(spool: Spool, form: VenueYear, session: Session) -> None:
    from analysis.ahead import Ahead
    from analysis.sources import openreview

    start = openreview.Cursor.read(spool.cursor) if spool.cursor else None
    with Ahead(spool, form) as ahead:
        session.parsed = ahead.parsed
        for page in openreview.pages(form, session, start, spool.forums):
            ahead.add(page.notes, asdict(page.cursor))
            del page  # or two of them are in memory during the next request
    if not spool.papers:
        raise Trouble(f"No submission of {form.venue} {form.year} is public yet: fetch it when its reviews are out.")
    spool.finish()


def _spool_of(form: VenueYear, done: list[int], session: Session, asked: Asked, notes: Path) -> Spool:
    """The pages that an interrupted fetch of the same snapshot left, or none yet."""
    title, path = f"{form.venue} {form.year}", _spool_path(form, notes)
    said, found = _said(form, session, asked), opened(path)
    if found:
        refusal = _stale(found.said, said)
        since = str(found.said.get("started", "an unknown time")).replace("T", " ")[:16]
        pages = f"{count(len(found.pages), 'page')} of {since} UTC"
        if not refusal:
            session.say(f"{title}: going on after {pages} ({count(found.notes, 'note')}).")
            return found
        session.say(f"{title}: {pages} {refusal}: starting anew.")
        found.close()
    now = datetime.now(UTC).replace(tzinfo=None, microsecond=0)
    return made(path, said | {"started": now.isoformat(), "done": done})


def _stale(old: Mapping, new: Mapping) -> str:
    """Why pages cannot be gone on with; empty where they can."""
    if any(old.get(key) != value for key, value in new.items()):
        return "are of another snapshot, server or version of the suite"
    age = datetime.now(UTC).replace(tzinfo=None) - datetime.fromisoformat(old["started"])
    hours = LONGEST_PAUSE // timedelta(hours=1)
    return "" if abs(age) <= LONGEST_PAUSE else f"are more than {hours} hours old, and scores move"


def _said(form: VenueYear, session: Session, asked: Asked) -> dict[str, object]:
    """What pages must have in common to be of one snapshot."""
    of = {"venue": form.venue, "year": form.year, "snapshot": asked.snapshot, "version": __version__}
    return of | {"listings": list(form.listings), "address": session.urls[form.api]}


def _done(forms: Sequence[VenueYear], notes: Path, session: Session, asked: Asked) -> list[int]:
    """The years that an interrupted fetch of several had done already."""
    for form in forms:
        found = opened(_spool_path(form, notes))
        if found:
            found.close()
            if not _stale(found.said, _said(form, session, asked)):
                return found.said["done"]
    return []


def _spool_path(form: VenueYear, notes: Path) -> Path:
    return archive.place_of(notes, form.venue, form.year) / "fetched.notes"


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without Python's search for cycles: notes have none, and looking for them takes a third of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _from_notes(form: VenueYear, asked: Asked, database: Path, say: Say) -> None:
    """Files that somebody saved, on the day that the snapshot is named by, else when the newest file was written."""
    from analysis.intake import take_in
    from analysis.sources import notes

    if not asked.load:
        raise Trouble("Which files? Give them with --load FILE, as they came from the OpenReview API.")
    saved = _day_named(asked.snapshot) or _saved_at(asked.load)
    pages = notes.pages(asked.load, form, say)
    take_in(pages, form, *_called(form, saved, asked, database), saved, "notes", database, say, asked.unreadable)


def _day_named(snapshot: str) -> datetime | None:
    """The moment in a name such as `2019-11-08` or `2019-11-08T1530`."""
    try:
        return datetime.fromisoformat(snapshot)
    except ValueError:
        return None


def _saved_at(files: Sequence[Path]) -> datetime:
    """When the newest of the files was saved."""
    try:
        newest = max(file.stat().st_mtime for file in files)
    except OSError as error:
        raise Trouble(f"{error.filename} cannot be read ({error.strerror}); give another file to --load.") from None
    return datetime.fromtimestamp(int(newest), UTC).replace(tzinfo=None)


def _form_of(venue: str, files: Sequence[Path], database: Path) -> VenueYear:
    """The venue-year that saved notes are of, where no year was given."""
    from analysis.sources import notes

    if not files:
        raise Trouble("Which files? Give them with --load FILE, as they came from the OpenReview API.")
    groups = {
        form.group: form
        for form in (venue_year(venue, year, database) for year in known_years(venue, database))
        if form.group
    }
    for group in notes.groups(files):
        if group in groups:
            return groups[group]
    raise Trouble(f"{files[0]} holds no notes of any {venue} year: give --venue and --years, or another file.")


def _called(form: VenueYear, taken: datetime, asked: Asked, database: Path) -> tuple[str, str]:
    """The name and stage of a snapshot taken at that moment.

    The first one after the decisions is `final`; any other has its date, and a second one of a day its time as well.
    """
    stage = stage_on(form, taken.date())
    if asked.snapshot:
        return asked.snapshot, "final" if asked.snapshot == "final" else stage
    held = {one.name for one in store.held(database, form.venue, form.year) if one.source != "bundled"}
    day = taken.date().isoformat()
    names = ["final", day] if stage == "final" else [day]
    return next((name for name in names if name not in held), f"{day}T{taken:%H%M}"), stage


def stage_on(form: VenueYear, day: date) -> str:
    """The stage of a venue-year's reviews on a day."""
    if day >= (form.decided or date(form.year, *DECISIONS_BY)):
        return "final"
    return "discussed" if form.released and day >= form.released + DISCUSSION else "release"


def rebuild(database: Path, say: Say = print) -> None:
    """Make the tables of all fetched snapshots anew from the notes that were kept."""
    from analysis import intake

    intake.rebuild(database, say)
