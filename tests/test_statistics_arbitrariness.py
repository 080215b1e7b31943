"""Arbitrariness: the models, against simulations, published numbers and the experiments."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from samples import assert_columns_hold, assert_order_is_irrelevant, edge_samples, papers
from scipy.stats import multivariate_normal, norm

from analysis.errors import Trouble
from analysis.statistics.agreement import agreement
from analysis.statistics.arbitrariness import (
    Source,
    _again,
    arbitrariness,
    experiments,
    panel_correlation,
    resampling,
    simulated,
)

PUBLISHED = {2017: 0.75, 2018: 0.70, 2019: 0.70, 2020: 0.66}  # Tran et al. (2020)


@pytest.mark.parametrize("year", PUBLISHED)
def test_the_simulation_of_tran_et_al(bundled_sample, year):
    found = resampling(bundled_sample(year, "final")).set_index("reviewers")
    assert found.loc["own", "value"] == pytest.approx(PUBLISHED[year], abs=0.02)
    assert found["value"].iloc[1:].is_monotonic_increasing


def test_the_simulation_agrees_with_a_plain_one(bundled_sample):
    """One paper and one reviewer at a time, as the recipe is told."""
    sample = bundled_sample(2017, "final")
    average = dict(zip(sample.papers["paper"], sample.papers["average"], strict=True))
    reviews = [
        (average[paper], rating) for paper, rating in sample.reviews[["paper", "rating"]].itertuples(index=False)
    ]
    slope, constant = 4.169556, -25.534029  # the statistic logit, 2017
    generator, first, both = np.random.default_rng(0), 0, 0
    for row in sample.papers.sample(4000, replace=True, random_state=0).itertuples():
        pool = [rating - near for near, rating in reviews if abs(near - row.average) <= 1 + 1e-9]
        panels = row.average + generator.choice(pool, (2, row.reviews)).mean(axis=1)
        accepts = generator.random(2) < 1 / (1 + np.exp(-(constant + slope * panels)))
        first, both = first + accepts[0], both + accepts.all()
    found = resampling(sample).set_index("reviewers").loc["own", "value"]
    assert both / first == pytest.approx(found, abs=0.035)  # four standard errors of the plain one


def test_blocks_of_the_simulation_stand_alone(bundled_sample):
    source = Source.of(bundled_sample(2017))
    alone = [simulated(source, 5, block) for block in (2, 0, 1)]
    found = resampling(bundled_sample(2017), draws=3, seed=5)
    assert found["accepted_first"].tolist() == sum(alone)[:, 0].tolist()
    assert not np.array_equal(alone[0], alone[1])


# The model ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("correlation", "accepted"), [(0.0, 0.25), (0.49, 0.268), (0.8, 0.4), (0.95, 0.1), (1.0, 0.3)])
def test_the_integral_agrees_with_scipy(correlation, accepted):
    threshold = norm.ppf(1 - accepted)
    both = (
        1
        - 2 * (1 - accepted)
        + multivariate_normal([0, 0], [[1, correlation], [correlation, 1]], allow_singular=True).cdf(
            [threshold, threshold]
        )
    )
    assert _again(np.array([correlation]), accepted)[0] == pytest.approx(both / accepted, abs=5e-4)


def test_the_model_agrees_with_simulating_it():
    generator, between, within, accepted = np.random.default_rng(1), 1.4, 2.9, 0.3
    quality = generator.normal(0, np.sqrt(between), 200_000)
    panels = quality + generator.normal(0, np.sqrt(within / 3), (2, len(quality)))
    chosen = panels >= np.quantile(panels, 1 - accepted, axis=1)[:, np.newaxis]
    correlation = between / (between + within / 3)
    assert _again(np.array([correlation]), accepted)[0] == pytest.approx(
        chosen.all(axis=0).sum() / chosen[0].sum(), abs=0.005
    )


def test_final_scores_look_less_arbitrary_than_those_at_release(bundled_sample):
    for year in (2020, 2021, 2022, 2023):
        first, last = (arbitrariness(bundled_sample(year, name)) for name in ("release", "final"))
        assert (first["high"] < last["low"]).all()
        assert first["value"].is_monotonic_increasing


def test_at_release_the_model_is_where_the_experiments_are(bundled_sample):
    for year in (2020, 2021, 2022, 2023, 2026):
        found = arbitrariness(bundled_sample(year, "release")).set_index("reviewers")
        assert 0.4 < found.loc[3, "value"] < 0.6


def test_the_correlation_of_panels_is_that_of_the_intraclass_correlation(bundled_sample):
    found = arbitrariness(bundled_sample(2020, "2019-11-08"), draws=100).set_index("reviewers")
    assert found.loc[1, "correlation"] == pytest.approx(0.244, abs=0.0005)
    assert found.loc[3, "correlation"] == pytest.approx(3 * 0.2435 / (1 + 2 * 0.2435), abs=0.001)


def test_limits_are_those_of_the_intraclass_correlation_carried_over(bundled_sample):
    """Their coverage is tested there: a limit of a rising function of it is that function of its limit."""
    sample = bundled_sample(2022, "release")
    icc = agreement(sample, draws=200).set_index("measure").loc["icc", ["value", "low", "high"]].to_numpy(float)
    found = arbitrariness(sample, draws=200)
    expected = _again(panel_correlation(icc), found["accepted"].iloc[0])
    np.testing.assert_allclose(found[["value", "low", "high"]].to_numpy().T, expected, atol=0.002)


# The experiments ----------------------------------------------------------------------------------------------------


def test_the_experiments_are_as_published():
    found = experiments().set_index("experiment")
    assert found["n"].to_dict() == {"NIPS 2014": 166, "NeurIPS 2021": 882}
    assert (found["one"] / found["n"]).round(3).tolist() == [0.259, 0.230]
    assert round(1 - found.loc["NeurIPS 2021", "value"], 3) == 0.506
    assert round(1 - found.loc["NIPS 2014", "value"], 3) == 0.494
    # "57 %": the disagreement over twice the 22.5 % that each committee was meant to accept.
    assert pytest.approx(0.57, abs=0.01) == 43 / 2 / (0.225 * 166)
    # Lawrence's slides: of the presented papers 38 to 64 % would be the same.
    assert found.loc["NIPS 2014", ["low", "high"]].tolist() == pytest.approx([0.38, 0.64], abs=0.015)


def test_2024_is_refused(bundled_sample):
    for statistic in (arbitrariness, resampling):
        with pytest.raises(Trouble, match="not known"):
            statistic(bundled_sample(2024))


@settings(max_examples=5)  # each simulates 200,000 papers
@given(papers)
def test_order_is_irrelevant(drawn):
    assert_order_is_irrelevant("arbitrariness", drawn)


@pytest.mark.filterwarnings("error")
def test_columns_hold():
    assert_columns_hold("arbitrariness", *edge_samples())
