"""Notes on their way: pages to disk as they come, each whole or not at all, and out again in the order of forums.

A spool is one file that only grows. Its first line says what the notes are of. Each page follows as a line a forum, in
their order: which notes it has, then each of them as JSON; and a last line with the length and checksum of the page and
where the next one begins. Whatever comes after the last page that is whole was cut off by a crash, and is cut off when
the file is opened again. Memory does not grow with the number of pages: what is read at once is a piece of each.
"""

from __future__ import annotations

import hashlib
import heapq
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import orjson

from analysis.errors import Trouble

if TYPE_CHECKING:
    from analysis.ahead import Ahead

PIECE = 1 << 16  # bytes of a page that are read at once

Note = Mapping[str, object]
Said = Mapping[str, object]
Placed = tuple[tuple[str, str], Note]  # a note with its forum and its id


class Version(NamedTuple):
    """One version of a note."""

    note_id: str
    version: str  # a hash of the note
    text: bytes  # the note as JSON


Forum = tuple[str, list[Version]]  # its id, and its notes in the order of their ids
Place = tuple[int, int]  # where something begins and ends in a file


class Spool:
    """Pages of notes in a file: open it with `opened` or `made`."""

    def __init__(self, path: Path, said: Said) -> None:
        self.path, self.said = path, said
        self.pages: list[Place] = []
        self.cursor: dict | None = None  # where the next page begins, in the words of the source
        self.notes = 0
        self._restricted: set[int] = set()
        self.forums: set[str] = set()  # whose own note was there when the file was opened
        self.complete = False
        self.ahead: Ahead | None = None  # reads the pages that are there while others come
        self._file = open(path, "ab+")  # noqa: SIM115 (closed by `close`)

    @property
    def restricted(self) -> int:
        """How many notes were left out that not everyone may read, however often they came."""
        return len(self._restricted)

    def add(self, notes: list[Note], cursor: Said | None = None, restricted: Iterable[str] = ()) -> None:
        """Write a page for good, or nothing of it; the list is used up, since two pages take twice the memory.

        Of `restricted` notes only a checksum of their ids is kept, to count them.
        """
        left_out = sorted(zlib.crc32(note_id.encode()) for note_id in restricted)
        mark = {"notes": len(notes), "cursor": cursor, "restricted": left_out}
        placed = sorted(_drained(notes), key=itemgetter(0), reverse=True)
        self._write(placed, mark)

    def finish(self) -> None:
        """Say that there are no more pages."""
        self._write([], {"notes": 0, "complete": True})

    def by_forum(self) -> Iterator[Forum]:
        """The forums in their order, each version once: pages overlap, and so do files."""
        merged = heapq.merge(*map(self._forums, self.pages), key=itemgetter(0))
        for forum, parts in groupby(merged, key=itemgetter(0)):
            (_, versions), *others = parts
            yield forum, _versions(chain(versions, *(more for _, more in others))) if others else versions

    def close(self) -> None:
        if self.ahead:
            self.ahead.close()
        with suppress(OSError):  # of a full disk, that has been told of
            self._file.close()

    def remove(self) -> None:
        self.close()
        self.path.unlink(missing_ok=True)

    def _write(self, placed: list[Placed], mark: dict) -> None:
        with writing(self.path.parent):
            start, checksum = self._file.seek(0, os.SEEK_END), 0
            for forum, same in groupby(_popped(placed), key=_forum_of):
                line = _line(forum, same)
                checksum = zlib.crc32(line, checksum)
                self._file.write(line)
            mark |= {"size": self._file.tell() - start}
            self._file.write(_sealed(mark, checksum))
            self._file.flush()
            os.fsync(self._file.fileno())
        self._take(start, mark)

    def _take(self, start: int, mark: Mapping) -> None:
        """Count a page that is there."""
        if mark.get("complete"):
            self.complete = True
            return
        self.pages.append((start, start + mark["size"]))
        if self.ahead:
            self.ahead.read(self.pages[-1])
        self.cursor = mark["cursor"]
        self.notes += mark["notes"]
        self._restricted.update(mark["restricted"])

    def _forums(self, page: Place) -> Iterator[Forum]:
        for line in lines(self._file.fileno(), page):
            if line is None:
                raise Trouble(f"{self.path} was cut short by another program: delete it, and fetch again.")
            yield forum_in(line)


def made(path: Path, said: Said) -> Spool:
    """A new spool, in the place of any that is there."""
    with writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        spool = Spool(path, said)
        spool._file.write(_sealed(said))
        spool._file.flush()
        os.fsync(spool._file.fileno())
        sync_folder(path.parent)
    return spool


