"""The store: snapshots in, frames out.

DuckDB gives a file to one writer or to many readers, never both, so nobody writes `reviews.duckdb` in place: a load builds
the new database beside the old one and swaps it in. Readers keep the whole snapshot they opened, old or new.
"""

from __future__ import annotations

import fcntl
import glob
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields
from datetime import UTC, datetime
from functools import lru_cache
from itertools import count
from pathlib import Path

import duckdb
import orjson

from analysis import __version__
from analysis.errors import Trouble, choices
from analysis.snapshots import OUTCOMES, Snapshot

SCHEMA = Path(__file__).with_name("schema.sql")
TABLES = ("snapshots", "submissions", "reviews", "decisions", "meta_reviews", "comments", "problems")

# Opening a file of another program must not make DuckDB download an extension for it.
OFFLINE = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}

# Columns that every sample has.
SAMPLED = ("paper", "outcome", "tier", "review", "rating", "confidence", "experience")

MEMORY = "256MB"  # for DuckDB while it loads; what does not fit goes to disk
LARGEST = 1 << 22  # bytes of a row; each thread that reads rows takes several times as much memory
LOAD_WAIT = 300  # seconds: for a load to end, of a year as large as 2027 on a slow machine

NUMBERS = count(1)  # of files that this process has read

Rows = Mapping[str, list[dict]]


def connected(database: str = ":memory:", **config: str) -> duckdb.DuckDBPyConnection:
    """A connection to DuckDB that downloads nothing, and prints nothing where a query takes long."""
    con = duckdb.connect(database, config={**OFFLINE, **config})
    with suppress(duckdb.Error):  # in a notebook there is no bar without ipywidgets, nor a setting of it
        con.execute("set enable_progress_bar = false")
    return con


def quoted(value: object) -> str:
    """A text as it may stand between the quotes of SQL."""
    return str(value).replace("'", "''")


# Reading ------------------------------------------------------------------------------------------------------------


