from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from samples import (
    SCALE,
    assert_columns_hold,
    assert_order_is_irrelevant,
    drawn_sample,
    edge_samples,
    make_sample,
    papers,
)

from analysis.errors import Trouble
from analysis.statistics.acceptance import acceptance_by_average, averages_by_outcome, sixes
from analysis.venues import Scale


def test_accepted_papers_of_2020_average_6_24_and_all_others_3_42(bundled_sample):
    # P=R: shaohua0116/ICLR2020-OpenReviewData; rejected only is R.
    found = averages_by_outcome(bundled_sample(2020, "final"), draws=10).set_index("outcome")["value"]
    assert found["accepted"] == pytest.approx(6.2431, abs=5e-5)
    assert found["everything else"] == pytest.approx(3.4246, abs=5e-5)
    assert found["rejected"] == pytest.approx(3.5965, abs=5e-5)


BINS = "2.0:1/190 3.0:1/329 3.5:0/28 4.0:15/384 4.5:7/105 5.0:78/276 5.5:90/138 6.0:197/249 6.5:159/168 7.0:103/104 7.5:2/2 8.0:34/34"


def test_acceptance_by_average_adds_up_to_the_half_point_bins_of_2020(bundled_sample):
    exact = acceptance_by_average(bundled_sample(2020, "final", "decided"))
    exact = exact[exact["withdrawn"] == "left out"]
    for start, accepted, n in re.findall(r"([\d.]+):(\d+)/(\d+)", BINS):
        inside = exact[exact["average"].between(float(start), float(start) + 0.5, inclusive="left")]
        assert (inside["accepted"].sum(), inside["n"].sum()) == (int(accepted), int(n)), start


def test_2026_tells_only_the_accepted_from_everything_else(bundled_sample):
    found = averages_by_outcome(bundled_sample(2026), draws=10)
    assert found["outcome"].tolist() == ["accepted", "everything else"]
    assert found["n"].tolist() == [5358, 14114]


def test_sixes_add_up_to_all_reviewed_papers(bundled_sample):
    for year, accepted, reviewed in ((2020, 687, 2561), (2026, 5358, 19472)):
        found = sixes(bundled_sample(year))
        over_all = found[found["reviews"] == "all"]
        assert (over_all["accepted"].sum(), over_all["n"].sum()) == (accepted, reviewed)
        by_number = found[found["reviews"] != "all"].groupby("accept_side")[["accepted", "n"]].sum()
        assert by_number.to_numpy().tolist() == over_all[["accepted", "n"]].to_numpy().tolist()


@pytest.mark.parametrize("year", [2017, 2018, 2019, 2020, 2021, 2022, 2023, 2026])
def test_more_ratings_on_the_accept_side_mean_more_accepted_papers(bundled_sample, year):
    found = sixes(bundled_sample(year))
    usual = found[(found["reviews"] == "all") & (found["n"] >= 100)]
    assert usual["value"].is_monotonic_increasing


def test_2024_is_refused(bundled_sample):
    for statistic in (sixes, averages_by_outcome):
        with pytest.raises(Trouble, match="how many papers were accepted is not known"):
            statistic(bundled_sample(2024))


def test_a_scale_without_accept_side_is_refused():
    with pytest.raises(Trouble, match="accept side is not declared"):
        sixes(make_sample([[6]], scale=Scale(SCALE.levels)))


@given(papers)
def test_sixes_agree_with_counting_one_by_one(drawn):
    total, accepted = Counter(), Counter()
    for some, outcome in drawn:
        for name in ("all", str(len(some))) if some else ():
            key = name, sum(rating >= 6 for rating, _ in some)
            total[key] += 1
            accepted[key] += outcome == "accepted"
    found = sixes(drawn_sample(drawn)).set_index(["reviews", "accept_side"])
    assert found["n"].to_dict() == total
    assert found["accepted"].to_dict() == accepted


@given(papers)
def test_averages_by_outcome_agree_with_plain_means(drawn):
    found = averages_by_outcome(drawn_sample(drawn), draws=2).set_index("outcome")
    means = {outcome: [] for outcome in ("accepted", "everything else")}
    for some, outcome in drawn:
        if some:
            mean = np.mean([rating for rating, _ in some])
            means["accepted" if outcome == "accepted" else "everything else"].append(mean)
    for outcome, some in means.items():
        assert found.loc[outcome, "n"] == len(some)
        assert found.loc[outcome, "value"] == pytest.approx(np.mean(some) if some else np.nan, nan_ok=True)


@given(papers)
def test_order_is_irrelevant(drawn):
    assert_order_is_irrelevant("acceptance", drawn)


def test_columns_hold():
    assert_columns_hold("acceptance", *edge_samples())
