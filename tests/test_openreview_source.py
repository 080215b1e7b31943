"""The api source: openreview-py over real sockets against the stand-in. What can fail is in test_fetch_faults.py."""

from __future__ import annotations

import math
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator

import pytest
from openreview_notes import LAYOUTS, Note, flatten
from openreview_standin import PASSWORD, TOKEN, USERNAME, Budget, Fault, StandIn, VenueYear, generate

from analysis import ROOT
from analysis.errors import Trouble
from analysis.sources.openreview import Cursor, Page, Session, pages
from analysis.sources.transport import Transport
from analysis.venues import venue_year


class Told(list):
    """What was said, and a clock that only sleeping moves."""

    def __init__(self) -> None:
        super().__init__()
        self.now, self.slept = time.time(), []

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept.append(seconds)

    def session(self, server: StandIn, max_wait: float = 75, read: float = 20, **environment: str) -> Session:
        environment, clock = server.environment | environment, lambda: self.now
        return Session(self.append, max_wait, environment, timeout=(2, read), sleep=self.sleep, clock=clock)


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture(autouse=True)
def nothing_on_stdout(capfd) -> Iterator[None]:
    """Results go there, and the client's own retries would."""
    yield
    assert capfd.readouterr().out == ""


def fetch(server: StandIn, year: int, told: Told, start: Cursor | None = None, **more) -> list[Page]:
    return list(pages(venue_year("ICLR", year), told.session(server, **more), start))


def by_id(notes: list[Note]) -> dict[str, Note]:
    return {note["id"]: note for note in flatten(notes)}


def arrived(fetched: list[Page]) -> dict[str, Note]:
    return by_id([note for page in fetched for note in page.notes])


def plain(number: int, year: int = 2026, listing: int = 0) -> list[Note]:
    """Submissions without content, to have many of them, in one listing of a year."""
    form, names = venue_year("ICLR", year), [f"{'sxy'[listing]}{place:06}" for place in range(number)]
    listed = {"invitation": form.listings[listing]} if form.api == 1 else {"invitations": [form.listings[listing]]}
    return [{"id": name, "forum": name, "content": {}, "readers": ["everyone"]} | listed for name in names]


def iclr_2020() -> StandIn:
    """As many as there were."""
    return StandIn([*plain(2213, 2020), *plain(369, 2020, 1), *plain(12, 2020, 2)])


def conference(number: int, **more) -> StandIn:
    return StandIn(plain(number, 2020), plain(number, 2026), **more)


# On a good day --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("year", LAYOUTS)
def test_every_year_arrives_whole_and_as_it_was_sent(year, told):
    with StandIn(years=[VenueYear(year, 60)]) as server:
        assert arrived(fetch(server, year, told)) == by_id(list(generate(year, 60)))
        assert server.count("/login", api=2) == server.count("/login") == 1
        assert server.count("/notes", api=venue_year("ICLR", year).api) == len(venue_year("ICLR", year).listings)
        assert server.count("/profiles") == 0


def test_2020_takes_five_requests(told):
    with iclr_2020() as server:
        fetched = fetch(server, 2020, told)
        assert sum(len(page.notes) for page in fetched) == len(arrived(fetched)) == 2594
        assert server.count("/notes") == 5
    assert told[0] == "ICLR 2020: about 5 /notes requests, without a stated limit, for 2,594 submissions in 3 listings."
    assert told[-1].startswith("ICLR 2020: 5 pages, 2,594 submissions, ")


def test_2026_takes_twenty_requests(told):
    with conference(19_630) as server:
        assert len(arrived(fetch(server, 2026, told))) == 19_630
        assert server.count("/notes") == 20 and len(server.requests) == 21
    assert told[0] == "ICLR 2026: about 20 /notes requests, of some 500 an hour, for 19,814 submissions in 1 listing."
    assert "about 19 pages to go" in told[1] and told[1].endswith("499 requests left")


def test_a_full_last_page_is_followed_by_an_empty_one(told):
    with conference(2000) as server:
        assert len(fetch(server, 2026, told)) == 2
        queries = [{name: values[0] for name, values in one.query.items()} for one in server.requests[1:]]
    shared = {"invitation": "ICLR.cc/2026/Conference/-/Submission", "details": "replies", "limit": "1000", "sort": "id"}
    assert queries == [shared | {"count": "true"}, shared | {"after": "s000999"}, shared | {"after": "s001999"}]


