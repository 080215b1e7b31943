"""The digest: sentences that are right whatever did, or did not, happen."""

import json
import re
from dataclasses import replace

import pytest
from days import stored

from analysis.digest import FORMATS, digest, printed
from analysis.errors import Trouble
from analysis.tables import MISSING

BEFORE = {"a": ("undecided", {"a1": 3, "a2": 6, "a3": 6}), "b": ("undecided", {"b1": 1, "b2": 3, "b3": 3}),
          "c": ("undecided", {"c1": 8}), "old": ("undecided", {})}  # fmt: skip
AFTER = {"a": ("undecided", {"a1": 6, "a2": 6, "a3": {"rating": 6, "words": 9}}), "b": ("withdrawn", {"b1": 1, "b2": 1}),
         "c": ("undecided", {"c1": 8, "c2": 8, "c3": 6}), "d": ("undecided", {})}  # fmt: skip


def told(tmp_path, days, **more):
    columns = more.pop("columns", {})
    return digest(stored(tmp_path / "reviews.duckdb", days, **columns), "ICLR", 2020, source="notes", **more)


def test_what_changed_in_five_sentences(tmp_path):
    found = told(tmp_path, {"2019-11-08": BEFORE, "2019-11-09": AFTER})
    assert found.sentences == (
        "ICLR 2020 on 2019-11-09 (release), against 2019-11-08 (release): 8 reviews of 4 papers, 1 review more than before "
        "(2 new, 1 gone).",
        "2 of 6 ratings changed (33.33 %), 1 up and 1 down; 1 other review changed otherwise.",
        "1 paper was withdrawn (1 in all), 1 paper is new and 1 is gone from the listing.",
        found.sentences[3],
        found.sentences[4],
    )
    assert re.fullmatch(
        r"75\.0 % of the ratings are 6 or more \(95 % limits \S+ % to \S+ %\), 32\.1 points more than before\.",
        found.sentences[3],
    )
    assert re.fullmatch(
        r"1 paper still in has fewer than 3 reviews, 1 paper fewer than before; reviewers of one paper agree by ICC\(1\) "
        r"0\.\d{3} \(before: 0\.\d{3}\)\.", found.sentences[4],
    )  # fmt: skip
    numbers = found.numbers.set_index("measure")
    assert numbers.loc["reviews"].tolist() == [7, 8, 1]
    assert numbers.loc["withdrawn papers"].tolist() == [0, 1, 1]
    assert numbers.loc["ratings changed since the snapshot before"].tolist() == [None, 2, None]


def test_nothing_changed(tmp_path):
    found = told(tmp_path, {"2019-11-08": BEFORE, "2019-11-09": BEFORE})
    assert found.sentences[0].endswith("7 reviews of 4 papers, as many reviews as before (none new, none gone).")
    assert found.sentences[1] == "No rating changed in the 7 reviews that are in both."
    assert (
        found.sentences[2]
        == "No papers were withdrawn (0 in all), no papers are new and none are gone from the listing."
    )
    assert found.sentences[3].endswith(", within 0.05 points of before.")
    assert "2 papers still in have fewer than 3 reviews, as many as before" in found.sentences[4]


def test_the_first_snapshot_ever(tmp_path):
    found = told(tmp_path, {"2019-11-08": BEFORE})
    assert found.before is None and len(found.sentences) == 5
    assert found.sentences[:3] == (
        "ICLR 2020 on 2019-11-08 (release) is the first snapshot in the store, so nothing can be compared yet: 7 reviews of 4 papers.",
        "Which ratings change will be told from the next snapshot on.",
        "No papers were withdrawn so far.",
    )
    assert "before" not in found.sentences[3] + found.sentences[4]
    assert found.numbers["change"].isna().all() and found.numbers["before"].isna().all()


def test_the_first_day_without_a_review_and_the_next(tmp_path):
    empty = {"a": ("undecided", {}), "b": ("undecided", {})}
    found = told(tmp_path, {"2019-11-08": empty, "2019-11-09": empty, "2019-11-10": {"a": ("undecided", {"a1": 6})}})
    first = told(tmp_path, {}, snapshot="2019-11-08,2019-11-09")
    assert first.sentences[1] == "No review is in both, so no rating can have changed."
    assert first.sentences[3] == "There is no rating yet."
    assert first.sentences[4] == "2 papers still in have fewer than 3 reviews, as many as before."
    assert found.sentences[0].endswith("1 review of 1 paper, 1 review more than before (1 new, none gone).")
    assert "points" not in found.sentences[3] and "before" not in found.sentences[3]
    assert found.sentences[4] == "1 paper still in has fewer than 3 reviews, 1 paper fewer than before."


def test_decisions_are_told_when_they_came(tmp_path):
    after = {
        "a": ("accepted", BEFORE["a"][1]),
        "b": ("rejected", BEFORE["b"][1]),
        "c": ("accepted", BEFORE["c"][1]),
        "old": ("workshop", {}),
    }
    found = told(tmp_path, {"2019-11-08": BEFORE, "final": after})
    assert found.sentences[0].startswith("ICLR 2020 on 2019-12-23 (final), against 2019-11-08 (release): ")
    assert found.sentences[2].endswith("; decisions came: 2 accepted, 1 rejected, 1 sent to the workshop.")


