"""Words about the texts and times of reviews."""

from __future__ import annotations

import pandas as pd

from analysis.words.common import NOTHING_YET, WILSON, Words, listed, of_reviews, percent

CLUSTERED = "Limits: 95 %, with the variance between papers, since the reviews of a paper are not independent."


@of_reviews
def length_curves(frame: pd.DataFrame, by: str) -> Words:
    frame = frame[frame["n"] >= min(20, frame["n"].max())]
    half = frame[frame["value"] >= 0.5].drop_duplicates(by).sort_values(["words", by])
    short, long, n = half.iloc[0], half.iloc[-1], int(frame.drop_duplicates(by)["n"].sum())
    title = f"Half of the reviews of {by} {_plain(long[by])} have more than {int(long['words']):,} words, of {by} {_plain(short[by])} more than {int(short['words']):,}"
    if len(half) == 1:
        title = f"Half of the reviews have more than {int(long['words']):,} words"
    caption = (
        f"Share of {n:,} reviews that have at most so many words (all text fields of the form), by {by}; "
        f"groups of fewer than 20 reviews are left out. {CLUSTERED}"
    )
    medians = ", ".join(f"{_plain(getattr(row, by))}: {int(row.words):,}" for row in half.sort_values(by).itertuples())
    return Words(title, caption, f"Curves of review length by {by}. Medians: {medians}.")


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


@of_reviews
def arrivals(frame: pd.DataFrame) -> Words:
    some = frame[frame["clock"] == "AoE"]
    n, top = int(some["n"].iloc[0]), some.loc[some["count"].idxmax()]
    middle = some.loc[some["value"] >= 0.5].iloc[0]
    title = f"{percent(top['count'] / n)} of {n:,} reviews were posted on one day, {top['day']}; half were there by {middle['day']}"
    caption = (
        f"Reviews by the day on which their first version was posted, anywhere on earth (UTC - 12 h, where deadlines are meant), {n:,} reviews. "
        "Counts are a census and have no interval."
    )
    alt = f"First {some['day'].iloc[0]}, last {some['day'].iloc[-1]}."
    return Words(title, caption, f"Bar chart of reviews by day. {alt}")


@of_reviews
def hours(frame: pd.DataFrame) -> Words:
    some = frame[frame["clock"] == "UTC"]
    top, low = some.loc[some["value"].idxmax()], some.loc[some["value"].idxmin()]
    title = (
        f"Most reviews are posted between {top['hour']}:00 and {(top['hour'] + 1) % 24}:00 UTC ({percent(top['value'], 1)}), "
        f"fewest between {low['hour']}:00 and {(low['hour'] + 1) % 24}:00 ({percent(low['value'], 1)})"
    )
    caption = (
        f"Share of {int(some['n'].iloc[0]):,} reviews by the hour in which their first version was posted. Where reviewers live is not "
        f"known, so neither is their own hour. {CLUSTERED}"
    )
    return Words(title, caption, f"Bar chart of hours, UTC. {listed(some, 'hour')}.")


@of_reviews
def discussion(frame: pd.DataFrame) -> Words:
    every = frame[frame["author_kind"] == "all"].iloc[0]
    kinds = frame[(frame["author_kind"] != "all") & (frame["comments"] > 0)]
    if kinds.empty:
        return NOTHING_YET
    top = kinds.loc[kinds["value"].idxmax()]
    who = {"authors": "authors", "reviewer": "reviewers", "public": "the public"}.get(
        top["author_kind"], top["author_kind"]
    )
    title = f"A paper has {every['value']:.1f} public comments, {percent(top['comments'] / every['comments'])} of them by {who}"
    caption = (
        f"Public comments per paper by who kind wrote them, {int(every['comments']):,} comments on {int(every['n']):,} papers; notes that withdraw a "
        "paper are not counted. Bars: 95 % bootstrap over papers."
    )
    alt = ", ".join(
        f"{row.author_kind}: {row.value:.2f} a paper, on {percent(row.share)} of papers" for row in kinds.itertuples()
    )
    return Words(title, caption, f"Bar chart of comments. {alt}.")


@of_reviews
def thread_lengths(frame: pd.DataFrame) -> Words:
    none, n = frame.iloc[0], int(frame["n"].max())
    title = f"{percent(none['value'])} of {n:,} papers have no public comment, {percent(frame.iloc[-1]['value'])} have {frame.iloc[-1]['comments']}"
    return Words(
        title,
        f"Papers by their number of public comments ({n:,} papers). {WILSON}",
        f"Bar chart. {listed(frame, 'comments')}.",
    )
