"""numbers.json: every number that is quoted on the page, in a caption or in a notebook's prose, with an id to cite it by.

    {"suite": ..., "frames": {ID: {what made it, snapshot, population, file}}, "numbers": [{"id", "value", ...}]}

A number of a figure or table is a row of its frame (``iclr-2020/final/02-scores/sixes?accept_side=3``) or quoted in its
words (``...sixes:title:2``, which a tile repeats); a number of the prose has the name that the notebook gave it. The
page's own numbers are those of its first lines (``iclr-2020/final/fresh:papers``) and the counts that its answers are
made of (``iclr-2020/final/stand?papers=reviewed``). `of` leads to the frame, and its `queries` to the store: the first
made the frame, the others what else its words quote.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pandas as pd

from analysis import __version__
from analysis.errors import percent
from analysis.page.chapters import Chapter
from analysis.page.commands import run_again, with_commands

FILE = "numbers.json"
KNOWN = ("venue", "year", "snapshot", "stage", "population", "source")
ESTIMATE = ("value", "low", "high", "n")
# A number as the suite writes it: 2,594 or 0.84 or 47 %; a year, date or version is not one.
BEFORE, SIGN = r"(?<![\w.,-])", "[+\N{MINUS SIGN}-]?"
QUOTED = re.compile(rf"{BEFORE}{SIGN}\d{{1,3}}(?:,\d{{3}})+(?![\w-])|{BEFORE}{SIGN}\d+(?:\.\d+)?(?: %)?(?![\w-]|\.\d)")
YEAR = re.compile(r"(?:19|20)\d\d")
LONG = 40  # characters: a longer text does not name a row


@dataclass(frozen=True)
class Part:
    """Numbers of the page that no notebook published, with what they are of; `numbers` by the end of their ids."""

    id: str
    about: dict[str, object]
    numbers: dict[str, dict[str, object]]

    def rows(self) -> list[dict]:
        return [{"id": f"{self.id}{end}", "of": self.id, "where": "page", **one} for end, one in self.numbers.items()]


def text(figures: Path, found: Sequence[Chapter], database: Path, parts: Sequence[Part] = ()) -> str:
    """The file: frames by id and numbers in the order of the page, one a line."""
    frames: dict[str, dict] = {part.id: part.about for part in parts}
    rows: list[dict] = [row for part in parts for row in part.rows()]
    for chapter in found:
        for entry in (*chapter.book["figures"], *chapter.book["tables"]):
            frame_id = f"{chapter.folder}/{entry['name']}"
            frames[frame_id] = _about(chapter, entry, database)
            rows += _of_frame(figures, chapter, entry, frame_id)
        for sentence in chapter.book.get("sentences", ()):
            frames[f"{chapter.folder}/{sentence['name']}"] = _about(chapter, sentence, database)
        rows += _of_prose(chapter)
    listed = {
        "frames": ",\n".join(f"{json.dumps(key)}: {_json(value)}" for key, value in frames.items()),
        "numbers": ",\n".join(map(_json, rows)),
    }
    return (
        f'{{"suite": "{__version__}",\n"frames": {{\n{listed["frames"]}\n}},\n"numbers": [\n{listed["numbers"]}\n]}}\n'
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _about(chapter: Chapter, entry: dict, database: Path) -> dict[str, object]:
    book = chapter.book
    queries = [with_commands(query, database) for query in entry.get("queries", ())]
    if not queries or queries[0].keys().isdisjoint(("command", "commands", "sql", "asked")):
        queries.append(run_again(chapter))
    file = {"file": f"{chapter.folder}/{entry['files']['csv']}"} if "files" in entry else {}
    return {"notebook": chapter.notebook, **{name: book.get(name) for name in KNOWN}, "queries": queries, **file}


def _of_prose(chapter: Chapter) -> Iterator[dict]:
    """The numbers that a notebook named, and those in its sentences and remarks."""
    about = {name: chapter.book.get(name) for name in KNOWN}
    about = {"notebook": chapter.notebook, "where": "prose", **about}
    for number in chapter.book["numbers"]:
        yield {
            "id": f"{chapter.folder}/{number['name']}",
            **about,
            **{name: number[name] for name in ("text", *ESTIMATE)},
        }
    for sentence in chapter.book.get("sentences", ()):
        yield from _quoted(f"{chapter.folder}/{sentence['name']}", "prose", sentence["text"], ())
    for row in _quoted(str(chapter.folder), "remarks", " ".join(chapter.book.get("remarks", ())), ()):
        yield {**row, **about, "of": None}


# Frames -------------------------------------------------------------------------------------------------------------


def _of_frame(figures: Path, chapter: Chapter, entry: dict, frame_id: str) -> Iterator[dict]:
    frame = pd.read_csv(figures / chapter.folder / entry["files"]["csv"], keep_default_na=False, na_values=[""])
    keys = _keys(frame)
    rows = [
        {"id": f"{frame_id}?{key}", "of": frame_id, "where": "row", **_estimate(row)}
        for key, row in zip(keys, frame.to_dict("records"), strict=True)
    ]
    yield from (row for row in rows if "value" in row)
    for part in ("title", "caption", "alt", "stamp"):
        yield from _quoted(frame_id, part, entry.get(part, ""), rows)


def _estimate(row: dict) -> dict[str, object]:
    """Value, limits and n of a row, as far as it has them."""
    known = {name: row[name] for name in ESTIMATE if name in row and isinstance(row[name], int | float)}
    plain = {
        name: int(value) if float(value).is_integer() and name == "n" else value
        for name, value in known.items()
        if pd.notna(value)
    }
    return plain


def _keys(frame: pd.DataFrame) -> list[str]:
    """What names each row: as many of its first columns as it takes, without the estimate; else its number."""
    names = [name for name in frame.columns if name not in (*ESTIMATE, "count") and _is_short(frame[name])]
    for taken in range(1, len(names) + 1):
        if not frame[names[:taken]].astype(str).duplicated().any():
            parts = frame[names[:taken]].astype(str).itertuples(index=False, name=None)
            return [
                "&".join(f"{quote(name)}={quote(cell)}" for name, cell in zip(names, row, strict=False))
                for row in parts
            ]
    return [f"row={number}" for number in range(1, len(frame) + 1)]


def _is_short(column: pd.Series) -> bool:
    return not pd.api.types.is_float_dtype(column) and bool((column.astype(str).str.len() <= LONG).all())


def _quoted(frame_id: str, part: str, words: str, rows: Sequence[dict]) -> Iterator[dict]:
    """The numbers in a title or caption; with the row that they quote, where only one row prints so."""
    quoted = [match[0] for match in QUOTED.finditer(words) if not YEAR.fullmatch(match[0])]
    for place, written in enumerate(quoted, start=1):
        number = {"id": f"{frame_id}:{part}:{place}", "of": frame_id, "where": part, "text": written}
        same = [row for row in rows if "value" in row and _prints(row["value"], written)]
        if len(same) == 1:
            number |= {"row": same[0]["id"], **{name: same[0][name] for name in ESTIMATE if name in same[0]}}
        else:
            number["value"] = _read(written)
        yield number


def _prints(value: float, quoted: str) -> bool:
    """Whether a value is written so: as a share where it ends in %, else with as many decimals."""
    quoted = quoted.replace("\N{MINUS SIGN}", "-").removeprefix("+")
    digits = len(quoted.removesuffix(" %").partition(".")[2])
    if quoted.endswith(" %"):
        return percent(value, digits) == quoted
    return f"{value:,.{digits}f}" == quoted and (digits > 0 or float(value).is_integer())


def _read(quoted: str) -> float:
    number = float(quoted.removesuffix(" %").replace(",", "").replace("\N{MINUS SIGN}", "-"))
    value = number / 100 if quoted.endswith(" %") else number
    return int(value) if float(value).is_integer() and not quoted.endswith(" %") else round(value, 10)
