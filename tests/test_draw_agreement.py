"""Figures of agreement, and the words with them."""

from __future__ import annotations

import re

import pytest
from drawing import WIDTHS, drawn, notes, texts_outside, texts_that_overlap, ticks, whiskers
from samples import edge_samples, make_sample

from analysis import words
from analysis.draw import draw_agreement_years, draw_reliability, draw_unanimity, draw_uncertain_order
from analysis.notebook import around_discussion, each_year
from analysis.sample import restrict
from analysis.statistics.agreement import agreement_by_year, reliability, unanimity, uncertain_order

FIGURES = {
    "agreement years": (draw_agreement_years, words.agreement_years),
    "reliability": (draw_reliability, words.reliability),
    "uncertain order": (draw_uncertain_order, words.uncertain_order),
    "unanimity": (draw_unanimity, words.unanimity),
}


def frames_of(around) -> dict:
    released = [before for before, _ in around if before is not None]
    return {
        "agreement years": agreement_by_year(around, draws=40),
        "reliability": each_year(lambda papers: reliability(papers, draws=40), released),
        "uncertain order": each_year(lambda papers: uncertain_order(papers, draws=40), released),
        "unanimity": each_year(lambda papers: unanimity(papers, draws=40), released),
    }


@pytest.fixture(scope="module")
def frames(bundled_store):
    return frames_of(around_discussion("ICLR", [2019, 2020, 2023, 2024, 2026], str(bundled_store), "reviewed"))


def test_a_year_is_hollow_at_release_and_filled_at_the_end(frames):
    frame = frames["agreement years"]
    ax = drawn(draw_agreement_years, frame)
    assert ticks(ax.yaxis)[0] == "2019   1,565 papers"
    shown = frame[(frame["measure"] == "icc") & (frame["papers"] == "reviewed")]
    dots = {(line.get_markerfacecolor(), x) for line in ax.lines for x in line.get_xdata()}
    for row in shown.dropna(subset=["before"]).itertuples():
        assert ("white", row.before) in dots
    filled = {face for face, x in dots if x in set(shown.loc[shown["after_stage"] == "final", "after"])}
    assert filled == {"#1f6fae"}
    seen = [tuple(segment[:, 0]) for segment in whiskers(ax) if len(segment)]
    for row in shown.dropna(subset=["before"]).query("not put_back").itertuples():
        assert {(row.before, row.after), (row.before_low, row.before_high), (row.after_low, row.after_high)} <= set(
            seen
        )


def test_growth_stands_beside_the_year_and_2026_is_explained(frames):
    said = notes(drawn(draw_agreement_years, frames["agreement years"]))
    assert said[0] == "final only"
    assert said[1].startswith("+0.148  (0.1")
    assert said[4] == "scores were put back\nduring the discussion"
    told = words.agreement_years(frames["agreement years"])
    assert "grows by" in told.title and "2026" not in told.title
    assert "In 2026 scores were put back" in told.caption and "not accuracy" in told.caption
    assert "2020: +0.153" in told.caption  # without withdrawn papers
    assert "2020: 0.244 release, 0.392 final" in told.alt


def test_a_final_snapshot_of_a_year_whose_scores_were_put_back_is_not_plotted(bundled_store):
    ((before, after),) = around_discussion("ICLR", [2026], str(bundled_store), "reviewed")
    assert (before.snapshot.name, after.snapshot.name) == ("2025-11-17", "2025-11-22")


def test_bars_of_pairs_add_up(frames):
    frame = frames["uncertain order"]
    ax = drawn(draw_uncertain_order, frame)
    years = frame["year"].nunique()
    widths = [bar.get_width() for bar in ax.patches]
    for place in range(years):
        assert sum(widths[place::years]) == pytest.approx(1)
    assert len(whiskers(ax)) == years


def test_chance_is_hollow_and_what_was_seen_is_filled(frames):
    frame = frames["unanimity"].query("measure == 'unanimous'")
    ax = drawn(draw_unanimity, frames["unanimity"])
    hollow, filled = ax.lines[0], ax.lines[1]
    assert hollow.get_markerfacecolor() == "white" and hollow.get_xdata().tolist() == frame["independent"].tolist()
    assert filled.get_markerfacecolor() != "white" and filled.get_xdata().tolist() == frame["value"].tolist()


def test_every_year_has_its_line_and_its_label(frames):
    ax = drawn(draw_reliability, frames["reliability"])
    assert {"2020", "2023", "2024", "2026"} <= set(notes(ax))
    assert words.reliability(frames["reliability"]).title.startswith("An average of 3 or 4 reviewers at release")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", FIGURES)
def test_labels_neither_overlap_nor_leave_the_figure(frames, name, width):
    ax = drawn(FIGURES[name][0], frames[name], width=width, ratio=0.68)
    assert texts_outside(ax) == []
    assert texts_that_overlap(ax) == []


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("both", [True, False])
def test_the_first_day_and_the_smallest_conference_can_be_drawn_and_told(name, both):
    draw, tell = FIGURES[name]
    for sample in edge_samples():
        later = make_sample([[1, 3], [6, 8, 8], [3]], stage="final") if both else None
        frame = frames_of([(restrict(sample, "reviewed"), later)])[name]
        ax = drawn(draw, frame)
        assert texts_outside(ax) == []
        title, caption, alt = tell(frame)
        assert all(text and not re.search(r"\bnan\b", text) for text in (title, caption, alt)), (title, caption, alt)
