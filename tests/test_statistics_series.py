"""Series: a row a day, against counting by hand."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from days import stored
from hypothesis import given
from hypothesis import strategies as some
from samples import SCALE, make_sample

from analysis.compute import Asked, compute
from analysis.errors import Trouble
from analysis.sample import Sample
from analysis.statistics.agreement import agreement
from analysis.statistics.ratings import ratings
from analysis.statistics.series import series

DAYS = {
    "2019-11-08": {"a": ("undecided", {"a1": 3, "a2": 6, "a3": 6}), "b": ("undecided", {"b1": 1}), "c": ("undecided", {})},
    "2019-11-09": {"a": ("undecided", {"a1": 6, "a2": 6, "a3": 3}), "b": ("withdrawn", {"b1": 1}), "c": ("undecided", {"c1": None})},
    "2019-11-10": {"a": ("undecided", {"a1": 6, "a2": 6, "a4": 8}), "c": ("undecided", {"c1": 6}), "d": ("desk_rejected", {})},
}  # fmt: skip


def days_of(database, **more) -> pd.DataFrame:
    return compute("series", Asked(database, "ICLR", (2020,), source="notes", **more)).frame


def plainly(column: pd.Series) -> list:
    return [None if pd.isna(value) else value for value in column]


def test_a_row_a_snapshot_as_counted_by_hand(tmp_path):
    frame = days_of(stored(tmp_path / "reviews.duckdb", DAYS))
    assert list(frame["snapshot"]) == list(DAYS) and list(frame["papers"]) == [3, 3, 3]
    assert list(frame["withdrawn"]) == [0, 1, 0] and list(frame["short"]) == [2, 1, 1]
    assert list(frame["reviews"]) == list(frame["n"]) == [4, 4, 4]
    # c1 had no rating on the second day, and a3 is gone on the third.
    assert [plainly(frame[name]) for name in ("changed", "up", "down")] == [[None, 2, 0], [None, 1, 0], [None, 1, 0]]
    np.testing.assert_allclose(frame["value"].astype(float), [0.5, 0.5, 1.0])


def test_days_stand_in_order_of_time_whatever_the_order_of_loading(tmp_path):
    reordered = dict(reversed(DAYS.items()))
    pd.testing.assert_frame_equal(
        days_of(stored(tmp_path / "a.duckdb", DAYS)), days_of(stored(tmp_path / "b.duckdb", reordered))
    )


def test_snapshots_that_are_named_are_taken_and_columns_split(tmp_path):
    database = stored(tmp_path / "reviews.duckdb", DAYS)
    two = days_of(database, snapshot="2019-11-08,2019-11-10")
    assert list(two["snapshot"]) == ["2019-11-08", "2019-11-10"] and two.loc[1, "changed"] == 1
    split = days_of(database, by="outcome")
    assert list(split[split["outcome"] == "withdrawn"]["snapshot"]) == ["2019-11-08", "2019-11-09"]
    with pytest.raises(Trouble, match="no column `colour`"):
        days_of(database, by="colour")


def test_fetched_days_are_followed_and_bundled_ones_told_apart(bundled_store, tmp_path):
    database = tmp_path / "reviews.duckdb"
    database.write_bytes(bundled_store.read_bytes())
    answer = compute("series", Asked(stored(database, DAYS), "ICLR", (2020,)))
    assert list(answer.frame["snapshot"]) == list(DAYS)
    assert any("3 bundled snapshots left out" in remark for remark in answer.remarks)
    bundled = compute("series", Asked(database, "ICLR", (2020,), source="bundled"))
    assert list(bundled.frame["snapshot"]) == ["2019-11-08", "2019-12-01", "final"]
    assert bundled.titles == ("ICLR 2020, 3 snapshots, 2019-11-08 to final",)


@pytest.mark.parametrize(
    ("year", "changed"), [(2020, [None, 907, None]), (2026, [None, 606]), (2017, [None]), (2024, [None, None])]
)
def test_the_published_movement_and_what_is_not_known(bundled_store, year, changed):
    frame = compute("series", Asked(bundled_store, "ICLR", (year,))).frame
    assert plainly(frame["changed"]) == changed
    release = frame[frame["stage"] != "final"]
    assert release[["withdrawn", "short"]].isna().all(axis=None)  # bundled counts do not say who had left by then


def test_agreement_of_2020_grows_as_published(bundled_store):
    frame = compute("series", Asked(bundled_store, "ICLR", (2020,))).frame
    np.testing.assert_allclose(frame["agreement"], [0.244, 0.392, 0.392], atol=0.001)


def test_each_number_is_that_of_the_statistic_of_that_name(bundled_sample):
    sample = bundled_sample(2020, "2019-12-01", "all")
    row = series([with_outcomes(sample, sample.papers["outcome"])]).iloc[0]
    measured = agreement(sample).set_index("measure").loc["icc"]
    for column, name in (("agreement", "value"), ("agreement_low", "low"), ("agreement_high", "high")):
        assert row[column] == pytest.approx(measured[name], rel=1e-12)
    side = ratings(sample)
    assert row["value"] == pytest.approx(side.loc[side["rating"] >= 6, "value"].sum())


def with_outcomes(sample: Sample, outcomes) -> Sample:
    return replace(sample, papers=sample.papers.assign(outcome_then=list(outcomes)))


def numbered(ratings: list[list[int]], outcomes: list[str], **more) -> Sample:
    sample = with_outcomes(make_sample(ratings, outcomes, **more), outcomes)
    return replace(sample, reviews=sample.reviews.assign(review=range(len(sample.reviews))))


PANELS = some.lists(some.lists(some.sampled_from(SCALE.levels), max_size=4), max_size=8)


@given(PANELS, some.randoms())
def test_as_a_plain_count_says(panels, random):
    outcomes = [random.choice(("undecided", "withdrawn", "desk_rejected")) for _ in panels]
    after = [[random.choice((rating, *SCALE.levels)) for rating in panel] for panel in panels]
    frame = series([numbered(panels, outcomes), numbered(after, outcomes)])
    flat = [
        (one, other) for before, now in zip(panels, after, strict=True) for one, other in zip(before, now, strict=True)
    ]
    last = frame.iloc[1]
    assert (last["changed"], last["up"], last["down"]) == (
        sum(one != other for one, other in flat), sum(one < other for one, other in flat), sum(one > other for one, other in flat),
    )  # fmt: skip
    assert last["short"] == sum(
        len(panel) < 3 and outcome == "undecided" for panel, outcome in zip(panels, outcomes, strict=True)
    )
    assert last["withdrawn"] == outcomes.count("withdrawn") and last["reviews"] == len(flat)
    sides = [other >= 6 for _, other in flat]
    assert pd.isna(last["value"]) if not sides else last["value"] == pytest.approx(sum(sides) / len(sides))


@pytest.mark.parametrize("panels", [[], [[]], [[6]], [[6, 6, 6]] * 4])
def test_edges_give_a_row_with_what_there_is(panels):
    frame = series([numbered(panels, ["undecided"] * len(panels))] * 2)
    assert len(frame) == 2 and list(frame["changed"].astype(object))[1] == 0
    assert frame["reviews"].tolist() == [sum(map(len, panels))] * 2
    assert len(series([])) == 0


def test_where_no_rating_is_known_to_accept_the_side_is_missing():
    sample = numbered([[1, 3], [6]], ["undecided"] * 2, scale=replace(SCALE, accept_from=None))
    assert series([sample])["value"].isna().all()
