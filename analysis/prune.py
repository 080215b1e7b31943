"""Prune: old snapshots out of the store and the archive, with nothing lost of those that stay.

Of each venue-year stay the first and the last snapshot of each stage, all of its last days, and whichever was the last
to know what became of a paper. Bundled snapshots stay too: they would be loaded again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

import duckdb
import pandas as pd

from analysis import archive, store
from analysis.errors import Trouble, choices, count
from analysis.snapshots import STAGES, Snapshot

DAYS = 7  # a week of daily snapshots: what one looks back on during a discussion

Say = Callable[[str], None]
Reasons = dict[int, str]  # by snapshot id: why it stays, empty where it goes


def prune(
    database: Path,
    venue: str = "",
    years: tuple[int, ...] = (),
    keep: int = DAYS,
    dry_run: bool = False,
    say: Say = print,
) -> pd.DataFrame:
    """Remove old snapshots; gives a row a fetched snapshot: venue, year, snapshot, stage, taken, stays, because.

    `keep` counts days back from the newest snapshot of each venue-year, that day included. The notes go first, file by
    file, then the rows of the tables, in one step: when it is interrupted, the same command goes on.
    """
    if keep < 0:
        raise Trouble(f"--keep takes a number of days, 0 or more, not {keep}.")
    if not database.is_file():
        raise Trouble(f"{database} is no database to prune: there are no snapshots in it that were fetched.")
    if dry_run:
        return _frame(*_plan(database, venue, years, keep))
    with store.loading(database, "pruning"):
        fetched, reasons = _plan(database, venue, years, keep)
        going = [one for one in fetched if not reasons[one.snapshot_id]]
        if going:
            before = _size(database)
            _remove(database, going)
            say(f"Removed {count(len(going), 'snapshot')}; {_bytes(before - _size(database))} freed.")
        else:
            say("Nothing to remove.")
    return _frame(fetched, reasons)


# Which ones stay ----------------------------------------------------------------------------------------------------


def _plan(database: Path, venue: str, years: tuple[int, ...], keep: int) -> tuple[list[Snapshot], Reasons]:
    with store.reading(database) as con:
        fetched = [
            one for one in store.snapshots(con, venue) if one.source != "bundled" and one.year in (years or (one.year,))
        ]
        if not fetched:
            raise Trouble(
                f"{database} holds no fetched snapshot of {choices(years) if years else 'any year'} to prune."
            )
        groups: dict[tuple[str, int], list[Snapshot]] = {}
        for one in fetched:
            groups.setdefault((one.venue, one.year), []).append(one)
        reasons: Reasons = {}
        for some in groups.values():
            reasons |= why_they_stay(some, keep, _last_to_know(con, some))
    return fetched, reasons


def why_they_stay(snapshots: Sequence[Snapshot], keep: int, informed: set[int]) -> Reasons:
    """Of the fetched snapshots of one venue-year, oldest first: why each one stays; empty where it goes."""
    newest = max(one.taken_at.date() for one in snapshots)
    reasons = {one.snapshot_id: "" for one in snapshots}
    for one in snapshots:
        if one.snapshot_id in informed:
            reasons[one.snapshot_id] = "the last to know what became of some paper"
        if one.taken_at.date() > newest - timedelta(days=keep):
            reasons[one.snapshot_id] = f"of the last {count(keep, 'day')}"
    for stage in STAGES:
        alike = [one.snapshot_id for one in snapshots if one.stage == stage]
        reasons |= (
            {number: f"{place} of {stage}" for place, number in (("last", alike[-1]), ("first", alike[0]))}
            if alike
            else {}
        )
    return reasons


def _last_to_know(con: duckdb.DuckDBPyConnection, some: Sequence[Snapshot]) -> set[int]:
    """The snapshots that the known outcomes come from: all snapshots of the year show these, whoever said them."""
    numbers = ", ".join(str(one.snapshot_id) for one in some)
    query = f"""
        select distinct snapshot_id from (
            select forum, snapshot_id
            from submissions join snapshots using (snapshot_id)
            where snapshot_id in ({numbers}) and outcome_then <> 'undecided'
            qualify row_number() over (partition by forum order by taken_at::date desc, snapshot_id desc) = 1
        )
    """
    return {row[0] for row in con.execute(query).fetchall()}


def _frame(fetched: Sequence[Snapshot], reasons: Reasons) -> pd.DataFrame:
    rows = [
        {
            "venue": one.venue,
            "year": one.year,
            "snapshot": one.name,
            "stage": one.stage,
            "taken": f"{one.taken_at:%Y-%m-%d}",
            "stays": bool(reasons[one.snapshot_id]),
            "because": reasons[one.snapshot_id],
        }
        for one in fetched
    ]
    return pd.DataFrame(rows)


# Removing -----------------------------------------------------------------------------------------------------------


def _remove(database: Path, going: Sequence[Snapshot]) -> None:
    """Notes first: should this stop halfway, the tables still list what is to go."""
    folder = archive.folder_of(database)
    for venue, year in dict.fromkeys((one.venue, one.year) for one in going):
        names = {one.name for one in going if (one.venue, one.year) == (venue, year)}
        archive.prune(archive.place_of(folder, venue, year), names)
    with store.rebuilding(database, compact=True) as con:
        for one in going:
            store.drop(con, one.snapshot_id)


def _size(database: Path) -> int:
    """The bytes of the database and of all notes behind it."""
    files = [database, *archive.folder_of(database).rglob("*.parquet")]
    return sum(path.stat().st_size for path in files)


def _bytes(number: int) -> str:
    """A size for a sentence: ``12.3 MB``."""
    return f"{number / 1e6:,.1f} MB" if number >= 100_000 else f"{number:,} bytes"
