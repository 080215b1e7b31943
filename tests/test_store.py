"""The store: whole snapshots for readers, one load at a time, nothing lost."""

import ctypes
import hashlib
import os
import subprocess
import sys
import threading
from datetime import datetime
from pathlib import Path

import duckdb
import pytest

from analysis import ROOT, store
from analysis.errors import Trouble

LIBC = ctypes.CDLL(None)


def described(name="2019-11-08", stage="release", **changes) -> dict:
    return {
        "venue": "ICLR", "year": 2020, "name": name, "stage": stage, "taken_at": datetime(2019, 11, 8), "source": "notes",
        "outcomes": "none", "paper_ids": "openreview", "review_ids": "openreview", "digest": name, **changes,
    }  # fmt: skip


def rows(forums="ab", outcome="undecided", as_of=None, rating=6) -> dict[str, list[dict]]:
    return {
        "submissions": [
            {"forum": f, "outcome": outcome, "outcome_as_of": as_of, "keywords": ["a", "b"]} for f in forums
        ],
        "reviews": [{"forum": f, "review_id": f"{f}1", "rating": rating, "scores": {"soundness": 3}} for f in forums],
    }


def save(database: Path, snapshot: dict, *batches: dict) -> None:
    with store.loading(database), store.rebuilding(database) as con:
        store.save(con, snapshot, batches)


def fetch(database: Path, query: str) -> list[tuple]:
    with store.reading(database) as con:
        return con.execute(query).fetchall()


@pytest.fixture
def database(tmp_path) -> Path:
    path = tmp_path / "reviews.duckdb"
    save(path, described(), rows())
    return path


