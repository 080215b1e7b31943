"""Words about what gets in."""

from __future__ import annotations

import pandas as pd

from analysis.words.common import WILSON, Words, listed, of_reviews, percent


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
    return Words(title, caption, f"Acceptance by ratings on the accept side. {listed(overall, 'accept_side')}.")


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
    return Words(title, caption, f"Accepted with three ratings on the accept side. {listed(three, 'year')}.")


def ledger(frame: pd.DataFrame) -> Words:
    known = frame.dropna(subset=["papers"])
    submitted = int(known.loc[known["item"] == "submitted", "papers"].iloc[0])
    caption = f"What became of {submitted:,} submissions, against the official counts; an empty cell is not known."
    counts = ", ".join(f"{row.item} {int(row.papers):,}" for row in known.itertuples())
    return Words(f"{submitted:,} submissions", caption, f"Counts of submissions. {counts}.")