def opened(path: Path) -> Spool | None:
    """The spool that is there, with the pages that arrived whole; None where there is none that can be read."""
    if not path.exists():
        return None
    with writing(path.parent):
        spool = Spool(path, {})
        spool._file.seek(0)
        said = _unsealed(spool._file.readline())
        if said is None:
            spool.close()
            return None
        spool.said, end = said, spool._file.tell()
        for start, mark, after, forums in _whole_pages(spool._file, end):
            spool._take(start, mark)
            spool.forums |= forums
            end = after
        spool._file.truncate(end)
    return spool


def lines(file: int, place: Place) -> Iterator[bytes | None]:
    """The lines between two places of an open file, a piece at once; None where it ends too soon."""
    (start, end), rest = place, b""
    while start < end:
        piece = os.pread(file, min(PIECE, end - start), start)
        if not piece:
            yield None
            return
        start += len(piece)
        *whole, rest = (rest + piece).split(b"\n")
        yield from whole


def notes_of(forum: Forum) -> list[dict]:
    """The notes of a forum, parsed."""
    return orjson.loads(b"[%b]" % b",".join(one.text for one in forum[1]))


@contextmanager
def gathered(pages: Iterable[list[Note]], path: Path) -> Iterator[Spool]:
    """A spool of these pages, removed at the end."""
    spool = made(path, {})
    try:
        for page in pages:
            spool.add(page)
        spool.finish()
        yield spool
    finally:
        spool.remove()


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Tell of a disk that is full or not ours in a sentence."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise Trouble(f"{folder} cannot be written to ({reason}); nothing in the store was changed.") from None


def sync_folder(folder: Path) -> None:
    """Make names in a folder last through a power cut."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _whole_pages(file, start: int) -> Iterator[tuple[int, dict, int, set[str]]]:
    """Where each page begins, its last line, where that ends, and its forums, as long as all is as it was written."""
    checksum, end, forums = 0, start, set()
    for line in file:
        end += len(line)
        if not line.startswith(b"{"):
            checksum = zlib.crc32(line, checksum)
            forums |= _own(line)
            continue
        mark = _unsealed(line, checksum)
        if mark is None:
            return
        yield start, mark, end, forums
        start, checksum, forums = end, 0, set()


def _own(line: bytes) -> set[str]:
    """The forum of a line, where it is the note that the forum is named after; a damaged line has none."""
    with suppress(ValueError):
        forum, *versions = orjson.loads(line.partition(b"\t")[0])
        return {forum}.intersection(note_id for note_id, _ in versions)
    return set()


def _sealed(value: Said, checksum: int = 0) -> bytes:
    """A line with an object and the checksum of the lines before it and of itself."""
    text = orjson.dumps(dict(value))
    return b"%b\t%08x\n" % (text, zlib.crc32(text, checksum))


def _unsealed(line: bytes, checksum: int = 0) -> dict | None:
    """The object of a line that is as it was written; else None."""
    text, _, seal = line.partition(b"\t")
    return orjson.loads(text) if seal == b"%08x\n" % zlib.crc32(text, checksum) else None


def _place(note: Note) -> tuple[str, str]:
    """The forum and the id of a note; a submission of API 1 may have no forum but itself."""
    forum, note_id = note.get("forum"), note.get("id")
    if type(forum) is str and type(note_id) is str:
        return forum, note_id
    known = [name for name in (forum, note_id) if isinstance(name, str)]
    return (known[0], known[-1]) if known else ("", "")


def _forum_of(placed: Placed) -> str:
    return placed[0][0]


def _drained(notes: list[Note]) -> Iterator[Placed]:
    """Notes with their places; the list is used up."""
    for note in _popped(notes):
        yield _place(note), note


def _popped(items: list) -> Iterator:
    while items:
        yield items.pop()


def _line(forum: str, placed: Iterable[Placed]) -> bytes:
    """The line of a forum; JSON has no tabs."""
    texts = ((note_id, _json(note)) for (_, note_id), note in placed)
    versions = _versions(Version(note_id, hashlib.sha1(text).hexdigest(), text) for note_id, text in texts)
    key = orjson.dumps([forum, *((one.note_id, one.version) for one in versions)])
    return b"\t".join([key, *(one.text for one in versions)]) + b"\n"


def forum_in(line: bytes) -> Forum:
    """The forum that a line of a page holds."""
    key, *texts = line.split(b"\t")
    forum, *versions = orjson.loads(key)
    return forum, [Version(note_id, version, text) for (note_id, version), text in zip(versions, texts, strict=True)]


def _versions(found: Iterable[Version]) -> list[Version]:
    """In order, each once."""
    return sorted({(one.note_id, one.version): one for one in found}.values())


def _json(note: Note) -> bytes:
    """A note as text; sorted, so that the same note has the same hash, whatever the order of its keys."""
    try:
        return orjson.dumps(note, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # a whole number of more than 64 bits
        return json.dumps(note, sort_keys=True, ensure_ascii=False).encode()
