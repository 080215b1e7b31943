"""Words about what moved between two snapshots."""

from __future__ import annotations

import pandas as pd

from analysis.words.common import BY_PAPER, WILSON, Words, limits, listed, of_reviews, percent

NO_EFFECT = "This is not an effect of the rebuttal: nobody drew lots for whose average rises, and late ratings follow the decision in the making."


@of_reviews
def average_movement(frame: pd.DataFrame) -> Words:
    whole = frame[frame["start"] == "all"].set_index("direction")
    n, (rose, fell) = int(whole["n"].iloc[0]), (whole.loc[way] for way in ("rose", "fell"))
    title = f"{percent(rose['value'])} of {n:,} papers' averages rose, {percent(fell['value'])} fell"
    caption = (
        f"Papers whose average rose or fell, by where it started (upper ends excluded), of {n:,} papers with a review in both "
        f"snapshots; the others stayed. An average moves when a rating changes and when a review comes or goes. {WILSON}"
    )
    starts = frame[(frame["start"] != "all") & (frame["direction"] == "rose")]
    return Words(title, caption, f"Bars to both sides, by start. Rose: {listed(starts, 'start')}.")


@of_reviews
def transitions(frame: pd.DataFrame) -> Words:
    n = int(frame["count"].sum())
    up, down = (int(frame.loc[side, "count"].sum()) for side in (_rose(frame), frame["after"] < frame["before"]))
    most = frame[frame["after"] != frame["before"]].sort_values("count").iloc[-1]
    title = f"{n - up - down:,} of {n:,} ratings stayed; {up:,} went up and {down:,} down"
    caption = (
        f"First rating by second rating of the {n:,} reviews with a rating in both snapshots; percent of the reviews with that first "
        "rating. Grey: stayed; blue: went up; vermilion: went down."
    )
    alt = f"Matrix of first and second ratings. The most frequent move is from {most['before']} to {most['after']}: {most['count']:,}."
    return Words(title, caption, alt)


def _rose(frame: pd.DataFrame) -> pd.Series:
    return frame["after"] > frame["before"]


@of_reviews
def movement_by(frame: pd.DataFrame, what: str) -> Words:
    changed = frame[(frame["change"] == "changed") & (frame["n"] >= 30)].sort_values("value")
    if changed.empty:
        return Words(f"Ratings that changed, by {what}", f"Shares of the ratings of each {what}. {BY_PAPER}")
    least, most = changed.iloc[0], changed.iloc[-1]
    ends = f"{percent(least['value'], 1)} ({_name(least)}) to {percent(most['value'], 1)} ({_name(most)})"
    title = f"Ratings that changed, by {what}: {ends}"
    n = int(frame.drop_duplicates("level")["n"].sum())
    caption = f"Ratings that went up or down between the two snapshots, by {what}, of {n:,} reviews; the others stayed. {BY_PAPER}"
    ordered = frame[(frame["change"] == "changed") & (frame["n"] > 0)]
    return Words(title, caption, f"Bars to both sides, by {what}. Changed: {listed(ordered, 'level')}.")


def _name(row: pd.Series) -> str:
    """``accepted``, or ``level 3``."""
    return str(row["label"]) if isinstance(row["level"], str) else f"level {row['level']}"


@of_reviews
def conformity(frame: pd.DataFrame) -> Words:
    whole = frame[frame["rating"] == "all"].set_index("move")
    towards, away = whole.loc["towards"], whole.loc["away"]
    title = (
        f"{percent(towards['value'], 1)} of ratings moved towards those of the co-reviewers (by chance {percent(towards['permuted'], 1)}), "
        f"{percent(away['value'], 1)} away (by chance {percent(away['permuted'], 1)})"
    )
    caption = (
        f"Of {int(towards['n']):,} reviews whose first rating was not the mean of their co-reviewers' first ratings, the share that moved in "
        "the direction of that mean or against it, by first rating. By chance: panels dealt anew among reviews with the same first rating "
        f"(mean and 95 % of 1,000 permutations). Authors answer all reviewers, so this is not one reviewer's influence. {BY_PAPER}"
    )
    return Words(title, caption, f"Towards {limits(towards)}, away {limits(away)}, of all; a row a first rating.")


@of_reviews
def fates(frame: pd.DataFrame, standardised: pd.DataFrame) -> Words:
    shares = standardised.set_index("direction")["value"]
    n = int(frame["n"].sum())
    title = f"Of {n:,} decided papers, what was accepted by which way the average went"
    if shares.notna().all():
        title = (
            f"From the same start, {percent(shares['rose'])} of averages that rose were accepted, "
            f"{percent(shares['stayed'])} of those that stayed, {percent(shares['fell'])} of those that fell"
        )
    caption = (
        f"Share accepted of {n:,} decided papers, by the average at the start (in steps of half a point) and whether it rose, stayed or fell; "
        f"shares of fewer than 10 papers are not drawn. {_alike(standardised)}{NO_EFFECT} {WILSON}"
    )
    known = frame[frame["n"] >= 10].assign(line=lambda rows: rows["direction"] + " from " + rows["start"])
    return Words(title, caption, f"Three lines of acceptance by start. {listed(known, 'line')}.")


def _alike(standardised: pd.DataFrame) -> str:
    """Over which papers the title's shares are, where it has any."""
    within = standardised["within"].iloc[0]
    if standardised["value"].isna().any():
        return ""
    return f"The title weighs starts alike, over those that hold {percent(within)} of the papers. "
