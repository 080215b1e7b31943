"""What all figures share: the style, the sizes, the colours, and how words are set."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import matplotlib.style
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, fontManager, get_font
from matplotlib.text import Text
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FuncFormatter, MaxNLocator

from analysis.draw.fonts import WHOLE, families
from analysis.errors import Trouble, choices

STYLE = Path(__file__).with_name("style.mplstyle")
WIDTHS = {"iclr": 5.5, "column": 3.25, "slide": 10.0}  # inches: the text block, one of two columns, a slide
RATIO = 0.56
POINTS = 72  # to the inch
SMALL = 7  # points of a small text in print

# Blue and vermilion of Okabe and Ito, told apart by all eyes; against the light grey also in a grey print.
ACCEPT = "#1f6fae"
REST = "#c6c9cc"
MARK = "#c8500a"
INK = "#222222"
QUIET = "#6b6b6b"
SHADES = ("#0f4c81", "#4f8fc0", "#a3c6e0", "#d6d8da")  # the best first; each lighter than the one before

# Families tried, in order, for what DejaVu Sans cannot write; it has Latin, Greek, Cyrillic, Arabic and some signs.
FALLBACKS = (
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Source Han Sans SC", "PingFang SC", "Hiragino Sans", "Microsoft YaHei",
    "WenQuanYi Zen Hei", "Droid Sans Fallback", "Noto Emoji", "Segoe UI Symbol",
)  # fmt: skip

# What grows on a slide; the other sizes of the style are relative to these.
SCALED = ("font.size", "figure.titlesize", "lines.linewidth", "lines.markersize", "axes.linewidth", "hatch.linewidth")

Draw = Callable[..., Axes]


# Style --------------------------------------------------------------------------------------------------------------


def style(width: float = WIDTHS["iclr"]) -> AbstractContextManager:
    """The style for figures of a width in inches, whatever the reader's own matplotlib settings are.

    A slide is read from afar, so its text and strokes grow; a column is only narrower.
    """
    own = matplotlib.rc_params_from_file(STYLE, use_default_template=False)
    own["font.family"] = families()
    factor = 1.6 if width > 8 else 1.0
    return matplotlib.style.context(["default", own, {name: factor * own[name] for name in SCALED}])


def styled(draw: Draw) -> Draw:
    """Draw in the style of the Axes' figure, wherever the call comes from; a long axis label gets lines.

    On the first day of a conference there may be nothing to draw, which is said.
    """

    @functools.wraps(draw)
    def drawn(frame, ax: Axes, *args, **options) -> Axes:
        width = ax.figure.get_figwidth()
        with style(width):
            if _is_empty(frame):
                return say_instead(ax, "no reviews yet")
            draw(frame, ax, *args, **options)
            ax.set_xlabel(balanced(ax.get_xlabel(), 0.75 * width, points()))
        return ax

    return drawn


def _is_empty(frame: pd.DataFrame) -> bool:
    """Whether a frame is of no review and no paper at all."""
    counts = frame[[name for name in ("n", "papers") if name in frame]]
    return frame.empty or (not counts.empty and not counts.fillna(0).to_numpy().any())


def say_instead(ax: Axes, text: str) -> Axes:
    """Axes with a sentence where a figure has nothing to show."""
    ax.set_axis_off()
    ax.annotate(text, (0.5, 0.5), xycoords="axes fraction", ha="center", color=QUIET)
    return ax


def new_figure(width: str = "iclr", ratio: float = RATIO) -> tuple[Figure, Axes]:
    """An empty figure of a print width, with one Axes; `ratio` is height / width.

    A column is as high as a text block is. It is made without pyplot: nothing stays open, and it needs no display.
    """
    if width not in WIDTHS:
        raise Trouble(f"There is no figure width `{width}`; there are {choices(WIDTHS)}.")
    with style(WIDTHS[width]):
        size = WIDTHS[width], ratio * max(WIDTHS[width], WIDTHS["iclr"])
        figure = Figure(figsize=size, layout="constrained")
        return figure, figure.subplots()


# Words --------------------------------------------------------------------------------------------------------------


def percent(share: float, digits: int = 1) -> str:
    """0.4700 as ``47.0 %``; the space does not break."""
    return f"{100 * share:.{digits}f}\N{NO-BREAK SPACE}%"


def wrapped(text: str, inches: float, size: float, separator: str = " ") -> str:
    """The text in lines that are no wider than so many inches at a font size in points, broken at a separator."""
    lines: list[str] = []
    for part in text.replace(" %", "\N{NO-BREAK SPACE}%").split(separator):
        longer = f"{lines[-1]}{separator}{part}" if lines else part
        if lines and inches_wide(longer, size) <= inches:
            lines[-1] = longer
        else:
            lines.append(part)
    return "\n".join(lines)


def balanced(text: str, inches: float, size: float) -> str:
    """The text in as few lines, and these about equally long: no word is left alone."""
    least = wrapped(text, inches, size).count("\n")
    tries = (wrapped(text, part * inches, size) for part in np.linspace(0.5, 1, 11))
    return next(lines for lines in tries if lines.count("\n") == least)


def inches_wide(text: str, size: float) -> float:
    """How wide the widest line of a text is at a font size in points."""
    return max(map(_relative_width, text.split("\n"))) * size / POINTS


@functools.lru_cache(maxsize=10_000)
def _relative_width(line: str) -> float:
    """How wide a line is in units of its font size."""
    written = "".join(c if ord(c) in covered() else "W" for c in line)
    font = FontProperties(family=families(), size=12)
    width, *_ = text_to_path.get_text_width_height_descent(written, font, ismath=False)
    return 1.04 * width / 12  # hinting makes small text wider than its outlines


def points(size: str = "small") -> float:
    """A relative font size of the style in points."""
    return FontProperties(size=size).get_size_in_points()


def sized(size: float) -> float:
    """A size in points of print, as it is in this figure: a slide is read from afar."""
    return size * points() / SMALL


def first_sentence(text: str) -> str:
    """The first sentence of a form's wording, without its full stop."""
    return text.split(". ")[0].rstrip(".")


