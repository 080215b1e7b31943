"""The page without a browser: everything that is published, by question, as text that stays text."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pandas as pd
import pytest
from samples import make_sample

from analysis import page
from analysis.draw import publish
from analysis.errors import Trouble
from analysis.page import build
from analysis.page.questions import MORE, QUESTIONS, question_of

IMAGE = "<img src=x onerror=alert(1)>"
FORMULA = "=cmd|' /C calc'!A0"


class Page(HTMLParser):
    """The tags of a page, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.source = text
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data

    def all(self, tag: str, name: str = "") -> list[dict[str, str | None]]:
        return (
            [
                attributes
                for one, attributes in self.tags
                if one == tag and name in (attributes.get("class") or "").split()
            ]
            if name
            else [attributes for one, attributes in self.tags if one == tag]
        )


def add_book(
    figures: Path, *samples, name: str = "02-scores", words: str = "words", rows: int = 2, **where
) -> publish.Book:
    """A book with a figure that was not drawn (drawing is slow), a table and a number."""
    book = publish.book(name, *samples, figures=figures, **where)
    files = {kind: book._write(f"ratings.{kind}", b"") for kind in ("pdf", "svg", "png")}
    files["csv"] = book._write("ratings.csv", f'rating,label,value\n1,"{words.replace(chr(34), "")}",0.25\n')
    figure = {"name": "ratings", "title": words, "caption": words, "alt": f"alt {words}", "files": files}
    book.figures.append({**figure, "width": 528, "height": 296})
    book.table("rows", pd.DataFrame({"title": [words] * rows, "n": 1234}), words)
    book.number("ratings.n", 1234, n=1234)
    return book


@pytest.fixture
def figures(tmp_path) -> Path:
    for year, stage in ((2020, "final"), (2020, "release"), (2026, "release")):
        add_book(tmp_path, make_sample([[1], [6]], year=year, stage=stage))
    add_book(tmp_path, make_sample([[1]]), name="01-fetch", venue="ICLR", year=2020)
    add_book(tmp_path, make_sample([[1]]), make_sample([[1]], year=2026), name="05-years", venue="ICLR")
    return tmp_path


def make(figures: Path) -> Path:
    """The page without a store or executed notebooks."""
    return page.make(figures, figures / "none.duckdb", figures / "runs")


def made(figures: Path) -> Page:
    return Page(make(figures).read_text(encoding="utf-8"))


def year(figures: Path, place: str) -> dict:
    """What the script of a year holds."""
    text = (figures / "page" / f"cards-{place}.js").read_text(encoding="utf-8")
    return json.loads(text.partition(" = ")[2].removesuffix(";\n"))


def test_the_page_lies_beside_the_figures_with_its_files(figures):
    assert make(figures) == figures / "index.html"
    names = {path.name for path in (figures / "page").iterdir()}
    assert names == {
        "icon.svg",
        "page.css",
        "page.js",
        "form.js",
        "stand.js",
        "theme.js",
        "cards-iclr-2020.js",
        "cards-iclr-2026.js",
    }
    assert not list(figures.rglob(".*"))


def test_the_same_manifests_give_the_same_bytes_and_leave_files_alone(figures):
    make(figures)
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in figures.rglob("*") if path.is_file()}
    make(figures)
    assert before == {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in before}
    assert not any(str(figures).encode() in content for content, _ in before.values())


def test_the_page_of_a_project_is_made_again_only_where_something_changed(figures, monkeypatch):
    runs, made = figures.parent / "runs", []
    runs.mkdir()
    monkeypatch.setattr(build, "_make", lambda site, really=build._make: (made.append(site), really(site)))
    for change in (
        lambda: None,
        lambda: (figures / "index.html").unlink(),
        lambda: (figures / "page" / "cards-iclr-1999.js").write_text("old"),
        lambda: next(figures.rglob("manifest.json")).write_text(next(figures.rglob("manifest.json")).read_text() + " "),
    ):
        page.make(figures, figures / "none.duckdb", runs)
        before = len(made)
        page.make(figures, figures / "none.duckdb", runs)
        assert len(made) == before
        change()
    page.make(figures, figures / "none.duckdb", runs)
    assert len(made) == 4


def test_files_of_years_that_are_gone_go_too(figures):
    make(figures)
    (figures / "page" / "cards-iclr-1999.js").write_text("old")
    make(figures)
    assert not (figures / "page" / "cards-iclr-1999.js").exists()


