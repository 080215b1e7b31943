from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import edge_samples, make_sample

from analysis.compute import Asked, compute
from analysis.errors import Trouble
from analysis.fetch import Asked as Fetched
from analysis.fetch import fetch
from analysis.sample import load
from analysis.statistics import texts
from analysis.statistics.intervals import bootstrap, clustered_shares

START = datetime(2019, 10, 5)
FAMILY = (texts.lengths, texts.length_curve, texts.arrivals, texts.hours, texts.missing_reviews, texts.discussion, texts.thread_lengths)  # fmt: skip

# A paper: its reviews (words, hours after the start), and its comments (who kind, how long).
reviews = st.lists(st.tuples(st.integers(0, 400), st.integers(0, 300)), max_size=4)
comments = st.lists(st.tuples(st.sampled_from(texts.WRITERS), st.integers(1, 90)), max_size=12)
papers = st.lists(st.tuples(reviews, comments), max_size=15)


def written(drawn, **options):
    """The sample of these papers; every rating is 6."""
    sample = make_sample([[6] * len(some) for some, _ in drawn], **options)
    words = [words for some, _ in drawn for words, _ in some]
    times = [np.datetime64(START) + np.timedelta64(hour, "h") for some, _ in drawn for _, hour in some]
    said = [
        (paper, "official_comment", kind, float(long)) for paper, (_, some) in enumerate(drawn) for kind, long in some
    ]
    table = pd.DataFrame(said, columns=["paper", "kind", "author_kind", "words"]).astype({"paper": np.int64})
    columns = {"words": np.array(words, dtype=float), "created_at": np.array(times, dtype="datetime64[us]")}
    return replace(sample, reviews=sample.reviews.assign(**columns), comments=table.assign(created_at=pd.NaT))


@pytest.fixture(scope="module")
def real_2020(review_data, tmp_path_factory):
    database = tmp_path_factory.mktemp("notes") / "reviews.duckdb"
    file = review_data / "iclr-api1" / "iclr2020_forums.jsonl.gz"
    fetch("ICLR", [2020], Fetched("notes", (file,), "2021-04-01"), database, lambda line: None)
    return database


# Against plainer computations ---------------------------------------------------------------------------------------


@given(papers)
def test_lengths_agree_with_numpy(drawn):
    if not any(some for some, _ in drawn):
        return
    words = [words for some, _ in drawn for words, _ in some]
    row = texts.lengths(written(drawn)).iloc[0]
    for name, share in texts.QUANTILES.items():
        assert row[name] == np.quantile(words, share, method="inverted_cdf")
    assert row["low"] <= row["value"] <= row["high"] and row["n"] == len(words)
    curve = texts.length_curve(written(drawn))
    assert curve["value"].tolist() == pytest.approx([np.mean(np.array(words) <= at) for at in curve["words"]])
    assert (curve["words"].iloc[0], curve["words"].iloc[-1], curve["value"].iloc[-1]) == (min(words), max(words), 1)


@given(papers)
def test_days_and_hours_agree_with_counting(drawn):
    if not any(some for some, _ in drawn):
        return
    hours = [hour for some, _ in drawn for _, hour in some]
    days = texts.arrivals(written(drawn))
    by_hour = texts.hours(written(drawn)).set_index(["clock", "hour"])
    for clock, offset in texts.CLOCKS.items():
        some = days[days["clock"] == clock]
        times = [pd.Timestamp(START) + pd.Timedelta(hours=hour + offset) for hour in hours]
        assert some.loc[some["count"] > 0, "day"].tolist() == sorted({f"{time:%Y-%m-%d}" for time in times})
        assert some["count"].sum() == len(times) and some["value"].iloc[-1] == pytest.approx(1)
        for hour in range(24):
            assert by_hour.loc[(clock, hour), "count"] == sum(time.hour == hour for time in times)


@given(papers)
def test_comments_agree_with_counting(drawn):
    if not any(some for some, _ in drawn) or not any(some for _, some in drawn):
        return
    frame = texts.discussion(written(drawn), draws=10).set_index("author_kind")
    for kind in texts.WRITERS:
        each = [sum(one == kind for one, _ in some) for _, some in drawn]
        assert frame.loc[kind, "value"] == pytest.approx(np.mean(each))
        assert (frame.loc[kind, "comments"], frame.loc[kind, "papers"]) == (sum(each), np.count_nonzero(each))
    threads = texts.thread_lengths(written(drawn))
    sizes = [len(some) for _, some in drawn]
    assert threads["count"].tolist() == [sum(min(size, 10) == n for size in sizes) for n in range(11)]


@given(papers)
def test_order_is_irrelevant(drawn):
    if not any(some for some, _ in drawn) or not any(some for _, some in drawn):
        return
    turned = [(some[::-1], said[::-1]) for some, said in drawn[::-1]]
    for statistic in FAMILY:
        once, again = statistic(written(drawn)), statistic(written(turned))
        pd.testing.assert_frame_equal(once, again, check_exact=True, obj=statistic.__name__)


def test_limits_agree_with_a_bootstrap_over_papers():
    generator = np.random.default_rng(8)
    sizes = generator.integers(1, 6, 400)
    merit = generator.normal(0, 1, 400)
    yes = np.array([(merit[paper] + generator.normal(0, 1, size) > 0.4).sum() for paper, size in enumerate(sizes)])
    found = clustered_shares(yes[:, np.newaxis], sizes[:, np.newaxis])
    low, high = bootstrap(np.column_stack([yes, sizes]), lambda sums: sums[:, :1] / sums[:, 1:], draws=4000)
    assert found["value"][0] == pytest.approx(yes.sum() / sizes.sum())
    assert (found["low"][0], found["high"][0]) == pytest.approx((low[0], high[0]), abs=0.003)


