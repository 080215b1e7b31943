"""Figures of texts and times: how long reviews are, when they came, and how much is discussed."""

from __future__ import annotations

from datetime import date

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from analysis.draw.canvas import (
    ACCEPT,
    MARK,
    POINTS,
    QUIET,
    REST,
    count_axis,
    narrow,
    note,
    on_white,
    percent,
    percent_axis,
    points,
    rows,
    spread,
    styled,
    whiskers,
)

# From light to dark, so that ordered groups stay in order in grey; dashes tell neighbours apart.
TONES = ("#a3c6e0", "#7fb0d6", "#4f8fc0", "#1f6fae", "#0f4c81", "#c8500a", "#8a3a06", "#6b6b6b", "#444444", "#222222")
DASHES = ("-", (0, (5, 1)), (0, (1, 1)))
ENOUGH = 20  # reviews for a curve
WRITTEN_BY = {"authors": "authors", "reviewer": "reviewers", "area_chair": "area chairs", "program_chairs": "program chairs",
              "public": "the public", "venue": "the venue"}  # fmt: skip


@styled
def draw_length_curves(frame: pd.DataFrame, ax: Axes, by: str) -> Axes:
    """The share of reviews with at most so many words, a curve a group; the medians stand beside it, in order.

    `frame` is the statistic length-curve for each value of the column `by`; groups of a few reviews have no curve.
    """
    enough = frame[frame["n"] >= min(ENOUGH, frame["n"].max())]
    curves = [(group, some) for group, some in enough.groupby(by, sort=True)]
    longest = max(float(some.loc[some["value"] >= 0.97, "words"].iloc[0]) for _, some in curves)
    medians = []
    for place, (group, some) in enumerate(curves):
        tone, dash = TONES[place % len(TONES)], DASHES[place % len(DASHES)]
        ax.fill_between(some["words"], some["low"], some["high"], step="post", color=tone, alpha=0.2, linewidth=0)
        ax.step(some["words"], some["value"], where="post", color=tone, linestyle=dash)
        medians.append((float(some.loc[some["value"] >= 0.5, "words"].iloc[0]), group, tone, int(some["n"].iloc[0])))
    ax.axhline(0.5, color=QUIET, linewidth=0.6, zorder=0)
    _name_curves(ax, sorted(medians, key=lambda one: (one[0], str(one[1]))), by)
    ax.set(
        xlim=(0, 1.03 * longest), ylim=(0, 1), xlabel="words of a review", ylabel="share of reviews that are no longer"
    )
    percent_axis(ax.yaxis)
    return ax


def _name_curves(ax: Axes, medians: list[tuple], by: str) -> None:
    """The groups in a column beside the curves, the shortest reviews at the top: as the curves lie, left to right."""
    gap = 1.3 * points() / POINTS / (0.75 * ax.figure.get_figheight())
    heights = spread(np.linspace(0.9, 0.9 - gap * (len(medians) - 1), len(medians)), gap)
    head = {"xycoords": ax.get_yaxis_transform(), "va": "center"}
    note(ax, f"median by {by}", 1.02, min(0.9 + 1.5 * gap, 1.0), color=QUIET, **head)
    for (median, group, tone, n), height in zip(medians, sorted(heights, reverse=True), strict=True):
        name = f"{group:g}" if isinstance(group, float) else str(group)
        said = f"{name}: {median:,.0f}" if narrow(ax) else f"{name}: {median:,.0f} words, n = {n:,}"
        note(ax, "\N{BLACK SQUARE}", 1.02, height, color=tone, **head)
        note(ax, said, 1.02, height, 9, 0, **head)


