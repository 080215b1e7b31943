"""The words that go with a figure: its title, caption and alt text, made from the frame that is drawn.

A title states the finding, a caption says what is plotted, from how much, and what the interval is; an alt text gives the main
numbers to someone who cannot see the picture. No number is typed by hand.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import pandas as pd

from analysis.errors import percent as printed

BY_PAPER = "Bars: 95 % bootstrap over papers, since the reviews of a paper are not independent."
WILSON = "Bars: Wilson 95 % limits."


class Words(NamedTuple):
    """Title, caption and alt text of one figure, in the order in which a book takes them."""

    title: str
    caption: str
    alt: str = ""


NOTHING_YET = Words(
    "No reviews are public yet",
    "There is nothing to count: the reviews of this snapshot are not out.",
    "An empty figure.",
)


def of_reviews(tell: Callable[..., Words]) -> Callable[..., Words]:
    """Words about a frame of no reviews, as on a conference's first days, say just that."""

    @functools.wraps(tell)
    def told(frame: pd.DataFrame, *others) -> Words:
        return tell(frame, *others) if frame["n"].fillna(0).sum() > 0 else NOTHING_YET

    return told


def percent(share: float, digits: int = 0) -> str:
    """0.4700 as ``47 %``."""
    return printed(share, digits)


def _limits(row) -> str:
    return f"{percent(row.low)} to {percent(row.high)}"


def _listed(frame: pd.DataFrame, name: str) -> str:
    return ", ".join(f"{getattr(row, name)}: {percent(row.value)}" for row in frame.itertuples())


@of_reviews
def ratings(frame: pd.DataFrame) -> Words:
    n, accepting = int(frame["n"].max()), frame[frame["accept_side"].fillna(False).astype(bool)]
    most = frame.loc[frame["count"].idxmax()]
    title = f"{percent(accepting['value'].sum())} of {n:,} ratings are on the accept side; the most frequent is {most['rating']}"
    if accepting.empty:
        title = f"The most frequent of {n:,} ratings is {most['rating']}"
    caption = f"Share of {n:,} individual ratings at each level of the form's scale; a level nobody chose is drawn as 0. {BY_PAPER}"
    return Words(title, caption, f"Bar chart of ratings. {_listed(frame, 'rating')}.")


@of_reviews
def averages(frame: pd.DataFrame, top: pd.DataFrame) -> Words:
    n = int(frame["n"].max())
    lines = {share: float(top.loc[top["top"] == share, "value"].iloc[0]) for share in (0.5, 0.25, 0.1)}
    title = f"Half of {n:,} papers average {lines[0.5]:.2f} or more, a tenth {lines[0.1]:.2f} or more"
    caption = (
        f"Papers by the exact average of their ratings ({len(frame):,} different averages of {n:,} papers); "
        "the lines mark where the top 50, 25 and 10 % begin."
    )
    marks = "; ".join(f"top {percent(share)} from {value:.2f}" for share, value in lines.items())
    return Words(title, caption, f"Needle plot of paper averages. {marks}.")


@of_reviews
def top(frame: pd.DataFrame) -> Words:
    n, tenth = int(frame["n"].max()), frame.loc[frame["top"] == 0.1].iloc[0]
    title = f"The top 10 % begin at {tenth['value']:.2f}, as with ratings {tenth['example']}"
    caption = (
        f"Average that a paper needs to be among the top x % of {n:,} (linear interpolation). Averages sit on a lattice, so the "
        "band is the range of the bootstrap over papers, not a 95 % interval; papers exactly at a threshold are counted apart."
    )
    marks = "; ".join(
        f"top {percent(row.top, 1 if row.top == 0.125 else 0)} from {row.value:.2f}" for row in frame.itertuples()
    )
    return Words(title, caption, f"Step curve of thresholds. {marks}.")


@of_reviews
def deciles(frame: pd.DataFrame) -> Words:
    n, known = int(frame["n"].sum()), frame.dropna(subset=["value"])
    caption = (
        f"{n:,} papers in ten groups by average, the highest first. Papers with the same average stay together, "
        f"so groups are unequal ({int(frame['n'].min()):,} to {int(frame['n'].max()):,})."
    )
    if known.empty:
        title = f"Groups of equal averages hold {int(frame['n'].min()):,} to {int(frame['n'].max()):,} papers"
        return Words(
            title, caption, f"Bar chart of ten groups with {', '.join(f'{int(n):,}' for n in frame['n'])} papers."
        )
    first, last = known.iloc[0], known.iloc[-1]
    title = f"Of the highest tenth {percent(first['value'])} were accepted, of the lowest {percent(last['value'])}"
    return Words(
        title, f"Share accepted. {caption} {WILSON}", f"Acceptance by group of averages. {_listed(known, 'group')}."
    )


