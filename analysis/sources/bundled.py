"""The counts that ship with the suite: anonymous papers whose outcomes and reviews are exactly the counted ones.

data/bundled/README.md describes the files. The same paper keeps its made-up id from snapshot to snapshot, and the same
review too where the counts link reviews.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from analysis import ROOT
from analysis.errors import Trouble, choices

FOLDER = ROOT / "data" / "bundled"
VENUE = "ICLR"

# ICLR 2026 decisions are not a bundled snapshot: who was accepted is known from the public list of that day.
ACCEPTED_KNOWN_ON = {2026: "2026-04-01"}


def years() -> list[int]:
    """The years with bundled counts, in order."""
    return sorted({int(row["year"]) for row in _described()})


def described(year: int) -> list[dict[str, str]]:
    """What snapshots.csv says of one year: a dict for each snapshot, oldest first. Trouble where there is none."""
    rows = [row for row in _described() if int(row["year"]) == year]
    if not rows:
        raise Trouble(
            f"{VENUE} {year} is not bundled; bundled are {choices(years())}; use --source api or notes for others."
        )
    return rows


def _described() -> list[dict[str, str]]:
    with open(FOLDER / "snapshots.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def digest(year: int) -> str:
    """What tells one version of a year's counts from another."""
    return hashlib.sha256(_path(year).read_bytes() + (FOLDER / "snapshots.csv").read_bytes()).hexdigest()[:16]


def _path(year: int) -> Path:
    return FOLDER / f"iclr-{year}.csv"


def snapshots(year: int) -> Iterator[tuple[dict, dict[str, list[dict]]]]:
    """Each snapshot of a year as (row of `snapshots`, rows of `submissions` and `reviews`)."""
    described_rows = described(year)
    kinds = _kinds(year)
    for said in described_rows:
        yield _snapshot(said, year), _rows(kinds, said, known_on=described_rows[-1]["taken_on"], year=year)


def _kinds(year: int) -> list[dict[str, str]]:
    with open(_path(year), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _snapshot(said: dict[str, str], year: int) -> dict:
    return {
        "venue": VENUE,
        "year": year,
        "name": said["snapshot"],
        "stage": said["stage"],
        "taken_at": datetime.fromisoformat(said["taken_on"]),
        "source": "bundled",
        "outcomes": said["outcomes"],
        "paper_ids": "bundled",
        "review_ids": "bundled " + " ".join(_linked(said)),
        "digest": digest(year),
    }


def _linked(said: dict[str, str]) -> list[str]:
    """The snapshots in which a place in the list of reviews is the same review."""
    return sorted(filter(None, {said["snapshot"], said["linked_with"]}))


def _rows(kinds: list[dict[str, str]], said: dict[str, str], known_on: str, year: int) -> dict[str, list[dict]]:
    submissions, reviews, number = [], [], 0
    group = _linked(said)[0]
    for kind in kinds:
        cell = kind[said["snapshot"]]
        parsed = [] if cell == "absent" else _reviews(cell, said["second"])
        for _ in range(int(kind["papers"])):
            number += 1
            if cell == "absent":
                continue
            forum = f"bundled-{year}-{number:05d}"
            submissions.append(_submission(forum, number, kind, said, known_on))
            reviews.extend(
                {"forum": forum, "review_id": f"{forum}-{group}-{place}", **review} for place, review in parsed
            )
    return {"submissions": submissions, "reviews": reviews}


def _submission(forum: str, number: int, kind: dict[str, str], said: dict[str, str], known_on: str) -> dict:
    outcome = kind["outcome"]
    as_of = ACCEPTED_KNOWN_ON.get(int(said["year"]), known_on) if outcome == "accepted" else known_on
    return {
        "forum": forum,
        "number": number,
        "outcome": outcome,
        "outcome_as_of": None if outcome == "undecided" else as_of,
        # Counts from before the decisions do not say what was known on that day.
        "outcome_then": outcome if said["stage"] == "final" else None,
        "tier": kind["tier"] or None,
    }


def _reviews(cell: str, second: str) -> list[tuple[int, dict]]:
    """One cell, ``6:4 8:3 -``, as (place, columns): a place that holds ``-`` has no review in this snapshot."""
    places = enumerate(cell.split(), start=1)
    return [(place, _review(text, second)) for place, text in places if text != "-"]


def _review(text: str, second: str) -> dict:
    rating, _, other = text.partition(":")
    review = {"rating": int(rating)}
    if other:
        review[second] = int(other.removeprefix("x"))
    return review