def test_one_login_serves_both_apis_and_all_years(told):
    with StandIn(years=[VenueYear(2020, 20), VenueYear(2026, 20)]) as server:
        session = told.session(server)
        for year in (2020, 2026, 2020):
            assert list(pages(venue_year("ICLR", year), session))
        assert server.count("/login") == 1


def test_a_token_needs_no_login(told):
    with StandIn(years=[VenueYear(2026, 20)]) as server:
        assert fetch(server, 2026, told, OPENREVIEW_TOKEN=f"Bearer {TOKEN}", OPENREVIEW_PASSWORD="")
        assert [request.path for request in server.requests] == ["/notes"]


def test_the_environment_of_a_fresh_process_is_enough():
    """API 1 would log in at an address of its own, read when openreview is imported."""
    code = (
        "import sys; from analysis.sources.openreview import *; from analysis.venues import venue_year\n"
        "assert 'openreview' not in sys.modules\n"
        "session = Session(lambda line: print(line, file=sys.stderr))\n"
        "for year in (2020, 2026): list(pages(venue_year('ICLR', year), session))"
    )
    with StandIn(years=[VenueYear(2020, 9), VenueYear(2026, 9)]) as server:
        environment = {name: text for name, text in server.environment.items() if name != "OPENREVIEW_API_V2_URL"}
        done = subprocess.run([sys.executable, "-c", code], env=environment, cwd=ROOT, capture_output=True, timeout=60)
        assert (done.returncode, done.stdout) == (0, b"")
        assert [(request.api, request.path) for request in server.requests][:2] == [(2, "/login"), (1, "/notes")]


def test_on_a_terminal_progress_stays_on_one_line(told, monkeypatch, capfd):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with conference(2500) as server:
        fetch(server, 2026, told)
    shown = capfd.readouterr().err
    assert shown.count("\r\x1b[KICLR 2026: ") == 3 and "\n" not in shown
    assert len(told) == 2 and "2,500 submissions" in told[-1]


def test_a_token_that_runs_out_again_and_again_is_renewed(told):
    """It lasts an hour, and a patient fetch may take several."""
    with conference(3500, faults=[Fault("401", after=1), Fault("401", after=3)]) as server:
        assert len(arrived(fetch(server, 2026, told))) == 3500
        assert server.count("/login") == 3


# Going on -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kept", range(1, 6))
def test_going_on_after_any_page_gives_the_rest(kept, told):
    with iclr_2020() as server:
        session, form = told.session(server), venue_year("ICLR", 2020)
        stream = pages(form, session)
        first = [next(stream) for _ in range(kept)]
        stream.close()
        assert server.count("/notes") == kept
        second = list(pages(form, session, first[-1].cursor))
        assert len(second) == 5 - kept
        assert server.count("/notes") == 5 + 2  # time has passed: what came to the first two listings meanwhile?
        ids = [note["id"] for page in first + second for note in page.notes]
    assert len(ids) == len(set(ids)) == 2594


def test_pages_of_something_else_are_not_gone_on_from(told):
    with StandIn() as server, pytest.raises(Trouble, match="no listing of ICLR 2020"):
        fetch(server, 2020, told, Cursor("ICLR.cc/2026/Conference/-/Submission"))


# On a bad day ---------------------------------------------------------------------------------------------------------


def test_a_fetch_that_stopped_goes_on_where_it_was(told):
    form, kept = venue_year("ICLR", 2026), []
    with conference(3500, faults=[Fault("500", after=2, times=6)]) as server:
        with pytest.raises(Trouble, match="error 500"):
            for page in pages(form, told.session(server)):
                kept.append(page)
        assert len(kept) == 2
        kept += pages(form, told.session(server), kept[-1].cursor)
        assert server.count("/notes") == 2 + 6 + 2
    assert len(arrived(kept)) == sum(len(page.notes) for page in kept) == 3500
    assert "going on in ICLR.cc/2026/Conference/-/Submission after 2,000 submissions" in "".join(told)


# The budget -----------------------------------------------------------------------------------------------------------


