"""Build: the files of the page, each written whole and only where it differs."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from html import escape
from itertools import groupby
from pathlib import Path

from analysis import DATABASE, ROOT, __version__
from analysis.errors import Trouble
from analysis.page import executed, numbers, words
from analysis.page import stand as stand_data
from analysis.page.cards import cards, html, tile
from analysis.page.chapters import Chapter, chapters, named, stage_of
from analysis.page.fresh import Fresh, fresh
from analysis.page.questions import ALL, MORE, Question
from analysis.runner import package_digest
from analysis.snapshots import choose
from analysis.venues import venue_year

TITLE = "Conference review statistics"
SUITE = f"conference-review-statistics {__version__}"
RECORD = "page.json"  # in runs/: what the page was made of, so that it is not made again of the same
ASSETS = Path(__file__).with_name("assets")
# Nothing comes from elsewhere: pictures, style and scripts are files beside the page.
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'"


@dataclass
class Site:
    """What the page is made of, and the files that were written for it."""

    figures: Path
    runs: Path
    database: Path
    found: Sequence[Chapter]
    written: set[Path] = field(default_factory=set)

    def write(self, name: str, text: str) -> None:
        """Write a file whole or not at all; one that is the same already is left alone."""
        path = self.figures / name
        self.written.add(path)
        content = text.encode()
        if path.is_file() and path.read_bytes() == content:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        unfinished.write_bytes(content)
        os.replace(unfinished, path)

    def read(self, name: str) -> str:
        return (self.figures / name).read_text(encoding="utf-8")

    def notebook(self, chapter: Chapter) -> Path:
        return self.runs / f"{chapter.folder}.ipynb"


def make(figures: Path, database: Path = DATABASE, runs: Path = ROOT / "runs") -> Path:
    """Write the page of everything below `figures`; gives its path.

    The counts of `database` are there for one's own ratings, and the executed notebooks of `runs` as pages.
    """
    figures.mkdir(parents=True, exist_ok=True)
    site = Site(figures, runs, database, chapters(figures))
    made_of = _made_of(site)
    if not _is_made(site, made_of):
        _make(site)
        _remember(site, made_of)
    return figures / "index.html"


def _made_of(site: Site) -> str:
    """What the page follows from: the package, all manifests, the executed notebooks and the store."""
    digest = sha256(package_digest(ROOT / "analysis").encode())
    for chapter in site.found:
        digest.update((site.figures / chapter.folder / "manifest.json").read_bytes())
    for path in (*map(site.notebook, site.found), site.database, site.database.with_name("venues.toml")):
        digest.update(f"{path} {_version(path)}".encode())
    return digest.hexdigest()


def _version(path: Path) -> tuple[int, ...]:
    """Changes with a file's content; a folder of Parquet is written anew as a whole."""
    if not path.exists():
        return ()
    file = path.stat()
    return file.st_ino, file.st_mtime_ns, file.st_size


def _is_made(site: Site, made_of: str) -> bool:
    try:
        record = json.loads((site.runs / RECORD).read_text())
        files = {site.figures / name for name in record["files"]}
        known = record["made_of"] == made_of and record["figures"] == str(site.figures)
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return known and all(path.is_file() for path in files) and files.issuperset((site.figures / "page").iterdir())


def _remember(site: Site, made_of: str) -> None:
    if site.runs.is_dir() and site.runs.parent == site.figures.parent:
        files = sorted(str(path.relative_to(site.figures)) for path in site.written)
        record = {"made_of": made_of, "figures": str(site.figures), "files": files}
        (site.runs / RECORD).write_text(json.dumps(record))


def _make(site: Site) -> None:
    for asset in sorted(ASSETS.iterdir()):
        site.write(f"page/{asset.name}", asset.read_text(encoding="utf-8"))
    _write_notebooks(site)
    write_index(site)
    site.write(numbers.FILE, cited(site))
    for path in (site.figures / "page").iterdir():  # of years that are gone
        if path not in site.written:
            path.unlink()


def write_index(site: Site) -> None:
    """The page itself, with the scripts that it loads."""
    offered, words_of = stand_data.write(site), words.write(site)
    years = _write_years(site)
    site.write("index.html", _index(site, years, offered, words_of))


def cited(site: Site) -> str:
    """numbers.json: what the notebooks published, and the page's own numbers."""
    parts = [one.part for one in fresh(site.database)]
    parts += [*stand_data.parts(site.figures), *words.parts(site.database, site.figures)]
    return numbers.text(site.figures, site.found, site.database, parts)


def _write_notebooks(site: Site) -> None:
    for chapter in site.found:
        if site.notebook(chapter).is_file():
            up = "../" * len(chapter.folder.parts)
            title = f"{chapter.title}{f', {chapter.snapshot}' if chapter.snapshot else ''}: {chapter.notebook}"
            text = executed.html(site.notebook(chapter), title, up, site.figures / chapter.folder)
            site.write(f"{chapter.folder}/notebook.html", text)


