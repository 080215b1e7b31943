"""Figures of scores: ratings, paper averages, thresholds, groups of ten."""

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
    SHADES,
    count_axis,
    first_sentence,
    inches_wide,
    narrow,
    note,
    on_white,
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

MARKED = (0.1, 0.25, 0.5)  # the shares of papers whose thresholds are marked
LABELLED = (0.01, 0.05, 0.1, 0.25, 0.5, 0.7, 0.9)  # the thresholds that are written out
ROOM = 60  # points that the needles of averages have on each inch of their figure


@styled
def draw_ratings(frame: pd.DataFrame, ax: Axes, own: Sequence[int] = ()) -> Axes:
    """How often each rating was given: bars on the declared scale, with the accept side told apart.

    Colour, hatching, a rule and words tell it, so that a grey print does too. A level that nobody used keeps its place
    with 0. `own` are ratings to mark.
    """
    levels, accepting = frame["rating"].to_numpy(), frame["accept_side"].fillna(False).to_numpy(dtype=bool)
    step = np.diff(levels).min() if len(levels) > 1 else 1
    room = 0.75 * ax.figure.get_figwidth() * step / (np.ptp(levels) + step)  # inches that a level has
    bars = ax.bar(levels, frame["value"].fillna(0), 0.72 * step, color=np.where(accepting, ACCEPT, REST))
    for bar in np.array(bars)[accepting]:
        bar.set(hatch="////", edgecolor="white", linewidth=0)
    whiskers(ax, levels, None, frame["low"], frame["high"])
    for row in frame.itertuples():
        note(ax, _share(row, room), row.rating, np.nan_to_num(row.high), 0, 3, ha="center")
    ax.set_xticks(levels, _level_labels(frame, room))
    ax.set_ylim(0, 1.22 * max(frame["high"].max(), 0.01))
    percent_axis(ax.yaxis)
    ax.set(xlabel="rating", ylabel="share of ratings")
    _draw_accept_rule(ax, levels, accepting, frame["value"].to_numpy())
    for rating in sorted(set(own)):
        dots = f"yours\n{'●' * list(own).count(rating)}"
        note(ax, dots, rating, 0, 0, 5, ha="center", color=MARK, fontweight="bold", bbox=on_white(1.5))
    return ax


def _share(row, room: float) -> str:
    """A level's share, in whole percent where there is no room for more; what is not zero does not read as zero."""
    if not row.count:
        return "0"
    if room > 0.38:
        return percent(row.value)
    return percent(row.value, 0) if row.value >= 0.005 else "<1"


def _level_labels(frame: pd.DataFrame, room: float) -> list[str]:
    """The levels, with the form's words below them where there is room for words."""
    words = [_short(label, room) for label in frame["label"]]
    fit = all(text.count("\n") < 4 and inches_wide(text, points()) <= room for text in words)
    pairs = zip(frame["rating"], words, strict=True)
    return [f"{level}\n{text}".strip() if fit else str(level) for level, text in pairs]


def _short(label: str, room: float) -> str:
    """A level's wording in lines of so many inches: its first sentence, or its first clause where that is long."""
    said = wrapped(first_sentence(label), room, points())
    return said if said.count("\n") < 4 else wrapped(label.split(",")[0], room, points())


def _draw_accept_rule(ax: Axes, levels: np.ndarray, accepting: np.ndarray, value: np.ndarray) -> None:
    """A rule between the two halves of the scale, with the share on either side of it."""
    if not accepting.any() or accepting.all():
        return
    side, height = levels[accepting].min(), ax.get_ylim()[1]
    between = (side + levels[~accepting].max()) / 2
    ax.axvline(between, color=QUIET, linewidth=0.8, linestyle=(0, (4, 2)), zorder=0)
    below, above = (percent(np.nansum(value[half])) for half in (~accepting, accepting))
    note(ax, f"below {side}: {below}", between, height, -5, -2, ha="right", va="top", color=QUIET)
    note(ax, f"accept side: {above}", between, height, 5, -2, va="top", color=ACCEPT, fontweight="bold")


