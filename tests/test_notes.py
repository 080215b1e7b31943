"""Saved notes: files in, archive and tables out, the same again; bad files change nothing."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections import Counter
from datetime import date, datetime
from pathlib import Path

import duckdb
import openreview_notes
import pytest

from analysis import archive, store
from analysis.errors import Trouble
from analysis.forms import flatten, is_public, scrub
from analysis.intake import rebuild, take_in
from analysis.sources import notes
from analysis.spool import gathered
from analysis.venues import VenueYear, venue_year

TAKEN = datetime(2021, 4, 1, 12)


def silent(line: str) -> None:
    pass


def form(year: int) -> VenueYear:
    return venue_year("ICLR", year)


def load(database: Path, year: int, *paths: Path, name="final", say=silent, **more) -> None:
    pages = notes.pages(paths, form(year), say)
    take_in(pages, form(year), name, "final", TAKEN, "notes", database, say, **more)


def save(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value))
    return path


def made_up(year: int, papers: int = 30, **more) -> list[dict]:
    return list(openreview_notes.generate(year, papers, **more))


def scrubbed(year: int, papers: int = 30, **more) -> list[dict]:
    return [scrub(note) for whole in made_up(year, papers, **more) for note in flatten(whole) if is_public(note)]


def query(database: Path, text: str) -> list[tuple]:
    with store.reading(database) as con:
        return con.execute(text).fetchall()


def tables(database: Path, year: int) -> dict[str, list[tuple]]:
    """All rows that were made of notes of a year, but for the numbers that a load gives."""
    rows = "select columns(lambda name: name not in ('snapshot_id', 'paper', 'digest')) from {}"
    ours = f"where snapshot_id in (select snapshot_id from snapshots where source = 'notes' and year = {year})"
    return {table: sorted(query(database, f"{rows.format(table)} {ours}"), key=repr) for table in store.TABLES}


def contents(folder: Path) -> dict[str, str]:
    """A hash of each file below a folder; but for the lock, which says nothing."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".lock"]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def archived(database: Path) -> str:
    """All text in the archive of notes."""
    files = [str(path) for path in archive.folder_of(database).rglob("*.parquet")]
    return "\n".join(str(row) for row in duckdb.connect().read_parquet(files).fetchall())


# Shapes -------------------------------------------------------------------------------------------------------------


def whole(path: Path, submissions: list[dict]) -> Path:
    return save(path / "a.json", {"count": 30, "fromCache": True, "notes": submissions})


def indented(path: Path, submissions: list[dict]) -> Path:
    (path / "a.txt").write_text(json.dumps(submissions, indent=2))
    return path / "a.txt"


def by_line(path: Path, submissions: list[dict]) -> Path:
    (path / "a.jsonl").write_text("\n\n".join(map(json.dumps, submissions)))
    return path / "a.jsonl"


def by_forum(path: Path, submissions: list[dict]) -> Path:
    """As `/notes?forum=` gives them: the submission among its replies, gzip under another name."""
    forums = [{"forum": one["id"], "notes": list(flatten(one))[::-1]} for one in submissions]
    (path / "a.bin").write_bytes(gzip.compress("\n".join(map(json.dumps, forums)).encode()))
    return path / "a.bin"


def beside(path: Path, submissions: list[dict]) -> Path:
    moved = [{**one, "details": None, "replies": one["details"]["replies"]} for one in submissions]
    return save(path / "a.json", [{"notes": moved[:9]}, {"notes": []}, moved[9:]])


def one_note(path: Path, submissions: list[dict]) -> list[Path]:
    return [save(path / f"{number}.json", one) for number, one in enumerate(submissions)]


@pytest.mark.parametrize("year", [2017, 2026])
def test_all_shapes_give_the_same_rows(tmp_path, year):
    submissions, found = made_up(year, 12), []
    for shape in (whole, indented, by_line, by_forum, beside, one_note):
        (tmp_path / shape.__name__).mkdir()
        files = shape(tmp_path / shape.__name__, submissions)
        database = tmp_path / f"{shape.__name__}.duckdb" / "reviews.duckdb"
        load(database, year, *(files if isinstance(files, list) else [files]))
        found.append(tables(database, year))
    assert all(one == found[0] for one in found)
    assert len(found[0]["submissions"]) == 12 and len(found[0]["reviews"]) > 30


