"""Large answers are read by processes of their own: the same notes and rows as without, and no process is left behind."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import duckdb
import openreview_notes
import orjson
import psutil
import pytest
from fetcher import Fetcher
from openreview_standin import Fault
from test_fetch_resume import everything, files, iclr_2020

from analysis import ahead, archive
from analysis.errors import Trouble
from analysis.forms import read_forum
from analysis.spool import Spool, made, notes_of, opened
from analysis.venues import venue_year

FORM = venue_year("ICLR", 2026)


@pytest.fixture
def bodies() -> list[bytes]:
    """Five answers; some papers of the first one come again on the last, changed."""
    papers = list(openreview_notes.generate(2026, 100))
    moved = [paper | {"tmdate": 1_800_000_000_000, "number": 7} for paper in papers[:20:3]]
    parts = papers[:20], papers[20:40], papers[40:60], papers[60:80], papers[80:] + moved
    return [orjson.dumps({"notes": part, "count": 100}) for part in parts]


def filled(path: Path, bodies: list[bytes], watch=lambda reader, number: None) -> Spool:
    """A spool with these answers."""
    spool = made(path, {})
    with ahead.Ahead(spool, FORM) as reader:
        for number, body in enumerate(bodies):
            said = reader.parsed(body)
            assert said["count"] == 100
            assert [note["id"] for note in said["notes"]] == [note["id"] for note in orjson.loads(body)["notes"]]
            reader.add(said["notes"], {"after": number})
            watch(reader, number)
    spool.finish()
    return spool


def notes_and_rows(spool: Spool) -> tuple[list, list]:
    return list(spool.by_forum()), list(ahead.rows_of(spool, FORM))


def test_what_processes_make_of_answers_is_what_is_made_here(tmp_path, monkeypatch, bodies):
    here = filled(tmp_path / "here", bodies)
    assert not here.has_rows
    monkeypatch.setattr(ahead, "LARGE", len(bodies[1]))  # the first answers; a later one is small
    small = orjson.dumps({"notes": orjson.loads(bodies[3])["notes"][:1], "count": 100})
    assert filled(tmp_path / "mixed", [bodies[1], small, *bodies]).has_rows
    monkeypatch.setattr(ahead, "LARGE", 0)
    there = filled(tmp_path / "there", bodies)
    forums, rows = notes_and_rows(there)
    assert (forums, rows) == notes_and_rows(here) and len(rows) == 100
    assert rows == [read_forum(notes_of(forum), FORM) for forum in forums]
    assert (tmp_path / "there").read_bytes() == (tmp_path / "here").read_bytes()  # marks and cursors, too
    assert [(forum, keys) for forum, keys, _ in there.rows()] == [
        (forum, [one[:2] for one in versions]) for forum, versions in forums
    ]
    assert there.restricted == here.restricted > 0 and there.papers == here.papers == 107


def test_two_processes_take_turns_and_end(tmp_path, monkeypatch, bodies):
    monkeypatch.setattr(ahead, "LARGE", 0)
    seen = set()
    filled(tmp_path / "spool", bodies, lambda one, number: seen.update(r._process for r, _ in one._busy)).close()
    assert len(seen) == ahead.PROCESSES and all(process.poll() is not None for process in seen)


def test_small_answers_start_no_process(tmp_path, bodies):
    filled(tmp_path / "spool", bodies, lambda one, number: one._busy and pytest.fail("a process")).close()


@pytest.mark.parametrize("body", [b"<html>", b'{"notes": [{"id": 1}]}', b'{"name": "Error"}', b"[]", b""])
def test_an_answer_that_is_no_page_is_told_as_it_is(tmp_path, monkeypatch, bodies, body):
    monkeypatch.setattr(ahead, "LARGE", 0)
    with ahead.Ahead(made(tmp_path / "spool", {}), FORM) as reader:
        assert reader.parsed(body) == ahead.parsed(body)
        reader.add(reader.parsed(bodies[0])["notes"], {})  # and the process goes on
    assert len(opened(tmp_path / "spool").pages) == 1


def test_a_page_that_is_not_wanted_is_not_written(tmp_path, monkeypatch, bodies):
    monkeypatch.setattr(ahead, "LARGE", 0)
    spool = made(tmp_path / "spool", {})
    with ahead.Ahead(spool, FORM) as reader:
        reader.parsed(bodies[0])
        reader.add(reader.parsed(bodies[1])["notes"], {})
        reader.parsed(bodies[2])
    assert spool.papers == 20 and len(spool.pages) == 1


def test_where_no_process_can_be_started_answers_are_read_here(tmp_path, monkeypatch, bodies):
    expected = notes_and_rows(filled(tmp_path / "here", bodies))
    monkeypatch.setattr(ahead, "LARGE", 0)
    monkeypatch.setattr(ahead.sys, "executable", str(tmp_path / "no such program"))
    assert notes_and_rows(filled(tmp_path / "spool", bodies)) == expected
    monkeypatch.setattr(ahead.sys, "executable", "/bin/false")  # one that ends at once
    assert notes_and_rows(filled(tmp_path / "other", bodies)) == expected


def test_a_process_that_dies_loses_its_page_and_no_other(tmp_path, monkeypatch, bodies):
    """What came before is kept, and the fetch can go on from there."""
    monkeypatch.setattr(ahead, "LARGE", 0)
    made_by = ahead._Reader.made

    def kill(reader: ahead._Reader) -> object:
        said = made_by(reader)
        if len(written) == 2:
            reader._process.kill()
            reader._process.wait()
        written.append(said)
        return said

    written = []
    monkeypatch.setattr(ahead._Reader, "made", kill)
    monkeypatch.setattr(ahead._Reader, "pieces", lambda self, size, whole=ahead._Reader.pieces: (
        whole(self, size if self._process.poll() is None else size + 1)
    ))  # fmt: skip
    with pytest.raises(Trouble, match="ended early, perhaps for want of memory: run the same command again"):
        filled(tmp_path / "spool", bodies)
    found = opened(tmp_path / "spool")
    assert found.cursor == {"after": 1} and found.papers == 40 and not found.complete


def test_what_came_in_order_goes_into_the_archive_as_it_is(tmp_path, monkeypatch, bodies):
    """And gives the same file as what is put in order first."""

    def kept(name: str, bodies: list[bytes]) -> tuple[list[tuple], list, str]:
        said = {"venue": "ICLR", "year": "2026", "name": name, "stage": "final"}
        came = filled(tmp_path / f"{name}.notes", bodies)
        with archive.drafted(came, tmp_path / name, said) as draft:
            draft.keep()
        (found,) = archive.kept(tmp_path / name)
        rows = duckdb.sql(f"select * from read_parquet('{found.path}')").fetchall()
        return rows, [note for batch in found.batches() for note in batch], found.said["digest"]

    assert filled(tmp_path / "a", bodies[:4]).in_order and not filled(tmp_path / "b", bodies).in_order
    changed = archive._changed
    monkeypatch.setattr(archive, "_changed", lambda *given: pytest.fail("put in order again"))
    in_order = kept("in-order", bodies[:4])
    monkeypatch.setattr(archive, "_changed", changed)
    assert kept("other-way", bodies[3::-1]) == in_order and len(in_order[0]) > 400


def started(parent: psutil.Process, wait: bool) -> set[psutil.Process]:
    """The processes that one has started to read answers, as soon as there is any, or by its end."""
    seen = set()
    with suppress(psutil.NoSuchProcess):
        while parent.status() != psutil.STATUS_ZOMBIE and (wait or not seen):
            seen |= {one for one in parent.children() if "analysis.ahead" in one.cmdline()}
            time.sleep(0.002)
    return seen


@pytest.mark.parametrize("number", [0, signal.SIGKILL, signal.SIGINT])
def test_a_fetch_leaves_no_process_behind_however_it_ends(tmp_path, number):
    """And they know no password."""
    place = ("--source", "api", "--years", 2020, "--database", tmp_path / "reviews.duckdb")
    stalled = [Fault("stall", after=3, times=99, seconds=3)] if number else []
    with Fetcher() as fetcher, iclr_2020(faults=stalled) as server:
        parent = psutil.Process(fetcher.start(*place, environment=server.environment, large=0))
        readers = started(parent, wait=not number)
        if number:
            assert not any("not-a-secret" in reader.environ().values() for reader in readers)
            os.kill(parent.pid, number)
        assert fetcher.result().status == {0: 0, signal.SIGKILL: -9, signal.SIGINT: 130}[number]
        assert readers and not psutil.wait_procs(readers, 5)[1]
        server.faults.clear()
        assert fetcher.run(*place, environment=server.environment, large=0).status == 0
    with Fetcher() as fetcher, iclr_2020() as server:
        alone = ("--source", "api", "--years", 2020, "--database", tmp_path / "alone" / "reviews.duckdb")
        assert fetcher.run(*alone, environment=server.environment).status == 0
    assert everything(tmp_path) == everything(tmp_path / "alone")
    assert not [name for name in files(tmp_path) if "rows" in name or name.endswith(".notes")]
