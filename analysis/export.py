"""Export: the tables as Parquet, partitioned by venue and year, for other programs and for workers elsewhere.

`--database` reads such a folder everywhere. The path names the partition (`reviews/venue=ICLR/year=2020/`), which is why
`snapshots`, the one table that has columns of these names, is a single file.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from analysis import fetch, store
from analysis.errors import Trouble, count
from analysis.snapshots import Snapshot

OF_SNAPSHOTS = "snapshots"
OTHERS = tuple(table for table in store.TABLES if table != OF_SNAPSHOTS)


def export(database: Path, to: Path, venue: str = "", years: tuple[int, ...] = ()) -> str:
    """Write the tables of these years (of one venue, or of all in the store) to a folder; gives a sentence on what it holds.

    Years of a venue that are asked for and bundled are loaded first. The folder appears when it is whole: it is written
    beside its place and renamed. An earlier export is replaced; Trouble, and nothing is touched, where anything else is
    there.
    """
    to = to.absolute()
    _check(to)
    for year in years if venue else ():
        fetch.ensure(database, venue, year)
    with store.reading(database) as con:
        asked = [one for one in store.snapshots(con, venue) if not years or one.year in years]
        if not asked:
            raise Trouble(
                f"{database} holds no such snapshot to export; `python -m analysis status` lists what it holds."
            )
        with _replacing(to) as folder:
            _write(con, folder, asked)
    partitions = {(one.venue, one.year) for one in asked}
    return (
        f"{to} holds {count(len(asked), 'snapshot')} of {count(len(partitions), 'year')}: --database {to} reads them."
    )


def _check(to: Path) -> None:
    if to.exists() and not _is_export(to) and not (to.is_dir() and not any(to.iterdir())):
        raise Trouble(f"{to} is there already and was not written by `export`: give another --to.")


def _is_export(folder: Path) -> bool:
    return folder.is_dir() and {path.name for path in folder.iterdir()} == set(store.TABLES)


@contextmanager
def _replacing(to: Path) -> Iterator[Path]:
    """A folder beside its place, renamed when the block ends well and thrown away when it does not."""
    new, old = (to.with_name(f".{to.name}.{kind}") for kind in ("being-exported", "exported-before"))
    try:
        for left in (new, old):  # by an export that was killed
            shutil.rmtree(left, ignore_errors=True)
        new.mkdir(parents=True)
        yield new
        if to.exists():
            os.replace(to, old)
        os.replace(new, to)
    except (OSError, duckdb.IOException) as error:
        raise Trouble(f"{to} cannot be written ({str(error).splitlines()[0]}); give another --to.") from None
    finally:
        for left in (new, old):
            shutil.rmtree(left, ignore_errors=True)


def _write(con: duckdb.DuckDBPyConnection, folder: Path, asked: list[Snapshot]) -> None:
    """A file a table, venue and year, also where it has no row: whoever reads finds every table with its columns."""
    _copy(con, OF_SNAPSHOTS, asked, folder / OF_SNAPSHOTS)
    groups: dict[tuple[str, int], list[Snapshot]] = {}
    for one in asked:
        groups.setdefault((one.venue, one.year), []).append(one)
    for (venue, year), some in groups.items():
        for table in OTHERS:
            _copy(con, table, some, folder / table / f"venue={venue.replace('/', '-')}" / f"year={year}")


def _copy(con: duckdb.DuckDBPyConnection, table: str, some: list[Snapshot], place: Path) -> None:
    place.mkdir(parents=True)
    numbers = ", ".join(str(one.snapshot_id) for one in some)
    path = str(place / "part.parquet").replace("'", "''")
    con.execute(
        f"copy (select * from {table} where snapshot_id in ({numbers}) order by all) to '{path}' "
        "(format parquet, compression zstd)"
    )
