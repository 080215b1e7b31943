"""How fresh the page is: the newest snapshot of each venue, and what changed since the one before."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from analysis import store
from analysis.errors import count, percent
from analysis.snapshots import Snapshot
from analysis.venues import venue_year


@dataclass(frozen=True)
class Fresh:
    """The newest snapshot of a venue, as the first lines of the page tell it."""

    title: str
    counts: str
    share: str
    change: str


def fresh(database: Path) -> list[Fresh]:
    """One for each venue in the store; nothing where there is no store."""
    held = store.held(database)
    venues = dict.fromkeys(one.venue for one in held)
    return [_fresh(database, [one for one in held if one.venue == venue]) for venue in venues]


def _fresh(database: Path, held: list[Snapshot]) -> Fresh:
    year = max(one.year for one in held)
    *earlier, newest = sorted((one for one in held if one.year == year), key=lambda one: one.order)
    counts = f"{count(newest.papers, 'paper')}, {count(newest.reviews, 'review')}"
    before = [one for one in earlier if one.paper_ids == newest.paper_ids]
    stage = f" ({newest.stage})" if newest.stage != newest.name else ""
    change = _change(database, before[-1], newest) if before else "No earlier snapshot to compare with."
    return Fresh(f"{newest.title}{stage}", counts, _share(database, newest), change)


def _share(database: Path, newest: Snapshot) -> str:
    """The papers against the official count of submissions."""
    official = venue_year(newest.venue, newest.year, database).official.get("submitted")
    if not official:
        return "No official count of submissions is known."
    return f"{percent(newest.papers / official)} of the {official:,} submissions officially counted."


def _change(database: Path, before: Snapshot, newest: Snapshot) -> str:
    days = (newest.taken_at.date() - before.taken_at.date()).days
    since = f"Since {before.name}" + (f", {count(days, 'day')} before" if days > 0 else "")
    with store.reading(database) as con:
        changed = con.execute(CHANGED, [before.snapshot_id, newest.snapshot_id]).fetchall()[0][0]
    parts = [_more(newest.reviews - before.reviews, "review"), _more(newest.papers - before.papers, "paper")]
    parts.append(f"the ratings of {count(changed, 'paper')} changed" if changed else "")
    return f"{since}: {', '.join(filter(None, parts)) or 'nothing changed'}."


def _more(number: int, noun: str) -> str:
    """``12 reviews more``; nothing for none."""
    return f"{count(abs(number), noun)} {'more' if number > 0 else 'fewer'}" if number else ""


# Papers that both snapshots have, whose ratings are not the same ones.
CHANGED = """
with rated as (
    select snapshot_id, paper, list_sort(list(rating)) as ratings
    from reviews
    where rating is not null and snapshot_id in ($1, $2)
    group by snapshot_id, paper
)
select count(*)
from rated as a join rated as b using (paper)
where a.snapshot_id = $1 and b.snapshot_id = $2 and a.ratings <> b.ratings
"""
