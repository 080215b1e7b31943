"""Notes on their way: pages to disk as they come, each whole or not at all, and out again in the order of forums.

Nothing else puts notes on disk, and here they lose what tells who somebody is.

A spool is one file that only grows. Its first line says what the notes are of. Each page follows as a line a note, in
the order of forums: its id, forum and version, then the note as JSON; and a last line with the length and checksum of
the page and where the next one begins. Whatever comes after the last page that is whole was cut off by a crash, and is
cut off when the file is opened again. Memory does not grow with the number of pages: what is read at once is a piece of
each.
"""

from __future__ import annotations

import hashlib
import heapq
import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain, groupby, pairwise
from operator import itemgetter
from pathlib import Path
from typing import BinaryIO, NamedTuple

import orjson

from analysis.errors import Trouble
from analysis.forms import scrubbed

PIECE = 1 << 16  # bytes of a page that are read at once
MARK = {"notes", "papers", "span", "restricted", "cursor", "size"}  # what is said of each page

Note = Mapping[str, object]
Said = Mapping[str, object]
Placed = tuple[tuple[str, str], Note]  # a note with its forum and its id


class Version(NamedTuple):
    """One version of a note."""

    note_id: str
    version: str  # a hash of the note
    text: bytes  # the note as JSON


Forum = tuple[str, list[Version]]  # its id, and its notes in the order of their ids
Key = tuple[str, str]  # id and version of a note
Place = tuple[int, int]  # where something begins and ends in a file


class Spool:
    """Pages of notes in a file: open it with `opened` or `made`."""

    def __init__(self, path: Path, said: Said) -> None:
        self.path, self.said = path, said
        self.pages: list[Place] = []
        self.cursor: dict | None = None  # where the next page begins, in the words of the source
        self.notes = self.papers = 0
        self._restricted: set[int] = set()
        self._spans: list[tuple[str, str]] = []  # the first and the last forum of each page
        self.forums: set[str] = set()  # whose own note was there when the file was opened
        self.complete = False
        self._file = open(path, "ab+")  # noqa: SIM115 (closed by `close`)
        self._rows: BinaryIO | None = None  # of those pages whose rows were made when they came
        self._rows_at: dict[Place, Place] = {}

    @property
    def in_order(self) -> bool:
        """Whether all forums of a page come after those of the page before it."""
        return all(before[1] < after[0] for before, after in pairwise(self._spans))

    @property
    def has_rows(self) -> bool:
        """Whether the rows of any page are at hand."""
        return bool(self._rows_at)

    @property
    def restricted(self) -> int:
        """How many notes were left out that not everyone may read, however often they came."""
        return len(self._restricted)

    def add(self, notes: list[Note], cursor: Said | None = None, restricted: Iterable[str] = ()) -> None:
        """Write a page of flat notes for good, or nothing of it; the list is used up: two pages take twice the memory."""
        mark = marked(notes, restricted)
        self.put((line for _, noted in lines_of(notes) for _, line, _ in noted), mark, cursor)

    def put(self, pieces: Iterable[bytes], mark: Said, cursor: Said | None, rows: Iterable[bytes] = ()) -> None:
        """The same, of lines that were made elsewhere, in pieces, and of the rows of each where these are at hand."""
        self._write(pieces, {**mark, "cursor": cursor})
        with writing(self.path.parent):
            self._keep(rows)

    def finish(self) -> None:
        """Say that there are no more pages."""
        self._write([], {"complete": True})

    def by_forum(self) -> Iterator[Forum]:
        """The forums in their order, each version once: pages overlap, and so do files."""
        merged = heapq.merge(*map(self._forums, self.pages), key=itemgetter(0))
        for forum, parts in groupby(merged, key=itemgetter(0)):
            (_, versions), *others = parts
            yield forum, _versions(chain(versions, *(more for _, more in others))) if others else versions

    def rows(self) -> Iterator[tuple[str, list[Key], bytes]]:
        """The forums in their order, which versions each has, and its rows; none where not made of all its notes."""
        merged = heapq.merge(*map(self._rows_of, self.pages), key=itemgetter(0))
        for forum, parts in groupby(merged, key=itemgetter(0)):
            (_, keys, rows), *others = parts
            if others:
                keys, rows = sorted({*keys, *(key for _, more, _ in others for key in more)}), b""
            yield forum, keys, rows

    def close(self) -> None:
        for file in filter(None, (self._file, self._rows)):
            with suppress(OSError):  # of a full disk, that has been told of
                file.close()

    def remove(self) -> None:
        self.close()
        self.path.unlink(missing_ok=True)

    def _write(self, pieces: Iterable[bytes], mark: dict) -> None:
        with writing(self.path.parent):
            start, checksum = self._file.seek(0, os.SEEK_END), 0
            for piece in pieces:
                checksum = zlib.crc32(piece, checksum)
                self._file.write(piece)
            mark |= {"size": self._file.tell() - start}
            self._file.write(_sealed(mark, checksum))
            self._file.flush()
            os.fsync(self._file.fileno())
        self._take(start, mark)

    def _keep(self, rows: Iterable[bytes]) -> None:
        """Keep the rows of the last page in a file without a name: they can be made anew."""
        self._rows = self._rows or tempfile.TemporaryFile(dir=self.path.parent)  # noqa: SIM115 (closed by `close`)
        start = self._rows.seek(0, os.SEEK_END)
        self._rows.writelines(rows)
        self._rows.flush()
        if self._rows.tell() > start:
            self._rows_at[self.pages[-1]] = start, self._rows.tell()

    def _rows_of(self, page: Place) -> Iterator[tuple[str, list[Key], bytes]]:
        if page not in self._rows_at:
            yield from ((forum, [one[:2] for one in versions], b"") for forum, versions in self._forums(page))
            return
        for line in lines(self._rows.fileno(), self._rows_at[page]):
            key, _, rows = line.partition(b"\t")
            forum, *versions = orjson.loads(key)
            yield forum, list(map(tuple, versions)), rows

    def _take(self, start: int, mark: Mapping) -> None:
        """Count a page that is there."""
        if mark.get("complete"):
            self.complete = True
            return
        self.pages.append((start, start + mark["size"]))
        self.cursor = mark["cursor"]
        self.notes += mark["notes"]
        self.papers += mark["papers"]
        self._spans += [mark["span"]] * bool(mark["notes"])
        self._restricted.update(mark["restricted"])

    def _forums(self, page: Place) -> Iterator[Forum]:
        for forum, same in groupby(map(self._note, lines(self._file.fileno(), page)), key=itemgetter(0)):
            yield forum, [version for _, version in same]

    def _note(self, line: bytes | None) -> tuple[str, Version]:
        """What a line holds: a forum, and a note in it."""
        if line is None:
            raise Trouble(f"{self.path} was cut short by another program: delete it, and fetch again.")
        place, _, text = line.partition(b"\t")
        note_id, forum, version = orjson.loads(place)
        return forum, Version(note_id, version, text)


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
        if mark is None or not (mark.get("complete") or mark.keys() >= MARK):  # or by another version of the suite
            return
        yield start, mark, end, forums
        start, checksum, forums = end, 0, set()


