"""A week of daily snapshots from every version of the reviews of ICLR 2026: what it costs, and what it tells.

On the papers of which a rating changed, and each fortieth of the others; benchmarks/week.py loads them all.
"""

import json
from itertools import pairwise

import pytest
import week

from analysis import archive, fetch, store
from analysis.changes import between, changes
from analysis.compute import Asked, compute
from analysis.digest import digest, printed

EACH = 40


@pytest.fixture(scope="module")
def papers(review_data) -> list[dict]:
    return [paper for paper in week.papers(review_data) if week.has_moved(paper) or paper["number"] % EACH == 0]


@pytest.fixture(scope="module")
def database(papers, tmp_path_factory):
    path = tmp_path_factory.mktemp("week") / "reviews.duckdb"
    for morning in week.MORNINGS:
        load(papers, morning, path)
    return path


def load(papers, morning, database, name="") -> None:
    saved = database.with_name("saved.jsonl")
    week.save(papers, morning, saved)
    asked = fetch.Asked("notes", (saved,), snapshot=name or morning)
    fetch.fetch("ICLR", [week.YEAR], asked, database, lambda line: None)


def snapshots(database) -> list:
    return [one for one in store.held(database, "ICLR", week.YEAR) if one.source == "notes"]


def test_the_week_has_the_606_changed_ratings(database):
    found = changes(database, "ICLR", week.YEAR, week.MORNINGS[0], week.MORNINGS[-1], "notes")
    assert found.moved("rating") == (606, 554, 52) and week.CHANGED == 606


def test_the_series_adds_up_to_what_a_plain_count_of_versions_says(database, papers):
    frame = compute("series", Asked(database, "ICLR", (week.YEAR,), source="notes")).frame
    assert list(frame["snapshot"]) == list(week.MORNINGS) and set(frame["stage"]) == {"release"}
    days = [_ratings(papers, morning) for morning in week.MORNINGS]
    assert list(frame["reviews"]) == [len(day) for day in days]
    changed = [sum(now[key] != was[key] for key in was) for was, now in pairwise(days)]
    assert list(frame["changed"])[1:] == changed and sum(changed) >= 606
    withdrawn = [
        sum(paper["withdrawn"] and paper["mdate"] <= week.moment(morning) for paper in papers)
        for morning in week.MORNINGS
    ]
    assert list(frame["withdrawn"]) == withdrawn and withdrawn[-1] > withdrawn[0]
    assert frame["agreement"].iloc[-1] > frame["agreement"].iloc[0]  # most that move, move towards the others


def _ratings(papers, morning) -> dict[str, int]:
    """The rating of each review by its newest version before that moment."""
    found: dict[str, tuple[int, int]] = {}
    for reply in (reply for paper in papers for reply in paper["replies"]):
        version = reply["tmdate"], reply["content"]["rating"]["value"]
        if reply["tmdate"] <= week.moment(morning):
            found[reply["id"]] = max(found.get(reply["id"], version), version)
    return {key: rating for key, (_, rating) in found.items()}


def test_a_digest_of_each_morning_says_what_the_diff_says(database):
    held = snapshots(database)
    for before, now in pairwise(held):
        told, found = digest(database, "ICLR", week.YEAR, now.name, "notes"), between(database, before, now)
        changed, up, _ = found.moved("rating")
        assert told.before.name == before.name and len(told.sentences) == 5
        assert told.sentences[1].startswith(f"{changed:,} of {found.reviews:,} ratings changed")
        assert f"{up:,} up and" in told.sentences[1]
        numbers = {row["measure"]: row for row in json.loads(printed(told, "json"))["numbers"]}
        assert numbers["reviews"]["now"] == now.reviews
        assert numbers["withdrawn papers"]["change"] == found.outcomes("withdrawn")


def test_a_day_costs_what_changed(database):
    """Each file but the first lists only forums in which something changed; all seven are little more than one."""
    files = archive.kept(archive.folder_of(database))
    sizes = [one.path.stat().st_size for one in files]
    assert len(sizes) == len(week.MORNINGS)
    held = snapshots(database)
    for place, (before, now) in enumerate(pairwise(held), start=1):
        share = between(database, before, now).rows["forum"].nunique() / now.papers
        assert sizes[place] < (share + 0.3) * sizes[0]
    assert (
        sum(sizes) < 2.5 * sizes[0]
    )  # here half of the papers are those that changed; of all papers see the benchmark


def test_the_same_morning_again_costs_nothing(database, papers):
    before = {path: path.stat().st_size for path in database.parent.rglob("*.parquet")}, snapshots(database)
    load(papers, week.MORNINGS[-1], database, name="2025-11-23")
    assert before == ({path: path.stat().st_size for path in database.parent.rglob("*.parquet")}, snapshots(database))
