"""Does a run leave something behind? Twenty forced runs of three years in a row, in one process.

    python benchmarks/soak.py                                     ICLR 2017 to 2019, all notebooks, twenty times: many minutes
    python benchmarks/soak.py --years 2017 --only 02 --runs 3     a part of it

After each run: the memory and the open files of this process, the processes that it started and that still live, the files in a
temporary folder of its own and in the copy of the project. Ends with status 1 where a notebook failed, a process or a file is
left, a figure or a table has other bytes than after the first run, or memory is a tenth larger at the end than after the third run.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)

from benchmarks.cluster import published  # noqa: E402
from benchmarks.grid import copied  # noqa: E402
from benchmarks.machine import described  # noqa: E402

SETTLED = 3  # runs, until all that is kept on purpose (modules, fonts, lists of snapshots) is there
GROWTH = 1.1


@dataclass(frozen=True)
class Left:
    """What there is after a run."""

    failed: int
    memory: float  # MB of this process
    handles: int
    processes: int
    temporary: int
    files: int
    digests: dict[str, str]

    def __str__(self) -> str:
        counts = f"{self.handles} open files, {self.processes} processes, {self.temporary} temporary files"
        return f"{self.failed} failed  {self.memory:5.0f} MB  {counts}, {self.files} files"


def soak(years: list[int], only: tuple[str, ...], runs: int, place: Path) -> list[str]:
    """Run so many times; gives what is wrong."""
    from analysis import runner

    root, temporary = copied(place / "project"), place / "temporary"
    temporary.mkdir()
    tempfile.tempdir = os.environ["TMPDIR"] = str(temporary)
    settings = runner.Settings(root=root, database=root / "data" / "reviews.duckdb", only=only, force=True)
    seen: list[Left] = []
    for number in range(1, runs + 1):
        with runner.alone(root, _quiet):
            result = runner.run(years, settings, _quiet)
        seen.append(_left(result, root, temporary))
        print(f"run {number:>2}: {len(result.done)} done, {seen[-1]}", flush=True)
    return [fault for one in seen for fault in _faults(one, seen)]


def _quiet(line: str) -> None:
    if "FAILED" in line:
        print(line, file=sys.stderr, flush=True)


def _left(result, root: Path, temporary: Path) -> Left:
    import psutil

    gc.collect()  # what waits for that is no leak, nor what the C library keeps for later
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    own = psutil.Process()
    return Left(
        len(result.failed + result.skipped),
        own.memory_info().rss / 2**20,
        own.num_fds(),
        len(own.children(recursive=True)),
        sum(1 for _ in temporary.rglob("*")),
        sum(1 for _ in root.rglob("*")),
        published(root / "figures"),
    )


def _faults(one: Left, seen: list[Left]) -> list[str]:
    settled = seen[min(SETTLED, len(seen)) - 1]
    wrong = {
        f"{one.failed} notebooks failed": one.failed,
        f"{one.processes} processes are left": one.processes,
        f"{one.temporary} temporary files are left": one.temporary,
        "other figures or tables": one.digests != seen[0].digests,
        f"{one.files} files, not {settled.files}": one.files > settled.files,
        f"{one.handles} open files, not {settled.handles}": one.handles > settled.handles,
        f"{one.memory:.0f} MB, not {settled.memory:.0f}": one is seen[-1] and one.memory > GROWTH * settled.memory,
    }
    return [fault for fault, found in wrong.items() if found]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--years", default="2017,2018,2019", help="separated by commas (default: 2017,2018,2019)")
    parser.add_argument("--only", default="", help="some of the notebooks, by number (default: all)")
    parser.add_argument("--runs", type=int, default=20, help="how often (default: 20)")
    options = parser.parse_args()
    print(described(), flush=True)
    years, only = [int(year) for year in options.years.split(",")], tuple(filter(None, options.only.split(",")))
    with tempfile.TemporaryDirectory() as place:
        faults = soak(years, only, options.runs, Path(place))
    print(*(faults or ["no failure, nothing left behind"]), sep="\n")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
