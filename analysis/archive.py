"""Raw notes kept apart: `notes/` beside the database, one Parquet file a snapshot, from which the tables can be remade.

A daily snapshot costs what changed. A file lists the notes of those forums that differ from the file that it continues
(`since` in its metadata), by id, forum and version (a hash of the note); a forum that is gone has a row without a note.
The note itself stands only in the first file of its venue-year that has this version. Files are never changed, but for
`prune`; their order is in their names, and what snapshot a file is of in its metadata.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Collection, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import duckdb
import orjson

from analysis.errors import Trouble
from analysis.spool import PIECE, Spool, Version, sync_folder
from analysis.store import connected, quoted

PAPERS = 100  # forums in a batch: what is in memory at once
# Small groups of rows, so that a batch of forums is read without the rest of its file.
GROUP = 2048
MEMORY = "256MB"
LARGEST = 1 << 24  # bytes of a note; each thread that reads notes takes several times as much memory
CONTINUED = 30  # files: then one lists everything again, lest each forum be looked up in a hundred files
SPILLED = "spilled"  # what does not fit into the memory of DuckDB

Said = dict[str, str]


@dataclass
class Kept:
    """One file of the archive, or one that will be in it after `keep`: the notes of a snapshot."""

    path: Path
    earlier: list[Path]  # the files of the same venue-year before it
    said: Said  # venue, year, name, stage, taken_at, source, digest, and since which file it lists what changed
    chain: list[Path]  # the files that it continues, the oldest first, and itself; empty where one of them is missing
    kept: bool = True
    came: Spool | None = None  # where its notes are still at hand
    copying: Future | None = None  # its file in the making, beside whatever is done with the notes meanwhile

    @property
    def pruned(self) -> bool:
        """Whether it is a snapshot no more, and only holds notes that other files refer to."""
        return "pruned" in self.said

    def keep(self) -> None:
        """Put a new file in its place, for good; one that is there already stays."""
        if self.kept:
            return
        self.written()
        with open(_unkept(self.path), "rb+") as file:
            os.fsync(file.fileno())
        os.replace(_unkept(self.path), self.path)
        sync_folder(self.path.parent)
        self.kept, self.came = True, None

    def written(self) -> None:
        """Wait for the file to be complete."""
        if self.copying:
            with _telling(self.path.parent):
                self.copying.result()

    def batches(self) -> Iterator[list[list[dict]]]:
        """The notes of the snapshot in batches of forums: for each forum a list of its notes."""
        if not self.chain:
            raise Trouble(
                f"{self.path} continues {self.said['since']}, which is not there: put back what was moved away."
            )
        listing = self.path if self.kept else _unkept(self.path)
        chain = [*self.chain[:-1], listing]
        with _connection(self.path.parent) as con:
            forums = _forums_listed(con, chain)
            for start in range(0, len(forums), PAPERS):
                part = forums[start : start + PAPERS]
                yield _batch(con, chain, [*self.earlier, listing], part[0], part[-1])


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
        with ThreadPoolExecutor(1) as background:
            draft = _draft(came, path, files, said, background)
            newest = [one for one in files if one.said["name"] == said["name"] and not one.pruned][-1:]
            yield next((one for one in newest if one.said["digest"] == draft.said["digest"]), draft)
    finally:
        _unkept(path).unlink(missing_ok=True)


# Writing ------------------------------------------------------------------------------------------------------------


def _draft(came: Spool, path: Path, files: list[Kept], said: Said, background: Executor) -> Kept:
    earlier, chain = [one.path for one in files], _chain_to_continue(files)
    said = {**said, **({"since": chain[-1].name} if chain else {}), "digest": _digest(came)}
    with _telling(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        _clear(path.parent)
    as_it_came = came.in_order and not files
    lines = came.path if as_it_came else _changed(came, earlier, chain, path.with_suffix(".rows"))
    copying = background.submit(_copy, lines, path, said)
    return Kept(path, earlier, said, [*chain, path], kept=False, came=came, copying=copying)


def _digest(came: Spool) -> str:
    """A hash of which versions of notes came."""
    digest = hashlib.sha256()
    for _, keys, _ in came.rows():
        digest.update("".join(f"{note_id} {version}\n" for note_id, version in keys).encode())
    return digest.hexdigest()[:16]


@contextmanager
def _telling(place: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, duckdb.Error) as error:
        reason = str(error).splitlines()[0]
        raise Trouble(f"{place} cannot be written to ({reason}); nothing was changed.") from None


def _clear(place: Path) -> None:
    """Remove what a load that was killed has left."""
    for pattern in ("*.rows", "*.parquet.new"):
        for path in place.glob(pattern):
            path.unlink()
    shutil.rmtree(place / SPILLED, ignore_errors=True)


def _chain_to_continue(files: list[Kept]) -> list[Path]:
    """The newest snapshot's files, to list what changed since; nothing where everything is to be listed."""
    chains = [one.chain for one in files if one.chain and not one.pruned]
    return chains[-1] if chains and len(chains[-1]) < CONTINUED else []


