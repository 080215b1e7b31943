"""Forums into rows while further pages come: a process of its own reads the pages of a spool that are there.

Reading forums is the longest part of a load, and a second core is mostly idle. Nothing depends on that process but
time: where it could not start or has failed, the forums are read here. It ends with the one that started it, however
that ends, and its rows are in a file that has no name.
"""

from __future__ import annotations

import gc
import heapq
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import BinaryIO

import orjson

from analysis import ROOT
from analysis.forms import Rows, read_forum
from analysis.spool import Place, Spool, forum_in, lines, notes_of
from analysis.venues import VenueYear

WORTH = 15_000  # notes, a full page of papers: with less to read, a process takes longer to start than it saves


class Ahead:
    """The rows of those pages that it was told to `read`; OSError where no process can be started."""

    def __init__(self, path: Path, form: VenueYear) -> None:
        self._rows = tempfile.TemporaryFile(dir=path.parent)  # noqa: SIM115 (closed by `close`)
        number = self._rows.fileno()
        # In a session of its own Ctrl-C does not reach it: it ends when its input does.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "analysis.ahead", str(path.resolve()), str(number)],
            **{"cwd": ROOT, "stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL},
            env={name: value for name, value in os.environ.items() if not name.startswith("OPENREVIEW")},
            pass_fds=[number],
            start_new_session=True,
        )
        self._tell(form)

    def read(self, page: Place) -> None:
        """Begin with a page, as soon as those before it are read."""
        self._tell(page)

    def pages(self) -> list[Place] | None:
        """Where the rows of each page are, when all are read; None where that failed."""
        self._tell(None)
        said = self._process.stdout.read()
        return pickle.loads(said) if self._process.wait() == 0 else None

    def forums(self, page: Place) -> Iterator[tuple[str, bytes]]:
        """The forums of a page in their order, and the rows of each as JSON."""
        for line in lines(self._rows.fileno(), page):
            forum, _, rows = line.partition(b"\t")
            yield orjson.loads(forum), rows

    def close(self) -> None:
        self._process.kill()
        with suppress(OSError):  # of what could not be told
            self._process.communicate()
        self._rows.close()

    def _tell(self, what: object) -> None:
        with suppress(OSError):  # it has ended: its exit status says so
            pickle.dump(what, self._process.stdin)
            self._process.stdin.flush()


def read_ahead(spool: Spool, form: VenueYear) -> None:
    """From now on read the pages of a large spool into rows as they come, from the first one on."""
    if spool.ahead or spool.notes < WORTH:
        return
    with suppress(OSError):
        spool.ahead = Ahead(spool.path, form)
        for page in spool.pages:
            spool.ahead.read(page)


def rows_of(spool: Spool, form: VenueYear) -> Iterator[Rows]:
    """The rows of each forum of a complete spool, in the order of forums."""
    pages = spool.ahead.pages() if spool.ahead else None
    if pages is None:
        yield from (read_forum(notes_of(forum), form) for forum in spool.by_forum())
        return
    whole = spool.by_forum()  # goes only as far as there are forums that came on several pages
    merged = heapq.merge(*map(spool.ahead.forums, pages), key=itemgetter(0))
    for forum, parts in groupby(merged, key=itemgetter(0)):
        (_, rows), *others = parts
        if others:
            yield read_forum(notes_of(next(one for one in whole if one[0] == forum)), form)
        else:
            yield orjson.loads(rows)


# In the process -----------------------------------------------------------------------------------------------------


def main(spool: str, number: int) -> None:
    """Read the pages whose places come as input into a file that is open; then say where the rows of each are."""
    gc.disable()  # notes have no cycles
    told: SimpleQueue = SimpleQueue()
    Thread(target=_listen, args=[told], daemon=True).start()
    form, places = told.get(), []
    with open(spool, "rb") as notes, open(number, "wb") as rows:
        while page := told.get():
            start = rows.tell()
            for line in lines(notes.fileno(), page):
                forum = forum_in(line)
                rows.write(b"%b\t%b\n" % (orjson.dumps(forum[0]), orjson.dumps(read_forum(notes_of(forum), form))))
            places.append((start, rows.tell()))
    pickle.dump(places, sys.stdout.buffer)
    sys.stdout.flush()
    os._exit(0)  # the thread is still listening, as it should


def _listen(told: SimpleQueue) -> None:
    """Hand on what is told; where that ends without an end, whoever told it is gone."""
    stdin: BinaryIO = sys.stdin.buffer
    with suppress(EOFError):
        while True:
            told.put(pickle.load(stdin))
    os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
