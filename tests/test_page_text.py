"""Text of the notes stays text everywhere: a title that is HTML, a keyword that a spreadsheet would run."""

from __future__ import annotations

import csv
import json
from html.parser import HTMLParser
from pathlib import Path

import openreview_notes as made
import pytest
from browser import Watched, chromium

from analysis import ROOT, fetch, page
from analysis.draw import publish
from analysis.statistics import topics

TITLE = "<img src=x onerror=alert(1)> of words"
KEYWORD = "=cmd|' /C calc'!A0"


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    """A project whose notes have such a title and keyword in every paper, and 10-topics run on it."""
    root = tmp_path_factory.mktemp("evil")
    database, saved = root / "data" / "reviews.duckdb", root / "saved.jsonl"
    documents = list(made.generate(2020, 40, stage="final"))
    for document in documents:
        document["content"] |= {"title": TITLE, "keywords": [KEYWORD, TITLE]}
    saved.write_text("\n".join(map(json.dumps, documents)))
    fetch.fetch("ICLR", [2020], fetch.Asked("notes", (saved,), "final"), database, lambda line: None)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(publish, "ROOT", root)
        run(root, "10-topics", {"year": 2020, "snapshot": "final", "database": str(database), "word": TITLE})
    page.make(root / "figures", database, root / "runs")
    return root


def run(root: Path, name: str, values: dict[str, object]) -> None:
    """Run a notebook in this process, and keep what it shows as papermill does."""
    cells = json.loads((ROOT / "notebooks" / f"{name}.ipynb").read_text())["cells"]
    space: dict[str, object] = {}
    for cell in (one for one in cells if one["cell_type"] == "code"):
        cell["outputs"] = outputs = []
        space["display"] = lambda shown, outputs=outputs: outputs.append(
            {"output_type": "display_data", "data": data_of(shown)}
        )
        exec("".join(cell["source"]), space)
        if "parameters" in cell["metadata"].get("tags", ()):
            space.update(values)
    run = root / "runs" / "iclr-2020" / "final" / f"{name}.ipynb"
    run.parent.mkdir(parents=True)
    run.write_text(json.dumps({"cells": cells}))


def data_of(shown: object) -> dict[str, str]:
    if hasattr(shown, "_repr_mimebundle_"):
        return shown._repr_mimebundle_()[0]
    return {"text/html": shown._repr_html_(), "text/plain": repr(shown)}


class Tags(HTMLParser):
    """Whatever would make a picture or run something."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def written(root: Path, *kinds: str) -> list[Path]:
    return [path for path in sorted((root / "figures").rglob("*")) if path.suffix in kinds]


def test_no_page_and_no_picture_has_the_title_as_a_tag(root):
    pages = written(root, ".html", ".svg")
    assert len(pages) > 4
    for path in pages:
        for _, attributes in Tags(path.read_text()).found:
            assert attributes.get("src") != "x" and not any(name.startswith("on") for name in attributes), path
    assert any("img src=x" in path.read_text() for path in pages)


def test_cards_in_the_scripts_have_it_as_text_too(root):
    text = (root / "figures" / "page" / "cards-iclr-2020.js").read_text()
    data = json.loads(text.partition(" = ")[2].removesuffix(";\n"))
    for view in (data["shared"], *data["views"].values()):
        for part in (*view["cards"].values(), *view["tiles"].values()):
            assert all(attributes.get("src") != "x" for _, attributes in Tags(part).found)


def test_no_cell_of_a_csv_begins_as_a_formula(root):
    files, seen = written(root, ".csv"), False
    for path in files:
        with path.open(newline="") as file:
            for cell in (cell for row in csv.reader(file) for cell in row):
                assert not cell.startswith(("=", "@")), path
                seen = seen or KEYWORD in cell
    assert seen


def test_in_the_browser_nothing_runs_and_the_keyword_is_found(root):
    with chromium() as browser, Watched(browser) as watched:
        dialogs = []
        watched.page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        watched.open(f"{(root / 'figures').as_uri()}/index.html")
        for typed in ("cmd|", "<img"):
            watched.page.fill("#word", typed)
            watched.page.wait_for_selector("#words-found table")
        rows = watched.page.eval_on_selector_all("#words-found tr", "rows => rows.map(row => row.textContent)")
        assert any(topics.normalised(TITLE) in row and "40" in row for row in rows)
        watched.page.goto(f"{(root / 'figures').as_uri()}/iclr-2020/final/10-topics/notebook.html")
        assert "img src=x" in watched.page.locator("main").text_content()
        assert dialogs == [] and watched.complaints == []
