"""Check: recompute every published number from the store, and say which differ.

The notebooks are the one place that says what is published, so their code runs again, in this process and without
drawing: each figure's frame, title, caption and alt text, each table and each number of the prose is held against what
the manifests and the CSV files beside them say. So are the counts behind the page's own answers, the page itself, and
numbers.json. Nothing is asked of a network.
"""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd

from analysis import DATABASE, ROOT, draw, notebook, parameters, tables
from analysis.draw import publish
from analysis.errors import Trouble, count
from analysis.page import build, numbers, stand, words
from analysis.page.chapters import Chapter, chapters

TOLERANCE = 1e-9  # relative: the last digits of a float change with the machine
KINDS = ("figures", "tables", "numbers", "sentences")
WORDS = ("title", "caption", "alt", "stamp", "text")
COLUMNS = ("id", "part", "published", "recomputed")


@dataclass(frozen=True)
class Checked:
    """What was held against the store: how much, and a row for everything that differs."""

    notebooks: int
    published: int
    differs: pd.DataFrame
    remarks: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        said = (
            f"{count(self.published, 'published figure, table or number')} of {count(self.notebooks, 'notebook run')}"
        )
        said = said.replace("figure, table or numbers", "figures, tables and numbers")
        if self.differs.empty:
            return f"{said} recomputed from the store: all agree."
        return f"{said} recomputed from the store: {len(self.differs):,} differ."


def check(
    figures: Path = ROOT / "figures",
    database: Path = DATABASE,
    years: Sequence[int] = (),
    venue: str = "",
    root: Path = ROOT,
) -> Checked:
    """Recompute what is published below `figures`, of some years where these are given; what is about all years always."""
    found = [
        one
        for one in chapters(figures)
        if venue in ("", one.book["venue"]) and (not years or one.book["year"] in (None, *years))
    ]
    if not found:
        raise Trouble(f"Nothing is published in {figures}; `python -m analysis run` publishes something to check.")
    rows = [row for chapter in found for row in _chapter(chapter, figures, database, root)]
    rows += _counts(figures, database, years) + _page(figures, database, root / "runs")
    published = sum(len(one.book.get(kind, ())) for one in found for kind in KINDS)
    remarks = tuple(remark for chapter in found for remark in _not_checked(chapter))
    return Checked(len(found), published - len(remarks), pd.DataFrame(rows, columns=COLUMNS), remarks)


# One notebook -------------------------------------------------------------------------------------------------------


class Recomputed(publish.Book):
    """A book that keeps what it is given and writes nothing."""

    kept: list[Recomputed]

    def begin(self) -> None:
        """Leave the folder as it is."""
        self.frames: dict[str, str] = {}
        self.kept.append(self)

    def axes(self, ratio: float = publish.RATIO) -> Blank:
        return Blank()

    def figure(self, name, drawn, frame, title="", caption="", alt="", shown=()) -> None:
        self._add_name(name, self.figures + self.tables)
        self.frames[name] = tables.text(frame, "csv")
        words = {"title": title, "caption": caption, "alt": alt or title, "stamp": self.stamp_of(shown)}
        self.figures.append({"name": name, **words})

    def table(self, name, frame, caption="", shares=()) -> None:
        self._add_name(name, self.figures + self.tables)
        self.frames[name] = tables.text(frame, "csv")
        self.tables.append({"name": name, "caption": caption, "rows": len(frame)})

    def _save(self) -> None:
        """Nothing is written."""


class Blank:
    """Stands for whatever a notebook draws: it takes any call and gives itself."""

    def __call__(self, *args, **options) -> Blank:
        return self

    def __getattr__(self, name: str) -> Blank:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __iter__(self) -> Iterator[Blank]:
        return iter((self, self, self, self))

    def __getitem__(self, key: object) -> Blank:
        return self


def _chapter(chapter: Chapter, figures: Path, database: Path, root: Path) -> list[tuple]:
    try:
        book = _run(chapter, database, root)
    except Trouble as trouble:
        return [(str(chapter.folder), "notebook", "", f"cannot be recomputed: {trouble}")]
    except Exception as error:  # a notebook may fail in any way; the others are checked all the same
        return [(str(chapter.folder), "notebook", "", f"failed: {type(error).__name__}: {error}")]
    return _compared(chapter, book, figures)