def test_half_a_surrogate_pair_is_read(tmp_path):
    (one,) = made_up(2026, 1)
    one["content"]["title"] = {"value": "half \ud83d"}
    load(tmp_path / "reviews.duckdb", 2026, save(tmp_path / "a.json", one))
    assert query(tmp_path / "reviews.duckdb", "select title from submissions") == [("half ?",)]


def test_pages_are_flat_and_public(tmp_path, monkeypatch):
    monkeypatch.setattr(notes, "PAGE", 50)
    said: list[str] = []
    pages = list(notes.pages([whole(tmp_path, made_up(2019))], form(2019), said.append))
    assert [len(page) for page in pages[:-1]] == [50] * (len(pages) - 1) and len(pages) > 2
    assert [scrub(note) for page in pages for note in page] == scrubbed(2019)
    assert re.fullmatch(r".*a.json: 9 notes left out that not everyone may read\.", said[0]) and len(said) == 1


def test_another_years_notes_beside_ours_are_left_out(tmp_path):
    said: list[str] = []
    mixed = save(tmp_path / "a.json", made_up(2024, 3) + made_up(2025, 2))
    load(tmp_path / "reviews.duckdb", 2024, mixed, say=said.append)
    assert query(tmp_path / "reviews.duckdb", "select papers from snapshots") == [(3,)]
    assert any("of ICLR.cc/2025/Conference left out" in line for line in said)


# Bad files ----------------------------------------------------------------------------------------------------------


def bad(tmp_path: Path, kind: str) -> Path:
    lines = "\n".join(map(json.dumps, made_up(2020, 20)))
    packed = gzip.compress(lines.encode())
    restricted = [{**one, "readers": ["ICLR.cc/2020/Conference"], "details": {}} for one in made_up(2020, 2)]
    files = {
        "empty": b"",
        "blank": b"\n \n",
        "packed nothing": gzip.compress(b""),
        "truncated": packed[: len(packed) // 2],
        "damaged": packed[:50] + b"\x00\xff" * 20 + packed[90:],
        "text": b"Verifying your browser",
        "null": b"null",
        "cut": lines[:-40].encode(),
        "cut json": json.dumps(made_up(2020, 2)).encode()[:-3],
        "binary": bytes(range(256)),
        "table": b"forum,rating\na,6\n",
        "thread": b'{"forum": "a", "thread": [{"title": "x"}]}',
        "refusal": b'{"name": "ForbiddenError", "message": "no", "status": 403}',
        "numbers": b"[1, 2]",
        "object": b"{}",
        "note without invitation": b'{"id": "a", "content": {}}',
        "reply that is none": json.dumps({**made_up(2020, 1)[0], "replies": [{"rating": 6}]}).encode(),
        "another venue": json.dumps(made_up(2019, 2)).encode(),
        "restricted": json.dumps(restricted).encode(),
        "no notes": b'{"notes": [], "count": 0}',
    }
    path = tmp_path / "saved.json"
    if kind == "folder":
        path.mkdir()
    elif kind != "missing":
        path.write_bytes(files[kind])
    return path


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("missing", "cannot be read (No such file or directory)"),
        ("folder", "cannot be read (Is a directory)"),
        ("empty", "is empty"),
        ("blank", "is empty"),
        ("packed nothing", "is empty"),
        ("truncated", "is gzip that is damaged or cut short"),
        ("damaged", "is gzip that is damaged or cut short"),
        ("text", "is not JSON, or cut short"),
        ("null", "is not JSON"),
        ("cut", "line 20, is not JSON: the file is damaged or cut short"),
        ("cut json", "is not JSON, or cut short"),
        ("binary", "is not JSON"),
        ("table", "is not JSON"),
        ("thread", "line 1, holds an object with forum or thread, which is no note of OpenReview"),
        ("refusal", "holds an object with name, message or status"),
        ("numbers", "holds a bare value"),
        ("object", "holds an empty object"),
        ("note without invitation", "holds an object with id or content"),
        ("reply that is none", "holds an object with rating"),
        ("another venue", "holds no notes of ICLR 2020 (ICLR.cc/2020/Conference) but of ICLR.cc/2019/Conference"),
        ("restricted", "holds no note of ICLR 2020 that everyone may read"),
        ("no notes", "No public notes of ICLR 2020 came: the year is not public yet, or"),
    ],
)
def test_a_bad_file_is_told_in_one_sentence_and_changes_nothing(tmp_path, kind, said):
    database = tmp_path / "data" / "reviews.duckdb"
    good = save(tmp_path / "good.json", made_up(2020, 5))
    load(database, 2020, good)
    before = contents(tmp_path / "data")
    with pytest.raises(Trouble) as told:
        load(database, 2020, *[good] * (kind != "no notes"), bad(tmp_path, kind), name="other")
    assert contents(tmp_path / "data") == before
    assert said in str(told.value) and "\n" not in str(told.value) and str(told.value).endswith(".")


