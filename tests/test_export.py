"""Export: the same tables as Parquet, read back with the same results."""

import json
import re
from dataclasses import replace
from datetime import datetime

import duckdb
import openreview_notes as made
import pandas as pd
import pytest

from analysis import fetch, store
from analysis.compute import Asked, compute
from analysis.errors import Trouble
from analysis.export import export
from analysis.intake import take_in
from analysis.sources import bundled, notes
from analysis.statistics import statistics
from analysis.venues import venue_year


@pytest.fixture(scope="module")
def exported(bundled_store, tmp_path_factory):
    folder = tmp_path_factory.mktemp("exports") / "all"
    export(bundled_store, folder, bundled.VENUE, tuple(bundled.years()))
    return folder


@pytest.mark.parametrize("name", list(statistics()))
def test_every_statistic_is_the_same_on_the_folder_as_on_the_database(bundled_store, exported, name):
    if statistics()[name].takes == "ratings":
        pytest.skip(f"{name} is about the ratings of one paper, which `stand` takes.")
    for years in ((2018,), (2020,)):
        asked = Asked(bundled_store, "ICLR", years)
        ours, theirs = (_result(name, one) for one in (asked, replace(asked, database=exported)))
        assert type(ours) is type(theirs)
        if isinstance(ours, str):
            assert ours == theirs
        else:
            pd.testing.assert_frame_equal(ours, theirs, check_exact=True)


def _result(name: str, asked: Asked) -> pd.DataFrame | str:
    try:
        return compute(name, asked).frame
    except Trouble as trouble:
        return str(trouble)


def test_the_tables_are_the_same_row_by_row(bundled_store, exported):
    with store.reading(bundled_store) as ours, store.reading(exported) as theirs:
        for table in store.TABLES:
            query = f"select * from {table} order by all"
            assert ours.execute(query).fetchall() == theirs.execute(query).fetchall(), table


def test_venue_and_year_are_partitions_that_clash_with_no_column(exported):
    for table in store.TABLES:
        files = f"read_parquet('{exported}/{table}/**/*.parquet', hive_partitioning = true)"
        names = [row[0] for row in duckdb.sql(f"select column_name from (describe select * from {files})").fetchall()]
        assert len(set(names)) == len(names) and {"venue", "year"} <= set(names), table
        inside = f"describe select * from read_parquet('{exported}/{table}/**/*.parquet', hive_partitioning = false)"
        within = {row[0] for row in duckdb.sql(f"select column_name from ({inside})").fetchall()}
        assert within.isdisjoint({"venue", "year"}) or table == "snapshots"
    of_2020 = f"select count(*) from read_parquet('{exported}/reviews/**/*.parquet', hive_partitioning = true) where year = 2020"
    assert duckdb.sql(of_2020).fetchall() == [(7693 + 7770 + 7775,)]


def test_years_narrow_it_and_an_earlier_export_is_replaced(bundled_store, tmp_path):
    for years, held in (((2017,), {2017}), ((2019, 2020), {2019, 2020})):
        export(bundled_store, tmp_path / "some", "ICLR", years)
        assert {one.year for one in store.held(tmp_path / "some")} == held
        assert fetch.available_years(tmp_path / "some", "ICLR") == sorted(held)
    assert [path.name for path in tmp_path.iterdir()] == ["some"]


def test_an_export_that_fails_leaves_the_earlier_one(bundled_store, tmp_path, monkeypatch):
    folder = tmp_path / "kept"
    export(bundled_store, folder, "ICLR", (2017,))

    def full(con, table, some, place):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("analysis.export._copy", full)
    with pytest.raises(Trouble, match="No space left"):
        export(bundled_store, folder, "ICLR", (2020,))
    assert [one.year for one in store.held(folder)] == [2017]
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_a_folder_of_somebody_else_is_not_touched(bundled_store, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(Trouble, match="give another --to"):
        export(bundled_store, tmp_path, "ICLR", (2017,))
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_nothing_to_export_is_one_sentence(bundled_store, tmp_path):
    with pytest.raises(Trouble, match="no such snapshot"):
        export(bundled_store, tmp_path / "none", "CoRL")
    assert not (tmp_path / "none").exists()


def test_neither_texts_nor_identities_are_in_it(tmp_path):
    """What was fetched, with all its prose and names, leaves only numbers, titles and words of a list."""
    documents = list(made.generate(2020, 40, stage="final"))
    saved, database = tmp_path / "saved.jsonl", tmp_path / "data" / "reviews.duckdb"
    saved.write_text("\n".join(json.dumps(document) for document in documents))
    form = venue_year("ICLR", 2020)
    pages = notes.pages([saved], form, lambda line: None)
    take_in(pages, form, "final", "final", datetime(2020, 1, 1), "notes", database, lambda line: None)
    export(database, tmp_path / "out")
    told = "\n".join(_everything(tmp_path / "out"))
    names = {author for document in documents for author in document["content"]["authors"]}
    replies = [reply for document in documents for reply in document["details"]["replies"]]
    prose = {reply["content"]["review"] for reply in replies if "review" in reply["content"]}
    prose |= {document["content"]["abstract"] for document in documents}
    assert names and len(prose) > 40
    assert not [text for text in names | prose if text in told]
    assert not re.search(r"~[A-Z]\w+\d", told) and not re.search(r"[\w.]+@[\w-]+\.\w+", told)


def _everything(folder):
    for path in folder.rglob("*.parquet"):
        yield str(duckdb.sql(f"select * from read_parquet('{path}', hive_partitioning = false)").fetchall())