def test_the_last_request_of_a_window_is_not_followed_by_a_refusal(told):
    budget = Budget(2, seconds=0.8)
    with conference(4500, budget=budget) as server:
        told.sleep = lambda seconds: (told.slept.append(seconds), time.sleep(seconds))
        session = Session(told.append, 75, server.environment, sleep=told.sleep)
        assert len(arrived(list(pages(venue_year("ICLR", 2026), session)))) == 4500
        assert server.count("/notes") == 5  # a refused one would have been asked again
    assert len(told.slept) == 2
    assert "all 2 requests of this window are used; waiting until" in "\n".join(told)


@pytest.mark.parametrize(("max_wait", "waits"), [(0, 0), (29, 0), (31, 1), (59, 1), (61, 2)])
def test_never_waits_longer_than_told(max_wait, waits, told):
    fault = Fault("429", after=1, times=2, retry_after=1800)
    with conference(1100, faults=[fault]) as server:
        if waits == 2:
            fetch(server, 2026, told, max_wait=max_wait)
        else:
            with pytest.raises(Trouble, match=f"longer than --max-wait {max_wait} minutes"):
                fetch(server, 2026, told, max_wait=max_wait)
    assert told.slept == [1800] * waits


@pytest.mark.parametrize(
    ("headers", "said", "seconds"),
    [
        ({"Retry-After": "7", "ratelimit-reset": "3600"}, {}, 7),
        ({"Retry-After": "0"}, {}, 1),
        ({"Retry-After": "Wed, 01 Oct 2025 10:00:30 GMT", "Date": "Wed, 01 Oct 2025 10:00:00 GMT"}, {}, 30),
        ({"Date": "Wed, 01 Oct 2025 10:00:00 GMT"}, {"details": {"resetTime": "2025-10-01T10:20:00.000Z"}}, 1200),
        ({"ratelimit-reset": "90"}, {"details": {"resetTime": "soon"}}, 90),
        ({"Retry-After": "nan", "ratelimit-reset": "-1"}, {"details": "none"}, None),
    ],
)
def test_how_long_a_429_says_to_wait(headers, said, seconds, told):
    assert Transport(told.append)._told_to_wait(headers, said) == seconds


# What changes meanwhile -----------------------------------------------------------------------------------------------


def test_pages_that_overlap_are_told_and_end(told):
    with conference(2100, faults=[Fault("repeat", after=1, times=3)]) as server:
        fetched = fetch(server, 2026, told)
    assert len(arrived(fetched)) == 2100 and sum(len(page.notes) for page in fetched) == 2102
    assert "1 note of ICLR.cc/2026/Conference/-/Submission came twice" in "".join(told)


@pytest.mark.parametrize("after", range(3))
def test_a_note_that_a_page_left_out_is_found_by_a_second_look(after, told):
    with conference(2100, faults=[Fault("vanish", after=after)]) as server:
        assert len(arrived(fetch(server, 2026, told))) == 2100
        # three pages and an empty one, a count, three pages
        assert server.count("/notes") == 8
    assert "1 note of ICLR.cc/2026/Conference/-/Submission did not come; looking again." in told


@pytest.mark.parametrize("year", [2020, 2026])
def test_a_note_that_left_meanwhile_is_not_missed(year, told):
    with conference(2100) as server:
        stream = pages(venue_year("ICLR", year), told.session(server))
        fetched = [next(stream)]
        library = server.libraries[venue_year("ICLR", year).api]
        library.shelves[0].notes.popitem()
        library._orders.clear()
        fetched += stream
        assert len(arrived(fetched)) == 2099
    assert "looking again" not in "".join(told)


class Canned:
    """A session whose answers are given."""

    def __init__(self, say, answers) -> None:
        self.say, self.answers, self.asked = say, answers, 0

    def notes(self, api, **query):
        self.asked += 1
        return self.answers(query)

    def left(self, api):
        return None


def test_a_server_that_gives_the_same_page_for_ever_is_not_followed(told):
    session = Canned(told.append, lambda query: {"notes": plain(1000), "count": 20_000})
    with pytest.raises(Trouble, match=r"counts 20,000 notes .* and gave 1,000, twice: too few to go on"):
        list(pages(venue_year("ICLR", 2026), session))
    assert session.asked == 6  # the page, the same, the count; twice


