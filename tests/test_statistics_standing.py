from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import SCALE, drawn_sample, edge_samples, make_sample, papers, reordered
from scipy.stats import binomtest

from analysis import ROOT
from analysis.errors import Trouble
from analysis.statistics import standing
from analysis.statistics.standing import error_of_average, fate, match_average, one_changed, positions, sentence
from analysis.venues import Scale

RATINGS = st.lists(st.sampled_from(SCALE.levels), min_size=1, max_size=5)


# Positions ----------------------------------------------------------------------------------------------------------


def test_6_6_6_in_2020(bundled_sample):
    # P=R: shaohua0116/ICLR2020-OpenReviewData.
    found = positions(bundled_sample(2020, "final", "all"), [6, 6, 6]).set_index("population").loc["reviewed"]
    shares = {"below": 78.21, "tied": 8.24, "top": 21.79, "top_at_or_below": 13.55, "top_mid_rank": 17.67}
    assert {name: round(100 * found[name], 2) for name in shares} == shares
    assert found["n"] == 2561


def test_populations_are_those_that_are_known(bundled_sample):
    names = positions(bundled_sample(2020, "final", "all"), [6, 6, 6])["population"].tolist()
    assert names == ["reviewed", "active", "decided", "with 3 reviews"]
    names = positions(bundled_sample(2026, population="all"), [6])["population"].tolist()
    assert names == ["reviewed", "active", "with 1 review"]
    sample = bundled_sample(2020, "final", "all")
    assert positions(sample, match_average(sample, "6.00"))["population"].tolist() == ["reviewed", "active", "decided"]


def test_a_rating_off_the_scale_names_the_scale(bundled_sample):
    for statistic in (positions, fate, one_changed, sentence):
        with pytest.raises(Trouble, match="5 is not a rating of ICLR 2020: the scale is 1, 3, 6 or 8"):
            statistic(bundled_sample(2020, "final", "all"), [5, 6])
    with pytest.raises(Trouble, match="Which ratings"):
        positions(bundled_sample(2020, "final", "all"), [])


@given(papers, RATINGS)
def test_positions_agree_with_counting_one_by_one(drawn, ratings):
    mean = Fraction(sum(ratings), len(ratings))
    kept = {
        "reviewed": [some for some, _ in drawn if some],
        "active": [some for some, outcome in drawn if some and outcome != "withdrawn"],
        f"with {len(ratings)} review{'s' * (len(ratings) > 1)}": [
            some for some, _ in drawn if len(some) == len(ratings)
        ],
    }
    found = positions(drawn_sample(drawn), ratings).set_index("population")
    for name, among in kept.items():
        means = [Fraction(sum(rating for rating, _ in some), len(some)) for some in among]
        row = found.loc[name]
        assert row["n"] == len(means)
        if means:
            below, tied = (
                np.mean([compare(one) for one in means]) for compare in (lambda m: m < mean, lambda m: m == mean)
            )
            expected = [below, tied, below + tied, below + tied / 2, 1 - below, 1 - below - tied / 2, 1 - below - tied]
            assert row[list(standing.POSITION)].tolist() == pytest.approx(expected)
        else:
            assert row[list(standing.POSITION)].isna().all()


# Averages as decimals -----------------------------------------------------------------------------------------------


def test_a_decimal_stands_for_the_averages_that_round_to_it():
    sample = make_sample([[1, 3, 6, 8, 8, 8]])
    assert match_average(sample, "4.67").averages == (Fraction(14, 3),)
    assert match_average(sample, "4.5").averages == (Fraction(9, 2),)
    assert match_average(sample, "4.50").averages == (Fraction(9, 2),)
    assert match_average(sample, "4.3").averages == (Fraction(17, 4), Fraction(13, 3))
    assert (
        Fraction(7, 2) in match_average(sample, "4").averages and Fraction(9, 2) in match_average(sample, "4").averages
    )
    assert match_average(sample, "4.00").averages == (Fraction(4),)


