"""Figures of growth: how large the years are, and what each step of the process leaves."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.transforms import offset_copy

from analysis.draw.canvas import (
    ACCEPT,
    INK,
    QUIET,
    REST,
    count_axis,
    narrow,
    note,
    percent,
    percent_axis,
    points,
    rows,
    styled,
)

NOT_KNOWN = {"facecolor": "white", "edgecolor": REST, "hatch": "////", "linewidth": 0}
STAGES = ("accepted", "decided, not accepted", "reviewed, not decided", "no review")
TONES = (ACCEPT, "#9aa0a6", REST, "#e9eaeb")


@styled
def draw_growth(frame: pd.DataFrame, ax: Axes) -> Axes:
    """Submissions of each year as bars, with the factor to the year before (where there is room for it).

    Reviews per paper stand under the year.
    """
    size = frame["official"].fillna(frame["papers"]).astype(float)
    ax.bar(frame["year"], size, 0.7, color=REST)
    for row, height in zip(frame.itertuples(), size, strict=True):
        factor = "" if np.isnan(row.factor) or narrow(ax) else f"\N{MULTIPLICATION SIGN}{row.factor:.1f}\n"
        said = f"{height / 1000:.1f}k" if narrow(ax) else f"{height:,.0f}"
        note(ax, f"{factor}{said}", row.year, height, 0, 3, ha="center")
    ax.set_xticks(frame["year"], [_tick(row, narrow(ax)) for row in frame.itertuples()])
    ax.set_ylim(0, 1.2 * max(size.max(), 1))
    count_axis(ax.yaxis)
    ax.set(xlabel="year, and reviews per paper with a review", ylabel="submissions")
    return ax


def _tick(row, short: bool) -> str:
    year = f"{row.year % 100:02d}" if short else str(row.year)
    return f"{year}\n{'' if np.isnan(row.value) else f'{row.value:.1f}' if short else f'{row.value:.2f}'}"


@styled
def draw_funnel(frame: pd.DataFrame, ax: Axes) -> Axes:
    """What became of the submissions of each year, a bar a year that adds up to all of them; rates stand beside it.

    What a snapshot cannot tell apart is hatched; rates in brackets are from the official counts.
    """
    years = list(frame["year"].unique())
    papers = frame.pivot(index="year", columns="step", values="papers").astype(float)
    rates = frame.pivot(index="year", columns="step", values="value")
    official = frame.pivot(index="year", columns="step", values="official_rate")
    places = rows(ax, [str(year) for year in years])
    for place, year in zip(places, years, strict=True):
        _draw_year(ax, place, papers.loc[year])
        for x, step in ((1.02, "submitted"), (1.02 + _column(ax), "decided")):
            note(ax, _rate(rates.loc[year, step], official.loc[year, step]), x, place, va="center")
    for x, text in ((1.02, "of submitted"), (1.02 + _column(ax), "of decided")):
        note(ax, text.replace(" ", "\n") if narrow(ax) else text, x, -0.55, va="bottom", color=QUIET)
    ax.set_xlim(0, 1.02 + 2 * _column(ax))
    ax.set_xticks(np.linspace(0, 1, 6 if not narrow(ax) else 3))
    ax.spines["bottom"].set_bounds(0, 1)
    percent_axis(ax.xaxis)
    handles = [*_keys(ax, dict(zip(STAGES, TONES, strict=True))), _unknown_key(ax)]
    ax.set_xlabel("share of the submissions", loc="left")
    below = {"loc": "upper left", "bbox_to_anchor": (0, 0), "borderpad": 0, "frameon": False}
    below["bbox_transform"] = offset_copy(ax.transAxes, ax.figure, y=-4.6 * points(), units="points")
    spacing = {"handlelength": 1, "columnspacing": 1, "handletextpad": 0.4, "fontsize": "small"}
    ax.legend(handles=handles, ncols=2 if narrow(ax) else 5, **below, **spacing)
    return ax


def _column(ax: Axes) -> float:
    """The room of one column of rates, in shares of the bars' length."""
    return 0.34 if narrow(ax) else 0.2


def _rate(value: float, official: float) -> str:
    if not np.isnan(value):
        return percent(value)
    return "not known" if np.isnan(official) else f"({percent(official)})"


def _draw_year(ax: Axes, place: float, papers: pd.Series) -> None:
    left, whole = 0.0, papers["submitted"] or np.nan
    decided, accepted = papers["decided"], papers["accepted"]
    known = accepted, decided - accepted, papers["reviewed"] - decided
    rest = papers["submitted"] - papers["reviewed"]
    for number, tone in zip(known, TONES, strict=False):
        if not np.isnan(number):
            ax.barh(place, number / whole, 0.66, left=left, color=tone)
            left += number / whole
    if np.isnan(decided):
        ax.barh(place, (whole - rest) / whole - left, 0.66, left=left, **NOT_KNOWN)
    ax.barh(place, rest / whole, 0.66, left=1 - rest / whole, color=TONES[-1])
    if not np.isnan(accepted):
        inside = {"color": "white", "va": "center", "fontweight": "bold"}
        note(ax, f"{accepted:,.0f}", 0, place, 3, 0, **inside)
    note(ax, f"{whole:,.0f}", 1, place, -3, 0, ha="right", va="center", color=INK)


def _keys(ax: Axes, tones: dict[str, str]) -> list:
    from matplotlib.patches import Patch

    return [Patch(color=tone, label=name) for name, tone in tones.items()]


def _unknown_key(ax: Axes):
    from matplotlib.patches import Patch

    return Patch(label="not told apart", **NOT_KNOWN)
