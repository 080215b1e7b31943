"""Harshness: against least squares with a dummy for each paper, and plain loops."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from samples import (
    FOUR,
    assert_columns_hold,
    assert_order_is_irrelevant,
    drawn_sample,
    edge_samples,
    make_sample,
    of_family,
    papers,
)
from statsmodels.regression.linear_model import OLS

from analysis import sample as samples
from analysis import store
from analysis.errors import Trouble
from analysis.sources import bundled
from analysis.statistics import harshness
from analysis.statistics.harshness import (
    confidence_within_paper,
    experience_decisions,
    experience_gap,
    experience_within_paper,
)


def reviews_of(drawn) -> list[tuple[int, int, int, str]]:
    """Paper, rating, experience (0 = not said), outcome of every review."""
    return [(paper, rating, level, outcome) for paper, (some, outcome) in enumerate(drawn) for rating, level in some]


def test_experienced_reviewers_of_2020_rate_the_same_paper_lower(bundled_sample):
    found = experience_within_paper(bundled_sample(2020, "2019-11-08"), draws=200)
    assert found["value"].is_monotonic_decreasing
    assert found["low"].iloc[0] > 0 > found["high"].iloc[-1]
    assert found["value"] @ found["n"] == pytest.approx(0, abs=1e-9)
    # Part of the difference of the plain means (4.524 to 3.381) is between papers, most of it is not.
    assert 0.8 < found["value"].iloc[0] - found["value"].iloc[-1] < 4.524 - 3.381


@pytest.mark.parametrize(("year", "name", "field"), [(2020, "2019-11-08", "experience"), (2017, "final", "confidence")])
def test_effects_agree_with_least_squares_on_dummies(bundled_sample, year, name, field):
    sample = bundled_sample(year, name).having(np.arange(len(bundled_sample(year, name).papers)) < 150)
    reviews = sample.reviews.dropna(subset=[field])
    paper, level = np.unique(reviews["paper"], return_inverse=True)[1], reviews[field].to_numpy()
    seen = np.unique(level)
    dummies = np.column_stack([np.eye(paper.max() + 1)[paper], level[:, np.newaxis] == seen[1:]])
    plain = np.append(0, OLS(reviews["rating"].to_numpy(float), dummies.astype(float)).fit().params[-len(seen) + 1 :])
    ours = getattr(harshness, f"{field}_within_paper")(sample, draws=2).set_index("level")["value"].loc[seen]
    np.testing.assert_allclose(ours - ours.iloc[0], plain, atol=1e-8)


@given(papers)
def test_effects_agree_with_least_squares_where_levels_hang_together(drawn):
    known = [(paper, rating, level) for paper, rating, level, _ in reviews_of(drawn) if level]
    seen = sorted({level for _, _, level in known})
    assume(len(seen) > 1)
    paper = np.array([one for one, _, _ in known])
    level = np.array([one for _, _, one in known])[:, np.newaxis] == seen
    within = level - np.array([level[paper == one].mean(axis=0) for one in paper])
    assume(np.linalg.matrix_rank(within) == len(seen) - 1)
    plain = np.linalg.lstsq(within, np.array([rating for _, rating, _ in known], dtype=float), rcond=None)[0]
    ours = experience_within_paper(drawn_sample(drawn), draws=2).set_index("level")["value"]
    np.testing.assert_allclose(ours.loc[seen] - ours.loc[seen[0]], plain - plain[0], atol=1e-8)
    assert ours.drop(seen).isna().all()


def test_a_level_that_never_met_another_has_no_value():
    apart = make_sample([[1, 3], [6, 8], [3]], experience=[[1, 2], [4, 4], [3]])
    found = experience_within_paper(apart, draws=20).set_index("level")
    assert found["value"].isna().tolist() == [True, True, True, True]  # level 4 is the most frequent, and alone
    joined = make_sample([[1, 3], [6, 8], [3]] * 3, experience=[[1, 2], [1, 4], [3]] * 3)
    found = experience_within_paper(joined, draws=20).set_index("level")["value"]
    assert found.isna().tolist() == [False, False, True, False]
    assert found[2] - found[1] == pytest.approx(2) and found[4] - found[1] == pytest.approx(2)


@given(papers)
def test_gaps_agree_with_leaving_one_out(drawn):
    gaps: dict[int, list[Fraction]] = {level: [] for level in FOUR.levels}
    for some, _ in drawn:
        for place, (rating, level) in enumerate(some):
            others = [one for other, (one, _) in enumerate(some) if other != place]
            if level and others:
                gaps[level].append(rating - Fraction(sum(others), len(others)))
    found = experience_gap(drawn_sample(drawn), draws=2).set_index("level")
    for level, some in gaps.items():
        assert found.loc[level, "n"] == len(some)
        if some:
            assert found.loc[level, "value"] == pytest.approx(float(sum(some) / len(some)))
            assert found.loc[level, "apart"] == pytest.approx(float(sum(map(abs, some)) / len(some)))


@given(papers)
def test_decisions_agree_with_counting_one_by_one(drawn):
    found = experience_decisions(drawn_sample(drawn), draws=2).set_index(["outcome", "level"])
    for level in FOUR.levels:
        shares = []
        for outcome in ("accepted", "rejected"):
            some = [rating >= 6 for _, rating, one, then in reviews_of(drawn) if one == level and then == outcome]
            assert found.loc[(outcome, level), "n"] == len(some)
            shares.append(np.mean([side == (outcome == "accepted") for side in some]) if some else np.nan)
            assert found.loc[(outcome, level), "value"] == pytest.approx(shares[-1], nan_ok=True)
        assert found.loc[("both", level), "value"] == pytest.approx(np.mean(shares), nan_ok=True)


def test_harsher_reviewers_agree_with_rejections_by_construction(bundled_sample):
    found = experience_decisions(bundled_sample(2020, "2019-11-08"), draws=2).set_index(["outcome", "level"])["value"]
    assert found["accepted"].is_monotonic_decreasing and found["rejected"].is_monotonic_increasing


def test_where_only_the_accepted_are_known_only_they_are_shown(bundled_sample):
    found = harshness.confidence_decisions(bundled_sample(2026), draws=2)
    assert set(found["outcome"]) == {"accepted"}
    with pytest.raises(Trouble, match="is not known"):
        harshness.confidence_decisions(bundled_sample(2024), draws=2)


def test_confidence_is_treated_as_experience_is():
    sample = make_sample([[6, 3], [8, 1, 3]], ["accepted", "rejected"], experience=[[2, 1], [4, 2, 1]])
    for name in ("within_paper", "gap", "decisions"):
        one, other = (getattr(harshness, f"{field}_{name}")(sample) for field in ("confidence", "experience"))
        assert one.equals(other)


@given(papers)
def test_order_is_irrelevant(drawn):
    assert_order_is_irrelevant("harshness", drawn)


def test_columns_hold():
    assert_columns_hold("harshness", *edge_samples())


@pytest.mark.parametrize("year", bundled.years())
def test_every_bundled_snapshot_with_confidence_gives_values(bundled_store, year):
    for one in store.held(bundled_store, "ICLR", year):
        loaded = samples.load(bundled_store, "ICLR", year, one.name)
        if loaded.reviews["confidence"].notna().any():
            assert confidence_within_paper(loaded, draws=20)["value"].notna().sum() > 3, one.name


def test_the_family_has_six_statistics():
    assert len(of_family("harshness")) == 6