# Loading ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real(review_data, tmp_path_factory) -> Path:
    """A database with the real notes of 2017, 2019 and 2020; not to be written to."""
    database = tmp_path_factory.mktemp("real") / "reviews.duckdb"
    for year in (2017, 2019, 2020):
        load(database, year, review_data / "iclr-api1" / f"iclr{year}_forums.jsonl.gz")
    return database


@pytest.mark.parametrize(
    ("year", "papers", "outcomes", "ratings"),
    [
        (
            2017, 490, {"oral": 15, "poster": 183, "workshop": 47, "rejected": 245},
            {1: 1, 2: 14, 3: 125, 4: 252, 5: 255, 6: 338, 7: 330, 8: 137, 9: 33, 10: 4},
        ),
        (
            2019, 1419, {"oral": 24, "poster": 478, "rejected": 917},
            {1: 10, 2: 74, 3: 323, 4: 825, 5: 950, 6: 1035, 7: 823, 8: 220, 9: 66, 10: 6},
        ),
        (
            2020, 2213, {"talk": 48, "spotlight": 108, "poster": 531, "rejected": 1526},
            {1: 924, 3: 2562, 6: 2393, 8: 842},
        ),
    ],
)  # fmt: skip
def test_real_years(real, year, papers, outcomes, ratings):
    one = f"snapshots where year = {year}"
    (row,) = query(real, f"select papers, reviews, outcomes, paper_ids, review_ids, source from {one}")
    assert row == (papers, sum(ratings.values()), "complete", "openreview", "openreview", "notes")
    of_year = f"join snapshots using (snapshot_id) where year = {year} group by all"
    assert dict(query(real, f"select rating, count(*) from reviews {of_year}")) == ratings
    found = query(real, f"select coalesce(tier, outcome), count(*) from submissions {of_year}")
    assert dict(found) == outcomes
    assert query(real, "select count(*) from problems") == [(0,)]


def test_real_2020_is_the_bundled_2020(real, bundled_store):
    """Decided papers by outcome, tier and ratings."""
    profiles = """
        select outcome, tier, (
            select list(rating order by rating) from reviews
            where reviews.snapshot_id = submissions.snapshot_id and reviews.paper = submissions.paper
        ) as ratings
        from submissions join snapshots using (snapshot_id)
        where year = 2020 and name = 'final' and outcome in ('accepted', 'rejected')
        order by all
    """
    fetched = query(real, profiles)
    assert len(fetched) == 2213
    assert fetched == query(bundled_store, profiles)


def test_tables_are_rebuilt_from_notes_and_the_rest_stays(real, bundled_store, tmp_path):
    database, place = tmp_path / "reviews.duckdb", archive.folder_of(tmp_path / "reviews.duckdb")
    database.write_bytes(bundled_store.read_bytes())
    place.mkdir()
    (place / "iclr-2017").symlink_to(archive.folder_of(real) / "iclr-2017")
    rebuild(database, silent)
    assert tables(database, 2017) == tables(real, 2017)
    bundled = "select * from snapshots where source = 'bundled' order by all"
    assert query(database, bundled) == query(bundled_store, bundled)


