"""Figures of movement: what rose to the right in blue, what fell to the left in vermilion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, MaxNLocator

from analysis.draw.canvas import (
    ACCEPT,
    INK,
    MARK,
    QUIET,
    REST,
    first_sentence,
    narrow,
    note,
    on_white,
    percent,
    percent_axis,
    points,
    rows,
    styled,
    whiskers,
    wrapped,
)

RELIABLE = 10  # papers or reviews: a share of fewer is not drawn
STEPS = [1, 2, 5, 10]  # between ticks, so that they are whole percents
MIDDLE = {"rose": 0.5, "stayed": 0.6, "fell": 0.5}  # the share near which a line is labelled: there they are apart
LOOKS = {  # of each direction: colour and marker
    "rose": (ACCEPT, "^"),
    "stayed": (QUIET, "o"),
    "fell": (MARK, "v"),
}


# To both sides ------------------------------------------------------------------------------------------------------


@styled
def draw_average_movement(frame: pd.DataFrame, ax: Axes) -> Axes:
    """How many papers' averages rose and fell, a row a start, the highest first: to the right and to the left of zero."""
    starts = frame[frame["start"] != "all"].pivot(index="start", columns="direction").iloc[::-1]
    starts = starts.loc[sorted(starts.index, key=_lower_end, reverse=True)]
    _draw_both_sides(ax, list(starts.index), starts, "fell", "rose")
    ax.set_xlabel(f"share of the papers with that start, {int(_all_papers(frame)):,} papers")
    ax.set_ylabel("average at the start")
    return ax


def _all_papers(frame: pd.DataFrame) -> int:
    return frame.loc[frame["start"] == "all", "n"].iloc[0]


def _lower_end(start: str) -> float:
    return float(start.split(" ")[0])


@styled
def draw_movement_by(frame: pd.DataFrame, ax: Axes, what: str) -> Axes:
    """How many ratings went up and down, a row a level of what the reviews are split by, in its own words."""
    levels = frame["level"].unique()
    wide = frame.pivot(index="level", columns="change").loc[levels[::-1] if what == "first rating" else levels]
    words = frame.drop_duplicates("level").set_index("level")["label"]
    room = (0.3 if narrow(ax) else 0.36) * ax.figure.get_figwidth()
    labels = [_at_most(2, wrapped(_worded(level, words[level]), room, points())) for level in wide.index]
    _draw_both_sides(ax, labels, wide, "down", "up")
    ax.set_xlabel(f"share of the ratings, by {what}; {int(frame.drop_duplicates('level')['n'].sum()):,} reviews")
    return ax


def _at_most(lines: int, text: str) -> str:
    """So many lines of a text, and dots where it has more: the table behind has it whole."""
    first = text.split("\n")[:lines]
    return text if text.count("\n") < lines else "\n".join(first) + " …"


def _worded(level: object, label: str) -> str:
    """A level with its words, or the words alone where they are the level's name."""
    short = first_sentence(label).split(",")[0]
    return short if isinstance(level, str) else f"{level}  {short}".rstrip()


