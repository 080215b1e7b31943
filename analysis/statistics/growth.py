"""Growth: how many papers and reviews a year had, and how many of them each step of the process left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from analysis.sample import Sample
from analysis.statistics import register
from analysis.statistics.intervals import DRAWS, estimates
from analysis.statistics.ledger import ledger, rates

STEPS = ("submitted", "reviewed", "decided")  # each of the papers of the one before, then the accepted ones


@register("growth", takes="samples", population="all", shares=())
def growth(
    samples: Sequence[Sample], official: Mapping[int, int] | None = None, draws: int = DRAWS, seed: int = 0
) -> pd.DataFrame:
    """How many papers and reviews has each year, and how many reviews a paper?

    `papers` are those of the snapshot, `official` the submissions that the venue or OpenReview counts; `official` may
    be given for years without a sample, whose other columns are then missing. `factor` is submissions against the year
    before (the official count where there is one), missing where that year is not there. `value` is reviews per paper
    with a review, its limits resample papers. Counts are a census and have no interval.
    """
    ordered = sorted(samples, key=lambda sample: (sample.snapshot.year, sample.snapshot.order))
    rows = [_size(sample, draws, seed) for sample in ordered]
    known = {row["year"] for row in rows}
    rows += [{"year": year, "official": number} for year, number in (official or {}).items() if year not in known]
    columns = [
        "year",
        "snapshot",
        "stage",
        "papers",
        "official",
        "factor",
        "reviewed",
        "reviews",
        "value",
        "low",
        "high",
        "n",
    ]
    frame = pd.DataFrame(rows, columns=columns).sort_values("year", kind="stable", ignore_index=True)
    counts = ["papers", "official", "reviewed", "reviews", "n"]
    frame = frame.astype(dict.fromkeys(counts, "Int64") | dict.fromkeys(("value", "low", "high"), float))
    return frame.assign(factor=_factors(frame))


def _size(sample: Sample, draws: int, seed: int) -> dict[str, object]:
    reviews = sample.papers["reviews"].to_numpy()
    counted = np.column_stack([reviews, reviews > 0]).astype(np.int64)
    columns = estimates(counted, lambda sums: sums[:, :1] / sums[:, 1:], draws, seed)
    taken, reviewed = sample.snapshot, int(counted[:, 1].sum())
    return {
        "year": taken.year,
        "snapshot": taken.name,
        "stage": taken.stage,
        "papers": len(sample.papers),
        "official": sample.form.official.get("submitted"),
        "reviewed": reviewed,
        "reviews": int(reviews.sum()),
        **{name: float(value[0]) for name, value in columns.items()},
        "n": reviewed,
    }


def _factors(frame: pd.DataFrame) -> np.ndarray:
    """Submissions of a year / those of the year before; missing where that is not the row before."""
    size = frame["official"].fillna(frame["papers"]).to_numpy(dtype=float, na_value=np.nan)
    year = frame["year"].to_numpy(dtype=float)
    follows = np.diff(year, prepend=np.nan) == 1
    before = np.concatenate([[np.nan], size[:-1]]) if len(size) else size
    return np.divide(size, before, out=np.full(len(size), np.nan), where=follows & (before > 0))


@register("funnel", takes="samples", population="all", shares=("value", "low", "high", "official_rate"))
def funnel(samples: Sequence[Sample]) -> pd.DataFrame:
    """How many papers does each step leave, from submitted to accepted, and what is the acceptance rate of each?

    A row a year and step: `papers` that reached it, `value` accepted / papers with Wilson limits, `n` the denominator;
    reviewed and decided papers have a rating. `official` and `official_rate` are the same from the counts that the
    venue and OpenReview announce, whose decided papers are accepted + rejected + workshop. What a snapshot cannot know
    is missing and `note` says why: of 2026 it is not known who was rejected, so its rate of decided papers (38.9 % of
    13,763 in the official counts) is not guessed from the rest. Years are a census: an interval means "a year like
    this one".
    """
    ordered = sorted(samples, key=lambda sample: (sample.snapshot.year, sample.snapshot.order))
    columns = ["year", "snapshot", "step", "papers", "official", "value", "low", "high", "n", "official_rate", "note"]
    frames = [_steps(sample)[columns] for sample in ordered]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)


def _steps(sample: Sample) -> pd.DataFrame:
    items = ledger(sample).set_index("item").loc[[*STEPS, "accepted"]]
    rate = rates(sample).assign(step=lambda frame: frame["rate"].str.removeprefix("accepted / ")).set_index("step")
    known = rate.reindex(items.index)[["value", "low", "high", "n", "note"]]
    official = _official(sample)
    share = [official.get("accepted", np.nan) / official[step] if official.get(step) else np.nan for step in STEPS]
    taken = sample.snapshot
    frame = known.assign(
        papers=items["papers"],
        official=pd.array([official.get(step) for step in items.index], dtype="Int64"),
        official_rate=[*share, np.nan],
        note=known["note"].fillna("").mask(lambda note: note == "", items["note"]),
    )
    return frame.rename_axis("step").reset_index().assign(year=taken.year, snapshot=taken.name)


def _official(sample: Sample) -> dict[str, int]:
    """The official counts, with the decided papers where all that make them up are there."""
    said = dict(sample.form.official)
    if {"accepted", "rejected"} <= said.keys():
        said["decided"] = said["accepted"] + said["rejected"] + said.get("workshop", 0)
    return said
