"""Texts and times: how long reviews are, when they came, which are missing, and how much is discussed. Of who wrote them only the kind is known."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pandas as pd

from analysis.errors import Trouble
from analysis.sample import Sample
from analysis.snapshots import Snapshot
from analysis.statistics import register
from analysis.statistics.intervals import DRAWS, clustered_shares, estimates, shares_of_papers
from analysis.statistics.ledger import LEFT

CLOCKS = {"UTC": 0, "AoE": -12}  # hours to UTC; anywhere on earth is where a day ends last
POINTS = 51  # of a curve: every second percent
MOST = 10  # comments: papers with more are counted together
WRITERS = ("authors", "reviewer", "area_chair", "program_chairs", "public", "venue")
# Notes that take a paper out are no discussion.
ADMINISTRATIVE = ("withdraw", "desk")
QUANTILES = {"tenth": 0.1, "quarter": 0.25, "value": 0.5, "three_quarters": 0.75, "nine_tenths": 0.9}

WHAT = {"words": "texts", "created_at": "times", "comments": "comments"}


def has(sample: Sample, what: str) -> bool:
    """Whether the snapshot knows `words` or `created_at` of any review, or has `comments`; bundled counts know none."""
    if what == "comments":
        return sample.comments is not None and len(sample.comments) > 0
    return what in sample.reviews and bool(sample.reviews[what].notna().any())


def require(sample: Sample, what: str) -> None:
    """Trouble, in one sentence, where the snapshot has none of it."""
    if len(sample.reviews) and not has(sample, what):
        raise Trouble(
            f"{_named(sample.snapshot)} has no {WHAT[what]}: `python -m analysis fetch --source api --years {sample.snapshot.year}` brings them."
        )


def _named(snapshot: Snapshot) -> str:
    return f"{snapshot.title} ({snapshot.source})"


# Lengths ------------------------------------------------------------------------------------------------------------


@register("lengths", columns=("words",), shares=())
def lengths(sample: Sample) -> pd.DataFrame:
    """How many words has a review?

    `value` is the median of the reviews' words (all text fields of the form together), beside it the lengths that a
    tenth, a quarter, three quarters and nine tenths do not exceed. Limits of the median are Woodruff's (1952): those of
    the share of reviews that are no longer, whose variance is taken between papers, since the reviews of a paper are
    not independent. Forms ask for different fields, so lengths of two years are lengths of two forms.
    """
    words, paper = _words(sample)
    row = {name: _quantile(words, share) for name, share in QUANTILES.items()}
    half = 0.0
    if len(words):
        shorter = clustered_shares(_by_paper(paper, words <= row["value"]), _by_paper(paper))
        half = (shorter["high"][0] - shorter["low"][0]) / 2
    low, high = (_quantile(words, 0.5 + side * half) for side in (-1, 1))
    return pd.DataFrame([{**row, "low": low, "high": high, "n": len(words)}])[[*QUANTILES, "low", "high", "n"]]


@register("length-curve", columns=("words",))
def length_curve(sample: Sample) -> pd.DataFrame:
    """What share of the reviews has at most so many words?

    The empirical distribution function at the lengths of every second percent: `value` is the share of reviews with at
    most `words` words. Limits take the variance between papers (linearised ratio; Cochran 1977, 6.13), since the reviews of a
    paper are not independent.
    """
    words, paper = _words(sample)
    at = np.unique([_quantile(words, share) for share in np.linspace(0, 1, POINTS)]) if len(words) else np.array([])
    size = _by_paper(paper)
    shares = [clustered_shares(_by_paper(paper, words <= most), size) for most in at]
    columns = {name: np.array([share[name][0] for share in shares], dtype=float) for name in ("value", "low", "high")}
    return pd.DataFrame({"words": at.astype(np.int64), **columns, "n": len(words)})


def _words(sample: Sample) -> tuple[np.ndarray, np.ndarray]:
    """Words of the reviews in ascending order, and the paper of each as a small whole number."""
    require(sample, "words")
    if "words" not in sample.reviews:
        return np.array([]), np.array([], dtype=np.int64)
    known = sample.reviews.loc[sample.reviews["words"].notna(), ["words", "paper"]]
    order = np.argsort(known["words"].to_numpy(dtype=float), kind="stable")
    return known["words"].to_numpy(dtype=float)[order], pd.factorize(known["paper"], sort=True)[0][order]


def _quantile(ascending: np.ndarray, share: float) -> float:
    """The shortest length that such a share of reviews does not exceed."""
    if not len(ascending):
        return np.nan
    return float(ascending[min(max(int(np.ceil(share * len(ascending) - 1e-9)) - 1, 0), len(ascending) - 1)])


def _by_paper(paper: np.ndarray, which: np.ndarray | None = None) -> np.ndarray:
    """How many (of which) reviews each paper has, as a column."""
    return np.bincount(paper, weights=which, minlength=paper.max(initial=-1) + 1)[:, np.newaxis]


# Times --------------------------------------------------------------------------------------------------------------


@register("arrivals", columns=("created_at",))
def arrivals(sample: Sample) -> pd.DataFrame:
    """On which days were the reviews posted?

    A row a clock (UTC, and AoE, which is UTC - 12 h: deadlines are meant there) and day from the first review to the
    last: `count` reviews, `value` the share of all that were there by the end of the day. Counts are a census. The time is that of
    the review's first version.
    """
    frames = [_days(clock, times) for clock, times in _clocks(sample)]
    return pd.concat(frames, ignore_index=True)


def _days(clock: str, times: np.ndarray) -> pd.DataFrame:
    day = times.astype("datetime64[D]")
    days = np.arange(day.min(), day.max() + 1) if len(day) else day
    count = np.bincount((day - day.min()).astype(np.int64)) if len(day) else np.array([], dtype=np.int64)
    columns = {"count": count, "value": count.cumsum() / max(len(day), 1), "n": len(day)}
    return pd.DataFrame({"clock": clock, "day": [str(one) for one in days], **columns})


@register("hours", columns=("created_at",))
def hours(sample: Sample) -> pd.DataFrame:
    """At which hour of the day are reviews posted?

    A row a clock (UTC and AoE, UTC - 12 h) and hour; `value` is the share of the reviews. Limits take the variance between
    papers (linearised), since the reviews of a paper are not independent. Where reviewers live is not known, so neither is
    their own hour.
    """
    require(sample, "created_at")
    known = _timed(sample)
    paper = pd.factorize(known["paper"], sort=True)[0]
    frames = []
    for clock, offset in CLOCKS.items():
        hour = (known["created_at"].to_numpy(dtype="datetime64[h]").astype(np.int64) + offset) % 24
        cells = np.bincount(paper * 24 + hour, minlength=24 * (paper.max(initial=-1) + 1)).reshape(-1, 24)
        shares = clustered_shares(cells, cells.sum(axis=1, keepdims=True))
        columns = {"hour": np.arange(24), "count": cells.sum(axis=0), **shares, "n": len(known)}
        frames.append(pd.DataFrame({"clock": clock, **columns}))
    return pd.concat(frames, ignore_index=True)


def _timed(sample: Sample) -> pd.DataFrame:
    if "created_at" not in sample.reviews:
        return pd.DataFrame({"paper": np.array([], dtype=np.int64), "created_at": np.array([], dtype="datetime64[us]")})
    return sample.reviews.loc[sample.reviews["created_at"].notna(), ["paper", "created_at"]]


def _clocks(sample: Sample):
    require(sample, "created_at")
    times = _timed(sample)["created_at"].to_numpy(dtype="datetime64[s]")
    return [(clock, times + np.timedelta64(offset, "h")) for clock, offset in CLOCKS.items()]


# Missing and late ---------------------------------------------------------------------------------------------------


@register("missing-reviews", population="all", columns=("created_at",))
def missing_reviews(sample: Sample) -> pd.DataFrame:
    """How many papers lack reviews, and how many reviews came late?

    Of papers that were neither withdrawn nor desk-rejected (as far as is known): those without a review, and those with
    fewer than the most frequent number, with Wilson limits. Of reviews: those posted on a later day (UTC) than the release and than the
    deadline for reviews, where venues.toml knows these days (`released`, `reviews_due`); limits take the variance between papers. A
    day or a time that is not known leaves its row empty, and `note` says so. Reviews that never came back after an edit, or were deleted, are
    not seen.
    """
    papers = sample.papers[~sample.papers["outcome"].isin(LEFT)]
    reviews = papers["reviews"].to_numpy()
    some = reviews[reviews > 0]
    usual = int(np.bincount(some).argmax()) if len(some) else 0
    rows = [
        _lacking("no review", int((reviews == 0).sum()), len(papers)),
        _lacking(
            f"fewer than {usual} reviews" if usual else "fewer reviews than usual",
            int((reviews < usual).sum()),
            len(papers),
        ),
        _late(sample, "reviews after the release", sample.form.released),
        _late(sample, "reviews after their deadline", sample.form.reviews_due),
    ]
    frame = pd.DataFrame(rows, columns=["item", "day", "count", "value", "low", "high", "n", "note"])
    return frame.astype({"count": "Int64"})


def _lacking(item: str, count: int, n: int) -> dict[str, object]:
    share = {name: float(value) for name, value in shares_of_papers(count, n).items()}
    return {"item": item, "day": "", "count": count, **share, "n": n, "note": ""}


def _late(sample: Sample, item: str, day: date | None) -> dict[str, object]:
    known = _timed(sample)
    row = {
        "item": item,
        "day": str(day or ""),
        "count": None,
        **dict.fromkeys(("value", "low", "high"), np.nan),
        "n": len(known),
    }
    if day is None:
        return {**row, "note": "venues.toml does not know the day"}
    if not len(known):
        return {**row, "note": "the snapshot has no times"}
    late = known["created_at"].to_numpy(dtype="datetime64[s]") >= np.datetime64(day + timedelta(days=1))
    paper = pd.factorize(known["paper"], sort=True)[0]
    share = {
        name: float(value[0]) for name, value in clustered_shares(_by_paper(paper, late), _by_paper(paper)).items()
    }
    return {**row, "count": int(late.sum()), **share, "note": ""}


# Discussion ---------------------------------------------------------------------------------------------------------


@register("discussion", population="reviewed", columns=("comments",), shares=("share",))
def discussion(sample: Sample, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """How many comments has a paper, and which kind of people write them?

    A row a kind of writer, and one for all: `value` is public comments per paper, its limits resample papers; `papers` have at
    least one (`share`), `words` is the median length. Notes that withdraw or desk-reject a paper are not counted.
    Replies of authors count as `public` where the year signed them with names (2017). Only what everyone may read is here.
    """
    comments = _comments(sample)
    row = np.searchsorted(sample.papers["paper"].to_numpy(), comments["paper"].to_numpy())
    kinds = {kind: (comments["author_kind"] == kind).to_numpy() for kind in WRITERS}
    kinds = {**kinds, "all": np.ones(len(comments), dtype=bool)}
    cells = np.column_stack([np.bincount(row[mask], minlength=len(sample.papers)) for mask in kinds.values()])
    counted = np.column_stack([cells, np.ones(len(cells), dtype=np.int64)])
    columns = estimates(counted, lambda sums: sums[:, :-1] / sums[:, -1:], draws, seed)
    having = (cells > 0).sum(axis=0)
    n = np.full(len(kinds), len(sample.papers))
    words = [float(comments["words"][mask].median()) if mask.any() else np.nan for mask in kinds.values()]
    share = shares_of_papers(having, n)["value"]
    sizes = {"comments": cells.sum(axis=0), "papers": having, "share": share}
    return pd.DataFrame({"author_kind": list(kinds), **sizes, **columns, "words": words, "n": n})


@register("thread-lengths", columns=("comments",))
def thread_lengths(sample: Sample) -> pd.DataFrame:
    """How many papers have so many comments?

    A row for each number of public comments, from 0; papers with ten or more are counted together. `value` is the share
    of papers, with Wilson limits.
    """
    comments = _comments(sample)
    row = np.searchsorted(sample.papers["paper"].to_numpy(), comments["paper"].to_numpy())
    each = np.minimum(np.bincount(row, minlength=len(sample.papers)), MOST)
    count = np.bincount(each, minlength=MOST + 1)
    n = np.full(MOST + 1, len(each))
    label = [*map(str, range(MOST)), f"{MOST} or more"]
    return pd.DataFrame({"comments": label, "count": count, **shares_of_papers(count, n), "n": n})


def _comments(sample: Sample) -> pd.DataFrame:
    require(sample, "comments")
    if sample.comments is None:
        return pd.DataFrame({"paper": [], "kind": [], "author_kind": [], "words": []}).astype({"paper": np.int64})
    return sample.comments[~sample.comments["kind"].str.startswith(ADMINISTRATIVE)]
