"""The canvas: sizes, style, and how words are set."""

from __future__ import annotations

import warnings

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from analysis.draw import WIDTHS, new_figure, style
from analysis.draw.canvas import ACCEPT, INK, MARK, QUIET, REST, balanced, inches_wide, percent, spread, wrapped
from analysis.draw.fonts import LIGHT, WHOLE, families
from analysis.errors import Trouble

SENTENCE = "marginally below the acceptance threshold. But would not mind if paper is accepted"


@pytest.mark.parametrize(("width", "inches"), [("iclr", 5.5), ("column", 3.25), ("slide", 10)])
def test_a_figure_has_its_print_width(width, inches):
    figure, ax = new_figure(width)
    assert figure.get_figwidth() == inches == WIDTHS[width]
    assert ax.figure is figure


def test_an_unknown_width_is_told_with_the_known_ones():
    with pytest.raises(Trouble, match="no figure width `poster`; there are iclr, column or slide"):
        new_figure("poster")


def test_a_figure_is_made_without_pyplot_and_leaves_the_settings_alone():
    import matplotlib.pyplot

    before = dict(matplotlib.rcParams)
    new_figure()
    assert dict(matplotlib.rcParams) == before
    assert matplotlib.pyplot.get_fignums() == []


def test_the_style_does_not_depend_on_the_settings_of_the_reader():
    with matplotlib.rc_context({"font.family": "serif", "axes.spines.top": True}), style():
        assert matplotlib.rcParams["font.family"] == families()
        assert not matplotlib.rcParams["axes.spines.top"]
        assert matplotlib.rcParams["pdf.fonttype"] == 42


def test_text_is_between_seven_and_nine_points_at_print_size_and_larger_on_a_slide():
    sizes = {}
    for width, inches in WIDTHS.items():
        with style(inches):
            figure, ax = new_figure(width)
            texts = [ax.set_xlabel("x"), figure.suptitle("x"), ax.annotate("x", (0, 0), fontsize="small")]
            sizes[width] = [text.get_fontsize() for text in texts]
    assert all(6.99 < size <= 9 for size in sizes["iclr"] + sizes["column"])
    assert min(sizes["slide"]) > 11


def _contrast(one: str, other: str = "white") -> float:
    def luminance(color: str) -> float:
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
        return float(np.dot([0.2126, 0.7152, 0.0722], linear))

    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_words_can_be_read_on_white_and_bars_told_apart_in_grey():
    assert all(_contrast(color) >= 4.5 for color in (ACCEPT, MARK, INK, QUIET))
    assert all(_contrast(color, REST) >= 2.5 for color in (ACCEPT, MARK))


def test_wrapped_lines_keep_all_words_and_the_width():
    lines = wrapped(SENTENCE, 1.2, 7).split("\n")
    assert " ".join(lines) == SENTENCE
    assert len(lines) > 2
    assert all(inches_wide(line, 7) <= 1.2 for line in lines)


def test_a_word_that_is_too_long_stays_whole():
    assert wrapped("a Donaudampfschifffahrtsgesellschaft b", 0.5, 7).split("\n")[1].startswith("Donau")


def test_a_percent_sign_is_not_parted_from_its_number():
    assert "\n%" not in wrapped("it is 91 % of them", 0.01, 7)


def test_balanced_lines_are_as_few_and_more_even():
    greedy, even = (fold("a title that goes on for just one word more", 2.6, 9) for fold in (wrapped, balanced))
    lengths = [len(line) for line in even.split("\n")]
    assert len(lengths) == len(greedy.split("\n")) == 2
    assert max(lengths) < 2 * min(lengths)


@given(st.lists(st.floats(-5, 5), max_size=12))
def test_spread_places_keep_order_and_gap_and_the_middle(values):
    places = spread(values, 0.1)
    ordered = places[np.argsort(values, kind="stable")]
    assert (np.diff(ordered) >= 0.1 - 1e-9).all()
    assert np.isclose(np.sum(places), np.sum(values))


def test_values_that_are_far_apart_are_not_moved():
    assert spread([3, 1, 2], 0.5).tolist() == [3, 1, 2]


def test_percent_does_not_break():
    assert percent(0.47) == "47.0\N{NO-BREAK SPACE}%"
    assert percent(0.125, 0) == "12\N{NO-BREAK SPACE}%"


def test_the_light_font_writes_what_the_whole_one_does_at_the_same_widths():
    texts = ("AVATAR WAVE To, 47 %", "Größe ≥ 3/4 “first” · naïve → Łódź")
    for weight in ("normal", "bold"):
        light, whole = (FontProperties(family=family, weight=weight, size=12) for family in (families()[0], WHOLE))
        for text in texts:
            one, other = (
                text_to_path.get_text_width_height_descent(text, font, ismath=False) for font in (light, whole)
            )
            assert one == pytest.approx(other, rel=0.01)


def test_what_the_light_font_lacks_comes_from_the_whole_one(tmp_path):
    figure = Figure()
    with style(), warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.text(0.1, 0.5, "\N{ARABIC LETTER ALEF} and \N{BLACK CHESS KING}")
        figure.savefig(tmp_path / "signs.png")
    assert families() == [LIGHT, WHOLE]