def _run(chapter: Chapter, database: Path, root: Path) -> Recomputed:
    """Run the code of a notebook as it was run for this chapter; gives its book."""
    source = root / "notebooks" / f"{chapter.notebook}.ipynb"
    values = {**_values(chapter, root), "database": str(database.absolute())}
    known = parameters.read(source)
    values = {name: value for name, value in values.items() if name in known}
    opened: list[Recomputed] = []
    space: dict[str, object] = {"__name__": "__main__", "display": lambda *shown: None}
    with _without_writing(opened), contextlib.redirect_stdout(io.StringIO()):
        for cell in json.loads(source.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                exec(compile("".join(cell["source"]), f"{source.name}", "exec"), space)
                if "parameters" in cell["metadata"].get("tags", ()):
                    space.update(values)
    if not opened:
        raise Trouble(f"{source.name} publishes nothing now.")
    return opened[-1]


def _values(chapter: Chapter, root: Path) -> dict[str, object]:
    """What the notebook was run with, as the runner noted it."""
    record = root / "runs" / f"{chapter.folder}.json"
    try:
        return dict(json.loads(record.read_text(encoding="utf-8"))["values"])
    except (OSError, ValueError, KeyError, TypeError):
        raise Trouble(f"it is not noted what {chapter.notebook} was run with; run it again with --force.") from None


@contextlib.contextmanager
def _without_writing(opened: list[Recomputed]) -> Iterator[None]:
    """Books that write nothing, pictures that are not drawn, and notebooks that ask nobody."""
    kind = type("Recomputed", (Recomputed,), {"kept": opened})
    blanks = {name: Blank() for name in vars(draw) if name.startswith("draw_")}
    silent = dict.fromkeys(("fetch", "public_revisions"), _do_nothing)  # they would ask OpenReview
    with (
        _replaced(publish, Book=kind, discard=_do_nothing),
        _replaced(draw, **blanks),
        _replaced(notebook, **silent),
    ):
        yield


def _do_nothing(*args: object, **options: object) -> None:
    """Instead of a question to OpenReview, and of taking away what was published."""


@contextlib.contextmanager
def _replaced(module, **values) -> Iterator[None]:
    before = {name: getattr(module, name) for name in values}
    vars(module).update(values)
    try:
        yield
    finally:
        vars(module).update(before)


# Held against each other --------------------------------------------------------------------------------------------


def _compared(chapter: Chapter, book: Recomputed, figures: Path) -> list[tuple]:
    rows = []
    for kind in KINDS:
        published = {one["name"]: one for one in chapter.book.get(kind, ()) if not _asked_elsewhere(one)}
        recomputed = {one["name"]: one for one in getattr(book, kind)}
        for name in dict.fromkeys([*published, *recomputed]):
            where = f"{chapter.folder}/{name}"
            if name not in published or name not in recomputed:
                rows.append((where, kind[:-1], *(_there(name in some) for some in (published, recomputed))))
            elif kind == "numbers":
                rows += _numbers(where, published[name], recomputed[name])
            else:
                rows += _words(where, published[name], recomputed[name])
                for file in filter(None, [published[name].get("files", {}).get("csv")]):
                    rows += _frames(where, figures / chapter.folder / file, book.frames[name])
    said = [" ".join(one.get("remarks", ())) for one in (chapter.book, book.about)]
    return rows + ([] if said[0] == said[1] else [(str(chapter.folder), "remarks", *said)])


def _asked_elsewhere(entry: dict) -> bool:
    """Whether it is an answer that the store does not keep."""
    return any("asked" in query for query in entry.get("queries", ()))


def _not_checked(chapter: Chapter) -> list[str]:
    """A sentence for each table that cannot be made again from the store."""
    return [
        f"{chapter.folder}/{one['name']} is {query['asked']}, which the store does not keep: it was not checked."
        for one in chapter.book["tables"]
        for query in one.get("queries", ())
        if "asked" in query
    ]


def _there(is_there: bool) -> str:
    return "there" if is_there else "not there"


def _words(where: str, published: dict, recomputed: dict) -> list[tuple]:
    parts = [part for part in WORDS if part in published and part in recomputed]
    return [(where, part, published[part], recomputed[part]) for part in parts if published[part] != recomputed[part]]


def _numbers(where: str, published: dict, recomputed: dict) -> list[tuple]:
    parts = ("text", "limits", "value", "n", "low", "high")
    pairs = [(part, published.get(part), recomputed.get(part)) for part in parts]
    return [(where, part, str(before), str(now)) for part, before, now in pairs if not _same(before, now)]


def _same(before: object, now: object) -> bool:
    if isinstance(before, int | float) and isinstance(now, int | float):
        return bool(np.isclose(before, now, rtol=TOLERANCE, atol=0))
    return before == now


def _frames(where: str, file: Path, recomputed: str) -> list[tuple]:
    """The cells of two CSV texts that differ."""
    published = file.read_text(encoding="utf-8").removesuffix("\n") if file.is_file() else ""
    if published == recomputed:
        return []
    before, now = (_frame(text) for text in (published, recomputed))
    if before.shape != now.shape or list(before.columns) != list(now.columns):
        return [(where, "rows", _shape(before), _shape(now))]
    rows = []
    for column in before.columns:
        for row, (old, new) in enumerate(zip(before[column], now[column], strict=True)):
            if not _same(_number(old), _number(new)):
                rows.append((where, f"row {row + 1}, {column}", old, new))
    return rows


def _frame(text: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False) if text else pd.DataFrame()


def _shape(frame: pd.DataFrame) -> str:
    return f"{len(frame)} rows of {', '.join(frame.columns) or 'nothing'}"


def _number(cell: str) -> object:
    try:
        return float(cell)
    except ValueError:
        return cell


# The page -----------------------------------------------------------------------------------------------------------


class Compared(build.Site):
    """A site that keeps the page as it would be written now, and writes nothing."""

    def __init__(self, *args) -> None:
        super().__init__(*args)
        self.texts: dict[str, str] = {}

    def write(self, name: str, text: str) -> None:
        self.texts[name] = text

    def read(self, name: str) -> str:
        return self.texts.get(name) or super().read(name)


def _page(figures: Path, database: Path, runs: Path) -> list[tuple]:
    """The page and numbers.json against what they would say now."""
    if not (figures / "index.html").is_file():
        return []
    site = Compared(figures, runs, database, chapters(figures))
    build.write_index(site)
    shown = [name for name in site.texts if name == "index.html" or name.startswith("page/cards-")]
    rows = [row for name in sorted(shown) for row in _lines(name, figures / name, site.texts[name])]
    return rows + _cited(figures / numbers.FILE, build.cited(site))


def _lines(name: str, path: Path, now: str) -> list[tuple]:
    """The lines of a file that differ, each around the first place where it does."""
    before = path.read_text(encoding="utf-8") if path.is_file() else ""
    lines = [text.splitlines() for text in (before, now)]
    if len(lines[0]) != len(lines[1]):
        return [(name, "lines", *(count(len(some), "line") for some in lines))]
    return [
        (name, f"line {number}", *_around(old, new))
        for number, (old, new) in enumerate(zip(*lines, strict=True), start=1)
        if old != new
    ]


def _around(old: str, new: str) -> tuple[str, str]:
    pairs = enumerate(zip(old, new, strict=False))
    place = next((place for place, (a, b) in pairs if a != b), min(len(old), len(new)))
    part = slice(max(place - 30, 0), place + 30)
    return old[part], new[part]


def _counts(figures: Path, database: Path, years: Sequence[int]) -> list[tuple]:
    """The counts behind the page's own answers."""
    rows = []
    for file, key, now in chain(stand.recomputed(database, years), words.recomputed(database, years)):
        path = figures / file
        if not path.is_file():
            continue
        before = stand.parsed(path.read_text(encoding="utf-8"))
        for part in dict.fromkeys([*before, *now]):
            if before.get(part) != now.get(part):
                rows.append((f"{file}/{part}", "counts", "other counts", f"the counts of {key}, {part}"))
    return rows


def _cited(path: Path, now: str) -> list[tuple]:
    """numbers.json, number by number."""
    before = path.read_text(encoding="utf-8") if path.is_file() else '{"numbers": []}'
    if before == now:
        return []
    old, new = ({one["id"]: one for one in json.loads(text)["numbers"]} for text in (before, now))
    return [
        (name, "numbers.json", str(old.get(name, "not there")), str(new.get(name, "not there")))
        for name in dict.fromkeys([*old, *new])
        if old.get(name) != new.get(name)
    ] or [(numbers.FILE, "numbers.json", "other queries", "the queries of the manifests")]
