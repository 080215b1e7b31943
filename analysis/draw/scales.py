"""Figures of years on different scales: sides, ranks, reviews against reviews, and what the scale may have done."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MultipleLocator

from analysis.draw.canvas import (
    ACCEPT,
    INK,
    MARK,
    QUIET,
    REST,
    SHADES,
    inches_wide,
    narrow,
    note,
    on_white,
    percent,
    percent_axis,
    points,
    rows,
    say_instead,
    sized,
    spread,
    styled,
    whiskers,
)

GREYS = ("#85898d", "#b3b7ba", "#d3d5d7", "#e9eaeb")  # below the line, the nearest first
NOTHING = "no two years that can be compared"
SHOWN = (0.02, 0.98)  # of a rank map: beyond it there are too few papers


@styled
def draw_sides(frame: pd.DataFrame, ax: Axes, years: pd.DataFrame) -> Axes:
    """Ratings of each year to both sides of the line between reject and accept, each level a part of its bar.

    `frame` is the statistic ratings for each year, `years` the statistic years of the same samples, for scales and
    intervals. Rules stand where the scale changes.
    """
    listed = list(years["year"])
    places = rows(ax, [str(year) for year in listed])
    for place, year in zip(places, listed, strict=True):
        _draw_levels(ax, place, frame[frame["year"] == year])
    whiskers(ax, None, places, years["low"], years["high"])
    right = years["high"].max() + (0.22 if narrow(ax) else 0.14)
    for place, row in zip(places, years.itertuples(), strict=True):
        note(ax, percent(row.value), right, place, -6, 0, ha="right", va="center", fontweight="bold", color=ACCEPT)
    _draw_changes(ax, places, years["scale"].tolist(), right)
    left = 1.02 * (1 - years["value"].min())
    ax.set_xlim(-left, right + (0.02 if narrow(ax) else 0.22))
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.xaxis.set_major_locator(MultipleLocator(0.2))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda share, _: percent(abs(share), 0) if share < right else ""))
    ax.set_xlabel("reject side \N{LEFTWARDS ARROW} share of the ratings \N{RIGHTWARDS ARROW} accept side")
    return ax


def _draw_levels(ax: Axes, place: float, levels: pd.DataFrame) -> None:
    accepting = levels["accept_side"].fillna(False).astype(bool)
    width = ax.figure.get_figwidth() / 2
    for some, tones, sign in ((levels[accepting], SHADES[::-1][1:], 1), (levels[~accepting][::-1], GREYS, -1)):
        at = 0.0
        for step, row in enumerate(some.itertuples()):
            share = 0.0 if np.isnan(row.value) else row.value
            ax.barh(place, sign * share, 0.7, left=at, color=tones[min(step, len(tones) - 1)], edgecolor="white")
            if share * width > 1.6 * inches_wide(str(row.rating), points()):
                dark = sign > 0 and step > 0
                inside = {"ha": "center", "va": "center", "color": "white" if dark else INK}
                note(ax, str(row.rating), at + sign * share / 2, place, **inside)
            at += sign * share


def _draw_changes(ax: Axes, places: np.ndarray, scales: list[str], right: float) -> None:
    """The scale beside the first year that has it, and a rule above that year."""
    for place, scale, before in zip(places, scales, ["", *scales], strict=False):
        if scale == before:
            continue
        if before:
            ax.axhline(place - 0.5, color=QUIET, linewidth=0.7, linestyle=(0, (4, 2)))
        if not narrow(ax):
            short = "1 to 10" if scale == "1 2 3 4 5 6 7 8 9 10" else scale
            note(ax, short.replace(" (", "\n("), right, place, 4, 0, va="center", color=QUIET)
    if not narrow(ax):
        note(ax, "scale", right, places[0] - 0.55, 4, 0, va="bottom", color=QUIET)


@styled
def draw_rank_map(frame: pd.DataFrame, ax: Axes) -> Axes:
    """The average of other years that ranks as high as an average of this one: a line a year, and equality dashed."""
    shown = frame[frame["percentile"].between(*SHOWN)]
    if shown.empty:
        return say_instead(ax, NOTHING)
    ends = shown[["average", "value"]].to_numpy()
    low, high = np.floor(ends.min()), np.floor(ends.max()) + 1
    ax.plot([low, high], [low, high], color=QUIET, linewidth=0.8, linestyle=(0, (4, 2)), zorder=1)
    turned = {"rotation": 45, "rotation_mode": "anchor", "transform_rotates_text": True}
    note(ax, "the same number", low, low, 14, 3, color=QUIET, **turned)
    lines = [line for _, line in shown.groupby("than", sort=True)]
    looks = _looks(len(lines))
    gap = 1.25 * points() / 72 / (0.72 * ax.figure.get_figheight()) * (high - low)
    heights = spread([line["value"].iloc[-1] for line in lines], gap)
    for line, (tone, dash), height in zip(lines, looks, heights, strict=True):
        ax.fill_between(line["average"], line["low"], line["high"], color=tone, alpha=0.2, linewidth=0)
        ax.plot(line["average"], line["value"], color=tone, linestyle=dash)
        x, y = line["average"].iloc[-1], line["value"].iloc[-1]
        ax.annotate(f"{line['than'].iloc[0]}", (x, y), (x + 0.04 * (high - low), height), fontsize="small", color=tone,
                    va="center", bbox=on_white(), arrowprops={"arrowstyle": "-", "color": tone, "linewidth": 0.5, "shrinkB": 1})  # fmt: skip
    ax.set(xlim=(low, high), ylim=(low, high))
    ax.grid()
    ax.set_xlabel(f"average in {frame['year'].iloc[0]}")
    ax.set_ylabel("average of the same rank in another year")
    return ax


def _looks(number: int) -> list[tuple[str, object]]:
    """A tone and a dash a line, the latest the darkest."""
    tones = ("#0f4c81", "#c8500a", "#4f8fc0", "#6b6b6b", "#8a6d3b", "#a3a6a9")
    dashes = ("-", "-", (0, (5, 1)), (0, (5, 1)), (0, (1, 1)), (0, (1, 1)))
    looks = [(tones[place % len(tones)], dashes[place % len(dashes)]) for place in range(number)]
    return looks[::-1]


@styled
def draw_preference(frame: pd.DataFrame, ax: Axes) -> Axes:
    """How often a review of a year is more favourable than one of the year before, a row a pair of years.

    A dot is the probability with its interval; where the words leave two readings open the bar between both dots holds
    what can be said.
    """
    pairs = frame.dropna(subset=["value"]).groupby(["year", "than"], sort=False)
    if not len(pairs):
        return say_instead(ax, NOTHING)
    places = rows(ax, [f"{year} against {than}" for year, than in pairs.groups])
    for place, (_, some) in zip(places, pairs, strict=True):
        _draw_range(ax, place, some["value"])
        whiskers(ax, None, np.full(len(some), place), some["low"], some["high"])
        ax.plot(some["value"], np.full(len(some), place), "o", color=ACCEPT, zorder=4)
        said = " to ".join(percent(value) for value in sorted(some["value"]))
        note(ax, said, some["high"].max(), place, 5, 0, va="center", bbox=on_white())
    ax.axvline(0.5, color=QUIET, linewidth=0.8, linestyle=(0, (4, 2)), zorder=0)
    note(ax, "even", 0.5, -0.5, 3, 2, va="bottom", color=QUIET)
    span = max(np.abs(frame[["low", "high"]].to_numpy(dtype=float) - 0.5).max(), 0.02)
    ax.set_xlim(0.5 - 1.1 * span, 0.5 + (2.4 if narrow(ax) else 1.7) * span)
    percent_axis(ax.xaxis)
    ax.set_xlabel("probability that a review is more favourable, ties half")
    return ax


def _draw_range(ax: Axes, place: float, values: pd.Series) -> None:
    if len(values) > 1:
        ax.plot([values.min(), values.max()], [place, place], color=REST, linewidth=sized(7), zorder=1)


@styled
def draw_scale_change(frame: pd.DataFrame, ax: Axes) -> Axes:
    """What the new scale may have done to the mean rating: by label a range, by rank all of the change.

    A row a pair of years whose scales differ.
    """
    known = frame[frame["reading"] != "same scale"].dropna(subset=["value"])
    if known.empty:
        return say_instead(ax, NOTHING)
    pairs = known.groupby(["year", "than", "stage"])
    between = "\n" if narrow(ax) else ", "
    places = rows(ax, [f"{than} to {year}{between}{stage}" for year, than, stage in pairs.groups])
    for place, (_, some) in zip(places, pairs, strict=True):
        label, rank = some[some["reading"] != "by rank"], some[some["reading"] == "by rank"].iloc[0]
        _draw_range(ax, place, label["value"])
        whiskers(ax, None, np.full(len(label), place), label["low"], label["high"])
        ax.plot(label["value"], np.full(len(label), place), "o", color=ACCEPT, zorder=4)
        ax.plot(rank["value"], place, "D", color=MARK, markerfacecolor="white", zorder=5)
        shares = sorted(label["share"])
        said = " to ".join(dict.fromkeys(percent(share, 0) for share in shares))
        note(ax, said, 1, place, 4, 0, xycoords=ax.get_yaxis_transform(), va="center", color=ACCEPT)
    heads = {"xycoords": ax.get_yaxis_transform(), "va": "bottom", "color": ACCEPT}
    note(ax, "of the change", 1, -0.55, 4, 0, **heads)
    ax.axvline(0, color=INK, linewidth=0.8, zorder=0)
    ax.margins(x=0.08)
    ax.grid(axis="x")
    ax.set_xlabel(
        "change of the mean rating: \N{WHITE DIAMOND} all of it (by rank), \N{BLACK CIRCLE} what the words of the new scale make of it"
    )
    return ax
