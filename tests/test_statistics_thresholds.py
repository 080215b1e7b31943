from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from samples import assert_columns_hold, assert_order_is_irrelevant, drawn_sample, edge_samples, make_sample, papers

from analysis.statistics.thresholds import TOP, deciles, quantiles, top

# P=R: nvrv/iclr-analysis, README, 2,561 papers. Top 1, 5, 10, 12.5, 15, 20, 25, 30, 40 ... 90 %.
PUBLISHED = {
    "2019-11-08": [7.333, 6.667, 6.0, 5.667, 5.667, 5.0, 5.0, 4.8, 4.0, 4.0, 3.333, 3.0, 2.333, 2.0],
    "2019-12-01": [8.0, 7.0, 6.667, 6.333, 6.0, 6.0, 5.667, 5.0, 4.667, 4.0, 3.5, 3.0, 2.333, 2.0],
}
# R: final, top 1, 5, 10, 20, 25, 30, 40 ... 90 %.
BY_YEAR = {
    2017: [8.33, 7.67, 7.33, 7.00, 6.67, 6.55, 6.00, 5.67, 5.33, 5.00, 4.33, 4.00],
    2018: [8.00, 7.33, 7.00, 6.60, 6.33, 6.00, 5.67, 5.33, 5.00, 4.67, 4.33, 3.67],
    2019: [8.00, 7.33, 7.00, 6.33, 6.33, 6.00, 5.67, 5.33, 5.00, 4.67, 4.33, 3.67],
    2020: [8.00, 7.00, 6.67, 6.00, 5.67, 5.00, 4.67, 4.00, 3.50, 3.00, 2.33, 2.00],
}


@pytest.mark.parametrize("snapshot", PUBLISHED)
def test_top_reproduces_the_published_table(bundled_sample, snapshot):
    found = top(bundled_sample(2020, snapshot), draws=10)
    assert found["value"].tolist() == pytest.approx(PUBLISHED[snapshot], abs=5e-4)
    assert (found["n"] == 2561).all()


@pytest.mark.parametrize("year", BY_YEAR)
def test_top_by_year(bundled_sample, year):
    found = top(bundled_sample(year, "final"), draws=10).set_index("top")["value"].drop([0.125, 0.15])
    assert found.tolist() == pytest.approx(BY_YEAR[year], abs=5.001e-3)


def test_top_tells_how_many_reach_the_threshold():
    rows = top(make_sample([[6, 8]] * 2 + [[6, 6]] * 6 + [[3, 8]] * 2 + [[1]] * 10), draws=10).set_index("top")
    half = rows.loc[0.5]
    assert half["value"] == (5.5 + 1) / 2
    assert (half["above"], half["at"], half["at_or_above"]) == (0.5, 0, 0.5)
    assert half["example"] == "3 8"
    assert rows.loc[0.25, ["value", "above", "at", "at_or_above"]].tolist() == [6, 0.1, 0.3, 0.4]


def test_the_example_is_the_most_frequent_then_the_shortest():
    several = [[3, 3, 8, 8], [3, 8], [3, 8], [1, 8, 8, 6, 6, 4 + 4], [8]]
    assert top(make_sample(several), draws=10).set_index("top").loc[0.9, "example"] == "3 8"
    assert top(make_sample([[3, 3, 8, 8], [3, 8]]), draws=10)["example"].unique().tolist() == ["3 8"]


def test_the_range_holds_the_threshold_and_is_on_the_lattice(bundled_sample):
    found = top(bundled_sample(2020, "final"))
    assert (found["low"] <= found["value"]).all() and (found["value"] <= found["high"]).all()
    assert found.set_index("top").loc[0.01, ["low", "high"]].tolist() == pytest.approx([22 / 3, 8])


@given(papers)
def test_thresholds_agree_with_numpy(drawn):
    averages = [np.mean([rating for rating, _ in some]) for some, _ in drawn if some]
    found = top(drawn_sample(drawn), draws=2)
    if averages:
        expected = [np.quantile(averages, 1 - part / 1000) for part in TOP]
        assert found["value"].tolist() == pytest.approx(expected)


@given(papers)
def test_examples_are_real_and_reach_the_threshold(drawn):
    real = {" ".join(str(rating) for rating in sorted(rating for rating, _ in some)) for some, _ in drawn if some}
    found = top(drawn_sample(drawn), draws=2)
    for example, threshold in zip(found["example"], found["value"], strict=True):
        assert (example in real) == bool(real)
        assert not real or np.mean([int(rating) for rating in example.split()]) >= threshold - 1e-9


@given(papers)
def test_repeated_quantiles_agree_with_numpy(drawn):
    values = np.arange(4.0)
    counts = np.random.default_rng(len(drawn)).multinomial(7, [0.4, 0.1, 0.1, 0.4], size=3)
    expected = [np.quantile(np.repeat(values, row), [0.9, 0.25]) for row in counts]
    np.testing.assert_allclose(quantiles(values, counts, (100, 750)), expected)


def test_deciles_keep_equal_averages_together():
    found = deciles(make_sample([[8]] * 3 + [[6]] * 4 + [[3]] * 3, ["accepted"] * 5 + ["rejected"] * 5)).set_index(
        "group"
    )
    assert found["n"].to_dict() == {1: 0, 2: 3, 3: 0, 4: 0, 5: 0, 6: 4, 7: 0, 8: 0, 9: 3, 10: 0}
    assert found.loc[2, ["lowest", "highest", "accepted", "value"]].tolist() == [8, 8, 3, 1]
    assert found.loc[6, ["lowest", "highest", "accepted", "value"]].tolist() == [6, 6, 2, 0.5]
    assert found.loc[1, ["lowest", "highest", "accepted", "value", "low"]].isna().all()


@given(papers)
def test_deciles_hold_all_papers_in_order(drawn):
    sample = drawn_sample(drawn, "reviewed")
    found = deciles(sample)
    assert found["n"].sum() == len(sample.papers)
    assert found["accepted"].sum() == (sample.papers["outcome"] == "accepted").sum()
    filled = found[found["n"] > 0]
    assert (filled["lowest"].to_numpy()[:-1] > filled["highest"].to_numpy()[1:]).all()
    for average, papers_there in Counter(sample.papers["average"]).items():
        holding = filled[(filled["lowest"] <= average) & (average <= filled["highest"])]
        assert len(holding) == 1 and holding["n"].item() >= papers_there


def test_deciles_of_papers_without_ties_are_tenths():
    ratings = [[1] * (20 - place) + [8] * place for place in range(20)]
    assert deciles(make_sample(ratings))["n"].tolist() == [2] * 10


def test_deciles_of_2024_do_not_know_who_was_accepted(bundled_sample):
    found = deciles(bundled_sample(2024))
    assert found[["accepted", "value", "low", "high"]].isna().all(axis=None)
    assert found["n"].sum() == 7262


@given(papers)
def test_order_is_irrelevant(drawn):
    assert_order_is_irrelevant("thresholds", drawn)


def test_columns_hold():
    assert_columns_hold("thresholds", *edge_samples())