def test_the_same_notes_again_change_nothing(tmp_path):
    database, said = tmp_path / "data" / "reviews.duckdb", []
    load(database, 2024, whole(tmp_path, made_up(2024)))
    before = contents(tmp_path / "data")
    (tmp_path / "b").mkdir()
    again = by_forum(tmp_path / "b", made_up(2024))
    for name in ("final", "2024-02-01"):
        load(database, 2024, again, name=name, say=said.append)
        assert contents(tmp_path / "data") == before
        assert said.pop() == "ICLR 2024, final holds the same notes already; nothing was changed."


def test_a_snapshot_of_the_same_name_is_replaced(tmp_path):
    database = tmp_path / "reviews.duckdb"
    for stage in ("release", "final", "release"):
        load(database, 2024, whole(tmp_path, made_up(2024, stage=stage)))
        papers = query(database, "select name, papers, accepted > 0 from snapshots")
        assert papers == [("final", 30, stage == "final")]
    assert [path.name[:4] for path in sorted(tmp_path.rglob("*.parquet"))] == ["0001", "0002", "0003"]
    before = tables(database, 2024)
    rebuild(database, silent)  # of several files of one name the last
    assert tables(database, 2024) == before


def test_days_and_outcomes_of_snapshots(tmp_path):
    database = tmp_path / "reviews.duckdb"
    for day, stage in enumerate(("release", "discussed", "final"), start=1):
        pages = notes.pages([whole(tmp_path, made_up(2025, 100, stage=stage))], form(2025), silent)
        take_in(pages, form(2025), stage, stage, datetime(2025, 1, day), "notes", database, silent)
    known = query(database, "select name, outcomes from snapshots order by taken_at")
    assert known == [("release", "complete"), ("discussed", "complete"), ("final", "complete")]  # by what came later
    then = query(database, "select distinct name, outcome_then from submissions join snapshots using (snapshot_id)")
    assert {outcome for name, outcome in then if name == "release"} <= {"undecided", "desk_rejected"}
    assert query(database, "select distinct outcome_as_of from submissions where outcome = 'accepted'") == [
        (date(2025, 1, 3),)
    ]
    assert query(database, "select count(*) from submissions where outcome = 'undecided'") == [(0,)]


@pytest.mark.parametrize(
    ("statuses", "known"),
    [
        (["", "/Rejected_Submission", "/Withdrawn_Submission"], "complete"),
        (["", "/Submission", "/Submission"], "accepted only"),
        (["/Rejected_Submission", "/Submission"], "none"),
    ],
)
def test_how_far_outcomes_are_known(tmp_path, statuses, known):
    submissions = made_up(2026, len(statuses))
    for one, status in zip(submissions, statuses, strict=True):
        one["content"]["venueid"] = {"value": f"ICLR.cc/2026/Conference{status}"}
        one["details"] = {}
    load(tmp_path / "reviews.duckdb", 2026, whole(tmp_path, submissions))
    assert query(tmp_path / "reviews.duckdb", "select outcomes from snapshots") == [(known,)]
    days = "select distinct outcome_as_of from submissions where outcome <> 'undecided'"
    assert query(tmp_path / "reviews.duckdb", days) == [(TAKEN.date(),)]


def test_a_paper_that_is_withdrawn_and_accepted_elsewhere_is_recorded(tmp_path):
    """As ELMo in 2018: S1p31z-Ab was accepted, SJTCsqMUf withdrawn."""
    submissions = made_up(2018, 100)
    conference = openreview_notes.VenueYear(2018, 100)
    kinds = {one["id"]: conference.paper(place).outcome for place, one in enumerate(submissions)}
    accepted = next(one for one in submissions if kinds[one["id"]] == "accepted")
    withdrawn = next(one for one in submissions if kinds[one["id"]] == "withdrawn")
    withdrawn["content"]["title"] = accepted["content"]["title"].upper()
    load(tmp_path / "reviews.duckdb", 2018, whole(tmp_path, submissions))
    ((forum, reason),) = query(tmp_path / "reviews.duckdb", "select forum, reason from problems where field = 'title'")
    assert (forum, reason) == (
        withdrawn["id"], f"withdrawn here, and accepted as {accepted['id']}: each counts as what it is",
    )  # fmt: skip
    counts = Counter(kinds.values())
    assert query(tmp_path / "reviews.duckdb", "select accepted, withdrawn from snapshots") == [
        (counts["accepted"], counts["withdrawn"])
    ]


