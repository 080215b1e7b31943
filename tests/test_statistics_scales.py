from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from samples import drawn_sample, edge_samples, make_sample, papers, reordered

from analysis.statistics.scales import preference, rank_map, scale_change
from analysis.venues import Scale, venue_year

FAMILY = (rank_map, preference, scale_change)
EVEN = venue_year("ICLR", 2026).rating_scale
SIX = venue_year("ICLR", 2024).rating_scale
TEN = venue_year("ICLR", 2019).rating_scale
FOUR = venue_year("ICLR", 2020).rating_scale


# Real years ---------------------------------------------------------------------------------------------------------


def test_the_words_of_2026_explain_nearly_all_of_its_drop(bundled_sample):
    before, after = bundled_sample(2024, "release"), bundled_sample(2026, "release")
    found = scale_change([before, after], draws=50).set_index("reading")
    one, two = before.reviews["rating"], after.reviews["rating"]
    assert found["difference"].tolist() == pytest.approx([two.mean() - one.mean()] * 2)
    # By label 1, 3 and 5 became 0, 2 and 4, and nothing else changed.
    assert found.loc["by label", "value"] == pytest.approx(-one.isin((1, 3, 5)).mean())
    assert found.loc["by rank", ["value", "rest", "share"]].tolist() == pytest.approx(
        [found["difference"].iloc[0], 0, 1]
    )
    assert 0.95 < found.loc["by label", "share"] < 1
    even = preference([before, after], draws=50).iloc[0]
    assert even["low"] < 0.5 < even["high"]


def test_what_the_scale_did_in_2020_is_bounded_on_both_sides_of_all_of_it(bundled_sample):
    found = scale_change([bundled_sample(2019), bundled_sample(2020, "final")], draws=50).set_index("reading")
    assert found["difference"].iloc[0] == pytest.approx(-1.140, abs=0.001)
    assert found.loc["by label, 2019 read high", "share"] < 1 < found.loc["by label, 2019 read low", "share"]


def test_ranks_of_2024_and_2026_are_those_of_numpy(bundled_sample):
    before, after = bundled_sample(2024, "release"), bundled_sample(2026, "release")
    found = rank_map([before, after], draws=20).set_index("average")
    averages = before.papers["average"]
    assert found.loc[5.0, "percentile"] == pytest.approx((averages < 5).mean() + (averages == 5).mean() / 2)
    assert found.loc[5.0, "value"] == pytest.approx(4.429, abs=0.001)
    inner = found.loc[2:8]
    assert ((inner["low"] <= inner["value"]) & (inner["value"] <= inner["high"])).all()


def test_stages_and_undeclared_correspondences_are_refused_with_the_reason(bundled_sample):
    release, final = bundled_sample(2020, "2019-11-08"), bundled_sample(2021, "final")
    for statistic in FAMILY:
        row = statistic([release, final], draws=2).iloc[0]
        assert row["note"] == ("not compared: 2020 is release, 2021 is final")
        assert np.isnan(row["value"])
    for statistic in (preference, scale_change):
        note = statistic([release, bundled_sample(2026)], draws=2)["note"].item()
        assert note == "not compared: venues.toml does not say which levels of 1 3 6 8 and 0 2 4 6 8 10 correspond"
    undeclared = make_sample([[6]], described=False)
    assert "the scale of 2020 is not declared" in preference([make_sample([[6]]), undeclared], draws=2)["note"].item()


def test_every_release_can_be_laid_beside_the_next(bundled_sample):
    at_release = [bundled_sample(year, "release") for year in (2020, 2021, 2022, 2023, 2024, 2026)]
    for statistic in (preference, scale_change):
        found = statistic(at_release, draws=5)
        assert found["value"].notna().all() and (found["note"] == "").all()
    assert rank_map(at_release, draws=5)["than"].unique().tolist() == [2021, 2022, 2023, 2024, 2026]


# Against plainer computations ---------------------------------------------------------------------------------------


def every(drawn) -> list[int]:
    return [rating for some, _ in drawn for rating, _ in some]


@given(papers, papers)
def test_preference_counts_pairs_of_reviews(first, second):
    found = preference([drawn_sample(first), drawn_sample(second)], draws=5).iloc[0]
    pairs = [(b > a) + (b == a) / 2 for a in every(first) for b in every(second)]
    assert found["value"] == pytest.approx(np.mean(pairs) if pairs else np.nan, nan_ok=True)
    assert (found["n_than"], found["n"]) == (len(every(first)), len(every(second)))


