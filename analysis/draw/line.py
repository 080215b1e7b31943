"""Figures of the line: acceptance by average, who crossed it, and how well scores tell what is accepted."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis.draw.canvas import (
    ACCEPT,
    INK,
    MARK,
    QUIET,
    SHADES,
    count_axis,
    note,
    on_white,
    percent_axis,
    rows,
    say_instead,
    sized,
    styled,
    whiskers,
)

RELIABLE = 30  # papers: shares of fewer are small and without limits


@styled
def draw_curve(frame: pd.DataFrame, ax: Axes, curve: pd.DataFrame, logit: pd.DataFrame) -> Axes:
    """The share of papers accepted at each exact average, with the logistic curve, its band, and where the odds are even.

    Filled dots with Wilson limits are averages of 30 papers or more, small hollow ones those of fewer.
    """
    enough = frame["n"] >= RELIABLE
    if len(curve):
        ax.fill_between(
            curve["average"], curve["low"], curve["high"], color=SHADES[2], alpha=0.55, linewidth=0, zorder=1
        )
        ax.plot(curve["average"], curve["value"], color=SHADES[1], zorder=2)
    some, few = frame[enough], frame[~enough]
    whiskers(ax, some["average"], None, some["low"], some["high"])
    ax.plot(few["average"], few["value"], "o", color=QUIET, markerfacecolor="white", markersize=sized(2), zorder=3)
    ax.plot(some["average"], some["value"], "o", color=ACCEPT, linestyle="none", markersize=sized(4), zorder=4)
    _mark_even_odds(ax, logit.set_index("item").loc["even"])
    ax.grid(axis="y")
    ax.set_ylim(-0.03, 1.03)
    ax.set_yticks([0, 0.25, 0.5, 0.75, 1])
    percent_axis(ax.yaxis)
    hollow = "" if enough.all() else f" (hollow: fewer than {RELIABLE} papers)"
    ax.set(xlabel=f"average of a paper's ratings{hollow}", ylabel="share of papers accepted")
    return ax


def _mark_even_odds(ax: Axes, even: pd.Series) -> None:
    if not np.isfinite(even["value"]):
        return
    ax.plot([even["value"]] * 2, [-0.03, 0.5], color=MARK, linewidth=0.9, linestyle=(0, (4, 2)), zorder=1)
    limits = f"\n({even['low']:.2f} to {even['high']:.2f})" if np.isfinite(even["low"]) else ""
    said = f"even odds\nat {even['value']:.2f}{limits}"
    note(ax, said, even["value"], 0.06, 5, 0, color=MARK, fontweight="bold", bbox=on_white())


@styled
def draw_line(frame: pd.DataFrame, ax: Axes, line: pd.DataFrame) -> Axes:
    """Papers on the other side of the line, by exact average: accepted below it upwards, not accepted above it downwards.

    Papers exactly on the line go both ways, in grey.
    """
    where, sides = line["line"].iloc[0], line.set_index("side")
    if not np.isfinite(where):
        return say_instead(ax, "no paper was accepted")
    average, accepted = frame["average"], frame["accepted"]
    others = frame["n"] - accepted
    crossed = frame[((average < where) & (accepted > 0)) | ((average > where) & (others > 0)) | (average == where)]
    width = np.clip(150 * ax.figure.get_figwidth() / 5.5 / max(len(crossed), 1), 1.2, 5)
    for row in crossed.itertuples():
        up, down = row.accepted, row.n - row.accepted
        if row.average <= where:
            ax.vlines(row.average, 0, up, color=QUIET if row.average == where else ACCEPT, linewidth=width)
        if row.average >= where:
            ax.vlines(row.average, 0, -down, color=QUIET if row.average == where else MARK, linewidth=width)
    ax.axhline(0, color=INK, linewidth=0.7)
    tallest = max(accepted[average <= where].max(), others[average >= where].max())
    ax.set_ylim(-1.3 * tallest, 1.3 * tallest)
    below, above, on = (sides.loc[side] for side in ("below", "above", "on"))
    ends = {"ha": "right", "va": "top", "xycoords": ax.transAxes}
    bold = {"fontweight": "bold", "bbox": on_white()}
    note(
        ax,
        f"accepted below the line: {below['accepted']:,}",
        0.01,
        0.98,
        color=ACCEPT,
        **{**ends, "ha": "left"},
        **bold,
    )
    note(ax, f"not accepted above it: {above['others']:,}", 0.99, 0.03, color=MARK, **{**ends, "va": "bottom"}, **bold)
    said = f"on the line, {where:.2f}:\n{on['accepted']:,} accepted,\n{on['others']:,} not"
    note(ax, said, 0.01, 0.88, va="top", color=QUIET, xycoords=ax.transAxes, bbox=on_white())
    count_axis(ax.yaxis)
    ax.set_yticks(ax.get_yticks(), [f"{abs(tick):,.0f}" for tick in ax.get_yticks()])
    ax.set_ylim(-1.3 * tallest, 1.3 * tallest)
    ax.set(xlabel="average of a paper's ratings, exact values", ylabel="papers")
    return ax


@styled
def draw_auc(frame: pd.DataFrame, ax: Axes) -> Axes:
    """How often an accepted paper has the better score: a block a way to score, in it a row a snapshot, in order of time.

    Columns `snapshot` and `stage` name the snapshots; dots are hollow at release.
    """
    order = {name: place for place, name in enumerate(frame["predictor"].drop_duplicates())}
    shown = frame.assign(block=frame["predictor"].map(order)).sort_values("block", kind="stable", ignore_index=True)
    places = np.arange(len(shown)) + shown["block"].to_numpy() + 1.0  # a row above each block for its name
    names = [_taken(row) for row in shown.itertuples()]
    rows(ax, names)
    ax.set_yticks(places, names)
    ax.set_ylim(places.max() + 0.7, -0.6)
    edge = ax.get_yaxis_transform()
    whiskers(ax, None, places, shown["low"], shown["high"])
    for place, row in zip(places, shown.itertuples(), strict=True):
        ax.plot(
            row.value, place, "o", color=ACCEPT, markerfacecolor="white" if row.stage == "release" else ACCEPT, zorder=4
        )
        said = f"{row.value:.3f}" if np.isfinite(row.value) else "no answer"
        note(ax, said, 1.0, place, 4, 0, va="center", xycoords=edge)
    for name, block in shown.groupby("predictor"):
        note(ax, f"by {name}", 0.0, places[block.index[0]] - 0.9, 0, 0, va="center", color=QUIET, xycoords=edge)
    ax.set(xlabel="share of pairs in which the accepted paper has the better score (0.5: no better than lots)")
    return ax


def _taken(row) -> str:
    return row.stage if row.stage == row.snapshot else f"{row.stage} {row.snapshot}"