def unrated(year: int, every: int) -> list[dict]:
    """A year in which every so manyeth paper has reviews with a new answer."""
    submissions = made_up(year, 60)
    for one in submissions[::every]:
        for reply in one["details"]["replies"]:
            if "rating" in reply["content"]:
                reply["content"]["rating"] = {"value": "superb"}
    return submissions


def test_many_unreadable_ratings_stop_a_load(tmp_path):
    database = tmp_path / "data" / "reviews.duckdb"
    file = whole(tmp_path, unrated(2026, 10))
    with pytest.raises(Trouble, match=r"% of \d+ reviews of ICLR 2026 have no .*, such as `superb` \(not a"):
        load(database, 2026, file)
    assert not [path for path in (tmp_path / "data").rglob("*") if path.is_file() and path.suffix != ".lock"]
    load(database, 2026, file, unreadable=True)
    ((nothing, problems),) = query(
        database, "select (select count(*) from reviews where rating is null), (select count(*) from problems)"
    )
    assert nothing > 10 and problems >= nothing
    load(tmp_path / "b" / "reviews.duckdb", 2027, whole(tmp_path, unrated(2027, 10)))  # undescribed: goes on


def test_an_interrupted_load_leaves_nothing(tmp_path):
    def broken():
        yield scrubbed(2020)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        take_in(broken(), form(2020), "final", "final", TAKEN, "notes", tmp_path / "reviews.duckdb", silent)
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".lock"]


def test_without_notes_there_is_nothing_to_rebuild(tmp_path):
    with pytest.raises(Trouble, match="to rebuild from: fetch a year"):
        rebuild(tmp_path / "reviews.duckdb", silent)


@pytest.mark.parametrize("year", [2017, 2020, 2025])
def test_neither_tables_nor_notes_name_anybody(tmp_path, year):
    database = tmp_path / "reviews.duckdb"
    load(database, year, whole(tmp_path, made_up(year, 40)))
    stored = str(tables(database, year)) + archived(database)
    assert not re.search(r"[\w.+-]+@[\w-]+\.[a-z]{2}|~[A-Z]\w*[0-9]|Author[0-9]|Writer[0-9]|Cy Third", stored)
    assert "number_of_authors" in stored


def test_restricted_notes_are_not_kept(tmp_path):
    load(tmp_path / "reviews.duckdb", 2020, whole(tmp_path, made_up(2020, 40)))
    assert "I know them." not in archived(tmp_path / "reviews.duckdb")


# Archive ------------------------------------------------------------------------------------------------------------


def said(name: str, year: int = 2026) -> dict[str, str]:
    return {"venue": "ICLR", "year": str(year), "name": name}


def keep(folder: Path, name: str, pages: list[list[dict]]) -> archive.Kept:
    with gathered(map(list, pages), folder / "gathered") as came, archive.drafted(came, folder, said(name)) as draft:
        draft.keep()
    return draft


def by_id(found: list[dict]) -> list[dict]:
    return sorted(found, key=lambda note: (note["forum"], note["id"], json.dumps(note)))


def held(one: archive.Kept) -> list[dict]:
    return by_id([note for batch in one.batches() for forum in batch for note in forum])


def test_each_file_gives_all_notes_of_its_snapshot(tmp_path):
    stages = ("release", "discussed", "final")
    snapshots = {stage: scrubbed(2026, 250, stage=stage) for stage in stages}
    files = [keep(tmp_path, stage, [snapshots[stage]]) for stage in stages]
    assert [held(one) for one in files] == [by_id(snapshots[stage]) for stage in stages]
    assert [held(one) for one in archive.kept(tmp_path)] == [by_id(snapshots[stage]) for stage in stages]


def test_batches_are_whole_forums(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "PAPERS", 7)
    batches = list(keep(tmp_path, "final", [scrubbed(2026, 30)]).batches())
    assert [len(batch) for batch in batches] == [7, 7, 7, 7, 2]
    forums = [{note["forum"] for note in forum} for batch in batches for forum in batch]
    assert all(len(one) == 1 for one in forums) and len(set.union(*forums)) == 30


