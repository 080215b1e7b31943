"""The notes source: files in the shapes of OpenReview's own answers, saved by whatever means.

A file is JSON or JSON lines, plain or gzip. A value in it is a note, a list, or an answer `{"notes": [...]}`, whatever
other keys it has; replies stand beside their submission or in its details.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from analysis.errors import Trouble, choices, count
from analysis.forms import flatten, invitations, is_public
from analysis.sources.decoding import parsed
from analysis.venues import VenueYear

PAGE = 5000  # notes: what is in memory at once
GZIP = b"\x1f\x8b"
SHAPES = 'give answers of the OpenReview API as they came: notes, or lists of them, or {"notes": [...]}'

Say = Callable[[str], None]


@dataclass
class _Tally:
    """What became of the notes of a file."""

    ours: int = 0
    restricted: int = 0
    others: Counter[str] = field(default_factory=Counter)  # by the venue they are of


def pages(paths: Iterable[Path], form: VenueYear, say: Say) -> Iterator[list[dict]]:
    """The notes of a venue-year in these files that everyone may read, flat."""
    for path in paths:
        tally = _Tally()
        notes = _ours(_notes(path), form, tally)
        while page := list(islice(notes, PAGE)):
            yield page
        _judge(path, form, tally, say)


def groups(paths: Iterable[Path]) -> Iterator[str]:
    """The venues that the notes of these files are of, note by note."""
    return (_venue(note) for path in paths for note in _notes(path))


def _ours(notes: Iterable[dict], form: VenueYear, tally: _Tally) -> Iterator[dict]:
    for note in notes:
        if not any(one.startswith(f"{form.group}/") for one in invitations(note)):
            tally.others[_venue(note)] += 1
        elif not is_public(note):
            tally.restricted += 1
        else:
            tally.ours += 1
            yield note


def _venue(note: dict) -> str:
    """The venue that a note is of: `ICLR.cc/2020/Conference`."""
    invitation = next(iter(invitations(note)), "")
    return "/".join(invitation.partition("/-/")[0].split("/")[:3])


def _judge(path: Path, form: VenueYear, tally: _Tally, say: Say) -> None:
    """Trouble where a file had nothing of the venue-year; a sentence on what was left out."""
    title, others = f"{form.venue} {form.year}", tally.others.most_common(3)
    if others and not tally.ours:
        names = choices(name for name, _ in others)
        raise Trouble(f"{path} holds no notes of {title} ({form.group}) but of {names}: ask for that venue and year.")
    if tally.restricted and not tally.ours:
        raise Trouble(f"{path} holds no note of {title} that everyone may read: its reviews are not public yet.")
    if tally.restricted:
        say(f"{path}: {count(tally.restricted, 'note')} left out that not everyone may read.")
    if others:
        number = sum(tally.others.values())
        say(f"{path}: {count(number, 'note')} of {choices(name for name, _ in others)} left out.")


# Files --------------------------------------------------------------------------------------------------------------


def _notes(path: Path) -> Iterator[dict]:
    """The notes of a file, each followed by its replies."""
    for place, value in _values(path):
        yield from _unpacked(value, place)


def _unpacked(value: object, place: str) -> Iterator[dict]:
    if isinstance(value, dict) and isinstance(value.get("notes"), list):
        value = value["notes"]
    if isinstance(value, list):
        for one in value:
            yield from _unpacked(one, place)
        return
    for note in flatten(value) if isinstance(value, dict) else [value]:
        if not _is_note(note):
            raise Trouble(f"{place} holds {_described(note)}, which is no note of OpenReview: {SHAPES}.")
        yield note


def _is_note(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("id"), str) and bool(invitations(value))


def _described(value: object) -> str:
    """What a value is, for a sentence, without telling what is in it."""
    if not isinstance(value, dict):
        return "a bare value"
    keys = [re.sub(r"\W+", " ", key)[:20] for key in islice(value, 4)]
    return f"an object with {choices(keys)}" if keys else "an empty object"


def _values(path: Path) -> Iterator[tuple[str, object]]:
    """The JSON values of a file, each with its place for a sentence."""
    try:
        with _opened(path) as file:
            yield from _lines(file, path)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise Trouble(f"{path} is gzip that is damaged or cut short: get it again.") from None
    except OSError as error:
        raise Trouble(f"{path} cannot be read ({error.strerror}): give another file to --load.") from None


def _opened(path: Path) -> BinaryIO:
    """A file, unpacked where it is gzip, whatever it is called."""
    with open(path, "rb") as file:
        start = file.read(2)
    return gzip.open(path) if start == GZIP else open(path, "rb")


def _lines(file: BinaryIO, path: Path) -> Iterator[tuple[str, object]]:
    """A value a line; where the first line is none, the whole file is one value."""
    numbered = ((number, line) for number, line in enumerate(file, start=1) if line.strip())
    number, first = next(numbered, (0, b""))
    if not first:
        raise Trouble(f"{path} is empty: {SHAPES}.")
    value = parsed(first)
    if value is None:
        value = parsed(first + file.read())
        number = 0
    if value is None:
        raise Trouble(f"{path} is not JSON, or cut short: {SHAPES}.")
    yield f"{path}, line {number}," if number else str(path), value
    for number, line in numbered:
        if (value := parsed(line)) is None:
            raise Trouble(f"{path}, line {number}, is not JSON: the file is damaged or cut short.")
        yield f"{path}, line {number},", value
