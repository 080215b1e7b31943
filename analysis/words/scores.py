"""Words about ratings, averages and thresholds."""

from __future__ import annotations

import pandas as pd

from analysis.words.common import BY_PAPER, WILSON, Words, listed, of_reviews, percent


@of_reviews
def ratings(frame: pd.DataFrame) -> Words:
    n, accepting = int(frame["n"].max()), frame[frame["accept_side"].fillna(False).astype(bool)]
    most = frame.loc[frame["count"].idxmax()]
    title = f"{percent(accepting['value'].sum())} of {n:,} ratings are on the accept side; the most frequent is {most['rating']}"
    if accepting.empty:
        title = f"The most frequent of {n:,} ratings is {most['rating']}"
    caption = f"Share of {n:,} individual ratings at each level of the form's scale; a level nobody chose is drawn as 0. {BY_PAPER}"
    return Words(title, caption, f"Bar chart of ratings. {listed(frame, 'rating')}.")


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
        title, f"Share accepted. {caption} {WILSON}", f"Acceptance by group of averages. {listed(known, 'group')}."
    )
