"""Acceptance: what was decided, by the ratings that a paper had."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.errors import Trouble
from analysis.sample import Sample
from analysis.snapshots import OUTCOMES
from analysis.statistics import register
from analysis.statistics.intervals import DRAWS, estimates, shares_of_papers
from analysis.statistics.ledger import require_accepted


@register("sixes")
def sixes(sample: Sample) -> pd.DataFrame:
    """What share of the papers was accepted, by how many of their ratings are on the accept side?

    A rating of 6 or more is on the accept side of every ICLR scale. Rows: first all papers (`reviews` is "all"), then
    the papers with 1, 2, ... reviews; within each, `accept_side` from 0 up; what no paper has gets no row. `value` is
    accepted / n of all reviewed papers, withdrawn ones included, with Wilson limits. It counts past papers by ratings
    of this snapshot: scores held after the discussion partly follow the decision in the making, and it predicts
    nothing for one paper. Refused where it is not known who was accepted (2024), or which ratings accept.
    """
    require_accepted(sample)
    if sample.scale.accept_from is None:
        raise Trouble(f"{sample.snapshot.title}: which ratings are on the accept side is not declared in venues.toml.")
    papers = sample.papers[sample.papers["reviews"] > 0]
    alike = [("all", papers), *((str(reviews), some) for reviews, some in papers.groupby("reviews"))]
    return pd.concat([_by_accept_side(name, some) for name, some in alike], ignore_index=True)


def _by_accept_side(reviews: str, papers: pd.DataFrame) -> pd.DataFrame:
    side = papers["accept_side"].to_numpy()
    accept_side, row, n = np.unique(side, return_inverse=True, return_counts=True)
    accepted = np.bincount(row[papers["outcome"] == "accepted"], minlength=len(n))
    columns = {"reviews": reviews, "accept_side": accept_side, "accepted": accepted}
    return pd.DataFrame({**columns, **shares_of_papers(accepted, n), "n": n})


@register("averages-by-outcome", shares=())
def averages_by_outcome(sample: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """How far apart are the averages of accepted papers and of all others?

    `value` is the mean of the paper averages, with a bootstrap over the papers of the row. "everything else" is every
    reviewed paper that was not accepted, withdrawn ones included; the outcomes it is made of follow where they are
    completely known and occur. Checked against the 2020 table of shaohua0116/ICLR2020-OpenReviewData (6.2431 and
    3.4246).
    """
    require_accepted(sample)
    papers = sample.papers[sample.papers["reviews"] > 0]
    accepted = papers["outcome"] == "accepted"
    rows = {"accepted": papers[accepted], "everything else": papers[~accepted]}
    if sample.snapshot.outcomes == "complete":
        seen = set(papers["outcome"])
        rows |= {name: papers[papers["outcome"] == name] for name in OUTCOMES[1:] if name in seen}
    return pd.DataFrame([{"outcome": name, **_mean_average(some, draws, seed)} for name, some in rows.items()])


def _mean_average(papers: pd.DataFrame, draws: int, seed: int) -> dict[str, object]:
    columns = np.column_stack([papers["average"], np.ones(len(papers))])
    estimated = estimates(columns, lambda sums: sums[:, :1] / sums[:, 1:], draws, seed)
    return {**{name: value[0] for name, value in estimated.items()}, "n": len(papers)}