def _own(line: bytes) -> set[str]:
    """The forum of a line, where its note is the one that the forum is named after; a damaged line has none."""
    with suppress(ValueError):
        note_id, forum, _ = orjson.loads(line.partition(b"\t")[0])
        return {forum} if note_id == forum else set()
    return set()


def _sealed(value: Said, checksum: int = 0) -> bytes:
    """A line with an object and the checksum of the lines before it and of itself."""
    text = orjson.dumps(dict(value))
    return b"%b\t%08x\n" % (text, zlib.crc32(text, checksum))


def _unsealed(line: bytes, checksum: int = 0) -> dict | None:
    """The object of a line that is as it was written; else None."""
    text, _, seal = line.partition(b"\t")
    return orjson.loads(text) if seal == b"%08x\n" % zlib.crc32(text, checksum) else None


def marked(notes: list[Note], restricted: Iterable[str] = ()) -> dict:
    """What is said of a page; of `restricted` notes, which are not in it, a checksum of their ids, to count them."""
    left_out = sorted(zlib.crc32(note_id.encode()) for note_id in restricted)
    papers = sum(note.get("id") == note.get("forum") for note in notes)
    forums = {forum for forum, _ in map(_place, notes)}
    span = [min(forums, default=""), max(forums, default="")]
    return {"notes": len(notes), "papers": papers, "span": span, "restricted": left_out}


def lines_of(notes: list[Note]) -> Iterator[tuple[str, list[tuple[Key, bytes, Note]]]]:
    """The forums of a page in their order: of each version of a note its key, its line, and the note without identities.

    The list is used up.
    """
    placed = sorted(_drained(notes), key=itemgetter(0), reverse=True)
    for forum, same in groupby(_popped(placed), key=_forum_of):
        versions = {key: (key, line, note) for key, line, note in map(_line, same)}
        yield forum, sorted(versions.values(), key=itemgetter(0))


def _line(placed: Placed) -> tuple[Key, bytes, Note]:
    """A note with its line; in JSON, neither tabs nor line ends need to be escaped."""
    (forum, note_id), note = placed
    note, text = scrubbed(note)
    version = hashlib.sha1(text).hexdigest()
    return (note_id, version), b"%b\t%b\n" % (orjson.dumps((note_id, forum, version)), text), note


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


def _versions(found: Iterable[Version]) -> list[Version]:
    """In order, each once."""
    return sorted({(one.note_id, one.version): one for one in found}.values())
