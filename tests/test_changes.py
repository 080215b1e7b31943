"""What differs between two snapshots, review by review and field by field."""

import json

import pytest
from days import stored
from hypothesis import Phase, given, settings
from hypothesis import strategies as some

from analysis import tables
from analysis.changes import COLUMNS, changes, printed
from analysis.errors import Trouble

RATINGS = some.sampled_from((1, 3, 6, 8, None))
REVIEWS = some.dictionaries(
    some.sampled_from("pqrs"), some.fixed_dictionaries({"rating": RATINGS, "words": some.integers(1, 3)})
)
OUTCOMES = some.sampled_from(("undecided", "withdrawn", "accepted"))
DAYS = some.dictionaries(some.sampled_from("abc"), some.tuples(OUTCOMES, REVIEWS)).map(
    lambda day: {paper: (was, {paper + key: one for key, one in held.items()}) for paper, (was, held) in day.items()}
)


def rows(found) -> list[tuple]:
    return list(found.rows.itertuples(index=False, name=None))


@pytest.fixture
def two_days(tmp_path):
    """One review 3 to 6, one new, one gone; a paper new, one withdrawn, one gone; another field and the length."""
    before = {"a": ("undecided", {"a1": 3, "a2": 6}), "b": ("undecided", {"b1": {"rating": 6, "words": 100, "scores": {"soundness": 2}}}),
              "c": ("undecided", {}), "old": ("withdrawn", {})}  # fmt: skip
    after = {"a": ("undecided", {"a1": 6, "a3": 8}), "b": ("undecided", {"b1": {"rating": 6, "words": 120, "scores": {"soundness": 3}}}),
             "c": ("withdrawn", {}), "d": ("undecided", {})}  # fmt: skip
    return stored(tmp_path / "reviews.duckdb", {"2019-11-08": before, "2019-11-09": after})


def test_exactly_what_changed_is_listed(two_days):
    found = changes(two_days, "ICLR", 2020, "2019-11-08", "2019-11-09", "notes")
    assert sorted(rows(found), key=str) == sorted(
        [
            ("paper added", "d", None, "outcome", None, "undecided"),
            ("paper removed", "old", None, "outcome", "withdrawn", None),
            ("paper changed", "c", None, "outcome", "undecided", "withdrawn"),
            ("review changed", "a", "a1", "rating", 3, 6),
            ("review added", "a", "a3", "rating", None, 8),
            ("review removed", "a", "a2", "rating", 6, None),
            ("review changed", "b", "b1", "words", 100, 120),
            ("review changed", "b", "b1", "soundness", 2, 3),
        ],
        key=str,
    )
    counted = dict(found.summary().itertuples(index=False, name=None))
    assert counted == {
        "papers in both": 3, "papers added": 1, "papers removed": 1, "papers withdrawn": 1, "outcomes changed": 1,
        "reviews in both": 2, "reviews added": 1, "reviews removed": 1, "reviews changed": 2,
        "rating changed": 1, "rating up": 1, "rating down": 0, "words changed": 1, "words up": 1, "words down": 0,
        "soundness changed": 1, "soundness up": 1, "soundness down": 0,
    }  # fmt: skip
    assert found.sentence() == (
        "ICLR 2020, from 2019-11-08 to 2019-11-09: 1 review added, 1 removed, 2 of 2 changed, 1 of them in their rating "
        "(1 up, 0 down), 1 paper added, 1 removed, 1 withdrawn."
    )


def test_backwards_it_is_the_opposite(two_days):
    found = changes(two_days, "ICLR", 2020, "2019-11-09", "2019-11-08", "notes")
    assert ("review added", "a", "a2", "rating", None, 6) in rows(found)
    assert ("review changed", "a", "a1", "rating", 6, 3) in rows(found)


def test_a_snapshot_and_itself_differ_in_nothing(two_days):
    found = changes(two_days, "ICLR", 2020, "latest", "latest", "notes")
    assert found.rows.empty and list(found.rows.columns) == list(COLUMNS)
    assert printed(found, "csv") == ",".join(COLUMNS)
    assert json.loads(printed(found, "json"))["changes"] == []
    assert "what changed" not in printed(found, "table")


@settings(max_examples=15, phases=[Phase.generate])  # each example makes a database
@given(before=DAYS, after=DAYS)
def test_as_a_plain_comparison_of_dicts_says(tmp_path_factory, before, after):
    database = stored(tmp_path_factory.mktemp("two") / "reviews.duckdb", {"2019-11-08": before, "2019-11-09": after})
    found = changes(database, "ICLR", 2020, "2019-11-08", "2019-11-09", "notes")
    assert sorted(rows(found), key=str) == sorted(_plainly(before, after), key=str)
    one, other = ({key for _, held in day.values() for key in held} for day in (before, after))
    assert found.reviews == len(one & other) and found.papers == len(set(before) & set(after))


def _plainly(before, after):
    for paper in set(before) | set(after):
        was, now = (day.get(paper, (None, {}))[0] for day in (before, after))
        if was != now:
            kind = "added" if was is None else "removed" if now is None else "changed"
            yield f"paper {kind}", paper, None, "outcome", was, now
        mine, theirs = (day.get(paper, (None, {}))[1] for day in (before, after))
        for key in set(mine) | set(theirs):
            if key not in mine or key not in theirs:
                kind = "added" if key in theirs else "removed"
                ratings = [some[key]["rating"] if key in some else None for some in (mine, theirs)]
                yield f"review {kind}", paper, key, "rating", *ratings
                continue
            for field in ("rating", "words"):
                if mine[key][field] != theirs[key][field]:
                    yield "review changed", paper, key, field, mine[key][field], theirs[key][field]


def test_the_published_movement_of_2020_and_the_606_of_2026(bundled_store):
    of_2020 = changes(bundled_store, "ICLR", 2020, "release", "2019-12-01")
    assert (of_2020.reviews, of_2020.moved("rating")) == (7690, (907, 828, 79))
    assert changes(bundled_store, "ICLR", 2026, "release", "2025-11-22").moved("rating")[0] == 606


def test_what_the_bundled_counts_do_not_know_is_missing_not_0(bundled_store):
    found = changes(bundled_store, "ICLR", 2020, "2019-11-08", "2019-12-01")
    counted = dict(found.summary().itertuples(index=False, name=None))
    assert tables.plain(counted["papers withdrawn"]) is None and "withdrawals not known" in found.sentence()


def test_ids_that_mean_something_else_are_refused_in_a_sentence(bundled_store, tmp_path):
    with pytest.raises(Trouble, match=r"Which reviews of ICLR 2020, 2019-12-01 .bundled. and final"):
        changes(bundled_store, "ICLR", 2020, "2019-12-01", "final")
    database = tmp_path / "reviews.duckdb"
    database.write_bytes(bundled_store.read_bytes())
    stored(database, {"2019-11-09": {"a": ("undecided", {})}})
    with pytest.raises(Trouble, match=r"Which papers of .* one --source"):
        changes(database, "ICLR", 2020, "2019-11-08", "2019-11-09")


@pytest.mark.parametrize("format", ["table", "csv", "json", "markdown", "latex"])
def test_every_format_shows_the_change(two_days, format):
    shown = printed(changes(two_days, "ICLR", 2020, "2019-11-08", "2019-11-09", "notes"), format)
    assert "soundness" in shown and "review added" in shown
