"""Acceptance: what was decided, by the ratings that a paper had."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from analysis.errors import Trouble
from analysis.sample import Sample
from analysis.snapshots import DECIDED, OUTCOMES
from analysis.statistics import register
from analysis.statistics.intervals import DRAWS, estimates, shares_of_papers
from analysis.statistics.ledger import require_accepted
from analysis.statistics.ratings import text_of


def ways(sample: Sample) -> dict[str, np.ndarray]:
    """The two ways to treat papers that were withdrawn, by name: a mask of the papers that are counted.

    "left out" keeps decided papers (accepted, rejected, workshop), "as rejected" every paper with a review, where
    whatever was not accepted counts as rejected. Where only the accepted are known (2026) there is only the second.
    Trouble where it is not known who was accepted.
    """
    require_accepted(sample)
    reviewed = (sample.papers["reviews"] > 0).to_numpy()
    decided = {"left out": reviewed & sample.papers["outcome"].isin(DECIDED).to_numpy()}
    return {**(decided if sample.snapshot.outcomes == "complete" else {}), "as rejected": reviewed}


def usual(frame: pd.DataFrame) -> pd.DataFrame:
    """Of a frame with both ways to treat withdrawn papers the first: left out, or where that is not known as rejected."""
    first = frame["withdrawn"].iloc[:1].tolist()
    return frame[frame["withdrawn"].isin(first)].reset_index(drop=True)


def is_accepted(sample: Sample) -> np.ndarray:
    """Whether each paper was accepted. Workshop papers of 2017 and 2018 were not."""
    return (sample.papers["outcome"] == "accepted").to_numpy()


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


@register("acceptance-by-average")
def acceptance_by_average(sample: Sample) -> pd.DataFrame:
    """What share of the papers was accepted at each exact paper average?

    One row for each average that occurs, ascending, without bins. `withdrawn` says how withdrawn papers are treated:
    "left out" (value is accepted / decided) or "as rejected" (accepted / reviewed: everything that was not accepted);
    of 2026, where only the accepted are known, there is only the second. Wilson limits. Workshop papers were not
    accepted.

    Checked against the half-point bins of ICLR 2020, decided papers.
    """
    return _both_ways(sample, sample.papers["average"].to_numpy(), _averages)


def _averages(rows: pd.DataFrame) -> pd.DataFrame:
    found = accepted_of(rows["key"].to_numpy(), rows["accepted"].to_numpy())
    return found.rename(columns={"key": "average"})


@register("acceptance-by-profile", shares=("value", "low", "high"))
def acceptance_by_profile(sample: Sample) -> pd.DataFrame:
    """What share of the papers was accepted with exactly these ratings?

    One row for each set of ratings that occurs, written lowest first, by average and then by ratings; `withdrawn` as
    in acceptance-by-average. Wilson limits: many rows are of few papers, and say so by their width and `n`.
    """
    profiles = sample.profiles()
    kinds, kind = np.unique(profiles, axis=0, return_inverse=True)
    levels = np.asarray(sample.scale.levels, dtype=np.int64)
    n = kinds.sum(axis=1)
    average = np.divide(kinds @ levels, n, out=np.full(len(kinds), np.nan), where=n > 0)
    texts = [text_of(np.repeat(levels, counts)) for counts in kinds]
    named = pd.DataFrame({"ratings": texts, "reviews": n, "average": average})

    def told(rows: pd.DataFrame) -> pd.DataFrame:
        found = accepted_of(rows["key"].to_numpy(), rows["accepted"].to_numpy())
        which = found["key"].to_numpy(dtype=np.int64)
        listed = pd.concat([named.iloc[which].reset_index(drop=True), found.drop(columns="key")], axis=1)
        return listed.sort_values(["average", "reviews", "ratings"], ignore_index=True)

    return _both_ways(sample, kind.ravel(), told)


def _both_ways(sample: Sample, key: np.ndarray, told: Callable[[pd.DataFrame], pd.DataFrame]) -> pd.DataFrame:
    """A frame of the papers' keys and fates, told for each way to treat withdrawn papers."""
    rows = pd.DataFrame({"key": key, "accepted": is_accepted(sample)})
    parts = {way: told(rows[mask]) for way, mask in ways(sample).items()}
    return by_way(parts)


def by_way(parts: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """The frames below each other, the way to treat withdrawn papers in front."""
    some = {way: frame for way, frame in parts.items() if len(frame)} or parts
    frames = [frame.assign(withdrawn=way) for way, frame in some.items()]
    joined = pd.concat(frames, ignore_index=True)
    return joined[["withdrawn", *joined.columns.drop("withdrawn")]]


def accepted_of(key: np.ndarray, accepted: np.ndarray) -> pd.DataFrame:
    """For each value of a key, ascending: key, accepted, value, low, high (Wilson), n."""
    found, row, n = np.unique(key, return_inverse=True, return_counts=True)
    successes = np.bincount(row[accepted], minlength=len(n))
    return pd.DataFrame({"key": found, "accepted": successes, **shares_of_papers(successes, n), "n": n})


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
