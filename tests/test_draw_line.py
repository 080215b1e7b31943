"""Figures of the line, of fates at the same average, and of arbitrariness."""

from __future__ import annotations

import numpy as np
import pytest
from drawing import drawn, lengths, notes, texts_outside, texts_that_overlap, ticks, whiskers
from samples import edge_samples

from analysis import notebook, store, words
from analysis.draw import (
    draw_again,
    draw_auc,
    draw_curve,
    draw_line,
    draw_near,
    draw_panels_again,
    draw_rivals,
    rivals_ratio,
)
from analysis.draw.fates import ROWS, undecided
from analysis.errors import Trouble
from analysis.sample import load, restrict
from analysis.sources import bundled
from analysis.statistics.acceptance import acceptance_by_average, usual
from analysis.statistics.arbitrariness import arbitrariness, experiments, newest, resampling
from analysis.statistics.fates import fates, near_the_line
from analysis.statistics.line import acceptance_curve, auc, line, logit

YEARS = (2017, 2020, 2023, 2026)


def curve_of(sample, width: str = "iclr"):
    frame, curve, fitted = (usual(one(sample)) for one in (acceptance_by_average, acceptance_curve, logit))
    return drawn(draw_curve, frame, width=width, curve=curve, logit=fitted)


def line_of(sample, width: str = "iclr"):
    return drawn(draw_line, usual(acceptance_by_average(sample)), width=width, line=usual(line(sample)))


def auc_of(samples, width: str = "iclr"):
    return drawn(draw_auc, usual(notebook.each_snapshot(auc, samples)), width=width, ratio=0.7)


def near_of(sample, width: str = "iclr"):
    return drawn(draw_near, usual(near_the_line(sample)), width=width)


def fates_of(sample, width: str = "iclr"):
    frame = usual(fates(sample))
    return drawn(draw_rivals, frame, width=width, ratio=rivals_ratio(frame))


@pytest.fixture(scope="module")
def model(bundled_sample):
    taken = [bundled_sample(year, "release") for year in (2020, 2023, 2026)]
    return notebook.each_snapshot(
        lambda one: arbitrariness(one, draws=100), [*taken, *(bundled_sample(year) for year in (2017, 2020, 2023))]
    )


def test_the_curve_shows_each_average_and_where_the_odds_are_even(bundled_sample):
    sample = bundled_sample(2020, "final")
    frame, ax = usual(acceptance_by_average(sample)), curve_of(sample)
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    assert sorted(x for line in dots for x in line.get_xdata()) == frame["average"].tolist()
    assert notes(ax) == ["even odds\nat 5.44\n(5.38 to 5.51)"]
    enough = frame[frame["n"] >= 30]
    assert [segment[:, 1].tolist() for segment in whiskers(ax)] == enough[["low", "high"]].to_numpy().tolist()


def test_the_strip_holds_every_paper_on_the_other_side(bundled_sample):
    ax = line_of(bundled_sample(2020, "final"))
    tips = [segment[1] for segment in whiskers(ax)]
    assert sum(height for average, height in tips if average < 17 / 3) == 106
    assert sum(-height for average, height in tips if average > 17 / 3) == 64
    assert [height for average, height in tips if average == 17 / 3] == [72, -44]
    assert notes(ax)[:2] == ["accepted below the line: 106", "not accepted above it: 64"]


def test_every_snapshot_has_a_row_for_each_way_to_score(bundled_sample):
    ax = auc_of([bundled_sample(2020, name) for name in ("2019-11-08", "2019-12-01", "final")])
    assert ticks(ax.yaxis)[:3] == ["release 2019-11-08", "discussed 2019-12-01", "final"]
    assert notes(ax)[:3] == ["0.895", "0.956", "0.958"]
    assert [line.get_markerfacecolor() == "white" for line in ax.lines[:3]] == [True, False, False]


def test_rivals_stand_below_their_average(bundled_sample):
    frame = usual(fates(bundled_sample(2023, "final")))
    ax, shown = fates_of(bundled_sample(2023, "final")), undecided(frame)
    assert ticks(ax.yaxis) == shown["ratings"].tolist()
    assert 0 < len(shown) <= ROWS
    bold = [label.get_text() for label in ax.get_yticklabels() if label.get_fontweight() == "bold"]
    assert bold == shown.loc[shown["differs"], "ratings"].tolist() != []
    assert "average 6.00 of 3 reviews" in notes(ax)


def test_what_differs_near_the_line_is_marked(bundled_sample):
    frame = usual(near_the_line(bundled_sample(2026)))
    ax = drawn(draw_near, frame)
    diamonds = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "D"]
    assert diamonds == frame.loc[frame["differs"], "value"].tolist() != []
    assert len(ticks(ax.yaxis)) == len(frame)
    assert lengths(ax) == []


def test_measurements_come_before_the_model(model):
    ax = drawn(draw_again, model[model["reviewers"] == 3], experiments=experiments(), ratio=0.75)
    assert ticks(ax.yaxis) == ["NIPS 2014", "NeurIPS 2021", "2017", "2020", "2023", "2026"]
    assert {"51", "49"} <= set(notes(ax))
    hollow = [line for line in ax.lines if line.get_marker() == "o" and line.get_markerfacecolor() == "white"]
    assert len(hollow) == 3


