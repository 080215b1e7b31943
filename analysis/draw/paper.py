"""Figures of one paper: its panel, and what became of papers like it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis.draw.canvas import (
    ACCEPT,
    INK,
    MARK,
    QUIET,
    REST,
    note,
    on_white,
    percent,
    percent_axis,
    rows,
    sized,
    styled,
    whiskers,
)

NAMES = {"desk_rejected": "desk-rejected", "undecided": "not known"}
APART = 0.07  # how far equal ratings of one paper stand apart


@styled
def draw_panel(frame: pd.DataFrame, ax: Axes, levels: Sequence[int], accept_from: int | None = None) -> Axes:
    """The ratings of one paper at each snapshot: a dot a review, lines where it is the same review, a bar the average."""
    snapshots = list(dict.fromkeys(frame["snapshot"]))
    x = {}
    for place, snapshot in enumerate(snapshots):
        here = frame[frame["snapshot"] == snapshot].sort_values(["rating", "review"])
        for rating, same in here.groupby("rating"):
            shifts = (np.arange(len(same)) - (len(same) - 1) / 2) * APART
            x |= {
                (snapshot, review): (place + shift, rating)
                for review, shift in zip(same["review"], shifts, strict=True)
            }
        average = here["rating"].mean()
        ax.hlines(average, place - 0.22, place + 0.22, color=MARK, linewidth=sized(2), zorder=3)
        note(
            ax,
            f"average {average:.2f}",
            place + 0.24,
            average,
            va="center",
            color=MARK,
            fontweight="bold",
            bbox=on_white(),
        )
    _join(frame, ax, x)
    ax.plot(*zip(*x.values(), strict=True), "o", color=ACCEPT, markeredgecolor="white", markersize=sized(8), zorder=4)
    if accept_from is not None and min(levels) < accept_from:
        below = max(level for level in levels if level < accept_from)
        ax.axhline((accept_from + below) / 2, color=QUIET, linewidth=0.8, linestyle=(0, (4, 2)), zorder=0)
        note(ax, "accept side", -0.5, (accept_from + below) / 2, 2, 3, color=QUIET)
    stages = frame.drop_duplicates("snapshot").set_index("snapshot")["stage"]
    ax.set_xticks(
        range(len(snapshots)), [f"{name}\n{stages[name]}" if name != stages[name] else name for name in snapshots]
    )
    ax.set_yticks(list(levels))
    span = max(levels) - min(levels) or 1
    ax.set(xlim=(-0.5, len(snapshots) - 0.2), ylim=(min(levels) - 0.07 * span, max(levels) + 0.07 * span))
    ax.set(ylabel="rating", xlabel="snapshot")
    return ax


def _join(frame: pd.DataFrame, ax: Axes, x: dict) -> None:
    """A line for each review through the snapshots in which it is known to be the same one; thick where it moved."""
    for (_, review), same in frame.groupby(["linked_to", "review"]):
        if len(same) > 1:
            points = [x[(snapshot, review)] for snapshot in same["snapshot"]]
            moved = same["rating"].nunique() > 1
            ax.plot(*zip(*points, strict=True), color=INK if moved else REST, linewidth=1.4 if moved else 1, zorder=2)


@styled
def draw_alike(frame: pd.DataFrame, ax: Axes) -> Axes:
    """What became of the papers alike: a bar an outcome, the best first, with Wilson limits."""
    names = [
        row.tier if isinstance(row.tier, str) else NAMES.get(row.outcome, row.outcome) for row in frame.itertuples()
    ]
    places = rows(ax, names)
    accepted = frame["outcome"].eq("accepted").to_numpy()
    bars = ax.barh(places, frame["value"].fillna(0), 0.62, color=np.where(accepted, ACCEPT, REST))
    for bar in np.array(bars)[accepted]:
        bar.set(hatch="////", edgecolor="white", linewidth=0)
    whiskers(ax, None, places, frame["low"], frame["high"])
    for place, row in zip(places, frame.itertuples(), strict=True):
        note(ax, f"{percent(row.value)}  ({row.count:,})", np.nan_to_num(row.high), place, 4, 0, va="center")
    ax.set_xlim(0, 1.35 * max(frame["high"].max(), 0.01))
    percent_axis(ax.xaxis)
    ax.set_xlabel(f"share of {int(frame['n'].max()):,} papers alike (hatched: accepted)")
    return ax
