"""What a week of daily snapshots costs, and what it tells: ICLR 2026 on seven mornings of November 2025.

    python benchmarks/week.py                     all 19,630 papers, from ../shared/data (or --data)
    python benchmarks/week.py --texts 700         each prose field filled up to real length (the data has 12 characters)

Each morning is loaded with `fetch --load`. Printed are, for each, the notes that came and those that were new, the time, and
the bytes added to the archive of notes and to the database; then the same morning again, the changes of the whole week,
the series, a digest, and what `prune` gives back.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parent.parent
sys.path[:1] = [str(ROOT), str(ROOT / "tests")]  # not this folder: it has a statistics.py

PROSE = ("summary", "strengths", "weaknesses", "questions")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", type=Path, default=Path(os.environ.get("REVIEW_DATA", ROOT.parent / "shared" / "data"))
    )
    parser.add_argument(
        "--texts", type=int, default=0, metavar="CHARACTERS", help="fill up prose fields to this length"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="week-") as folder:
        database = Path(folder) / "data" / "reviews.duckdb"
        _load(database, options.data, _filler(options.texts))
        _tell(database)
        _prune(database)


def _filler(characters: int):
    """Gives a note prose of real length: words at random, the same for the same note."""
    words = [
        f"{a}{b}{c}"
        for a in ("re", "con", "in", "pro", "ex")
        for b in ("view", "tri", "du", "fer", "pos")
        for c in ("", "ed", "tion", "ing")
    ]

    def fill(note: dict) -> None:
        for name in PROSE if characters else ():
            if name in note["content"]:
                chosen = random.Random(f"{note['id']} {name} {note['tmdate']}").choices(words, k=characters // 7)
                note["content"][name] = {"value": " ".join(chosen)}

    return fill


def _load(database: Path, data: Path, fill) -> None:
    import week

    from analysis import fetch

    database.parent.mkdir()
    print(f"{'morning':<12}{'notes':>10}{'new':>9}{'seconds':>9}{'archive MB':>12}{'database MB':>13}")
    saved, added = database.with_name("saved.jsonl"), []
    for morning in (*week.MORNINGS, week.MORNINGS[-1]):
        number = week.save(week.papers(data), morning, saved, fill)
        before, start = _sizes(database), perf_counter()
        fetch.fetch("ICLR", [week.YEAR], fetch.Asked("notes", (saved,), snapshot=morning), database, lambda line: None)
        seconds, after = perf_counter() - start, _sizes(database)
        added.append([(now - then) / 1e6 for now, then in zip(after, before, strict=True)])
        again = "" if morning not in week.MORNINGS or len(added) <= len(week.MORNINGS) else " (again)"
        sizes = f"{added[-1][0]:>12.2f}{added[-1][1]:>13.2f}"
        print(
            f"{morning:<12}{number:>10,}{_new(database) if not again else 0:>9,}{seconds:>9.1f}{sizes}{again}",
            flush=True,
        )
    saved.unlink()
    for place, name in enumerate(("archive", "database")):
        one, whole = added[0][place], sum(row[place] for row in added)
        print(f"{name}: seven snapshots {whole:.1f} MB, one {one:.1f} MB: {whole / one:.2f} times")


def _sizes(database: Path) -> tuple[int, int]:
    notes = sum(path.stat().st_size for path in (database.parent / "notes").rglob("*.parquet"))
    return notes, database.stat().st_size if database.exists() else 0


def _new(database: Path) -> int:
    """Notes whose text the newest file of the archive holds."""
    import duckdb

    newest = max((database.parent / "notes").rglob("*.parquet"))
    return duckdb.sql(f"select count(json) from read_parquet('{newest}')").fetchall()[0][0]


def _tell(database: Path) -> None:
    import week

    from analysis import changes, digest, tables
    from analysis.compute import Asked, compute

    start = perf_counter()
    found = changes.changes(database, "ICLR", week.YEAR, week.MORNINGS[0], week.MORNINGS[-1], "notes")
    print(f"\ndiff ({perf_counter() - start:.1f} s)\n{found.sentence()}")
    start = perf_counter()
    answer = compute("series", Asked(database, "ICLR", (week.YEAR,), source="notes"))
    print(f"\nseries ({perf_counter() - start:.1f} s)\n{tables.text(answer.frame, 'table', shares=answer.shares)}")
    start = perf_counter()
    told = digest.digest(database, "ICLR", week.YEAR, source="notes")
    print(f"\ndigest ({perf_counter() - start:.1f} s)\n{digest.printed(told, 'table')}")


def _prune(database: Path) -> None:
    from analysis.prune import prune

    start, copied = perf_counter(), database.parent.with_name("copied")
    shutil.copytree(database.parent, copied)
    prune(copied / database.name, "ICLR", keep=3, say=lambda line: print(f"\nprune --keep 3: {line}"))
    print(f"({perf_counter() - start:.1f} s)")


if __name__ == "__main__":
    main()
