"""Large answers are read by two processes in turn, while the next one comes: into lines of a spool, and into rows.

To read a page of a thousand papers takes longer than to get it. A process is given an answer as it came, says at once
which notes it has, so that the next page can be asked for, and then what it made of them; one after the other they are
put on disk here. Where no process can be started, and for small answers, all that is done here. They end with the one
that started them, however that ends.
"""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

import orjson

from analysis import ROOT
from analysis.errors import Trouble
from analysis.forms import Rows, public, read_forum
from analysis.sources.decoding import parsed
from analysis.sources.transport import RESUME
from analysis.spool import Spool, lines_of, marked, notes_of
from analysis.venues import VenueYear

LARGE = 1 << 23  # bytes of an answer: with less to read, a process takes longer to start than it saves
PROCESSES = 2
PIECE = 1 << 18  # bytes that are handed over at once
PIPE = 1 << 20  # bytes that may wait to be read


class Ahead:
    """Puts answers into a spool: each is first `parsed`, then `added`; all of them are there when the block ends."""

    def __init__(self, spool: Spool, form: VenueYear) -> None:
        self._spool, self._form = spool, form
        self._idle: list[_Reader] = []
        self._busy: deque[tuple[_Reader, Future]] = deque()  # in the order of their pages
        self._last: _Reader | None = None  # has the answer that was parsed last
        self._writer = ThreadPoolExecutor(1)  # pages are written one after the other, whoever is done first
        self._lost = False  # a page, and with it those after it

    def __enter__(self) -> Ahead:
        return self

    def __exit__(self, kind: type | None, *_: object) -> None:
        """Write what has come, also where the fetch is broken off; then it is for that reason."""
        try:
            self._settle()
        except Exception:
            if not kind:
                raise
        finally:
            self._let_go()
            for reader in [*self._idle, *(reader for reader, _ in self._busy)]:
                reader.close()
            self._writer.shutdown()

    def parsed(self, body: bytes) -> object:
        """The value of an answer; of a large one that is a page, only its notes' ids and how many replies they have."""
        self._let_go()
        reader = self._free() if len(body) >= LARGE else None
        if not reader:
            return parsed(body)
        try:
            said, is_page = reader.begin(body)
        except (OSError, EOFError):
            reader.close()
            return parsed(body)
        if is_page:
            self._last = reader
        else:
            self._idle.append(reader)
        return said

    def add(self, submissions: list[dict], cursor: Mapping) -> None:
        """Have the page that was parsed last put into the spool, when those before it are; waits for a process to be free.

        An answer that came meanwhile would only take memory.
        """
        if self._last:
            self._busy.append((self._last, self._writer.submit(self._write, self._last, cursor)))
            self._last = None
            if len(self._busy) == PROCESSES:
                self._settle_one()
        else:
            self._settle()
            notes, restricted = public(submissions)
            self._spool.add(notes, cursor, restricted)

    def _let_go(self) -> None:
        """A page that was parsed and is not wanted: what becomes of it is not worth waiting for."""
        if self._last:
            self._last.close()
            self._last = None

    def _free(self) -> _Reader | None:
        """A process that waits for an answer; None where none can be started."""
        try:
            return self._idle.pop() if self._idle else _Reader(self._form)
        except OSError:
            return None

    def _settle(self) -> None:
        while self._busy:
            self._settle_one()

    def _settle_one(self) -> None:
        reader, written = self._busy[0]
        written.result()
        self._busy.popleft()
        self._idle.append(reader)

    def _write(self, reader: _Reader, cursor: Mapping) -> None:
        """Put a page into the spool as soon as it is made, unless one before it was lost."""
        if self._lost:
            return
        self._lost = True
        try:
            mark, lines, rows = reader.made()
            self._spool.put(reader.pieces(lines), mark, cursor, reader.pieces(rows))
        except EOFError:
            raise Trouble(
                f"A process that read a page has ended early, perhaps for want of memory: {RESUME}."
            ) from None
        self._lost = False


