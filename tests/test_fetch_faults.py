"""Every failure that OpenReview and the network are known for, each with the end of a whole fetch command.

Reference B.8 lists the failures, B.4 what openreview-py does of itself about them. What a fetch says, with which status
it ends, what is then in the store and on disk, and that the next fetch makes good what this one could not.
"""

from __future__ import annotations

import itertools
import math
import os
import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from openreview_standin import PASSWORD, TOKEN, USERNAME, Fault, StandIn, VenueYear
from test_fetch import rows

from analysis import cli, store
from analysis.sources import openreview as source

PAPERS = {2020: 50, 2026: 50}
PAGE = 10  # submissions: five pages and more
FOREVER = math.inf


@dataclass
class Ended:
    """The end of a command: status, lines on stderr, seconds waited, and what is on disk."""

    status: int
    said: list[str]
    waited: list[float]
    files: list[str]

    @property
    def last(self) -> str:
        return self.said[-1]


@pytest.fixture
def run(monkeypatch, capfd, tmp_path) -> Callable[..., Ended]:
    """The command, in this process, with a clock that only waiting moves and small pages."""
    monkeypatch.setattr(source, "PAGE", PAGE)
    usual = source.Session.__init__

    def command(server: StandIn, year: int, *more: object, read: float = 30, whole: float = 600, **environment: str):
        now, waited = time.time(), []

        def quick(self, say, max_wait=75):
            clock = {"sleep": waited.append, "clock": lambda: now + sum(waited)}
            usual(self, say, max_wait, os.environ, timeout=(2, read), whole=whole, **clock)

        monkeypatch.setattr(source.Session, "__init__", quick)
        for name, value in (server.environment | {"OPENREVIEW_TOKEN": ""} | environment).items():
            monkeypatch.setenv(name, value)
        database = tmp_path / "reviews.duckdb"
        arguments = ["fetch", "--source", "api", "--years", str(year), "--database", str(database), *map(str, more)]
        status, shown = cli.main(arguments), capfd.readouterr()
        assert shown.out == "" and not any(secret in shown.err for secret in (TOKEN, PASSWORD, USERNAME))
        assert "Traceback" not in shown.err
        return Ended(status, shown.err.splitlines(), waited, files(tmp_path))

    return command


