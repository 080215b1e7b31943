"""How a fetch compares with openreview-py's own get_all_notes: wall time and peak memory, over the same listing.

    python benchmarks/fetch.py                            20,000 papers, both ways in turn, three times: 950 MB of JSON
    python benchmarks/fetch.py --growth                   2,000 to 43,000 papers, ours alone: how a fetch grows

The notes are those of a made-up ICLR 2026 of realistic size: reviews of 3,500 characters and twelve comments of 1,500 a
paper. The stand-in answers from pages that it made beforehand, so that the time is the reader's; it and each reader
have a process of their own. A fetch brings the notes, flat and without identities, by way of the archive into the
tables of a database; get_all_notes brings them to memory. Memory is that of a reader and all processes it has started,
together at one time.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parent.parent
sys.path[:1] = [str(ROOT), str(ROOT / "tests")]  # not this folder: its statistics.py is not the one of Python

from statistics import median  # noqa: E402

YEAR = 2026
LISTING = f"ICLR.cc/{YEAR}/Conference/-/Submission"


# The server -----------------------------------------------------------------------------------------------------------


def serve(papers: int, folder: Path) -> None:
    """The stand-in, with its pages made beforehand; prints its environment when it is ready."""
    from openreview_standin import Answer, Request, StandIn, VenueYear

    class Prepared(StandIn):
        def _reply(self, request: Request, fault) -> Answer:
            kept = folder / (request.first("after") or "first")
            if request.path != "/notes":
                return super()._reply(request, fault)
            if not kept.exists():
                kept.write_bytes(super()._reply(request, fault).body)
            return Answer(body=kept.read_bytes())

    with Prepared(years=[VenueYear(YEAR, papers, sizes="real")]) as server:
        _prepare(server)
        print(*(f"{name}={value}" for name, value in server.environment.items()), flush=True)
        server.stopped.wait()


def _prepare(server) -> None:
    import orjson
    from openreview_standin import TOKEN, Request

    query, notes = {"invitation": [LISTING], "details": ["replies"], "sort": ["id"], "count": ["true"]}, [None]
    while notes:
        notes = orjson.loads(server._reply(Request(2, "GET", "/notes", query, f"Bearer {TOKEN}"), None).body)["notes"]
        query = query | {"after": [notes[-1]["id"]]} if notes else query


# The readers ----------------------------------------------------------------------------------------------------------


def ours(folder: Path) -> int:
    """The whole way: pages to disk, into the archive, into the tables of a database."""
    from analysis import fetch, store

    database = folder / "reviews.duckdb"
    fetch.fetch("ICLR", [YEAR], fetch.Asked("api"), database, lambda line: print(line, file=sys.stderr))
    return store.held(database)[0].papers


def theirs(folder: Path) -> int:
    """All notes as a list, as the documentation has it."""
    import openreview.api

    client = openreview.api.OpenReviewClient()
    return len(client.get_all_notes(invitation=LISTING, details="replies"))


READERS = {"theirs": theirs, "ours": ours}


# The comparison -------------------------------------------------------------------------------------------------------


def compare(papers: int, readers: list[str], times: int = 1) -> dict[str, tuple[float, float]]:
    """Seconds and MB of each reader: the medians of so many times in turn."""
    with tempfile.TemporaryDirectory() as place:
        made = Path(place, "made")
        made.mkdir()
        server = subprocess.Popen(_command("serve", papers, made), stdout=subprocess.PIPE, text=True)
        try:
            environment = dict(word.split("=", 1) for word in server.stdout.readline().split())
            size = sum(file.stat().st_size for file in made.iterdir())
            rounds = [
                {name: _measure(name, papers, Path(place, f"{name}-{number}"), environment) for name in readers}
                for number in range(times)
            ]
        finally:
            server.terminate()
            server.wait()
    what = f"{papers:>7,} papers, {size / 1e6:6,.0f} MB of JSON"
    figures = {name: tuple(map(median, zip(*(one[name] for one in rounds), strict=True))) for name in readers}
    for name, (seconds, memory) in figures.items():
        print(f"{what}  {name:<7} {seconds:7.1f} s {memory:7,.0f} MB", flush=True)
    if len(figures) == 2:
        for one in (*rounds, figures) if times > 1 else rounds:
            time, memory = _ratios(one["ours"], one["theirs"])
            print(f"{what}  {'medians' if one is figures else 'ratio  '} {time:7.2f}   {memory:7.2f}", flush=True)
    return figures


def grow(sizes: list[int]) -> None:
    """How time and memory of a fetch grow from the first size to the last."""
    figures = [compare(papers, ["ours"])["ours"] for papers in sizes]
    time, memory = _ratios(figures[-1], figures[0])
    print(f"{sizes[-1] / sizes[0]:.1f} times the papers take {time:.1f} times as long and {memory:.2f} of the memory")


def _ratios(these: tuple[float, float], those: tuple[float, float]) -> list[float]:
    return [one / other for one, other in zip(these, those, strict=True)]


def _measure(name: str, papers: int, folder: Path, environment: dict[str, str]) -> tuple[float, float]:
    """Wall time in seconds and peak memory in MB of a process of its own, with those that it starts."""
    folder.mkdir()
    started = perf_counter()
    with open(folder / "said", "w+") as said, ThreadPoolExecutor(1) as watcher:
        child = subprocess.Popen(_command(name, papers, folder), env=os.environ | environment, stdout=said, stderr=said)
        together = watcher.submit(_together, child.pid)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = perf_counter() - started
        cpu = usage.ru_utime + usage.ru_stime
        print(f"{papers:>7,} papers  {name:<7} {seconds:7.1f} s, {cpu:.1f} s of CPU", flush=True)
        if status:
            said.seek(0)
            sys.exit(f"The reader `{name}` failed (status {os.waitstatus_to_exitcode(status)}): {said.read()[-2000:]}")
    return seconds, max(together.result(), usage.ru_maxrss / 1024)


def _together(process: int) -> float:
    """The most memory in MB that a process and those it started had at one time, looked at fifty times a second.

    What they share counts for each of them. It is read from /proc, since looking for children among all processes takes
    a third of a core.
    """
    peak = 0
    with suppress(OSError):  # it has ended
        while True:
            own = Path(f"/proc/{process}/task/{process}/children").read_text().split()
            peak = max(peak, sum(map(_resident, (str(process), *own))))
            time.sleep(0.02)
    return peak / 2**20


def _resident(process: str) -> int:
    with suppress(OSError):
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _command(role: str, papers: int, folder: Path) -> list[str]:
    return [sys.executable, __file__, "--role", role, "--papers", str(papers), "--folder", str(folder)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--papers", default="20000", help="how many submissions, or several numbers (default: 20000)")
    parser.add_argument("--growth", action="store_true", help="2,000, 10,000 and 43,000 papers, ours alone")
    parser.add_argument("--only", choices=READERS, help="one of the two")
    parser.add_argument("--times", type=int, default=3, help="how often each of the two is measured (default: 3)")
    parser.add_argument("--role", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.role == "serve":
        serve(int(options.papers), options.folder)
    elif options.role:
        came = READERS[options.role](options.folder)
        sys.exit(came != int(options.papers))
    elif options.growth:
        grow([2000, 10_000, 43_000])
    else:
        for papers in options.papers.split(","):
            compare(int(papers), [options.only] if options.only else list(READERS), options.times)


if __name__ == "__main__":
    main()
