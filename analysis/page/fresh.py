"""How fresh the page is: the newest snapshot of each venue, and what changed since the one before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from analysis import store
from analysis.errors import count, percent
from analysis.page.commands import venue_option
from analysis.page.numbers import Part
from analysis.places import place
from analysis.snapshots import Snapshot
from analysis.venues import venue_year


@dataclass(frozen=True)
class Fresh:
    """The newest snapshot of a venue, as the first lines of the page tell it, and the numbers in them."""

    title: str
    counts: str
    share: str
    change: str
    part: Part


def fresh(database: Path) -> list[Fresh]:
    """One for each venue in the store; nothing where there is no store."""
    held = store.held(database)
    venues = dict.fromkeys(one.venue for one in held)
    return [_fresh(database, [one for one in held if one.venue == venue]) for venue in venues]


def _fresh(database: Path, held: list[Snapshot]) -> Fresh:
    year = max(one.year for one in held)
    *earlier, newest = sorted((one for one in held if one.year == year), key=lambda one: one.order)
    counts = f"{count(newest.papers, 'paper')}, {count(newest.reviews, 'review')}"
    stage = f" ({newest.stage})" if newest.stage != newest.name else ""
    told = Fresh(f"{newest.title}{stage}", counts, "", "No earlier snapshot to compare with.", _part(newest))
    told = _with_share(told, database, newest)
    before = [one for one in earlier if one.paper_ids == newest.paper_ids]
    return _with_change(told, database, before[-1], newest) if before else told


def _part(newest: Snapshot) -> Part:
    about = {name: getattr(newest, name) for name in ("venue", "year", "stage", "source")}
    command = f"python -m analysis status{venue_option(newest.venue)} --years {newest.year}"
    about |= {"snapshot": newest.name, "population": "all", "queries": [{"command": command}]}
    where = place(newest.venue, newest.year, newest.name)
    return Part(f"{where}/fresh", about, {":papers": _number(newest.papers), ":reviews": _number(newest.reviews)})


def _number(value: int) -> dict[str, object]:
    return {"value": value, "text": f"{value:,}"}


def _with_share(told: Fresh, database: Path, newest: Snapshot) -> Fresh:
    """The papers against the official count of submissions."""
    official = venue_year(newest.venue, newest.year, database).official.get("submitted")
    if not official:
        return replace(told, share="No official count of submissions is known.")
    value = newest.papers / official
    numbers = {":share": {"value": value, "text": percent(value), "n": official}, ":official": _number(official)}
    said = f"{percent(value)} of the {official:,} submissions officially counted."
    return replace(told, share=said, part=replace(told.part, numbers=told.part.numbers | numbers))


def _with_change(told: Fresh, database: Path, before: Snapshot, newest: Snapshot) -> Fresh:
    days = (newest.taken_at.date() - before.taken_at.date()).days
    since = f"Since {before.name}" + (f", {count(days, 'day')} before" if days > 0 else "")
    of = [newest.venue, newest.year, before.name, before.source, newest.name, newest.source]
    with store.reading(database) as con:
        changed = con.execute(CHANGED, of).fetchall()[0][0]
    more = {"reviews": newest.reviews - before.reviews, "papers": newest.papers - before.papers}
    parts = [_more(more["reviews"], "review"), _more(more["papers"], "paper")]
    parts.append(f"the ratings of {count(changed, 'paper')} changed" if changed else "")
    said = f"{since}: {', '.join(filter(None, parts)) or 'nothing changed'}."
    numbers = {f":{name}-more": _number(abs(value)) | {"value": value} for name, value in more.items()}
    numbers |= {":changed": _number(changed), ":days": _number(days)}
    query = {"sql": " ".join(CHANGED.split()), "parameters": of}
    about = told.part.about | {"since": before.name, "queries": [*told.part.about["queries"], query]}
    return replace(told, change=said, part=replace(told.part, about=about, numbers=told.part.numbers | numbers))


def _more(number: int, noun: str) -> str:
    """``12 reviews more``; nothing for none."""
    return f"{count(abs(number), noun)} {'more' if number > 0 else 'fewer'}" if number else ""


# Papers that both snapshots have, whose ratings are not the same ones.
CHANGED = """
with rated as (
    select name, source, paper, list_sort(list(rating)) as ratings
    from reviews join snapshots using (snapshot_id)
    where rating is not null and venue = $1 and year = $2 and name in ($3, $5)
    group by all
)
select count(*)
from rated as a join rated as b using (paper)
where a.name = $3 and a.source = $4 and b.name = $5 and b.source = $6 and a.ratings <> b.ratings
"""
