"""The command `stand`: one plain sentence about a paper's ratings, then the tables behind it."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from analysis import sample, tables
from analysis.errors import Trouble
from analysis.statistics import standing

USUAL = ("release", "decision", "latest")  # an author asks on the day the reviews come out

POSITION_SHARES = ("below", "tied", "at_or_below", "mid_rank", "top", "top_mid_rank", "top_at_or_below")
TITLES = {
    "positions": "Where it stands: shares of papers with an average below, equal to, at or below it",
    "fate": "What was decided for such papers (Wilson 95 % limits); the last row is the answer",
    "one-changed": "If one rating changed, at the same stage",
    "error-of-average": "The standard error of an average of so many reviews",
}
SHARES = {
    "positions": POSITION_SHARES,
    "fate": ("value", "low", "high"),
    "one-changed": POSITION_SHARES,
    "error-of-average": (),
}


def ask(whole: sample.Sample, ratings: list[str], average: str) -> standing.Given:
    """What was typed, checked against the scale of that year; Trouble where it is neither ratings nor an average."""
    if whole.reviews.empty:
        raise Trouble(f"{whole.snapshot.title} has no reviews yet: fetch it again when they are out.")
    if bool(ratings) == bool(average):
        raise Trouble("Give the ratings of one paper, as in `stand --year 2026 2 4 6 6`, or --average 4.5.")
    if average:
        return standing.match_average(whole, average)
    try:
        return standing.given(whole, [int(rating) for rating in ratings])
    except ValueError:
        raise Trouble(f"Ratings are whole numbers on the scale of that year, not `{' '.join(ratings)}`.") from None


def frames(whole: sample.Sample, asked: standing.Given, seed: int = 0) -> dict[str, pd.DataFrame]:
    """The tables behind the sentence, by name; `fate` is left out where nobody knows what was accepted."""
    found = {"positions": standing.positions(whole, asked)}
    if whole.snapshot.outcomes != "none":
        found["fate"] = standing.fate(whole, asked)
    if asked.ratings:
        found["one-changed"] = standing.one_changed(whole, asked)
        found["error-of-average"] = standing.error_of_average(whole, len(asked.ratings), seed=seed)
    return found


def answer(
    database: Path, venue: str, year: int, snapshot: str, source: str, ratings: list[str], average: str, format: str
) -> tuple[str, tuple[str, ...]]:
    """What `stand` prints, and the remarks that go with it."""
    whole = sample.load(database, venue, year, snapshot, population="all", source=source, usual=USUAL)
    asked = ask(whole, ratings, average)
    sentence, found = standing.sentence(whole, asked), frames(whole, asked)
    if format == "json":
        return _as_json(whole, sentence, found), whole.remarks
    printed = [tables.text(frame, format, shares=SHARES[name], caption=TITLES[name]) for name, frame in found.items()]
    return "\n\n".join([sentence, *printed]), whole.remarks


def _as_json(whole: sample.Sample, sentence: str, found: dict[str, pd.DataFrame]) -> str:
    taken = whole.snapshot
    rows = {name: json.loads(tables.text(frame, "json")) for name, frame in found.items()}
    head = {
        "venue": taken.venue,
        "year": taken.year,
        "snapshot": taken.name,
        "stage": taken.stage,
        "sentence": sentence,
    }
    return json.dumps({**head, **rows}, indent=2, ensure_ascii=False)
