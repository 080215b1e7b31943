"""Figures of topics: which stand out of what chance does, and what is left when chance is drawn in."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullLocator

from analysis.draw.canvas import (
    ACCEPT,
    INK,
    MARK,
    POINTS,
    QUIET,
    REST,
    narrow,
    note,
    percent,
    percent_axis,
    points,
    rows,
    sized,
    spread,
    styled,
    whiskers,
    wrapped,
)

NAMED = 12  # topics beside the funnel: more cannot be read
ROWS = 15


@styled
def draw_topic_funnel(frame: pd.DataFrame, ax: Axes, limits: pd.DataFrame, rates: bool = True) -> Axes:
    """Each topic by its number of papers, against the limits that chance has around the overall value.

    Named are those outside of the 95 % limits, in bold those that stand out with all tests counted; where none is outside, the largest.
    """
    for limit, look in (("95 %", (0, (5, 2))), ("all tests", "-")):
        some = limits[limits["limit"] == limit]
        for end in ("low", "high"):
            ax.plot(some["n"], some[end], color=QUIET, linewidth=0.8, linestyle=look)
    ax.axhline(frame["overall"].iloc[0], color=QUIET, linewidth=0.8)
    out, sure = frame["p"] <= 0.05, frame["q"] <= 0.05
    for some, color, face in ((~out, REST, "white"), (out & ~sure, ACCEPT, ACCEPT), (sure, MARK, MARK)):
        ax.plot(frame["n"][some], frame["value"][some], "o", color=color, markerfacecolor=face, markersize=sized(3.5))
    ax.set_xscale("log")
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xticks(_counts(frame["n"].min(), frame["n"].max()))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda n, _: f"{n:,.0f}"))
    _set_height(frame, limits, ax, rates)
    _name(frame[out] if out.any() else frame.head(3), ax)
    unit = "share accepted" if rates else "mean of paper averages"
    ax.set(xlabel="papers with the topic; dashed 95 %, solid all tests counted", ylabel=unit)
    return ax


def _counts(low: int, high: int) -> list[int]:
    """Round numbers on a logarithmic axis: 20, 50, 100, 200, ..."""
    ticks = [step * 10**power for power in range(7) for step in (1, 2, 5)]
    return [tick for tick in ticks if low / 1.3 <= tick <= high * 1.3]


def _set_height(frame: pd.DataFrame, limits: pd.DataFrame, ax: Axes, rates: bool) -> None:
    known = np.concatenate([frame["value"], limits.loc[limits["limit"] == "95 %", ["low", "high"]].to_numpy().ravel()])
    low, high = known.min(), known.max()
    pad = 0.06 * max(high - low, 0.01)
    ax.set_ylim(max(low - pad, -0.02) if rates else low - pad, min(high + pad, 1.02) if rates else high + pad)
    if rates:
        percent_axis(ax.yaxis)


def _name(some: pd.DataFrame, ax: Axes) -> None:
    """Names in a column beside the figure, each with a line to its dot."""
    chosen = some.sort_values(["p", "topic"]).head(NAMED).sort_values("value")
    low, high = ax.get_ylim()
    gap = 1.25 * points() / POINTS / (0.7 * ax.figure.get_figheight()) * (high - low)
    heights = spread(chosen["value"], gap)
    heights += min(high - heights.max(), 0) + max(low - heights.min(), 0)
    for row, height in zip(chosen.itertuples(), heights, strict=True):
        sure = row.q <= 0.05
        line = {"arrowstyle": "-", "color": QUIET, "linewidth": 0.4, "shrinkA": 0, "shrinkB": 2, "relpos": (0, 0.5)}
        look = {"color": MARK if sure else INK, "fontweight": "bold" if sure else "normal", "fontsize": "small"}
        ax.annotate(cut(row.topic, 16 if narrow(ax) else 30), (row.n, row.value), (1.03, height),
                    textcoords=ax.get_yaxis_transform(), va="center", annotation_clip=False, arrowprops=line, **look)  # fmt: skip


def cut(text: str, most: int) -> str:
    """The text, or its beginning: the table has it whole."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


@styled
def draw_topics(frame: pd.DataFrame, ax: Axes, rates: bool = True) -> Axes:
    """The most frequent topics: their own value with its limits, and hollow what is left when chance is drawn in."""
    some = frame.head(ROWS)
    width = 0.4 * ax.figure.get_figwidth()
    places = rows(ax, [_fitting(topic, width) for topic in some["topic"]])
    whiskers(ax, None, places, some["low"], some["high"])
    ax.plot(some["value"], places, "o", color=ACCEPT, zorder=4)
    ax.plot(some["shrunken"], places, "D", color=MARK, markerfacecolor="white", markersize=sized(4), zorder=5)
    ax.axvline(frame["overall"].iloc[0], color=QUIET, linewidth=0.8, linestyle=(0, (4, 2)), zorder=0)
    note(ax, "all papers", frame["overall"].iloc[0], -0.6, 2, 1, va="bottom", color=QUIET)
    for place, row in zip(places, some.itertuples(), strict=True):
        value = percent(row.value, 0) if rates else f"{row.value:.2f}"
        note(
            ax,
            f"{value} of {row.n:,}" if rates else f"{value}, {row.n:,}",
            1,
            place,
            4,
            0,
            xycoords=ax.get_yaxis_transform(),
            va="center",
        )
    if rates:
        percent_axis(ax.xaxis)
    ax.grid(axis="x")
    unit = "share accepted, of papers" if rates else "mean of paper averages, papers"
    ax.set_xlabel(f"{unit}; \N{WHITE DIAMOND} with chance drawn in")
    return ax


def _fitting(topic: str, inches: float) -> str:
    lines = wrapped(topic, inches, points()).split("\n")
    return lines[0] if len(lines) == 1 else f"{lines[0]} …"
