"""Fates: papers of the same average, compared."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import SCALE, assert_columns_hold, assert_order_is_irrelevant, edge_samples, make_sample, papers
from scipy.stats import false_discovery_control, fisher_exact

from analysis.errors import Trouble
from analysis.statistics.fates import ENOUGH, _log_factorials, difference, fates, fisher, near_the_line
from analysis.statistics.intervals import benjamini_hochberg

TABLE = st.tuples(*[st.integers(0, 30)] * 4)
STRATA = st.lists(st.tuples(*[st.integers(0, 9)] * 4), min_size=1, max_size=6)


@pytest.fixture(scope="module")
def simulated():
    """3,000 papers of 3 or 4 reviews, where one 8 helps beyond the average."""
    generator = np.random.default_rng(4)
    ratings = [
        generator.choice(SCALE.levels, generator.integers(3, 5), p=(0.2, 0.3, 0.35, 0.15)).tolist() for _ in range(3000)
    ]
    odds = np.array([2 * (np.mean(some) - 5) + 1.5 * (8 in some) for some in ratings])
    outcomes = np.where(generator.random(3000) < 1 / (1 + np.exp(-odds)), "accepted", "rejected")
    return make_sample(ratings, outcomes.tolist())


# Tests --------------------------------------------------------------------------------------------------------------


@given(TABLE)
def test_fisher_agrees_with_scipy(table):
    won, lost, others_won, others_lost = table
    ours = fisher(won, won + lost, others_won, others_won + others_lost, _log_factorials(sum(table)))
    assert ours == pytest.approx(fisher_exact([[won, lost], [others_won, others_lost]]).pvalue, rel=1e-6, abs=1e-9)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_benjamini_hochberg_agrees_with_scipy(p):
    np.testing.assert_allclose(benjamini_hochberg(np.array(p)), false_discovery_control(p), rtol=1e-12)


def test_a_missing_p_is_no_test():
    assert benjamini_hochberg(np.array([0.01, np.nan, 0.04])).tolist() == pytest.approx(
        [0.02, np.nan, 0.04], nan_ok=True
    )
    assert benjamini_hochberg(np.array([])).tolist() == []


def test_mantel_haenszel_agrees_with_statsmodels():
    tables = pytest.importorskip(
        "statsmodels.stats.contingency_tables", reason="statsmodels is an oracle of the tests only"
    )
    counts = np.array([(12, 30, 20, 60), (25, 40, 18, 41), (7, 9, 10, 30)])  # accepted and all, of group and others
    strata = [np.array([[a, n - a], [c, m - c]]) for a, n, c, m in counts]
    *_, p = difference(*counts.T)
    assert p == pytest.approx(tables.StratifiedTable(strata).test_null_odds().pvalue, rel=1e-9)


@given(STRATA)
def test_a_difference_is_the_weighted_mean_of_those_of_the_strata(strata):
    counts = [
        (won, won + lost, other, other + rest) for won, lost, other, rest in strata if won + lost and other + rest
    ]
    if not counts:
        return
    weights = [n * m / (n + m) for _, n, _, m in counts]
    plain = np.average([a / n - c / m for a, n, c, m in counts], weights=weights)
    value, low, high, p = difference(*np.array(counts).T)
    assert value == pytest.approx(plain)
    assert low <= value <= high
    assert np.isnan(p) or 0 <= p <= 1


def test_limits_of_a_difference_cover_it_as_often_as_they_claim():
    generator, held, runs = np.random.default_rng(8), 0, 2000
    n, others, shares = np.array([40, 60, 25]), np.array([80, 50, 60]), np.array([0.2, 0.5, 0.7])
    for _ in range(runs):
        drawn = generator.binomial(n, shares + 0.1), n, generator.binomial(others, shares), others
        _, low, high, _ = difference(*drawn)
        held += low <= 0.1 <= high
    assert 0.93 <= held / runs <= 0.97


# Same average, other fate -------------------------------------------------------------------------------------------


def test_fates_agree_with_counting_paper_by_paper(simulated):
    found = fates(simulated)
    n, won, alike_n, alike_won = Counter(), Counter(), Counter(), Counter()
    profiles = defaultdict(list)
    for paper, rating in simulated.reviews[["paper", "rating"]].itertuples(index=False):
        profiles[paper].append(rating)
    for row in simulated.papers.itertuples():
        ratings = tuple(sorted(profiles[row.paper]))
        alike, accepted = (sum(ratings), len(ratings)), row.outcome == "accepted"
        n[ratings] += 1
        won[ratings] += accepted
        alike_n[alike] += 1
        alike_won[alike] += accepted
    many = [ratings for ratings in n if n[ratings] >= ENOUGH]
    rivals = Counter((sum(ratings), len(ratings)) for ratings in many)
    expected = {ratings for ratings in many if rivals[sum(ratings), len(ratings)] > 1}
    rows = found[found["withdrawn"] == "left out"]
    assert {tuple(map(int, text.split())) for text in rows["ratings"]} == expected != set()
    for row in rows.itertuples():
        ratings = tuple(map(int, row.ratings.split()))
        alike = sum(ratings), len(ratings)
        assert (row.n, row.accepted, row.n_others) == (n[ratings], won[ratings], alike_n[alike] - n[ratings])
        assert row.others == pytest.approx((alike_won[alike] - won[ratings]) / row.n_others)


def test_rivals_have_the_same_average_and_as_many_reviews(bundled_sample):
    for year in (2020, 2022, 2023, 2026):
        found = fates(bundled_sample(year))
        assert (found.groupby(["withdrawn", "average", "reviews"]).size() > 1).all()
        assert found["n"].min() >= ENOUGH


def test_in_2023_at_release_one_6_went_with_acceptance_where_all_5_did_not(bundled_sample):
    found = fates(bundled_sample(2023, "release"))
    row = found[(found["withdrawn"] == "left out") & (found["ratings"] == "5 5 5 5")].iloc[0]
    assert (row["accepted"], row["n"]) == (2, 32)
    assert row["value"] < row["others"] and row["differs"]


# Near the line ------------------------------------------------------------------------------------------------------


def test_near_the_line_finds_what_was_put_there(simulated):
    found = near_the_line(simulated)
    row = found[(found["withdrawn"] == "left out") & (found["split"] == "highest rating")].iloc[0]
    assert row["group"] == "8"
    assert row["low"] > 0


def test_papers_near_the_line_are_within_half_a_point(bundled_sample):
    sample = bundled_sample(2023, "release")
    found = near_the_line(sample)
    found = found[found["withdrawn"] == "left out"]
    assert found["line"].unique().tolist() == [5.5]
    near = sample.papers["average"].between(5, 6) & sample.papers["outcome"].isin(("accepted", "rejected"))
    assert (found["n"] + found["n_others"]).max() <= near.sum()
    assert (found[["n", "n_others"]] >= ENOUGH).all(axis=None)


def test_where_averages_fix_the_ratings_there_is_nothing_to_compare(bundled_sample):
    """On the four levels of 2020 nearly all papers near the line with one average have the same ratings."""
    assert near_the_line(bundled_sample(2020, "final")).empty


def test_confidence_is_compared_where_the_form_asked(bundled_sample):
    assert "mean confidence" in set(near_the_line(bundled_sample(2026))["split"])
    assert "mean experience" in set(near_the_line(bundled_sample(2020, "2019-11-08"))["split"])
    assert "mean confidence" not in set(near_the_line(bundled_sample(2022, "release"))["split"])


def test_2024_is_refused(bundled_sample):
    for statistic in (fates, near_the_line):
        with pytest.raises(Trouble, match="not known"):
            statistic(bundled_sample(2024))


@given(papers)
def test_order_is_irrelevant(drawn):
    assert_order_is_irrelevant("fates", drawn)


@pytest.mark.filterwarnings("error")
def test_columns_hold():
    assert_columns_hold("fates", *edge_samples())
