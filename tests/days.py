"""Daily snapshots made by hand: what a store holds when a year was fetched on some days."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from analysis import store

# A day: for each paper its outcome and its reviews, `{"a": ("undecided", {"a1": 6, "a2": 3})}`. A review is a rating, or
# a dict of columns.
Day = Mapping[str, tuple[str | None, Mapping[str, object]]]


def stored(database: Path, days: Mapping[str, Day], year: int = 2020, **columns: object) -> Path:
    """A database with a snapshot for each day (`2019-11-08`), all of the same ids."""
    with store.loading(database), store.rebuilding(database) as con:
        for name, day in days.items():
            store.save(con, {**_described(name, year, day), **columns}, [_rows(name, day)])
    return database


def _described(name: str, year: int, day: Day) -> dict:
    accepted = any(outcome == "accepted" for outcome, _ in day.values())
    return {
        "venue": "ICLR",
        "year": year,
        "name": name,
        "stage": "final" if name == "final" else "release",
        "taken_at": datetime.fromisoformat("2019-12-23" if name == "final" else name),
        "source": "notes",
        "outcomes": "complete" if accepted else "none",
        "paper_ids": "openreview",
        "review_ids": "openreview",
        "digest": f"digest of {name}",
    }


def _rows(name: str, day: Day) -> dict[str, list[dict]]:
    submissions = [_paper(forum, outcome, name) for forum, (outcome, _) in day.items()]
    reviews = [
        {"forum": forum, "review_id": key, **(review if isinstance(review, dict) else {"rating": review})}
        for forum, (_, some) in day.items()
        for key, review in some.items()
    ]
    return {"submissions": submissions, "reviews": reviews}


def _paper(forum: str, outcome: str | None, name: str) -> dict:
    known = None if outcome in (None, "undecided") else ("2019-12-23" if name == "final" else name[:10])
    return {"forum": forum, "outcome": outcome or "undecided", "outcome_then": outcome, "outcome_as_of": known}
