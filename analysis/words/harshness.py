"""Words about harshness: levels compared on the same paper, and with the decision."""

from __future__ import annotations

import pandas as pd

from analysis.errors import with_sign
from analysis.words.common import BY_PAPER, Words, of_reviews, percent

SAID = {"experience": "experienced", "confidence": "confident"}
FEW = 30  # reviews: the title is about levels with more


@of_reviews
def within_paper(frame: pd.DataFrame, what: str) -> Words:
    known = frame[frame["value"].notna() & (frame["n"] >= FEW)]
    n = int(frame["n"].sum())
    caption = (
        f"Rating points by which reviewers of each {what} lie above or below the average review, on the same papers: least squares with "
        f"an effect for each paper and each level, {n:,} reviews. It compares answers to a form; why they differ it does not tell. {BY_PAPER}"
    )
    listed = ", ".join(f"{row.level}: {with_sign(row.value)}" for row in frame.dropna(subset=["value"]).itertuples())
    alt = f"Dots around zero, a row for each {what}. {listed or 'No level has a value'}."
    if len(known) < 2:
        return Words(f"Too few reviews to compare levels of {what} on the same paper", caption, alt)
    first, last = known.iloc[0], known.iloc[-1]
    difference = last["value"] - first["value"]
    title = (
        f"On the same paper, the most {SAID[what]} reviewers rate {abs(difference):.2f} points "
        f"{'lower' if difference < 0 else 'higher'} than the least {SAID[what]}"
    )
    if first["low"] < last["high"] and last["low"] < first["high"]:
        title = f"On the same paper, the most and the least {SAID[what]} reviewers rate much alike"
    return Words(title, caption, alt)


@of_reviews
def decisions(frame: pd.DataFrame, what: str) -> Words:
    known = frame[(frame["n"] >= FEW) & frame["value"].notna()]
    accepted, rejected, both = (known[known["outcome"] == name] for name in ("accepted", "rejected", "both"))
    caption = (
        f"Share of reviews on the side of the decision by the reviewer's {what}: on the accept side of accepted papers, not on it of "
        "rejected ones. Harsher reviewers agree with rejections and disagree with acceptances by construction, and every rating is among "
        f"what was decided on: it does not tell who judges better. {_counts(frame)}{BY_PAPER}"
    )
    parts = (("accepted", accepted), ("rejected", rejected), ("mean of both", both))
    listed = "; ".join(
        f"{name} " + ", ".join(f"{row.level}: {percent(row.value)}" for row in some.itertuples())
        for name, some in parts
        if len(some)
    )
    return Words(
        _decisions_title(accepted, rejected, what), caption, f"Dots for each {what}. {listed or 'Too few reviews'}."
    )


def _counts(frame: pd.DataFrame) -> str:
    accepted, rejected = (int(frame.loc[frame["outcome"] == name, "n"].sum()) for name in ("accepted", "rejected"))
    if not rejected:
        return f"{accepted:,} reviews of accepted papers; which others were rejected is not known. "
    return f"{accepted:,} reviews of accepted and {rejected:,} of rejected papers, withdrawn ones left out. "


def _decisions_title(accepted: pd.DataFrame, rejected: pd.DataFrame, what: str) -> str:
    if accepted.empty:
        return f"Too few reviews of accepted papers to compare levels of {what}"
    ends = [
        f"{percent(some['value'].iloc[0])} to {percent(some['value'].iloc[-1])}"
        for some in (accepted, rejected)
        if len(some)
    ]
    title = f"From the least to the most {SAID[what]}, {ends[0]} agree with acceptances"
    return f"{title}, {ends[1]} with rejections" if len(ends) > 1 else title
