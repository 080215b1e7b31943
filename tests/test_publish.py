"""Publish: the same bytes on every run, a manifest that names everything, and nothing stale."""

from __future__ import annotations

import json
import re
import struct
import warnings
from dataclasses import replace
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from samples import make_sample

from analysis import __version__
from analysis.draw import draw_ratings, publish
from analysis.errors import Trouble
from analysis.sample import restrict
from analysis.statistics.ratings import ratings
from analysis.venues import Scale

EVIL = "=cmd|' /C calc'!A0"
IMAGE = "<img src=x onerror=alert(1)>"
WORDS = {"title": "A third are 6", "caption": "Share of 3 ratings.", "alt": "Bars: 1: 67 %, 6: 33 %."}


@pytest.fixture
def sample():
    return restrict(make_sample([[1, 1], [6], []], ["rejected", "accepted", "withdrawn"]), "reviewed")


@pytest.fixture
def folder(tmp_path) -> Path:
    return tmp_path / "iclr-2020" / "2019-11-08" / "02-scores"


def published(sample, figures: Path, **options) -> publish.Book:
    """A book with one of each."""
    book = publish.book("02-scores", sample, figures=figures, **options)
    frame = ratings(sample)
    book.figure("ratings", draw_ratings(frame, book.axes()), frame, **WORDS)
    book.table("top", pd.DataFrame({"title": [EVIL, IMAGE], "value": [0.5, 0.25], "n": [4, 8]}), "A table", ("value",))
    book.number("ratings.accept-side", 1 / 3, n=3, low=0.1, high=0.7)
    return book


def manifest(folder: Path) -> dict:
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# Bytes --------------------------------------------------------------------------------------------------------------


def test_two_runs_give_the_same_bytes(sample, tmp_path, folder):
    published(sample, tmp_path)
    first = contents(folder)
    published(sample, tmp_path)
    assert contents(folder) == first
    assert {Path(name).suffix for name in first} == set(publish.SUFFIXES)


def test_files_tell_neither_time_nor_machine(sample, tmp_path, folder):
    published(sample, tmp_path)
    for name, content in contents(folder).items():
        assert b"CreationDate" not in content and b"dc:date" not in content and b"Software" not in content, name
        assert str(tmp_path).encode() not in content, name
        assert b"\r" not in content or name.endswith((".pdf", ".png", ".parquet")), name


def test_pdf_embeds_truetype_fonts_and_svg_needs_none(sample, tmp_path, folder):
    published(sample, tmp_path)
    pdf, svg = (folder / "ratings.pdf").read_bytes(), (folder / "ratings.svg").read_text()
    assert b"/FontFile2" in pdf and b"/Type3" not in pdf
    assert "<text" not in svg and "font-family" not in svg


def test_pictures_have_the_print_size(sample, tmp_path, folder):
    published(sample, tmp_path, width="column")
    assert re.search(rb"/MediaBox \[ 0 0 234 221", (folder / "ratings.pdf").read_bytes())  # 3.25 inches of 72 points
    assert manifest(folder)["figures"][0]["width"] == 312
    assert manifest(folder)["width"] == "column"


@pytest.mark.parametrize("width", publish.WIDTHS)
def test_the_first_figure_is_also_a_picture_to_share(sample, tmp_path, folder, width):
    book, frame = publish.book("02-scores", sample, figures=tmp_path, width=width), ratings(sample)
    for name in ("ratings", "again"):
        drawn = book.figure(name, draw_ratings(frame, book.axes()), frame, **WORDS).figure
        assert drawn.get_figwidth() == publish.WIDTHS[width]  # as it was
    shared = (folder / "ratings-share.png").read_bytes()
    assert struct.unpack(">II", shared[16:24]) == (1200, 675)
    assert "share" not in manifest(folder)["figures"][1]["files"]


def test_a_table_says_below_where_it_is_from_and_what_was_left_out(sample, tmp_path, folder):
    book = published(sample, tmp_path)
    for name in ("top.md", "top.tex", "top.html"):
        text = (folder / name).read_text(encoding="utf-8")
        assert "2 papers, 3 reviews" in text and "so intervals are rough" in text, name
    assert any("left out" in remark for remark in book.about["remarks"])


def test_parquet_holds_the_frame_as_it_is(sample, tmp_path, folder):
    frame = pd.DataFrame({"title": [EVIL, IMAGE], "value": [1 / 3, None], "n": [4, 8], "who": ["all", 2]})
    publish.book("02-scores", sample, figures=tmp_path).table("top", frame)
    read = duckdb.read_parquet(str(folder / "top.parquet")).df()
    pd.testing.assert_frame_equal(read.astype(object), frame.assign(who=["all", "2"]).astype(object), check_dtype=False)


