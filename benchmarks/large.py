"""A year as large as ICLR 2027: from the API's answers to the page, with the time and the memory of each step.

    python benchmarks/large.py                     43,000 papers, 165,000 reviews: about 2 GB of JSON, some minutes
    python benchmarks/large.py --papers 4000       smaller

The notes are made up, of realistic size, and served by the local stand-in (see benchmarks/fetch.py). The steps are the commands that
somebody types, in a copy of the project with a store of its own; the bundled years are loaded too, as usual.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)

from benchmarks.grid import copied, tell  # noqa: E402
from benchmarks.machine import described, measure  # noqa: E402

YEAR = "2026"  # whose notes the stand-in makes up
RATINGS = ("2", "4", "6", "6")


def steps(papers: int) -> None:
    print(described(), flush=True)
    with tempfile.TemporaryDirectory() as place:
        folder, made = copied(Path(place, "project")), Path(place, "made")
        made.mkdir()
        command = [
            sys.executable,
            "benchmarks/fetch.py",
            "--role",
            "serve",
            "--papers",
            str(papers),
            "--folder",
            str(made),
        ]
        server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        try:
            environment = os.environ | dict(word.split("=", 1) for word in server.stdout.readline().split())
            print(
                f"{papers:,} papers, {sum(file.stat().st_size for file in made.iterdir()) / 1e6:,.0f} MB of JSON",
                flush=True,
            )
            _step(folder, "fetch", "--source", "api", "--years", YEAR, env=environment)
        finally:
            server.terminate()
            server.wait()
        _step(folder, "status")
        _step(folder, "run", "--years", YEAR)
        _step(folder, "run", "--years", YEAR)
        _step(folder, "stand", "--year", YEAR, *RATINGS)
        for path in ("data/notes", "data/reviews.duckdb", "figures"):
            print(f"{path:<38} {_size(folder / path) / 1e6:8,.0f} MB")


def _step(folder: Path, *words: str, **options) -> None:
    cost = measure([sys.executable, "-m", "analysis", *words], folder, **options)
    tell(" ".join(words), cost)


def _size(path: Path) -> int:
    return sum(file.stat().st_size for file in ([path] if path.is_file() else path.rglob("*")) if file.is_file())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--papers", type=int, default=43000, help="how many submissions (default: 43000)")
    steps(parser.parse_args().papers)


if __name__ == "__main__":
    main()
