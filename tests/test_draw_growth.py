"""Figures of how large the years are, on the bundled years."""

from __future__ import annotations

import pytest
from drawing import WIDTHS, drawn, heights, notes, texts_outside, texts_that_overlap, ticks
from samples import edge_samples

from analysis import words
from analysis.draw import draw_funnel, draw_growth
from analysis.statistics.growth import funnel, growth

YEARS = (2017, 2018, 2019, 2020, 2021, 2022, 2023, 2024, 2026)


@pytest.fixture(scope="module")
def frames(bundled_sample):
    samples = [bundled_sample(year, population="all") for year in YEARS]
    return {draw_growth: growth(samples, {2025: 11672}, draws=20), draw_funnel: funnel(samples)}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("draw", [draw_growth, draw_funnel])
def test_texts_stay_inside_and_apart(frames, draw, width):
    ax = drawn(draw, frames[draw], width=width, ratio=0.66 if draw is draw_funnel else 0.56)
    assert texts_outside(ax) == []
    assert texts_that_overlap(ax) == []


def test_a_bar_a_year_with_its_factor_and_its_reviews(frames):
    ax = drawn(draw_growth, frames[draw_growth])
    assert heights(ax) == [490, 1018, 1579, 2594, 3014, 3422, 4955, 7404, 11672, 19814]
    assert notes(ax)[-1] == "\N{MULTIPLICATION SIGN}1.7\n19,814"
    assert ticks(ax.xaxis)[3] == "2020\n3.04" and ticks(ax.xaxis)[-2] == "2025\n"


def test_parts_add_up_and_what_is_not_known_is_hatched(frames):
    ax = drawn(draw_funnel, frames[draw_funnel])
    for place in range(len(YEARS)):
        bars = [bar for bar in ax.patches if abs(bar.get_y() + bar.get_height() / 2 - place) < 0.1]
        assert sum(bar.get_width() for bar in bars) == pytest.approx(1)
        assert any(bar.get_hatch() for bar in bars) == (YEARS[place] in (2024, 2026))
    assert "(38.9 %)" in notes(ax) and "31.0 %" in notes(ax)


def test_words_name_the_denominators(frames):
    told = words.funnel(frames[draw_funnel])
    assert "of the papers submitted" in told.title and "of the papers decided" in told.title
    assert "490 submissions in 2017 to 19,814 in 2026" in words.growth(frames[draw_growth]).title


@pytest.mark.filterwarnings("error")
def test_the_smallest_years_can_be_drawn_and_told():
    for sample in edge_samples():
        for statistic, draw, tell in ((growth, draw_growth, words.growth), (funnel, draw_funnel, words.funnel)):
            frame = statistic([sample])
            drawn(draw, frame)
            assert tell(frame).title