def _draw_both_sides(ax: Axes, labels: Sequence[str], wide: pd.DataFrame, left: str, right: str) -> None:
    """Bars to both sides of zero with intervals, their shares outside, and how many there are at the edge."""
    places, drawn = rows(ax, labels), wide["n"][right].to_numpy() >= RELIABLE
    wide = wide.where(np.array([drawn] * wide.shape[1]).T | (wide.columns.get_level_values(0) == "n"))
    for name, sign, color, hatch in ((right, 1, ACCEPT, "////"), (left, -1, MARK, "")):
        value, low, high = (sign * wide[part][name].fillna(0).to_numpy() for part in ("value", "low", "high"))
        ax.barh(places, value, 0.62, color=color, hatch=hatch, edgecolor="white", linewidth=0)
        whiskers(ax, None, places, low, high)
        for place, share, end in zip(places, wide["value"][name], high, strict=True):
            if np.isfinite(share):
                where = {"ha": "left" if sign > 0 else "right", "va": "center"}
                note(ax, percent(share), end, place, 4 * sign, 0, color=color, **where)
    # Room for a share beside the longest interval of each side, and for the counts at the right edge.
    furthest = {name: np.nanmax([*wide["high"][name], 1e-3]) for name in (left, right)}
    inch = sum(furthest.values()) / (0.3 * ax.figure.get_figwidth())
    ax.set_xlim(-furthest[left] - 0.5 * inch, furthest[right] + 1.3 * inch)
    edge = {"xycoords": ax.get_yaxis_transform(), "ha": "right", "va": "center", "color": QUIET}
    for place, n in zip(places, wide["n"][right], strict=True):
        note(ax, f"n = {int(n):,}", 1, place, **edge)
    ax.set_ylim(len(places) - 0.5, -1.2)
    for name, sign, color in ((right, 1, ACCEPT), (left, -1, MARK)):
        arrow = f"{name} \N{RIGHTWARDS ARROW}" if sign > 0 else f"\N{LEFTWARDS ARROW} {name}"
        look = {"ha": "left" if sign > 0 else "right", "va": "center", "fontweight": "bold"}
        note(ax, arrow, 0, -0.85, 4 * sign, 0, color=color, **look)
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.xaxis.set_major_locator(MaxNLocator(5, steps=STEPS))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda share, _: percent(abs(share), 0)))


# From rating to rating ----------------------------------------------------------------------------------------------


@styled
def draw_transitions(frame: pd.DataFrame, ax: Axes) -> Axes:
    """From which rating to which: a row a first rating, the highest on top; the diagonal stayed."""
    shares = frame.pivot(index="before", columns="after", values="value").sort_index(ascending=False)
    counts = frame.pivot(index="before", columns="after", values="count").loc[shares.index]
    levels, room = list(shares.columns), 0.75 * ax.figure.get_figwidth() / shares.shape[1]
    for row, first in enumerate(shares.index):
        for column, second in enumerate(levels):
            share, count = shares.loc[first, second], int(counts.loc[first, second])
            shade = _shade(first, second, np.nan_to_num(share))
            ax.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=shade, edgecolor="white", linewidth=1.5))
            if count:
                said = f"{count:,}" if room < 0.5 else f"{percent(share)}\n{count:,}"
                look = {"ha": "center", "va": "center", "fontweight": "normal" if first == second else "bold"}
                note(ax, said, column, row, color=INK if sum(shade) > 1.5 else "white", **look)
    n = frame.groupby("before")["n"].first()
    ax.set_yticks(range(len(shares)), [f"{level}\nn = {n[level]:,}" for level in shares.index])
    ax.set_xticks(range(len(levels)), levels)
    ax.set(xlim=(-0.5, len(levels) - 0.5), ylim=(len(shares) - 0.5, -0.5))
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.set(ylabel="first rating", xlabel="second rating; percent and number of the reviews of a row")
    return ax


def _shade(first: int, second: int, share: float) -> tuple[float, ...]:
    """Grey on the diagonal, blue where a rating rose, vermilion where it fell, deeper where more did."""
    if first == second:
        return to_rgb(REST)
    depth = min(share / 0.15, 1) ** 0.6  # moves are rare: a seventh of a row is as deep as it gets
    color = np.array(to_rgb(ACCEPT if second > first else MARK))
    return tuple(float(part) for part in 1 - (1 - color) * (0.06 + 0.94 * depth) if np.isfinite(part)) or (1, 1, 1)


# What became of it --------------------------------------------------------------------------------------------------


