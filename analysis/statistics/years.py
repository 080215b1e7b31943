"""Years: one row each, and which of them may be compared."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, starmap

import numpy as np
import pandas as pd

from analysis.sample import Sample
from analysis.statistics import register
from analysis.statistics.intervals import DRAWS, estimates
from analysis.statistics.ratings import attained
from analysis.venues import Scale


@register("years", takes="samples")
def years(samples: Sequence[Sample], draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """How do the years differ in ratings, and which of them may be compared?

    One row a sample, in order of time. `mean` and `sd` are over ratings, `mean_of_averages` over papers. `value` is
    the share of ratings on the accept side, resampled by paper: it and ranks are what can be set side by side across
    scales, if one takes it that "6 or more" means the same on each. Means cannot: `difference` (of `mean` to the row
    before) is given only where `comparable_with_previous` holds, that is the same declared scale and the same stage.
    Years differ more than their intervals say: never pool them.
    """
    ordered = sorted(samples, key=lambda sample: (sample.snapshot.year, sample.snapshot.order))
    frame = pd.DataFrame([_row(sample, draws, seed) for sample in ordered])
    comparable = [False, *starmap(_comparable, pairwise(ordered))]
    return frame.assign(comparable_with_previous=comparable, difference=frame["mean"].diff().where(comparable))


def scale_text(scale: Scale) -> str:
    """A scale as its levels, ``1 3 6 8``; said to be undeclared where the levels are only those seen."""
    levels = " ".join(map(str, scale.levels))
    return levels if scale.declared else f"{levels} (undeclared)"


def _comparable(before: Sample, after: Sample) -> bool:
    same_stage = before.snapshot.stage == after.snapshot.stage
    return same_stage and before.scale.declared and after.scale.declared and before.scale.levels == after.scale.levels


def _row(sample: Sample, draws: int, seed: int) -> dict[str, object]:
    papers = sample.papers[sample.papers["reviews"] > 0]
    n, total, squares = (int(papers[name].sum()) for name in ("reviews", "total", "squares"))
    average = attained(sample)
    return {
        "year": sample.snapshot.year,
        "snapshot": sample.snapshot.name,
        "stage": sample.snapshot.stage,
        "scale": scale_text(sample.scale),
        "papers": len(papers),
        "reviews": n,
        "reviews_per_paper": n / len(papers) if len(papers) else np.nan,
        "mean": total / n if n else np.nan,
        "sd": standard_deviation(n, total, squares),
        "mean_of_averages": (average["average"] @ average["count"]) / len(papers) if len(papers) else np.nan,
        **_accept_side(sample, papers, draws, seed),
        "n": n,
    }


def standard_deviation(n: int, total: int, squares: int) -> float:
    """The sample standard deviation from exact sums; NaN for fewer than two values."""
    return float(np.sqrt((n * squares - total**2) / (n * (n - 1)))) if n > 1 else np.nan


def _accept_side(sample: Sample, papers: pd.DataFrame, draws: int, seed: int) -> dict[str, float]:
    if sample.scale.accept_from is None:
        return dict.fromkeys(("value", "low", "high"), np.nan)
    counts = papers[["accept_side", "reviews"]].to_numpy()
    columns = estimates(counts, lambda sums: sums[:, :1] / sums[:, 1:], draws, seed)
    return {name: value[0] for name, value in columns.items()}
