"""Series: a year day by day, from the first reviews to the decisions."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from analysis.sample import Sample
from analysis.statistics import register
from analysis.statistics.agreement import intraclass, kinds_of, moments_of
from analysis.statistics.intervals import DRAWS, corrected, estimates
from analysis.statistics.ledger import LEFT

ENOUGH = 3  # reviews: what ICLR's reviewer guides have promised each paper since 2018; the usual number differs by year
COUNTS = ("papers", "withdrawn", "short", "reviews", "changed", "up", "down", "n")  # whole numbers that may be missing


@register("series", takes="days", population="all", shares=("value", "low", "high"), columns=("outcome_then",))
def series(samples: Iterable[Sample], draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """How did reviews, ratings and withdrawals come in, from snapshot to snapshot?

    One row a snapshot, in the order given. `papers` are those listed, `withdrawn` those that had been withdrawn by then.
    `short` counts papers neither withdrawn nor desk-rejected by then with fewer than 3 reviews, whatever is usual that
    year, so that days and years count alike. `reviews` are those with a rating. `changed` (`up`, `down`) are ratings that
    differ from the snapshot before, among reviews in both; missing in the first row and where the reviews of two
    snapshots are not known to be the same. `value` is the share of ratings on the accept side, resampled by paper, and
    `agreement` ICC(1) with BCa limits. Where a snapshot does not tell who had been withdrawn (bundled ones from before the
    decisions), `withdrawn` and `short` are missing. Split by a column of reviews, all columns are about such reviews and
    the papers that have one. Most reviews are the same ones from day to day, so the difference between two days is known
    far better than each of them.
    """
    rows, before = [], None
    for sample in samples:
        rows.append({**_row(sample, draws, seed), **_moved(before, sample)})
        before = sample
    return pd.DataFrame(rows, columns=list(_NAMES)).astype(dict.fromkeys(COUNTS, "Int64"))


_NAMES = (
    *("snapshot", "taken", "stage", "papers", "withdrawn", "short", "reviews", "changed", "up", "down"),
    *("value", "low", "high", "agreement", "agreement_low", "agreement_high", "n"),
)


def _row(sample: Sample, draws: int, seed: int) -> dict[str, object]:
    then = sample.papers["outcome_then"].to_numpy(dtype=object)
    told = bool(pd.notna(then).all())
    reviews = sample.papers["reviews"].to_numpy()
    return {
        "snapshot": sample.snapshot.name,
        "taken": f"{sample.snapshot.taken_at:%Y-%m-%d}",
        "stage": sample.snapshot.stage,
        "papers": len(then),
        "withdrawn": int((then == "withdrawn").sum()) if told else None,
        "short": int(((reviews < ENOUGH) & ~np.isin(then.astype(str), LEFT)).sum()) if told else None,
        "reviews": len(sample.reviews),
        **_accept_side(sample, draws, seed),
        **_agreement(sample, draws, seed),
        "n": len(sample.reviews),
    }


def _accept_side(sample: Sample, draws: int, seed: int) -> dict[str, float]:
    if sample.scale.accept_from is None:
        return dict.fromkeys(("value", "low", "high"), np.nan)
    counts = sample.papers.loc[sample.papers["reviews"] > 0, ["accept_side", "reviews"]].to_numpy()
    columns = estimates(counts, lambda sums: sums[:, :1] / sums[:, 1:], draws, seed)
    return {name: value[0] for name, value in columns.items()}


def _agreement(sample: Sample, draws: int, seed: int) -> dict[str, float]:
    """The `icc` of `agreement`, alone: without Krippendorff's alphas it is a matter of milliseconds a day."""
    kinds, counts = kinds_of(sample.profiles())
    moments = moments_of(kinds, sample.scale.levels)
    columns = corrected(moments, counts, lambda sums: intraclass(sums)[:, np.newaxis], draws, seed)
    names = {"value": "agreement", "low": "agreement_low", "high": "agreement_high"}
    return {names[name]: float(value[0]) for name, value in columns.items()}


def _moved(before: Sample | None, after: Sample) -> dict[str, int | None]:
    """How many ratings of the reviews in both are others; a review without a rating on one side is not in both."""
    if before is None or before.snapshot.review_ids != after.snapshot.review_ids:
        return dict.fromkeys(("changed", "up", "down"))
    columns = [sample.reviews[["review", "rating"]].astype({"rating": "int64"}) for sample in (before, after)]
    both = columns[0].merge(columns[1], on="review", suffixes=("_before", "_after"))
    step = (both["rating_after"] - both["rating_before"]).to_numpy()
    return {"changed": int((step != 0).sum()), "up": int((step > 0).sum()), "down": int((step < 0).sum())}
