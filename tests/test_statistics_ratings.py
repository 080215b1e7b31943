from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pandas as pd
import pytest
from hypothesis import given
from samples import assert_columns_hold, assert_order_is_irrelevant, drawn_sample, edge_samples, make_sample, papers

from analysis.statistics.ratings import averages, ratings
from analysis.venues import Scale

# P=R: published where the sources print them, recomputed from public data.
HISTOGRAMS = {
    (2017, "final"): {1: 1, 2: 14, 3: 125, 4: 252, 5: 255, 6: 338, 7: 330, 8: 137, 9: 33, 10: 4},
    (2019, "final"): {1: 15, 2: 91, 3: 418, 4: 983, 5: 1063, 6: 1067, 7: 833, 8: 222, 9: 66, 10: 6},
    (2020, "2019-11-08"): {1: 1372, 3: 3523, 6: 2136, 8: 662},
    (2020, "2019-12-01"): {1: 1260, 3: 3177, 6: 2484, 8: 849},
    (2020, "final"): {1: 1264, 3: 3168, 6: 2492, 8: 851},
    (2022, "final"): {1: 310, 3: 3223, 5: 3771, 6: 3714, 8: 2089, 10: 54},
    (2023, "final"): {1: 465, 3: 4711, 5: 5126, 6: 5326, 8: 2846, 10: 101},
    (2026, "2025-11-17"): {0: 1318, 2: 19873, 4: 29764, 6: 19697, 8: 5009, 10: 187},
}


@pytest.mark.parametrize("which", HISTOGRAMS, ids=lambda which: f"{which[0]} {which[1]}")
def test_ratings_are_the_published_histograms(bundled_sample, which):
    found = ratings(bundled_sample(*which), draws=10)
    assert found.set_index("rating")["count"].to_dict() == HISTOGRAMS[which]
    assert (found["n"] == sum(HISTOGRAMS[which].values())).all()
    assert found["accept_side"].tolist() == [rating >= 6 for rating in HISTOGRAMS[which]]


def test_absent_levels_are_zero():
    found = ratings(make_sample([[3, 3], [8]]))
    assert found["rating"].tolist() == [1, 3, 6, 8]
    assert found["count"].tolist() == [0, 2, 0, 1]
    assert found["label"].tolist() == ["reject", "weak reject", "weak accept", "accept"]


def test_an_undeclared_scale_has_the_levels_seen():
    found = ratings(make_sample([[3, 4], [9]], described=False))
    assert found["rating"].tolist() == [3, 4, 9]
    found = ratings(make_sample([[3, 4]], scale=None, described=False))
    assert found["accept_side"].isna().all()


def test_a_rating_off_the_declared_scale_is_not_dropped():
    found = ratings(make_sample([[3, 10], [6]], scale=Scale((1, 3, 6, 8), {}, 6)))
    assert found.set_index("rating")["count"].to_dict() == {1: 0, 3: 1, 6: 1, 8: 0, 10: 1}


def test_averages_are_exact_fractions():
    found = averages(make_sample([[6, 6, 8], [8, 6, 6], [1, 3], [6, 6, 6, 8, 8, 6], []]))
    assert found["exact"].tolist() == ["2/1", "20/3"]
    assert found["count"].tolist() == [1, 3]
    assert found["below"].tolist() == [0, 0.25]
    assert found["n"].tolist() == [4, 4]


def test_averages_of_2026_have_one_row_each(bundled_sample):
    found = averages(bundled_sample(2026))
    assert found["average"].is_monotonic_increasing and found["average"].is_unique
    assert found["count"].sum() == 19472
    assert found["exact"].is_unique


@given(papers)
def test_averages_agree_with_fractions_counted_one_by_one(drawn):
    means = [Fraction(sum(rating for rating, _ in some), len(some)) for some, _ in drawn if some]
    expected = sorted(Counter(means).items())
    found = averages(drawn_sample(drawn))
    assert found["count"].tolist() == [count for _, count in expected]
    assert found["average"].tolist() == [float(mean) for mean, _ in expected]
    assert [Fraction(text) for text in found["exact"]] == [mean for mean, _ in expected]
    below = [sum(other < mean for other in means) / len(means) for mean, _ in expected]
    assert found["below"].tolist() == pytest.approx(below)
    assert (found["below"] + found["at_or_above"]).tolist() == pytest.approx([1] * len(expected))


@given(papers)
def test_shares_add_up_to_one(drawn):
    sample = drawn_sample(drawn, "reviewed")
    found = ratings(sample, draws=10)
    assert found["count"].sum() == len(sample.reviews)
    if len(sample.reviews):
        assert found["value"].sum() == pytest.approx(1)
        assert averages(sample)["value"].sum() == pytest.approx(1)


@given(papers)
def test_order_is_irrelevant(drawn):
    assert_order_is_irrelevant("ratings", drawn)


def test_columns_hold():
    assert_columns_hold("ratings", *edge_samples())


def test_the_same_seed_gives_the_same_limits():
    sample = make_sample([[1, 3], [6, 8, 8], [3], [3, 6, 6]] * 20)
    pd.testing.assert_frame_equal(ratings(sample, seed=1), ratings(sample, seed=1), check_exact=True)
    assert not ratings(sample, seed=1).equals(ratings(sample, seed=2))