def test_a_tie_may_have_been_rounded_either_way():
    sample = make_sample([[1, 3, 6, 8] * 2])
    assert match_average(sample, "4.12").averages == match_average(sample, "4.13").averages == (Fraction(33, 8),)


@pytest.mark.parametrize("text", ["", "high", "-3", "4,5", "4.5.1", "1e1", "٤"])
def test_what_is_no_decimal_is_refused(text):
    with pytest.raises(Trouble, match="is not an average"):
        match_average(make_sample([[6]]), text)


def test_an_average_that_nothing_attains_is_refused():
    with pytest.raises(
        Trouble, match=r"No 1 to 2 ratings of ICLR 2020 have an average of 4.67: the scale is 1, 3, 6 or 8"
    ):
        match_average(make_sample([[6, 6]]), "4.67")
    with pytest.raises(Trouble, match="No 1 to 0"):
        match_average(make_sample([]), "4.67")


@given(st.integers(1, 5), st.integers(100, 800))
def test_matches_agree_with_trying_every_set(most, hundredths):
    means = {
        Fraction(sum(some), size)
        for size in range(1, most + 1)
        for some in combinations_with_replacement(SCALE.levels, size)
    }
    expected = sorted(mean for mean in means if abs(100 * mean - hundredths) <= Fraction(1, 2))
    sample, text = make_sample([[6] * most]), f"{hundredths / 100:.2f}"
    if expected:
        assert list(match_average(sample, text).averages) == expected
    else:
        with pytest.raises(Trouble):
            match_average(sample, text)


def test_papers_between_the_matches_are_tied():
    sample = make_sample([[1, 6], [3, 6], [6], [8]])
    found = positions(sample, match_average(sample, "4")).iloc[0]
    assert found[["below", "tied", "at_or_below"]].tolist() == [0, 0.5, 0.5]


# One rating changed -------------------------------------------------------------------------------------------------


def test_one_changed_moves_each_rating_by_one_level():
    sample = make_sample([[3, 3], [6, 6], [8, 8], []])
    found = one_changed(sample, [6, 3, 6])
    assert found["change"].tolist() == ["one 3 to 1", "one 3 to 6", "one 6 to 3", "one 6 to 8"]
    assert found["ratings"].tolist() == ["1 6 6", "6 6 6", "3 3 6", "3 6 8"]
    assert found["average"].tolist() == pytest.approx([13 / 3, 6, 4, 17 / 3])
    assert (found["n"] == 3).all()


@given(papers, RATINGS)
def test_one_changed_stands_where_the_new_ratings_stand(drawn, ratings):
    sample = drawn_sample(drawn)
    for _, row in one_changed(sample, ratings).iterrows():
        stands = positions(sample, [int(rating) for rating in row["ratings"].split()]).iloc[0]
        np.testing.assert_array_equal(
            row[list(standing.POSITION)].astype(float), stands[list(standing.POSITION)].astype(float)
        )


def test_an_average_alone_has_nothing_to_change():
    sample = make_sample([[6, 6]])
    found = one_changed(sample, match_average(sample, "6.0"))
    assert found.empty and found.columns.tolist() == one_changed(sample, [6]).columns.tolist()


# What was decided ---------------------------------------------------------------------------------------------------


def decided(groups: list[tuple[list[int], int, int]]) -> list:
    """Papers as (ratings, how many, how many of them accepted), and their outcomes."""
    ratings = [ratings for ratings, papers, _ in groups for _ in range(papers)]
    outcomes = [place < accepted for _, papers, accepted in groups for place in range(papers)]
    return [ratings, ["accepted" if accepted else "withdrawn" for accepted in outcomes]]


def test_thirty_papers_with_these_ratings_are_enough():
    found = fate(make_sample(*decided([([3, 6, 6], 30, 12), ([1, 6, 8], 100, 0)])), [6, 6, 3])
    assert found["like"].tolist() == ["exactly 3 6 6"]
    row = found.iloc[-1]
    assert (row["accepted"], row["n"], row["value"]) == (12, 30, 0.4)
    expected = binomtest(12, 30).proportion_ci(method="wilson")
    assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high))


