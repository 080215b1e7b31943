from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from samples import (
    FOUR,
    assert_columns_hold,
    assert_order_is_irrelevant,
    drawn_sample,
    edge_samples,
    make_sample,
    papers,
)
from scipy.stats import kruskal, spearmanr

from analysis.statistics.reviewers import (
    confidence,
    confidence_counts,
    confidence_ratings,
    experience,
    experience_counts,
    experience_panels,
    experience_ratings,
    experience_tests,
    published_in_area,
)

# R: experience 1 / 2 / 3 / 4 and the share that has not published in the area.
EXPERIENCE = {
    "2019-11-08": ([1094, 2522, 2640, 1437], 0.4700),
    "2019-12-01": ([1108, 2553, 2660, 1449], 0.4712),
}
MEANS = {"2019-11-08": [4.524, 4.123, 3.730, 3.381], "2019-12-01": [4.730, 4.377, 4.038, 3.678]}
CROSSED = [[109, 434, 435, 116], [364, 1138, 770, 250], [518, 1266, 658, 198], [381, 685, 273, 98]]


def rated(drawn) -> list[tuple[int, int]]:
    """The reviews that name an experience, as (experience, rating)."""
    return [(level, rating) for some, _ in drawn for rating, level in some if level]


@pytest.mark.parametrize("snapshot", EXPERIENCE)
def test_experience_of_2020(bundled_sample, snapshot):
    counts, unpublished = EXPERIENCE[snapshot]
    sample = bundled_sample(2020, snapshot)
    found = experience(sample, draws=10)
    assert found["count"].tolist() == counts
    assert found["n"].tolist() == [sum(counts)] * 4
    share = published_in_area(sample).set_index("published").loc["no"]
    assert share["value"] == pytest.approx(unpublished, abs=5e-5)
    assert share["low"] < share["value"] < share["high"]


def test_the_thread_is_reproduced_to_two_tenths_of_a_point(bundled_sample):
    thread = np.array([1078, 2484, 2604, 1417]) / 7583
    assert experience(bundled_sample(2020, "2019-11-08"), draws=10)["value"].tolist() == pytest.approx(
        thread, abs=0.002
    )


def test_a_final_snapshot_without_experience_gives_way_to_the_newest_that_has_it(bundled_sample):
    sample = bundled_sample(2020, "final", need="experience")
    assert sample.snapshot.name == "2019-12-01"
    assert any("has no experience of the reviewers" in remark for remark in sample.remarks)


@pytest.mark.parametrize("snapshot", MEANS)
def test_mean_rating_by_experience(bundled_sample, snapshot):
    found = experience_ratings(bundled_sample(2020, snapshot), draws=10)
    assert found["value"].tolist() == pytest.approx(MEANS[snapshot], abs=5e-4)
    if snapshot == "2019-11-08":
        assert found["sd"].tolist() == pytest.approx([2.08, 2.13, 2.09, 2.08], abs=5e-3)


def test_experience_by_rating(bundled_sample):
    found = experience_counts(bundled_sample(2020, "2019-11-08"), draws=10)
    assert found.pivot(index="level", columns="rating", values="count").to_numpy().tolist() == CROSSED


def test_classical_tests_of_2020(bundled_sample):
    found = experience_tests(bundled_sample(2020, "2019-11-08"))
    assert found["value"].tolist() == pytest.approx([-0.175, 237.0], abs=5e-2)
    assert found["value"].iloc[0] == pytest.approx(-0.175, abs=5e-4)
    assert found["assumes"].str.startswith("independent reviews").all()
    assert found["n"].tolist() == [7693, 7693]


def test_panels_of_2020_add_up_to_the_papers(bundled_sample):
    found = experience_panels(bundled_sample(2020, "2019-11-08"))
    assert found["count"].tolist() == [348, 798, 977, 427, 11]
    assert (found["n"] == 2561).all()


def test_confidence_of_2026(bundled_sample):
    found = confidence(bundled_sample(2026), draws=10)
    assert found["level"].tolist() == [1, 2, 3, 4, 5]
    assert found["count"].sum() == 75848


def test_levels_nobody_named_are_zero_and_undeclared_ones_are_shown():
    sample = make_sample([[6, 3], [8]], experience=[[2, 2], [4]])
    assert experience(sample)["count"].tolist() == [0, 2, 0, 1]
    assert experience(sample)["label"].tolist() == [FOUR.labels[level] for level in FOUR.levels]
    unknown = replace(sample, form=replace(sample.form, described=False))
    assert experience(unknown)["level"].tolist() == [2, 4]
    off = make_sample([[6, 3]], experience=[[2, 7]])
    assert experience(off).set_index("level")["count"].to_dict() == {1: 0, 2: 1, 3: 0, 4: 0, 7: 1}


@given(papers)
def test_counts_agree_with_counting_one_by_one(drawn):
    reviews = rated(drawn)
    sample = drawn_sample(drawn)
    assert experience(sample, draws=2).set_index("level")["count"].to_dict() == {
        level: sum(one == level for one, _ in reviews) for level in FOUR.levels
    }
    crossed = experience_counts(sample, draws=2).set_index(["level", "rating"])["count"]
    assert crossed[crossed > 0].to_dict() == Counter(reviews)
    unpublished = published_in_area(sample, draws=2)["count"].tolist()
    assert unpublished == [sum(level < 3 for level, _ in reviews), sum(level >= 3 for level, _ in reviews)]


@given(papers)
def test_means_agree_with_numpy(drawn):
    found = experience_ratings(drawn_sample(drawn), draws=2).set_index("level")
    for level in FOUR.levels:
        ratings = [rating for one, rating in rated(drawn) if one == level]
        assert found.loc[level, "n"] == len(ratings)
        assert found.loc[level, "value"] == pytest.approx(np.mean(ratings) if ratings else np.nan, nan_ok=True)
        assert found.loc[level, "sd"] == pytest.approx(
            np.std(ratings, ddof=1) if len(ratings) > 1 else np.nan, nan_ok=True, abs=1e-12
        )


@given(papers)
def test_panels_agree_with_counting_one_by_one(drawn):
    published = [sum(level >= 3 for _, level in some) for some, _ in drawn if any(level for _, level in some)]
    found = experience_panels(drawn_sample(drawn)).set_index("published")["count"]
    assert found.to_dict() == {number: published.count(number) for number in range(max(published, default=0) + 1)}


@given(papers)
def test_classical_tests_agree_with_scipy(drawn):
    reviews = rated(drawn)
    levels, ratings = sorted({level for level, _ in reviews}), {rating for _, rating in reviews}
    rho, between = experience_tests(drawn_sample(drawn))["value"]
    if len(levels) > 1 and len(ratings) > 1:
        assert rho == pytest.approx(spearmanr(*zip(*reviews, strict=True)).statistic)
        assert between == pytest.approx(
            kruskal(*([r for one, r in reviews if one == level] for level in levels)).statistic
        )
    else:
        assert np.isnan([rho, between]).all()


def test_confidence_is_counted_as_experience_is():
    sample = make_sample([[6, 3], [8]], experience=[[2, 2], [4]])
    for one, other in (
        (confidence, experience),
        (confidence_ratings, experience_ratings),
        (confidence_counts, experience_counts),
    ):
        assert one(sample).equals(other(sample))


@given(papers)
def test_order_is_irrelevant(drawn):
    assert_order_is_irrelevant("reviewers", drawn)


def test_columns_hold():
    assert_columns_hold("reviewers", *edge_samples())