@styled
def draw_arrivals(frame: pd.DataFrame, ax: Axes, released: date | None = None, due: date | None = None) -> Axes:
    """Reviews posted on each day, anywhere on earth; lines at the days when they were due and released."""
    some = frame[frame["clock"] == "AoE"]
    days = pd.to_datetime(some["day"]).to_numpy(dtype="datetime64[D]")
    place = (days - days[0]).astype(int)
    ax.bar(place, some["count"], 0.9, color=ACCEPT, linewidth=0)
    most = int(some["count"].to_numpy().argmax())
    ax.set_xlim(-1, place[-1] + 1)
    top = float(some["count"].max())
    ax.set_ylim(0, 1.3 * top)
    note(ax, f"{some['count'].iloc[most]:,}\n{_day(days[most])}", place[most], top, 0, 3, ha="center", bbox=on_white())
    for day, word in ((due, "due"), (released, "released")):
        if day is not None:
            x = int((np.datetime64(day) - days[0]).astype(int))
            if -1 <= x <= place[-1] + 1:
                ax.axvline(x + 0.5, color=MARK, linewidth=0.9)
                note(ax, f"{word}\n{_day(day)}", x + 0.5, 1.3 * top, 3, 0, va="top", color=MARK, bbox=on_white())
    step = max(int(np.ceil(len(days) / (3 if narrow(ax) else 7) / 7)) * 7, 1)
    ax.set_xticks(place[::step], [_day(day) for day in days[::step]])
    count_axis(ax.yaxis)
    ax.set(xlabel="day, anywhere on earth (UTC \N{MINUS SIGN} 12 h)", ylabel=f"reviews, of {int(some['n'].iloc[0]):,}")
    return ax


def _day(day) -> str:
    """``23 Oct``: the figure says the year."""
    day = pd.Timestamp(day)
    return f"{day.day} {day:%b}"


@styled
def draw_hours(frame: pd.DataFrame, ax: Axes) -> Axes:
    """The share of reviews posted in each hour of the day: UTC, and below it the hour anywhere on earth."""
    some = frame[frame["clock"] == "UTC"]
    ax.bar(some["hour"], some["value"].fillna(0), 0.85, color=REST)
    whiskers(ax, some["hour"], None, some["low"], some["high"])
    ax.axhline(1 / 24, color=QUIET, linewidth=0.8, linestyle=(0, (4, 2)))
    top = some.loc[some["value"].idxmax()]
    note(ax, percent(top["value"]), top["hour"], top["high"], 0, 3, ha="center", fontweight="bold")
    ax.set_xlim(-0.6, 26.5)
    note(ax, "even", 23.6, 1 / 24, 2, 1, va="bottom", color=QUIET)
    ticks = np.arange(0, 24, 6 if narrow(ax) else 3)
    ax.set_xticks(ticks, [f"{hour}\n{(hour - 12) % 24}" for hour in ticks])
    ax.set_ylim(0, 1.15 * some["high"].max())
    percent_axis(ax.yaxis)
    ax.set(
        xlabel="hour of the day: UTC, and below it anywhere on earth",
        ylabel=f"share of {int(some['n'].iloc[0]):,} reviews",
    )
    return ax


@styled
def draw_discussion(frame: pd.DataFrame, ax: Axes) -> Axes:
    """Public comments per paper by the kind of people who write them, and the share of papers that have one."""
    some = frame[(frame["author_kind"] != "all") & (frame["comments"] > 0)]
    places = rows(ax, [WRITTEN_BY.get(kind, kind) for kind in some["author_kind"]])
    ax.barh(places, some["value"], 0.6, color=ACCEPT)
    whiskers(ax, None, places, some["low"], some["high"])
    for place, row in zip(places, some.itertuples(), strict=True):
        note(ax, f"{row.value:.2f}\n{percent(row.share, 0)} of papers", row.high, place, 4, 0, va="center")
    ax.set_xlim(0, (1.6 if narrow(ax) else 1.25) * max(some["high"].max(), 0.01))
    ax.set_xlabel(f"public comments per paper, {int(frame['n'].max()):,} papers")
    return ax


@styled
def draw_thread_lengths(frame: pd.DataFrame, ax: Axes) -> Axes:
    """How many papers have so many public comments; those without any stand out."""
    place = np.arange(len(frame))
    ax.bar(place, frame["value"].fillna(0), 0.8, color=[MARK, *[REST] * (len(frame) - 1)])
    whiskers(ax, place, None, frame["low"], frame["high"])
    for at, row in zip(place, frame.itertuples(), strict=True):
        look = {"color": MARK, "fontweight": "bold"} if at == 0 else {}
        note(
            ax,
            percent(row.value, 0).split("\N{NO-BREAK SPACE}")[0] if narrow(ax) else percent(row.value, 0),
            at,
            row.high,
            0,
            3,
            ha="center",
            **look,
        )
    ax.set_xticks(place, [label.replace(" or more", "+") for label in frame["comments"]])
    ax.set_ylim(0, 1.15 * max(frame["high"].max(), 0.01))
    ax.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    percent_axis(ax.yaxis)
    ax.set(xlabel="public comments", ylabel=f"share of {int(frame['n'].max()):,} papers")
    return ax