def _changed(came: Spool, earlier: list[Path], chain: list[Path], rows: Path) -> Path:
    """Write lines as a spool has them, of the forums that changed; those of known versions without their note."""
    try:
        with _telling(rows.parent), _connection(rows.parent) as con, open(rows, "wb", PIECE) as file:
            gone, forums = set(_forums_listed(con, chain)), came.by_forum()
            while batch := list(islice(forums, PAPERS)):
                first, last = batch[0][0], batch[-1][0]
                known, listed = _versions(con, earlier, first, last), _listed(con, chain, first, last)
                for forum, notes in batch:
                    if listed.get(forum) != {(one.note_id, one.version) for one in notes}:
                        file.writelines(_row(forum, one, one.version in known) for one in notes)
                    gone.discard(forum)
            file.writelines(_gone(forum) for forum in sorted(gone))
    except BaseException:
        rows.unlink(missing_ok=True)
        raise
    return rows


def _forums_listed(con, chain: list[Path]) -> list[str]:
    """The forums of a snapshot, in order."""
    if not chain:
        return []
    newest = (
        f"select forum, arg_max(note_id is not null, filename) as there from {_files(chain, named=True)} group by forum"
    )
    return [row[0] for row in con.execute(f"select forum from ({newest}) where there order by forum").fetchall()]


def _listing(chain: list[Path]) -> str:
    """The notes of the forums between two, of a snapshot: of each forum what the newest file that has it says."""
    newest = "filename = max(filename) over (partition by forum)"
    rows = f"select * from {_files(chain, named=True)} where forum between ? and ? qualify {newest}"
    return f"(select * from ({rows}) where note_id is not null)"


def _listed(con, chain: list[Path], first: str, last: str) -> dict[str, set[tuple[str, str]]]:
    """Note and version of all notes that a snapshot has of the forums from the first to the last one."""
    forums: dict[str, set[tuple[str, str]]] = {}
    if chain:
        query = f"select forum, note_id, version from {_listing(chain)}"
        for forum, note_id, version in con.execute(query, [first, last]).fetchall():
            forums.setdefault(forum, set()).add((note_id, version))
    return forums


def _row(forum: str, note: Version, known: bool) -> bytes:
    return orjson.dumps([note.note_id, forum, note.version]) + b"\t" + (b"" if known else note.text) + b"\n"


def _gone(forum: str) -> bytes:
    return orjson.dumps([None, forum, None]) + b"\t\n"


def _versions(con, files: list[Path], first: str, last: str) -> set[str]:
    """The versions of notes that these files hold of the forums from the first to the last one."""
    if not files:
        return set()
    query = f"select version from {_files(files)} where json is not null and forum between ? and ?"
    return {row[0] for row in con.execute(query, [first, last]).fetchall()}


def _copy(rows: Path, path: Path, said: Said) -> None:
    """Make a file of lines; a spool stays, since the tables are still to be made of it."""
    try:
        with _connection(path.parent) as con:
            con.execute("set preserve_insertion_order = false")  # about as it came will do, and two threads are faster
            _write(con, _rows_of(rows), path, said)
    finally:
        path.with_suffix(".rows").unlink(missing_ok=True)


def _write(con, query: str, path: Path, said: Said) -> None:
    described = ", ".join(f"{key}: '{quoted(value)}'" for key, value in said.items())
    con.execute(
        f"copy ({query}) to '{quoted(_unkept(path))}' "
        # There is nothing to be found twice, and looking for it takes a tenth of the time.
        f"(format parquet, compression zstd, dictionary_size_limit 1, row_group_size {GROUP}, kv_metadata {{{described}}})"
    )