@of_reviews
def experience(frame: pd.DataFrame, published: pd.DataFrame) -> Words:
    no = published[published["published"] == "no"].iloc[0]
    title = f"{percent(no['value'])} of {int(no['n']):,} reviews are by people who have not published in the area"
    caption = (
        f"What reviewers said of their experience, as shares of {int(no['n']):,} reviews. Not published in the area: the two lower "
        f"levels, {int(no['count']):,} reviews ({_limits(no)}). {BY_PAPER}"
    )
    return Words(title, caption, f"Bar chart of experience. {_listed(frame, 'label')}.")


@of_reviews
def confidence(frame: pd.DataFrame) -> Words:
    n, high = int(frame["n"].max()), frame[frame["level"] >= 4]
    title = f"{percent(high['value'].sum())} of {n:,} reviews are confident or certain (4 or 5 of 5)"
    caption = f"What reviewers said of their confidence, as shares of {n:,} reviews. {BY_PAPER}"
    return Words(title, caption, f"Bar chart of confidence. {_listed(frame, 'level')}.")


@of_reviews
def ratings_by_level(frame: pd.DataFrame, what: str) -> Words:
    known = frame.dropna(subset=["value"])
    first, last = known.iloc[0], known.iloc[-1]
    title = f"The mean rating goes from {first['value']:.2f} at the lowest {what} to {last['value']:.2f} at the highest"
    caption = f"Mean rating by the reviewer's {what}, {int(known['n'].sum()):,} reviews. {BY_PAPER}"
    listed = ", ".join(f"{row.level}: {row.value:.2f}" for row in known.itertuples())
    return Words(title, caption, f"Mean rating by {what}. {listed}.")


@of_reviews
def rating_counts(frame: pd.DataFrame, what: str) -> Words:
    most = frame.loc[frame["value"].idxmax()]
    title = f"At {what} {most['level']}, {percent(most['value'])} of the ratings are a {most['rating']}"
    caption = f"How the reviews of each {what} spread over the ratings, {int(frame['count'].sum()):,} reviews; a row adds up to 100 %."
    return Words(title, caption, f"Heat map of ratings by {what}. The fullest cell: {title}.")


@of_reviews
def panels(frame: pd.DataFrame) -> Words:
    none = frame[frame["published"] == 0].iloc[0]
    title = f"{percent(none['value'])} of {int(none['n']):,} papers had no reviewer who has published in the area"
    caption = f"Papers by how many of their reviewers have published in the area ({int(none['n']):,} papers). {WILSON}"
    return Words(title, caption, f"Bar chart of panels. {_listed(frame, 'published')}.")


@of_reviews
def sixes(frame: pd.DataFrame) -> Words:
    overall = frame[(frame["reviews"] == "all") & (frame["n"] > 0)]
    n, reliable = int(overall["n"].sum()), overall[overall["n"] >= 30]
    none, most = reliable.iloc[0], reliable.iloc[-1]
    title = (
        f"With {int(most['accept_side'])} ratings on the accept side {percent(most['value'])} are accepted, "
        f"with {int(none['accept_side'])} it is {percent(none['value'])}"
    )
    caption = f"Share of {n:,} papers with a review that were accepted, by how many of their ratings are on the accept side. {WILSON}"
    return Words(title, caption, f"Acceptance by ratings on the accept side. {_listed(overall, 'accept_side')}.")


@of_reviews
def sixes_by_year(frame: pd.DataFrame) -> Words:
    three = frame[(frame["reviews"] == "all") & (frame["accept_side"] == 3)].sort_values("year")
    low, high = three["value"].min(), three["value"].max()
    title = f"Three ratings of 6 or more: {percent(low)} to {percent(high)} accepted, depending on the year"
    n = int(frame.loc[frame["reviews"] == "all", "n"].sum())
    caption = (
        f"Share of {n:,} papers with a review that were accepted, by how many of their ratings are on the accept side, a line a "
        f"year. Years differ more than their intervals say. {WILSON}"
    )
    return Words(title, caption, f"Accepted with three ratings on the accept side. {_listed(three, 'year')}.")


@of_reviews
def years(frame: pd.DataFrame) -> Words:
    low, high = frame.loc[frame["value"].idxmin()], frame.loc[frame["value"].idxmax()]
    title = (
        f"Between {percent(low['value'])} ({low['year']}) and {percent(high['value'])} ({high['year']}) "
        "of ratings are on the accept side"
    )
    caption = (
        f"Share of ratings on the accept side, {int(frame['n'].sum()):,} reviews of {len(frame)} years; vertical rules mark a new "
        "scale, hollow marks are scores at release or during the discussion. Means of different scales are not compared. "
        + BY_PAPER
    )
    return Words(title, caption, f"Accept side by year. {_listed(frame, 'year')}.")


def ledger(frame: pd.DataFrame) -> Words:
    known = frame.dropna(subset=["papers"])
    submitted = int(known.loc[known["item"] == "submitted", "papers"].iloc[0])
    caption = f"What became of {submitted:,} submissions, against the official counts; an empty cell is not known."
    listed = ", ".join(f"{row.item} {int(row.papers):,}" for row in known.itertuples())
    return Words(f"{submitted:,} submissions", caption, f"Counts of submissions. {listed}.")