def test_an_undeclared_scale_is_said_to_be_one(tmp_path):
    database = stored(tmp_path / "reviews.duckdb", {"2026-11-08": BEFORE, "2026-11-09": AFTER}, year=2027)
    found = digest(database, "ICLR", 2027)
    assert (
        "; this year's scale is not declared, so which ratings accept is taken from another year." in found.sentences[3]
    )
    assert any("not described yet" in remark for remark in found.remarks)


def test_where_no_rating_is_known_to_accept_no_share_is_given(tmp_path, monkeypatch):
    from analysis import sample

    load = sample.load

    def undeclared(*args, **more):
        one = load(*args, **more)
        scale = replace(one.form.rating.scale, accept_from=None)
        return replace(one, form=replace(one.form, rating=replace(one.form.rating, scale=scale)))

    monkeypatch.setattr(sample, "load", undeclared)
    found = told(tmp_path, {"2019-11-08": BEFORE, "2019-11-09": AFTER})
    assert found.sentences[3] == "Which ratings are on the accept side is not declared, so their share is not given."
    assert MISSING in printed(found, "table")


def test_the_newest_is_compared_with_the_one_before_or_with_the_one_named(tmp_path):
    days = {"2019-11-08": BEFORE, "2019-11-09": AFTER, "2019-11-10": AFTER}
    newest = told(tmp_path, days)
    assert (newest.before.name, newest.snapshot.name) == ("2019-11-09", "2019-11-10")
    named = told(tmp_path, {}, snapshot="2019-11-09")
    assert (named.before.name, named.snapshot.name) == ("2019-11-08", "2019-11-09")
    both = told(tmp_path, {}, snapshot="release,latest")
    assert (both.before.name, both.snapshot.name) == ("2019-11-08", "2019-11-10")
    for snapshot, said in (("a,b,c", "one snapshot or two"), ("2019-11-11", "no snapshot `2019-11-11`")):
        with pytest.raises(Trouble, match=said):
            told(tmp_path, {}, snapshot=snapshot)


def test_bundled_counts_say_what_they_do_not_know(bundled_store):
    final = digest(bundled_store, "ICLR", 2020)
    assert "has no earlier snapshot of the same reviews to compare with" in final.sentences[0]
    assert final.sentences[1] == "Which ratings changed is not known."
    of_2026 = digest(bundled_store, "ICLR", 2026)
    assert (
        of_2026.sentences[1]
        == "606 of 75,848 ratings changed (0.80 %), 554 up and 52 down; 56 other reviews changed otherwise."
    )
    assert of_2026.sentences[2].endswith("; withdrawals are not known for both snapshots.")
    assert of_2026.sentences[4].startswith("How many papers still have fewer than 3 reviews is not known; reviewers")
    with pytest.raises(Trouble, match="Which reviews of"):
        digest(bundled_store, "ICLR", 2020, "2019-12-01,final")


@pytest.mark.parametrize("year", [2017, 2018, 2019, 2020, 2021, 2022, 2023, 2024, 2026])
def test_every_bundled_year_has_five_whole_sentences(bundled_store, year):
    found = digest(bundled_store, "ICLR", year)
    assert len(found.sentences) == 5
    for sentence in found.sentences:
        assert (
            sentence.endswith(".")
            and not re.search(r"nan|None|<NA>|  |\.\.", sentence)
            and sentence[0] not in "abcdefghijklmnopqrstuvwxyz"
        )


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_holds_the_numbers(tmp_path, format):
    shown = printed(told(tmp_path, {"2019-11-08": BEFORE, "2019-11-09": AFTER}), format)
    assert "ratings changed since the snapshot before" in shown
    assert format == "csv" or "withdrawn" in shown
    if format == "json":
        whole = json.loads(shown)
        assert whole["before"] == "2019-11-08" and len(whole["sentences"]) == 5
        assert whole["numbers"][3] == {"measure": "reviews", "before": 7, "now": 8, "change": 1}


def test_the_page_is_whole_by_itself_and_holds_names_as_text(tmp_path):
    evil = "2019-11-09<img src=x onerror=alert(1)>|`*"
    found = told(tmp_path, {"2019-11-08": BEFORE, "2019-11-09": AFTER})
    found = replace(found, snapshot=replace(found.snapshot, name=evil), sentences=(*found.sentences, evil))
    page, markdown = printed(found, "html"), printed(found, "markdown")
    assert "<img" not in page and "&lt;img src=x" in page and page.count("<!doctype html>") == 1
    assert not re.search(r"(src|href)\s*=\s*[\"']?http|<script|url\(", page) and "default-src 'none'" in page
    assert "<img" not in markdown and r"\|\`\*" in markdown


def test_the_same_store_gives_the_same_words(tmp_path):
    first = told(tmp_path, {"2019-11-08": BEFORE, "2019-11-09": AFTER})
    assert printed(first, "html") == printed(told(tmp_path, {}), "html")
