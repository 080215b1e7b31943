"""One paper: what became of papers like it, and where it stood from snapshot to snapshot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.sample import Sample
from analysis.snapshots import OUTCOMES
from analysis.statistics import register
from analysis.statistics.intervals import shares_of_papers
from analysis.statistics.ledger import tiers
from analysis.statistics.standing import POSITION, Given, alike, given, positions


@register("alike", takes="ratings", population="all")
def alike_outcomes(sample: Sample, ratings: Sequence[int] | Given) -> pd.DataFrame:
    """What became of the reviewed papers with such ratings?

    The papers of the last row of `fate`, by the latest known outcome, accepted ones by tier: a row an outcome that any
    reviewed paper of the snapshot has; `value` is its share of these papers, with Wilson limits, and `like` says what
    they have in common. `undecided` where nobody knows. It counts past papers and predicts nothing for one.
    """
    point = given(sample, ratings)
    like, papers = alike(sample, point)
    reviewed = sample.papers[sample.papers["reviews"] > 0]
    rows = [row for row in _fates(sample) if (_is(reviewed, *row)).any()]
    count = np.array([int(_is(papers, *row).sum()) for row in rows], dtype=np.int64)
    n = np.full(len(count), len(papers))
    named = {"outcome": [outcome for outcome, _ in rows], "tier": [tier for _, tier in rows]}
    return pd.DataFrame({**named, "count": count, **shares_of_papers(count, n), "n": n, "like": like})


def _fates(sample: Sample) -> list[tuple[str, str | None]]:
    """Outcomes with their tiers, the best first; accepted papers without a tier come after those with one."""
    accepted = [("accepted", tier) for tier in (*tiers(sample), None)]
    return [*accepted, *((outcome, None) for outcome in OUTCOMES if outcome != "accepted")]


def _is(papers: pd.DataFrame, outcome: str, tier: str | None) -> pd.Series:
    same = papers["outcome"] == outcome
    if outcome != "accepted":
        return same
    return same & (papers["tier"].isna() if tier is None else papers["tier"] == tier)


def over_time(samples: Sequence[Sample], ratings: Sequence[Sequence[int]]) -> pd.DataFrame:
    """Where one paper stood among the reviewed papers of each snapshot: a row a snapshot in which it has ratings.

    `below`, `top` and the others are those of `positions`. Its place can fall while its average stays, since the
    others move too.
    """
    rows = []
    for sample, some in zip(samples, ratings, strict=True):
        if len(some):
            point = given(sample, some)
            place = positions(sample, point).set_index("population").loc["reviewed", [*POSITION, "n"]]
            head = {"snapshot": sample.snapshot.name, "stage": sample.snapshot.stage, "ratings": point.text}
            rows.append({**head, "average": float(point.lowest), **place})
    frame = pd.DataFrame(rows, columns=["snapshot", "stage", "ratings", "average", *POSITION, "n"])
    return frame.astype({"n": "int64"})


def example(sample: Sample) -> list[int]:
    """The most frequent ratings of a paper, of several equally frequent ones the highest; empty without a review."""
    profiles = sample.profiles()
    kinds, count = np.unique(profiles[profiles.sum(axis=1) > 0], axis=0, return_counts=True)
    if not len(kinds):
        return []
    levels = np.array(sample.scale.levels)
    most = kinds[count == count.max()]
    best = most[np.lexsort([*most.T, most @ levels / most.sum(axis=1)])[-1]]
    return np.repeat(levels, best).tolist()
