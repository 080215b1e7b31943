"""Raw notes kept apart: `notes/` beside the database, one Parquet file a snapshot, from which the tables can be remade.

A file lists all notes of its snapshot by id, forum and version (a hash of the note). The note itself stands only in
the first file of its venue-year that has this version, so that a daily snapshot costs what changed. Files are never
changed; their order is in their names, and what snapshot a file is of in its metadata.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby, islice
from operator import attrgetter
from pathlib import Path

import duckdb
import orjson

from analysis.errors import Trouble
from analysis.spool import Line, Spool, sync_folder
from analysis.store import OFFLINE

PAPERS = 100  # forums in a batch: what is in memory at once
# Small groups of rows, so that a batch of forums is read without the rest of its file.
GROUP = 2048
MEMORY = "256MB"
LARGEST = 1 << 24  # bytes of a note; each thread that reads notes takes several times as much memory
COLUMNS = dict.fromkeys(("note_id", "forum", "version", "json"), "varchar")
SPILLED = "spilled"  # what does not fit into the memory of DuckDB

Said = dict[str, str]


@dataclass
class Kept:
    """One file of the archive, or one that will be in it after `keep`: the notes of a snapshot."""

    path: Path
    earlier: list[Path]  # the files of the same venue-year before it
    said: Said  # venue, year, name, stage, taken_at, source, digest
    kept: bool = True
    came: Spool | None = None  # where its notes are still at hand

    @property
    def pruned(self) -> bool:
        """Whether it is a snapshot no more, and only holds notes that other files refer to."""
        return "pruned" in self.said

    def keep(self) -> None:
        """Put a new file in its place, for good; one that is there already stays."""
        if self.kept:
            return
        with open(_unkept(self.path), "rb+") as file:
            os.fsync(file.fileno())
        os.replace(_unkept(self.path), self.path)
        sync_folder(self.path.parent)
        self.kept, self.came = True, None

    def batches(self) -> Iterator[list[list[dict]]]:
        """The notes of the snapshot in batches of forums: for each forum a list of its notes."""
        if self.came:
            for lines in _forums(self.came.lines()):
                forums = groupby(lines, key=attrgetter("forum"))
                yield [[orjson.loads(line.text) for line in of_forum] for _, of_forum in forums]
            return
        listing = self.path if self.kept else _unkept(self.path)
        with _connection(self.path.parent) as con:
            query = f"select distinct forum from {_files([listing])} order by forum"
            forums = [row[0] for row in con.execute(query).fetchall()]
            for start in range(0, len(forums), PAPERS):
                part = forums[start : start + PAPERS]
                yield _batch(con, listing, self.earlier, part[0], part[-1])


def folder_of(database: Path) -> Path:
    """Where the notes behind a database are kept."""
    return database.parent / "notes"


def kept(folder: Path) -> list[Kept]:
    """The snapshots of an archive, the oldest of each venue-year first."""
    return [one for place in sorted(folder.glob("*/")) for one in _kept_in(place) if not one.pruned]


def place_of(folder: Path, venue: str, year: int | str) -> Path:
    """Where the files of one venue-year are."""
    return folder / re.sub(r"[^a-z0-9]+", "-", f"{venue}-{year}".lower())


@contextmanager
def drafted(came: Spool, folder: Path, said: Said) -> Iterator[Kept]:
    """Write the notes of a snapshot to a file that is thrown away at the end, unless it was kept.

    Where the newest file of this snapshot holds the same notes, it is that file.
    """
    place = place_of(folder, said["venue"], said["year"])
    files = _kept_in(place)
    last = int(files[-1].path.name.partition("-")[0]) if files else 0
    path = place / f"{last + 1:04d}-{said['name']}.parquet"
    try:
        draft = _draft(came, path, [one.path for one in files], said)
        newest = [one for one in files if one.said["name"] == said["name"] and not one.pruned][-1:]
        yield next((one for one in newest if one.said["digest"] == draft.said["digest"]), draft)
    finally:
        _unkept(path).unlink(missing_ok=True)


# Writing ------------------------------------------------------------------------------------------------------------


def _draft(came: Spool, path: Path, earlier: list[Path], said: Said) -> Kept:
    rows = path.with_suffix(".jsonl")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _clear(path.parent)
        with _connection(path.parent) as con:
            said = {**said, "digest": _write_rows(con, came, earlier, rows)}
            _copy(con, rows, path, said)
    except (OSError, duckdb.Error) as error:
        reason = str(error).splitlines()[0]
        raise Trouble(f"{path.parent} cannot be written to ({reason}); nothing was changed.") from None
    finally:
        rows.unlink(missing_ok=True)
    return Kept(path, earlier, said, kept=False, came=came)


def _clear(place: Path) -> None:
    """Remove what a load that was killed has left."""
    for pattern in ("*.jsonl", "*.parquet.new"):
        for path in place.glob(pattern):
            path.unlink()
    shutil.rmtree(place / SPILLED, ignore_errors=True)


def _write_rows(con, came: Spool, earlier: list[Path], rows: Path) -> str:
    """Write the rows of a file, forum by forum, those of known versions without their note; gives their digest."""
    digest = hashlib.sha256()
    with open(rows, "wb") as file:
        for lines in _forums(came.lines()):
            known = _versions(con, earlier, lines[0].forum, lines[-1].forum)
            for line in lines:
                digest.update(f"{line.note_id} {line.version}\n".encode())
                file.write(_row(line, line.version in known))
    return digest.hexdigest()[:16]


def _forums(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """The lines in batches of whole forums."""
    forums = groupby(lines, key=attrgetter("forum"))
    while batch := [line for _, of_forum in islice(forums, PAPERS) for line in of_forum]:
        yield batch


def _row(line: Line, known: bool) -> bytes:
    row = {"note_id": line.note_id, "forum": line.forum, "version": line.version}
    return orjson.dumps(row if known else row | {"json": line.text.decode()}, option=orjson.OPT_APPEND_NEWLINE)


def _versions(con, files: list[Path], first: str, last: str) -> set[str]:
    """The versions of notes that these files hold of the forums from the first to the last one."""
    if not files:
        return set()
    query = f"select version from {_files(files)} where json is not null and forum between ? and ?"
    return {row[0] for row in con.execute(query, [first, last]).fetchall()}


def _copy(con, rows: Path, path: Path, said: Said) -> None:
    _write(con, f"from {_rows_of(rows)}", path, said)


def _write(con, query: str, path: Path, said: Said) -> None:
    described = ", ".join(f"{key}: '{_quoted(value)}'" for key, value in said.items())
    con.execute(
        f"copy ({query}) to '{_quoted(_unkept(path))}' "
        f"(format parquet, compression zstd, row_group_size {GROUP}, kv_metadata {{{described}}})"
    )


def _rows_of(rows: Path) -> str:
    options = f"format = 'newline_delimited', columns = {COLUMNS}, maximum_object_size = {LARGEST}"
    return f"read_json('{_quoted(rows)}', {options})"


def _unkept(path: Path) -> Path:
    return path.with_name(path.name + ".new")


# Pruning ------------------------------------------------------------------------------------------------------------


def prune(place: Path, names: Collection[str]) -> None:
    """Take the snapshots of these names out of a venue-year's archive; notes that others refer to stay.

    A file that holds such notes is replaced by one with these alone, which is no snapshot any more; others are removed.
    Each step leaves all that the snapshots which stay need, so it may be interrupted anywhere, and done again.
    """
    files = _kept_in(place)
    going = [one.pruned or one.said["name"] in names for one in files]
    for number, one in enumerate(files):
        if going[number]:
            later = range(number + 1, len(files))
            _strip(one, [files[other].path for other in later if not going[other]])


def _strip(one: Kept, later: list[Path]) -> None:
    """Leave only the notes of a file that later files refer to."""
    needed = f"json is not null and version in (select version from {_files(later)} where json is null)"
    with _connection(one.path.parent) as con:
        kept, held = f"from {_files([one.path])} where {needed if later else 'false'}", f"from {_files([one.path])}"
        number = con.execute(f"select count(*) {kept}").fetchall()[0][0]
        if one.pruned and number == con.execute(f"select count(*) {held}").fetchall()[0][0]:
            return
        if number:
            _write(con, f"select * {kept}", one.path, {**one.said, "pruned": "yes"})
    if number:
        Kept(one.path, one.earlier, one.said, kept=False).keep()
    else:
        one.path.unlink()


# Reading ------------------------------------------------------------------------------------------------------------


def _kept_in(place: Path) -> list[Kept]:
    paths = sorted(place.glob("*.parquet"))
    return [Kept(path, paths[:number], _said(path)) for number, path in enumerate(paths)]


def _said(path: Path) -> Said:
    """The snapshot that a file is of."""
    try:
        with _connection(path.parent) as con:
            query = "select decode(key), decode(value) from parquet_kv_metadata(?)"
            said = dict(con.execute(query, [str(path)]).fetchall())
    except duckdb.Error as error:
        raise Trouble(f"{path} cannot be read ({str(error).splitlines()[0]}): move it away to go on.") from None
    if "digest" not in said:
        raise Trouble(f"{path} is not a file of notes that this suite wrote: move it away to go on.")
    return said


def _batch(con, listing: Path, earlier: list[Path], first: str, last: str) -> list[list[dict]]:
    """The notes of the forums from the first to the last one, forum by forum."""
    rows = con.execute(
        f"""
        select listed.forum, notes.json
        from (select * from {_files([listing])} where forum between ? and ?) as listed
        left join (
            select version, json from {_files([*earlier, listing])} where json is not null and forum between ? and ?
        ) as notes using (version)
        order by listed.forum, listed.note_id, version
        """,
        [first, last, first, last],
    ).fetchall()
    forums: dict[str, list[dict]] = {}
    for forum, text in rows:
        if text is None:
            missing = f"{listing} lists notes of {forum} that no file before it holds"
            raise Trouble(f"{missing}: put back what was moved away.")
        forums.setdefault(forum, []).append(orjson.loads(text))
    return list(forums.values())


@contextmanager
def _connection(place: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that spills to disk beside the files rather than fill the memory."""
    config = {**OFFLINE, "memory_limit": MEMORY, "threads": "2", "temp_directory": str(place / SPILLED)}
    with duckdb.connect(config=config) as con:
        con.execute("set parquet_metadata_cache = true")  # or each batch reads the ends of all files anew
        yield con


def _files(paths: list[Path]) -> str:
    names = ", ".join(f"'{_quoted(path)}'" for path in paths)
    return f"read_parquet([{names}], hive_partitioning = false)"


def _quoted(value: object) -> str:
    return str(value).replace("'", "''")
