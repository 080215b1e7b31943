"""The gallery: figures/index.html, one static page of everything that the notebooks published.

It reads the manifests and what they name, so it shows exactly what is there. It makes no request to anywhere, works
from a folder as well as from any web host, and the same manifests give the same bytes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from analysis import __version__
from analysis.errors import Trouble, count
from analysis.sample import POPULATIONS

TITLE = "Conference review statistics"
SUITE = f"conference-review-statistics {__version__}"
STYLE = Path(__file__).with_name("gallery.css")
# Nothing runs, and nothing comes from elsewhere: pictures and the style are files beside the page.
POLICY = "default-src 'none'; img-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'"
LONG = 15  # rows: a longer table is folded
MANY = 4  # remarks: more are folded
FORMATS = {"pdf": "PDF", "svg": "SVG", "png": "PNG", "csv": "CSV", "md": "Markdown", "tex": "LaTeX"}


@dataclass(frozen=True)
class Chapter:
    """What one notebook published in one place."""

    folder: PurePosixPath  # below figures/
    book: dict

    @property
    def year(self) -> str:
        """The folder of the year, or of the whole venue."""
        return self.folder.parts[0]

    @property
    def snapshot(self) -> str:
        """The folder of the snapshot; empty for what is about a whole year or venue."""
        return "/".join(self.folder.parts[1:-1])

    @property
    def order(self) -> tuple:
        """The whole venue, then its years, newest first; of a year what is about all of it, then snapshots in time."""
        year, name = self.book["year"], self.snapshot
        return self.book["venue"], year is not None, -(year or 0), name != "", name == "final", name, self.folder.name


def make(figures: Path) -> Path:
    """Write the page of everything below `figures`; gives its path."""
    figures.mkdir(parents=True, exist_ok=True)
    page = figures / "index.html"
    _write(figures / STYLE.name, STYLE.read_text(encoding="utf-8"))
    _write(page, _page(chapters(figures), figures))
    return page


def chapters(figures: Path) -> list[Chapter]:
    """What the manifests below `figures` say, in the order of the page."""
    folders = [path.parent for path in figures.rglob("manifest.json")]
    found = [Chapter(PurePosixPath(folder.relative_to(figures).as_posix()), _book(folder)) for folder in folders]
    return sorted(found, key=lambda chapter: chapter.order)


def _book(folder: Path) -> dict:
    try:
        book = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        if {"notebook", "venue", "year", "figures", "tables", "numbers"} <= book.keys():
            return book
    except (OSError, ValueError, AttributeError):
        pass
    raise Trouble(f"The manifest of {folder} cannot be read; remove that folder or run its notebook with --force.")


def _write(path: Path, text: str) -> None:
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.write_text(text, encoding="utf-8", newline="\n")
    os.replace(unfinished, path)


# The page -----------------------------------------------------------------------------------------------------------


def _page(found: Sequence[Chapter], figures: Path) -> str:
    years = [(year, list(some)) for year, some in groupby(found, key=lambda chapter: chapter.year)]
    sections = "\n".join(_year(year, some, figures) for year, some in years)
    nothing = "<p>Nothing is published yet: <code>./run_all.sh</code> makes the figures and this page.</p>"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(TITLE)}</title>
<link rel="stylesheet" href="{STYLE.name}">
</head>
<body>
<a class="skip" href="#figures">To the figures</a>
<header>
<h1>{escape(TITLE)}</h1>
<p class="quiet">{escape(_summary(found))}</p>
</header>
<div class="page">
{_contents(years)}
<main id="figures">
{sections or nothing}
</main>
</div>
<footer class="quiet">{SUITE}. Counts of past papers, not a prediction for yours.</footer>
</body>
</html>
"""


def _summary(found: Sequence[Chapter]) -> str:
    figures, tables = (sum(len(chapter.book[kind]) for chapter in found) for kind in ("figures", "tables"))
    years = {chapter.year for chapter in found if chapter.book["year"] is not None}
    counted = f"{count(figures, 'figure')} and {count(tables, 'table')} of {count(len(years), 'year')}"
    return f"{counted}, each with its date and its population."


def _contents(years: Sequence[tuple[str, list[Chapter]]]) -> str:
    items = []
    for year, some in years:
        snapshots = [(name, list(these)) for name, these in groupby(some, key=lambda chapter: chapter.snapshot) if name]
        inner = "".join(f"<li>{_link(f'{year}/{name}', _snapshot_title(these))}</li>" for name, these in snapshots)
        items.append(f"<li>{_link(year, _year_title(some[0]))}{f'<ol>{inner}</ol>' if inner else ''}</li>")
    listed = "\n".join(items)
    return f'<nav aria-label="Contents">\n<h2>Contents</h2>\n<ol>\n{listed}\n</ol>\n</nav>'


def _link(place: str, text: str) -> str:
    return f'<a href="#{_anchor(place)}">{escape(text)}</a>'


def _anchor(*parts: object) -> str:
    """The id of a place on the page, which is its permalink."""
    return quote("-".join(str(part) for part in parts).replace("/", "-"), safe="")


def _year_title(chapter: Chapter) -> str:
    year = chapter.book["year"]
    return f"{chapter.book['venue']}, across years" if year is None else f"{chapter.book['venue']} {year}"


