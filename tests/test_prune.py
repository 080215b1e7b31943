"""Prune: what stays is whole, wherever it was interrupted; what went does not come back."""

import copy
import itertools
import json
import os
from datetime import date, datetime, timedelta
from pathlib import Path

import duckdb
import openreview_notes as made
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as some

from analysis import archive, fetch, store
from analysis.errors import Trouble
from analysis.prune import prune, why_they_stay
from analysis.snapshots import Snapshot
from analysis.spool import gathered

YEAR, PAPERS = 2026, 12
DAYS = [f"2025-11-{day:02d}" for day in range(12, 20)]  # from the 25th on reviews count as discussed


def silent(line: str) -> None:
    pass


def load(database: Path, day: str, documents: list[dict]) -> None:
    saved = database.parent / "saved.jsonl"
    saved.write_text("\n".join(map(json.dumps, documents)))
    fetch.fetch("ICLR", [YEAR], fetch.Asked("notes", (saved,), snapshot=day), database, silent)
    saved.unlink()


def daily(days: int) -> list[list[dict]]:
    """What came on each day: some reviews have a new rating each day, one goes there and back, one comes and one goes."""
    documents = list(made.generate(YEAR, PAPERS, stage="release"))
    found = []
    for day in range(days):
        documents = copy.deepcopy(documents)
        for document in (documents[day % PAPERS], documents[0]):
            review = _reviews(document)[0]
            review["content"]["rating"]["value"] = 2 + 2 * ((day if document is not documents[0] else day % 2) % 4)
            review["tmdate"] += 1 if document is not documents[0] else 0
        if day == 4:
            documents[5]["details"]["replies"].remove(_reviews(documents[5])[1])
        found.append(documents)
    return found


def _reviews(document: dict) -> list[dict]:
    return [
        reply
        for reply in document["details"]["replies"]
        if any(one.endswith("/Official_Review") for one in reply["invitations"])
    ]


def rows(database: Path) -> dict[str, dict[str, list[tuple]]]:
    """All rows of each snapshot, by its name."""
    with store.reading(database) as con:
        return {
            one.name: {
                table: con.execute(
                    f"select * exclude (snapshot_id) from {table} where snapshot_id = {one.snapshot_id} order by all"
                ).fetchall()
                for table in store.TABLES
                if table != "snapshots"
            }
            for one in store.snapshots(con)
            if one.source != "bundled"
        }


@pytest.fixture(scope="module")
def some_days(tmp_path_factory) -> Path:
    database = tmp_path_factory.mktemp("days") / "reviews.duckdb"
    for day, documents in zip(DAYS, daily(len(DAYS)), strict=True):
        load(database, day, documents)
    return database


@pytest.fixture
def database(some_days, tmp_path) -> Path:
    copied = tmp_path / "data" / "reviews.duckdb"
    (copied.parent / "notes" / "iclr-2026").mkdir(parents=True)
    for path in (some_days, *archive.folder_of(some_days).rglob("*.parquet")):
        (copied.parent / path.relative_to(some_days.parent)).write_bytes(path.read_bytes())
    return copied


KEEP = 3
STAYING = [DAYS[0], *DAYS[-KEEP:]]


def test_what_stays_is_unchanged_and_what_went_is_gone_for_good(database):
    before, told = rows(database), []
    frame = prune(database, "ICLR", keep=KEEP, say=told.append)
    assert list(frame.loc[frame["stays"], "snapshot"]) == STAYING and len(frame) == len(DAYS)
    expected = {name: before[name] for name in STAYING}
    assert rows(database) == expected
    assert told[0].startswith("Removed 4 snapshots; ") and told[0].endswith("freed.")
    assert [one.said["name"] for one in archive.kept(archive.folder_of(database))] == STAYING
    fetch.rebuild(database, silent)
    assert rows(database) == expected
    database.unlink()
    fetch.rebuild(database, silent)  # from the notes alone
    assert rows(database) == expected


def test_of_what_went_only_what_others_need_is_left(database):
    folder = archive.folder_of(database)
    before = {path.name: _listed(path) for path in folder.rglob("*.parquet")}
    prune(database, keep=1, say=silent)
    pruned = [one for one in archive._kept_in(folder / "iclr-2026") if one.pruned]
    assert pruned and all(_listed(one.path) < before[one.path.name] for one in pruned[:-1])
    assert sum(_listed(one.path) for one in pruned) < before["0001-2025-11-12.parquet"]


def _listed(path: Path) -> int:
    return duckdb.sql(f"select count(*) from read_parquet('{path}')").fetchall()[0][0]


NOTES = some.dictionaries(
    some.sampled_from(["p", "q", "r"]), some.dictionaries(some.sampled_from("123"), some.integers(1, 2), min_size=1)
)