@contextmanager
def reading(database: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A read-only connection to a database file, or to a folder of Parquet as `export` writes it; closed at the end."""
    with (_exported if database.is_dir() else _attached)(database) as con:
        yield con


@contextmanager
def _attached(database: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    if not database.exists():
        raise Trouble(f"There is no database {database}; `python -m analysis fetch --years YEAR` makes it.")
    name = f"read_{next(NUMBERS)}"
    with _engine(os.getpid()).cursor() as engine, _refusing(database):
        engine.execute(f"attach '{quoted(database)}' as {name} (read_only)")
    try:
        with _engine(os.getpid()).cursor() as con:
            con.execute(f"use {name}")
            _check(con, database, name)
            yield con
    finally:
        with _engine(os.getpid()).cursor() as engine:
            engine.execute(f"detach {name}")


@lru_cache(maxsize=1)
def _engine(process: int) -> duckdb.DuckDBPyConnection:
    """A database in memory, to which files are attached: to open one by itself takes as long as to read a year from it."""
    return connected()


def _check(con: duckdb.DuckDBPyConnection, database: Path, name: str) -> None:
    query = "select table_name from duckdb_tables() where database_name = ?"
    present = {row[0] for row in con.execute(query, [name]).fetchall()}
    if missing := [table for table in TABLES if table not in present]:
        raise Trouble(
            f"{database} is a DuckDB database of another program (no table `{missing[0]}`); give another --database."
        )


def _open(database: Path) -> duckdb.DuckDBPyConnection:
    with _refusing(database):
        return connected(str(database))


@contextmanager
def _refusing(database: Path) -> Iterator[None]:
    """Tell of a file that cannot be opened in a sentence."""
    try:
        yield
    except duckdb.Error as error:
        reason = str(error).splitlines()[0]
        if "lock" in reason.lower():
            raise Trouble(f"{database} is open for writing in another program: close it there ({reason}).") from None
        raise Trouble(
            f"{database} is not a database that this suite can read ({reason}); give another --database."
        ) from None


@contextmanager
def _exported(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with connected() as con:
        for table in TABLES:
            files = sorted(folder.glob(f"{table}/**/*.parquet"))
            if not files:
                raise Trouble(
                    f"{folder} is not a folder that `python -m analysis export` wrote: it has no {table}/*.parquet."
                )
            source = con.read_parquet([str(file) for file in files], hive_partitioning=False, union_by_name=True)
            source.create_view(table)
        yield con


def snapshots(con: duckdb.DuckDBPyConnection, venue: str = "", year: int = 0, source: str = "") -> list[Snapshot]:
    """The snapshots in a store, oldest first; of one venue, year or source where these are given."""
    columns = ", ".join(field.name for field in fields(Snapshot))
    rows = con.execute(f"select {columns} from snapshots").fetchall()
    return _matching([Snapshot(*row) for row in rows], venue, year, source)


def _matching(found: Sequence[Snapshot], venue: str, year: int, source: str) -> list[Snapshot]:
    asked = {"venue": venue, "year": year, "source": source}
    kept = [one for one in found if all(getattr(one, key) == value for key, value in asked.items() if value)]
    return sorted(kept, key=lambda one: (one.venue, one.year, one.order))


def held(database: Path, venue: str = "", year: int = 0, source: str = "") -> list[Snapshot]:
    """As `snapshots`, from a path; nothing where there is no database yet."""
    if not database.exists():
        return []
    if database.is_dir():
        with reading(database) as con:
            return snapshots(con, venue, year, source)
    file = database.stat()  # a load puts another file in its place: what one file holds stays as it is
    return _matching(_held(database, (file.st_ino, file.st_mtime_ns, file.st_size)), venue, year, source)


@lru_cache(maxsize=4)
def _held(database: Path, version: tuple[int, ...]) -> list[Snapshot]:
    """The snapshots in a file of that version: asked for again and again, while opening it takes as long as reading a year."""
    with reading(database) as con:
        return snapshots(con)


def papers(con: duckdb.DuckDBPyConnection, snapshot_id: int, columns: Sequence[str] = (), join: Path | None = None):
    """A frame with a row a submission: paper, outcome, tier, then those of `columns` that submissions or the file have."""
    extra = _extra(con, "submissions", columns)
    return _frame(con, "submissions", "forum", ["paper", "outcome", "tier", *extra], snapshot_id, join, "true", "paper")


def rated_reviews(
    con: duckdb.DuckDBPyConnection, snapshot_id: int, columns: Sequence[str] = (), join: Path | None = None
):
    """A frame with a row a review that has a rating: paper, review, rating, confidence, experience, then the columns asked for."""
    extra = _extra(con, "reviews", columns)
    # As floats a missing value is NaN in every snapshot, whether others are missing too or not. Ids are texts, which
    # ten million reviews cannot afford: 64 bits of one tell which reviews of two snapshots are the same.
    wanted = [
        "paper",
        "hash(review_id) as review",
        "rating",
        "confidence::float as confidence",
        "experience::float as experience",
        *extra,
    ]
    return _frame(con, "reviews", "review_id", wanted, snapshot_id, join, "rating is not null", "paper, review_id")


def submission(con: duckdb.DuckDBPyConnection, snapshot_id: int, forum: str) -> dict[str, object]:
    """Title, outcome and tier of one paper of a snapshot; empty where it does not list it."""
    query = "select title, outcome, tier from submissions where snapshot_id = ? and forum = ?"
    rows = con.execute(query, [snapshot_id, forum]).fetchall()
    return dict(zip(("title", "outcome", "tier"), rows[0], strict=True)) if rows else {}


def reviews_of(con: duckdb.DuckDBPyConnection, snapshot_id: int, forum: str):
    """The rated reviews of one paper of a snapshot, the first one first: review_id, rating, confidence, experience."""
    return con.sql(
        "select review_id, rating, confidence, experience from reviews "
        "where snapshot_id = ? and forum = ? and rating is not null order by created_at, review_id",
        params=[snapshot_id, forum],
    ).df()


def comments(con: duckdb.DuckDBPyConnection, snapshot_id: int):
    """A frame with a row a comment: paper, kind, author_kind, words, created_at."""
    columns = ["paper", "kind", "author_kind", "words::float as words", "created_at"]
    return _frame(con, "comments", "forum", columns, snapshot_id, None, "paper is not null", "paper, note_id")


def _extra(con, table: str, columns: Sequence[str]) -> list[str]:
    """Expressions for further columns of a table; a scored field (`soundness`) is an entry of the map `scores`."""
    present = {row[0] for row in con.execute(f"select column_name from (describe {table})").fetchall()}
    plain = [f'"{name}"' for name in columns if name in present and name not in SAMPLED]
    if table != "reviews":
        return plain
    keys = "select distinct unnest(map_keys(scores)) from reviews"
    scored = {row[0] for row in con.execute(keys).fetchall()}.intersection(columns) - present
    return plain + [f"""scores['{name}'] as "{name}\"""" for name in sorted(scored)]


