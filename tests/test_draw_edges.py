"""Every figure on the smallest samples: none, one or equal papers."""

from __future__ import annotations

import pytest
from drawing import drawn, notes, texts_outside
from samples import edge_samples

from analysis.draw import (
    draw_averages,
    draw_confidence,
    draw_deciles,
    draw_experience,
    draw_ledger,
    draw_panels,
    draw_rating_counts,
    draw_ratings,
    draw_ratings_by_level,
    draw_sixes,
    draw_sixes_by_year,
    draw_top,
    draw_years,
)
from analysis.sample import restrict
from analysis.statistics import reviewers
from analysis.statistics.acceptance import sixes
from analysis.statistics.ledger import ledger
from analysis.statistics.ratings import averages, ratings
from analysis.statistics.thresholds import deciles, top
from analysis.statistics.years import years

EDGES = {
    "ratings": (draw_ratings, ratings),
    "averages": (draw_averages, averages),
    "top": (draw_top, top),
    "deciles": (draw_deciles, deciles),
    "experience": (draw_experience, reviewers.experience),
    "confidence": (draw_confidence, reviewers.confidence),
    "ratings by level": (draw_ratings_by_level, reviewers.experience_ratings),
    "panels": (draw_panels, reviewers.experience_panels),
    "rating counts": (draw_rating_counts, reviewers.experience_counts),
    "sixes": (draw_sixes, sixes),
    "sixes by year": (draw_sixes_by_year, lambda sample: sixes(sample).assign(year=2020)),
    "years": (draw_years, lambda sample: years([sample])),
    "ledger": (draw_ledger, ledger),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", EDGES)
def test_the_first_day_and_the_smallest_conference_can_be_drawn(name):
    draw, statistic = EDGES[name]
    for sample in edge_samples():
        ax = drawn(draw, statistic(sample if name == "ledger" else restrict(sample, "reviewed")))
        assert texts_outside(ax) == []
        if not len(sample.papers):
            assert notes(ax) == ["no reviews yet"]