def test_the_newest_year_with_two_stages_is_drawn_by_number_of_reviewers(model):
    frame = newest(model)
    assert frame["year"].unique().tolist() == [2023]
    ax = drawn(draw_panels_again, frame, experiments=experiments())
    texts = notes(ax)
    assert "measured: NIPS 2014 and NeurIPS 2021" in texts
    assert [text.split()[0] for text in texts[:2]] == ["release", "final"]
    assert newest(model[model["year"] == 2026])["year"].unique().tolist() == [2026]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("year", bundled.years())
def test_every_bundled_snapshot_is_drawn_and_told_or_refused(bundled_store, year):
    for one in store.held(bundled_store, "ICLR", year):
        sample = load(bundled_store, "ICLR", year, one.name)
        if one.outcomes == "none":
            with pytest.raises(Trouble, match="not known"):
                acceptance_by_average(sample)
            continue
        frame, fitted, sides = (usual(each(sample)) for each in (acceptance_by_average, logit, line))
        scored, again = (notebook.each_snapshot(each, [sample]) for each in (auc, arbitrariness))
        axes = [curve_of(sample), line_of(sample), auc_of([sample])]
        told = [words.curve(frame, fitted), words.line(frame, sides), words.auc(usual(scored))]
        told.append(words.panels_again(again, experiments()))
        for each, draw, tell in ((fates, fates_of, words.rivals), (near_the_line, near_of, words.near)):
            if len(compared := usual(each(sample))):
                axes.append(draw(sample))
                told.append(tell(compared))
        assert all(ax.lines or ax.collections for ax in axes)
        assert not any("nan" in " ".join(each).split() for each in told)


@pytest.mark.parametrize("width", ["iclr", "column", "slide"])
def test_labels_neither_overlap_nor_leave_the_figure(bundled_sample, model, width):
    axes = [curve_of(bundled_sample(year), width) for year in YEARS]
    axes += [line_of(bundled_sample(year), width) for year in YEARS]
    axes += [auc_of([bundled_sample(2020, name) for name in ("2019-11-08", "2019-12-01", "final")], width)]
    axes += [fates_of(bundled_sample(year), width) for year in (2020, 2023, 2026)]
    axes += [near_of(bundled_sample(year), width) for year in (2017, 2023, 2026)]
    some = model[model["reviewers"] == 3]
    own = notebook.each_snapshot(lambda one: resampling(one, draws=5), [bundled_sample(2017), bundled_sample(2026)])
    own = own[own["reviewers"] == "own"]
    axes.append(drawn(draw_again, some, width=width, ratio=0.75, experiments=experiments(), resampling=own))
    axes.append(drawn(draw_panels_again, newest(model), width=width, experiments=experiments()))
    for ax in axes:
        assert texts_outside(ax) == []
        assert texts_that_overlap(ax) == []


@pytest.mark.filterwarnings("error")
def test_the_first_day_and_the_smallest_conference_can_be_drawn_and_told():
    for whole in edge_samples():
        sample = restrict(whole, "reviewed")
        frame, fitted, sides = (usual(one(sample)) for one in (acceptance_by_average, logit, line))
        scored = usual(notebook.each_snapshot(auc, [sample]))
        again = notebook.each_snapshot(lambda one: arbitrariness(one, draws=5), [sample])
        told = [words.curve(frame, fitted), words.line(frame, sides), words.auc(scored)]
        told += [
            words.again(again[again["reviewers"] == 3], experiments(), 3),
            words.panels_again(again, experiments()),
        ]
        axes = [curve_of(sample), line_of(sample), auc_of([sample])]
        axes.append(drawn(draw_again, again[again["reviewers"] == 3], experiments=experiments()))
        axes.append(drawn(draw_panels_again, again, experiments=experiments()))
        for one, ax in zip(told, axes, strict=True):
            assert "nan" not in " ".join(one)
            assert texts_outside(ax) == []
        assert not len(frame) or all(one.title for one in told)


def test_titles_state_what_was_found(bundled_sample):
    sample = bundled_sample(2020, "final")
    frame, fitted, sides = (usual(one(sample)) for one in (acceptance_by_average, logit, line))
    assert words.curve(frame, fitted).title == "An average of 5.44 had even odds of acceptance"
    assert words.line(frame, sides).title.startswith("106 of 687 accepted papers were below the line, 64 above it")
    scored = usual(notebook.each_snapshot(auc, [bundled_sample(2020, "release"), sample]))
    title = words.auc(scored).title
    assert title == "In 96 % of pairs the accepted paper has the higher average (final); at release in 90 %"
    rivals = usual(fates(bundled_sample(2023, "final")))
    assert words.rivals(rivals).title == "Ratings 5 5 8: 19 % accepted; others with the same average: 76 %"
    near = usual(near_the_line(bundled_sample(2026)))
    assert words.near(near).title.endswith("(\N{MINUS SIGN}27 points)")
    assert np.isclose(rivals["value"], rivals["accepted"] / rivals["n"]).all()