@styled
def draw_fates(frame: pd.DataFrame, ax: Axes) -> Axes:
    """What share was accepted of the papers that started alike, a line for those that rose, stayed and fell.

    Shares of fewer than ten papers are left out; below each start is how many papers went each way.
    """
    known = frame[frame["n"] >= RELIABLE]
    starts = list(dict.fromkeys(known["start"]))
    for shift, (way, (color, marker)) in zip((0.06, 0, -0.06), LOOKS.items(), strict=True):
        line = known[known["direction"] == way]
        x = np.array([starts.index(start) for start in line["start"]]) + shift
        whiskers(ax, x, None, line["low"], line["high"], color=color)
        ax.plot(x, line["value"], marker, linestyle="-", color=color, zorder=4)
        if len(line):
            at = (line["value"] - MIDDLE[way]).abs().to_numpy().argmin()
            side = -1 if way == "rose" else 1
            look = {"ha": "right" if side < 0 else "left", "va": "center", "fontweight": "bold", "bbox": on_white()}
            note(ax, way, x[at], line["value"].iloc[at], 6 * side, -7 * (way == "fell"), color=color, **look)
    n = frame.pivot(index="start", columns="direction", values="n").loc[starts]
    lines = [[_lower(start), *(f"{n.loc[start, way]:,}" for way in LOOKS)] for start in starts]
    ax.set_xticks(range(len(starts)), ["\n".join(line) for line in lines])
    heads = "\n".join(["from", *LOOKS])
    beside = {"xycoords": ("axes fraction", "axes fraction"), "ha": "right", "va": "top", "color": QUIET}
    note(ax, heads, 0, 0, -8, -ax.xaxis.get_tick_padding() - 2.5, **beside)
    ax.set_ylim(-0.04, 1.04)
    ax.set_yticks([0, 0.25, 0.5, 0.75, 1])
    percent_axis(ax.yaxis)
    ax.grid(axis="y")
    ax.set_ylabel("share of papers accepted")
    ax.set_xlabel("average at the start, and papers that went each way. This is not an effect of the rebuttal.")
    return ax


def _lower(start: str) -> str:
    return start.split(" ")[0]


@styled
def draw_conformity(frame: pd.DataFrame, ax: Axes) -> Axes:
    """How many ratings moved towards those of the others, and away from them, beside what chance gives: a row a rating."""
    ratings = list(dict.fromkeys(frame["rating"]))
    ratings = [*ratings[-2::-1], "all"]
    places = dict(zip(ratings, rows(ax, ratings), strict=True))
    looks = {"towards": (-0.16, ACCEPT, ACCEPT), "away": (0.16, MARK, "white")}
    for row in frame.itertuples():
        if not row.n or row.permuted_high == row.count == 0:  # the ends of the scale can only go one way
            continue
        shift, color, face = looks[row.move]
        place = places[row.rating] + shift
        ax.barh(place, row.permuted_high - row.permuted_low, 0.24, left=row.permuted_low, color=REST, zorder=1)
        ax.plot([row.permuted] * 2, [place - 0.14, place + 0.14], color=INK, linewidth=1, zorder=2)
        whiskers(ax, None, place, row.low, row.high, color=color)
        ax.plot(row.value, place, "o", color=color, markerfacecolor=face, zorder=4)
        end = max(row.high, row.permuted_high)
        note(ax, percent(row.value), end, place, 4, 0, va="center", color=color)
    ax.set_xlim(-0.004, (1.6 if narrow(ax) else 1.35) * np.nanmax(frame[["high", "permuted_high"]].to_numpy()))
    n = frame.drop_duplicates("rating").set_index("rating")["n"]
    edge = {"xycoords": ax.get_yaxis_transform(), "ha": "right", "va": "center", "color": QUIET}
    for rating, place in places.items():
        note(ax, f"n = {n[rating]:,}", 1, place, **edge)
    ax.set_ylim(len(ratings) - 0.5, -1.1)
    others = "" if narrow(ax) else " the others"
    key = {"va": "center", "fontweight": "bold", "xycoords": ax.get_yaxis_transform()}
    note(ax, f"\N{BLACK CIRCLE} towards{others}", 0.02, -0.8, color=ACCEPT, **key)
    note(ax, "\N{WHITE CIRCLE} away", 0.4, -0.8, color=MARK, **key)
    note(ax, "grey: by chance", 0.62, -0.8, color=QUIET, **{**key, "fontweight": "normal"})
    ax.xaxis.set_major_locator(MaxNLocator(6, steps=STEPS))
    percent_axis(ax.xaxis)
    ax.set(ylabel="first rating", xlabel="share of the reviews whose co-reviewers rated otherwise at first")
    return ax