def test_the_whole_venue_comes_first_then_the_newest_year_then_time(figures):
    listed = [chapter.folder.as_posix() for chapter in page.chapters(figures)]
    assert listed == [
        "iclr/05-years",
        "iclr-2026/2025-11-08/02-scores",
        "iclr-2020/01-fetch",
        "iclr-2020/2019-11-08/02-scores",
        "iclr-2020/final/02-scores",
    ]


def test_the_newest_year_is_shown_and_others_wait_in_their_scripts(figures):
    shown = [attributes["id"] for attributes in made(figures).all("article")]
    assert set(shown) == {
        "iclr-2026/2025-11-08/02-scores/ratings",
        "iclr-2026/2025-11-08/02-scores/rows",
        "iclr/05-years/ratings",
        "iclr/05-years/rows",
    }
    data = year(figures, "iclr-2020")
    assert list(data["views"]) == ["2019-11-08", "final"]
    assert 'id="iclr-2020/final/02-scores/ratings"' in data["views"]["final"]["cards"]["are-scores-lower"]
    assert 'id="iclr-2020/01-fetch/ratings"' in data["shared"]["cards"]["more"]


def test_every_question_is_a_heading_and_what_nobody_declared_is_under_more(figures):
    text = made(figures).source
    for question in (*QUESTIONS, MORE):
        assert f'<h2 id="{question.id}-title">{question.title}</h2>' in text
    assert question_of("07-acceptance", "sixes")[0].id == "what-gets-in"
    assert question_of("04-experience", "whatever")[0].id == "who-reviews"
    assert question_of("99-new", "figure")[0] is MORE


