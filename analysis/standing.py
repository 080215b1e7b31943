"""The command `stand`: one plain sentence about a paper's ratings, then the tables behind it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

from analysis import sample, tables
from analysis.errors import Trouble
from analysis.statistics import standing
from analysis.statistics.ledger import groups

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


def frames(
    whole: sample.Sample, asked: standing.Given, population: str = "reviewed", seed: int = 0
) -> dict[str, pd.DataFrame]:
    """The tables behind the sentence, by name; `fate` is left out where nobody knows what was accepted."""
    found = {"positions": standing.positions(whole, asked)}
    if standing.knows_fate(whole, population):
        found["fate"] = standing.fate(whole, asked, population)
    if asked.ratings:
        found["one-changed"] = standing.one_changed(whole, asked)
        found["error-of-average"] = standing.error_of_average(whole, len(asked.ratings), seed=seed)
    return found


def answer(
    database: Path,
    venue: str,
    year: int,
    snapshot: str,
    source: str,
    ratings: list[str],
    average: str,
    format: str,
    population: str = "reviewed",
) -> tuple[str, tuple[str, ...]]:
    """What `stand` prints, and the remarks that go with it."""
    whole = sample.load(database, venue, year, snapshot, population="all", source=source, usual=USUAL)
    sample.restrict(whole, population)  # Trouble where this snapshot does not know that population
    asked = ask(whole, ratings, average)
    sentence, found = standing.sentence(whole, asked, population), frames(whole, asked, population)
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


# For the page -------------------------------------------------------------------------------------------------------


def counted(whole: sample.Sample) -> dict[str, object]:
    """All that the page's script needs to give the same answers: a snapshot as counts of papers by their ratings.

    `profiles` has a row for each set of ratings that a paper had: how many ratings of each level, then how many
    papers were reviewed, active, decided (0 where that is not known) and accepted. `sd` is the row of
    `error_of_average` for one review, which the script divides by the root of the number of reviews.
    """
    taken, scale = whole.snapshot, whole.scale
    deviation = standing.error_of_average(whole, 1).iloc[0]
    return {
        "venue": taken.venue,
        "year": taken.year,
        "snapshot": taken.name,
        "stage": taken.stage,
        "source": taken.source,
        "outcomes": taken.outcomes,
        "levels": list(scale.levels),
        "labels": [scale.labels.get(level, "") for level in scale.levels],
        "declared": scale.declared,
        "accept_from": scale.accept_from,
        "most": int(whole.papers["reviews"].max()) if len(whole.papers) else 0,
        "profiles": _profiles(whole),
        "sd": {name: tables.plain(deviation[name]) for name in ("value", "low", "high", "n", "meaning")},
        "remarks": list(whole.remarks),
    }


def _profiles(whole: sample.Sample) -> list[list[int]]:
    masks = groups(whole)
    columns = [masks[name] for name in ("reviewed", "active", "decided", "accepted")]
    kept = masks["reviewed"]
    rows = np.column_stack([whole.profiles(), *columns]).astype(np.int64)[kept]
    levels = len(whole.scale.levels)
    kinds, row = np.unique(rows[:, :levels], axis=0, return_inverse=True)
    sums = np.zeros((len(kinds), len(columns)), dtype=np.int64)
    np.add.at(sums, row.ravel(), rows[:, levels:])
    return np.column_stack([kinds, sums]).tolist()
