"""Figures of the models of arbitrariness, beside the experiments."""

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
    narrow,
    note,
    on_white,
    percent_axis,
    rows,
    say_instead,
    sized,
    spread,
    styled,
    whiskers,
)


@styled
def draw_again(
    frame: pd.DataFrame, ax: Axes, experiments: pd.DataFrame, resampling: pd.DataFrame | None = None
) -> Axes:
    """How often a paper would be accepted again: a row an experiment, measured; below, a row a year, by the model.

    Hollow dots are scores at release and filled ones those that decisions were based on; a tick is what lots would give. `resampling` has the
    simulation of Tran et al., a cross a year. The band of the experiments goes through all rows.
    """
    years = sorted(frame["year"].unique())
    names = [*experiments["experiment"], *map(str, years)]
    rows(ax, names)
    # A row above each of the two parts, for its name.
    places = np.arange(len(names)) + 1.0 + (np.arange(len(names)) >= len(experiments))
    ax.set_yticks(places, names)
    ax.set_ylim(places[-1] + 0.6, -0.4)
    measured, modelled = places[: len(experiments)], dict(zip(years, places[len(experiments) :], strict=True))
    ax.axvspan(experiments["low"].max(), experiments["high"].min(), color=REST, alpha=0.4, linewidth=0, zorder=0)
    whiskers(ax, None, measured, experiments["low"], experiments["high"], color=MARK)
    ax.plot(experiments["value"], measured, "s", color=MARK, zorder=4)
    for place, row in zip(measured, experiments.itertuples(), strict=True):
        note(ax, f"{100 * row.value:.0f}", row.value, place, 0, 5, ha="center", color=MARK, fontweight="bold")
        note(
            ax,
            f"{row.n:,} papers",
            1.0,
            place,
            -2,
            0,
            ha="right",
            va="center",
            color=QUIET,
            xycoords=ax.get_yaxis_transform(),
        )
        ax.plot(row.accepted, place, "|", color=QUIET, markersize=sized(7))
    for year, both in frame.groupby("year"):
        place = modelled[year]
        ax.plot(both["value"], [place] * len(both), color=SHADES[2], linewidth=sized(2), zorder=1)
        whiskers(ax, None, [place] * len(both), both["low"], both["high"])
        for row in both.itertuples():
            face = "white" if row.stage == "release" else ACCEPT
            ax.plot(row.value, place, "o", color=ACCEPT, markerfacecolor=face, zorder=4)
            note(ax, f"{100 * row.value:.0f}", row.value, place, 0, 5, ha="center")
        ax.plot(both["accepted"].iloc[-1], place, "|", color=QUIET, markersize=sized(7))
    if resampling is not None:
        at = resampling["year"].map(modelled)
        ax.plot(resampling["value"], at, "+", color=INK, markersize=sized(6), linestyle="none", zorder=5)
    _name_parts(ax, places, len(experiments), resampling is not None)
    ax.set_xlim(0.15, 1)
    percent_axis(ax.xaxis)
    ax.set(xlabel="share of accepted papers that would be accepted again  (upright tick: by lots)")
    return ax


def _name_parts(ax: Axes, places: np.ndarray, experiments: int, crosses: bool) -> None:
    quiet = {"xycoords": ax.get_yaxis_transform(), "va": "center", "fontweight": "bold"}
    note(ax, "measured: two committees", 0.0, places[0] - 0.95, color=MARK, **quiet)
    short = "model: ○ release, ● final" if narrow(ax) else "model of normal scores: ○ at release, ● final"
    said = f"{short}; + Tran et al." if crosses else short
    note(ax, said, 0.0, places[experiments] - 0.95, color=ACCEPT, **quiet)


@styled
def draw_panels_again(frame: pd.DataFrame, ax: Axes, experiments: pd.DataFrame) -> Axes:
    """The model by number of reviewers: a band from release to final scores for the year's two snapshots, a line for one.

    The experiments are level rules, and so is what lots would give.
    """
    lines = dict(list(frame.dropna(subset=["value"]).groupby("stage", sort=False)))
    if not lines:
        return say_instead(ax, "too few papers for a model")
    if len(lines) == 2:
        low, high = lines.values()
        ax.fill_between(
            low["reviewers"], low["value"], high["value"], color=SHADES[2], alpha=0.4, linewidth=0, zorder=0
        )
    heights = spread([line["value"].iloc[-1] for line in lines.values()], 0.07)
    for (stage, line), height in zip(lines.items(), heights, strict=True):
        face = "white" if stage == "release" else ACCEPT
        whiskers(ax, line["reviewers"], None, line["low"], line["high"])
        ax.plot(line["reviewers"], line["value"], "o-", color=ACCEPT, markerfacecolor=face, zorder=4)
        said = f"{stage} {100 * line['value'].iloc[-1]:.0f}"
        note(ax, said, line["reviewers"].iloc[-1], height, 8, 0, va="center", color=ACCEPT, fontweight="bold")
    for value in experiments["value"]:
        ax.axhline(value, color=MARK, linewidth=0.9, linestyle=(0, (4, 2)), zorder=1)
    said = " and ".join(experiments["experiment"])
    options = {"ha": "right", "va": "top", "color": MARK, "bbox": on_white()}
    note(ax, f"measured: {said}", 12.1, experiments["value"].min(), 0, -3, **options)
    lots = frame["accepted"].iloc[-1]
    ax.axhline(lots, color=QUIET, linewidth=0.7, zorder=1)
    note(ax, "by lots", 12.1, lots, 0, 3, ha="right", color=QUIET)
    ax.set_xlim(0.6, 12.2)
    ax.set_xticks(sorted(frame["reviewers"].unique()))
    ax.set_ylim(max(min(lots, experiments["value"].min()) - 0.1, 0), 1.02)
    percent_axis(ax.yaxis)
    ax.set(xlabel="reviewers of each paper", ylabel="accepted again")
    return ax
