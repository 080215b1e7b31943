"""Figures of agreement: how it grows in the discussion, and what an average of few ratings can tell."""

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
    percent,
    percent_axis,
    points,
    rows,
    say_instead,
    sized,
    spread,
    styled,
    whiskers,
    wrapped,
)
from analysis.errors import with_sign

FILLS = {"release": "white", "discussed": SHADES[2], "final": ACCEPT}  # the later, the fuller


TOO_FEW = "too few reviews to measure agreement"


def _years(frame: pd.DataFrame, ax: Axes) -> list[str]:
    """The years, with their papers where there is room."""
    n = frame.groupby("year")["n"].max()
    return [str(year) if narrow(ax) else f"{year}   {papers:,} papers" for year, papers in n.items()]


@styled
def draw_agreement_years(frame: pd.DataFrame, ax: Axes) -> Axes:
    """Agreement (ICC) of each year: hollow at release, filled after the discussion, joined; growth with its interval beside.

    A lighter filling is a discussion that was still going on; a year whose scores were put back has its release only. Takes the frame of `agreement_by_year`, all papers.
    """
    shown = frame[(frame["measure"] == "icc") & (frame["papers"] == "reviewed")].sort_values("year")
    shown = shown[shown["before"].notna() | shown["after"].notna()]
    if shown.empty:
        return say_instead(ax, TOO_FEW)
    # The little that moved before scores were put back would look as if nobody had been going to move.
    shown = shown.assign(after=shown["after"].mask(shown["put_back"] & shown["before"].notna()))
    places = rows(ax, _years(shown, ax))
    ax.hlines(places, shown["before"], shown["after"], color=REST, linewidth=sized(3.2), zorder=1)
    for side in ("before", "after"):
        seen = shown[side].notna()
        whiskers(ax, None, places[seen], shown.loc[seen, f"{side}_low"], shown.loc[seen, f"{side}_high"])
        for stage, some in shown.assign(place=places).groupby(f"{side}_stage"):
            face = FILLS.get(stage, "white")
            ax.plot(some[side], some["place"], "o", color=ACCEPT, markerfacecolor=face, zorder=4)
    for place, row in zip(places, shown.itertuples(), strict=True):
        note(ax, _growth(row, narrow(ax)), 1, place, 4, 0, xycoords=ax.get_yaxis_transform(), va="center")
    _name_stages(ax, shown.assign(place=places))
    ax.set_xlim(0, 1.06 * max(shown[["before_high", "after_high"]].max().max(), 0.05))
    ax.grid(axis="x")
    ax.set_xlabel("ICC: share of the variance of ratings that lies between papers")
    return ax


def _growth(row, short: bool) -> str:
    """What is said beside a year: its growth, or why there is none."""
    if row.put_back and not np.isnan(row.before):
        return "put back" if short else "scores were put back\nduring the discussion"
    if np.isnan(row.before) or np.isnan(row.after):
        stage = row.after_stage if np.isnan(row.before) else row.before_stage
        return stage if short else f"{stage} only"
    grown = with_sign(row.value, 3)
    return grown if short else f"{grown}  ({row.low:.3f} to {row.high:.3f})"


def _name_stages(ax: Axes, shown: pd.DataFrame) -> None:
    """The stages, written once above the first year that has each on either side."""
    named: set[str] = set()
    for row in shown.dropna(subset=["before", "after"]).itertuples():
        for stage, value, ha in (
            (row.before_stage, row.before_low, "right"),
            (row.after_stage, row.after_high, "left"),
        ):
            if stage not in named and abs(row.after - row.before) > 0.03:
                named.add(stage)
                words = {"release": "at release", "discussed": "discussed"}.get(stage, stage)
                note(ax, words, value, row.place, -4 if ha == "right" else 4, 0, ha=ha, va="center", color=ACCEPT)


@styled
def draw_reliability(frame: pd.DataFrame, ax: Axes) -> Axes:
    """How reliable the average of one, two, three ... reviewers is: a line a year, a dot where most papers are."""
    frame = frame.dropna(subset=["value"])
    if frame.empty:
        return say_instead(ax, TOO_FEW)
    ends = []
    for year, line in frame.groupby("year"):
        usual = line.loc[line["papers_with"].idxmax()]
        ax.fill_between(line["reviewers"], line["low"], line["high"], color=SHADES[2], alpha=0.35, linewidth=0)
        ax.plot(line["reviewers"], line["value"], color=ACCEPT, linewidth=0.9)
        ax.plot(usual["reviewers"], usual["value"], "o", color=MARK, zorder=5)
        ends.append((year, line["value"].iloc[-1]))
    last = frame["reviewers"].max()
    for (year, value), height in zip(
        ends, spread([value for _, value in ends], 0.075 if narrow(ax) else 0.06), strict=True
    ):
        ax.plot([last, last + 0.25], [value, height], color=QUIET, linewidth=0.5, clip_on=False)
        note(ax, str(year), last + 0.3, height, 0, 0, va="center", color=ACCEPT)
    ax.set_xlim(1, last)
    ax.set_ylim(0, 1)
    ax.set_xticks(range(1, int(last) + 1))
    ax.grid(axis="y")
    note(
        ax,
        wrapped("dots: as many reviewers as most papers have", 0.36 * ax.figure.get_figwidth(), points()),
        0.97,
        0.06,
        xycoords="axes fraction",
        ha="right",
        color=MARK,
    )
    ax.set(xlabel="reviewers of a paper", ylabel="reliability of their average")
    return ax


