"""Fetch: from a source into the store. The only module that knows both."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from analysis import DATABASE, store
from analysis.errors import Trouble, choices
from analysis.snapshots import Snapshot
from analysis.sources import bundled
from analysis.venues import venue_year

Say = Callable[[str], None]


def load_bundled(years: Iterable[int], database: Path = DATABASE, say: Say = lambda line: None) -> None:
    """Load the bundled counts of these years; what is already there is left alone, byte for byte."""
    held = {one.year: one.digest for one in store.held(database, bundled.VENUE, source="bundled")}
    missing = [year for year in years if held.get(year) != bundled.digest(year)]
    if not missing:
        return
    with store.loading(database, "loading bundled counts"), store.rebuilding(database) as con:
        for year in missing:
            for snapshot, rows in bundled.snapshots(year):
                store.save(con, snapshot, [rows])
                say(f"loaded {snapshot['venue']} {year}, {snapshot['name']}")


def fetch(venue: str, year: int, source: str = "bundled", database: Path = DATABASE, say: Say = print) -> None:
    """Load one venue-year from a source; Trouble where the source does not have it."""
    check(venue, year, database, source)
    load_bundled([year], database, say)


def check(venue: str, year: int, database: Path, source: str) -> None:
    """Trouble where a venue-year cannot be had from a source, whatever the reason."""
    if absent := venue_year(venue, year, database).absent:
        raise Trouble(absent)
    if source == "bundled" and year not in bundled_of(venue, [year]):
        raise Trouble(_missing(venue, year, source))


def bundled_of(venue: str, years: Iterable[int]) -> list[int]:
    """Those of the years whose counts ship with the suite."""
    return [year for year in years if venue == bundled.VENUE and year in bundled.years()]


def ensure(database: Path, venue: str, year: int, source: str = "") -> list[Snapshot]:
    """The snapshots of a venue-year in the store, loading the bundled ones when nothing of that year is there.

    Trouble, naming the fetch to run, where the year is neither held nor bundled.
    """
    form = venue_year(venue, year, database)
    if source in ("", "bundled"):
        load_bundled(bundled_of(venue, [year]), database)
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
