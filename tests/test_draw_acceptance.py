"""Figures of what was decided, and of the years."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from drawing import drawn, lengths, notes, texts_outside, texts_that_overlap, ticks, whiskers

from analysis.draw import draw_ledger, draw_sixes, draw_sixes_by_year, draw_years
from analysis.statistics.acceptance import sixes
from analysis.statistics.ledger import ledger
from analysis.statistics.years import years

DECIDED_YEARS = (2017, 2018, 2019, 2020, 2021, 2022, 2023, 2026)


@pytest.fixture(scope="module")
def by_year(bundled_sample):
    frames = [sixes(bundled_sample(year)).assign(year=year) for year in DECIDED_YEARS]
    return pd.concat(frames, ignore_index=True)


@pytest.fixture(scope="module")
def all_years(bundled_sample):
    return years([bundled_sample(year) for year in (*DECIDED_YEARS, 2024)])


def test_acceptance_by_sixes_shows_every_number_with_its_size(bundled_sample):
    frame = sixes(bundled_sample(2020, "2019-11-08"))
    overall = frame[frame["reviews"] == "all"]
    ax = drawn(draw_sixes, frame)
    assert [segment[:, 1].tolist() for segment in whiskers(ax)] == overall[["low", "high"]].to_numpy().tolist()
    assert ticks(ax.xaxis) == ["0\nn = 866", "1\nn = 851", "2\nn = 593", "3\nn = 243", "4\nn = 8"]
    assert notes(ax) == ["1 %", "15 %", "55 %", "88 %", "88 %"]
    assert "hollow: fewer than 30 papers" in ax.get_xlabel()
    filled, hollow = ax.lines
    assert filled.get_ydata().tolist() == overall["value"].tolist()[:4]
    assert hollow.get_markerfacecolor() == "white"
    assert hollow.get_ydata().tolist() == overall["value"].tolist()[4:]


def test_frequent_numbers_of_reviews_have_lines_of_their_own(bundled_sample):
    frame = sixes(bundled_sample(2026))
    ax = drawn(draw_sixes, frame)
    assert notes(ax)[:4] == ["3", "4", "5", "broken lines: papers with\n3, 4 or 5 reviews"]
    for text, line in zip(ax.texts, ax.lines[:3], strict=False):
        x, y = text.xy  # the label lies on its line
        assert y == pytest.approx(np.interp(x, line.get_xdata(), line.get_ydata()))


def test_every_year_has_a_line_and_a_label_with_its_papers(by_year):
    ax = drawn(draw_sixes_by_year, by_year)
    texts = notes(ax)
    assert {text.split()[0] for text in texts if "papers" in text and text[0] == "2"} == {*map(str, DECIDED_YEARS)}
    assert "2020   2,561 papers" in texts
    assert texts[-2:] == ["most papers with 3 reviews", "most papers with 4 reviews"]
    lines = [line for line in ax.lines if line.get_marker() == "o"]
    assert len(lines) == len(DECIDED_YEARS)
    assert {line.get_linestyle() for line in lines} == {"-", "--"}


def test_labels_of_years_stand_in_the_order_of_their_lines(by_year):
    ax = drawn(draw_sixes_by_year, by_year)
    at_two = by_year[(by_year["reviews"] == "all") & (by_year["accept_side"] == 2)].sort_values("value")
    labels = [text for text in ax.texts if text.get_text()[:2] == "20"]
    from_below = [int(text.get_text()[:4]) for text in sorted(labels, key=lambda text: text.xy[1])]
    assert from_below == at_two["year"].tolist()


def test_shares_of_few_papers_are_left_out_of_the_comparison_of_years(by_year):
    ax = drawn(draw_sixes_by_year, by_year)
    shown = sum(len(line.get_xdata()) for line in ax.lines if line.get_marker() == "o")
    assert shown == ((by_year["reviews"] == "all") & (by_year["n"] >= 30)).sum()


def test_the_ledger_counts_and_says_what_is_not_known(bundled_sample):
    frame = ledger(bundled_sample(2026, population="all"))
    ax = drawn(draw_ledger, frame)
    said = dict(zip(ticks(ax.yaxis), notes(ax), strict=True))
    assert said["submitted"] == "19,630  (100.0 %), officially 19,814"
    assert said["decided"] == "not known"
    assert said["rejected"] == "not known, officially 8,408"
    assert said["as oral"] == "224  (1.1 %)"
    assert "workshop" not in said
    assert lengths(ax)[ticks(ax.yaxis).index("rejected")] == 0


def test_the_ledger_leaves_official_counts_that_agree_unsaid(bundled_sample):
    ax = drawn(draw_ledger, ledger(bundled_sample(2020, "final", "all")))
    assert ticks(ax.yaxis)[:6] == ["submitted", "reviewed", "active", "decided", "accepted", "as talk"]
    assert not any("officially" in text for text in notes(ax))


def test_years_show_shares_and_where_the_scale_changes(all_years):
    ax = drawn(draw_years, all_years)
    texts = notes(ax)
    assert texts[: len(all_years)] == ["57 %", "47 %", "46 %", "43 %", "47 %", "45 %", "45 %", "43 %", "33 %"]
    assert texts[len(all_years) :] == ["scale 1 to 10", "1 3 6 8", "1 to 10", "1 3 5 6 8 10", "0 2 4 6 8 10"]
    rules = [line.get_xdata()[0] for line in ax.lines if len(set(line.get_xdata())) == 1 and len(line.get_xdata()) == 2]
    assert rules == [2019.5, 2020.5, 2021.5, 2025]
    assert ax.get_ylim()[0] == 0


def test_stages_of_years_are_filled_or_hollow_and_named(all_years):
    ax = drawn(draw_years, all_years)
    final, earlier = ax.lines[:2]
    assert earlier.get_markerfacecolor() == "white" != final.get_markerfacecolor()
    assert earlier.get_xdata().tolist() == [2024, 2026]
    assert ticks(ax.xaxis)[-2:] == ["2024\ndiscussed", "2026\nrelease"]


def test_means_of_different_scales_are_nowhere_in_the_figure_of_years(all_years):
    changed = all_years.assign(mean=99.0, sd=99.0, mean_of_averages=99.0, difference=np.nan)
    assert notes(drawn(draw_years, changed)) == notes(drawn(draw_years, all_years))


def test_an_undeclared_scale_is_named_as_such(all_years):
    frame = all_years.tail(1).assign(scale="0 2 4 (undeclared)")
    assert notes(drawn(draw_years, frame))[-1] == "scale 0 2 4\n(undeclared)"


@pytest.mark.parametrize("width", ["iclr", "column", "slide"])
def test_labels_neither_overlap_nor_leave_the_figure(bundled_sample, by_year, all_years, width):
    axes = [
        drawn(draw_sixes, sixes(bundled_sample(2026)), width=width),
        drawn(draw_sixes_by_year, by_year, width=width),
        drawn(draw_years, all_years, width=width),
        drawn(draw_ledger, ledger(bundled_sample(2026, population="all")), width=width),
    ]
    for ax in axes:
        assert texts_outside(ax) == []
        assert texts_that_overlap(ax) == []