def test_what_the_font_lacks_stays_text_in_svg_and_warns_nobody(sample, tmp_path, folder):
    book = publish.book("02-scores", sample, figures=tmp_path)
    frame = ratings(sample)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        book.figure("ratings", draw_ratings(frame, book.axes()), frame, title=f"多样性 🚀 $x_1$ 50% {IMAGE}")
    svg = (folder / "ratings.svg").read_text(encoding="utf-8")
    assert "多样性" in svg and "$x_1$" in svg
    assert IMAGE not in svg and "&lt;img" in svg


def test_a_figure_carries_its_title_and_its_stamp(sample, tmp_path):
    book = publish.book("02-scores", sample, figures=tmp_path)
    frame = ratings(sample)
    figure = book.figure("ratings", draw_ratings(frame, book.axes()), frame, **WORDS).figure
    assert figure.get_suptitle() == "A third are 6"
    assert (
        figure.get_supxlabel().replace("\n", " · ")
        == book.stamp
        == (
            "ICLR 2020 · snapshot 2019-11-08 (release) · papers with a review · 2 papers, 3 reviews · test · "
            f"conference-review-statistics {__version__}"
        )
    )


# The manifest -------------------------------------------------------------------------------------------------------


SAMPLED = {"venue": "ICLR", "year": 2020, "snapshot": "2019-11-08", "population": "reviewed"}
QUERY = {"statistic": "ratings", "samples": [SAMPLED], "options": {}}


def test_the_manifest_says_what_and_from_where(sample, tmp_path, folder):
    published(sample, tmp_path)
    said = manifest(folder)
    about = {"notebook": "02-scores", "venue": "ICLR", "year": 2020, "snapshot": "2019-11-08", "stage": "release"}
    about |= {"population": "reviewed", "source": "test", "papers": 2, "reviews": 3, "version": __version__}
    assert said.items() >= about.items()
    assert said["remarks"] == list(sample.remarks)
    assert said["figures"] == [
        {"name": "ratings", "width": 528, "height": 296, **WORDS, "stamp": said["stamp"], "queries": [QUERY],
         "files": {kind: f"ratings.{kind}" for kind in ("pdf", "svg", "png", "csv")} | {"share": "ratings-share.png"}}
    ]  # fmt: skip
    files = {kind: f"top.{kind}" for kind in ("csv", "md", "tex", "html", "parquet")}
    about = {"caption": "A table", "rows": 2, "shares": ["value"], "queries": []}
    assert said["tables"] == [{"name": "top", **about, "files": files}]
    assert said["numbers"] == [
        {"name": "ratings.accept-side", "text": "33.3 %", "limits": "10.0 % to 70.0 %",
         "value": 0.3333333333, "n": 3, "low": 0.1, "high": 0.7}
    ]  # fmt: skip