def _rows_of(rows: Path) -> str:
    options = "auto_detect = false, header = false, delim = '\t', quote = '', escape = ''"
    sizes = f"max_line_size = {LARGEST}, buffer_size = {LARGEST}"
    lines = f"read_csv('{quoted(rows)}', columns = {{place: 'varchar', json: 'varchar'}}, {options}, {sizes})"
    places = "place->>0 as note_id, place->>1 as forum, place->>2 as version"
    return f"select {places}, json from {lines} where place[1] = '['"  # others are about a page


def _unkept(path: Path) -> Path:
    return path.with_name(path.name + ".new")


# Pruning ------------------------------------------------------------------------------------------------------------


def prune(place: Path, names: Collection[str]) -> None:
    """Take the snapshots of these names out of a venue-year's archive; notes that others refer to stay.

    A file that holds such notes, or continues into a snapshot that stays, is replaced by one with what is needed of it,
    which is no snapshot any more; others are removed. The newest go first. Each step leaves all that the snapshots which
    stay need, so it may be interrupted anywhere, and done again.
    """
    files = _kept_in(place)
    staying = [one for one in files if not (one.pruned or one.said["name"] in names)]
    for one in reversed(files):
        if one not in staying:
            _strip(one, staying)


def _strip(one: Kept, staying: list[Kept]) -> None:
    """Leave only what the files that stay need: what they list by it, and notes that a later file refers to."""
    continued = [other.chain for other in staying if one.path in other.chain]
    needed = [
        f"forum in (select forum from {_files(chain, named=True)} group by forum having max(filename) = '{quoted(one.path)}')"
        for chain in continued
    ]
    if later := [path for path in sorted(one.path.parent.glob("*.parquet")) if path > one.path]:
        referred = f"select version from {_files(later)} where json is null and version is not null"
        needed.append(f"json is not null and version in ({referred})")
    with _connection(one.path.parent) as con:
        rows = f"from {_files([one.path])}"
        kept = f"{rows} where {' or '.join(f'({each})' for each in needed) or 'false'}"
        held, number = (con.execute(f"select count(*) {each}").fetchall()[0][0] for each in (rows, kept))
        if one.pruned and number == held and (number or continued):
            return
        if number or continued:
            _write(con, f"select * {kept}", one.path, {**one.said, "pruned": "yes"})
    if number or continued:
        Kept(one.path, one.earlier, one.said, one.chain, kept=False).keep()
    else:
        one.path.unlink()


# Reading ------------------------------------------------------------------------------------------------------------


def _kept_in(place: Path) -> list[Kept]:
    paths, chains = sorted(place.glob("*.parquet")), {}
    files = []
    for number, path in enumerate(paths):
        said = _said(path)
        before = chains.get(said["since"], []) if "since" in said else None
        chains[path.name] = [path] if before is None else [*before, path] if before else []
        files.append(Kept(path, paths[:number], said, chains[path.name]))
    return files


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


def _batch(con, chain: list[Path], files: list[Path], first: str, last: str) -> list[list[dict]]:
    """The notes of the forums from the first to the last one, forum by forum."""
    rows = con.execute(
        f"""
        select listed.forum, notes.json
        from {_listing(chain)} as listed
        left join (
            -- twice only where a file was moved away and put back
            select version, any_value(json) as json from {_files(files)}
            where json is not null and forum between ? and ? group by version
        ) as notes using (version)
        order by listed.forum, listed.note_id, version
        """,
        [first, last, first, last],
    ).fetchall()
    forums: dict[str, list[dict]] = {}
    for forum, text in rows:
        if text is None:
            missing = f"{chain[-1]} lists notes of {forum} that no file before it holds"
            raise Trouble(f"{missing}: put back what was moved away.")
        forums.setdefault(forum, []).append(orjson.loads(text))
    return list(forums.values())


@contextmanager
def _connection(place: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that spills to disk beside the files rather than fill the memory."""
    with connected(memory_limit=MEMORY, threads="2", temp_directory=str(place / SPILLED)) as con:
        con.execute("set parquet_metadata_cache = true")  # or each batch reads the ends of all files anew
        yield con


def _files(paths: list[Path], named: bool = False) -> str:
    names = ", ".join(f"'{quoted(path)}'" for path in paths)
    return f"read_parquet([{names}], hive_partitioning = false, filename = {str(named).lower()})"