def test_fewer_are_widened_to_the_accept_side():
    found = fate(make_sample(*decided([([3, 6, 6], 29, 12), ([1, 6, 8], 20, 1), ([6, 6], 50, 50)])), [6, 6, 3])
    assert found["like"].tolist() == ["exactly 3 6 6", "2 of 3 ratings at 6 or more"]
    assert found["n"].tolist() == [29, 49]
    assert found[["accepted", "value", "low", "high"]].iloc[0].isna().all()
    assert found.iloc[-1]["accepted"] == 13
    assert found.iloc[-1][["lowest", "highest"]].tolist() == [5, 5]


def test_then_to_averages_near_by_evenly_until_fifty():
    groups = [([6, 6, 6], 5, 4), ([6, 6, 8], 10, 10), ([3, 6, 8], 30, 5), ([3, 6, 6], 40, 1), ([8, 8, 8], 10, 10)]
    found = fate(make_sample(*decided(groups)), [6, 6, 6])
    assert found["like"].tolist()[:2] == ["exactly 6 6 6", "3 of 3 ratings at 6 or more"]
    # 3 6 8 is a third below, 6 6 8 two thirds above: 45 papers; 3 6 6 is one below.
    row = found.iloc[-1]
    assert row["like"] == "an average from 5.00 to 7.00"
    assert (row["n"], row["accepted"]) == (85, 20)
    assert row[["lowest", "highest"]].tolist() == pytest.approx([5, 20 / 3])


def test_fifty_papers_with_the_same_average_need_no_window():
    sample = make_sample(*decided([([6, 6], 50, 20), ([6], 3, 3), ([8], 60, 0)]))
    found = fate(sample, match_average(sample, "6.00"))
    assert found["like"].tolist() == ["an average of 6.00"]
    assert (found["n"].item(), found["accepted"].item()) == (53, 23)


def test_fewer_papers_than_that_are_all_taken():
    assert fate(make_sample([[8, 8], [1], []], ["accepted", "rejected", "withdrawn"]), [6])["n"].tolist()[-1] == 2
    row = fate(make_sample([]), [6]).iloc[-1]
    assert row["n"] == 0 and np.isnan(row["value"])


def test_without_an_accept_side_that_likeness_is_left_out():
    found = fate(make_sample([[6, 6]], scale=Scale(SCALE.levels)), [6, 6])
    assert found["like"].tolist() == ["exactly 6 6", "an average of 6.00"]


def test_fate_of_6_6_6_in_2020_counts_one_by_one(bundled_sample):
    sample = bundled_sample(2020, "final", "all")
    by_paper = sample.reviews.groupby("paper")["rating"].apply(lambda some: tuple(sorted(some)))
    alike = by_paper[by_paper == (6, 6, 6)].index
    outcomes = sample.papers.set_index("paper").loc[alike, "outcome"]
    row = fate(sample, [6, 6, 6]).iloc[-1]
    assert (row["n"], row["accepted"]) == (len(alike), (outcomes == "accepted").sum()) == (194, 152)


@given(papers, RATINGS)
def test_the_window_is_the_smallest_that_holds_enough(drawn, ratings):
    drawn = drawn * 3
    mean = Fraction(sum(ratings), len(ratings))
    away = sorted(
        (abs(Fraction(sum(rating for rating, _ in some), len(some)) - mean), outcome == "accepted")
        for some, outcome in drawn
        if some
    )
    if not away:
        return
    reach = away[min(standing.ENOUGH_NEAR, len(away)) - 1][0]
    inside = [accepted for distance, accepted in away if distance <= reach]
    sample = drawn_sample(drawn)
    row = fate(sample, standing.Given("", (), (mean,))).iloc[-1]
    assert (row["n"], row["accepted"]) == (len(inside), sum(inside))


