"""What all words about figures share: the shape, the notes on intervals, and the answer where there is nothing yet."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import pandas as pd

from analysis.errors import percent as printed

BY_PAPER = "Bars: 95 % bootstrap over papers, since the reviews of a paper are not independent."
WILSON = "Bars: Wilson 95 % limits."


class Words(NamedTuple):
    """Title, caption and alt text of one figure, in the order in which a book takes them."""

    title: str
    caption: str
    alt: str = ""


NOTHING_YET = Words(
    "No reviews are public yet",
    "There is nothing to count: the reviews of this snapshot are not out.",
    "An empty figure.",
)


def of_reviews(tell: Callable[..., Words]) -> Callable[..., Words]:
    """Words about a frame of no reviews, as on a conference's first days, say just that."""

    @functools.wraps(tell)
    def told(frame: pd.DataFrame, *others) -> Words:
        return tell(frame, *others) if frame["n"].fillna(0).sum() > 0 else NOTHING_YET

    return told


def percent(share: float, digits: int = 0) -> str:
    """0.4700 as ``47 %``."""
    return printed(share, digits)


def limits(row) -> str:
    return f"{percent(row.low)} to {percent(row.high)}"


def listed(frame: pd.DataFrame, name: str) -> str:
    return ", ".join(f"{getattr(row, name)}: {percent(row.value)}" for row in frame.itertuples())
