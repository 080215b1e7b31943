"""Figures of harshness: levels compared on the same paper, and with the decision."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from analysis.draw.canvas import (
    ACCEPT,
    MARK,
    QUIET,
    REST,
    narrow,
    note,
    on_white,
    percent,
    percent_axis,
    say_instead,
    sized,
    styled,
    whiskers,
)
from analysis.draw.reviewers import worded_rows
from analysis.errors import with_sign

FEW = 30  # reviews: a level with fewer is drawn hollow


@styled
def draw_within_paper(frame: pd.DataFrame, ax: Axes) -> Axes:
    """How far each level rates above or below the average review of the same papers: a dot a level, around 0."""
    if frame["value"].isna().all():
        return say_instead(ax, "no paper has reviewers of two levels")
    places = worded_rows(frame, ax)
    ax.axvline(0, color=QUIET, linewidth=0.8, zorder=1)
    ax.hlines(places, 0, frame["value"].fillna(0), color=REST, linewidth=sized(2.6), zorder=1)
    whiskers(ax, None, places, frame["low"], frame["high"])
    reach = _reach(frame)
    ax.set_xlim(-reach, reach)
    for few, face in ((False, ACCEPT), (True, "white")):
        some = (frame["n"] < FEW) == few
        ax.plot(frame.loc[some, "value"], places[some], "o", color=ACCEPT, markerfacecolor=face, zorder=4)
    for place, row in zip(places, frame.itertuples(), strict=True):
        note(ax, f"n = {row.n:,}", 1, place, 3, 0, xycoords=ax.get_yaxis_transform(), va="center")
        if abs(row.value) < reach:
            note(ax, with_sign(row.value), row.value, place, 0, 5, ha="center", bbox=on_white())
    hollow = f"\n(hollow: fewer than {FEW} reviews)" if (frame["n"] < FEW).any() else ""
    ax.set(xlabel=f"rating points from the average review of the same papers{hollow}")
    return ax


def _reach(frame: pd.DataFrame) -> float:
    """How far the axis goes to both sides: what is known well fits in, an interval of a few reviews may run out."""
    known = frame[frame["n"] >= FEW] if (frame["n"] >= FEW).any() else frame
    return 1.15 * max(known[["low", "high", "value"]].abs().max().max(), 0.1)


@styled
def draw_decisions(frame: pd.DataFrame, ax: Axes) -> Axes:
    """How often each level's ratings are on the decision's side: filled for accepted papers, hollow for rejected ones.

    Points of fewer than `FEW` reviews are left out.
    """
    levels = frame.drop_duplicates("level")
    place_of = dict(zip(levels["level"], worded_rows(levels, ax), strict=True))
    shown = frame[(frame["n"] >= FEW) & frame["value"].notna()]
    shown = shown.assign(place=shown["level"].map(place_of))
    if shown.empty:
        return say_instead(ax, f"no level has {FEW} reviews of papers with a known decision")
    for outcome, face, move, above in (("accepted", ACCEPT, -0.1, 4), ("rejected", "white", 0.1, -11)):
        some = shown[shown["outcome"] == outcome]
        whiskers(ax, None, some["place"] + move, some["low"], some["high"])
        ax.plot(some["value"], some["place"] + move, "o", color=ACCEPT, markerfacecolor=face, zorder=4)
        for row in some.itertuples():
            note(ax, percent(row.value, 0), row.value, row.place + move, 0, above, ha="center")
    # A mean of two shares is worth as much as the lesser of them.
    ends = [set(shown.loc[shown["outcome"] == outcome, "level"]) for outcome in ("accepted", "rejected")]
    both = shown[(shown["outcome"] == "both") & shown["level"].isin(set.intersection(*ends))]
    ax.plot(both["value"], both["place"], "|", color=MARK, markersize=sized(10), markeredgewidth=1.6, zorder=5)
    _name_marks(ax, not both.empty)
    ax.set_xlim(max(min(0.95 * shown["low"].min(), 0.5) - 0.04, 0), 1.03)
    percent_axis(ax.xaxis)
    left_out = "" if len(shown) == (frame["n"] > 0).sum() else f"\n({FEW} reviews or more)"
    ax.set(xlabel=f"share on the decision's side{left_out}")
    return ax


def _name_marks(ax: Axes, both: bool) -> None:
    """What the marks are, in a line above the rows."""
    said = "filled: accepted papers" + ("   hollow: rejected   bar: mean of both" if both else "")
    if narrow(ax):
        said = "filled: accepted" + (", bar: mean\nhollow: rejected" if both else "")
    note(ax, said, 1, 1, 0, 3, xycoords="axes fraction", ha="right", va="bottom", color=QUIET)
