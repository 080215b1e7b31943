from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from samples import drawn_sample, edge_samples, make_sample, papers, reordered

from analysis.statistics.growth import funnel, growth

YEARS = (2017, 2018, 2019, 2020, 2021, 2022, 2023, 2024, 2026)


def test_growth_of_the_bundled_years(bundled_sample):
    found = growth([bundled_sample(year, population="all") for year in YEARS], {2025: 11672, 2024: 1}, draws=20)
    assert found["year"].tolist() == list(range(2017, 2027))
    by_year = found.set_index("year")
    assert by_year["official"].tolist() == [490, 1018, 1579, 2594, 3014, 3422, 4955, 7404, 11672, 19814]
    assert by_year.loc[2026, "factor"] == pytest.approx(19814 / 11672)
    assert by_year.loc[2025, ["papers", "reviews", "value"]].isna().all()
    assert (by_year.loc[2020, "reviewed"], by_year.loc[2026, "reviewed"]) == (2561, 19472)
    assert by_year.loc[2020, "value"] == pytest.approx(7775 / 2561)
    known = found.dropna(subset=["value"])
    assert ((known["low"] < known["value"]) & (known["value"] < known["high"])).all()


def test_without_the_year_before_there_is_no_factor(bundled_sample):
    found = growth([bundled_sample(year, population="all") for year in (2024, 2026)], draws=5)
    assert found["factor"].isna().all()


def test_the_funnel_of_2020_and_of_2026(bundled_sample):
    found = funnel([bundled_sample(year, population="all") for year in (2026, 2020)]).set_index(["year", "step"])
    assert found.loc[2020, "papers"].tolist() == [2594, 2561, 2213, 687]
    assert found.loc[(2020, "decided"), "value"] == pytest.approx(687 / 2213)
    assert found.loc[(2026, "reviewed"), "value"] == pytest.approx(5358 / 19472)
    refused = found.loc[(2026, "decided")]
    assert pd.isna(refused["papers"]) and pd.isna(refused["value"])
    assert "accepted / reviewed = 5,358 / 19,472 = 27.5 %" in refused["note"]
    # The published pair of 2026: 38.9 % of the decided papers, and far less of all.
    assert (refused["official"], refused["official_rate"]) == (13763, pytest.approx(0.389, abs=5e-4))
    assert found.loc[(2026, "submitted"), "official_rate"] == pytest.approx(5355 / 19814)


def test_a_year_without_outcomes_has_no_rate(bundled_sample):
    found = funnel([bundled_sample(2024, population="all")])
    assert found["value"].isna().all()
    assert found["papers"].tolist() == [7262, 7262, pd.NA, pd.NA]
    assert (found["note"] != "").all()


@given(papers)
def test_against_plain_counting(drawn):
    row = growth([drawn_sample(drawn)], draws=5).iloc[0]
    sizes = [len(some) for some, _ in drawn if some]
    assert (row["papers"], row["reviewed"], row["reviews"]) == (len(drawn), len(sizes), sum(sizes))
    assert row["value"] == pytest.approx(sum(sizes) / len(sizes) if sizes else float("nan"), nan_ok=True)
    steps = funnel([drawn_sample(drawn)]).set_index("step")
    decided = [fate for some, fate in drawn if some and fate in ("accepted", "rejected")]
    assert steps["papers"].tolist() == [len(drawn), len(sizes), len(decided), [f for _, f in drawn].count("accepted")]
    expected = decided.count("accepted") / len(decided) if decided else float("nan")
    assert steps.loc["decided", "value"] == pytest.approx(expected, nan_ok=True)


@given(papers)
def test_order_is_irrelevant(drawn):
    for statistic in (growth, funnel):
        once, again = (statistic([drawn_sample(some)]) for some in (drawn, reordered(drawn)))
        pd.testing.assert_frame_equal(once, again, check_exact=True)


@pytest.mark.filterwarnings("error")
def test_edges_have_the_same_columns():
    for statistic in (growth, funnel):
        frames = [statistic([one]) for one in edge_samples()] + [statistic([])]
        assert len({tuple(frame.columns) for frame in frames}) == 1


def test_official_counts_stand_beside_those_of_the_store():
    sample = make_sample(
        [[6], [1], []], ["accepted", "rejected", "withdrawn"], official={"submitted": 4, "accepted": 1}
    )
    assert growth([sample], draws=2)[["papers", "official"]].iloc[0].tolist() == [3, 4]
    steps = funnel([sample]).set_index("step")
    assert steps.loc["submitted", "official_rate"] == 0.25
    assert pd.isna(steps.loc["decided", "official"])
