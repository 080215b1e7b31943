"""The bundled source: anonymous papers that are exactly the counted ones."""

import csv
import hashlib

import pytest

from analysis import fetch, store
from analysis.errors import Trouble
from analysis.sources import bundled


def test_every_snapshot_holds_the_papers_and_reviews_that_snapshots_csv_says(bundled_store):
    with open(bundled.FOLDER / "snapshots.csv", newline="") as file:
        said = {
            (int(row["year"]), row["snapshot"]): (int(row["papers"]), int(row["reviews"]), row["outcomes"])
            for row in csv.DictReader(file)
        }
    held = {(one.year, one.name): (one.papers, one.reviews, one.outcomes) for one in store.held(bundled_store)}
    assert held == said


def test_a_paper_keeps_its_id_and_a_linked_review_too(bundled_store):
    with store.reading(bundled_store) as con:
        both = con.execute(
            """
            select count(*), sum((a.rating <> b.rating)::int)
            from reviews a join reviews b using (review_id)
            join snapshots s on s.snapshot_id = a.snapshot_id join snapshots t on t.snapshot_id = b.snapshot_id
            where s.name = '2019-11-08' and t.name = '2019-12-01'
            """
        ).fetchall()
        unlinked = con.execute(
            """
            select count(*) from reviews a join reviews b using (review_id)
            join snapshots s on s.snapshot_id = a.snapshot_id join snapshots t on t.snapshot_id = b.snapshot_id
            where s.name = '2019-11-08' and t.name = 'final' and t.year = 2020
            """
        ).fetchall()
    assert both == [(7690, 907)]  # the published count of changed ratings, 11.79 %
    assert unlinked == [(0,)]


def test_an_absent_paper_is_not_listed_and_one_without_reviews_is(bundled_store):
    with store.reading(bundled_store) as con:
        counts = con.execute(
            """
            select name, count(*), count(*) filter (where not exists (
                select 1 from reviews r where r.snapshot_id = s.snapshot_id and r.paper = s.paper))
            from submissions s join snapshots using (snapshot_id) where year in (2024, 2026) group by name order by name
            """
        ).fetchall()
    assert {name: papers for name, papers, _ in counts} == {
        "2023-11-10": 7304,
        "2023-11-27": 7262,
        "2025-11-17": 19630,
        "2025-11-22": 19630,
    }
    assert [none for name, _, none in counts if name.startswith("2025")] == [158, 158]


def test_loading_again_changes_no_byte(tmp_path):
    database = tmp_path / "reviews.duckdb"
    fetch.load_bundled([2017], database)
    before = hashlib.sha256(database.read_bytes()).hexdigest()
    fetch.load_bundled([2017], database)
    assert hashlib.sha256(database.read_bytes()).hexdigest() == before


def test_a_year_that_is_not_bundled_is_told():
    with pytest.raises(Trouble, match="ICLR 2025 is not bundled; bundled are 2017"):
        bundled.described(2025)
