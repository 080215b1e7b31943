"""Figures of movement: two sides of zero, a matrix, three lines, and what chance gives."""

from __future__ import annotations

import numpy as np
import pytest
from drawing import WIDTHS, drawn, lengths, notes, texts_outside, texts_that_overlap, ticks
from samples import make_pair

from analysis import words
from analysis.draw import draw_average_movement, draw_conformity, draw_fates, draw_movement_by, draw_transitions
from analysis.statistics import movement


@pytest.fixture(scope="module")
def linked(bundled_sample):
    return bundled_sample(2020, "2019-11-08"), bundled_sample(2020, "2019-12-01")


@pytest.fixture(scope="module")
def decided(bundled_sample):
    return bundled_sample(2020, "2019-11-08", "decided"), bundled_sample(2020, "final", "decided")


def frames(pair) -> dict:
    """Each drawing with its frame and options, as the notebook has them."""
    return {
        "averages": (draw_average_movement, movement.average_movement(*pair), {"ratio": 0.8}),
        "transitions": (draw_transitions, movement.transitions(*pair, draws=20), {"ratio": 0.72}),
        "rating": (draw_movement_by, movement.movement_by_rating(*pair, draws=20), {"what": "first rating"}),
        "experience": (draw_movement_by, movement.movement_by_experience(*pair, draws=20), {"what": "experience"}),
        "outcome": (draw_movement_by, movement.movement_by_outcome(*pair, draws=20), {"what": "outcome"}),
        "conformity": (draw_conformity, movement.conformity(*pair, draws=20), {"ratio": 0.72}),
    }


@pytest.mark.parametrize("width", WIDTHS)
def test_texts_lie_inside_and_apart(linked, decided, width):
    every = frames(linked) | {"fates": (draw_fates, movement.average_fates(*decided), {"ratio": 0.72})}
    for name, (draw, frame, options) in every.items():
        ax = drawn(draw, frame, width=width, **options)
        assert not texts_outside(ax), name
        assert not texts_that_overlap(ax), name


def test_bars_go_right_for_up_and_left_for_down(linked):
    frame = movement.movement_by_rating(*linked, draws=5)
    ax = drawn(draw_movement_by, frame, what="first rating")
    wide = frame.pivot(index="level", columns="change", values="value").iloc[::-1]
    assert lengths(ax) == [*wide["up"], *(-wide["down"])]
    assert ticks(ax.yaxis) == ["8  Accept", "6  Weak Accept", "3  Weak Reject", "1  Reject"]
    assert "n = 3,522" in notes(ax) and "14.5 %" in notes(ax)


def test_starts_run_from_the_highest_down_and_few_papers_have_no_bar(linked):
    frame = movement.average_movement(*linked)
    ax = drawn(draw_average_movement, frame, ratio=0.8)
    assert ticks(ax.yaxis)[0] == "8.0 to 8.5" and ticks(ax.yaxis)[-1] == "1.0 to 1.5"
    assert "n = 1" in notes(ax) and "100.0 %" not in notes(ax)


def test_the_matrix_holds_every_move_and_the_diagonal_is_grey(linked):
    ax = drawn(draw_transitions, movement.transitions(*linked, draws=5))
    assert "13.7 %\n484" in notes(ax) and "84.9 %\n2,991" in notes(ax)
    shades = {(patch.get_x() + 0.5, patch.get_y() + 0.5): patch.get_facecolor() for patch in ax.patches}
    assert len(shades) == 16
    assert len({shades[(place, 3 - place)] for place in range(4)}) == 1
    assert shades[(2, 2)][2] > shades[(2, 2)][0]  # 3 to 6 is blue
    assert shades[(1, 1)][0] > shades[(1, 1)][2]  # 6 to 3 is vermilion


def test_fates_say_under_them_that_they_are_no_effect(decided):
    frame = movement.average_fates(*decided)
    ax = drawn(draw_fates, frame, ratio=0.72)
    assert "not an effect of the rebuttal" in ax.get_xlabel().replace("\n", " ")
    assert {"rose", "stayed", "fell"} <= set(notes(ax))
    few = frame[(frame["n"] > 0) & (frame["n"] < 10)]
    assert sum(len(line.get_xdata()) for line in ax.lines) == (frame["n"] >= 10).sum()
    assert len(few)


def test_conformity_leaves_out_moves_that_cannot_be(linked):
    frame = movement.conformity(*linked, draws=20)
    ax = drawn(draw_conformity, frame, ratio=0.72)
    shares = [said for said in notes(ax) if said.endswith("%")]
    assert len(shares) == 8  # nobody can move away from the others at either end of the scale
    assert ticks(ax.yaxis) == ["8", "6", "3", "1", "all"]


@pytest.mark.parametrize(
    "papers", [[], [[]], [[(6, 8, 3)]], [[(6, 6, 2), (6, 6, 2)]] * 5, [[(6, None, 1)], [(None, 3, 2)]]]
)
def test_edges_are_drawn_and_told(papers):
    pair = make_pair(papers)
    for name, (draw, frame, options) in frames(pair).items():
        drawn(draw, frame, **options)
        tell = {"averages": words.average_movement, "transitions": words.transitions, "conformity": words.conformity}
        told = tell[name](frame) if name in tell else words.movement_by(frame, name)
        assert "nan" not in " ".join(told), name
    fates, standardised = movement.average_fates(*pair), movement.standardised_fates(*pair, draws=5)
    drawn(draw_fates, fates)
    assert "nan" not in " ".join(words.fates(fates, standardised))


def test_titles_state_what_was_found(linked, decided):
    assert words.average_movement(movement.average_movement(*linked)).title.startswith(
        "26 % of 2,561 papers' averages rose"
    )
    assert words.transitions(movement.transitions(*linked, draws=5)).title == (
        "6,783 of 7,690 ratings stayed; 828 went up and 79 down"
    )
    by = movement.movement_by_experience(*linked, draws=5)
    assert words.movement_by(by, "experience").title == (
        "Ratings that changed, by experience: 9.5 % (level 1) to 13.0 % (level 3)"
    )
    told = words.fates(movement.average_fates(*decided), movement.standardised_fates(*decided, draws=5))
    assert "not an effect of the rebuttal" in told.caption and "53 % of averages that rose" in told.title
    assert np.isfinite(len(told.alt))