@given(papers, papers)
def test_a_word_keeps_its_place_on_the_other_scale(first, second):
    """Samples on 1 3 6 8; the first is laid on a scale of two levels, once read low and once read high."""
    two = Scale((0, 10), {}, 10, name="two")
    words = {1: (0,), 3: (0, 10), 6: (10,), 8: (10,)}
    wide = replace(FOUR, corresponds={"two": words})
    before = drawn_sample(first, scale=wide)
    after = drawn_sample(
        [([(10 if rating > 3 else 0, level) for rating, level in some], fate) for some, fate in second], scale=two
    )
    found = scale_change([before, after], draws=3)
    old, new = every(first), [10 if rating > 3 else 0 for rating in every(second)]
    for row, end in zip(found[:2].itertuples(), (0, -1), strict=True):
        moved = [words[rating][end] for rating in old]
        expected = np.mean(moved) - np.mean(old) if old and new else np.nan
        assert row.value == pytest.approx(expected, nan_ok=True)
        assert row.value + row.rest == pytest.approx(
            np.mean(new) - np.mean(old) if old and new else np.nan, nan_ok=True
        )
    # From the other side the same words give the same part.
    back = scale_change([after, before], draws=3)
    assert back["value"].tolist() == pytest.approx((-found["value"]).tolist(), nan_ok=True)


@given(papers, papers)
def test_ranks_go_and_come_back(first, second):
    one, two = drawn_sample(first, "reviewed"), drawn_sample(second, "reviewed")
    there = rank_map([one, two], draws=3)
    if there["average"].isna().any() or there.empty:
        return
    averages = one.papers["average"]
    for row in there.itertuples():
        if (averages == row.average).any():
            assert row.percentile == pytest.approx(
                (averages < row.average).mean() + (averages == row.average).mean() / 2
            )
    same = rank_map([one, one], draws=3)
    assert same["value"].tolist() == pytest.approx(same["average"].tolist())
    assert there["value"].is_monotonic_increasing


@given(papers, papers)
def test_order_is_irrelevant(first, second):
    for statistic in FAMILY:
        once = statistic([drawn_sample(first), drawn_sample(second)], draws=10)
        again = statistic([drawn_sample(reordered(first)), drawn_sample(reordered(second))], draws=10)
        pd.testing.assert_frame_equal(once, again, check_exact=True)


# The smallest samples -----------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("error")
def test_edges_have_the_same_columns_and_limits_around_values():
    for statistic in FAMILY:
        frames = [statistic([one, two], draws=5) for one in edge_samples() for two in edge_samples()]
        assert len({tuple(frame.columns) for frame in frames}) == 1
        assert statistic(edge_samples()[:1], draws=5).columns.tolist() == frames[0].columns.tolist()
        for frame in frames:
            known = frame.dropna(subset=["value", "low", "high"])
            assert (known["low"] <= known["high"] + 1e-12).all()


def test_one_and_the_same_year_is_even(bundled_sample):
    final = bundled_sample(2020, "final")
    found = preference([final, final], draws=200).iloc[0]
    assert (found["value"], found["delta"]) == (0.5, 0)
    assert found["low"] < 0.5 < found["high"]


def test_no_year_at_all_and_one_alone_give_no_row():
    for statistic in (preference, scale_change):
        assert statistic([], draws=2).empty
    for statistic in FAMILY:
        assert statistic([make_sample([[6]])], draws=2).empty
    with pytest.raises(ValueError, match="not enough values"):
        rank_map([], draws=2)


def test_limits_hold_the_truth():
    """Two years drawn from one conference whose papers differ: 95 % limits of the preference hold one half."""
    generator = np.random.default_rng(77)  # 800 trials and 400 draws gave 94.4 %
    held = []
    for trial in range(300):
        years = [_conference(generator, 150) for _ in range(2)]
        row = preference(years, draws=500, seed=1000 + trial).iloc[0]
        held.append(row["low"] <= 0.5 <= row["high"])
    assert 0.93 <= np.mean(held) <= 0.97


def _conference(generator: np.random.Generator, n: int):
    merit = generator.normal(0, 1, (n, 1)) + generator.normal(0, 1, (n, 3))
    return make_sample(np.array(FOUR.levels)[np.digitize(merit, (-1, 0.3, 1.5))].tolist())
