"""Status: the snapshots in the store, against the official counts."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from analysis import store
from analysis.errors import Trouble
from analysis.snapshots import OUTCOMES
from analysis.statistics import queries
from analysis.venues import venue_year

PROBLEMS = """
    select name as snapshot, field, reason, count(*) as notes, min(value) as example
    from problems join snapshots using (snapshot_id)
    where venue = ? and year = ?
    group by all
    order by all
"""
COUNTED = ("accepted", "rejected", "workshop", "withdrawn", "desk_rejected")


def status(database: Path, venue: str = "", years: tuple[int, ...] = ()) -> pd.DataFrame:
    """A row a snapshot: how it was taken, what it holds, and by how much its counts differ from the official ones.

    Columns: venue, year, snapshot, stage, taken, source, outcomes (how far known), papers, reviews, a column for each outcome,
    and `differs`, a sentence on counts that are not the official ones (empty where all agree or none are known).
    """
    with store.reading(database) as con:
        frame = con.sql(
            f"""
            select venue, year, name as snapshot, stage, taken_at::date::varchar as taken, source, outcomes, papers, reviews,
                   {", ".join(OUTCOMES)}, official_counts
            from snapshots
            order by venue, year, stage = 'final', taken_at, source
            """
        ).df()
    frame = frame[(frame["venue"] == venue) | (venue == "")]
    if years:
        frame = frame[frame["year"].isin(years)]
    if frame.empty:
        raise Trouble(f"{database} holds no such snapshot; `python -m analysis fetch` loads some.")
    differs = [_differs(row, database) for row in frame.to_dict("records")]
    told = frame.drop(columns="official_counts").assign(differs=differs).reset_index(drop=True)
    asked = f" --venue {venue}" * (venue not in ("", "ICLR")) + f" --years {','.join(map(str, years))}" * bool(years)
    return queries.carrying(told, [{"command": f"python -m analysis status{asked}"}])


def _differs(row: dict, database: Path) -> str:
    stated = row["official_counts"]  # a missing one is NaN in a column that has others
    official = (
        json.loads(stated) if isinstance(stated, str) else venue_year(row["venue"], row["year"], database).official
    )
    known = {"submitted": row["papers"]}
    if row["outcomes"] == "complete":
        known |= {outcome: row[outcome] for outcome in COUNTED}
    elif row["outcomes"] == "accepted only":
        known["accepted"] = row["accepted"]
    parts = [
        f"{name} {ours - official[name]:+,}"
        for name, ours in known.items()
        if name in official and ours != official[name]
    ]
    return ", ".join(parts)


def problems(database: Path, venue: str, year: int) -> pd.DataFrame:
    """How many values or notes of a year could not be read: snapshot, field, reason, notes, and one example of the value."""
    with store.reading(database) as con:
        frame = con.sql(PROBLEMS, params=[venue, year]).df()
    return queries.carrying(frame, [{"sql": " ".join(PROBLEMS.split()), "parameters": [venue, year]}])
