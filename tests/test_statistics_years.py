from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from samples import drawn_sample, edge_samples, make_sample, papers, reordered

from analysis.statistics.years import years
from analysis.venues import Scale


def test_2020_has_the_published_mean(bundled_sample):
    row = years([bundled_sample(2020, "final")], draws=10).iloc[0]
    assert row["mean"] == pytest.approx(4.1837, abs=5e-5)
    assert (row["papers"], row["reviews"], row["scale"], row["stage"]) == (2561, 7775, "1 3 6 8", "final")


def test_every_bundled_year_has_a_row(bundled_sample):
    found = years([bundled_sample(year) for year in (2026, 2017, 2018, 2019, 2020, 2021, 2022, 2023, 2024)])
    assert found["year"].tolist() == [2017, 2018, 2019, 2020, 2021, 2022, 2023, 2024, 2026]
    assert found["reviews"].tolist()[:4] == [1489, 2930, 4764, 7775]
    comparable = found.set_index("year")["comparable_with_previous"]
    assert comparable[comparable].index.tolist() == [2018, 2019, 2023]
    assert ((found["low"] < found["value"]) & (found["value"] < found["high"])).all()


def test_means_are_compared_only_on_one_scale_at_one_stage():
    rows = [[1, 3], [6, 8]]
    changed = Scale((1, 3, 5, 6, 8), {}, 6)
    samples = [
        make_sample(rows, year=2018),
        make_sample([[3, 3], [6, 8]], year=2019),
        make_sample(rows, year=2020, stage="final"),
        make_sample(rows, year=2021, stage="final", scale=changed),
        make_sample(rows, year=2022, stage="final", scale=changed, described=False),
    ]
    found = years(samples)
    assert found["comparable_with_previous"].tolist() == [False, True, False, False, False]
    assert found["difference"].tolist() == pytest.approx([np.nan, 0.5] + [np.nan] * 3, nan_ok=True)
    assert found["scale"].tolist()[-2:] == ["1 3 5 6 8", "1 3 6 8 (undeclared)"]


def test_a_scale_without_accept_side_has_no_share():
    found = years([make_sample([[1, 3]], scale=Scale((1, 3, 6, 8)))])
    assert found[["value", "low", "high"]].isna().all(axis=None)
    assert found["mean"].item() == 2


@given(papers)
def test_moments_agree_with_numpy(drawn):
    ratings = [[rating for rating, _ in some] for some, _ in drawn if some]
    row = years([drawn_sample(drawn)], draws=2).iloc[0]
    every = [rating for some in ratings for rating in some]
    expected = {
        "mean": np.mean(every) if every else np.nan,
        "sd": np.std(every, ddof=1) if len(every) > 1 else np.nan,
        "mean_of_averages": np.mean([np.mean(some) for some in ratings]) if every else np.nan,
        "value": np.mean([rating >= 6 for rating in every]) if every else np.nan,
        "reviews_per_paper": len(every) / len(ratings) if ratings else np.nan,
    }
    assert row[list(expected)].tolist() == pytest.approx(list(expected.values()), nan_ok=True)


@given(papers)
def test_order_is_irrelevant(drawn):
    first, second = drawn_sample(drawn), drawn_sample(reordered(drawn), stage="final")
    once, twice = years([first, second], draws=50), years([second, first], draws=50)
    pd.testing.assert_frame_equal(once, twice, check_exact=True)
    same = ["mean", "sd", "mean_of_averages", "value", "low", "high"]
    np.testing.assert_array_equal(once.loc[0, same].astype(float), once.loc[1, same].astype(float))


def test_columns_hold():
    assert len({tuple(years([sample]).columns) for sample in edge_samples()}) == 1