def test_without_a_count_an_empty_page_ends_it(told):
    session = Canned(told.append, lambda query: {"notes": [] if query.get("after") else plain(30)})
    assert len(list(pages(venue_year("ICLR", 2026), session))) == 1 and session.asked == 2


@pytest.mark.parametrize(("year", "api"), [(2017, 1), (2020, 1), (2027, 2)])
def test_no_submissions_is_an_error_that_names_its_likely_causes(year, api, told):
    with StandIn() as server, pytest.raises(Trouble) as caught:
        fetch(server, year, told)
    said = str(caught.value)
    assert f"no submissions of ICLR {year} at http" in said and "not public yet" in said
    assert f"on API {3 - api} instead of {api}" in said and "lower case" in said and "venues.toml" in said


# Access ---------------------------------------------------------------------------------------------------------------

FREE = r"an account is free: https://openreview.net/signup\), or give answers saved while signed in with `--load FILE`"


@pytest.mark.parametrize(
    ("environment", "requests", "sentence"),
    [
        ({"OPENREVIEW_USERNAME": "", "OPENREVIEW_PASSWORD": ""}, 0, f"OPENREVIEW_USERNAME is not set.*{FREE}"),
        ({"OPENREVIEW_PASSWORD": ""}, 0, f"OPENREVIEW_PASSWORD is not set.*{FREE}"),
        ({"OPENREVIEW_PASSWORD": "wrong-0123"}, 1, r"refused the log-in \(Invalid username or password\): check"),
        ({"OPENREVIEW_TOKEN": "expired-0123"}, 1, "OPENREVIEW_TOKEN has expired"),
        ({"OPENREVIEW_API_BASEURL_V2": "https://api.openreview.net"}, 0, "which is the other API"),
        ({"OPENREVIEW_API_BASEURL_V2": "localhost"}, 0, "no address to ask"),
    ],
)
def test_access_denied_is_one_sentence_at_once(environment, requests, sentence, told):
    with conference(5) as server, pytest.raises(Trouble, match=sentence) as caught:
        fetch(server, 2026, told, **environment)
    assert len(server.requests) == requests and told.slept == []
    assert_no_secret(told, caught)


def test_a_second_factor_is_never_asked_for(told, monkeypatch):
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    sentence = r"second factor.*OPENREVIEW_TOKEN"
    with StandIn(mfa_code="123456") as server, pytest.raises(Trouble, match=sentence) as caught:
        fetch(server, 2026, told)
    assert [request.path for request in server.requests] == ["/login"]
    assert_no_secret(told, caught)


def test_a_host_that_is_not_there_is_not_waited_for(told):
    with conference(5) as server:
        environment = server.environment
    session = Session(told.append, environment=environment, sleep=told.sleep)
    with pytest.raises(Trouble, match="connection refused, 2 times in a row; check the network, OPENREVIEW_API_"):
        list(pages(venue_year("ICLR", 2026), session))


def test_secrets_are_in_no_message_and_no_traceback(told):
    """Whatever goes wrong, with a server that repeats what it was told."""
    for kind in ("401", "403", "429", "500", "html", "cut", "reset", "truncated"):
        for path in ("/login", "/notes"):
            with conference(1100, faults=[Fault(kind, after=path == "/notes", times=math.inf, path=path)]) as server:
                with pytest.raises(Trouble) as caught:
                    fetch(server, 2026, told)
                assert_no_secret(told, caught)


def test_secrets_that_a_server_repeats_are_masked(told):
    transport = Transport(told.append)
    transport.secrets = ("s3cret",)
    refusal = transport._refusal("host", 400, {"name": "Error", "message": "no s3cret here (2026-1)"})
    assert str(refusal) == "host refuses: no *** here (HTTP 400)."


def assert_no_secret(told: list[str], caught) -> None:
    trace = "".join(traceback.format_exception(caught.value))
    text = "\n".join([*told, trace, repr(caught.value), str(caught.value), repr(caught.value.args)])
    for secret in (TOKEN, PASSWORD, USERNAME, "expired-0123", "wrong-0123"):
        assert secret not in text
    assert "During handling" not in trace and "direct cause" not in trace
