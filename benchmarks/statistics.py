"""What each statistic costs: on ICLR 2026 as bundled, and on made-up years of up to ten million reviews.

    python benchmarks/statistics.py                            all on ICLR 2026, in one process on one core, 1,000 draws
    python benchmarks/statistics.py --growth 76000,1000000     each in a process of its own, with its peak memory
    python benchmarks/statistics.py --against                  ICC(1) and the logit against statsmodels, in the same process

A time is that of the whole question: reading the snapshot from the store and computing. `--growth` reads a folder of Parquet
(benchmarks/synthetic.py), and its times have the start of Python and the imports in them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)  # not this folder: its statistics.py is not the one of Python

from benchmarks.machine import described, measure  # noqa: E402


def names() -> list[str]:
    """The statistics, but for those of one paper's ratings, which `stand` prints."""
    from analysis.statistics import statistics

    return [name for name, one in statistics().items() if one.takes != "ratings"]


# One year ---------------------------------------------------------------------------------------------------------------


def once(year: int, database: Path) -> None:
    """Every statistic on one year, one after the other, slowest first."""
    from analysis import fetch
    from analysis.errors import Trouble

    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    fetch.load_bundled([year], database, lambda line: None)
    times, refused = {}, {}
    for name in names():
        began = perf_counter()
        try:
            _compute(name, year, database)
            times[name] = perf_counter() - began
        except Trouble as trouble:
            refused[name] = str(trouble)
    for name, seconds in sorted(times.items(), key=lambda item: -item[1]):
        print(f"{name:<32} {seconds:6.2f} s")
    for name, why in refused.items():
        print(f"{name:<32} refused: {why}")
    print(f"{f'all {len(times)}, one core':<32} {sum(times.values()):6.2f} s")


def _compute(name: str, year: int, database: Path) -> None:
    from analysis.compute import Asked, compute

    compute(name, Asked(database, "ICLR", (year,)))


# Growth -----------------------------------------------------------------------------------------------------------------


def growth(sizes: list[int], only: list[str]) -> None:
    """Each statistic on years of these sizes: seconds and peak memory.

    Rows are made and statistics are listed by other processes: Linux counts the memory of a parent as its child's.
    """
    listed = subprocess.run([sys.executable, __file__, "--names"], check=True, capture_output=True, text=True).stdout
    with tempfile.TemporaryDirectory() as place:
        for size in sizes:
            years = {year: Path(place, f"{year}-{size}") for year in (2020, 2025)}
            for year, folder in years.items():
                made = measure([sys.executable, "benchmarks/synthetic.py", str(folder), str(size), str(year)], ROOT)
                print(f"{size:>11,} reviews  {f'made, as of {year}':<32} {made}", flush=True)
            for name in listed.split():
                if not only or name in only:
                    _one(name, size, years)


def _one(name: str, size: int, years: dict[int, Path]) -> None:
    """The first of the made-up years that the statistic does not refuse."""
    for year, folder in reversed(years.items()):
        command = [sys.executable, __file__, "--one", name, "--year", str(year), "--database", str(folder)]
        try:
            cost = measure(command, ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except SystemExit:
            continue
        print(f"{size:>11,} reviews  {name:<32} {cost}", flush=True)
        return
    print(f"{size:>11,} reviews  {name:<32} refused", flush=True)


# Against others -----------------------------------------------------------------------------------------------------------


def against(year: int, database: Path) -> None:
    """Our few lines of numpy against statsmodels, for the same numbers."""
    import numpy as np
    import statsmodels.api as sm
    import statsmodels.formula.api as smf

    from analysis import sample

    papers = sample.load(database, "ICLR", year)
    rated = papers.papers[papers.papers["reviews"] > 0]
    _icc(papers)  # the import is not what is timed
    icc, ours = _timed(lambda: _icc(papers))
    mixed, theirs = _timed(lambda: smf.mixedlm("rating ~ 1", papers.reviews, groups="paper").fit())
    between = float(mixed.cov_re.iloc[0, 0])
    print(
        f"ICC(1): ours {icc:.4f} in {1000 * ours:.1f} ms; MixedLM (REML) {between / (between + mixed.scale):.4f} in {theirs:.1f} s"
    )
    print(f"MixedLM / ours {theirs / ours:,.0f}")
    accepted = (rated["outcome"] == "accepted").to_numpy().astype(float)
    design = sm.add_constant(rated["average"].to_numpy())
    fitted, theirs = _timed(lambda: sm.Logit(accepted, design).fit(disp=0))
    print(f"logit by statsmodels: slope {np.round(fitted.params[1], 3)} in {1000 * theirs:.1f} ms")


def _icc(papers) -> float:
    from analysis.statistics.agreement import intraclass, kinds_of, moments_of

    kinds, counts = kinds_of(papers.profiles())
    return float(intraclass((counts @ moments_of(kinds, papers.scale.levels))[None])[0])


def _timed(work):
    began = perf_counter()
    return work(), perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--growth", default="", metavar="N,N", help="numbers of reviews of made-up years")
    parser.add_argument("--only", default="", metavar="NAME,NAME", help="with --growth: these statistics")
    parser.add_argument("--against", action="store_true", help="against statsmodels (of requirements-test.txt)")
    parser.add_argument("--year", type=int, default=2026, help="a bundled year (default: 2026)")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--names", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--database", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.names:
        print(*names())
        return
    if options.one:
        _compute(options.one, options.year, options.database)
        return
    print(described(), flush=True)
    with tempfile.TemporaryDirectory() as place:
        database = Path(place, "reviews.duckdb")
        if options.growth:
            growth([int(size) for size in options.growth.split(",")], list(filter(None, options.only.split(","))))
        elif options.against:
            against(options.year, database)
        else:
            once(options.year, database)


if __name__ == "__main__":
    main()
