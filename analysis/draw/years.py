"""Figures across years."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from analysis.draw.canvas import ACCEPT, QUIET, narrow, note, percent, percent_axis, styled, whiskers


@styled
def draw_years(frame: pd.DataFrame, ax: Axes) -> Axes:
    """The share of ratings on the accept side, year by year, with its interval; rules mark where the scale changes.

    Final scores are filled dots, earlier ones hollow. Means are not drawn: they cannot be compared across scales.
    """
    whiskers(ax, frame["year"], None, frame["low"], frame["high"])
    final = frame["stage"] == "final"
    for some, face in ((frame[final], ACCEPT), (frame[~final], "white")):
        ax.plot(some["year"], some["value"], "o", color=ACCEPT, markerfacecolor=face, zorder=4)
    for row in frame.dropna(subset=["value"]).itertuples():
        said = percent(row.value, 0)
        note(ax, said.split("\N{NO-BREAK SPACE}")[0] if narrow(ax) else said, row.year, row.high, 0, 4, ha="center")
    _draw_scales(frame, ax)
    ax.set_xticks(frame["year"], [_tick(row, narrow(ax)) for row in frame.itertuples()])
    ax.set_xlim(frame["year"].min() - 0.6, frame["year"].max() + 0.6)
    ax.set_ylim(0, (1.6 if narrow(ax) else 1.2) * max(frame["high"].max(), 0.01))
    percent_axis(ax.yaxis)
    letters = ", ".join(f"{stage[0]} = {stage}" for stage in frame["stage"].unique())
    ax.set_xlabel(letters if narrow(ax) else "year and stage of its scores")
    ax.set_ylabel("share of ratings on the accept side")
    return ax


def _tick(row, short: bool) -> str:
    return f"{row.year % 100:02d}\n{row.stage[0]}" if short else f"{row.year}\n{row.stage}"


def _draw_scales(frame: pd.DataFrame, ax: Axes) -> None:
    """The scale of each run of years above them, and a rule where it changes."""
    run = (frame["scale"] != frame["scale"].shift()).cumsum()
    ends = [(some["year"].min(), some["year"].max(), some["scale"].iloc[0]) for _, some in frame.groupby(run)]
    for place, (first, last, scale) in enumerate(ends):
        text = f"scale {_short(scale)}" if place == 0 else _short(scale)
        turned = {"rotation": 90, "va": "top", "dy": -2} if narrow(ax) else {"dy": 2}
        note(ax, text, (first + last) / 2, 1, xycoords=ax.get_xaxis_transform(), ha="center", color=QUIET, **turned)
        if place:
            ax.axvline((ends[place - 1][1] + first) / 2, color=QUIET, linewidth=0.7, linestyle=(0, (4, 2)), zorder=0)


def _short(scale: str) -> str:
    """``1 to 10`` for a scale without gaps; a long remark goes on a line of its own."""
    first, last = scale.split()[0], scale.split()[-1]
    if last.isdigit() and len(scale.split()) > 4 and scale.split() == [*map(str, range(int(first), int(last) + 1))]:
        return f"{first} to {last}"
    return scale.replace(" (", "\n(")
