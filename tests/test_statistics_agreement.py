"""Agreement: against published numbers, the packages that measure it, and plain loops over pairs and deals."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise, permutations

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from samples import (
    SCALE,
    assert_columns_hold,
    assert_order_is_irrelevant,
    drawn_sample,
    edge_samples,
    make_sample,
    papers,
    reordered,
)
from statsmodels.regression.mixed_linear_model import MixedLM

from analysis import sample, store
from analysis.errors import Trouble
from analysis.sources import bundled
from analysis.statistics import agreement as family
from analysis.statistics.agreement import (
    agreement,
    agreement_change,
    reliability,
    unanimity,
    uncertain_order,
    variation,
)

# R: ICC(1), alpha interval, sd within, sd between; P: sqrt of the mean square between.
FINAL = {2019: (0.464, 0.465, 1.104, 1.027, 2.1038), 2020: (0.392, 0.394, 1.721, 1.381, 2.9595)}

panels = st.lists(st.lists(st.sampled_from(SCALE.levels), min_size=1, max_size=5), min_size=1, max_size=20)


def valued(frame: pd.DataFrame, name: str = "measure") -> dict[str, float]:
    return frame.set_index(name)["value"].to_dict()


def ratings_of(drawn) -> list[list[int]]:
    return [[rating for rating, _ in some] for some, _ in drawn if some]


# Published numbers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("year", FINAL)
def test_final_agreement_and_spread(bundled_sample, year):
    icc, alpha, within, between, mean_square = FINAL[year]
    sample = bundled_sample(year, "final")
    found = {**valued(agreement(sample, draws=20)), **valued(variation(sample, draws=20))}
    assert found["icc"] == pytest.approx(icc, abs=1e-3)
    assert found["alpha_interval"] == pytest.approx(alpha, abs=1e-3)
    assert found["within_sd"] == pytest.approx(within, abs=5e-4)
    assert found["between_sd"] == pytest.approx(between, abs=1e-3)
    assert found["root_between_mean_square"] == pytest.approx(mean_square, abs=1e-3)


def test_the_root_of_the_mean_square_of_2020_to_the_digit(bundled_sample):
    assert valued(variation(bundled_sample(2020, "final"), draws=2))["root_between_mean_square"] == pytest.approx(
        2.9591, abs=5e-5
    )


def test_agreement_of_2020_grows_from_release_to_final(bundled_sample):
    release, final = bundled_sample(2020, "2019-11-08"), bundled_sample(2020, "final")
    assert valued(agreement(release, draws=20))["icc"] == pytest.approx(0.244, abs=1e-3)
    found = agreement_change(release, final).set_index(["papers", "measure"])
    every, active = found.loc[("reviewed", "icc")], found.loc[("active", "icc")]
    assert (every["before"], every["after"]) == pytest.approx((0.244, 0.392), abs=1e-3)
    assert active["after"] == pytest.approx(0.367, abs=1e-3)
    assert every["after"] > 1.5 * every["before"]
    assert 0 < every["low"] < every["value"] < every["high"]
    assert (every["n"], active["n"]) == (2561, 2213)


def test_a_paired_interval_is_narrower_than_that_of_two_strangers(bundled_sample):
    found = agreement_change(bundled_sample(2020, "2019-11-08"), bundled_sample(2020, "final"))
    unpaired = np.hypot(found["after_high"] - found["after_low"], found["before_high"] - found["before_low"])
    assert (found["high"] - found["low"] < 0.6 * unpaired).all()


def test_accepted_and_rejected_papers_of_2020_only(bundled_sample):
    assert valued(agreement(bundled_sample(2020, "final", "decided"), draws=2))["icc"] == pytest.approx(0.367, abs=1e-3)


# Second computations ---------------------------------------------------------------------------------------------------


def plain_icc(some: list[list[int]]) -> float:
    """Donner (1986), in loops and fractions."""
    n, grand = sum(map(len, some)), Fraction(sum(map(sum, some)), sum(map(len, some)))
    means = [Fraction(sum(one), len(one)) for one in some]
    within = sum((rating - mean) ** 2 for one, mean in zip(some, means, strict=True) for rating in one) / (
        n - len(some)
    )
    between = sum(len(one) * (mean - grand) ** 2 for one, mean in zip(some, means, strict=True)) / (len(some) - 1)
    usual = (n - Fraction(sum(len(one) ** 2 for one in some), n)) / (len(some) - 1)
    component = (between - within) / usual
    return float(component / (component + within))


@given(panels)
def test_icc_agrees_with_an_analysis_of_variance_in_fractions(some):
    assume(len(some) > 1 and any(len(one) > 1 for one in some) and len({rating for one in some for rating in one}) > 1)
    assume(any(len(set(one)) > 1 for one in some))  # else all the variance is between, or the ratio is of zeros
    assert valued(agreement(make_sample(some), draws=2))["icc"] == pytest.approx(plain_icc(some), abs=1e-9)


@given(panels)
def test_alpha_agrees_with_the_package(some):
    several = [one for one in some if len(one) > 1]
    assume(len({rating for one in several for rating in one}) > 1)
    units = np.full((5, len(several)), np.nan)
    for place, one in enumerate(several):
        units[: len(one), place] = one
    found = valued(agreement(make_sample(some), draws=2))
    for level in ("interval", "ordinal"):
        expected = krippendorff.alpha(units, level_of_measurement=level, value_domain=SCALE.levels)
        assert found[f"alpha_{level}"] == pytest.approx(expected, abs=1e-9)


@given(panels)
def test_correlation_agrees_with_listing_all_pairs(some):
    pairs = [pair for one in some for pair in permutations(one, 2)]
    assume(len({rating for pair in pairs for rating in pair}) > 1)
    assert valued(agreement(make_sample(some), draws=2))["correlation"] == pytest.approx(
        np.corrcoef(np.array(pairs).T)[0, 1], abs=1e-9
    )


def test_components_of_balanced_panels_agree_with_a_mixed_model():
    generator = np.random.default_rng(3)
    quality = generator.normal(0, 1, 150)[:, np.newaxis]
    some = np.array(SCALE.levels)[np.digitize(quality + generator.normal(0, 1.2, (150, 3)), [-0.8, 0.4, 1.5])]
    fit = MixedLM(some.ravel(), np.ones(some.size), np.repeat(np.arange(150), 3)).fit(reml=True)
    found = valued(variation(make_sample(some.tolist()), draws=2))
    assert found["within_sd"] == pytest.approx(fit.scale**0.5, rel=1e-4)
    assert found["between_sd"] == pytest.approx(fit.cov_re[0, 0] ** 0.5, rel=1e-3)


@given(panels)
def test_spread_and_reliability_follow_from_the_icc(some):
    sample = make_sample(some)
    icc, spread = valued(agreement(sample, draws=2))["icc"], valued(variation(sample, draws=2))
    found = reliability(sample, draws=2).set_index("reviewers")
    if not np.isnan(icc):
        assert found.loc[1, "value"] == pytest.approx(max(icc, 0))
        single = max(icc, 0)
        assert found.loc[2, "value"] == pytest.approx(2 * single / (1 + single))
        assert np.sign(spread["between_sd"]) == (icc > 1e-12) or abs(icc) < 1e-9
    assert found.loc[4, "error"] == pytest.approx(spread["within_sd"] / 2, nan_ok=True)
    assert found["papers_with"].sum() == pytest.approx(1)


@given(panels)
def test_uncertain_pairs_agree_with_listing_them(some):
    sample = make_sample(some)
    within = valued(variation(sample, draws=2))["within_sd"]
    pairs = list(combinations([(Fraction(sum(one), len(one)), len(one)) for one in some], 2))
    found = valued(uncertain_order(sample, draws=2), "order")
    tied = [first[0] == second[0] for first, second in pairs]
    assert found["tied"] == pytest.approx(np.mean(tied) if pairs else np.nan, nan_ok=True)
    near = [abs(a - b) <= 1.959963984540054 * within * (1 / k + 1 / m) ** 0.5 for (a, k), (b, m) in pairs]
    expected = np.mean(near) if pairs and not np.isnan(within) else np.nan
    assert found["uncertain"] == pytest.approx(expected, nan_ok=True)


@given(
    st.lists(st.lists(st.sampled_from(SCALE.levels), min_size=2, max_size=3), min_size=1, max_size=3).filter(
        lambda some: sum(map(len, some)) < 8
    )
)
def test_independence_agrees_with_dealing_every_deal(some):
    flat, sizes = [rating for one in some for rating in one], [len(one) for one in some]
    ends = np.cumsum([0, *sizes])
    dealt = [[deal[a:b] for a, b in pairwise(ends)] for deal in permutations(flat)]
    panels_dealt = [panel for deal in dealt for panel in deal]
    found = unanimity(make_sample(some), draws=2).set_index("measure")
    for measure, of in (
        ("unanimous", lambda panel: len(set(panel)) == 1),
        ("opposite", lambda panel: {1, 8} <= set(panel)),
        ("range", lambda panel: (max(panel) - min(panel)) / 7),
    ):
        assert found.loc[measure, "value"] == pytest.approx(np.mean([of(one) for one in some]))
        assert found.loc[measure, "independent"] == pytest.approx(np.mean([of(panel) for panel in panels_dealt]))


@given(papers, papers)
def test_change_is_the_difference_of_the_same_papers(first, second):
    size = min(len(first), len(second))
    both = [(a, b) for a, b in zip(first[:size], second[:size], strict=True) if a[0] and b[0]]
    before, after = drawn_sample(first), drawn_sample(second, stage="final")
    found = agreement_change(before, after, draws=2).query("papers == 'reviewed'").set_index("measure")
    assert (found["n"] == len(both)).all()
    for side, place in (("before", 0), ("after", 1)):
        plain = agreement(make_sample([[rating for rating, _ in pair[place][0]] for pair in both]), draws=2)
        np.testing.assert_allclose(found[side], plain["value"], atol=1e-9)
    np.testing.assert_allclose(found["value"], found["after"] - found["before"], atol=1e-12)


@given(papers, papers)
def test_order_is_irrelevant_to_a_change(first, second):
    size = min(len(first), len(second))
    plain = (drawn_sample(first[:size]), drawn_sample(second[:size], stage="final"))
    turned = (drawn_sample(reordered(first[:size])), drawn_sample(reordered(second[:size]), stage="final"))
    pd.testing.assert_frame_equal(
        agreement_change(*plain, draws=20), agreement_change(*turned, draws=20), check_exact=True
    )


# Ends --------------------------------------------------------------------------------------------------------------------


def test_an_end_of_the_scale_is_its_outer_quarter(bundled_sample):
    ends = {year: unanimity(bundled_sample(year), draws=2)["ends"][1] for year in (2017, 2020, 2022, 2026)}
    assert ends == {2017: "1 2 3 and 8 9 10", 2020: "1 and 8", 2022: "1 3 and 8 10", 2026: "0 2 and 8 10"}


def test_reviewers_who_agree_on_every_paper_and_reviewers_who_do_not():
    alike = make_sample([[1, 1], [8, 8], [3, 3]])
    assert valued(agreement(alike, draws=2)) == pytest.approx(dict.fromkeys(family.MEASURES, 1.0))
    assert valued(unanimity(alike, draws=2))["unanimous"] == 1
    apart = make_sample([[1, 8]] * 4)
    assert valued(agreement(apart, draws=2))["icc"] == pytest.approx(-1)
    assert valued(variation(apart, draws=2))["between_sd"] == 0
    assert reliability(apart, draws=2)["value"].eq(0).all()
    assert valued(unanimity(apart, draws=2))["opposite"] == 1


def test_ratings_that_are_all_equal_have_no_agreement_to_measure():
    assert agreement(make_sample([[6, 6]] * 5), draws=2)[["value", "low", "high"]].isna().all(axis=None)
    assert valued(uncertain_order(make_sample([[6, 6]] * 5), draws=2), "order") == {"uncertain": 1, "tied": 1}


def test_reviewers_who_all_agree_leave_only_ties_uncertain():
    assert valued(uncertain_order(make_sample([[1, 1], [1, 1, 1], [3, 3], [8]]), draws=2), "order") == pytest.approx(
        {"uncertain": 1 / 6, "tied": 1 / 6}
    )


def test_scores_after_the_discussion_are_not_called_reliable(bundled_sample):
    for statistic in (reliability, uncertain_order):
        assert set(statistic(bundled_sample(2020, "2019-11-08"), draws=2)["called"]) == {"reliability"}
        assert set(statistic(bundled_sample(2020, "final"), draws=2)["called"]) == {
            "agreement (final), not reliability"
        }


def test_withdrawn_papers_are_left_out_only_where_it_is_known_who_withdrew(bundled_sample):
    found = agreement_change(bundled_sample(2026, "2025-11-17"), bundled_sample(2026, "2025-11-22"), draws=20)
    assert set(found["papers"]) == {"reviewed"}


def test_papers_of_two_sources_are_not_compared():
    before = make_sample([[1, 3]])
    other = replace(before, snapshot=replace(before.snapshot, paper_ids="openreview", name="final"))
    with pytest.raises(Trouble, match="are the same ones is not known"):
        agreement_change(before, other)


def test_two_snapshots_without_a_common_paper_have_no_change():
    found = agreement_change(make_sample([[1, 3], []]), make_sample([[], [6, 8]], stage="final"))
    assert (found["n"] == 0).all() and found["value"].isna().all()


@given(papers)
def test_order_is_irrelevant(drawn):
    assert_order_is_irrelevant("agreement", drawn)


def test_columns_hold():
    assert_columns_hold("agreement", *edge_samples())


@pytest.mark.parametrize("year", bundled.years())
def test_every_bundled_snapshot_has_all_measures(bundled_store, year):
    for one in store.held(bundled_store, "ICLR", year):
        loaded = sample.load(bundled_store, "ICLR", year, one.name)
        for statistic in (agreement, variation, reliability, uncertain_order, unanimity):
            frame = statistic(loaded, draws=20)
            assert frame[["value", "low", "high"]].notna().all(axis=None), (one.name, statistic.__name__)
