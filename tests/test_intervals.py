from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, t
from scipy.stats import bootstrap as scipy_bootstrap

from analysis.statistics.intervals import (
    BLOCK,
    bootstrap,
    corrected,
    estimates,
    kinds_of,
    limits,
    reach,
    resampled,
    resampled_counts,
    shares_of_papers,
    shares_of_reviews,
    wilson,
)

PROFILES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=20)


def accept_share(sums: np.ndarray) -> np.ndarray:
    return sums[:, :1] / sums.sum(axis=1, keepdims=True)


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_agrees_with_scipy(case):
    low, high = wilson(*case)
    expected = binomtest(*case).proportion_ci(method="wilson")
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_wilson_ends_where_the_share_ends_and_knows_nothing_of_no_papers():
    low, high = wilson([0, 7, 0], [7, 7, 0])
    assert low[0] == 0 and high[1] == 1
    assert np.isnan([low[2], high[2]]).all()


def test_shares_of_papers_leave_unknown_counts_without_a_value():
    columns = shares_of_papers([1, np.nan, 0], [4, 4, 0])
    assert columns["value"][0] == 0.25
    for name in ("value", "low", "high"):
        assert np.isnan(columns[name]).tolist() == [False, True, True]


@given(PROFILES)
def test_resampled_papers_are_as_many_as_there_were(profiles):
    counts = np.unique(np.array(profiles), axis=0, return_counts=True)[1]
    for block in resampled_counts(counts, draws=7):
        assert (block.sum(axis=1) == len(profiles)).all()


def test_few_papers_reach_further_than_many():
    assert reach(10**6) == pytest.approx(1.96, abs=1e-3)
    assert reach(100) == pytest.approx(t.ppf(0.975, 99) * np.sqrt(100 / 99), abs=1e-3)
    drawn = np.random.default_rng(2).normal(size=(1999, 1))
    assert limits(drawn, 20)[1] - limits(drawn, 20)[0] > limits(drawn)[1] - limits(drawn)[0]


def test_resampled_blocks_do_not_depend_on_how_many_follow():
    papers = np.array([[1, 2], [0, 3], [2, 1]])
    first = np.concatenate(list(resampled(papers, BLOCK)))
    many = np.concatenate(list(resampled(papers, BLOCK + 50)))
    assert len(many) == BLOCK + 50
    np.testing.assert_array_equal(first, many[:BLOCK])


@given(PROFILES, st.integers(0, 3))
def test_bootstrap_depends_on_the_seed_and_not_on_the_order(profiles, seed):
    papers = np.array(profiles)
    first = bootstrap(papers, accept_share, draws=120, seed=seed)
    second = bootstrap(papers[::-1], accept_share, draws=120, seed=seed)
    np.testing.assert_array_equal(first, second)


def test_bootstrap_agrees_with_one_that_draws_paper_by_paper():
    generator = np.random.default_rng(5)
    papers = np.column_stack([on := generator.binomial(3, generator.beta(1, 1, 400)), 3 - on])
    drawn = [accept_share(papers[generator.integers(0, 400, 400)].sum(axis=0, keepdims=True)) for _ in range(4000)]
    plain = np.quantile(np.array(drawn).ravel(), [0.025, 0.975])
    ours = np.ravel(bootstrap(papers, accept_share, draws=4000))
    assert ours == pytest.approx(plain, abs=0.003)


def test_bootstrap_over_papers_is_wider_than_wilson_over_reviews_of_agreeing_reviewers():
    papers = np.array([[3, 0]] * 50 + [[0, 3]] * 50)
    low, high = bootstrap(papers, accept_share)
    wilson_low, wilson_high = wilson(150, 300)
    assert low[0] < wilson_low and high[0] > wilson_high


def test_bootstrap_of_no_papers_has_the_right_shape_and_no_values():
    low, high = bootstrap(np.zeros((0, 2), dtype=int), accept_share)
    assert low.shape == high.shape == (1,)
    assert np.isnan([low, high]).all()


@given(PROFILES)
def test_estimates_hold_the_plain_value(profiles):
    papers = np.array(profiles)
    value = estimates(papers, lambda sums: sums[:, :1] / len(papers), draws=20)["value"]
    assert value[0] == papers[:, 0].mean()


def test_shares_of_reviews_count_all_reviews():
    columns = shares_of_reviews(np.array([[1, 2], [0, 1]]), draws=20)
    assert columns["count"].tolist() == [1, 3]
    assert columns["n"].tolist() == [4, 4]
    assert columns["value"].tolist() == [0.25, 0.75]


def test_limits_leave_out_draws_without_a_value():
    low, high = limits(np.array([[1.0, np.nan], [np.nan, np.nan], [2.0, np.nan]]))
    assert (low[0], high[0]) == (1, 2)
    assert np.isnan([low[1], high[1]]).all()


def spread_of(sums: np.ndarray) -> np.ndarray:
    n, total, squares = sums.T
    return np.sqrt(squares / n - (total / n) ** 2)[:, np.newaxis]


def test_corrected_limits_agree_with_those_of_scipy():
    values = np.random.default_rng(8).gamma(1.2, 1.0, 400).round(1)
    kinds, counts = np.unique(values, return_counts=True)
    sums = np.column_stack([np.ones(len(kinds)), kinds, kinds**2])
    ours = corrected(sums, counts, spread_of, draws=9000)
    theirs = scipy_bootstrap((values,), np.std, n_resamples=9000, method="BCa", rng=2).confidence_interval
    plain = bootstrap(np.column_stack([np.ones(400), values, values**2]), spread_of, draws=9000)
    assert ours["value"][0] == pytest.approx(np.std(values))
    assert (ours["low"][0], ours["high"][0]) == pytest.approx((theirs.low, theirs.high), abs=0.012)
    assert ours["high"][0] > plain[1][0] + 0.02  # a spread is skewed: its limits are not those of the draws


def test_corrected_limits_of_nothing_and_of_one_paper():
    nothing = corrected(np.zeros((0, 3)), np.zeros(0, dtype=int), spread_of)
    assert all(np.isnan(nothing[name]).all() and nothing[name].shape == (1,) for name in ("value", "low", "high"))
    one = corrected(np.array([[1.0, 2.0, 4.0]]), np.array([1]), spread_of, draws=10)
    assert [one[name][0] for name in ("value", "low", "high")] == [0, 0, 0]


@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(st.lists(st.integers(-1, 9), min_size=width, max_size=width), min_size=1)
    )
)
def test_kinds_are_those_of_numpy_in_the_same_order(rows):
    for papers in (np.array(rows), np.array(rows, dtype=float) / 3, np.array(rows) + 1, (np.array(rows) + 1) * 10**17):
        found, expected = kinds_of(papers), np.unique(papers, axis=0, return_counts=True)
        assert all(
            (one == other).all() and one.dtype == other.dtype for one, other in zip(found, expected, strict=True)
        )
