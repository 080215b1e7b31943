"""Figures of what was decided: acceptance by ratings on the accept side, and what became of all submissions."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis.draw.canvas import (
    ACCEPT,
    INK,
    MARK,
    QUIET,
    REST,
    SHADES,
    count_axis,
    narrow,
    note,
    on_white,
    percent,
    percent_axis,
    rows,
    say_instead,
    sized,
    spread,
    styled,
    whiskers,
)
from analysis.errors import choices
from analysis.snapshots import OUTCOMES

RELIABLE = 30  # papers: a share of fewer is drawn hollow, or left out where years are compared
SEPARATE = 300  # papers with the same number of reviews: as many get a line of their own
FIRST = ("submitted", "reviewed", "active", "decided")  # in a ledger; what is neither these nor outcomes are tiers


@styled
def draw_sixes(frame: pd.DataFrame, ax: Axes) -> Axes:
    """What share of papers was accepted, by how many of their ratings are on the accept side.

    Dots with Wilson limits are all papers, hollow where they are few; broken lines are those with 3, 4, ... reviews.
    """
    overall = frame[frame["reviews"] == "all"]
    enough = overall["n"] >= RELIABLE
    _draw_by_reviews(ax, frame)
    whiskers(ax, overall["accept_side"], None, overall["low"], overall["high"])
    for some, line, face in ((overall[enough], "-", ACCEPT), (overall[~enough], "none", "white")):
        ax.plot(some["accept_side"], some["value"], "o", color=ACCEPT, linestyle=line, markerfacecolor=face, zorder=4)
    for row in overall.itertuples():
        said = f"{100 * row.value:.0f}" if narrow(ax) else percent(row.value, 0)
        note(ax, said, row.accept_side, row.value, -7, 4, ha="right", bbox=on_white())
    room = ax.figure.get_figwidth() / (np.ptp(overall["accept_side"]) + 1)  # inches that a dot has
    said = "n = {:,}" if room > 0.7 else "{:,}" if room > 0.4 else "{}"
    ax.set_xticks(overall["accept_side"], [f"{row.accept_side}\n{said.format(row.n)}" for row in overall.itertuples()])
    _frame_share(ax)
    hollow = "" if enough.all() else f" (hollow: fewer than {RELIABLE} papers)"
    ax.set(xlabel=f"ratings on the accept side{hollow}", ylabel="share of papers accepted")
    return ax


def _draw_by_reviews(ax: Axes, frame: pd.DataFrame) -> None:
    """A broken line for each frequent number of reviews, where there is more than one to tell apart."""
    papers = _papers_by_reviews(frame)
    lines = frame[frame["reviews"].isin(papers.index[papers >= SEPARATE]) & (frame["n"] >= RELIABLE)]
    shares = lines.pivot(index="accept_side", columns="reviews", values="value")
    if shares.shape[1] < 2:
        return
    for reviews in shares:
        line = shares[reviews].dropna()
        ax.plot(line.index, line, color=QUIET, linewidth=0.8, linestyle=(0, (3, 1.5)), zorder=1)
    # All lines are labelled on the last step that they share, as contours of a map are.
    step = shares.dropna().tail(2)
    for reviews, share in step.mean().items():
        note(ax, reviews, step.index.to_numpy().mean(), share, ha="center", va="center", color=QUIET, bbox=on_white())
    told = f"broken lines: papers with\n{choices(shares.columns)} reviews"
    note(ax, told, 0.98, 0.06, xycoords="axes fraction", ha="right", color=QUIET, bbox=on_white())


def _papers_by_reviews(frame: pd.DataFrame) -> pd.Series:
    return frame[frame["reviews"] != "all"].groupby("reviews")["n"].sum()


def _frame_share(ax: Axes) -> None:
    ax.grid(axis="y")
    ax.set_ylim(-0.03, 1.08)
    ax.set_yticks([0, 0.25, 0.5, 0.75, 1])
    percent_axis(ax.yaxis)
    ax.margins(x=0.08)


@styled
def draw_sixes_by_year(frame: pd.DataFrame, ax: Axes) -> Axes:
    """The same, a line a year (a column `year`), with Wilson limits; labels stand in the order of the lines.

    Years in which most papers had up to three reviews are told apart from those with more, by colour and dashes.
    Points of fewer than `RELIABLE` papers are left out.
    """
    overall = frame[(frame["reviews"] == "all") & (frame["n"] >= RELIABLE)]
    if overall.empty:
        return say_instead(ax, f"no year has {RELIABLE} papers")
    usual = {year: int(_papers_by_reviews(some).idxmax()) for year, some in frame.groupby("year")}
    looks = {year: (MARK, (0, (4, 1))) if reviews <= 3 else (ACCEPT, "-") for year, reviews in usual.items()}
    for year, line in overall.groupby("year"):
        color, dashes = looks[year]
        ax.plot(line["accept_side"], line["value"], "o", linestyle=dashes, color=color, markersize=sized(3))
        whiskers(ax, line["accept_side"], None, line["low"], line["high"], color=color)
    _draw_key(ax, overall, {year: color for year, (color, _) in looks.items()}, frame)
    for color, x, y, ha in ((MARK, 2.9, 0.97, "right"), (ACCEPT, 3.1, 0.5, "left")):
        reviews = sorted({usual[year] for year in looks if looks[year][0] == color})
        if reviews:
            said = f"{'mostly' if narrow(ax) else 'most papers with'} {' or '.join(map(str, reviews))} reviews"
            note(ax, said, x, y, color=color, ha=ha, fontweight="bold")
    _frame_share(ax)
    ax.set_xticks(sorted(overall["accept_side"].unique()))
    ax.set_xlabel(f"ratings on the accept side (points of {RELIABLE} papers or more)")
    ax.set_ylabel("share of papers accepted")
    return ax


def _draw_key(ax: Axes, overall: pd.DataFrame, colors: dict[int, str], frame: pd.DataFrame) -> None:
    """The years as a column of labels beside the point where they differ most, each led to its line."""
    papers = frame[frame["reviews"] == "all"].groupby("year")["n"].sum()
    differ = overall.groupby("accept_side")["value"].agg(["size", "std"]).fillna(0).sort_values(["size", "std"])
    keyed = overall[overall["accept_side"] == differ.index[-1]]
    for row, height in zip(keyed.itertuples(), spread(keyed["value"], 0.075) + 0.22, strict=True):
        x, color = row.accept_side, colors[row.year]
        ax.plot([x - 0.75, x - 0.04], [height, row.value], color=color, linewidth=0.4, zorder=1)
        said = str(row.year) if narrow(ax) else f"{row.year}   {papers[row.year]:,} papers"
        note(ax, said, x - 0.77, height, 0, 0, ha="right", va="center", color=color)


@styled
def draw_ledger(frame: pd.DataFrame, ax: Axes) -> Axes:
    """What became of the submissions: a bar a group, as papers and as a share of all; what is not known is said.

    The official count is named where it differs. Groups that are empty, and expected to be, are left out.
    """
    expected = (frame["official"].fillna(0) > 0) | (frame["item"].isin(FIRST) & frame["papers"].isna())
    shown = frame[expected | (frame["papers"].fillna(0) > 0)]
    items = shown["item"].tolist()
    tiers = set(items).difference(FIRST, OUTCOMES)
    places = rows(ax, [_item(item, tiers) for item in items])
    papers = shown["papers"].astype(float).fillna(0)
    submitted = max(papers.iloc[0], 1)
    colors = [SHADES[2] if item in tiers else ACCEPT if item == "accepted" else REST for item in items]
    ax.barh(places, papers, 0.64, color=colors)
    for place, row in zip(places, shown.itertuples(), strict=True):
        known = not pd.isna(row.papers)
        text = f"{row.papers:,}  ({percent(row.papers / submitted)})" if known else "not known"
        differs = not pd.isna(row.official) and (not known or row.official != row.papers)
        text += f", officially {row.official:,}" if differs else ""
        note(ax, text, np.nan_to_num(papers.loc[row.Index]), place, 4, 0, va="center", color=INK if known else QUIET)
    ax.set_xlim(0, (3.1 if narrow(ax) else 1.5) * submitted)
    count_axis(ax.xaxis)
    ax.set_xticks([tick for tick in ax.get_xticks() if tick <= submitted])
    ax.set(xlabel="papers (share of submitted)")
    return ax


def _item(item: str, tiers: set[str]) -> str:
    return f"as {item}" if item in tiers else item.replace("_", " ")