@settings(max_examples=8, phases=[Phase.generate])  # each example writes and prunes an archive
@given(
    days=some.lists(NOTES, min_size=2, max_size=7),
    going=some.lists(some.sets(some.integers(0, 6)), min_size=1, max_size=3),
)
def test_whatever_goes_the_others_hold_what_they_held(tmp_path_factory, days, going):
    """Any snapshots pruned in any order, with new ones in between: the others give their notes, from this archive alone."""
    folder = tmp_path_factory.mktemp("archive")
    expected: dict[str, list] = {}
    for number, day in enumerate(days):
        expected |= {f"day {number}": _keep(folder, f"day {number}", day)}
        if number < len(going):
            names = {f"day {one}" for one in going[number] if one < number}
            archive.prune(archive.place_of(folder, "ICLR", YEAR), names)
            expected = {name: notes for name, notes in expected.items() if name not in names}
    for _ in range(2):
        found = {one.said["name"]: _held(one) for one in archive.kept(folder)}
        assert found == expected
        names = {f"day {one}" for one in going[-1]}
        archive.prune(archive.place_of(folder, "ICLR", YEAR), names)
        expected = {name: notes for name, notes in expected.items() if name not in names}


def _keep(folder: Path, name: str, day: dict[str, dict[str, int]]) -> list[tuple]:
    page = [
        {"id": forum + note, "forum": forum, "version": version}
        for forum, held in day.items()
        for note, version in held.items()
    ]
    said = {"venue": "ICLR", "year": f"{YEAR}", "name": name}
    with gathered(iter([list(page)]), folder / "gathered") as came, archive.drafted(came, folder, said) as draft:
        draft.keep()
    return sorted((note["forum"], note["id"], note["version"]) for note in page)


def _held(one: archive.Kept) -> list[tuple]:
    notes = [note for batch in one.batches() for forum in batch for note in forum]
    return sorted((note["forum"], note["id"], note["version"]) for note in notes)


def test_the_next_day_is_fetched_as_if_nothing_had_been_pruned(database, some_days, tmp_path):
    following = daily(len(DAYS) + 1)[-1]
    prune(database, keep=2, say=silent)
    load(database, "2025-11-20", following)
    whole = tmp_path / "whole" / "reviews.duckdb"
    whole.parent.mkdir()
    load(whole, "2025-11-20", following)
    assert rows(database)["2025-11-20"] == rows(whole)["2025-11-20"]
    fetch.rebuild(database, silent)
    assert list(rows(database)) == [DAYS[0], *DAYS[-2:], "2025-11-20"]


def test_a_snapshot_that_went_can_be_loaded_again(database):
    before = rows(database)
    prune(database, keep=KEEP, say=silent)
    load(database, DAYS[2], daily(3)[2])
    assert rows(database)[DAYS[2]] == before[DAYS[2]]
    fetch.rebuild(database, silent)
    assert rows(database)[DAYS[2]] == before[DAYS[2]]


def test_pruning_again_frees_what_is_needed_no_more(database):
    prune(database, keep=KEEP, say=silent)
    prune(database, keep=0, say=silent)
    once = sorted(rows(database))
    assert once == [DAYS[0], DAYS[-1]]
    files = {path.name: path.stat().st_size for path in archive.folder_of(database).rglob("*.parquet")}
    told: list[str] = []
    prune(database, keep=0, say=told.append)
    assert told == ["Nothing to remove."]
    assert files == {path.name: path.stat().st_size for path in archive.folder_of(database).rglob("*.parquet")}


def test_interrupted_anywhere_nothing_that_stays_is_lost_and_the_next_run_ends_it(some_days, tmp_path, monkeypatch):
    """Stopped before each step that changes a file, one after the other, until one run goes through."""
    before = rows(some_days)
    expected = {name: before[name] for name in STAYING}
    replace, unlink = os.replace, Path.unlink
    for stop in itertools.count():
        place = tmp_path / str(stop) / "reviews.duckdb"
        (place.parent / "notes" / "iclr-2026").mkdir(parents=True)
        for path in (some_days, *archive.folder_of(some_days).rglob("*.parquet")):
            (place.parent / path.relative_to(some_days.parent)).write_bytes(path.read_bytes())
        steps = itertools.count()
        monkeypatch.setattr(os, "replace", _stopping(replace, steps, stop))
        monkeypatch.setattr(Path, "unlink", _stopping(unlink, steps, stop))
        try:
            prune(place, keep=KEEP, say=silent)
            done = True
        except KeyboardInterrupt:
            done = False
        monkeypatch.undo()
        held = rows(place)
        assert {name: held[name] for name in STAYING} == expected
        rebuilt = place.with_name("rebuilt") / "reviews.duckdb"
        rebuilt.parent.mkdir()
        (rebuilt.parent / "notes").symlink_to(place.parent / "notes")
        if stop in (1, 3) or done:  # a rebuild takes its time
            fetch.rebuild(rebuilt, silent)
            assert {name: rows(rebuilt)[name] for name in STAYING} == expected
        prune(place, keep=KEEP, say=silent)
        assert rows(place) == expected
        assert [one.said["name"] for one in archive.kept(archive.folder_of(place))] == STAYING
        if done:
            break
    assert stop >= 5  # files of notes, and two databases


