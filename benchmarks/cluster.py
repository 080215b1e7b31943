"""What a cluster costs, and what it brings: the bundled grid on this machine alone and on 1, 2 and 4 workers of it.

    python benchmarks/cluster.py                             the whole grid five times: many minutes
    python benchmarks/cluster.py --years 2020 --workers 2    a part of it
    python benchmarks/cluster.py --draws 10000               a bootstrap and the simulation of stat, too

Workers are processes of this machine with a checkout of their own and one thread each; they talk through 127.0.0.1 and read
one folder of Parquet. More workers than cores show what crowding costs, no more. Each run begins in a fresh copy of the
project; whether all figures and tables have the same bytes as on one machine is said at the end of each line.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic, perf_counter, sleep

ROOT = Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)

from benchmarks.grid import copied  # noqa: E402
from benchmarks.machine import Cost, described, measure  # noqa: E402

SIMULATED = ("agreement", "resampling")


class Workers:
    """A scheduler with workers, each a process in its own copy of the project."""

    def __init__(self, number: int, folder: Path) -> None:
        known = folder / f"scheduler-{number}.json"
        options = ["--port", "0", "--scheduler-file", str(known)]
        self.scheduler = _start(folder, "distributed.cli.dask_scheduler", *options)
        self.address = json.loads(_content(known))["address"]
        self.workers = [self._worker(folder / f"worker-{one}") for one in range(number)]
        waiting = f"from distributed import Client; Client({self.address!r}).wait_for_workers({number}, timeout=60)"
        subprocess.run([sys.executable, "-c", waiting], check=True)

    def _worker(self, copy: Path) -> subprocess.Popen:
        if not copy.exists():
            copied(copy)
        return _start(copy, "distributed.cli.dask_worker", self.address, "--nthreads", "1", "--no-nanny")

    def close(self) -> float:
        """End all; gives the seconds of processors that the workers and their kernels took."""
        seconds = 0.0
        for process in (*self.workers, self.scheduler):
            process.terminate()
            _, _, usage = os.wait4(process.pid, 0)
            process.returncode = 0
            seconds += (usage.ru_utime + usage.ru_stime) * (process is not self.scheduler)
        return seconds


def _start(folder: Path, *command: str) -> subprocess.Popen:
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    options = ["--host", "127.0.0.1", "--no-dashboard"]
    return subprocess.Popen(
        [sys.executable, "-m", *command, *options],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _content(file: Path) -> str:
    until = monotonic() + 60
    while not (file.exists() and file.stat().st_size) and monotonic() < until:
        sleep(0.1)
    return file.read_text()


# The grid ---------------------------------------------------------------------------------------------------------------


def grid(years: str, alone: list[int], workers: list[int], place: Path) -> None:
    data = place / "shared" / "iclr"
    measure([sys.executable, "-m", "analysis", "export", "--years", years, "--to", str(data)], copied(place / "export"))
    run = ["run", "--years", years, "--database", str(data)]
    ways = [(f"this machine, --jobs {jobs}", 0, ["--jobs", str(jobs)]) for jobs in alone]
    ways += [(f"{number} worker{'s' * (number > 1)}", number, []) for number in workers]
    first = None
    for name, number, options in ways:
        home = copied(place / f"home-{name.replace(' ', '-')}")
        cost, elsewhere = _on(number, place, [*run, *options], home)
        made = published(home / "figures")
        first = first or made
        same = "same bytes" if made == first else f"{_differing(made, first)} DIFFER"
        print(
            f"{name:<24} {cost} at home {elsewhere:8.1f} s of processors on workers  {len(made)} files, {same}",
            flush=True,
        )


def _on(number: int, place: Path, command: list[str], home: Path, **options) -> tuple[Cost, float]:
    """The cost at home of a command, and the seconds of processors on its workers; on no worker, of the command alone."""
    whole = [sys.executable, "-m", "analysis", *command]
    if not number:
        return measure(whole, home, **options), 0.0
    workers = Workers(number, place)
    try:
        cost = measure([*whole, "--scheduler", workers.address], home, **options)
    finally:
        elsewhere = workers.close()
    return cost, elsewhere


def published(figures: Path) -> dict[str, str]:
    """The digests of all figures, tables and notebooks as HTML; the page is made of them at home anyway."""
    books = [path.parent for path in figures.rglob("manifest.json")]
    paths = sorted(path for book in books for path in book.iterdir())
    return {str(path.relative_to(figures)): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def _differing(made: dict[str, str], first: dict[str, str]) -> str:
    return ", ".join(sorted(name for name in made | first if made.get(name) != first.get(name))[:5])


# Draws ------------------------------------------------------------------------------------------------------------------


def drawn(draws: int, workers: list[int], place: Path) -> None:
    home, data = copied(place / "home-draws"), place / "draws" / "iclr"
    measure([sys.executable, "-m", "analysis", "export", "--years", "2020", "--to", str(data)], home)
    for name in SIMULATED:
        command = ["stat", name, "--year", "2020", "--draws", str(draws), "--format", "json", "--database", str(data)]
        answers = {}
        for number in (0, *workers):
            with open(place / "answer.json", "wb") as file:
                cost, elsewhere = _on(number, place, command, home, stdout=file)
            answers[number] = (place / "answer.json").read_bytes()
            where = f"{number} worker{'s' * (number > 1)}" if number else "one core"
            same = "same bytes" if answers[number] == answers[0] else "DIFFERS"
            print(
                f"{name}, {draws:,} draws, {where:<10} {cost} at home {elsewhere:8.1f} s on workers  {same}", flush=True
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--years", default="all", help="as everywhere; none: no grid (default: all)")
    parser.add_argument("--jobs", default="1,2", help="notebooks at a time on this machine alone (default: 1,2)")
    parser.add_argument("--workers", default="1,2,4", help="how many workers (default: 1,2,4)")
    parser.add_argument("--draws", type=int, default=0, help="also statistics with so many draws")
    options = parser.parse_args()
    workers = [int(number) for number in options.workers.split(",")]
    print(described(), flush=True)
    began = perf_counter()
    with tempfile.TemporaryDirectory() as place:
        if options.years != "none":
            grid(options.years, [int(number) for number in options.jobs.split(",")], workers, Path(place))
        if options.draws:
            drawn(options.draws, workers, Path(place))
    print(f"{perf_counter() - began:.0f} s in all")


if __name__ == "__main__":
    main()