# Years --------------------------------------------------------------------------------------------------------------


def _write_years(site: Site) -> list[dict]:
    """A script a year with the cards of each of its snapshots, loaded when somebody looks at it; gives the index of them."""
    index = []
    for place, group in groupby([one for one in site.found if one.book["year"] is not None], key=lambda one: one.place):
        some = list(group)
        views = {name: _view([one for one in some if one.snapshot == name], site) for name in _snapshots(some)}
        shared = _view([one for one in some if not one.snapshot], site)
        data = json.dumps({"shared": shared, "views": views}, ensure_ascii=False, sort_keys=True, indent=0)
        site.write(f"page/cards-{place}.js", f"Page.cards[{json.dumps(place)}] = {data};\n")
        snapshots = [
            {"name": name, "stage": stage_of(name, some), "label": named(name, stage_of(name, some))} for name in views
        ]
        usual = _usual(site, some, list(views))
        index.append({"place": place, "title": some[0].title, "snapshots": snapshots, "usual": usual})
    return index


def _snapshots(some: Iterable[Chapter]) -> list[str]:
    return list(dict.fromkeys(one.snapshot for one in some if one.snapshot))


def _view(some: Sequence[Chapter], site: Site) -> dict[str, object]:
    """What is shown of some chapters: cards by question, tiles, and what must be said with the numbers."""
    sorted_in = cards(some)
    shown = {
        question.id: "\n".join(html(card, site.figures, site.notebook(card.chapter).is_file()) for card in found)
        for question, found in sorted_in.items()
        if found
    }
    first = {question: [card for card in found if card.is_figure][:1] for question, found in sorted_in.items()}
    tiles = {
        question.id: tile(question, card) for question, found in first.items() for card in found if question != MORE
    }
    return {"cards": shown, "tiles": tiles, "remarks": _remarks(some)}


def _remarks(some: Sequence[Chapter]) -> str:
    remarks = dict.fromkeys(remark for one in some for remark in one.book.get("remarks", ()))
    return "".join(f"<li>{escape(remark)}</li>" for remark in remarks)


def _usual(site: Site, some: Sequence[Chapter], names: Sequence[str]) -> str:
    """The snapshot of a year that is shown first: what decisions were based on, where it is published."""
    if not names:
        return ""
    book = some[0].book
    with contextlib.suppress(Trouble):
        form = venue_year(book["venue"], book["year"], site.database)
        held = [one for one in stand_data.held(site.database, book["venue"]) if one.year == book["year"]]
        name = choose([one for one in held if one.name in names], "", form.decision_snapshot)[0].name
        return name
    return names[-1]


# The page -----------------------------------------------------------------------------------------------------------


def _index(site: Site, years: list[dict], offered: list[dict], words_of: list[dict]) -> str:
    across = _view([one for one in site.found if one.book["year"] is None], site)
    newest = _load(site, years[0]) if years else {"shared": _view([], site), "views": {}}
    view = newest["views"].get(years[0]["usual"], _view([], site)) if years else _view([], site)
    shown = _together(view, newest["shared"])
    about = {"years": years, "stand": offered, "words": words_of, "tiles": across["tiles"]}
    parts = [stand_data.form(offered), _tiles(shown, across), _filters(years, shown)]
    parts += [_question(question, shown, across, bool(offered)) for question in ALL]
    nothing = "<p>Nothing is published yet: <code>./run_all.sh</code> makes the figures and this page.</p>"
    body = "\n".join([*parts, _everything(site)]) if site.found else nothing
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="Public conference reviews as figures and numbers, each with its date, its population and its error.">
<title>{escape(TITLE)}</title>
<link rel="icon" href="page/icon.svg">
<link rel="stylesheet" href="page/page.css">
<script src="page/theme.js"></script>
<script type="application/json" id="about">{_json(about)}</script>
<script defer src="page/stand.js"></script>
<script defer src="page/form.js"></script>
<script defer src="page/page.js"></script>
</head>
<body>
<a class="skip" href="#main">To the content</a>
{_head(fresh(site.database))}
<main id="main" tabindex="-1">
{body}
</main>
{_foot()}
</body>
</html>
"""


def _json(about: dict) -> str:
    """JSON within HTML: no text of the data can end the element."""
    return json.dumps(about, ensure_ascii=False, sort_keys=True).replace("<", "\\u003c")


def _load(site: Site, year: dict) -> dict:
    return stand_data.parsed(site.read(f"page/cards-{year['place']}.js"))


def _together(view: dict, shared: dict) -> dict:
    """A snapshot's view with that of its whole year."""
    keys = [question.id for question in ALL]
    parts = {
        kind: {key: view[kind].get(key, "") + shared[kind].get(key, "") for key in keys} for kind in ("cards", "tiles")
    }
    parts["tiles"] = {key: view["tiles"].get(key) or shared["tiles"].get(key, "") for key in keys}
    return {**parts, "remarks": view["remarks"] or shared["remarks"]}