def _frame(con, table: str, key: str, columns: list[str], number: int, join: Path | None, where: str, order: str):
    """The columns of one snapshot's rows, with those of a file that is keyed by `key`."""
    source, params = table, [number]
    if join is not None and key in (names := _columns_of(con, join)):
        others = ", ".join(f'"{name}"' for name in names if name not in ("forum", "review_id"))
        columns = [*columns, others] if others else columns
        source = f"{table} left join (select {key}, {others or '1'} from {_file(join)}) as joined using ({key})"
    return con.sql(
        f"select {', '.join(columns)} from {source} where snapshot_id = ? and {where} order by {order}", params=params
    ).df()


def _file(path: Path) -> str:
    reader = "read_parquet" if path.suffix == ".parquet" else "read_csv"
    return f"{reader}('{quoted(path)}')"


def _columns_of(con, path: Path) -> list[str]:
    """The columns of a file to join; Trouble when it cannot be read or has neither key."""
    try:
        names = [
            row[0] for row in con.execute(f"select column_name from (describe select * from {_file(path)})").fetchall()
        ]
    except duckdb.Error as error:
        raise Trouble(f"{path} cannot be joined: {str(error).splitlines()[0]}") from None
    if not {"forum", "review_id"}.intersection(names):
        raise Trouble(
            f"{path} cannot be joined: it has neither a column `forum` nor `review_id` (it has {choices(names)})."
        )
    return names


def has_field(con: duckdb.DuckDBPyConnection, snapshot_id: int, field: str) -> bool:
    """Whether any rated review of a snapshot has a value in this column (`confidence`, `experience`)."""
    query = f"select count({field}) > 0 from reviews where snapshot_id = ? and rating is not null"
    return con.execute(query, [snapshot_id]).fetchall()[0][0]


# Writing ------------------------------------------------------------------------------------------------------------


@contextmanager
def loading(database: Path, purpose: str = "a load", wait: float = 0) -> Iterator[None]:
    """Hold the one lock that loads of a database share; Trouble naming the process that has it, after `wait` seconds."""
    with _holding(database.with_name(database.name + ".lock"), purpose, f"{database} is being loaded", wait):
        yield


@contextmanager
def fetching(notes: Path, purpose: str) -> Iterator[None]:
    """Hold the one lock that fetches into a folder of notes share, which may take an hour; loads go on meanwhile."""
    with _holding(notes / "fetch.lock", purpose, f"{notes} is being fetched into", 0):
        yield


