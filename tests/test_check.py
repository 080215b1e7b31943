"""Check: every published number recomputed, and whatever was changed is found."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis import check, cli, compute, notebook, page, store
from analysis.draw import publish
from analysis.errors import Trouble
from analysis.page import numbers, stand

CELLS = (
    'year: int = 2020  # conference year\nsnapshot: str = ""  # its name\ndatabase: str = ""  # the store\nbars: int = 0  # none',
    "from analysis import draw, notebook, words\nfrom analysis.statistics.ratings import ratings",
    'papers = notebook.sample("ICLR", year, snapshot, database)\nbook = notebook.book("02-scores", papers)',
    "frame = ratings(papers, seed=0)",
    'book.figure("ratings", draw.draw_ratings(frame, book.axes()), frame, *words.ratings(frame))',
    'book.table("rows", frame, "What was rated.", shares=("value", "low", "high"))',
    "from analysis.statistics import standing",
    'whole = notebook.sample("ICLR", year, snapshot, database, "all")',
    'print(book.sentence("stands", standing.sentence(whole, [6, 6, 7])))',
    'print(book.number("share", frame["value"].iloc[0], n=int(frame["n"].iloc[0])))',
)
FOLDER = "iclr-2017/final/02-scores"


@pytest.fixture
def root(tmp_path, monkeypatch, bundled_store) -> Path:
    """A project in which one notebook ran."""
    cells = [{"cell_type": "code", "source": source, "metadata": {}, "outputs": []} for source in CELLS]
    cells[0]["metadata"] = {"tags": ["parameters"]}
    write(tmp_path / "notebooks" / "02-scores.ipynb", {"cells": cells})
    values = {"year": 2017, "snapshot": "final"}
    write(tmp_path / "runs" / f"{FOLDER}.json", {"fingerprint": {}, "seconds": 1, "values": values})
    monkeypatch.setattr(publish, "ROOT", tmp_path)
    space: dict[str, object] = {}
    for source in CELLS:
        exec(source, space)
        if source is CELLS[0]:
            space.update(values, database=str(bundled_store))
    page.make(tmp_path / "figures", bundled_store, tmp_path / "runs")
    return tmp_path


def write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


def checked(root: Path, bundled_store: Path) -> check.Checked:
    return check.check(root / "figures", bundled_store, [2017], root=root)


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def differing(root: Path, bundled_store: Path) -> list[tuple[str, str]]:
    return [tuple(row) for row in checked(root, bundled_store).differs[["id", "part"]].to_numpy()]


def test_all_agree_and_nothing_is_written(root, bundled_store):
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    found = checked(root, bundled_store)
    assert found.differs.empty
    assert found.sentence == (
        "4 published figures, tables and numbers of 1 notebook run recomputed from the store: all agree."
    )
    assert before == {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_whatever_is_changed_is_found(root, bundled_store):
    figures = root / "figures"
    frame = pd.read_csv(figures / FOLDER / "ratings.csv")
    change(figures / FOLDER / "ratings.csv", f"{frame['value'][4]:.10g}", "0.5")
    change(figures / FOLDER / "manifest.json", "Share of 1,489", "Share of 1,498")
    change(figures / FOLDER / "manifest.json", '"n": 1489', '"n": 1498')
    change(figures / "page" / "stand-iclr-2017.js", '"most":', '"most":1')
    found = differing(root, bundled_store)
    of_the_page = [row for row in found if row[0] in ("index.html", "page/cards-iclr-2017.js")]
    assert of_the_page and [row for row in found if row not in of_the_page] == [
        (f"{FOLDER}/ratings", "caption"),
        (f"{FOLDER}/ratings", "row 5, value"),
        (f"{FOLDER}/share", "n"),
        ("page/stand-iclr-2017.js/final", "counts"),
        (f"{FOLDER}/ratings?rating=5", "numbers.json"),
        (f"{FOLDER}/ratings:caption:1", "numbers.json"),
        (f"{FOLDER}/ratings:alt:8", "numbers.json"),  # 17 % was in two rows, and is in one now
        (f"{FOLDER}/ratings:alt:10", "numbers.json"),
        (f"{FOLDER}/share", "numbers.json"),
    ]


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("index.html", "<span>19,630 papers", "<span>19,640 papers"),  # how fresh it is
        ("index.html", "<strong>57 % of 1,489", "<strong>58 % of 1,489"),  # a tile
        ("index.html", "chart of ratings. 1: 0 %", "chart of ratings. 1: 1 %"),  # for who cannot see it
        ("page/cards-iclr-2017.js", "57 % of 1,489", "58 % of 1,489"),
        ("numbers.json", '"text": "19,630"', '"text": "19,631"'),
        ("numbers.json", '/stand", "value": 198', '/stand", "value": 199'),
        (f"{FOLDER}/manifest.json", '"alt": "Bar chart of ratings. 1: 0 %', '"alt": "Bar chart of ratings. 1: 1 %'),
        (f"{FOLDER}/manifest.json", "1,489 reviews", "1,490 reviews"),  # in the stamp
        (f"{FOLDER}/manifest.json", "is above 61.22 %", "is above 61.23 %"),  # in a sentence of the notebook
    ],
)
def test_a_number_of_the_page_that_was_changed_is_found(root, bundled_store, file, old, new):
    change(root / "figures" / file, old, new)
    assert differing(root, bundled_store)


def test_a_last_digit_may_differ(root, bundled_store):
    frame = pd.read_csv(root / "figures" / FOLDER / "rows.csv")
    exact = f"{frame['low'][4]:.10g}"
    change(root / "figures" / FOLDER / "rows.csv", exact, f"{exact}1")
    assert not any("row" in part for _, part in differing(root, bundled_store))


def test_what_is_no_longer_published_is_found(root, bundled_store):
    change(root / "notebooks" / "02-scores.ipynb", 'book.table(\\"rows\\"', 'book.table(\\"lines\\"')
    assert differing(root, bundled_store) == [(f"{FOLDER}/rows", "table"), (f"{FOLDER}/lines", "table")]


def test_a_notebook_that_cannot_run_is_told(root, bundled_store):
    change(root / "notebooks" / "02-scores.ipynb", "seed=0", "sed=0")
    ((_, _, _, told),) = checked(root, bundled_store).differs.to_numpy()
    assert told.startswith("failed: TypeError: ")
    (root / "runs" / f"{FOLDER}.json").unlink()
    ((_, _, _, told),) = checked(root, bundled_store).differs.to_numpy()
    assert told == "cannot be recomputed: it is not noted what 02-scores was run with; run it again with --force."


def test_nothing_published_is_told(tmp_path, bundled_store):
    with pytest.raises(Trouble, match="Nothing is published"):
        check.check(tmp_path, bundled_store)


def test_the_command_fails_where_something_differs(root, bundled_store, monkeypatch, capsys):
    monkeypatch.setattr(cli, "ROOT", root)
    arguments = ["check", "--year", "2017", "--database", str(bundled_store)]
    assert cli.main(arguments) == 0
    change(root / "figures" / FOLDER / "rows.csv", "1489", "1490")
    assert cli.main(arguments) == 1
    shown = capsys.readouterr()
    assert "all agree" in shown.err and "differ" in shown.err
    assert "row 1, n" in shown.out


# numbers.json -------------------------------------------------------------------------------------------------------


def test_a_number_leads_to_the_query_that_gives_it_again(root, bundled_store):
    cited = json.loads((root / "figures" / "numbers.json").read_text())
    by_id = {one["id"]: one for one in cited["numbers"]}
    assert len(by_id) == len(cited["numbers"])
    quoted = by_id[f"{FOLDER}/ratings:title:1"]
    assert quoted["text"] == "57 %" and quoted["of"] == f"{FOLDER}/ratings"
    row = by_id[f"{FOLDER}/ratings?rating=6"]
    query = cited["frames"][row["of"]]["queries"][0]
    assert query["commands"] == ["python -m analysis stat ratings --year 2017 --snapshot final --population reviewed"]
    (sampled,) = query["samples"]
    asked = compute.Asked(bundled_store, "ICLR", (sampled["year"],), sampled["snapshot"], sampled["population"])
    again = compute.compute(query["statistic"], asked).frame.set_index("rating").loc[6]
    assert [row["value"], row["low"], row["high"], row["n"]] == pytest.approx(
        [again["value"], again["low"], again["high"], again["n"]], rel=1e-9
    )
    prose = by_id[f"{FOLDER}/share"]
    assert prose["where"] == "prose" and prose["snapshot"] == "final" and prose["n"] == 1489


def test_every_number_that_the_page_says_has_an_id(root, bundled_store):
    """All of its text but tables, which are frames, and the form; and what stands for the pictures."""
    cited = json.loads((root / "figures" / "numbers.json").read_text())
    known = {one["text"] for one in cited["numbers"] if "text" in one}
    shown = (root / "figures" / "index.html").read_text()
    shown = re.sub(r'(?s)<section class="stand".*?</section>|<(script|table|form|footer|nav|dl).*?</\1>', " ", shown)
    said = re.sub(r"<[^>]*>", " ", shown) + " ".join(re.findall(r'alt="([^"]*)"', shown))
    quoted = {match[0] for match in numbers.QUOTED.finditer(html.unescape(said))}
    quoted = {one for one in quoted if not numbers.YEAR.fullmatch(one)}
    assert {"19,630", "99.1 %", "57 %", "561"} <= quoted
    assert quoted <= known


def test_the_counts_of_the_page_follow_from_their_sql(root, bundled_store):
    cited = json.loads((root / "figures" / "numbers.json").read_text())
    by_id = {one["id"]: one for one in cited["numbers"]}
    with store.reading(bundled_store) as con:
        about = cited["frames"]["iclr-2026/2025-11-22/fresh"]["queries"][1]
        ((changed,),) = con.execute(about["sql"], about["parameters"]).fetchall()
        assert changed == by_id["iclr-2026/2025-11-22/fresh:changed"]["value"] == 561
        for where in ("iclr-2017/final", "iclr-2020/2019-11-08", "iclr-2026/2025-11-17"):
            about = cited["frames"][f"{where}/stand"]["queries"][0]
            rows = con.execute(about["sql"], about["parameters"]).fetchall()
            sums = [by_id[f"{where}/stand?papers={name}"]["value"] for name in ("reviewed", "accepted")]
            assert [sum(row[1] for row in rows), sum(row[2] for row in rows)] == sums
            assert {tuple(row[0]): row[1:] for row in rows} == counted_by_script(root, where)


def counted_by_script(root: Path, where: str) -> dict[tuple[int, ...], tuple[int, int]]:
    year, name = where.split("/")
    data = stand.parsed((root / "figures" / "page" / f"stand-{year}.js").read_text())[name]
    levels = data["levels"]
    return {
        tuple(np.repeat(levels, row[: len(levels)]).tolist()): (row[len(levels)], row[-1]) for row in data["profiles"]
    }


def test_what_openreview_answered_is_not_asked_again_and_that_is_said(root, bundled_store, monkeypatch):
    path, folder = root / "notebooks" / "02-scores.ipynb", root / "figures" / FOLDER
    cells = json.loads(path.read_text())["cells"]
    asks = "past = notebook.public_revisions(whole)\nif past is not None:\n    book.table('revisions', past)"
    write(path, {"cells": [*cells, {**cells[-1], "source": asks}]})
    manifest = json.loads((folder / "manifest.json").read_text())
    answer = {"asked": "what OpenReview answered about this paper"}
    manifest["tables"].append({**manifest["tables"][0], "name": "revisions", "queries": [answer]})
    write(folder / "manifest.json", manifest)
    page.make(root / "figures", bundled_store, root / "runs")
    monkeypatch.setattr(notebook, "public_revisions", lambda asked: pytest.fail("somebody was asked"))
    found = checked(root, bundled_store)
    assert found.differs.empty
    assert found.remarks == (
        f"{FOLDER}/revisions is what OpenReview answered about this paper, which the store does not keep: it was not checked.",
    )


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("47 % of 7,690 reviews (46.0 % to 48.5 %)", ["47 %", "7,690", "46.0 %", "48.5 %"]),
        ("ICLR 2020, 2019-11-08: from 0.244 to -0.5", ["2020", "0.244", "-0.5"]),
        ("version 0.1.0 of iclr-2020", []),
        ("averages of 5.50.", ["5.50"]),
    ],
)
def test_numbers_in_words(words, found):
    assert [match[0] for match in numbers.QUOTED.finditer(words)] == found