def _stopping(step, steps, stop: int):
    """A step that changes files, which stops before it does so for the `stop`th time."""

    def run(path, *args, **more):
        changes_nothing = step.__name__ == "unlink" and Path(path).suffix != ".parquet"
        if not changes_nothing and next(steps) == stop:
            raise KeyboardInterrupt
        return step(path, *args, **more)

    return run


def test_a_dry_run_changes_nothing(database):
    before = {path: path.read_bytes() for path in database.parent.rglob("*") if path.is_file()}
    frame = prune(database, keep=KEEP, dry_run=True, say=silent)
    assert list(frame.loc[~frame["stays"], "snapshot"]) == DAYS[1:5]
    assert before == {path: path.read_bytes() for path in database.parent.rglob("*") if path.is_file()}


def test_bundled_snapshots_and_what_others_made_in_the_database_stay(database, bundled_store):
    fetch.load_bundled([2020], database)
    con = duckdb.connect(str(database))
    con.execute("create view mine as select count(*) as n from reviews")
    con.execute("create table notes_of_mine as select 'read this' as text")
    con.close()
    prune(database, keep=0, say=silent)
    with store.reading(database) as con:
        assert con.execute("select text from notes_of_mine").fetchall() == [("read this",)]
        assert con.execute("select n > 0 from mine").fetchall() == [(True,)]
        assert [one.name for one in store.snapshots(con, "ICLR", 2020)] == ["2019-11-08", "2019-12-01", "final"]


def test_a_paper_that_vanished_keeps_its_outcome(tmp_path):
    """Withdrawn on the second day and gone on the third: the second is the last to know."""
    database = tmp_path / "reviews.duckdb"
    documents = list(made.generate(YEAR, PAPERS, stage="release"))
    kept = next(one for one in documents if not one["content"]["venueid"]["value"].endswith("Withdrawn_Submission"))
    withdrawn = copy.deepcopy(kept)
    withdrawn["content"]["venueid"]["value"] = "ICLR.cc/2026/Conference/Withdrawn_Submission"
    others = [one for one in documents if one is not kept]
    days = [[kept, *others], [withdrawn, *others], others, _changed(others, 1), _changed(others, 2)]
    for day, documents in zip(DAYS, days, strict=False):
        load(database, day, documents)
    before = rows(database)
    frame = prune(database, keep=1, say=silent)
    assert list(frame["stays"]) == [True, True, False, False, True]
    assert frame.loc[1, "because"] == "the last to know what became of some paper"
    fetch.rebuild(database, silent)
    assert rows(database) == {name: before[name] for name in (DAYS[0], DAYS[1], DAYS[4])}


def _changed(documents: list[dict], by: int) -> list[dict]:
    documents = copy.deepcopy(documents)
    _reviews(documents[0])[0]["tmdate"] += by
    return documents


def test_of_each_stage_the_first_and_the_last_stay():
    stages = ["release"] * 5 + ["discussed"] * 3 + ["final"] * 3
    taken = [
        _snapshot(number, date(2025, 11, 1) + timedelta(days=9 * number), stage) for number, stage in enumerate(stages)
    ]
    reasons = why_they_stay(taken, keep=7, informed=set())
    assert [number for number, why in reasons.items() if why] == [0, 4, 5, 7, 8, 10]
    assert reasons[0] == "first of release" and reasons[10] == "last of final"
    assert why_they_stay(taken[:1], 0, set()) == {0: "first of release"}
    assert sum(map(bool, why_they_stay(taken, 10**4, set()).values())) == len(taken)


def _snapshot(number: int, day: date, stage: str) -> Snapshot:
    taken = datetime(day.year, day.month, day.day)
    return Snapshot(number, "ICLR", 2026, f"{day}", stage, taken, "api", "none", "openreview", "openreview", 1, 1, "")


@pytest.mark.parametrize(
    ("more", "said"), [({"keep": -1}, "0 or more"), ({"years": (2020,)}, "no fetched snapshot of 2020")]
)
def test_trouble_is_one_sentence(database, more, said):
    with pytest.raises(Trouble, match=said):
        prune(database, **more)


def test_there_is_nothing_to_prune_in_a_folder_or_where_nothing_was_fetched(bundled_store, tmp_path):
    with pytest.raises(Trouble, match="no fetched snapshot of any year"):
        prune(bundled_store)
    with pytest.raises(Trouble, match="no database"):
        prune(tmp_path)