@contextmanager
def _holding(path: Path, purpose: str, busy: str, wait: float) -> Iterator[None]:
    """Hold a lock that ends with its process, however that ends."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = open(path, "a+")  # noqa: SIM115 (the lock lives as long as the file is open)
    except OSError as error:
        raise Trouble(f"{path.parent} cannot be written to ({error.strerror}); give another --database.") from None
    with lock:
        if not _locked(lock, wait):
            lock.seek(0)
            holder = lock.read().strip() or "another process"
            raise Trouble(f"{busy} by {holder}; wait for it to end, then try again.")
        lock.truncate(0)  # of what a process left that was killed
        since = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
        lock.write(f"process {os.getpid()} ({purpose}, since {since})")
        lock.flush()
        try:
            yield
        finally:
            lock.truncate(0)


def _locked(lock, wait: float) -> bool:
    until = time.monotonic() + wait
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError:
            if time.monotonic() >= until:
                return False
        time.sleep(0.05)


@contextmanager
def rebuilding(database: Path, compact: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
    """A writable copy of the database beside it, swapped in when the block ends well and thrown away when it does not.

    To be used within `loading`. It is made `compact` again where much of it is space that rows had which are gone, or on
    request.
    """
    new = database.with_name(database.name + ".new")
    _remove(new)
    try:
        if database.exists():
            _copy(database, new)
        con = _open(new)
        with con:
            con.execute(f"set memory_limit = '{MEMORY}'")
            con.execute("set threads = 2")  # each takes memory of its own; the rows are quickly read
            con.execute(SCHEMA.read_text())
            yield con
            con.execute("checkpoint")
            compact = compact or _is_wasteful(con)
        if compact:
            _compact(new)
        _swap(new, database)
    except (OSError, duckdb.IOException) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise Trouble(f"{database.parent} cannot be written to ({reason}); nothing was changed.") from None
    finally:
        _remove(new)


def _copy(database: Path, new: Path) -> None:
    with reading(database):
        pass  # refuses a file that is not ours before anything is made of it
    if Path(f"{database}.wal").exists():
        raise Trouble(
            f"{database}.wal holds unfinished writes of another program: open and close the database there first."
        )
    shutil.copyfile(database, new)


def _is_wasteful(con: duckdb.DuckDBPyConnection) -> bool:
    """Whether a third of a file is free: DuckDB gives the space of changed and deleted rows back to itself only."""
    used, free = con.execute("select used_blocks, free_blocks from pragma_database_size()").fetchall()[0]
    return 2 * free > used


def _compact(new: Path) -> None:
    """Write a file anew, table by table; where there is no room for that it stays as it is."""
    compacted = _compacted(new)
    try:
        with _open(compacted) as con:
            con.execute("set threads = 1")  # several leave holes of their own
            con.execute(f"attach '{quoted(new)}' as held (read_only)")
            target = con.execute("select current_database()").fetchall()[0][0]
            con.execute(f'copy from database held to "{target}"')
            con.execute("detach held")
    except duckdb.IOException:
        return
    os.replace(compacted, new)


def _compacted(new: Path) -> Path:
    return new.with_name(new.name + ".compact")


def _swap(new: Path, database: Path) -> None:
    with open(new, "rb+") as file:
        os.fsync(file.fileno())
    os.replace(new, database)
    folder = os.open(database.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _remove(new: Path) -> None:
    for path in (new, Path(f"{new}.wal"), _compacted(new), Path(f"{_compacted(new)}.wal")):
        path.unlink(missing_ok=True)
    # What a load that was killed has left: its rows, and what did not fit into its memory.
    for folder in (*new.parent.glob(f"{glob.escape(new.name)}.rows-*"), Path(f"{new}.tmp")):
        shutil.rmtree(folder, ignore_errors=True)


def save(con: duckdb.DuckDBPyConnection, snapshot: Mapping[str, object], batches: Iterable[Rows]) -> int:
    """Write one snapshot (columns of the table `snapshots`) and its rows; gives its id.

    A snapshot of the same venue, year, name and paper ids is replaced. Rows come in batches, as dicts with the columns of
    schema.sql less `snapshot_id` and `paper`, and go through files, so memory does not grow with their number.
    """
    number = _next_id(con, snapshot)
    con.execute("begin")
    with _rows_folder(con) as folder:
        for table, path in _spool(batches, Path(folder)).items():
            _insert(con, table, path, number)
    _insert_snapshot(con, number, {**snapshot, "suite_version": __version__})
    _number_papers(con, number, snapshot)
    _refresh(con, snapshot)
    con.execute("commit")
    return number


def _rows_folder(con) -> tempfile.TemporaryDirectory:
    """A folder beside the database: the usual one for temporary files is in memory on some machines."""
    path = con.execute("select path from duckdb_databases() where database_name = current_database()").fetchall()[0][0]
    return tempfile.TemporaryDirectory(prefix=f"{Path(path).name}.rows-", dir=Path(path).parent)


def _next_id(con, snapshot: Mapping) -> int:
    key = [snapshot[name] for name in ("venue", "year", "name", "paper_ids")]
    same = "select snapshot_id from snapshots where venue = ? and year = ? and name = ? and paper_ids = ?"
    for (number,) in con.execute(same, key).fetchall():
        drop(con, number)
    return con.execute("select coalesce(max(snapshot_id), 0) + 1 from snapshots").fetchall()[0][0]


def drop(con: duckdb.DuckDBPyConnection, snapshot_id: int) -> None:
    """Remove one snapshot with all its rows."""
    for table in TABLES:
        con.execute(f"delete from {table} where snapshot_id = ?", [snapshot_id])


def _spool(batches: Iterable[Rows], folder: Path) -> dict[str, Path]:
    """Write the rows as one JSON-lines file a table."""
    files = {}
    try:
        for batch in batches:
            for table, rows in batch.items():
                if table not in files:
                    files[table] = open(folder / f"{table}.jsonl", "wb")  # noqa: SIM115 (closed below, all together)
                files[table].write(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    finally:
        for file in files.values():
            file.close()
    return {table: folder / f"{table}.jsonl" for table in files}


def _insert(con, table: str, path: Path, number: int) -> None:
    if path.stat().st_size == 0:
        return
    described = con.execute(f"select column_name, column_type from (describe {table})").fetchall()
    columns = {name: kind for name, kind in described if name not in ("snapshot_id", "paper")}
    names = ", ".join(columns)
    con.execute(
        f"insert into {table} (snapshot_id, {names}) select ?, {names} "
        f"from read_json(?, format = 'newline_delimited', columns = ?, maximum_object_size = {LARGEST})",
        [number, str(path), columns],
    )


def _insert_snapshot(con, number: int, snapshot: Mapping) -> None:
    columns = {"snapshot_id": number, **snapshot}
    marks = ", ".join("?" for _ in columns)
    con.execute(f"insert into snapshots ({', '.join(columns)}) values ({marks})", list(columns.values()))


def _number_papers(con, number: int, snapshot: Mapping) -> None:
    """Give each forum its integer key: the one it has in other snapshots of the same ids, else a new one."""
    con.execute(
        """
        create or replace temp table keys as
        with known as (
            select distinct submissions.forum, submissions.paper
            from submissions join snapshots using (snapshot_id)
            where venue = ? and year = ? and paper_ids = ? and submissions.paper is not null
        ),
        fresh as (
            select distinct forum from submissions
            where snapshot_id = ? and forum not in (select forum from known)
        )
        select * from known
        union all
        select forum, row_number() over (order by forum) + (select coalesce(max(paper), 0) from submissions) from fresh
        """,
        [snapshot["venue"], snapshot["year"], snapshot["paper_ids"], number],
    )
    for table in ("submissions", "reviews", "decisions", "meta_reviews", "comments"):
        con.execute(
            f"update {table} set paper = keys.paper from keys where {table}.forum = keys.forum and snapshot_id = ?",
            [number],
        )
    con.execute("drop table keys")


def _refresh(con, snapshot: Mapping) -> None:
    """Carry the latest known outcome of each paper to all snapshots that list it, and count anew."""
    key = [snapshot["venue"], snapshot["year"], snapshot["paper_ids"]]
    same = "select snapshot_id from snapshots where venue = ? and year = ? and paper_ids = ?"
    con.execute(
        f"""
        update submissions
        set outcome = known.outcome, outcome_as_of = known.outcome_as_of, tier = known.tier
        from (
            select paper, outcome, outcome_as_of, tier
            from submissions
            where snapshot_id in ({same}) and outcome <> 'undecided'
            qualify row_number() over (partition by paper order by outcome_as_of desc, snapshot_id desc) = 1
        ) as known
        where submissions.paper = known.paper and snapshot_id in ({same})
        """,
        key + key,
    )
    con.execute(
        f"""
        update snapshots set outcomes = (
            select arg_min(outcomes, list_position(['complete', 'accepted only', 'none'], outcomes))
            from snapshots where snapshot_id in ({same})
        ) where snapshot_id in ({same})
        """,
        key + key,
    )
    counted = ", ".join(f"{outcome} = counted.{outcome}" for outcome in OUTCOMES)
    counts = ", ".join(f"count(*) filter (where outcome = '{outcome}') as {outcome}" for outcome in OUTCOMES)
    con.execute(
        f"""
        update snapshots set papers = counted.papers, {counted}
        from (
            select snapshot_id, count(*) as papers, {counts} from submissions where snapshot_id in ({same}) group by snapshot_id
        ) as counted
        where snapshots.snapshot_id = counted.snapshot_id
        """,
        key,
    )
    con.execute(
        f"""
        update snapshots set reviews = (
            select count(*) from reviews where reviews.snapshot_id = snapshots.snapshot_id and rating is not null
        ) where snapshot_id in ({same})
        """,
        key,
    )