@functools.cache
def covered() -> frozenset[int]:
    """The characters that DejaVu Sans has."""
    return frozenset(get_font(fontManager.findfont(WHOLE)).get_charmap())


def foreign(figure: Figure) -> list[Text]:
    """The texts of a figure that DejaVu Sans cannot write."""
    return [text for text in figure.findobj(Text) if set(map(ord, text.get_text())) - covered() - {ord("\n")}]


def cover(texts: Sequence[Text]) -> None:
    """Give texts the installed families that write what DejaVu Sans cannot."""
    installed = {entry.name for entry in fontManager.ttflist}
    for text in texts:
        text.set_fontfamily([*families(), *(name for name in FALLBACKS if name in installed)])


# Axes ---------------------------------------------------------------------------------------------------------------


def narrow(ax: Axes) -> bool:
    """Whether the figure is as narrow as a column: words are saved then."""
    return ax.figure.get_figwidth() < 4


def percent_axis(axis) -> None:
    """Fractions along an axis, read as percent."""
    axis.set_major_formatter(FuncFormatter(lambda share, _: percent(share, 0)))


def count_axis(axis, ticks: int = 5) -> None:
    """Whole numbers along an axis, with thousands apart."""
    axis.set_major_locator(MaxNLocator(ticks, integer=True))
    axis.set_major_formatter(FuncFormatter(lambda count, _: f"{count:,.0f}"))


def whiskers(ax: Axes, x, y, low, high, **options) -> None:
    """Intervals as thin lines without caps: upright at `x` where `y` is None, level at `y` where `x` is."""
    options = {"color": INK, "linewidth": 0.8 * matplotlib.rcParams["lines.linewidth"], "zorder": 3, **options}
    if y is None:
        ax.vlines(x, low, high, **options)
    else:
        ax.hlines(y, low, high, **options)


def on_white(pad: float = 0.8) -> dict[str, object]:
    """A white ground for a text that stands on lines."""
    return {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": pad}


def note(ax: Axes, text: str, x: float, y: float, dx: float = 0, dy: float = 0, **options) -> Text:
    """A small text at a point in data coordinates, moved by so many points of print."""
    options = {"fontsize": "small", "color": INK, "annotation_clip": False, **options}
    return ax.annotate(text, (x, y), (sized(dx), sized(dy)), textcoords="offset points", **options)


def rows(ax: Axes, labels: Sequence[str]) -> np.ndarray:
    """Rows from the top down, one a label; gives their places on the y axis."""
    places = np.arange(len(labels))
    ax.set_yticks(places, labels)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    return places


def rows_ratio(count: int) -> float:
    """The height over the width of a figure with so many rows, with its title and its axis."""
    return 0.3 + 0.026 * count


def spread(values: Sequence[float], gap: float) -> np.ndarray:
    """Places for labels: as near to the values as they can be when each is at least `gap` from the next."""
    values = np.asarray(values, dtype=float)
    order, steps = np.argsort(values, kind="stable"), gap * np.arange(len(values))
    # Least squares under order: neighbours that overlap are pooled (pool adjacent violators).
    pools: list[tuple[float, int]] = []
    for value in values[order] - steps:
        pools.append((value, 1))
        while len(pools) > 1 and pools[-2][0] >= pools[-1][0]:
            (upper, many), (lower, some) = pools.pop(), pools.pop()
            pools.append(((upper * many + lower * some) / (many + some), many + some))
    spaced = np.empty(len(values))
    spaced[order] = np.repeat([value for value, _ in pools], [many for _, many in pools]) + steps
    return spaced
