"""ICLR 2026 as it stood on seven mornings of November 2025, out of every version of its reviews that somebody kept.

The crawl (shared/data/iclr-api2, from ICLR2026ReviewTracker) has each version of a review with the moment it was made. A
snapshot of 09:00 UTC holds the newest version from before, and a paper's status as it was then. 606 of the 75,848
reviews have another rating in their last version than in their first: all of these first versions are there on the 13th,
before the first rating changed at 09:18, and all last ones on the 22nd. The six mornings up to then are those of the crawl.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
from crawler_shapes import lines, tracker_2026

YEAR = 2026
MORNINGS = tuple(f"2025-11-{day}" for day in (13, 17, 18, 19, 20, 21, 22))
CHANGED = 606  # reviews whose last version has another rating than the first (shared/data/README.md)

Line = dict[str, Any]


def papers(data: Path) -> Iterator[Line]:
    """The papers of the crawl, one after the other."""
    for part in "ab":
        yield from lines(data / "iclr-api2" / f"iclr2026_reviews_{part}.jsonl.gz")


def moment(morning: str) -> int:
    """09:00 UTC of a day, as notes count time."""
    return int(datetime.fromisoformat(morning).replace(hour=9, tzinfo=UTC).timestamp() * 1000)


def has_moved(paper: Line) -> bool:
    """Whether a review of this paper has versions with other ratings."""
    ratings: dict[str, set[int]] = {}
    for reply in paper["replies"]:
        ratings.setdefault(reply["id"], set()).add(reply["content"]["rating"]["value"])
    return any(len(some) > 1 for some in ratings.values())


def save(papers: Iterable[Line], morning: str, path: Path, more: Callable[[dict], None] = lambda note: None) -> int:
    """Write the answers that the API would have given on a morning, a paper a line; gives the number of notes."""
    number = 0
    with open(path, "wb") as file:
        for paper in papers:
            notes = _as_of(paper, moment(morning))
            for note in notes:
                more(note)
            file.write(orjson.dumps({"notes": notes}, option=orjson.OPT_APPEND_NEWLINE))
            number += len(notes)
    return number


def _as_of(paper: Line, moment: int) -> list[dict]:
    changed = paper["mdate"] <= moment
    then = {
        **paper,
        "mdate": paper["mdate"] if changed else paper["cdate"],
        "withdrawn": paper["withdrawn"] and changed,
    }
    newest: dict[str, dict] = {}
    for reply in sorted(paper["replies"], key=lambda reply: reply["tmdate"]):
        if reply["tmdate"] <= moment:
            newest[reply["id"]] = reply
    return tracker_2026({**then, "replies": list(newest.values())})
