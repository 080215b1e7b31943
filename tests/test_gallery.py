"""The gallery: everything that is published, in order, as text that stays text, with no request to elsewhere."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pandas as pd
import pytest
from samples import make_sample

from analysis import gallery
from analysis.draw import publish
from analysis.errors import Trouble

IMAGE = "<img src=x onerror=alert(1)>"


class Page(HTMLParser):
    """The tags of a page, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def add_book(
    figures: Path, *samples, name: str = "02-scores", words: str = "words", rows: int = 2, **where
) -> publish.Book:
    """A book with a figure that was not drawn (drawing is slow), a table and a number."""
    book = publish.book(name, *samples, figures=figures, **where)
    files = {kind: book._write(f"ratings.{kind}", b"") for kind in ("pdf", "svg", "png", "csv")}
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
    add_book(tmp_path, make_sample([[1]]), make_sample([[1]], year=2026), name="05-years")
    return tmp_path


def made(figures: Path) -> Page:
    return Page(gallery.make(figures).read_text(encoding="utf-8"))


def test_the_page_lies_beside_the_figures_with_its_style(figures):
    assert gallery.make(figures) == figures / "index.html"
    assert (figures / "gallery.css").read_text().startswith("/* The look")
    assert not list(figures.glob(".*"))


def test_the_same_manifests_give_the_same_bytes(figures):
    first = gallery.make(figures).read_bytes()
    assert gallery.make(figures).read_bytes() == first
    assert str(figures).encode() not in first


def test_the_whole_venue_comes_first_then_the_newest_year_then_time(figures):
    listed = [chapter.folder.as_posix() for chapter in gallery.chapters(figures)]
    assert listed == [
        "iclr/05-years",
        "iclr-2026/2025-11-08/02-scores",
        "iclr-2020/01-fetch",
        "iclr-2020/2019-11-08/02-scores",
        "iclr-2020/final/02-scores",
    ]


def test_the_contents_name_every_year_and_snapshot(figures):
    text = gallery.make(figures).read_text()
    contents = re.search(r"<nav.*?</nav>", text, re.DOTALL).group()
    links = re.findall(r'<a href="#([^"]+)">([^<]+)</a>', contents)
    assert links == [
        ("iclr", "ICLR, across years"),
        ("iclr-2026", "ICLR 2026"),
        ("iclr-2026-2025-11-08", "2025-11-08 (release)"),
        ("iclr-2020", "ICLR 2020"),
        ("iclr-2020-2019-11-08", "2019-11-08 (release)"),
        ("iclr-2020-final", "final"),
    ]


def test_every_link_leads_somewhere(figures):
    page = made(figures)
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for link in page.all("a"):
        address = unquote(link["href"])
        assert address[1:] in ids if address.startswith("#") else (figures / address).is_file(), address
    labelled = {attributes["aria-labelledby"] for _, attributes in page.tags if "aria-labelledby" in attributes}
    assert labelled <= set(ids)


def test_every_figure_has_its_picture_words_and_downloads(figures):
    page = made(figures)
    assert len(page.all("img")) == 5
    for image in page.all("img"):
        assert (figures / unquote(image["src"])).is_file()
        assert image["alt"] == "words. alt words"
        assert image["loading"] == "lazy"
        assert (image["width"], image["height"]) == ("528", "296")
    assert page.text.count("PDF") == 5 and page.text.count("LaTeX") == 5


def test_numbers_and_sizes_are_on_the_page(figures):
    text = made(figures).text
    assert "All submissions: 2 papers, 2 reviews." in text
    assert "ratings.n1,234n = 1,234" in text


def test_the_page_asks_nobody_and_runs_nothing(figures):
    page = made(figures)
    assert page.all("script") == [] and page.all("style") == [] and page.all("iframe") == []
    policy = next(meta["content"] for meta in page.all("meta") if meta.get("http-equiv") == "Content-Security-Policy")
    assert policy == "default-src 'none'; img-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'"
    for _, attributes in page.tags:
        assert not any(name.startswith("on") or name == "style" for name in attributes)
        assert not any(re.match(r"\w+:|//", attributes[name]) for name in ("src", "href") if name in attributes)
    style = (figures / "gallery.css").read_text()
    assert "@import" not in style and "url(" not in style


def test_text_of_data_stays_text(tmp_path):
    evil = f'{IMAGE}" onload="x'
    add_book(tmp_path, make_sample([[1]]), words=evil, rows=20)
    page = made(tmp_path)
    assert len(page.all("img")) == 1
    assert page.all("img")[0]["alt"] == f"{evil}. alt {evil}"
    assert page.text.count(IMAGE) == 23  # the caption, the folded table's summary and caption, and 20 cells


def test_a_long_table_and_many_remarks_are_folded(tmp_path):
    book = add_book(tmp_path, make_sample([[1]]), rows=16)
    book.about["remarks"] = [f"remark {number}" for number in range(5)]
    book._save()
    page = made(tmp_path)
    assert len(page.all("details")) == 3
    assert "16 rows" in page.text and "5 remarks" in page.text


def test_a_snapshot_does_not_take_the_stage_of_a_stand_in(tmp_path):
    book = add_book(tmp_path, make_sample([[1]], stage="final"))
    book.about |= {"snapshot": "2019-12-01", "stage": "discussed"}
    book._save()
    assert "discussed" not in made(tmp_path).text


def test_without_figures_the_page_says_how_to_get_some(tmp_path):
    page = made(tmp_path / "figures")
    assert "Nothing is published yet: ./run_all.sh" in page.text


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", json.dumps({"notebook": "x"})])
def test_a_broken_manifest_is_told_in_one_sentence(figures, content):
    (figures / "iclr" / "05-years" / "manifest.json").write_text(content)
    with pytest.raises(Trouble, match=r"The manifest of .*05-years cannot be read; remove that folder or run"):
        gallery.make(figures)