@styled
def draw_uncertain_order(frame: pd.DataFrame, ax: Axes) -> Axes:
    """For how many pairs of papers the averages tell no order: a bar a year of ties, uncertain pairs and clear ones."""
    shares = frame.pivot(index="year", columns="order", values="value").dropna()
    frame = frame[frame["year"].isin(shares.index)]
    if shares.empty:
        return say_instead(ax, TOO_FEW)
    places = rows(ax, _years(frame, ax))
    uncertain = shares["uncertain"] - shares["tied"]
    ax.barh(places, shares["tied"], 0.62, color=MARK)
    ax.barh(places, uncertain, 0.62, left=shares["tied"], color=REST)
    ax.barh(places, 1 - shares["uncertain"], 0.62, left=shares["uncertain"], color=ACCEPT)
    for place, row in zip(places, shares.itertuples(), strict=True):
        for share, start, color in (
            (row.tied, 0, "white"),
            (row.uncertain - row.tied, row.tied, INK),
            (1 - row.uncertain, row.uncertain, "white"),
        ):
            said = f"{100 * share:.0f}" if narrow(ax) else percent(share, 0)
            if share * ax.figure.get_figwidth() > 0.12:
                note(ax, said, start + share / 2, place, ha="center", va="center", color=color)
    ranges = frame[frame["order"] == "uncertain"].sort_values("year")
    whiskers(ax, None, places, ranges["low"], ranges["high"])
    heads = (
        ("equal averages", 0, "left", MARK),
        ("difference within its error", 0.45, "center", QUIET),
        ("order clear", 1, "right", ACCEPT),
    )
    for words, x, ha, color in heads:
        short = {"equal averages": "equal", "difference within its error": "within error", "order clear": "clear"}
        note(ax, short[words] if narrow(ax) else words, x, -0.5, 0, 3, ha=ha, color=color, fontweight="bold")
    ax.set_xlim(0, 1)
    percent_axis(ax.xaxis)
    ax.set_xlabel("share of all pairs of papers, by release scores")
    return ax


@styled
def draw_unanimity(frame: pd.DataFrame, ax: Axes) -> Axes:
    """How often reviewers are unanimous, and how often at opposite ends: hollow what chance gives, filled what was seen."""
    frame = frame[frame["n"] > 0]
    years = sorted(frame["year"].unique())
    places = rows(ax, _years(frame, ax))
    for measure, color, move in (("unanimous", ACCEPT, -0.17), ("opposite", MARK, 0.17)):
        some = frame[frame["measure"] == measure].set_index("year").loc[years]
        level = places + move
        ax.hlines(level, some["independent"], some["value"], color=REST, linewidth=sized(2.6), zorder=1)
        whiskers(ax, None, level, some["low"], some["high"])
        ax.plot(some["independent"], level, "o", color=color, markerfacecolor="white", zorder=4)
        ax.plot(some["value"], level, "o" if measure == "unanimous" else "D", color=color, zorder=5)
        for place, row in zip(level, some.itertuples(), strict=True):
            side = 1 if row.value >= row.independent else -1
            note(
                ax,
                percent(row.value, 0),
                max(row.high, row.value) if side > 0 else min(row.low, row.value),
                place,
                4 * side,
                0,
                ha="left" if side > 0 else "right",
                va="center",
                color=color,
            )
    ax.set_xlim(-0.035, 1.12 * max(frame[frame["measure"] != "range"][["high", "independent"]].max().max(), 0.05))
    ax.grid(axis="x")
    percent_axis(ax.xaxis)
    ax.set_xlabel("share of papers; hollow: if the same ratings were dealt at random")
    note(ax, "unanimous", 0.98, 0.14, xycoords="axes fraction", ha="right", color=ACCEPT, fontweight="bold")
    note(ax, "at opposite ends", 0.98, 0.06, xycoords="axes fraction", ha="right", color=MARK, fontweight="bold")
    return ax
