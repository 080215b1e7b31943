"""Pages are read into rows while others come: the same rows as without, and no process is left behind."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import openreview_notes
import psutil
import pytest
from fetcher import Fetcher
from openreview_standin import Fault
from test_fetch_resume import everything, files, iclr_2020

from analysis import ahead
from analysis.forms import flatten, read_forum, scrub
from analysis.spool import gathered, notes_of
from analysis.venues import venue_year

FORM = venue_year("ICLR", 2026)


@pytest.fixture
def pages() -> list[list[dict]]:
    """Three pages; some papers of the first one come again on the last, with other notes."""
    papers = [[scrub(note) for note in flatten(whole)] for whole in openreview_notes.generate(2026, 60)]
    moved = [[note | {"tmdate": 1_800_000_000_000, "content": {}} for note in paper[:2]] for paper in papers[:20:3]]
    parts = papers[:20], papers[20:40], papers[40:] + moved
    return [[note for paper in part for note in paper] for part in parts]


def read(folder: Path, pages: list[list[dict]], watch=lambda one: None) -> tuple[list, list]:
    """The rows read ahead, and those read from the notes at the end."""
    with gathered([], folder / "spool") as came:
        for page in pages:
            came.add([*page])
            ahead.read_ahead(came, FORM)
        watch(came.ahead)
        rows = list(ahead.rows_of(came, FORM))
        return rows, [read_forum(notes_of(forum), FORM) for forum in came.by_forum()]


def test_rows_read_ahead_are_those_of_the_notes(tmp_path, monkeypatch, pages):
    monkeypatch.setattr(ahead, "WORTH", len(pages[0]) + 1)  # begins with the second page, and reads the first one too
    done = []
    monkeypatch.setattr(ahead.Ahead, "pages", lambda self, whole=ahead.Ahead.pages: done.append(whole(self)) or done[0])
    rows, expected = read(tmp_path, pages)
    assert rows == expected and len(rows) == 60
    assert len(done) == 1 and len(done[0]) == 3 and not list(tmp_path.iterdir())


def test_where_that_fails_the_notes_are_read_at_the_end(tmp_path, monkeypatch, pages):
    monkeypatch.setattr(ahead, "WORTH", 0)

    def kill(one: ahead.Ahead) -> None:
        one._process.kill()
        one._process.wait()

    rows, expected = read(tmp_path, pages, kill)
    assert rows == expected and len(rows) == 60
    monkeypatch.setattr(ahead.sys, "executable", str(tmp_path / "no such program"))
    rows, expected = read(tmp_path, pages, lambda one: one is None or pytest.fail("no program, but a process"))
    assert rows == expected


def test_few_notes_start_no_process(tmp_path, pages):
    read(tmp_path, pages, lambda one: one is None or pytest.fail("a process for three small pages"))


def started(parent: psutil.Process, wait: bool) -> set[psutil.Process]:
    """The processes that one has started to read ahead, as soon as there is any, or by its end."""
    seen = set()
    with suppress(psutil.NoSuchProcess):
        while parent.status() != psutil.STATUS_ZOMBIE and (wait or not seen):
            seen |= {one for one in parent.children() if "analysis.ahead" in one.cmdline()}
            time.sleep(0.002)
    return seen


@pytest.mark.parametrize("number", [0, signal.SIGKILL, signal.SIGINT])
def test_a_fetch_leaves_no_process_behind_however_it_ends(tmp_path, number):
    """And the process knows no password."""
    place = ("--source", "api", "--years", 2020, "--database", tmp_path / "reviews.duckdb")
    stalled = [Fault("stall", after=3, times=99, seconds=3)] if number else []
    with Fetcher() as fetcher, iclr_2020(faults=stalled) as server:
        parent = psutil.Process(fetcher.start(*place, environment=server.environment, worth=0))
        (reader,) = started(parent, wait=not number)
        if number:
            assert "not-a-secret" not in reader.environ().values()
            os.kill(parent.pid, number)
        assert fetcher.result().status == {0: 0, signal.SIGKILL: -9, signal.SIGINT: 130}[number]
        reader.wait(5)
        server.faults.clear()
        assert fetcher.run(*place, environment=server.environment, worth=0).status == 0
    with Fetcher() as fetcher, iclr_2020() as server:
        alone = ("--source", "api", "--years", 2020, "--database", tmp_path / "alone" / "reviews.duckdb")
        assert fetcher.run(*alone, environment=server.environment).status == 0
    assert everything(tmp_path) == everything(tmp_path / "alone")
    assert not [name for name in files(tmp_path) if "rows" in name or name.endswith(".notes")]