def test_limits_of_the_median_hold_the_truth():
    """Reviews of a paper are alike in length; 95 % limits hold the true median 93 to 97 % of the time."""
    generator = np.random.default_rng(9)
    held = []
    for _ in range(1000):
        paper = np.repeat(generator.normal(0, 0.4, 150), 3)
        words = np.round(np.exp(6 + paper + generator.normal(0, 0.4, 450)) * 100)
        frame = pd.DataFrame({"paper": np.repeat(np.arange(150), 3), "words": words})
        row = texts.lengths(replace(EMPTY, reviews=frame)).iloc[0]
        held.append(row["low"] <= np.exp(6) * 100 <= row["high"])
    assert 0.93 <= np.mean(held) <= 0.97


EMPTY = make_sample([])


# Missing and late ---------------------------------------------------------------------------------------------------


def test_missing_and_late_reviews():
    drawn = [([(10, 0)] * 3, [])] * 4 + [([(10, 24 * 31)] * 2, []), ([], []), ([], [])]
    sample = written(drawn, outcomes=["rejected"] * 6 + ["withdrawn"])
    frame = texts.missing_reviews(sample)  # released on 2019-11-05, which is 31 days after the start
    assert frame["item"].tolist() == [
        "no review",
        "fewer than 3 reviews",
        "reviews after the release",
        "reviews after their deadline",
    ]
    assert frame["count"].tolist()[:3] == [1, 2, 0] and frame["n"].tolist()[:3] == [6, 6, 14]
    assert frame["note"].iloc[3] == "venues.toml does not know the day" and pd.isna(frame["count"].iloc[3])
    due = replace(sample, form=replace(sample.form, reviews_due=date(2019, 10, 5), released=date(2019, 11, 4)))
    late = texts.missing_reviews(due)
    assert late["count"].tolist()[2:] == [2, 2] and late["value"].iloc[3] == pytest.approx(2 / 14)
    assert late["day"].tolist()[2:] == ["2019-11-04", "2019-10-05"]


def test_notes_that_take_a_paper_out_are_no_discussion():
    sample = written([([(1, 1)], [("authors", 3), ("authors", 5)])])
    withdrawn = sample.comments.assign(kind=["withdrawal", "official_comment"])
    frame = texts.discussion(replace(sample, comments=withdrawn), draws=5).set_index("author_kind")
    assert frame.loc["authors", ["comments", "words"]].tolist() == [1, 5]


# The smallest samples, and those without ----------------------------------------------------------------------------


@pytest.mark.filterwarnings("error")
def test_edges_have_the_same_columns_and_limits_around_values():
    for statistic in FAMILY:
        frames = []
        for sample in edge_samples():
            reviews = sample.reviews.assign(words=5.0, created_at=np.datetime64(START, "us"))
            none = written([]).comments
            said = (
                pd.concat(
                    [none, pd.DataFrame([{"paper": 0, "kind": "comment", "author_kind": "public", "words": 2.0}])]
                )
                if len(reviews)
                else none
            )
            frames.append(statistic(replace(sample, reviews=reviews, comments=said)))
        assert len({tuple(frame.columns) for frame in frames}) == 1, statistic
        for frame in frames:
            if "low" in frame:
                known = frame.dropna(subset=["value", "low", "high"])
                assert ((known["low"] <= known["value"] + 1e-9) & (known["value"] <= known["high"] + 1e-9)).all()


def test_bundled_counts_have_no_texts_and_say_what_brings_them(bundled_store):
    for name, what in (("lengths", "texts"), ("length-curve", "texts"), ("arrivals", "times"), ("hours", "times"), ("discussion", "comments"), ("thread-lengths", "comments")):  # fmt: skip
        with pytest.raises(Trouble, match=rf"ICLR 2020, final \(bundled\) has no {what}: .*--source api --years 2020"):
            compute(name, Asked(bundled_store, "ICLR", (2020,)))
    frame = compute("missing-reviews", Asked(bundled_store, "ICLR", (2020,))).frame
    assert frame["note"].iloc[2] == "the snapshot has no times"


# Real notes ---------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("error")
def test_real_2020(real_2020):
    sample = load(real_2020, "ICLR", 2020, source="notes", columns=("words", "created_at", "comments"))
    days = texts.arrivals(sample)
    utc = days[days["clock"] == "UTC"].set_index("day")["count"]
    assert (utc.index[0], utc.loc["2019-10-23"], utc.sum()) == ("2019-10-05", 1796, 6721)
    assert texts.missing_reviews(sample)["count"].iloc[2] == 159
    frame = texts.discussion(sample, draws=20).set_index("author_kind")
    assert frame.loc["authors", "comments"] == 10075 and frame.loc["all", "value"] == pytest.approx(12162 / 2213)
    # The very counts of the store.
    assert texts.thread_lengths(sample)["count"].sum() == 2213
    assert texts.lengths(sample)["n"].item() == 6721


def test_a_split_takes_the_comments_along(real_2020):
    answer = compute("discussion", Asked(real_2020, "ICLR", (2020,), source="notes", by="outcome"))
    every = answer.frame[answer.frame["author_kind"] == "all"]
    assert every["comments"].sum() == 12162 and every["outcome"].tolist() == ["accepted", "rejected"]
