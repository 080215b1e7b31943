"""A fetch that is killed, stopped or cut off anywhere goes on, and ends with the same rows as an undisturbed one."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fetcher import Done, Fetcher
from openreview_standin import Fault, StandIn, VenueYear
from test_fetch import rows

from analysis import fetch, spool, store
from analysis.errors import Trouble
from analysis.spool import _sealed, gathered, made, notes_of, opened

PAPERS, PAGES = 90, 5  # of twenty submissions; some are withdrawn, none is desk-rejected
LEFT = ["notes/fetch.lock", "notes/iclr-2020/0001-final.parquet", "reviews.duckdb", "reviews.duckdb.lock"]


@pytest.fixture(scope="module")
def fetcher() -> Iterator[Fetcher]:
    with Fetcher() as started:
        yield started


@contextmanager
def iclr_2020(**more) -> Iterator[StandIn]:
    with StandIn(years=[VenueYear(2020, PAPERS)], **more) as server:
        yield server


def run(fetcher: Fetcher, server: StandIn, folder: Path, *more: object, **how) -> Done:
    arguments = ("--source", "api", "--years", 2020, "--database", folder / "reviews.duckdb", *more)
    return fetcher.run(*arguments, environment=server.environment, **how)


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def everything(folder: Path) -> dict:
    """All rows, and what the snapshot says of itself but for when it was taken."""
    with store.reading(folder / "reviews.duckdb") as con:
        snapshots = con.execute("select * exclude (snapshot_id, taken_at) from snapshots").fetchall()
    return rows(folder / "reviews.duckdb") | {"snapshots": snapshots}


@pytest.fixture(scope="module")
def undisturbed(fetcher, tmp_path_factory) -> tuple[dict, Done]:
    folder = tmp_path_factory.mktemp("undisturbed")
    with iclr_2020() as server:
        done = run(fetcher, server, folder)
        assert (done.status, done.out) == (0, ""), done.err
    assert files(folder) == LEFT
    return everything(folder), done


# Killed and stopped ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seed", "number"), [(seed, signal.SIGKILL) for seed in range(8)] + [(seed, signal.SIGINT) for seed in range(4)]
)
def test_killed_anywhere_it_goes_on(fetcher, undisturbed, tmp_path, seed, number):
    """At the first steps, at the last one, and at places in between; and again while it goes on."""
    expected, whole = undisturbed
    rng = random.Random(seed)
    at = [3, whole.steps - 1][seed] if seed < 2 else rng.randrange(4, whole.steps - 1)
    with iclr_2020() as server:
        first = run(fetcher, server, tmp_path, kill_at=at, signal=number)
        assert first.status == (-9 if number == signal.SIGKILL else 130) and "Traceback" not in first.err, first.err
        run(fetcher, server, tmp_path, kill_at=rng.randrange(4, whole.steps), signal=number)
        last = run(fetcher, server, tmp_path)
        assert last.status == 0, last.err
        assert everything(tmp_path) == expected
        # Whatever was whole is not asked for again, but for the page of each interruption.
        assert server.count("/notes") <= (PAGES + 2 + 2) * (1 + (second_snapshot := "same notes already" in last.err))
    assert files(tmp_path) == LEFT, second_snapshot


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("wait", [0.05, 0.3, 0.6])
def test_killed_from_outside_at_any_time_it_goes_on(fetcher, undisturbed, tmp_path, wait, number):
    """Also in the middle of a request or of a query."""
    with iclr_2020() as server:
        place = ("--source", "api", "--years", 2020, "--database", tmp_path / "reviews.duckdb")
        process = fetcher.start(*place, environment=server.environment)
        time.sleep(wait)
        with contextlib.suppress(ProcessLookupError):  # on a quick machine it may be done by then
            os.kill(process, number)
        first = fetcher.result()
        assert first.status in (0, -9, 130) and "Traceback" not in first.err, first.err
        last = run(fetcher, server, tmp_path)
    assert last.status == 0 and everything(tmp_path) == undisturbed[0] and files(tmp_path) == LEFT


@pytest.mark.parametrize("cut", [1, 2, 300, 3000, 20_000])
@pytest.mark.parametrize("filled", [b"", bytes(500)])
def test_a_torn_tail_is_not_taken_for_a_page(fetcher, undisturbed, tmp_path, cut, filled):
    """A power cut leaves the end of the file unwritten, or full of zeros."""
    with iclr_2020(faults=[Fault("html", after=4)]) as server:
        assert run(fetcher, server, tmp_path).status == 1
        (path,) = tmp_path.rglob("fetched.notes")
        path.write_bytes(path.read_bytes()[:-cut] + filled)
        kept = len(opened(path).pages)
        assert kept < 4
        last = run(fetcher, server, tmp_path)
        assert last.status == 0 and server.count("/notes") == 5 + (PAGES - kept) + 1 + 2
    assert everything(tmp_path) == undisturbed[0] and files(tmp_path) == LEFT


def test_what_stopped_at_max_wait_goes_on(fetcher, undisturbed, tmp_path):
    with iclr_2020(faults=[Fault("429", after=3, times=2, retry_after=1800)]) as server:
        stopped = run(fetcher, server, tmp_path, "--max-wait", 20)
        assert stopped.status == 1 and "--max-wait 20 minutes" in stopped.err.splitlines()[-1]
        assert files(tmp_path) == ["notes/fetch.lock", "notes/iclr-2020/fetched.notes"]
        last = run(fetcher, server, tmp_path)
    assert last.status == 0 and "going on after 3 pages of 20" in last.err
    assert "going on in ICLR.cc/2020/Conference/-/Blind_Submission after 60 submissions" in last.err
    assert everything(tmp_path) == undisturbed[0] and files(tmp_path) == LEFT


def test_pages_are_not_asked_for_again_to_go_on_with_what_is_unreadable(fetcher, tmp_path):
    notes = list(VenueYear(2020, PAPERS))
    for note in notes:
        for reply in note["details"]["replies"]:
            reply["content"].pop("rating", None)
    with StandIn(notes) as server:
        stopped = run(fetcher, server, tmp_path)
        assert stopped.status == 1 and "go on with --unreadable" in stopped.err
        asked = len(server.requests)
        assert run(fetcher, server, tmp_path, "--unreadable").status == 0
        assert len(server.requests) == asked
    assert files(tmp_path) == LEFT


def test_nothing_is_left_where_nothing_came(fetcher, tmp_path):
    with iclr_2020(faults=[Fault("html")]) as server:
        assert run(fetcher, server, tmp_path).status == 1
    assert files(tmp_path) == ["notes/fetch.lock"]


def test_years_that_were_done_before_the_interruption_are_not_fetched_again(fetcher, tmp_path):
    with StandIn(years=[VenueYear(2019, 30), VenueYear(2020, 30)], faults=[Fault("html", after=4)]) as server:
        place = ("--source", "api", "--years", "2019,2020", "--database", tmp_path / "reviews.duckdb")
        assert fetcher.run(*place, environment=server.environment).status == 1
        assert [one.year for one in store.held(tmp_path / "reviews.duckdb")] == [2019]
        last = fetcher.run(*place, environment=server.environment)
        assert last.status == 0 and "ICLR 2019 was fetched before the interruption." in last.err
    assert [one.year for one in store.held(tmp_path / "reviews.duckdb")] == [2019, 2020]


# How long, and for what -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "more", "reason"),
    [
        ({"started": "2026-01-01T00:00:00"}, (), "are more than 12 hours old, and scores move: starting anew"),
        ({"started": "2126-01-01T00:00:00"}, (), "starting anew"),
        ({"version": "0.0.1"}, (), "of another snapshot, server or version of the suite: starting anew"),
        ({"address": "https://api.openreview.net"}, (), "starting anew"),
        ({}, ("--snapshot", "first-day"), "of another snapshot"),
    ],
)
def test_pages_of_another_time_or_place_are_not_gone_on_with(fetcher, tmp_path, changes, more, reason):
    with iclr_2020(faults=[Fault("html", after=2)]) as server:
        assert run(fetcher, server, tmp_path).status == 1
        (path,) = tmp_path.rglob("fetched.notes")
        said = opened(path).said
        made(path, said | changes).close()
        last = run(fetcher, server, tmp_path, *more)
    assert last.status == 0 and reason in last.err and "0 pages of" in last.err
    assert len(list(tmp_path.rglob("*.notes"))) == 0


def test_the_snapshot_is_of_when_the_first_page_came(fetcher, tmp_path):
    with iclr_2020(faults=[Fault("html", after=2)]) as server:
        assert run(fetcher, server, tmp_path).status == 1
        (path,) = tmp_path.rglob("fetched.notes")
        began = f"{datetime.now(UTC) - timedelta(hours=11):%Y-%m-%dT%H:%M:%S}"
        said, rest = opened(path).said | {"started": began}, path.read_bytes().partition(b"\n")[2]
        path.write_bytes(spool._sealed(said) + rest)
        assert run(fetcher, server, tmp_path).status == 0
    (held,) = store.held(tmp_path / "reviews.duckdb")
    assert held.taken_at.isoformat() == began


# What moves between the halves ----------------------------------------------------------------------------------------


def halves(fetcher: Fetcher, folder: Path, before: list[dict], after: list[dict], pages: int) -> Done:
    """The first pages of one state of a conference, the rest of another."""
    with StandIn(before, faults=[Fault("html", after=pages, times=99)]) as server:
        assert run(fetcher, server, folder).status == 1
        ports = {"port1": int(server.url1.rpartition(":")[2]), "port2": int(server.url2.rpartition(":")[2])}
    with StandIn(after, **ports) as server:
        return run(fetcher, server, folder)


def moved(notes: list[dict], number: int, listing: str) -> list[dict]:
    """The same notes, one of which has been put into another listing."""
    changed = {"invitation": f"ICLR.cc/2020/Conference/-/{listing}", "tmdate": notes[number]["tmdate"] + 1000}
    return [note | (changed if place == number else {}) for place, note in enumerate(notes)]


@pytest.mark.parametrize(
    ("start", "end", "outcome"),
    [
        ("Blind_Submission", "Withdrawn_Submission", "withdrawn"),
        ("Blind_Submission", "Desk_Rejected_Submission", "desk_rejected"),
        ("Withdrawn_Submission", "Blind_Submission", "undecided"),
        ("Desk_Rejected_Submission", "Withdrawn_Submission", "withdrawn"),
        ("Desk_Rejected_Submission", "Blind_Submission", "undecided"),
    ],
)
@pytest.mark.parametrize("number", [2, 57])  # on the page that came before, on one that comes after
@pytest.mark.parametrize("pages", [1, 4])  # of the first listing, of the first two
def test_a_paper_that_moves_between_the_halves_is_there_once_and_where_it_went(
    fetcher, tmp_path, start, end, outcome, number, pages
):
    notes = list(VenueYear(2020, PAPERS, stage="release"))
    for place, note in enumerate(notes):
        kind = "Withdrawn" if place % 5 == 1 else "Desk_Rejected" if place % 5 == 4 else "Blind"
        note["invitation"] = f"ICLR.cc/2020/Conference/-/{kind}_Submission"
    before = moved(notes, number, start)
    done = halves(fetcher, tmp_path, before, moved(before, number, end), pages)
    assert done.status == 0, done.err
    with store.reading(tmp_path / "reviews.duckdb") as con:
        found = con.execute("select forum, outcome from submissions").fetchall()
    assert len(found) == len(dict(found)) == PAPERS
    # What was withdrawn in the first half, and was read there, is as it was then, unless it came again.
    assert dict(found)[notes[number]["id"]] == outcome or start in ("Withdrawn_Submission", "Desk_Rejected_Submission")


def test_of_what_comes_in_both_halves_the_newest_counts(fetcher, tmp_path):
    """A review that was changed in between comes twice where pages overlap."""
    before = list(VenueYear(2020, PAPERS, stage="release"))
    after = list(VenueYear(2020, PAPERS, stage="final"))
    with StandIn(before, faults=[Fault("html", after=2, times=99)]) as server:
        assert run(fetcher, server, tmp_path).status == 1
        ports = {"port1": int(server.url1.rpartition(":")[2]), "port2": int(server.url2.rpartition(":")[2])}
    with StandIn(after, faults=[Fault("repeat", times=3)], **ports) as server:
        assert run(fetcher, server, tmp_path).status == 0
    with store.reading(tmp_path / "reviews.duckdb") as con:
        twice = con.execute("select count(*) - count(distinct review_id), count(*) from reviews").fetchall()
    assert twice[0][0] == 0 and twice[0][1] > 3 * PAPERS


# Two at once ----------------------------------------------------------------------------------------------------------


def test_the_second_of_two_fetches_says_who_is_fetching_and_readers_and_loads_go_on(fetcher, tmp_path):
    database = tmp_path / "reviews.duckdb"
    fetch.load_bundled([2017], database)
    with iclr_2020(faults=[Fault("stall", after=2, times=99, seconds=4)]) as server, Fetcher() as other:
        place = ("--source", "api", "--years", 2020, "--database", database)
        process = fetcher.start(*place, environment=server.environment)
        while server.count("/notes") < 3:
            time.sleep(0.02)
        second = other.run(*place, environment=server.environment)
        said = f"{tmp_path}/notes is being fetched into by process {process} (fetching ICLR 2020, since 20"
        assert second.status == 1 and second.out == "" and second.err.startswith(said), second.err
        assert second.err.count("\n") == 1
        assert [one.year for one in store.held(database)] == [2017]
        fetch.load_bundled([2018], database)  # as a notebook does that needs it
        os.kill(process, signal.SIGKILL)
        assert fetcher.result().status == -9
        server.faults.clear()
        assert other.run(*place, environment=server.environment).status == 0  # the lock of the dead stops nobody
    assert {one.year for one in store.held(database)} == {2017, 2018, 2020}


# The file -------------------------------------------------------------------------------------------------------------


def test_a_spool_gives_what_was_put_in_by_forum_and_each_version_once(tmp_path):
    rng = random.Random(1)
    notes = [
        {"id": f"n{k % 40}", "forum": f"f{k % 7}", "text": "é\t\n" * rng.randrange(40), "k": k % 90} for k in range(400)
    ]
    pages = [rng.sample(notes, 60) for _ in range(12)]
    with gathered(([*page] for page in pages), tmp_path / "spool") as came:
        forums = list(came.by_forum())
        assert forums == list(came.by_forum())
    assert [forum for forum, _ in forums] == [f"f{number}" for number in range(7)]
    assert all(versions == sorted(versions) for _, versions in forums)
    put = {json.dumps(note, sort_keys=True) for page in pages for note in page}
    found = [note for forum in forums for note in notes_of(forum)]
    assert all(note["forum"] == forum[0] for forum in forums for note in notes_of(forum))
    assert len(found) == len(put) and {json.dumps(note, sort_keys=True) for note in found} == put
    assert not (tmp_path / "spool").exists()


@pytest.mark.parametrize("seed", range(30))
def test_a_spool_that_was_cut_or_damaged_anywhere_has_only_whole_pages(tmp_path, seed):
    rng, path = random.Random(seed), tmp_path / "spool"
    came = made(path, {"of": "a test"})
    pages = [[{"id": f"{page}-{k}", "text": "x" * rng.randrange(99)} for k in range(9)] for page in range(5)]
    for number, page in enumerate(pages):
        came.add([*page], {"after": number})
    came.close()
    text = bytearray(path.read_bytes())
    at = rng.randrange(len(text))
    if seed % 2:
        text[at] ^= 1 << rng.randrange(8)
    path.write_bytes(text if seed % 2 else text[:at])
    found = opened(path)
    if found is None:  # the first line
        return
    kept = len(found.pages)
    ids = [forum for forum, _ in found.by_forum()]
    assert kept < 5 and ids == [note["id"] for page in pages[:kept] for note in page]
    assert found.cursor == ({"after": kept - 1} if kept else None)
    found.add([{"id": "z"}], {"after": 9})  # and goes on from there
    found.close()
    assert [forum for forum, _ in opened(path).by_forum()] == [*ids, "z"]


def test_pages_of_another_version_of_the_suite_are_not_read(tmp_path):
    old = {"notes": 0, "cursor": None, "restricted": [], "size": 0}
    (tmp_path / "spool").write_bytes(_sealed({"version": "0.1"}) + _sealed(old))
    found = opened(tmp_path / "spool")
    assert found.said == {"version": "0.1"} and not found.pages and not found.complete


def test_a_full_disk_is_told_and_keeps_the_whole_pages(tmp_path, monkeypatch):
    pages = made(tmp_path / "spool", {})
    pages.add([{"id": "a"}], {"after": "a"})

    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Trouble, match=r"cannot be written to \(No space left on device\); nothing in the store"):
        pages.add([{"id": "b"}], {"after": "b"})