def _head(known: Sequence[Fresh]) -> str:
    lines = "\n".join(
        f'<p class="fresh"><strong>{escape(one.title)}</strong> <span>{escape(one.counts)}.</span> '
        f"<span>{escape(one.share)}</span> <span>{escape(one.change)}</span></p>"
        for one in known
    )
    return f"""<header class="top">
<div>
<h1>{escape(TITLE)}</h1>
<p class="quiet">Public reviews as numbers and figures, each with its date, its population and its error.</p>
</div>
<button type="button" id="theme" hidden>Theme: system</button>
{lines}
</header>"""


def _tiles(shown: dict, across: dict) -> str:
    found = [shown["tiles"].get(question.id) or across["tiles"].get(question.id, "") for question in ALL]
    return f"""<section class="findings" aria-labelledby="findings">
<h2 id="findings">In short</h2>
<ul class="tiles" id="tiles">
{"".join(filter(None, found))}
</ul>
</section>"""


def _filters(years: list[dict], shown: dict) -> str:
    if not years:
        return ""
    options = "".join(f'<option value="{escape(one["place"])}">{escape(one["title"])}</option>' for one in years)
    snapshots = "".join(
        f'<option value="{escape(one["name"])}"{" selected" if one["name"] == years[0]["usual"] else ""}>{escape(one["label"])}</option>'
        for one in years[0]["snapshots"]
    )
    contents = "".join(f'<li><a href="#{question.id}">{escape(question.title)}</a></li>' for question in ALL)
    return f"""<form id="filters" class="filters" aria-label="Which figures to show">
<label>Year <select id="year">{options}</select></label>
<label>Snapshot <select id="snapshot">{snapshots}</select></label>
<label>Beside it <select id="beside"><option value="">nothing</option></select></label>
<p class="quiet" id="shown" role="status"></p>
</form>
<nav class="contents" aria-label="Questions"><ol>{contents}</ol></nav>
<noscript><p>Without scripts this page shows {escape(years[0]["title"])} only; the notebooks at its end show everything.</p></noscript>
<details class="remarks" id="said"><summary>What must be said with these numbers</summary><ul>{shown["remarks"]}</ul></details>"""


def _question(question: Question, shown: dict, across: dict, has_boxes: bool) -> str:
    own, whole = shown["cards"].get(question.id, ""), across["cards"].get(question.id, "")
    has_boxes = has_boxes and question.id == "where-do-i-stand"
    boxes = '<p><a href="#stand">Type your own ratings</a> above.</p>' if has_boxes else ""
    every = f'<h3 class="every">All years</h3>\n<div class="cards">\n{whole}\n</div>' if whole else ""
    hidden = " hidden" if own else ""
    nothing = f'<p class="nothing quiet"{hidden}>Nothing is published about this for the snapshot shown.</p>\n'
    nothing = "" if whole else nothing
    search = words.form() if question is MORE else ""
    unused = "" if own or whole or question is not MORE else " hidden"
    return f"""<section class="question" id="{question.id}" aria-labelledby="{question.id}-title" tabindex="-1"{unused}>
<h2 id="{question.id}-title">{escape(question.title)}</h2>
<p class="lead">{escape(question.lead)}</p>
{boxes}{search}<div class="cards" data-question="{question.id}">
{own}
</div>
{nothing}{every}
</section>"""


def _everything(site: Site) -> str:
    """Every notebook as a page, for whoever has no scripts, and for links that last."""
    rows = []
    for _, group in groupby(site.found, key=lambda one: one.place):
        some = list(group)
        links = [_notebook_link(one) for one in some if site.notebook(one).is_file()]
        if links:
            rows.append(f"<dt>{escape(some[0].title)}</dt><dd>{' '.join(links)}</dd>")
    if not rows:
        return ""
    return f"""<section class="question" id="notebooks" aria-labelledby="notebooks-title">
<h2 id="notebooks-title">The notebooks, as they ran</h2>
<dl class="notebooks">{"".join(rows)}</dl>
</section>"""


def _notebook_link(chapter: Chapter) -> str:
    label = f"{chapter.snapshot} {chapter.notebook}".strip()
    return f'<a href="{escape(chapter.address("notebook.html"))}">{escape(label)}</a>'


def _foot() -> str:
    return f"""<footer class="quiet">
<p>Counts of past papers, not a prediction for yours. A year is a census: an interval means "a year like this one".</p>
<p><a href="stand.html">Where do I stand, in one file</a> <a href="numbers.json">Every number quoted here, as JSON</a> {SUITE}</p>
</footer>"""