def _snapshot_title(these: Sequence[Chapter]) -> str:
    """``2019-11-08 (release)``; a notebook whose numbers are of another snapshot does not say the stage of this one."""
    name = these[0].snapshot
    stages = [chapter.book.get("stage") for chapter in these if chapter.book.get("snapshot") == name]
    return f"{name} ({stages[0]})" if stages and stages[0] not in (None, name) else name


def _year(year: str, some: Sequence[Chapter], figures: Path) -> str:
    parts = []
    for name, group in groupby(some, key=lambda chapter: chapter.snapshot):
        these = list(group)
        if name:
            parts.append(f'<h3 id="{_anchor(year, name)}">{escape(_snapshot_title(these))}</h3>')
        parts += [_chapter(chapter, figures) for chapter in these]
    head = f'<h2 id="{_anchor(year)}">{escape(_year_title(some[0]))}</h2>'
    return "\n".join([f'<section aria-labelledby="{_anchor(year)}">', head, *parts, "</section>"])


# A notebook's part --------------------------------------------------------------------------------------------------


def _chapter(chapter: Chapter, figures: Path) -> str:
    book = chapter.book
    cards = [_figure(chapter, figure) for figure in book["figures"]]
    cards += [_table(chapter, table, figures) for table in book["tables"]]
    cards += [_numbers(chapter)] if book["numbers"] else []
    title = book["notebook"].partition("-")[2].replace("-", " ").capitalize() or book["notebook"]
    lines = [
        f'<h4 id="{_anchor(chapter.folder)}">{escape(title)}</h4>',
        f'<p class="quiet">{escape(_counted(book))}</p>' if book.get("population") else "",
        _remarks(book.get("remarks", ())),
        '<div class="cards">',
        *cards,
        "</div>",
    ]
    return "\n".join(filter(None, lines))


def _remarks(remarks: Sequence[str]) -> str:
    """What must be said with the numbers; many remarks are folded."""
    listed = f"<ul>{''.join(f'<li>{escape(remark)}</li>' for remark in remarks)}</ul>"
    if len(remarks) > MANY:
        listed = f"<details>\n<summary>{count(len(remarks), 'remark')}</summary>\n{listed}\n</details>"
    return f'<div class="remarks">{listed}</div>' if remarks else ""


def _counted(book: dict) -> str:
    """What the numbers of a notebook are about: the population and its size."""
    population = POPULATIONS.get(book["population"], book["population"])
    counted = f"{count(book['papers'], 'paper')}, {count(book['reviews'], 'review')}"
    return f"{population[0].upper()}{population[1:]}: {counted}."


def _figure(chapter: Chapter, figure: dict) -> str:
    anchor, files = _anchor(chapter.folder, figure["name"]), figure["files"]
    alt = f"{figure['title']}. {figure['alt']}" if figure["alt"] != figure["title"] else figure["title"]
    source = _address(chapter, files["svg"])
    size = f'width="{int(figure["width"])}" height="{int(figure["height"])}"'
    return f"""<figure id="{anchor}">
<a href="{source}"><img src="{source}" {size} loading="lazy" alt="{escape(alt)}"></a>
<figcaption>
<p>{escape(figure["caption"])}</p>
{_downloads(chapter, files, anchor)}
</figcaption>
</figure>"""


def _table(chapter: Chapter, table: dict, figures: Path) -> str:
    anchor, files = _anchor(chapter.folder, table["name"]), table["files"]
    # Written by analysis.tables, which escapes every cell.
    body = (figures / chapter.folder / files["html"]).read_text(encoding="utf-8").strip()
    label = escape(table["caption"] or table["name"])
    scrolled = f'<div class="scroll" role="region" tabindex="0" aria-label="{label}">\n{body}\n</div>'
    if table["rows"] > LONG:
        shown = f"<details>\n<summary>{label} {count(table['rows'], 'row')}</summary>\n{scrolled}\n</details>"
    else:
        shown = f"<p>{label}</p>\n{scrolled}"
    return f'<div class="table" id="{anchor}">\n{shown}\n{_downloads(chapter, files, anchor)}\n</div>'


def _numbers(chapter: Chapter) -> str:
    """The numbers that the notebook quotes in prose, each with its limits and how many it is of."""
    rows = [_number(chapter, number) for number in chapter.book["numbers"]]
    inside = ["<summary>Numbers that the text quotes</summary>", "<table>", *rows, "</table>"]
    return "\n".join(['<div class="table">', "<details>", *inside, "</details>", "</div>"])


def _number(chapter: Chapter, number: dict) -> str:
    n = f"n = {number['n']:,}" if number["n"] is not None else ""
    texts = number["text"], ", ".join(filter(None, (number["limits"], n)))
    cells = "".join(f'<td class="number">{escape(text)}</td>' for text in texts)
    return f'<tr id="{_anchor(chapter.folder, number["name"])}"><td>{escape(number["name"])}</td>{cells}</tr>'


def _downloads(chapter: Chapter, files: dict[str, str], anchor: str) -> str:
    kinds = [(_address(chapter, files[kind]), name) for kind, name in FORMATS.items() if kind in files]
    links = " ".join(f'<a href="{address}" download>{name}</a>' for address, name in kinds)
    return f'<p class="files">{links} <a href="#{anchor}">Link</a></p>'


def _address(chapter: Chapter, file: str) -> str:
    return escape(quote(f"{chapter.folder}/{file}"))
