"""Figures of reviewers: what they say of themselves, and how they rate by it."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis.draw.canvas import (
    ACCEPT,
    MARK,
    POINTS,
    REST,
    first_sentence,
    narrow,
    note,
    percent,
    percent_axis,
    points,
    rows,
    sized,
    styled,
    whiskers,
    wrapped,
)


@styled
def draw_experience(frame: pd.DataFrame, ax: Axes, published: pd.DataFrame | None = None) -> Axes:
    """What reviewers say of their experience: a bar a level in the form's own words, the least experience first.

    `published` (the statistic published-in-area) puts a bracket around the levels that have not published in the area.
    """
    _draw_levels(frame, ax, room=2.6 if narrow(ax) else 1.7)
    if published is not None:
        no = published[published["published"] == "no"].iloc[0]
        levels = int((frame["count"].cumsum() <= no["count"]).sum())
        for place, bar in enumerate(ax.patches):
            bar.set(color=MARK if place < levels else REST)
        _draw_bracket(ax, levels, f"{percent(no['value'])}\nhave not\npublished\nin this area")
    return ax


@styled
def draw_confidence(frame: pd.DataFrame, ax: Axes) -> Axes:
    """What reviewers say of their confidence: a bar a level in the form's own words, the least confident first."""
    return _draw_levels(frame, ax)


def _draw_levels(frame: pd.DataFrame, ax: Axes, room: float = 1.4) -> Axes:
    places = worded_rows(frame, ax)
    ax.barh(places, frame["value"].fillna(0), 0.6, color=ACCEPT)
    whiskers(ax, None, places, frame["low"], frame["high"])
    for place, row in zip(places, frame.itertuples(), strict=True):
        note(ax, f"{percent(row.value)}\n{row.count:,}", np.nan_to_num(row.high), place, 4, 0, va="center")
    ax.set_xlim(0, room * max(frame["high"].max(), 0.01))
    percent_axis(ax.xaxis)
    ax.set(xlabel=f"share of {int(frame['n'].max()):,} reviews")
    return ax


def worded_rows(frame: pd.DataFrame, ax: Axes, part: float = 0.42) -> np.ndarray:
    """A row a level, with the form's words in a column that takes a part of the figure's width."""
    places = rows(ax, [""] * len(frame))
    _set_words(frame, ax, places, part)
    return places


def _set_words(frame: pd.DataFrame, ax: Axes, places: np.ndarray, part: float) -> None:
    """The form's words beside the rows, set from the left.

    Wording that is too long for the rows is cut to first sentences, then to first clauses: the table has it whole.
    """
    width, height = ax.figure.get_size_inches()
    around = (1.25 if narrow(ax) else 1) * POINTS * sized(1)  # of title, axis and stamp: an inch at print size
    lines = max(int((height * POINTS - around) / (1.4 * points() * max(len(frame), 1))), 1)
    for shorten in (lambda label: label.rstrip("."), first_sentence, lambda label: first_sentence(label).split(",")[0]):
        said = [f"{row.level}  {shorten(row.label)}".rstrip() for row in frame.itertuples()]
        texts = [wrapped(text, part * width, points()) for text in said]
        if all(text.count("\n") < lines for text in texts):
            break
    texts = [text if text.count("\n") < lines else "\n".join(text.split("\n")[:lines]) + " …" for text in texts]
    ax.set_yticks(places, texts, horizontalalignment="left")
    ax.tick_params(axis="y", pad=part * width * POINTS + 4)


def _draw_bracket(ax: Axes, levels: int, text: str) -> None:
    """A bracket to the right of the first so many rows, with a text beside it."""
    x, top, bottom = 0.66 if narrow(ax) else 0.78, -0.34, levels - 0.66
    line = {"color": MARK, "linewidth": 1, "transform": ax.get_yaxis_transform(), "clip_on": False}
    ax.plot([x - 0.015, x, x, x - 0.015], [top, top, bottom, bottom], **line)
    beside = {"xycoords": ax.get_yaxis_transform(), "va": "center", "color": MARK, "fontweight": "bold"}
    note(ax, text, x, (top + bottom) / 2, 5, 0, **beside)


@styled
def draw_ratings_by_level(frame: pd.DataFrame, ax: Axes) -> Axes:
    """The mean rating of the reviews of each level, with its interval: a dot a level, in the form's own words."""
    places = worded_rows(frame, ax)
    ax.grid(axis="y")
    whiskers(ax, None, places, frame["low"], frame["high"])
    ax.plot(frame["value"], places, "o", color=ACCEPT, zorder=4)
    for place, row in zip(places, frame.itertuples(), strict=True):
        note(ax, f"n = {row.n:,}", 1, place, 3, 0, xycoords=ax.get_yaxis_transform(), va="center")
        if row.n:
            note(ax, f"{row.value:.2f}", row.value, place, 0, 5, ha="center")
    ax.margins(x=0.12)
    ax.set(xlabel="mean rating")
    return ax


@styled
def draw_panels(frame: pd.DataFrame, ax: Axes) -> Axes:
    """How many reviewers of a paper have published in its area; papers without any stand out."""
    published = frame["published"]
    ax.bar(published, frame["value"].fillna(0), 0.68, color=[REST if number else MARK for number in published])
    whiskers(ax, published, None, frame["low"], frame["high"])
    for row in frame.itertuples():
        look = {} if row.published else {"color": MARK, "fontweight": "bold"}
        text = f"{percent(row.value)}\n{row.count:,}"
        note(ax, text, row.published, np.nan_to_num(row.high), 0, 3, ha="center", **look)
    ax.set_xticks(published, [str(number) if number else "none" for number in published])
    ax.set_ylim(0, 1.25 * max(frame["high"].max(), 0.01))
    percent_axis(ax.yaxis)
    ax.set_xlabel("reviewers of a paper who have published in its area")
    ax.set_ylabel(f"share of {int(frame['n'].max()):,} papers")
    return ax


@styled
def draw_rating_counts(frame: pd.DataFrame, ax: Axes) -> Axes:
    """How the reviews of each level spread over the ratings: a heat map whose rows add up to 100 %."""
    from seaborn import heatmap  # 3.5 s to import, so only where it draws

    shares = frame.pivot(index="level", columns="rating", values="value")
    counts = frame.pivot(index="level", columns="rating", values="count")
    texts = _cell_texts(shares, counts, 0.6 * ax.figure.get_figwidth() / shares.shape[1])
    look = {"cmap": "Blues", "vmin": 0, "vmax": 0.65, "cbar": False, "linewidths": 1}
    heatmap(shares.fillna(0), ax=ax, annot=texts, fmt="", annot_kws={"fontsize": "small"}, **look)
    _set_words(frame.drop_duplicates("level"), ax, np.arange(len(shares)) + 0.5, 0.34)
    ax.tick_params(length=0, rotation=0)
    ax.set(xlabel="rating; percent and number of the reviews of a level", ylabel="")
    return ax


def _cell_texts(shares: pd.DataFrame, counts: pd.DataFrame, room: float) -> pd.DataFrame:
    """Share and count of every cell, or as much of it as fits into so many inches."""
    if room < 0.3:
        return shares.map(lambda share: f"{100 * share:.0f}")
    return shares.map(lambda share: percent(share, int(room > 0.45))) + "\n" + counts.map("{:,}".format)