@styled
def draw_averages(frame: pd.DataFrame, ax: Axes, top: pd.DataFrame | None = None, own: float | None = None) -> Axes:
    """How many papers have each average: a needle at every exact value, so that no bins make or hide gaps.

    `top` (the statistic of that name) marks where the top 10, 25 and 50 % begin; `own` is an average to mark.
    """
    marks = _thresholds(top)
    reached = (frame["average"].to_numpy()[:, np.newaxis] >= [value for _, value in marks]).sum(axis=1)
    shades = SHADES[::-1] if marks else (ACCEPT,)
    width = np.clip(0.5 * ROOM * ax.figure.get_figwidth() / max(len(frame), 1), 0.7, 3.5)
    ax.vlines(frame["average"], 0, frame["count"], color=np.array(shades)[reached], linewidth=width)
    highest = frame["count"].max() if len(frame) else 1
    # The lowest threshold is the furthest left and has the highest flag: no line crosses a label.
    for place, (share, value) in enumerate(marks):
        height = highest * (1.04 + 0.09 * place)
        ax.vlines(value, 0, height, color=INK, linewidth=0.7, linestyle=(0, (1, 1.5)), zorder=0)
        note(ax, f"top {percent(share, 0)}: {value:.2f} or more", value, height, 3, 0, va="center", bbox=on_white(0.2))
    if own is not None:
        ax.vlines(own, 0, 1.31 * highest, color=MARK, linewidth=1)
        note(ax, f"yours: {own:.2f}", own, 1.31 * highest, 3, 0, va="center", color=MARK, fontweight="bold")
    ax.set_ylim(0, 1.36 * highest)
    count_axis(ax.yaxis)
    ax.set(xlabel="average of a paper's ratings, exact values", ylabel="papers")
    return ax


def _thresholds(top: pd.DataFrame | None) -> list[tuple[float, float]]:
    """The marked shares with their thresholds, as far as they are known."""
    if top is None:
        return []
    known = dict(zip(top["top"].round(3), top["value"], strict=True))
    return [(share, known[share]) for share in MARKED if np.isfinite(known.get(share, np.nan))]


@styled
def draw_top(frame: pd.DataFrame, ax: Axes, labelled: Sequence[float] = LABELLED) -> Axes:
    """Which average reaches the top x %: dots on a step curve, over the range of the bootstrap.

    A step goes on to the next share that was asked for: an average on it is enough for every share up to there.
    """
    share, value = frame["top"], frame["value"]
    broad = frame["high"] > frame["low"]
    whiskers(ax, share[broad], None, frame["low"][broad], frame["high"][broad], color=SHADES[2], linewidth=sized(5))
    ax.step(share, value, where="post", color=SHADES[1], zorder=4)
    ax.plot(share, value, "o", color=ACCEPT, zorder=5)
    marked = frame[frame["top"].round(3).isin(labelled)]
    heights = spread(marked["value"], 0.1 * (value.max() - value.min()))  # a line of text is a little lower
    for row, height in zip(marked.itertuples(), heights, strict=True):
        note(ax, f"{row.value:.2f}  ({row.example})" if row.example else f"{row.value:.2f}", row.top, height, 4, 4)
    percent_axis(ax.xaxis)
    ax.set_xticks(np.arange(0, 1, 0.2 if narrow(ax) else 0.1))
    ax.set_xlim(0, 1)
    ax.margins(y=0.12)
    ax.set(xlabel="top share of papers", ylabel="average that reaches it")
    return ax


@styled
def draw_deciles(frame: pd.DataFrame, ax: Axes) -> Axes:
    """What share of each tenth was accepted; the sizes of the groups where that is not known.

    The highest averages come first. Papers with equal averages stay together, so every row says how many it holds.
    """
    places, known = rows(ax, list(map(_group_label, frame.itertuples()))), frame["value"].notna().any()
    value = frame["value" if known else "n"].astype(float)
    ax.barh(places, value.fillna(0), 0.66, color=ACCEPT if known else SHADES[1])
    whiskers(ax, None, places, frame["low"], frame["high"])
    for place, row in zip(places, frame.itertuples(), strict=True):
        said = f"{percent(row.value)} of {row.n:,}" if known and row.n else f"{row.n:,}"
        note(ax, said, np.nan_to_num(row.high if known else row.n), place, 4, 0, va="center")
    ax.set_xlim(0, 1.22 if known else 1.15 * max(value.max(), 1))
    if known:
        ax.set_xticks(np.arange(0, 1.01, 0.25))
        percent_axis(ax.xaxis)
    else:
        count_axis(ax.xaxis)
    ax.set(xlabel="share accepted" if known else "papers", ylabel="paper averages, highest tenth first")
    return ax


def _group_label(row) -> str:
    """``2: 5.20 to 5.75``: a group with the averages at its ends."""
    ends = dict.fromkeys((f"{row.lowest:.2f}", f"{row.highest:.2f}")) if row.n else ["none"]
    return f"{row.group}: {' to '.join(ends)}"
