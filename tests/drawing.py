"""What the tests of figures look at: texts, places and extents on drawn Axes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from analysis.draw import new_figure, style

WIDTHS = ("iclr", "column", "slide")


def drawn(
    draw: Callable[..., Axes], frame: pd.DataFrame, *, width: str = "iclr", ratio: float = 0.56, **options
) -> Axes:
    """Draw a frame on new Axes; the frame stays as it was, and the Axes given are those that come back."""
    before = frame.copy(deep=True)
    _, ax = new_figure(width, ratio)
    assert draw(frame, ax, **options) is ax
    pd.testing.assert_frame_equal(frame, before)
    return ax


def notes(ax: Axes) -> list[str]:
    """The texts written into the Axes, in the order in which they were drawn, with ordinary spaces."""
    return [text.get_text().replace("\N{NO-BREAK SPACE}", " ") for text in ax.texts]


def ticks(axis) -> list[str]:
    return [label.get_text() for label in axis.get_ticklabels()]


def heights(ax: Axes) -> list[float]:
    return [bar.get_height() for bar in ax.patches]


def lengths(ax: Axes) -> list[float]:
    return [bar.get_width() for bar in ax.patches]


def whiskers(ax: Axes) -> list[np.ndarray]:
    """The segments of all thin lines."""
    return [segment for lines in ax.collections for segment in getattr(lines, "get_segments", list)()]


def texts_outside(ax: Axes, slack: float = 3) -> list[str]:
    """The texts that stick out of the figure by more than a few pixels once it is laid out."""
    return [text.get_text() for text, box in _boxes(ax) if _sticks_out(box, ax.figure.bbox, slack)]


def texts_that_overlap(ax: Axes, slack: float = 2) -> list[tuple[str, str]]:
    """Pairs of texts that cover each other by more than a few pixels."""
    boxes = [(text, box.padded(-slack)) for text, box in _boxes(ax)]
    return [
        (one.get_text(), other.get_text())
        for (one, first), (other, second) in combinations(boxes, 2)
        if first.overlaps(second)
    ]


def _boxes(ax: Axes) -> list[tuple[Text, Bbox]]:
    """The texts that are drawn, with where: ticks beyond the limits are not."""
    with style(ax.figure.get_figwidth()):
        ax.figure.draw_without_rendering()
    axes = (ax.xaxis, ax.yaxis)
    offered = {label for axis in axes for label in axis.get_ticklabels(which="both")}
    shown = {label for axis in axes if ax.axison for label in _ticks_in_view(axis)}
    texts = [text for text in ax.figure.findobj(Text) if text.get_text().strip() and text.get_visible()]
    # The extent of an annotation has its arrow in it; that of its text alone is asked for.
    return [(text, Text.get_window_extent(text)) for text in texts if text not in offered or text in shown]


def _ticks_in_view(axis) -> list[Text]:
    low, high = sorted(axis.get_view_interval())
    places = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)
    return [label for place, label in places if low - 1e-9 <= place <= high + 1e-9]


def _sticks_out(box: Bbox, frame: Bbox, slack: float) -> bool:
    inside = frame.padded(slack)
    return box.x0 < inside.x0 or box.y0 < inside.y0 or box.x1 > inside.x1 or box.y1 > inside.y1