def test_2024_is_refused_in_one_sentence(bundled_sample):
    sample = bundled_sample(2024, population="all")
    with pytest.raises(Trouble, match="how many papers were accepted is not known"):
        fate(sample, [6, 6, 6])
    assert "which of them were accepted is not known" in sentence(sample, [6, 6, 6])


# The error of an average --------------------------------------------------------------------------------------------


def test_error_of_an_average_is_the_within_paper_sd_over_the_root(bundled_sample):
    for year, sd in ((2019, 1.104), (2020, 1.721)):
        found = error_of_average(bundled_sample(year, "final"), draws=10).set_index("reviews")
        assert found.loc[1, "value"] == pytest.approx(sd, abs=5e-4)
        assert found.loc[4, "value"] == pytest.approx(found.loc[1, "value"] / 2)


def test_after_the_discussion_it_is_named_as_what_it_is(bundled_sample):
    release, final = (error_of_average(bundled_sample(2020, name), 3, draws=10) for name in ("2019-11-08", "final"))
    assert release["meaning"].item() == "standard error of an average"
    assert "too small" in final["meaning"].item()
    assert release["reviews"].item() == 3


@given(papers)
def test_within_paper_variance_agrees_with_numpy(drawn):
    ratings = [[rating for rating, _ in some] for some, _ in drawn if len(some) > 1]
    found = error_of_average(drawn_sample(drawn), 1, draws=2)
    freedom = sum(len(some) - 1 for some in ratings)
    expected = np.sqrt(sum(np.var(some) * len(some) for some in ratings) / freedom) if freedom else np.nan
    assert found["value"].item() == pytest.approx(expected, nan_ok=True)
    assert found["n"].item() == len(ratings)


# In one sentence ----------------------------------------------------------------------------------------------------


def test_the_sentence_holds_the_numbers(bundled_sample):
    assert sentence(bundled_sample(2020, "final", "all"), [6, 6, 6]) == (
        "6 6 6 (average 6.00) is above 78.21 % of the 2,561 papers with a review in ICLR 2020, final "
        "and level with 8.24 %: top 21.79 % read strictly, 17.67 % by mid-rank; "
        "of 194 papers with exactly 6 6 6, 78.4 % were accepted (95 % limits 72.0 % to 83.6 %)."
    )


def test_the_sentence_says_what_a_decimal_stands_for(bundled_sample):
    sample = bundled_sample(2026, population="all")
    assert sentence(sample, match_average(sample, "4.67")).startswith("An average of 4.67 (14/3) is above 65.70 %")
    assert "(15 attainable ones round to it, 4.50 to 5.50)" in sentence(sample, match_average(sample, "5"))
    assert "in ICLR 2026, 2025-11-17 (release) and" in sentence(sample, [2, 4, 6, 6])


def test_without_reviews_there_is_nothing_to_compare_with():
    assert sentence(make_sample([[]]), [6]) == "ICLR 2020, 2019-11-08 has no paper with a review to compare with."


# All of them --------------------------------------------------------------------------------------------------------


@given(papers, RATINGS)
def test_order_is_irrelevant(drawn, ratings):
    first, second = drawn_sample(drawn), drawn_sample(reordered(drawn))
    for statistic in (positions, fate, one_changed):
        pd.testing.assert_frame_equal(statistic(first, ratings), statistic(second, ratings[::-1]), check_exact=True)
    one, other = (error_of_average(sample, draws=20) for sample in (first, second))
    pd.testing.assert_frame_equal(one, other, check_exact=True)
    assert sentence(first, ratings) == sentence(second, ratings[::-1])


def test_columns_hold():
    for statistic in (positions, fate, one_changed):
        assert len({tuple(statistic(sample, [6, 6]).columns) for sample in edge_samples()}) == 1
    assert len({tuple(error_of_average(sample).columns) for sample in edge_samples()}) == 1


def test_standing_imports_nothing_heavy():
    heavy = "{'scipy', 'seaborn', 'matplotlib', 'papermill'}"
    script = f"import sys, analysis.statistics.standing; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
