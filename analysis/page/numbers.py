"""numbers.json: every number that is quoted on the page, in a caption or in a notebook's prose, with an id to cite it by.

    {"suite": ..., "frames": {ID: {what made it, snapshot, population, file}}, "numbers": [{"id", "value", ...}]}

A number of a figure or table is a row of its frame (``iclr-2020/final/02-scores/sixes?accept_side=3``) or quoted in its
words (``...sixes:title:2``); a number of the prose has the name that the notebook gave it. `of` leads to the frame.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

import pandas as pd

from analysis import __version__
from analysis.errors import percent
from analysis.page.chapters import Chapter

FILE = "numbers.json"
ESTIMATE = ("value", "low", "high", "n")
# A number as the suite writes it: 2,594 or 0.84 or 47 %; a year, date or version is not one.
QUOTED = re.compile(r"(?<![\w.,-])[+-]?\d{1,3}(?:,\d{3})+(?![\w-])|(?<![\w.,-])[+-]?\d+(?:\.\d+)?(?: %)?(?![\w-]|\.\d)")
YEAR = re.compile(r"(?:19|20)\d\d")
LONG = 40  # characters: a longer text does not name a row


def text(figures: Path, found: Sequence[Chapter]) -> str:
    """The file: frames by id and numbers in the order of the page, one a line."""
    frames: dict[str, dict] = {}
    rows: list[dict] = []
    for chapter in found:
        for entry in (*chapter.book["figures"], *chapter.book["tables"]):
            frame_id = f"{chapter.folder}/{entry['name']}"
            frames[frame_id] = _about(chapter, entry)
            rows += _of_frame(figures, chapter, entry, frame_id)
        rows += [_of_prose(chapter, number) for number in chapter.book["numbers"]]
    listed = {
        "frames": ",\n".join(f"{json.dumps(key)}: {_json(value)}" for key, value in frames.items()),
        "numbers": ",\n".join(map(_json, rows)),
    }
    return (
        f'{{"suite": "{__version__}",\n"frames": {{\n{listed["frames"]}\n}},\n"numbers": [\n{listed["numbers"]}\n]}}\n'
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _about(chapter: Chapter, entry: dict) -> dict[str, object]:
    book, query = chapter.book, entry.get("query")
    known = {name: book.get(name) for name in ("snapshot", "stage", "population", "source")}
    return {
        "notebook": chapter.notebook,
        "venue": book["venue"],
        "year": book["year"],
        **known,
        "query": query,
        "command": command(query),
        "file": f"{chapter.folder}/{entry['files']['csv']}",
    }


def command(query: dict | None) -> str | None:
    """The command that prints the frame, where one statistic of one or several samples made it."""
    if not query or not query["samples"] or set(query["options"]) - {"seed"}:
        return None
    first = query["samples"][0]
    years = ",".join(dict.fromkeys(str(one["year"]) for one in query["samples"]))
    names = list(dict.fromkeys(one["snapshot"] for one in query["samples"]))
    snapshot = f" --snapshot {','.join(names)}" if years == str(first["year"]) else ""
    seed = f" --seed {query['options']['seed']}" if query["options"].get("seed") else ""
    venue = f" --venue {first['venue']}" if first["venue"] != "ICLR" else ""
    population = f" --population {first['population']}"
    return f"python -m analysis stat {query['statistic']}{venue} --year {years}{snapshot}{population}{seed}"


def _of_prose(chapter: Chapter, number: dict) -> dict[str, object]:
    place = {"id": f"{chapter.folder}/{number['name']}", "notebook": chapter.notebook, "where": "prose"}
    about = {name: chapter.book.get(name) for name in ("venue", "year", "snapshot", "stage", "population")}
    return {**place, **about, **{name: number[name] for name in ("text", *ESTIMATE)}}


# Frames -------------------------------------------------------------------------------------------------------------


def _of_frame(figures: Path, chapter: Chapter, entry: dict, frame_id: str) -> Iterator[dict]:
    frame = pd.read_csv(figures / chapter.folder / entry["files"]["csv"], keep_default_na=False, na_values=[""])
    keys = _keys(frame)
    rows = [
        {"id": f"{frame_id}?{key}", "of": frame_id, "where": "row", **_estimate(row)}
        for key, row in zip(keys, frame.to_dict("records"), strict=True)
    ]
    yield from (row for row in rows if "value" in row)
    for part in ("title", "caption"):
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
    digits = len(quoted.removesuffix(" %").partition(".")[2])
    if quoted.endswith(" %"):
        return percent(value, digits) == quoted
    return f"{value:,.{digits}f}" == quoted and (digits > 0 or float(value).is_integer())


def _read(quoted: str) -> float:
    number = float(quoted.removesuffix(" %").replace(",", ""))
    value = number / 100 if quoted.endswith(" %") else number
    return int(value) if float(value).is_integer() and not quoted.endswith(" %") else round(value, 10)