def fingerprint(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_rows_come_back_typed(database):
    assert fetch(database, "select forum, rating, scores['soundness'], confidence from reviews order by forum") == [
        ("a", 6, 3, None),
        ("b", 6, 3, None),
    ]
    assert fetch(database, "select distinct keywords from submissions") == [(["a", "b"],)]
    assert [(one.name, one.papers, one.reviews) for one in store.held(database)] == [("2019-11-08", 2, 2)]


def test_batches_are_one_snapshot(tmp_path):
    save(tmp_path / "db", described(), rows("a"), rows("b"), {"submissions": [], "reviews": []})
    assert [(one.papers, one.reviews) for one in store.held(tmp_path / "db")] == [(2, 2)]


def test_saving_a_snapshot_again_replaces_it(database):
    save(database, described(), rows("abc", rating=8))
    assert [(one.name, one.papers) for one in store.held(database)] == [("2019-11-08", 3)]
    assert fetch(database, "select distinct rating from reviews") == [(8,)]


def test_a_paper_keeps_its_key_from_snapshot_to_snapshot(database):
    save(database, described("final", "final"), rows("bc"))
    keys = fetch(
        database, "select forum, count(distinct paper), count(*) from submissions group by forum order by forum"
    )
    assert keys == [("a", 1, 1), ("b", 1, 2), ("c", 1, 1)]
    assert fetch(database, "select count(distinct paper) from submissions") == [(3,)]


def test_other_ids_are_other_papers(database):
    save(database, described(source="bundled", paper_ids="bundled"), rows("ab"))
    assert fetch(database, "select count(distinct paper) from submissions") == [(4,)]
    assert len(store.held(database)) == 2


def test_outcomes_are_the_latest_known_and_say_since_when(database):
    save(database, described("final", "final", outcomes="complete"), rows("a", "accepted", "2019-12-23"))
    known = fetch(database, "select snapshot_id, forum, outcome, outcome_as_of::varchar from submissions order by 1, 2")
    assert known == [
        (1, "a", "accepted", "2019-12-23"),
        (1, "b", "undecided", None),
        (2, "a", "accepted", "2019-12-23"),
    ]
    assert [one.outcomes for one in store.held(database)] == ["complete", "complete"]
    assert fetch(database, "select accepted, undecided from snapshots order by snapshot_id") == [(1, 1), (1, 0)]


def test_a_failed_load_leaves_the_database_as_it_was(database):
    before = fingerprint(database)
    with pytest.raises(RuntimeError), store.loading(database), store.rebuilding(database) as con:
        store.save(con, described("final", "final"), [rows()])
        raise RuntimeError("the network went away")
    assert fingerprint(database) == before
    assert not list(database.parent.glob("*.new*"))


def test_the_leavings_of_a_killed_load_are_cleared(database):
    database.with_name("reviews.duckdb.new").write_bytes(b"half a database")
    for name in ("reviews.duckdb.new.rows-x1y2", "reviews.duckdb.new.tmp"):
        database.with_name(name).mkdir()
        database.with_name(name).joinpath("reviews.jsonl").write_bytes(b"half a table")
    save(database, described("final", "final"), rows())
    assert len(store.held(database)) == 2
    assert sorted(path.name for path in database.parent.iterdir()) == ["reviews.duckdb", "reviews.duckdb.lock"]


def test_a_reader_keeps_its_snapshot_while_a_load_publishes(database):
    with store.reading(database) as con:
        save(database, described("final", "final"), rows())
        assert con.execute("select count(*) from snapshots").fetchall() == [(1,)]
    assert len(store.held(database)) == 2


def test_readers_in_a_loop_see_only_whole_snapshots(database):
    done, seen, failures = threading.Event(), set(), []

    def read():
        while not done.is_set():
            try:
                counts = fetch(database, "select count(*) from snapshots union all select count(*) from submissions")
                seen.add(tuple(count for (count,) in counts))
            except Exception as error:
                failures.append(error)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(5):
        save(database, described(f"2019-12-0{number + 1}", "discussed"), rows())
    done.set()
    for reader in readers:
        reader.join()
    assert not failures
    assert seen <= {(n, 2 * n) for n in range(1, 7)}


def test_one_load_at_a_time_and_the_second_says_who(database):
    before = fingerprint(database)
    told = rf"process {os.getpid()} \(fetching ICLR 2020, since 20"
    with store.loading(database, "fetching ICLR 2020"), pytest.raises(Trouble, match=told):
        save(database, described("final", "final"), rows())
    assert fingerprint(database) == before
    save(database, described("final", "final"), rows())


def test_the_lock_goes_with_its_process(database):
    code = (
        "import os, sys; from pathlib import Path; from analysis import store\n"
        "with store.loading(Path(sys.argv[1])): os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(database)], cwd=ROOT, check=False)
    save(database, described("final", "final"), rows())


@pytest.mark.parametrize("content", [b"not a database", b"SQLite format 3\x00" + bytes(4096)])
def test_a_file_of_another_program_is_refused_and_kept(tmp_path, content):
    path = tmp_path / "other.db"
    path.write_bytes(content)
    for attempt in (lambda: store.held(path), lambda: save(path, described(), rows())):
        with pytest.raises(Trouble, match="not a database that this suite can read"):
            attempt()
    assert path.read_bytes() == content


def test_a_duckdb_database_of_another_program_is_refused_and_kept(tmp_path):
    path = tmp_path / "other.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("create table flights (id integer)")
    before = fingerprint(path)
    for attempt in (lambda: store.held(path), lambda: save(path, described(), rows())):
        with pytest.raises(Trouble, match="of another program"):
            attempt()
    assert fingerprint(path) == before


def test_a_database_held_for_writing_elsewhere_is_told(database):
    code = "import sys, duckdb; con = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code, str(database)], stdin=-1, stdout=-1) as holder:
        holder.stdout.readline()
        with pytest.raises(Trouble, match="open for writing in another program"):
            store.held(database)
        holder.stdin.close()


def _without_root_powers() -> None:
    """Let the permission bits count for root too: drop CAP_DAC_OVERRIDE for the program that follows."""
    LIBC.prctl(24, 1, 0, 0, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="drops a capability, which only Linux has")
def test_a_folder_that_cannot_be_written_to_is_told(tmp_path):
    folder = tmp_path / "read-only"
    folder.mkdir()
    folder.chmod(0o555)
    run = subprocess.run(
        [sys.executable, "-m", "analysis", "fetch", "--years", "2017", "--database", str(folder / "reviews.duckdb")],
        cwd=ROOT, capture_output=True, text=True, preexec_fn=_without_root_powers, check=False,
    )  # fmt: skip
    assert run.returncode == 1
    assert run.stderr.count("\n") == 1 and "cannot be written to" in run.stderr
    assert list(folder.iterdir()) == []


def test_no_database_names_the_next_step(tmp_path):
    with pytest.raises(Trouble, match="analysis fetch"), store.reading(tmp_path / "none.duckdb"):
        pass
    assert store.held(tmp_path / "none.duckdb") == []


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_columns_of_ones_own_are_joined(database, tmp_path, suffix):
    path = tmp_path / f"mine.{suffix}"
    duckdb.sql("select 'a' as forum, 'theory' as kind").write_csv(str(path)) if suffix == "csv" else duckdb.sql(
        "select 'a' as forum, 'theory' as kind"
    ).write_parquet(str(path))
    with store.reading(database) as con:
        frame = store.papers(con, 1, join=path)
    assert frame["kind"].tolist()[0] == "theory" and frame["kind"].isna().tolist() == [False, True]


def test_a_file_without_a_key_is_refused(database, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("paper,kind\na,theory\n")
    with store.reading(database) as con, pytest.raises(Trouble, match="neither a column `forum` nor `review_id`"):
        store.papers(con, 1, join=path)


def test_a_scored_field_can_be_asked_for(database):
    with store.reading(database) as con:
        assert store.rated_reviews(con, 1, columns=("soundness",))["soundness"].tolist() == [3, 3]


def test_space_of_rows_that_are_gone_is_given_back(tmp_path):
    """Daily loads change the outcomes of all earlier snapshots, which leaves a file with holes."""
    path = tmp_path / "reviews.duckdb"
    many = [f"{number:05d}" for number in range(30_000)]
    sizes = []
    for day in range(1, 6):
        save(path, described(f"2019-11-0{day}", taken_at=datetime(2019, 11, day)), rows(many))
        sizes.append(path.stat().st_size)
    with duckdb.connect(str(path), read_only=True) as con:
        used, free = con.execute("select used_blocks, free_blocks from pragma_database_size()").fetchall()[0]
    assert free <= used / 2 and sizes[-1] < 7 * sizes[0]
    before = sorted(fetch(path, "from reviews"), key=str)
    with store.loading(path), store.rebuilding(path, compact=True):
        pass
    assert path.stat().st_size <= sizes[-1] and sorted(fetch(path, "from reviews"), key=str) == before
    assert [left.name for left in tmp_path.iterdir() if left.suffix != ".lock"] == [path.name]


def test_where_there_is_no_room_to_write_a_file_anew_it_stays_as_it_is(database, monkeypatch):
    before = fetch(database, "from reviews order by all")
    real = store._open

    def full(path):
        if path.suffix == ".compact":
            raise duckdb.IOException("No space left on device")
        return real(path)

    monkeypatch.setattr(store, "_open", full)
    with store.loading(database), store.rebuilding(database, compact=True):
        pass
    assert fetch(database, "from reviews order by all") == before
