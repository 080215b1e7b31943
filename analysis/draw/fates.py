"""Figures of papers with the same average: which ratings fared better, and what else went with acceptance."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from analysis.draw.canvas import (
    ACCEPT,
    INK,
    MARK,
    QUIET,
    narrow,
    note,
    percent_axis,
    rows,
    rows_ratio,
    sized,
    styled,
    whiskers,
)
from analysis.errors import count, signed

ROWS = 26  # sets of ratings that a figure has room for


def undecided(frame: pd.DataFrame, most: int = ROWS) -> pd.DataFrame:
    """Of the statistic fates the groups of rivals that the figure shows: those of which the nearest to half were accepted."""
    shares = frame.groupby(["average", "reviews"])[["accepted", "n"]].sum()
    distance = (shares["accepted"] / shares["n"] - 0.5).abs().sort_values(kind="stable")
    sizes = frame.groupby(["average", "reviews"]).size().loc[distance.index].cumsum()
    shown = sizes.index[sizes <= most]
    kept = pd.MultiIndex.from_frame(frame[["average", "reviews"]]).isin(shown)
    return frame[kept].sort_values(["average", "reviews", "ratings"], ascending=False, ignore_index=True)


@styled
def draw_rivals(frame: pd.DataFrame, ax: Axes) -> Axes:
    """The share accepted of each set of ratings, with Wilson limits, in blocks of the same average and number of reviews.

    A rule is the share of all papers of the block that have a row; bold and dark are those that differ after Benjamini-Hochberg.
    """
    shown = undecided(frame)
    blocks = shown.groupby(["average", "reviews"], sort=False)
    places = np.arange(len(shown)) + blocks.ngroup().to_numpy() + 1.0  # a row above each block for its name
    rows(ax, shown["ratings"].tolist())
    ax.set_yticks(places, shown["ratings"].tolist())
    ax.set_ylim(places.max(initial=1) + 0.7, -0.6)
    whiskers(ax, None, places, shown["low"], shown["high"])
    edge = ax.get_yaxis_transform()
    for place, row, label in zip(places, shown.itertuples(), ax.get_yticklabels(), strict=True):
        color = MARK if row.differs else ACCEPT
        ax.plot(row.value, place, "D" if row.differs else "o", color=color, markersize=sized(4), zorder=4)
        note(ax, f"{row.n:,}", 1.0, place, 4, 0, va="center", color=QUIET, xycoords=edge)
        label.set(fontweight="bold" if row.differs else "normal")
    for (average, reviews), block in blocks:
        first, last = places[block.index[[0, -1]]]
        share = block["accepted"].sum() / block["n"].sum()
        ax.plot([share, share], [first - 0.4, last + 0.4], color=QUIET, linewidth=1, zorder=1)
        said = f"average {average:.2f} of {count(int(reviews), 'review')}"
        note(ax, said, 0.0, first - 0.85, 0, 0, va="center", color=QUIET, xycoords=edge)
    note(ax, "papers", 1.0, 0.1, 4, 0, va="center", color=QUIET, xycoords=edge)
    ax.set_xlim(-0.02, 1.02)
    percent_axis(ax.xaxis)
    ax.set(
        xlabel="share accepted (upright rule: all sets with the same average here; diamond: differs from the others)"
    )
    return ax


def rivals_ratio(frame: pd.DataFrame) -> float:
    """The height of the figure of rivals over its width: what its rows need."""
    shown = undecided(frame)
    return rows_ratio(len(shown) + shown.groupby(["average", "reviews"]).ngroups)


@styled
def draw_near(frame: pd.DataFrame, ax: Axes) -> Axes:
    """How much more of a group was accepted than of the other papers with the same averages: a row a group, with limits.

    Diamonds differ after Benjamini-Hochberg.
    """
    labels = [_group(row) for row in frame.itertuples()]
    places = rows(ax, labels)
    ax.axvline(0, color=INK, linewidth=0.7, zorder=0)
    whiskers(ax, None, places, frame["low"], frame["high"])
    reach = 1.05 * max(frame[["low", "high"]].abs().max().max(), 0.05)
    for place, row in zip(places, frame.itertuples(), strict=True):
        color = MARK if row.differs else ACCEPT
        ax.plot(row.value, place, "D" if row.differs else "o", color=color, markersize=sized(4), zorder=4)
        papers = f"{row.n:,}" if narrow(ax) else f"{row.n:,} of {row.n + row.n_others:,}"
        said = f"{signed(row.value)}  ({papers})"
        weight = "bold" if row.differs else "normal"
        note(
            ax,
            said,
            1.0,
            place,
            4,
            0,
            va="center",
            color=INK if row.differs else QUIET,
            fontweight=weight,
            xycoords=ax.get_yaxis_transform(),
        )
    ax.set_xlim(-reach, reach)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: signed(value)))
    ax.set(xlabel="percentage points more accepted than of others with the same average (diamond: differs)")
    return ax


def _group(row) -> str:
    return f"{row.split} {row.group}"
