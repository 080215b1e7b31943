"""The line: logistic regression, area under the curve, and papers on the other side."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import (
    SCALE,
    assert_columns_hold,
    assert_order_is_irrelevant,
    drawn_sample,
    edge_samples,
    make_sample,
    papers,
)
from scipy.stats import mannwhitneyu

from analysis import fetch
from analysis.errors import Trouble
from analysis.sample import load
from analysis.statistics.acceptance import usual
from analysis.statistics.line import (
    FOLDS,
    acceptance_curve,
    area,
    auc,
    fit,
    fit_averages,
    line,
    line_of,
    logit,
    with_ones,
)

KINDS = st.lists(st.tuples(st.integers(1, 8), st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12)


def items(frame: pd.DataFrame, way: str) -> pd.DataFrame:
    return frame[frame["withdrawn"] == way].set_index("item")


# Against published and recomputed numbers ---------------------------------------------------------------------------


def test_the_logit_of_decided_papers_of_2020(bundled_sample):
    found = items(logit(bundled_sample(2020, "final")), "left out")
    assert found.loc["slope", "value"] == pytest.approx(2.38, abs=0.005)
    assert found.loc["even", "value"] == pytest.approx(5.443, abs=0.0005)
    assert found.loc["slope", ["accepted", "n"]].tolist() == [687, 2213]


def test_the_logit_of_tran_et_al_counts_withdrawn_papers_as_rejected(bundled_sample):
    found = items(logit(bundled_sample(2020, "final")), "as rejected")
    assert found.loc["slope", ["value", "se"]].tolist() == pytest.approx([2.393, 0.106], abs=0.0005)
    assert found.loc["constant", "value"] == pytest.approx(-13.05, abs=0.005)
    assert found.loc["slope", "value"] == pytest.approx(2.396, abs=0.02)  # as published
    assert found.loc["constant", "value"] == pytest.approx(-13.02, abs=0.05)


def test_the_average_tells_958_in_a_thousand_pairs_of_2020(bundled_sample):
    found = auc(bundled_sample(2020, "final")).set_index(["withdrawn", "predictor"]).loc[("left out", "average")]
    assert found["in_sample"] == pytest.approx(0.958, abs=0.0005)
    assert found["value"] == pytest.approx(0.958, abs=0.0005)
    assert found["low"] < found["value"] < found["high"]


def test_final_scores_tell_more_than_those_at_release(bundled_sample):
    for year in (2020, 2021, 2022, 2023):
        first, last = (
            auc(bundled_sample(year, name)).set_index(["withdrawn", "predictor"]) for name in ("release", "final")
        )
        assert (first["high"] < last["low"]).all()


def test_of_2026_only_the_accepted_are_known(bundled_sample):
    for statistic in (logit, acceptance_curve, auc, line):
        assert set(statistic(bundled_sample(2026))["withdrawn"]) == {"as rejected"}


def test_2024_is_refused(bundled_sample):
    for statistic in (logit, acceptance_curve, auc, line):
        with pytest.raises(Trouble, match="not known"):
            statistic(bundled_sample(2024))


def test_the_line_of_2020_accepts_as_many_as_were_accepted(bundled_sample):
    found = line(bundled_sample(2020, "final"))
    found = found[found["withdrawn"] == "left out"].set_index("side")
    assert found["line"].unique().tolist() == [17 / 3]
    assert found["accepted"].sum() == 687
    assert found.loc["above", "n"] < 687 <= found.loc["above", "n"] + found.loc["on", "n"]
    assert found[["accepted", "others"]].to_numpy().tolist() == [[509, 64], [72, 44], [106, 1418]]


def test_the_raw_notes_of_2020_give_the_same_logit_as_the_bundled_counts(bundled_sample, review_data, tmp_path):
    """The notes are of decided papers only."""
    database = tmp_path / "reviews.duckdb"
    file = review_data / "iclr-api1" / "iclr2020_forums.jsonl.gz"
    fetch.fetch("ICLR", [2020], fetch.Asked("notes", (file,)), database, lambda line: None)
    from_notes = load(database, "ICLR", 2020, source="notes")
    for statistic in (logit, line):
        ours, theirs = (usual(statistic(one)) for one in (from_notes, bundled_sample(2020, "final")))
        pd.testing.assert_frame_equal(ours, theirs)


# Against second computations ----------------------------------------------------------------------------------------


def test_statsmodels_fits_the_same(bundled_sample):
    glm = pytest.importorskip("statsmodels.api", reason="statsmodels is an oracle of the tests only")
    papers = bundled_sample(2020, "2019-11-08").papers
    accepted, x = papers["outcome"].to_numpy() == "accepted", with_ones(papers["average"], papers["reviews"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = glm.Logit(accepted, x).fit(disp=0)
    ours = fit(x, accepted.astype(int), np.ones(len(x)))
    np.testing.assert_allclose(ours.coefficients, theirs.params, rtol=1e-8)
    np.testing.assert_allclose(ours.covariance, theirs.cov_params(), rtol=1e-6)


@given(KINDS)
def test_a_fit_has_no_gradient_left_or_there_is_none(kinds):
    average, accepted, others = (np.array(column) for column in zip(*kinds, strict=True))
    x, n = with_ones(average), accepted + others
    found = fit(x, accepted, n)
    if overlap(average, accepted, others):
        expected = 1 / (1 + np.exp(-(x @ found.coefficients)))
        assert x.T @ (accepted - n * expected) == pytest.approx([0, 0], abs=1e-5)
    else:
        assert np.isnan(found.coefficients).all()


def overlap(average, accepted, others) -> bool:
    """Whether accepted and other papers overlap on both sides, so that a finite estimate exists."""
    won, lost = average[accepted > 0], average[others > 0]
    return len(won) > 0 and len(lost) > 0 and won.min() < lost.max() and lost.min() < won.max()


def test_papers_and_kinds_of_papers_give_the_same_fit():
    average, accepted = np.array([1, 2, 2, 3, 3, 4.0]), np.array([False, True, False, False, True, True])
    one_by_one = fit(with_ones(average), accepted.astype(int), np.ones(6))
    np.testing.assert_allclose(fit_averages(average, accepted).coefficients, one_by_one.coefficients, rtol=1e-9)


@given(KINDS)
def test_the_area_is_the_share_of_pairs_that_the_accepted_paper_wins(kinds):
    score, accepted, others = (np.array(column) for column in zip(*kinds, strict=True))
    first, second = np.repeat(score, accepted), np.repeat(score, others)
    found = area(score, accepted, others)
    if not len(first) or not len(second):
        assert np.isnan(found["value"])
        return
    wins = (first[:, np.newaxis] > second).mean() + (first[:, np.newaxis] == second).mean() / 2
    assert found["value"] == pytest.approx(wins)
    assert found["value"] == pytest.approx(mannwhitneyu(first, second).statistic / len(first) / len(second))


def test_the_limits_of_an_area_are_those_of_a_bootstrap():
    generator = np.random.default_rng(3)
    first, second = generator.normal(1, 1, 150).round(1), generator.normal(0, 1, 350).round(1)
    scores = np.unique(np.concatenate([first, second]))

    def counted(values: np.ndarray) -> np.ndarray:
        return np.bincount(np.searchsorted(scores, values), minlength=len(scores))

    drawn = [
        area(scores, counted(generator.choice(first, 150)), counted(generator.choice(second, 350)))["value"]
        for _ in range(2000)
    ]
    found = area(scores, counted(first), counted(second))
    assert (found["low"], found["high"]) == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.006)


def test_areas_of_folds_are_pooled_by_their_pairs():
    score = np.array([[1, 1], [2, 2], [3, 3]])
    accepted, others = np.array([[0, 1], [1, 0], [1, 0]]), np.array([[1, 1], [1, 1], [0, 2]])
    one, two = (area(score[:, fold], accepted[:, fold], others[:, fold])["value"] for fold in (0, 1))
    assert area(score, accepted, others)["value"] == pytest.approx((4 * one + 4 * two) / 8)


def test_each_paper_is_scored_by_a_fit_that_has_not_seen_it():
    """Of a predictor that means nothing, a fit on the same papers makes something and one on others does not."""
    generator = np.random.default_rng(2)
    ratings = generator.choice(SCALE.levels, size=(200, 5))
    outcomes = np.where(generator.random(200) < 0.4, "accepted", "rejected")
    found = auc(make_sample(ratings.tolist(), outcomes.tolist()))
    found = found[found["withdrawn"] == "left out"].set_index("predictor")
    many = found.loc["average, lowest, highest, reviews"]
    assert many["in_sample"] > 0.5
    assert many["value"] < many["in_sample"]
    assert FOLDS == 10


@given(papers)
def test_the_line_agrees_with_sorting_and_counting(drawn):
    found = line(drawn_sample(drawn))
    for way in ("left out", "as rejected"):
        counted = [
            (np.mean([rating for rating, _ in some]), outcome == "accepted")
            for some, outcome in drawn
            if some and (way == "as rejected" or outcome != "withdrawn")
        ]
        rows = found[found["withdrawn"] == way].set_index("side")
        averages = sorted((average for average, _ in counted), reverse=True)
        accepted = sum(won for _, won in counted)
        if not accepted:
            assert rows["n"].sum() == 0
            continue
        where = averages[accepted - 1]
        assert rows.loc["above", "others"] == sum(average > where and not won for average, won in counted)
        assert rows.loc["below", "accepted"] == sum(average < where and won for average, won in counted)
        assert rows["n"].sum() == len(counted)


def test_papers_on_the_line_are_on_neither_side():
    found = line(make_sample([[6], [6], [3], [8]], ["accepted", "rejected", "rejected", "accepted"]))
    found = found[found["withdrawn"] == "left out"].set_index("side")
    assert found["line"].tolist() == [6, 6, 6]
    assert found["n"].to_dict() == {"above": 1, "on": 2, "below": 1}
    assert line_of(np.array([]), np.array([], dtype=bool)) is not None


def test_the_curve_passes_through_one_half_where_the_odds_are_even(bundled_sample):
    sample = bundled_sample(2020, "final")
    curve = acceptance_curve(sample)
    curve = curve[curve["withdrawn"] == "left out"]
    even = items(logit(sample), "left out").loc["even", "value"]
    assert np.interp(even, curve["average"], curve["value"]) == pytest.approx(0.5, abs=0.001)
    assert curve["average"].iloc[[0, -1]].tolist() == pytest.approx([1, 8])


def test_averages_that_part_the_papers_have_no_finite_fit_and_no_curve():
    sample = make_sample([[8], [8], [1], [3]], ["accepted", "accepted", "rejected", "rejected"])
    assert logit(sample)["value"].isna().all()
    assert acceptance_curve(sample).empty
    assert auc(sample)["value"].isna().all()


# Coverage -----------------------------------------------------------------------------------------------------------


def test_the_limits_cover_the_truth_as_often_as_they_claim():
    """Papers of 3 reviews each, decided by a known curve: 95 % limits of the slope and of the even odds."""
    generator, truth, held, runs = np.random.default_rng(11), (-7.0, 1.5), np.zeros(2), 800
    for _ in range(runs):
        average = generator.choice(SCALE.levels, (300, 3)).mean(axis=1)
        accepted = generator.random(300) < 1 / (1 + np.exp(-(truth[0] + truth[1] * average)))
        outcomes = np.where(accepted, "accepted", "rejected")
        found = _logit_of(average, outcomes)
        limits = found.loc[["slope", "even"], ["low", "high"]].to_numpy()
        held += (limits[:, 0] <= (truth[1], -truth[0] / truth[1])) & (limits[:, 1] >= (truth[1], -truth[0] / truth[1]))
    assert ((held / runs >= 0.93) & (held / runs <= 0.97)).all()


def _logit_of(average: np.ndarray, outcomes: np.ndarray) -> pd.DataFrame:
    """As `logit`, of averages without their ratings."""
    from analysis.statistics.line import _coefficients

    return _coefficients(average, outcomes == "accepted").set_index("item")


# Edges --------------------------------------------------------------------------------------------------------------


@settings(max_examples=15)  # each fits 240 times
@given(papers)
def test_order_is_irrelevant(drawn):
    assert_order_is_irrelevant("line", drawn)


@pytest.mark.filterwarnings("error")
def test_columns_hold():
    assert_columns_hold("line", *edge_samples())
