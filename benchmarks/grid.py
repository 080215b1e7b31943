"""What a run of the whole bundled grid costs, against other ways to run the same notebooks.

    python benchmarks/grid.py                     all ways, one after the other: some minutes, most of them for `loop`
    python benchmarks/grid.py --years 2020        a smaller grid
    python benchmarks/grid.py --only run,floor    some of them

    run      python -m analysis run: kernels forked warm, on all cores
    plain    the same with ordinary kernels: threads around papermill
    loop     the papermill command, a notebook at a time
    floor    the bare code of the cells in one process, nothing else

Each way runs in a copy of the project's own files, with the same bundled counts loaded beforehand. Then `run` again: with
nothing changed, with one snapshot loaded anew under another name, and from a fresh copy with nothing loaded.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)

from benchmarks.machine import Cost, described, measure  # noqa: E402

WAYS = ("run", "plain", "loop", "floor")


# The ways, each in a process of its own, inside a copy ------------------------------------------------------------------


def jobs(years: str) -> list:
    """The notebooks with their parameters, as the runner makes them."""
    from analysis import fetch, runner

    settings = runner.Settings(root=ROOT)
    wanted = _years(years)
    fetch.load_bundled(wanted, settings.database, _say)
    return runner._grid(runner._notebooks(settings), wanted, settings, _say)


def _years(years: str) -> list[int]:
    from analysis import DATABASE, fetch
    from analysis.venues import parse_years

    return fetch.available_years(DATABASE, "ICLR") if years == "all" else list(parse_years(years, "ICLR", DATABASE))


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def plain(years: str) -> None:
    """The runner with ordinary kernels."""
    from analysis import runner

    sys.exit(runner.run(_years(years), runner.Settings(root=ROOT, warm=False), _say).status)


def loop(years: str) -> None:
    """The papermill command for each notebook, its parameters given as YAML so that their types stay."""
    for job in jobs(years):
        output = ROOT / "runs" / f"{job.key}.ipynb"
        output.parent.mkdir(parents=True, exist_ok=True)
        command = [
            sys.executable,
            "-m",
            "papermill",
            str(job.notebook),
            str(output),
            "-k",
            "python3",
            "--no-progress-bar",
        ]
        subprocess.run([*command, "-y", json.dumps(dict(job.values))], cwd=ROOT, check=True)


def floor(years: str) -> None:
    """The cells of each notebook in this process, in a namespace of their own."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    for job in jobs(years):
        cells = [cell for cell in json.loads(job.notebook.read_text())["cells"] if cell["cell_type"] == "code"]
        names: dict[str, object] = {"display": lambda *shown: None, "__name__": "__main__"}
        for cell in cells:
            exec(compile("".join(cell["source"]), job.key, "exec"), names)
            if "parameters" in cell["metadata"].get("tags", []):
                names.update(job.values)
        plt.close("all")
        _say(job.key)


# The comparison ---------------------------------------------------------------------------------------------------------


def compare(ways: list[str], years: str) -> None:
    print(described(), flush=True)
    with tempfile.TemporaryDirectory() as place:
        costs = {way: _cost(way, years, Path(place, way)) for way in ways}
        if "run" in costs:
            _again(years, Path(place, "run"))
            tell("fresh copy, nothing loaded", measure(_run(years), copied(Path(place, "fresh"))))
    for other in ("plain", "loop", "floor"):
        if "run" in costs and other in costs:
            print(f"{other} / run {costs[other].seconds / costs['run'].seconds:21.2f}")


def _cost(way: str, years: str, folder: Path) -> Cost:
    copied(folder)
    measure([sys.executable, "-m", "analysis", "fetch", "--years", years], folder)
    command = _run(years) if way == "run" else [sys.executable, "benchmarks/grid.py", "--way", way, "--years", years]
    cost = measure(command, folder)
    notebooks = sum(1 for _ in folder.glob("figures/**/manifest.json"))
    tell(f"{way}, {notebooks} notebooks", cost)
    return cost


def _again(years: str, folder: Path) -> None:
    tell("run again, nothing changed", measure(_run(years), folder))
    year = _years(years)[-1]
    change = (
        "from analysis import DATABASE, store\n"
        "with store.loading(DATABASE, 'a benchmark'), store.rebuilding(DATABASE) as con:\n"
        f"    con.execute(\"update snapshots set digest = digest || 'x' where year = {year} and stage = 'release'\")\n"
    )
    measure([sys.executable, "-c", change], folder)
    tell(f"run again, a snapshot of {year} changed", measure(_run(years), folder))


def _run(years: str) -> list[str]:
    return [sys.executable, "-m", "analysis", "run", "--years", years]


def copied(folder: Path) -> Path:
    """The project's own files, as a clone would have them."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for name in filter(None, listed.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)
    return folder


def tell(what: str, cost: Cost) -> None:
    print(f"{what:<38} {cost}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--years", default="all", help="as everywhere (default: all)")
    parser.add_argument("--only", default=",".join(WAYS), help="some of the ways, separated by commas")
    parser.add_argument("--way", choices=WAYS[1:], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        {"plain": plain, "loop": loop, "floor": floor}[options.way](options.years)
    else:
        compare([way for way in WAYS if way in options.only.split(",")], options.years)


if __name__ == "__main__":
    main()