def files(folder: Path) -> list[str]:
    """What is there, but for locks."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock")
    return sorted(str(path.relative_to(folder)) for path in found)


def whole(year: int) -> list[str]:
    return [f"notes/iclr-{year}/0001-final.parquet", "reviews.duckdb"]


def half(year: int) -> list[str]:
    return [f"notes/iclr-{year}/fetched.notes"]


def conference(**more) -> StandIn:
    return StandIn(years=[VenueYear(year, papers) for year, papers in PAPERS.items()], **more)


@pytest.fixture(scope="module")
def clean(tmp_path_factory) -> Callable[[int], dict]:
    """All rows of an undisturbed fetch."""
    folder, patch, kept = tmp_path_factory.mktemp("clean"), pytest.MonkeyPatch(), {}
    for year in PAPERS:
        with conference() as server, patch.context() as patched:
            for name, value in server.environment.items():
                patched.setenv(name, value)
            database = folder / str(year) / "reviews.duckdb"
            assert cli.main(["fetch", "--source", "api", "--years", str(year), "--database", str(database)]) == 0
        kept[year] = rows(database)
        assert len(kept[year]["submissions"]) == PAPERS[year] and len(kept[year]["reviews"]) > 2 * PAPERS[year]
    return kept.__getitem__


# What passes: the same rows as without it -----------------------------------------------------------------------------

# The fault, how long is waited for it, and a sentence on it.
PASSES: dict[str, tuple[Fault, list[float], str]] = {
    "429 with Retry-After": (Fault("429", after=1, retry_after=30), [30], r"too many requests; waiting until \S+ \(30 sec"),
    "429 with resetTime": (Fault("429", after=1, reset=1800), [1800], r"waiting until \S+ \(30 minutes\)"),
    "429 twice": (Fault("429", after=1, times=2, retry_after=30), [30, 30], "too many requests"),
    "429 for an hour and some seconds": (Fault("429", after=2, retry_after=3613), [3613], r"waiting until \S+ \(60 min"),
    "500": (Fault("500", after=1), [1], "error 500; waiting until"),
    "502 with an empty body": (Fault("502", after=1, times=3), [1, 2, 4], "error 502; waiting until"),
    "503 with a page": (Fault("503", after=1, times=5), [1, 2, 4, 8, 16], "error 503; waiting until"),
    "a single 403": (Fault("403", after=1), [1], "reading is forbidden"),
    "truncated JSON": (Fault("truncated", after=1, times=2), [1, 2], "a broken answer"),
    "a connection that is cut": (Fault("cut", after=1), [1], "the connection broke off"),
    "a connection that is reset": (Fault("reset", after=3), [1], "the connection broke off"),
    "a socket that stalls": (Fault("stall", after=1, seconds=4), [1], "no answer in time"),
    "an answer that trickles": (Fault("trickle", after=2, seconds=0.4), [1], "no whole answer in time"),
    "a head that trickles": (Fault("trickle head", after=2, seconds=0.2), [1], "no whole answer in time"),
    "401 when logged in": (Fault("401", after=2), [], ""),
    "a log-in with 429": (Fault("429", path="/login", retry_after=30), [30], "too many requests"),
    "a log-in with 502": (Fault("502", path="/login"), [1], "error 502"),
    "a log-in that is cut": (Fault("cut", path="/login"), [1], "the connection broke off"),
    "a note on two pages": (Fault("repeat", after=1, times=2), [], "came twice, since pages overlap; the newest counts"),
    "a note that a page left out": (Fault("vanish", after=1), [], "1 note of .* did not come; looking again"),
    "an answer without a count": (Fault("uncounted", times=FOREVER), [], ""),
    "a page that comes again": (Fault("stuck", after=1), [], "looking again"),
}  # fmt: skip


@pytest.mark.parametrize("year", PAPERS)
@pytest.mark.parametrize("name", PASSES)
def test_what_passes_leaves_no_trace(run, clean, tmp_path, name, year):
    fault, waits, sentence = PASSES[name]
    hasty = {"stall": {"read": 2}, "trickle": {"whole": 2.5}, "trickle head": {"whole": 2.5}}.get(fault.kind, {})
    with conference(faults=[replace(fault)]) as server:
        ended = run(server, year, **hasty)
        assert server.count("/login") == 1 + (fault.path == "/login" or fault.kind == "401")
    assert ended.status == 0, ended.said
    assert ended.files == whole(year) and ended.last.startswith(f"loaded ICLR {year}, final: {PAPERS[year]} papers")
    assert rows(tmp_path / "reviews.duckdb") == clean(year)
    assert len(ended.waited) == len(waits)
    for waited, wait in zip(ended.waited, waits, strict=True):
        assert 0.7 * wait <= waited <= wait + 1.1
    assert any(re.search(sentence, line) for line in ended.said)
    assert sum("waiting until" in line for line in ended.said) == len(waits)


# What lasts: one sentence, nothing in the store, and the next fetch goes on -------------------------------------------

AGAIN = "run the same command again, and it goes on from the last page that arrived"
# The fault and the sentence; the first page, if any, is kept.
LASTS: dict[str, tuple[Fault, str]] = {
    "429 until --max-wait": (
        Fault("429", after=1, times=FOREVER, reset=1800),
        rf"too many requests; waiting until .* would be longer than --max-wait 75 minutes \(60 minutes so far\): .*{AGAIN}",
    ),
    "429 for longer than --max-wait": (
        Fault("429", after=1, times=FOREVER, retry_after=7200),
        rf"\(120 minutes\) would be longer than --max-wait 75 minutes: after that time, or with a longer .*{AGAIN}",
    ),
    "429 without a time": (Fault("429", after=1, times=FOREVER, reset=0), "--max-wait 75 minutes"),
    "500": (Fault("500", after=1, times=FOREVER), f"error 500, 6 times in a row; {AGAIN}"),
    "502 with an empty body": (Fault("502", after=1, times=FOREVER), f"error 502, 6 times in a row; {AGAIN}"),
    "503 with a page": (Fault("503", after=1, times=FOREVER), f"error 503, 6 times in a row; {AGAIN}"),
    "403": (Fault("403", after=1, times=FOREVER), r"\(You don't have permission to read the Note\), 3 times in a row"),
    "200 with a page": (Fault("html", after=1, times=FOREVER), "a web page instead of data.*--load FILE"),
    "truncated JSON": (Fault("truncated", after=1, times=FOREVER), f"a broken answer, 6 times in a row; {AGAIN}"),
    "cut": (Fault("cut", after=1, times=FOREVER), "the connection broke off, 6 times in a row; check the network"),
    "reset": (Fault("reset", after=1, times=FOREVER), "the connection broke off, 6 times in a row; check the network"),
    "stalled": (Fault("stall", after=1, times=FOREVER, seconds=2), "no answer in time, 6 times in a row; check the"),
    "401": (Fault("401", after=1, times=FOREVER), "does not accept the token of its own log-in"),
    "the same page for ever": (Fault("stuck", after=1, times=FOREVER), "counts .* and gave .*, twice: too few to go on"),
    "200 with a page, at once": (Fault("html", times=FOREVER), "a web page instead of data"),
    "a log-in with 500": (Fault("500", path="/login", times=FOREVER), "error 500, 6 times in a row"),
    "a log-in with a page": (Fault("html", path="/login", times=FOREVER), "a web page instead of data"),
    "a log-in with 429": (Fault("429", path="/login", times=FOREVER, retry_after=3000), "--max-wait 75 minutes"),
}  # fmt: skip


@pytest.mark.parametrize("year", PAPERS)
@pytest.mark.parametrize("name", LASTS)
def test_what_lasts_is_one_sentence_and_the_next_fetch_goes_on(run, clean, tmp_path, name, year):
    fault, sentence = LASTS[name]
    with conference(faults=[replace(fault)]) as server:
        ended = run(server, year, read=1 if fault.kind == "stall" else 30)
        assert ended.status == 1 and re.search(sentence, ended.last), ended.said
        assert sum(ended.waited) <= 75 * 60
        first = fault.path == "/notes" and fault.after == 1
        assert ended.files == (half(year) if first else [])
        server.faults.clear()
        again = run(server, year)
    assert again.status == 0, again.said
    assert any("going on after" in line for line in again.said) == first
    assert again.files == whole(year) and rows(tmp_path / "reviews.duckdb") == clean(year)


def test_a_port_that_closes_keeps_what_came(run, tmp_path):
    with conference(faults=[Fault("refused", after=1)]) as server:
        ended = run(server, 2026)
    assert ended.status == 1 and ended.files == half(2026)
    assert re.search(r"connection refused, \d times in a row; check the network, OPENREVIEW_API_BASEURL", ended.last)


# Access ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environment", "served", "sentence"),
    [
        ({"OPENREVIEW_USERNAME": ""}, {}, "OPENREVIEW_USERNAME is not set: .*an account is free.*--load FILE"),
        ({"OPENREVIEW_PASSWORD": "wrong"}, {}, r"refused the log-in \(Invalid username or password\): check"),
        ({"OPENREVIEW_TOKEN": "expired"}, {}, "OPENREVIEW_TOKEN has expired"),
        ({}, {"mfa_code": "123456"}, "second factor, and a batch cannot ask for its code: set OPENREVIEW_TOKEN"),
        ({"OPENREVIEW_API_BASEURL_V2": "https://api.openreview.net"}, {}, "which is the other API"),
    ],
)
@pytest.mark.parametrize("year", PAPERS)
def test_who_may_not_read_is_told_at_once_and_nothing_is_stored(run, environment, served, sentence, year):
    with conference(**served) as server:
        ended = run(server, year, **environment)
    assert ended.status == 1 and re.search(sentence, ended.last), ended.said
    assert ended.files == [] and ended.waited == []


@pytest.mark.parametrize(("guest", "sentence"), [(403, "ChallengeRequiredError"), (200, "a web page instead of data")])
@pytest.mark.parametrize("year", PAPERS)
def test_a_challenge_is_told_with_the_way_around_it(run, monkeypatch, guest, sentence, year):
    """Shown to a reader whose token got lost on the way, as a guest is."""
    send = source.Transport._once

    def anonymous(self, session, method, url, request):
        headers = {name: text for name, text in request["headers"].items() if name != "Authorization"}
        return send(self, session, method, url, {**request, "headers": headers})

    monkeypatch.setattr(source.Transport, "_once", anonymous)
    with conference(guest=guest) as server:
        ended = run(server, year)
    assert ended.status == 1 and sentence in ended.last and "--load FILE" in ended.last
    assert ended.files == [] and ended.waited == []


# What is there and what is not ----------------------------------------------------------------------------------------


def test_restricted_notes_are_counted_and_in_nothing_that_is_stored(run, tmp_path):
    with conference() as server:
        ended = run(server, 2026)
    hidden = [
        note
        for paper in VenueYear(2026, 50)
        for note in paper["details"]["replies"]
        if "everyone" not in note["readers"]
    ]
    assert hidden and f"{len(hidden)} notes left out that not everyone may read." in ended.said
    stored = str(rows(tmp_path / "reviews.duckdb"))
    assert not [note["id"] for note in hidden if note["id"] in stored]


@pytest.mark.parametrize("year", [2017, 2020, 2025])
def test_no_submissions_is_an_error_with_its_likely_causes(run, year):
    with StandIn() as server:
        ended = run(server, year)
    assert ended.status == 1 and ended.files == []
    for cause in ("not public yet", "on API", "2017 is lower case", "venues.toml"):
        assert cause in ended.last


def test_submissions_that_only_some_may_read_are_told_and_not_kept(run):
    hidden = [note | {"readers": ["ICLR.cc/2026/Conference"], "details": {}} for note in VenueYear(2026, 20)]
    with StandIn(notes2=hidden) as server:
        ended = run(server, 2026)
    assert ended.status == 1 and "No submission of ICLR 2026 is public yet" in ended.last and ended.files == []


@pytest.mark.parametrize(("listing", "number"), [(0, 3), (0, 31), (1, 0)])
def test_a_paper_that_vanishes_between_pages_is_as_it_was_when_its_page_came(run, tmp_path, listing, number):
    """Deleted before its page: not there, and nobody looks for it. Deleted after: there."""
    deleted = VenueYear(2026, 50).submission(number)["id"]
    notes = list(VenueYear(2026, 50))
    with StandIn(notes2=notes) as server:
        library, page = server.libraries[2], server.libraries[2].page
        asked = itertools.count()

        def vanishing(request, shift=0):
            if next(asked) == 2 - 2 * listing:
                del library.shelves[0].notes[deleted]
                library._orders.clear()
            return page(request, shift)

        library.page = vanishing
        ended = run(server, 2026)
    assert ended.status == 0, ended.said
    forums = {row[1] for row in rows(tmp_path / "reviews.duckdb")["submissions"]}
    assert (deleted in forums) == (listing == 0 and number < 2 * PAGE)
    assert len(forums) == 50 - (deleted not in forums)


@pytest.mark.parametrize("year", PAPERS)
@pytest.mark.parametrize("content", [None, {}, "absent"])
def test_notes_without_content_are_there_and_say_nothing(run, tmp_path, year, content):
    """A paper without title, and a review without a rating, which is recorded."""
    notes = list(VenueYear(year, 50))
    review = next(reply for reply in notes[7]["details"]["replies"] if str(reply).count("Official_Review"))
    for note in (notes[3], review):
        note.pop("content") if content == "absent" else note.update(content=content)
    with StandIn(**{f"notes{1 if year == 2020 else 2}": notes}) as server:
        ended = run(server, year)
    assert ended.status == 0, ended.said
    with store.reading(tmp_path / "reviews.duckdb") as con:
        assert con.execute("select title from submissions where forum = ?", [notes[3]["id"]]).fetchall() == [(None,)]
        rated = "select rating, words from reviews where review_id = ?"
        assert con.execute(rated, [review["id"]]).fetchall() == [(None, 0)]
        problems = con.execute("select note_id, reason from problems where reason = 'no rating'").fetchall()
    assert problems == [(review["id"], "no rating")]


@pytest.mark.parametrize("resumed", [False, True])
@pytest.mark.parametrize(
    ("start", "end"), [("Withdrawn", "Blind"), ("Desk_Rejected", "Blind"), ("Desk_Rejected", "Withdrawn")]
)
def test_a_paper_that_moves_to_a_listing_that_was_read_already_is_not_missed(
    run, monkeypatch, tmp_path, start, end, resumed
):
    """Listings are read in the order that papers follow; a withdrawal that is undone goes the other way."""
    monkeypatch.setattr(source, "QUICK", 0)  # else nobody asks, for want of time to move in
    notes = list(VenueYear(2020, 50, stage="release"))
    for place, note in enumerate(notes):
        kind = "Withdrawn" if place % 5 == 1 else "Desk_Rejected" if place % 5 == 4 else "Blind"
        note["invitation"] = f"ICLR.cc/2020/Conference/-/{kind}_Submission"
    mover = next(note for note in notes if f"/{start}_" in note["invitation"])
    pages = 4 if end == "Blind" else 6  # of ten, each listing ends with an empty one: 30 active, 10 withdrawn, 10 not
    with StandIn(notes, faults=[Fault("html", after=pages)] if resumed else []) as server:
        library, page, asked = server.libraries[1], server.libraries[1].page, itertools.count()

        def moving(request, shift=0):
            if next(asked) == pages:
                moved = library.shelves[0].notes[mover["id"]]
                moved |= {"invitation": f"ICLR.cc/2020/Conference/-/{end}_Submission", "tmdate": moved["tmdate"] + 1}
                library._orders.clear()
            return page(request, shift)

        library.page = moving
        ended = run(server, 2020)
        if resumed:
            assert ended.status == 1
            ended = run(server, 2020)
    assert ended.status == 0, ended.said
    sentence = f"1 note came to ICLR.cc/2020/Conference/-/{end}_Submission meanwhile; looking again."
    assert resumed or sentence in ended.said
    found = {row[1]: row for row in rows(tmp_path / "reviews.duckdb")["submissions"]}
    assert len(found) == 50 and ("withdrawn" in found[mover["id"]]) == (end == "Withdrawn")


def test_half_a_surrogate_pair_in_a_review_stops_nobody(run, tmp_path):
    """Legal in JSON, seen in reviews, and refused by a strict parser: the whole page would be a broken answer."""
    with conference() as server:
        reply = server._reply

        def odd(request, fault):
            answer = reply(request, fault)
            answer.body = answer.body.replace(b'"strengths":{"value":"', b'"strengths":{"value":"\\ud83d ', 1)
            return answer

        server._reply = odd
        ended = run(server, 2026)
    assert ended.status == 0 and ended.waited == [] and len(rows(tmp_path / "reviews.duckdb")["submissions"]) == 50


def test_an_answer_with_notes_that_are_none_is_told(run):
    with conference() as server:
        server._reply = lambda request, fault, reply=server._reply: (
            replace(reply(request, fault), body=b'{"notes": [{"title": "no id"}], "count": 1}')
            if request.path == "/notes"
            else reply(request, fault)
        )
        ended = run(server, 2026)
    assert ended.status == 1 and "gives notes without ids" in ended.last and ended.files == []


# Any sequence ---------------------------------------------------------------------------------------------------------

KINDS = ["429", "500", "502", "503", "html", "truncated", "cut", "reset", "repeat", "vanish", "stuck", "403", "401"]


@pytest.mark.parametrize("seed", range(100))
def test_any_sequence_of_faults_ends_with_the_rows_of_a_clean_fetch_or_with_a_stop_to_go_on_from(
    run, clean, tmp_path, seed
):
    rng, year = random.Random(seed), 2020 if seed % 2 else 2026
    faults = [
        Fault(rng.choice(KINDS), after=rng.randrange(12), times=rng.choice([1, 1, 2, 7]), path=rng.choice(PATHS))
        for _ in range(4)
    ]
    with conference(faults=faults) as server:
        for _ in range(20):
            ended = run(server, year)
            if ended.status == 0:
                break
            assert ended.files in ([], half(year)) and len(ended.last) > 40
        assert server.count("/notes") < 90
    assert ended.files == whole(year) and rows(tmp_path / "reviews.duckdb") == clean(year)


PATHS = ["/notes", "/notes", "/notes", "/login"]