def test_a_file_holds_only_what_is_new(tmp_path):
    first, second = scrubbed(2026, stage="release"), scrubbed(2026, stage="discussed")
    files = [keep(tmp_path, name, [page]) for name, page in (("a", first), ("b", second), ("c", second))]
    counts = [
        duckdb.connect().read_parquet(str(file.path)).aggregate("count(*), count(json)").fetchall()[0] for file in files
    ]
    known = {json.dumps(note, sort_keys=True) for note in first}
    fresh = [note for note in second if json.dumps(note, sort_keys=True) not in known]
    changed = {note["forum"] for note in fresh}  # in this one nothing is gone
    listed = [note for note in second if note["forum"] in changed]
    assert counts == [(len(first), len(first)), (len(listed), len(fresh)), (0, 0)]
    assert [held(one) for one in archive.kept(tmp_path)] == [by_id(first), by_id(second), by_id(second)]


def test_what_is_gone_is_gone_and_what_comes_back_is_back(tmp_path):
    page = scrubbed(2026, 10)
    without_forum = [note for note in page if note["forum"] != page[0]["forum"]]
    days = {"a": page, "b": without_forum, "c": page[:-1], "d": page, "e": without_forum[5:]}
    for name, some in days.items():
        keep(tmp_path, name, [some])
    assert [held(one) for one in archive.kept(tmp_path)] == [by_id(some) for some in days.values()]
    last = archive.kept(tmp_path)[3]
    assert duckdb.sql(f"select count(json) from read_parquet('{last.path}')").fetchall() == [(0,)]


def test_after_many_files_one_lists_everything_again(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "CONTINUED", 3)
    page = scrubbed(2026, 5)
    for number in range(7):
        keep(tmp_path, f"day {number}", [page[number % 2 :]])
    files = archive.kept(tmp_path)
    assert [len(one.chain) for one in files] == [1, 2, 3, 1, 2, 3, 1]
    assert [held(one) for one in files] == [by_id(page[number % 2 :]) for number in range(7)]


def test_files_are_never_changed(tmp_path):
    keep(tmp_path, "a", [scrubbed(2026, stage="release")])
    before = contents(tmp_path)
    keep(tmp_path, "b", [scrubbed(2026)])
    assert {name: content for name, content in contents(tmp_path).items() if name in before} == before
    assert [one.said["name"] for one in archive.kept(tmp_path)] == ["a", "b"]


def test_content_has_one_digest_whatever_its_order(tmp_path):
    page = scrubbed(2026)
    turned = [dict(reversed(note.items())) for note in reversed(page)]
    first, again = keep(tmp_path, "a", [page]), keep(tmp_path, "a", [turned[:9], turned, turned[5:9]])
    assert again.path == first.path and again.said == first.said
    assert keep(tmp_path, "a", [page[1:]]).said["digest"] != first.said["digest"]


def test_a_file_that_was_moved_away_is_missed_and_the_next_does_without(tmp_path):
    first = keep(tmp_path, "a", [scrubbed(2026, stage="release")])
    keep(tmp_path, "b", [scrubbed(2026, stage="discussed")])
    first.path.rename(tmp_path / "elsewhere")
    (last,) = archive.kept(tmp_path)
    with pytest.raises(Trouble, match=r"continues 0001-a\.parquet, which is not there: put back what was moved away"):
        held(last)
    whole = scrubbed(2026, stage="discussed")
    keep(tmp_path, "c", [whole])
    assert held(archive.kept(tmp_path)[-1]) == by_id(whole)
    (tmp_path / "elsewhere").rename(first.path)
    assert [held(one) for one in archive.kept(tmp_path)] == [
        by_id(scrubbed(2026, stage="release")),
        by_id(whole),
        by_id(whole),
    ]


def test_a_foreign_file_is_told(tmp_path):
    place = keep(tmp_path, "a", [scrubbed(2026)]).path.parent
    duckdb.sql("select 1 as a").write_parquet(str(place / "0002-b.parquet"))
    with pytest.raises(Trouble, match="is not a file of notes that this suite wrote"):
        archive.kept(tmp_path)
    (place / "0002-b.parquet").write_bytes(b"torn")
    with pytest.raises(Trouble, match="cannot be read"):
        archive.kept(tmp_path)
