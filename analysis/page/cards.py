"""Cards: what the page shows of one figure or table, as HTML in which all text of the data stays text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import pandas as pd

from analysis import tables
from analysis.errors import count
from analysis.page.chapters import Chapter
from analysis.page.questions import ALL, Question, question_of
from analysis.statistics import statistics

LONG = 12  # rows: a longer table is folded
ROWS = 60  # rows: more of a figure's numbers are in its CSV only
FOOT = re.compile(r"<tfoot><tr><td[^>]*>(.*?)</td></tr></tfoot>\n?", re.DOTALL)  # the note of analysis.tables
FORMATS = {
    "pdf": "PDF",
    "svg": "SVG",
    "png": "PNG",
    "share": "Image to share",
    "csv": "CSV",
    "parquet": "Parquet",
    "md": "Markdown",
    "tex": "LaTeX",
}


@dataclass(frozen=True)
class Card:
    """One figure or table of a chapter."""

    chapter: Chapter
    entry: dict

    @property
    def is_figure(self) -> bool:
        return "svg" in self.entry["files"]

    @property
    def name(self) -> str:
        """What it is called whatever the year: the same name in two years is set side by side."""
        return f"{self.chapter.notebook}/{self.entry['name']}"

    @property
    def id(self) -> str:
        """The id on the page, which is its permalink."""
        return f"{self.chapter.folder}/{self.entry['name']}"


def cards(found: Iterable[Chapter]) -> dict[Question, list[Card]]:
    """The cards of these chapters by question, in the order of the page; questions without any are there too."""
    sorted_in: dict[Question, list[tuple]] = {question: [] for question in ALL}
    for chapter in found:
        for place, entry in enumerate([*chapter.book["figures"], *chapter.book["tables"]]):
            card = Card(chapter, entry)
            question, rank = question_of(chapter.notebook, entry["name"])
            sorted_in[question].append((rank, chapter.notebook, place, card))
    return {
        question: [card for *_, card in sorted(some, key=lambda row: row[:3])] for question, some in sorted_in.items()
    }


def tile(question: Question, card: Card) -> str:
    """The finding of a figure, small, on the first screen."""
    entry = card.entry
    size = f'width="{int(entry["width"])}" height="{int(entry["height"])}"'
    source = escape(card.chapter.address(entry["files"]["svg"]))
    return f"""<li><a class="tile" href="#{escape(card.id)}">
<span class="asked">{escape(question.title)}</span>
<strong>{escape(entry["title"])}</strong>
<img src="{source}" {size} alt="" loading="lazy" decoding="async">
<span class="quiet">{escape(card.chapter.title)}{_of(card.chapter)}</span>
</a></li>"""


def _of(chapter: Chapter) -> str:
    return f", {escape(chapter.snapshot)}" if chapter.snapshot else ""


def html(card: Card, figures: Path, has_notebook: bool) -> str:
    """The card with its downloads and its link."""
    body = _figure(card, figures) if card.is_figure else _table(card, figures)
    kind = "figure" if card.is_figure else "table"
    label = escape(card.entry.get("title") or card.entry.get("caption") or card.entry["name"])
    return f"""<article class="card {kind}" id="{escape(card.id)}" data-name="{escape(card.name)}" tabindex="-1" aria-label="{label}">
{body}
{_downloads(card, has_notebook)}
</article>"""


def _figure(card: Card, figures: Path) -> str:
    entry, chapter = card.entry, card.chapter
    source = escape(chapter.address(entry["files"]["svg"]))
    size = f'width="{int(entry["width"])}" height="{int(entry["height"])}"'
    return f"""<h3>{escape(entry["title"])}</h3>
<a class="picture" href="{source}"><img src="{source}" {size} loading="lazy" decoding="async" alt="{escape(entry["alt"])}"></a>
<p>{escape(entry["caption"])}</p>
{_behind(card, figures)}"""


def _behind(card: Card, figures: Path) -> str:
    """The numbers behind a figure, folded; many of them are left to its CSV."""
    frame = pd.read_csv(
        figures / card.chapter.folder / card.entry["files"]["csv"], keep_default_na=False, na_values=[""]
    )
    if frame.empty:
        return ""
    shown = tables.text(frame.head(ROWS), "html", shares=_shares(card.entry, frame))
    cut = (
        f'<p class="quiet">The first {ROWS} of {count(len(frame), "row")}; the CSV has all.</p>'
        if len(frame) > ROWS
        else ""
    )
    return f"<details>\n<summary>The numbers behind it</summary>\n{_scroll(shown, 'The numbers behind the figure')}\n{cut}</details>"


def _shares(entry: dict, frame: pd.DataFrame) -> Sequence[str]:
    """The columns of fractions, as the statistic that made the frame declares them."""
    known, first = statistics(), next(iter(entry.get("queries", ())), {})  # the others made the words about it
    shares = known[first["statistic"]].shares if first.get("statistic") in known else ()
    return [name for name in shares if name in frame]


def _table(card: Card, figures: Path) -> str:
    entry = card.entry
    # Written by analysis.tables, which escapes every cell.
    body = (figures / card.chapter.folder / entry["files"]["html"]).read_text(encoding="utf-8").strip()
    label = entry["caption"] or entry["name"]
    note = FOOT.search(body)
    said = f'<p class="quiet note">{note[1]}</p>' if note else ""  # below: within, it would scroll with the rows
    shown = _scroll(FOOT.sub("", body), label)
    if entry["rows"] > LONG:
        shown = f"<details>\n<summary>{count(entry['rows'], 'row')}</summary>\n{shown}\n</details>"
    return f"<h3>{escape(label)}</h3>\n{shown}\n{said}"


def _scroll(table: str, label: str) -> str:
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(label)}">\n{table}\n</div>'


def _downloads(card: Card, has_notebook: bool) -> str:
    files, chapter = card.entry["files"], card.chapter
    links = [
        f'<a href="{escape(chapter.address(files[kind]))}" download>{name}</a>'
        for kind, name in FORMATS.items()
        if kind in files
    ]
    if has_notebook:
        links.append(f'<a href="{escape(chapter.address("notebook.html"))}">Notebook</a>')
    links.append(f'<a class="permalink" href="#{escape(card.id)}">Link</a>')
    about = f"{chapter.title}{f', {chapter.snapshot}' if chapter.snapshot else ''}"
    return f'<p class="files"><span>{escape(about)}</span> {" ".join(links)}</p>'