def test_the_manifest_names_exactly_what_is_there(sample, tmp_path, folder):
    published(sample, tmp_path)
    assert {*manifest(folder)["files"], "manifest.json"} == set(contents(folder))
    text = (folder / "manifest.json").read_text()
    assert text == json.dumps(json.loads(text), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def test_a_new_book_takes_away_what_the_last_one_wrote_and_nothing_else(sample, tmp_path, folder):
    published(sample, tmp_path)
    (folder / "own").mkdir()
    (folder / "notes.txt").write_text("mine")
    publish.book("02-scores", sample, figures=tmp_path)
    assert sorted(path.name for path in folder.iterdir()) == ["manifest.json", "notes.txt", "own"]
    assert manifest(folder)["figures"] == []


@pytest.mark.parametrize(
    ("value", "options", "text"),
    [
        (0.4700377, {}, "47.0 %"),
        (0.4700377, {"digits": 0}, "47 %"),
        (7693, {}, "7,693"),
        (4.1836, {"share": False}, "4.18"),
        (pd.Series([7693])[0], {}, "7,693"),
        (float("nan"), {}, "not known"),
        (pd.NA, {}, "not known"),
    ],
)
def test_numbers_are_given_back_as_prose_writes_them(sample, tmp_path, value, options, text):
    assert publish.book("02-scores", sample, figures=tmp_path).number("x", value, **options) == text


@pytest.mark.parametrize("name", ["Top", "a b", "../x", "", ".hidden", "a/b", "ü"])
def test_a_name_must_be_good_for_a_file_and_an_address(sample, tmp_path, name):
    with pytest.raises(Trouble, match="is no name for a published file"):
        publish.book("02-scores", sample, figures=tmp_path).number(name, 1)


def test_a_name_is_given_once(sample, tmp_path):
    book = published(sample, tmp_path)
    frame = ratings(sample)
    with pytest.raises(Trouble, match="`top` is already in the book 02-scores"):
        book.figure("top", draw_ratings(frame, book.axes()), frame)


def test_an_unknown_width_writes_nothing(sample, tmp_path):
    with pytest.raises(Trouble, match="no figure width `poster`"):
        publish.book("02-scores", sample, figures=tmp_path, width="poster")
    assert not list(tmp_path.iterdir())


# Where --------------------------------------------------------------------------------------------------------------


def _folder(*samples, figures: Path, **options) -> str:
    return publish.book("05-years", *samples, figures=figures, **options).folder.parent.relative_to(figures).as_posix()


def test_books_lie_beside_what_they_are_about(sample, tmp_path):
    other, final = make_sample([[1]], year=2021), make_sample([[1]], stage="final")
    assert _folder(sample, figures=tmp_path) == "iclr-2020/2019-11-08"
    assert _folder(sample, final, figures=tmp_path) == "iclr-2020"
    assert _folder(sample, other, figures=tmp_path) == "iclr"
    assert _folder(figures=tmp_path, venue="ICLR", year=2020) == "iclr-2020"
    assert _folder(figures=tmp_path, venue="ICLR") == "iclr"


def test_a_stand_in_lies_where_it_was_asked_for_and_says_what_it_is(sample, tmp_path):
    asked = replace(sample.snapshot, name="final", stage="final")
    book = publish.book("04-experience", replace(sample, chosen=asked), figures=tmp_path)
    assert book.folder == tmp_path / "iclr-2020" / "final" / "04-experience"
    assert "snapshot 2019-11-08 (release)" in book.stamp
    assert manifest(book.folder)["snapshot"] == "2019-11-08"


def test_a_given_year_says_where_and_the_sample_says_what(sample, tmp_path):
    book = publish.book("01-fetch", sample, venue="ICLR", year=2020, figures=tmp_path)
    assert book.folder == tmp_path / "iclr-2020" / "01-fetch"
    assert "2 papers, 3 reviews" in book.stamp


def test_several_years_are_summed_and_named(sample, tmp_path):
    book = publish.book("05-years", sample, make_sample([[1]], year=2022, stage="final"), figures=tmp_path)
    assert book.stamp.startswith("ICLR 2020 to 2022 · 2 snapshots (release and final) · 3 papers, 4 reviews")
    said = manifest(book.folder)
    assert (said["year"], said["snapshot"], said["stage"]) == (None, None, None)
    assert [one["year"] for one in said["samples"]] == [2020, 2022]


def test_a_book_about_nothing_is_refused(tmp_path):
    with pytest.raises(Trouble, match="wants a sample, or venue="):
        publish.book("02-scores", figures=tmp_path)


# In a notebook and in files -----------------------------------------------------------------------------------------


def test_a_notebook_shows_picture_caption_and_alt_text(sample, tmp_path):
    book = publish.book("02-scores", sample, figures=tmp_path)
    frame = ratings(sample)
    picture = book.figure("ratings", draw_ratings(frame, book.axes()), frame, title="T", caption=IMAGE, alt='"quoted"')
    data, metadata = picture._repr_mimebundle_()
    assert metadata["image/png"] == {"alt": '"quoted"', "width": 528}
    assert 'alt="&quot;quoted&quot;"' in data["text/html"]
    assert IMAGE not in data["text/html"] and "&lt;img src=x" in data["text/html"]
    assert data["text/plain"] == f"T\n{IMAGE}"


def test_a_notebook_shows_tables(sample, tmp_path):
    book = publish.book("02-scores", sample, figures=tmp_path)
    shown = book.table("t", pd.DataFrame({"value": [0.5]}), "A share", shares=("value",))
    assert "50.0 %" in repr(shown)
    assert "<caption>A share</caption>" in shown._repr_html_()


def test_text_in_published_tables_stays_text(sample, tmp_path, folder):
    published(sample, tmp_path)
    rows = (folder / "top.csv").read_text().splitlines()
    assert rows == ["title,value,n", f"'{EVIL},0.5,4", f"{IMAGE},0.25,8"]
    assert IMAGE not in (folder / "top.html").read_text()
    assert IMAGE not in (folder / "top.md").read_text()


def test_words_of_a_form_stay_text_in_the_picture(tmp_path):
    scale = Scale((1, 6), {1: "100 % $sure_thing$", 6: "x^2"}, accept_from=6)
    sample = make_sample([[1, 6]], scale=scale)
    frame = ratings(sample)
    book = publish.book("02-scores", sample, figures=tmp_path)
    ax = draw_ratings(frame, book.axes())
    book.figure("ratings", ax, frame, title="$a_b$ ^ % \\frac")
    assert "$sure_thing$" in ax.get_xticklabels()[0].get_text().replace("\n", " ")
    assert ax.figure.get_suptitle() == "$a_b$ ^\N{NO-BREAK SPACE}% \\frac"


def test_where_nothing_is_published_any_more_no_folder_stays_but_what_is_not_ours(sample, tmp_path, folder):
    publish.discard("02-scores", sample, figures=tmp_path)
    assert not folder.parent.exists()
    published(sample, tmp_path)
    publish.discard("02-scores", sample, figures=tmp_path)
    assert not folder.exists()
    published(sample, tmp_path)
    (folder / "own.txt").write_text("mine")
    publish.discard("02-scores", sample, figures=tmp_path)
    assert [path.name for path in folder.iterdir()] == ["own.txt"]
