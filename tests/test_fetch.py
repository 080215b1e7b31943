"""Fetch from end to end: the API against saved notes, to the notebooks, without a name on the way."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import openreview_notes as made
import pytest
from crawler_shapes import answer, lines, tracker_2026
from openreview_standin import StandIn, read_notes

from analysis import ROOT, ahead, archive, fetch, store
from analysis.errors import Trouble
from analysis.forms import flatten
from analysis.venues import venue_year

PAPERS = 30
TABLES = ("submissions", "reviews", "decisions", "meta_reviews", "comments", "problems")


@pytest.fixture
def signed_in(monkeypatch):
    """A stand-in for OpenReview, and an account there."""

    @contextmanager
    def start(**served) -> Iterator[StandIn]:
        with StandIn(**served) as server:
            for name, value in server.environment.items():
                monkeypatch.setenv(name, value)
            yield server

    return start


def rows(database: Path) -> dict[str, list[tuple]]:
    """All rows but for what tells one load from another."""
    with store.reading(database) as con:
        return {
            table: con.execute(
                f"select * exclude (snapshot_id{', outcome_as_of' if table == 'submissions' else ''}) from {table} order by all"
            ).fetchall()
            for table in TABLES
        }


def from_api(year: int, database: Path) -> None:
    fetch.fetch("ICLR", [year], fetch.Asked("api"), database, lambda line: None)


def from_file(year: int, path: Path, database: Path) -> None:
    fetch.fetch("ICLR", [year], fetch.Asked("notes", (path,)), database, lambda line: None)


@pytest.mark.parametrize("year", range(2017, 2028))
def test_the_api_and_saved_answers_give_the_same_rows(signed_in, tmp_path, year):
    documents = list(made.generate(year, PAPERS, stage="final"))
    saved = tmp_path / "saved.jsonl"
    saved.write_text("\n".join(json.dumps(document) for document in documents))
    with signed_in(years=[made.VenueYear(year, PAPERS, stage="final")]):
        from_api(year, tmp_path / "api" / "reviews.duckdb")
    from_file(year, saved, tmp_path / "notes" / "reviews.duckdb")
    api, notes = rows(tmp_path / "api" / "reviews.duckdb"), rows(tmp_path / "notes" / "reviews.duckdb")
    # What not everyone may read is told by the loads in their own words.
    assert {name: table for name, table in api.items() if name != "problems"} == {
        name: table for name, table in notes.items() if name != "problems"
    }
    assert len(api["submissions"]) == PAPERS and len(api["reviews"]) > 2 * PAPERS


@pytest.mark.parametrize(
    ("year", "file", "submissions", "reviews"),
    [(2017, "iclr-api1/iclr2017_forums.jsonl.gz", 490, 1489), (2019, "iclr-api1/iclr2019_forums.jsonl.gz", 1419, 4332),
     (2020, "iclr-api1/iclr2020_forums.jsonl.gz", 2213, 6721)],
)  # fmt: skip
def test_real_answers_served_and_saved_give_the_same_rows(
    signed_in, review_data, tmp_path, year, file, submissions, reviews
):
    notes1, notes2 = read_notes(review_data / file)
    with signed_in(notes1=notes1, notes2=notes2):
        from_api(year, tmp_path / "api" / "reviews.duckdb")
    from_file(year, review_data / file, tmp_path / "notes" / "reviews.duckdb")
    api, notes = rows(tmp_path / "api" / "reviews.duckdb"), rows(tmp_path / "notes" / "reviews.duckdb")
    assert api == notes
    assert (len(api["submissions"]), len(api["reviews"])) == (submissions, reviews)


@pytest.mark.parametrize(
    ("year", "file", "shape"), [(2024, "iclr2024_reviews", answer), (2026, "iclr2026_reviews_a", tracker_2026)]
)
def test_reviews_of_the_second_api_served_and_saved_give_the_same_rows(
    signed_in, review_data, tmp_path, year, file, shape
):
    """The crawls hold reviews; each paper gets the bare submission that the API would list it by."""
    notes = []
    for line, _ in zip(lines(review_data / "iclr-api2" / f"{file}.jsonl.gz"), range(300), strict=False):
        found = shape(line)
        if found and not any(note["id"] == note["forum"] for note in found):
            forum = found[0]["forum"]
            found.append({"id": forum, "forum": forum, "number": 1, "readers": ["everyone"], "signatures": [], "content": {},
                          "invitations": [f"ICLR.cc/{year}/Conference/-/Submission"], "tcdate": 1, "tmdate": 1})  # fmt: skip
        notes += found
    newest = {note["id"]: note for note in sorted(notes, key=lambda note: note.get("tmdate") or 0)}
    saved = tmp_path / "saved.json.gz"
    saved.write_bytes(gzip.compress(json.dumps({"notes": list(newest.values())}).encode()))
    with signed_in(notes2=list(newest.values())):
        from_api(year, tmp_path / "api" / "reviews.duckdb")
    from_file(year, saved, tmp_path / "notes" / "reviews.duckdb")
    api, kept = rows(tmp_path / "api" / "reviews.duckdb"), rows(tmp_path / "notes" / "reviews.duckdb")
    assert api == kept and len(api["reviews"]) > 700


def test_one_log_in_serves_years_of_both_apis(signed_in, tmp_path):
    with signed_in(years=[made.VenueYear(2023, 5), made.VenueYear(2025, 5)]) as server:
        fetch.fetch("ICLR", [2023, 2025], fetch.Asked("api"), tmp_path / "reviews.duckdb", lambda line: None)
        assert server.count("/login") == 1
    assert [one.year for one in store.held(tmp_path / "reviews.duckdb")] == [2023, 2025]


@pytest.mark.parametrize("large", [0, 1 << 30])
def test_restricted_notes_are_dropped_and_counted_and_the_others_kept_without_names(
    signed_in, tmp_path, monkeypatch, large
):
    monkeypatch.setattr(ahead, "LARGE", large)  # in a process of its own, or here
    sent = [note for whole in made.generate(2026, 60) for note in flatten(whole)]
    public, said = {note["id"] for note in sent if "everyone" in note["readers"]}, []
    with signed_in(years=[made.VenueYear(2026, 60)]):
        fetch.fetch("ICLR", [2026], fetch.Asked("api"), tmp_path / "reviews.duckdb", said.append)
    assert f"{len(sent) - len(public)} notes left out that not everyone may read." in said and len(public) < len(sent)
    (snapshot,) = archive.kept(tmp_path / "notes")
    kept = [note for batch in snapshot.batches() for forum in batch for note in forum]
    assert {note["id"] for note in kept} == public and len(kept) == len(public)
    assert "@example.org" not in str(kept) and not any("details" in note for note in kept)


def test_submissions_that_only_some_may_read_are_told_and_asked_for_anew(signed_in, tmp_path):
    hidden = [
        note | {"readers": ["ICLR.cc/2026/Conference"]} if note["id"] == note["forum"] else note
        for whole in made.generate(2026, 20)
        for note in flatten(whole)
    ]
    for _ in range(2):  # nothing is left to go on from
        with signed_in(notes2=hidden) as server, pytest.raises(Trouble, match="No submission of ICLR 2026 is public"):
            from_api(2026, tmp_path / "reviews.duckdb")
        assert server.count("/notes") == 1
    assert not (tmp_path / "reviews.duckdb").exists() and not list(tmp_path.rglob("*.notes"))


def test_an_undescribed_year_is_read_like_the_newest_known_and_its_scale_is_undeclared(signed_in, tmp_path):
    from analysis import sample
    from analysis.statistics.ratings import ratings
    from analysis.statistics.years import scale_text

    database = tmp_path / "reviews.duckdb"
    with signed_in(years=[made.VenueYear(2027, PAPERS)]):
        from_api(2027, database)
    loaded = sample.load(database, "ICLR", 2027)
    assert not loaded.scale.declared and scale_text(loaded.scale).endswith("(undeclared)")
    assert ratings(loaded)["count"].sum() == len(loaded.reviews) > 2 * PAPERS
    with store.reading(database) as con:
        kinds = con.execute("select distinct kind from comments").fetchall()
    assert ("automated_feedback",) in kinds  # kept as what it is: no review


def test_a_year_under_review_runs_to_the_page_before_any_review_is_public(tmp_path):
    """ICLR 2027 on the first day: every notebook says that there is nothing yet, and none fails."""
    root = tmp_path / "project"
    for name in ("analysis", "notebooks", "data/bundled"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    saved = root / "saved.jsonl"
    bare = [{**document, "details": {"replies": []}} for document in made.generate(2027, 20)]
    saved.write_text("\n".join(json.dumps(document) for document in bare))
    fetch.fetch("ICLR", [2027], fetch.Asked("notes", (saved,)), root / "data" / "reviews.duckdb", lambda line: None)
    environment = {**os.environ, "PYTHONPATH": str(root)}
    for arguments, status, said in (
        (("run", "--years", "2027"), 0, " done, 0 up to date, "),  # and none failed: the status
        (("stand", "--year", "2027", "4", "6", "6"), 1, "has no reviews yet"),
    ):
        shown = subprocess.run(
            [sys.executable, "-m", "analysis", *arguments],
            cwd=root, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (shown.returncode, said in shown.stderr, "Traceback" in shown.stderr) == (status, True, False), (
            shown.stderr
        )
    captions = "".join(path.read_text() for path in (root / "figures").glob("iclr-2027/*/*/manifest.json"))
    assert "No reviews are public yet" in captions and "nan" not in captions


@pytest.mark.parametrize(
    ("day", "stage"), [(date(2022, 11, 6), "release"), (date(2022, 11, 25), "discussed"), (date(2023, 3, 1), "final")]
)
def test_the_stage_follows_from_the_day(day, stage):
    assert fetch.stage_on(venue_year("ICLR", 2023), day) == stage


def test_names_of_snapshots(signed_in, tmp_path):
    database = tmp_path / "reviews.duckdb"
    with signed_in(years=[made.VenueYear(2020, 5, stage="final")]):
        from_api(2020, database)
        from_api(2020, database)  # the same notes again
    assert [one.name for one in store.held(database)] == ["final"]
    with signed_in(years=[made.VenueYear(2020, 6, stage="final")]):
        from_api(2020, database)
    first, second = store.held(database)
    assert (first.name, first.stage) == ("final", "final")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", second.name) and second.stage == "final"


def test_status_compares_the_counts_of_a_fetch_by_outcome_with_the_official_ones(signed_in, tmp_path):
    from analysis.status import COUNTED, status

    database, made_up = tmp_path / "reviews.duckdb", made.VenueYear(2020, 100, stage="final")
    with signed_in(years=[made_up]):
        from_api(2020, database)
    outcomes = [made_up.paper(place).outcome for place in range(100)]
    official = venue_year("ICLR", 2020).official
    (row,) = status(database).to_dict("records")
    assert {outcome: row[outcome] for outcome in COUNTED} == {outcome: outcomes.count(outcome) for outcome in COUNTED}
    counts = {"submitted": 100} | {outcome: outcomes.count(outcome) for outcome in COUNTED}
    assert row["differs"] == ", ".join(
        f"{name} {number - official[name]:+,}"
        for name, number in counts.items()
        if name in official and number != official[name]
    )
    assert all(f"{name} -" in row["differs"] for name in ("submitted", "accepted", "rejected", "withdrawn"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--source", "api", "--years", "2020"), "OPENREVIEW_USERNAME"),
        (("--source", "api"), "Which year?"),
        (("--source", "api", "--years", "2015"), "not on OpenReview"),
        (("--source", "notes", "--years", "2020"), "--load FILE"),
        (("--load", "no-such-file.jsonl"), "no-such-file.jsonl"),
    ],
)
def test_bad_input_is_one_sentence_and_stores_nothing(tmp_path, arguments, said):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENREVIEW")}
    database = tmp_path / "data" / "reviews.duckdb"
    shown = subprocess.run(
        [sys.executable, "-m", "analysis", "fetch", *arguments, "--database", str(database)],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert shown.returncode == 1 and said in shown.stderr and "Traceback" not in shown.stderr and shown.stdout == ""
    assert not database.exists()


def test_the_year_of_saved_notes_is_told_by_the_notes(tmp_path):
    saved = tmp_path / "saved.jsonl"
    saved.write_text("\n".join(json.dumps(document) for document in made.generate(2021, 5)))
    fetch.fetch(
        "ICLR",
        [],
        fetch.Asked("notes", (saved,), snapshot="2020-11-20"),
        tmp_path / "reviews.duckdb",
        lambda line: None,
    )
    (held,) = store.held(tmp_path / "reviews.duckdb")
    assert (held.year, held.name, held.stage, f"{held.taken_at:%Y-%m-%d}") == (
        2021,
        "2020-11-20",
        "release",
        "2020-11-20",
    )
    saved.write_text(
        json.dumps(
            {"id": "a", "invitation": "Other.org/2020/Conference/-/Submission", "content": {}, "readers": ["everyone"]}
        )
    )
    with pytest.raises(Trouble, match="no notes of any ICLR year"):
        fetch.fetch("ICLR", [], fetch.Asked("notes", (saved,)), tmp_path / "reviews.duckdb", lambda line: None)


def test_from_the_api_to_the_page_without_a_name(tmp_path):
    """The batch command against the stand-in, in a copy of the project; then everything it made is searched for identities."""
    root = tmp_path / "project"
    for name in ("analysis", "notebooks", "data/bundled"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    with StandIn(years=[made.VenueYear(2020, 120, stage="final")]) as server:
        shown = subprocess.run(
            [sys.executable, "-m", "analysis", "run", "--source", "api", "--years", "2020", "--only", "01,02,06,10,11,12"],
            cwd=root, env={**os.environ, **server.environment, "PYTHONPATH": str(root)}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        secrets = [server.environment["OPENREVIEW_PASSWORD"], server.environment["OPENREVIEW_USERNAME"]]
    assert shown.returncode == 0, shown.stderr
    assert (root / "figures" / "index.html").is_file() and ", 0 up to date, " in shown.stderr
    names = {
        author for document in made.generate(2020, 120, stage="final") for author in document["content"]["authors"]
    }
    told = [shown.stdout, shown.stderr, *_texts(root / "runs"), *_texts(root / "figures"), *_notes(root / "data")]
    for text in told:
        assert not re.search(r"~[A-Z]\w+\d", text) and not re.search(r"[\w.]+@[\w-]+\.\w+", text)
        assert not [name for name in (*names, *secrets) if name in text]


def _texts(folder: Path) -> list[str]:
    files = [
        path for path in folder.rglob("*") if path.suffix in (".ipynb", ".json", ".csv", ".md", ".tex", ".html", ".svg")
    ]
    return [
        re.sub(r'"image/png": "[^"]*"|base64,[A-Za-z0-9+/=]*', "", path.read_text(encoding="utf-8")) for path in files
    ]


def _notes(data: Path) -> list[str]:
    """Everything in the database and in the kept notes, as text."""
    import duckdb

    found = []
    with store.reading(data / "reviews.duckdb") as con:
        found += [str(con.execute(f"select * from {table}").fetchall()) for table in store.TABLES]
    for path in (data / "notes").rglob("*.parquet"):
        found.append(str(duckdb.sql(f"select * from read_parquet('{path}')").fetchall()))
    return found