class _Reader:
    """A process that reads answers; OSError where it cannot be started."""

    def __init__(self, form: VenueYear) -> None:
        # In a session of its own Ctrl-C does not reach it: it ends when its input does.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "analysis.ahead"],
            **{"cwd": ROOT, "stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL},
            env={name: value for name, value in os.environ.items() if not name.startswith("OPENREVIEW")},
            start_new_session=True,
            pipesize=PIPE,
        )
        self._tell(form)

    def begin(self, body: bytes) -> tuple[object, bool]:
        """What an answer says, and whether it is a page, that the process goes on with."""
        self._tell(body)
        return self._told()

    def made(self) -> tuple[Mapping, int, int]:
        """What is said of the page, and how many bytes of lines and of rows come after it; waits for the process."""
        return self._told()

    def pieces(self, size: int) -> Iterator[bytes]:
        """So many bytes of what the process made."""
        while size:
            piece = self._process.stdout.read(min(size, PIECE))
            if not piece:
                raise EOFError
            size -= len(piece)
            yield piece

    def close(self) -> None:
        self._process.kill()
        with suppress(OSError):  # of what could not be told
            self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()

    def _tell(self, what: object) -> None:
        pickle.dump(what, self._process.stdin, protocol=5)
        self._process.stdin.flush()

    def _told(self) -> tuple:
        try:
            return pickle.load(self._process.stdout)
        except pickle.UnpicklingError:  # it ended in the middle
            raise EOFError from None


def rows_of(spool: Spool, form: VenueYear) -> Iterator[Rows]:
    """The rows of each forum of a complete spool, in the order of forums."""
    whole = spool.by_forum()
    if not spool.has_rows:
        yield from (read_forum(notes_of(forum), form) for forum in whole)
        return
    for forum, _, rows in spool.rows():
        # The notes are gone through only as far as there are forums whose rows are still to be made.
        yield orjson.loads(rows) if rows else read_forum(notes_of(next(one for one in whole if one[0] == forum)), form)


# In the process -----------------------------------------------------------------------------------------------------


def main() -> None:
    """Answer to answers until there are no more."""
    gc.disable()  # notes have no cycles
    given, told = sys.stdin.buffer, sys.stdout.buffer
    form = pickle.load(given)
    while True:
        said = parsed(pickle.load(given))
        is_page = _is_page(said)
        pickle.dump((_outline(said) if is_page else said, is_page), told, protocol=5)
        told.flush()
        if is_page:
            mark, lines, rows = _made(said.pop("notes"), form)
            pickle.dump((mark, sum(map(len, lines)), sum(map(len, rows))), told, protocol=5)
            told.writelines(lines)
            told.writelines(rows)
            told.flush()
            del mark, lines, rows
            _give_back()


def _give_back() -> None:
    """Have the C library return what a page took, or the next one comes on top of it."""
    with suppress(AttributeError):  # only glibc can be told
        ctypes.CDLL(None).malloc_trim(0)


def _is_page(said: object) -> bool:
    notes = said.get("notes") if isinstance(said, dict) else None
    return isinstance(notes, list) and all(isinstance(note, dict) and isinstance(note.get("id"), str) for note in notes)


def _outline(said: dict) -> dict:
    """An answer with as much of its notes as it takes to ask for the next page, and to tell how far it is."""
    return {**said, "notes": [{"id": note["id"], "details": {"replies": _nothing(note)}} for note in said["notes"]]}


def _nothing(note: dict) -> list[None]:
    details = note.get("details")
    replies = details.get("replies") if isinstance(details, dict) else None
    return [None] * len(replies) if isinstance(replies, list) else []


def _made(submissions: list[dict], form: VenueYear) -> tuple[dict, list[bytes], list[bytes]]:
    """What is said of a page, its lines, and the rows of each; the list is used up."""
    notes, restricted = public(submissions)
    mark, lines, rows = marked(notes, restricted), [], []
    for forum, noted in lines_of(notes):
        keys, some, same = zip(*noted, strict=True)
        lines += some
        rows.append(b"%b\t%b\n" % (orjson.dumps((forum, *keys)), orjson.dumps(read_forum(same, form))))
    return mark, lines, rows


if __name__ == "__main__":
    with suppress(EOFError, BrokenPipeError):  # whoever asked is done, or gone
        main()
    os._exit(0)  # without a last attempt to write what nobody reads
