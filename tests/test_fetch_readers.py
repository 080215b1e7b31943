"""Readers and fetches do not disturb each other: processes that read in a loop while a fetch publishes ten times."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from fetcher import Fetcher
from openreview_standin import Made, StandIn, VenueYear

from analysis import ROOT, store

TIMES = 10

# What a notebook does, again and again: the snapshots, and the rows that belong to each.
LOOP = """
import json, sys, time
from pathlib import Path
from analysis import store
database, seen, reads = Path(sys.argv[1]), set(), 0
print("ready", flush=True)
while not Path(sys.argv[2]).exists():
    with store.reading(database) as con:
        counted = con.execute(
            "select name, papers, (select count(*) from submissions where submissions.snapshot_id = one.snapshot_id), "
            "reviews, (select count(*) from reviews where reviews.snapshot_id = one.snapshot_id and rating is not null) "
            "from snapshots as one order by name"
        ).fetchall()
    seen.add(tuple(map(tuple, counted)))
    reads += 1
    time.sleep(0.01)
print(json.dumps([reads, sorted(seen, key=len)]), flush=True)
"""

# A kernel that was left open: the file as it was at first, to the end.
HOLD = """
import sys, time
from pathlib import Path
from analysis import store
with store.reading(Path(sys.argv[1])) as con:
    query = "select count(*), sum(paper) from submissions"
    first = con.execute(query).fetchall()
    print("ready", flush=True)
    while not Path(sys.argv[2]).exists():
        assert con.execute(query).fetchall() == first
        time.sleep(0.05)
print("the same", flush=True)
"""


def start(code: str, database: Path, end: Path) -> subprocess.Popen:
    reader = subprocess.Popen([sys.executable, "-c", code, str(database), str(end)], cwd=ROOT, stdout=-1, stderr=-1)
    assert reader.stdout.readline() == b"ready\n", reader.stderr.read()
    return reader


def test_four_readers_and_one_that_holds_the_file_see_whole_snapshots_while_a_fetch_publishes_ten_times(tmp_path):
    database, end = tmp_path / "reviews.duckdb", tmp_path / "end"
    readers: list[subprocess.Popen] = []
    with StandIn(years=[VenueYear(2026, 30)]) as server, Fetcher() as fetcher:

        def publish(number: int) -> None:
            server.libraries[2].shelves[1] = Made(VenueYear(2026, 30 + number, stage="release"))
            server.libraries[2]._orders.clear()
            place = ("--source", "api", "--years", 2026, "--database", database, "--snapshot", f"day-{number:02}")
            done = fetcher.run(*place, environment=server.environment, page=50)
            assert done.status == 0, done.err

        try:
            publish(0)
            readers += [start(LOOP, database, end) for _ in range(4)]
            readers.append(start(HOLD, database, end))
            for number in range(1, TIMES + 1):
                publish(number)
        finally:
            end.touch()
            told = [reader.communicate(timeout=60) for reader in readers]
    assert [reader.returncode for reader in readers] == [0] * 5, told
    assert all(errors == b"" for _, errors in told)
    assert told[4][0] == b"the same\n"
    for shown, _ in told[:4]:
        reads, seen = json.loads(shown)
        assert reads > TIMES and len(seen) > 2  # it saw the fetch go on
        for snapshots in seen:
            assert [one[0] for one in snapshots] == [f"day-{number:02}" for number in range(len(snapshots))]
            for number, (_, papers, submissions, reviews, rated) in enumerate(snapshots):
                assert papers == submissions == 30 + number and reviews == rated > 60
    assert len(store.held(database)) == TIMES + 1
