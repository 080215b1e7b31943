"""Words about one paper. Titles of papers are never in them: they are told as plain text."""

from __future__ import annotations

import pandas as pd

from analysis.words.common import WILSON, Words, of_reviews, percent


@of_reviews
def standing(frame: pd.DataFrame, positions: pd.DataFrame, ratings: str) -> Words:
    """`frame` is that of the averages of all papers, `positions` of these ratings."""
    at = positions.set_index("population").loc["reviewed"]
    n = int(at["n"])
    title = f"{ratings}: above {percent(at['below'])} of {n:,} papers, level with {percent(at['tied'])}"
    caption = (
        f"Papers by the exact average of their ratings, {n:,} papers with a review; marked is the average of {ratings}. "
        f"Read strictly that is top {percent(at['top'], 1)}, by mid-rank {percent(at['top_mid_rank'], 1)}, counting the level ones as "
        f"passed {percent(at['top_at_or_below'], 1)}."
    )
    return Words(title, caption, f"Needle plot of paper averages with one marked. {title}.")


def panel(frame: pd.DataFrame) -> Words:
    snapshots = list(dict.fromkeys(frame["snapshot"]))
    first, last = (frame.loc[frame["snapshot"] == name, "rating"] for name in (snapshots[0], snapshots[-1]))
    title = f"{len(first)} ratings with an average of {first.mean():.2f}"
    if len(snapshots) > 1:
        moved = "stayed at" if first.mean() == last.mean() else "went to"
        title = f"The average was {first.mean():.2f} on {snapshots[0]} and {moved} {last.mean():.2f} ({snapshots[-1]})"
    caption = (
        "The ratings of the paper at each snapshot, a dot a review, and their average. A line joins a review to itself, where the "
        "snapshots tell which one it is. Reviews are numbered, reviewers are not told."
    )
    said = "; ".join(f"{name}: {_ratings(frame, name)}" for name in snapshots)
    return Words(title, caption, f"Ratings by snapshot. {said}.")


def _ratings(frame: pd.DataFrame, snapshot: str) -> str:
    return " ".join(map(str, sorted(frame.loc[frame["snapshot"] == snapshot, "rating"])))


@of_reviews
def alike(frame: pd.DataFrame) -> Words:
    n, like = int(frame["n"].iloc[0]), frame["like"].iloc[0]
    accepted = frame.loc[frame["outcome"] == "accepted", "count"].sum() / n
    title = f"Of {n:,} papers with {like}, {percent(accepted)} were accepted"
    undecided = frame.loc[frame["outcome"] == "undecided", "count"].sum()
    if undecided == n or (undecided and not accepted):
        title = f"What became of the {n:,} papers with {like} is not known"
    caption = (
        f"Papers with {like}, by the latest known outcome. It counts past papers and predicts nothing for one. {WILSON}"
    )
    said = ", ".join(
        f"{row.tier if isinstance(row.tier, str) else row.outcome}: {percent(row.value)}" for row in frame.itertuples()
    )
    return Words(title, caption, f"Bars of outcomes. {said}.")