def test_every_link_leads_somewhere(figures):
    shown = made(figures)
    ids = [attributes["id"] for _, attributes in shown.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for link in shown.all("a"):
        address = unquote(link["href"])
        if address not in ("stand.html", "numbers.json"):
            assert address[1:] in ids if address.startswith("#") else (figures / address).is_file(), address
    labelled = {attributes["aria-labelledby"] for _, attributes in shown.tags if "aria-labelledby" in attributes}
    assert labelled <= set(ids)


def test_every_figure_has_its_picture_words_and_downloads(figures):
    shown = made(figures)
    cards = [image for image in shown.all("img") if image["alt"]]
    assert len(cards) == 2
    for image in cards:
        assert (figures / unquote(image["src"])).is_file()
        assert image["alt"] == "alt words"
        assert image["loading"] == "lazy"
        assert (image["width"], image["height"]) == ("528", "296")
    assert shown.text.count("PDF") == 2 and shown.text.count("LaTeX") == 2
    assert "The numbers behind it" in shown.text


def test_the_page_asks_nobody_and_runs_only_its_own_files(figures):
    shown = made(figures)
    assert {script.get("src") for script in shown.all("script")} == {
        None,
        "page/theme.js",
        "page/stand.js",
        "page/form.js",
        "page/page.js",
    }
    assert [script["type"] for script in shown.all("script") if not script.get("src")] == ["application/json"]
    policy = next(meta["content"] for meta in shown.all("meta") if meta.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; ")
    assert "unsafe" not in policy
    for _, attributes in shown.tags:
        assert not any(name.startswith("on") or name == "style" for name in attributes)
        assert not any(re.match(r"\w+:|//", attributes[name]) for name in ("src", "href") if name in attributes)
    for path in (figures / "page").iterdir():
        text = path.read_text()
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|@import|url\(", text), path.name


def test_text_of_data_stays_text(tmp_path):
    evil = f'{IMAGE}" onload="x</script>{FORMULA}'
    add_book(tmp_path, make_sample([[1]]), words=evil, rows=20)
    shown = made(tmp_path)
    assert len([image for image in shown.all("img") if image["alt"]]) == 1
    assert {image["src"] for image in shown.all("img")} == {"iclr-2020/2019-11-08/02-scores/ratings.svg"}
    assert shown.text.count(IMAGE) >= 23  # the words of figure and table, the numbers behind it, and 20 cells
    data = year(tmp_path, "iclr-2020")["views"]["2019-11-08"]
    for part in (*data["cards"].values(), *data["tiles"].values()):
        assert IMAGE not in part


def test_a_formula_does_not_run_from_a_csv(tmp_path):
    book = add_book(tmp_path, make_sample([[1]]), words=FORMULA)
    assert f"'{FORMULA}" in (book.folder / "rows.csv").read_text()


def test_a_long_table_is_folded(tmp_path):
    add_book(tmp_path, make_sample([[1]]), rows=16)
    assert "<summary>16 rows</summary>" in made(tmp_path).source


def test_what_must_be_said_is_on_the_page_once(figures):
    for folder in ("02-scores", "03-deciles"):
        book = add_book(figures, make_sample([[1]], year=2026), name=folder)
        book.about["remarks"] = ["Scores were put back."]
        book._save()
    assert made(figures).text.count("Scores were put back.") == 1


def test_a_snapshot_does_not_take_the_stage_of_a_stand_in(tmp_path):
    book = add_book(tmp_path, make_sample([[1]], stage="final"))
    book.about["samples"][0] |= {"snapshot": "2019-12-01", "stage": "discussed"}
    book._save()
    assert "discussed" not in made(tmp_path).text


def test_without_figures_the_page_says_how_to_get_some(tmp_path):
    assert "Nothing is published yet: ./run_all.sh" in made(tmp_path / "figures").text


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", json.dumps({"notebook": "x"})])
def test_a_broken_manifest_is_told_in_one_sentence(figures, content):
    (figures / "iclr" / "05-years" / "manifest.json").write_text(content)
    with pytest.raises(Trouble, match=r"The manifest of .*05-years cannot be read; remove that folder or run"):
        make(figures)


# Executed notebooks -------------------------------------------------------------------------------------------------


def executed(figures: Path, *cells: dict) -> str:
    """The page of a notebook that ran beside the figures of ICLR 2020, final."""
    run = figures / "runs" / "iclr-2020" / "final" / "02-scores.ipynb"
    run.parent.mkdir(parents=True, exist_ok=True)
    run.write_text(json.dumps({"cells": list(cells)}))
    make(figures)
    return (figures / "iclr-2020" / "final" / "02-scores" / "notebook.html").read_text()


def code(source: str, *outputs: dict) -> dict:
    return {"cell_type": "code", "source": source, "metadata": {"papermill": {"start_time": "now"}}, "outputs": outputs}


def test_an_executed_notebook_is_a_page_that_asks_nobody(figures):
    (figures / "iclr-2020" / "final" / "02-scores" / "ratings.png").write_bytes(b"picture")
    said = {"output_type": "stream", "text": [f"\x1b[31m{IMAGE}\x1b[0m\n"]}
    html = '<style scoped>td {}</style><table border="1" class="dataframe"><td>1</td></table>'
    table = {"output_type": "execute_result", "data": {"text/html": html}}
    picture = {"output_type": "display_data", "data": {"text/html": '<img src="data:image/png;base64,cGljdHVyZQ==">'}}
    text = executed(
        figures, {"cell_type": "markdown", "source": f"# A question\n{IMAGE}"}, code("f(1)", said, table, picture)
    )
    shown = Page(text)
    assert [image["src"] for image in shown.all("img")] == ["ratings.png"]
    assert shown.text.count(IMAGE) == 2 and "\x1b" not in text and "start_time" not in text
    assert shown.all("script") == [] and shown.all("style") == []
    assert not any(name.startswith("on") for _, attributes in shown.tags for name in attributes)
    assert 'href="../../../page/page.css"' in text and "<h1>A question</h1>" in text


def test_what_was_printed_looks_the_same_however_a_kernel_parted_it(figures):
    def said(*texts: str) -> list[dict]:
        return [{"output_type": "stream", "name": "stdout", "text": text} for text in texts]

    whole, parted = (executed(figures, code("f(1)", *some)) for some in (said("a\nb\n"), said("a\n", "b\n")))
    assert whole == parted and '<pre class="said">a\nb</pre>' in whole


def test_no_page_says_where_the_database_lies(figures):
    injected = code('# Parameters\nyear = 2020\ndatabase = "/home/someone/reviews.duckdb"\n')
    injected["metadata"] = {"tags": ["injected-parameters"]}
    text = executed(figures, injected)
    assert "someone" not in text and "2020" in text


def test_a_card_links_to_its_notebook_only_where_that_ran(figures):
    executed(figures, code("1"))
    data = year(figures, "iclr-2020")["views"]
    assert 'href="iclr-2020/final/02-scores/notebook.html"' in data["final"]["cards"]["are-scores-lower"]
    assert "notebook.html" not in data["2019-11-08"]["cards"]["are-scores-lower"]
