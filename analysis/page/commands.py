"""Commands: what to type for the numbers of a query, with the snapshots that they were made of."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from analysis import store
from analysis.errors import Trouble
from analysis.page.chapters import Chapter
from analysis.snapshots import ALIASES, choose
from analysis.standing import TITLES
from analysis.statistics import statistics
from analysis.venues import venue_year

PLAIN = ("word", "draws", "seed")  # options of a statistic that the command line has as well


def with_commands(query: dict, database: Path) -> dict[str, object]:
    """The query with the commands that print its numbers; without any where the command line has no such option."""
    found = list(_commands(query, database)) if "statistic" in query else []
    return {**query, "commands": found} if found else query


def run_again(chapter: Chapter) -> dict[str, str]:
    """The query of what no statistic made: the run that makes it."""
    book, name = chapter.book, chapter.snapshot
    year = f" --years {book['year'] or 'all'}{f' --snapshot {name}' if name else ''}"
    return {
        "command": f"python -m analysis run{venue_option(book['venue'])}{year} --only {chapter.notebook[:2]} --force"
    }


def venue_option(venue: str) -> str:
    """The option that names a venue, where it is not the usual one."""
    return "" if venue == "ICLR" else f" --venue {shlex.quote(venue)}"


def _commands(query: dict, database: Path) -> Iterator[str]:
    options, samples = query["options"], query["samples"]
    if not samples or set(options) - {*PLAIN, "ratings", "population"}:
        return
    name, population = query["statistic"], samples[0]["population"]
    if "ratings" in options and name not in TITLES:  # `stand` does not print it
        return
    for years, snapshot in _asked(statistics()[name].takes, samples, database):
        asked = f"{venue_option(samples[0]['venue'])} --year {','.join(map(str, years))}"
        asked += f" --snapshot {snapshot}" if snapshot else ""
        if "ratings" in options:
            asked += f" --population {options['population']}" if "population" in options else ""
            yield f"python -m analysis stand{asked} {'--average ' * ('.' in options['ratings'])}{options['ratings']}"
        else:
            by = f" --by {query['by']}" if "by" in query else ""
            given = "".join(f" --{key} {shlex.quote(str(options[key]))}" for key in PLAIN if options.get(key))
            yield f"python -m analysis stat {name}{asked} --population {population}{by}{given}"


def _asked(takes: str, samples: Sequence[dict], database: Path) -> list[tuple[list[int], str]]:
    """Years and the snapshots to ask for: years of the same ones together; those that a statistic compares all at once."""
    names: dict[int, list[str]] = {}
    for one in samples:
        names.setdefault(one["year"], []).append(one["snapshot"])
    together: dict[str, list[int]] = {}
    for year, some in names.items():
        for asked in [",".join(some)] if takes in ("pair", "days") else some:
            together.setdefault(asked, []).append(year)
    if takes == "samples" and len(together) > 1:
        alias = _alias(samples, database)
        return [] if alias is None else [(list(names), alias)]
    return [(years, asked) for asked, years in together.items()]


def _alias(samples: Sequence[dict], database: Path) -> str | None:
    """The name that means just these snapshots in their years, if there is one; empty for the usual ones."""
    for alias in ("", *ALIASES):
        if all(_meant(one["venue"], one["year"], alias, database) == one["snapshot"] for one in samples):
            return alias
    return None


def _meant(venue: str, year: int, alias: str, database: Path) -> str | None:
    held = [one for one in store.held(database, venue) if one.year == year]
    try:
        return choose(held, alias, venue_year(venue, year, database).decision_snapshot)[0].name
    except Trouble:
        return None
