"""The stand-in against openreview-py itself, through sockets: what the clients send, get and raise."""

import gzip
import math
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import openreview
import openreview.api
import orjson
import pytest
import requests
import urllib3
from openreview_notes import LAYOUTS, Note, VenueYear, flatten
from openreview_standin import PASSWORD, TOKEN, USERNAME, Budget, Fault, StandIn, generate, read_notes

SCRIPT = Path(__file__).with_name("openreview_standin.py")
BLIND = "ICLR.cc/2020/Conference/-/Blind_Submission"
SUBMISSION = "ICLR.cc/2026/Conference/-/Submission"
LOGGED_IN = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(autouse=True)
def no_account(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client logs in by itself where these are set."""
    for name in ("OPENREVIEW_USERNAME", "OPENREVIEW_PASSWORD", "OPENREVIEW_API_BASEURL", "OPENREVIEW_API_BASEURL_V2"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries without their sleep, which adds up to four minutes."""
    monkeypatch.setattr(urllib3.Retry, "sleep", lambda self, response=None: None)


@pytest.fixture(scope="module")
def both() -> Iterator[StandIn]:
    with StandIn(generate(2020, 60), generate(2026, 60)) as server:
        yield server


def client1(server: StandIn) -> openreview.Client:
    return openreview.Client(server.url1, token=TOKEN)


def client2(server: StandIn) -> openreview.api.OpenReviewClient:
    return openreview.api.OpenReviewClient(server.url2, token=TOKEN)


CLIENTS: dict[int, tuple[Callable[[StandIn], Any], str]] = {1: (client1, BLIND), 2: (client2, SUBMISSION)}


def listing(server: StandIn, api: int, **more: Any) -> list[Any]:
    connect, invitation = CLIENTS[api]
    return connect(server).get_all_notes(invitation=invitation, **more)


def get(url: str, **query: Any) -> requests.Response:
    return requests.get(url, params=query, headers=LOGGED_IN, timeout=5)


def flat(year: int, papers: int) -> list[Note]:
    return list(flatten(list(generate(year, papers))))


# ---------------------------------------------------------------- logging in


def test_login_is_one_post_and_its_token_goes_with_what_follows(both: StandIn) -> None:
    seen = len(both.requests)
    client = openreview.api.OpenReviewClient(both.url2, USERNAME, PASSWORD)
    client.get_notes(invitation=SUBMISSION, limit=1)
    login, notes = both.requests[seen:]
    assert (login.method, login.path, login.authorized) == ("POST", "/login", False)
    assert (notes.method, notes.path, notes.authorized) == ("GET", "/notes", True)
    assert client.profile.id == "~Stand_In1"


def test_client_of_api_1_logs_in_at_api_2(both: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openreview.tools, "LOCAL_API_V2", both.url2)
    assert openreview.Client(both.url1, USERNAME, PASSWORD).token == TOKEN
    assert (both.requests[-1].api, both.requests[-1].path) == (2, "/login")


def test_client_of_api_1_else_logs_in_at_home(both: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        monkeypatch.setattr(openreview.tools, "LOCAL_API_V2", f"http://127.0.0.1:{unused.getsockname()[1]}")
    assert openreview.Client(both.url1, USERNAME, PASSWORD).token == TOKEN
    assert (both.requests[-1].api, both.requests[-1].path) == (1, "/login")


def test_one_login_serves_both_clients() -> None:
    with StandIn(generate(2020, 5), generate(2026, 5)) as server:
        token = openreview.api.OpenReviewClient(server.url2, USERNAME, PASSWORD).token
        assert openreview.Client(server.url1, token=token).get_notes(invitation=BLIND)
        assert server.count("/login") == 1
        assert server.count("/profiles", api=1) == 1  # the client reads the user from a token and asks for the profile


@pytest.mark.parametrize("api", [1, 2])
def test_bad_password(both: StandIn, api: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openreview.tools, "LOCAL_API_V2", both.url2)
    kind, url = {1: (openreview.Client, both.url1), 2: (openreview.api.OpenReviewClient, both.url2)}[api]
    with pytest.raises(openreview.OpenReviewException) as caught:
        kind(url, USERNAME, "wrong")
    assert caught.value.args[0]["message"].startswith("Invalid username or password (")


def test_second_factor() -> None:
    def login(server: StandIn, **more: Any) -> Any:
        return openreview.api.OpenReviewClient(server.url2, USERNAME, PASSWORD, **more)

    with StandIn(mfa_code="123456") as server:
        with pytest.raises(openreview.openreview.MfaRequiredException):
            login(server)
        assert login(server, mfa_code_provider=lambda method: "123456").token == TOKEN
        with pytest.raises(openreview.OpenReviewException, match="Invalid verification code"):
            login(server, mfa_code_provider=lambda method: "654321")


def test_throttled_login_is_not_repeated_by_the_client() -> None:
    with StandIn(faults=[Fault("429", path="/login", after=1, times=math.inf)]) as server:
        openreview.api.OpenReviewClient(server.url2, USERNAME, PASSWORD)
        with pytest.raises(openreview.OpenReviewException, match="RateLimitError"):
            openreview.api.OpenReviewClient(server.url2, USERNAME, PASSWORD)
        assert server.count("/login") == 2


@pytest.mark.parametrize("api", [1, 2])
@pytest.mark.parametrize(
    ("guest", "trouble", "words"),
    [(403, openreview.OpenReviewException, "ChallengeRequiredError"), (200, requests.JSONDecodeError, None)],
)
def test_guests_get_an_error_or_a_page(api: int, guest: Any, trouble: type[Exception], words: str | None) -> None:
    with StandIn(guest=guest) as server:
        client = openreview.Client(server.url1) if api == 1 else openreview.api.OpenReviewClient(server.url2)
        with pytest.raises(trouble, match=words):
            client.get_notes(invitation=SUBMISSION)


def test_foreign_token_has_expired(both: StandIn) -> None:
    with pytest.raises(openreview.OpenReviewException, match="TokenExpiredError"):
        openreview.api.OpenReviewClient(both.url2, token="old").get_notes(invitation=SUBMISSION)


def test_environment_is_all_that_the_clients_need() -> None:
    code = "import openreview, openreview.api; openreview.Client(); openreview.api.OpenReviewClient()"
    with StandIn() as server:
        subprocess.run([sys.executable, "-c", code], env=server.environment, check=True, timeout=60)
        assert [(request.api, request.path) for request in server.requests] == [(2, "/login"), (2, "/login")]


# ---------------------------------------------------------------- listings


@pytest.mark.parametrize("year", LAYOUTS)
def test_every_year_arrives_whole(year: int) -> None:
    sent = {note["id"]: note for note in generate(year, 40)}
    layout = LAYOUTS[year]
    with StandIn(years=[VenueYear(year, 40)]) as server:
        client = CLIENTS[layout.api][0](server)
        listings = {layout.listing(outcome) for outcome in ("accepted", "withdrawn", "desk_rejected")}
        notes = [note for name in listings for note in client.get_all_notes(invitation=name, details="replies")]
    assert len(notes) == len(sent) == 40
    for note in notes:
        assert note.content == sent[note.id]["content"]
        assert note.details["replies"] == sent[note.id]["details"]["replies"]


def test_pages_as_the_client_of_api_2_asks_for_them() -> None:
    with StandIn(years=[VenueYear(2026, 2100)]) as server:
        notes = listing(server, 2)
        queries = [request.query for request in server.requests if request.path == "/notes"]
    asked = [{name: values[0] for name, values in query.items()} for query in queries]
    shared = {"invitation": SUBMISSION, "limit": "1000", "sort": "id"}
    assert asked == [
        shared | {"count": "true"},
        # The last page is empty, and only that ends it.
        *(shared | {"count": "false", "after": notes[place].id} for place in (999, 1999, 2099)),
    ]
    assert [note.number for note in notes] == list(range(1, 2101))


def test_direct_replies_and_counts_of_replies(both: StandIn) -> None:
    replies = {note["id"]: note["details"]["replies"] for note in generate(2020, 60)}
    for note in listing(both, 1, details="directReplies,replyCount"):
        assert note.details["directReplies"] == [reply for reply in replies[note.id] if reply["replyto"] == note.id]
        assert note.details["replyCount"] == len(replies[note.id])


def test_count_by_version(both: StandIn) -> None:
    assert get(f"{both.url1}/notes", invitation=BLIND, limit=1).json()["count"] == len(listing(both, 1)) > 1
    assert "count" not in get(f"{both.url2}/notes", invitation=SUBMISSION, limit=1).json()
    assert get(f"{both.url2}/notes", invitation=SUBMISSION, limit=1, count="true").json()["count"] == 60
    page = get(f"{both.url2}/notes", invitation=SUBMISSION, limit=7, offset=55).json()
    assert (len(page["notes"]), page["count"]) == (5, 60)


QUERIES = [
    {"invitation": SUBMISSION},
    {"invitation": "ICLR.cc/2026/Conference/Submission8/-/Official_Review"},
    {"content.venueid": "ICLR.cc/2026/Conference/Rejected_Submission"},
    {"content.keywords": "vision"},
    {"invitation": SUBMISSION, "number": 12},
    {"signature": "ICLR.cc/2026/Conference/Program_Chairs"},
    {"signatures": ["ICLR.cc/2026/Conference/Submission3/Authors"]},
    {"mintcdate": 1768600000000},
    {"invitation": SUBMISSION, "sort": "number:desc", "limit": 9, "offset": 3},
    {"invitation": SUBMISSION, "select": "id,content.venueid"},
]


def expected(query: dict[str, Any], notes: list[Note]) -> set[str]:
    """The ids of notes that match a query, the plain way."""

    def value(note: Note, name: str) -> Any:
        return note["content"].get(name, {}).get("value", "")

    tests = {
        "invitation": lambda note, wanted: wanted in note["invitations"],
        "content.venueid": lambda note, wanted: value(note, "venueid") == wanted,
        "content.keywords": lambda note, wanted: wanted in value(note, "keywords"),
        "number": lambda note, wanted: note["number"] == wanted,
        "signature": lambda note, wanted: note["signatures"] == [wanted],
        "signatures": lambda note, wanted: note["signatures"] == wanted,
        "mintcdate": lambda note, wanted: note["tcdate"] >= wanted,
    }
    asked = {name: wanted for name, wanted in query.items() if name in tests}
    return {note["id"] for note in notes if all(tests[name](note, wanted) for name, wanted in asked.items())}


@pytest.mark.parametrize("query", QUERIES, ids=str)
def test_kept_and_made_notes_answer_alike(both: StandIn, query: dict[str, Any]) -> None:
    with StandIn(years=[VenueYear(2026, 60)]) as made:
        answers = [get(f"{server.url2}/notes", **query).json()["notes"] for server in (both, made)]
    assert answers[0] == answers[1] != []
    found = {note["id"] for note in answers[0]}
    whole = expected(query, flat(2026, 60))
    assert found == whole if "limit" not in query else found < whole


def test_forum_holds_the_submission_and_latest_changes_come_first(both: StandIn) -> None:
    forum = next(generate(2020, 1))
    notes = client1(both).get_notes(forum=forum["id"])
    assert {note.id for note in notes} == {forum["id"], *(reply["id"] for reply in forum["details"]["replies"])}
    assert [note.tmdate for note in notes] == sorted((note.tmdate for note in notes), reverse=True)
    direct = {note.id for note in notes if note.replyto == forum["id"]}
    assert {note.id for note in client1(both).get_notes(replyto=forum["id"])} == direct != set()


def test_paging_in_another_order(both: StandIn) -> None:
    down = get(f"{both.url2}/notes", invitation=SUBMISSION, sort="number:desc", limit=10).json()["notes"]
    rest = get(f"{both.url2}/notes", invitation=SUBMISSION, sort="number:desc", after=down[-1]["id"]).json()["notes"]
    assert [note["number"] for note in down + rest] == list(range(60, 0, -1))


def test_paging_goes_on_after_a_note_that_is_not_listed(both: StandIn) -> None:
    ids = sorted(note["id"] for note in generate(2026, 60))
    page = get(f"{both.url2}/notes", invitation=SUBMISSION, sort="id", after=ids[9][:-1] + "~").json()["notes"]
    assert [note["id"] for note in page] == ids[10:]
    assert get(f"{both.url2}/notes", invitation=SUBMISSION, sort="number", after="unknown").status_code == 404


def test_fields_can_be_selected(both: StandIn) -> None:
    notes = listing(both, 1, select="id,content.title")
    assert all(note.content.keys() == {"title"} and note.invitation is None for note in notes)


def test_deleted_notes_are_in_the_trash() -> None:
    kept, deleted = generate(2026, 2)
    with StandIn(notes2=[kept, deleted | {"ddate": 1}]) as server:
        client = client2(server)
        assert [note.id for note in client.get_notes(invitation=SUBMISSION)] == [kept["id"]]
        assert len(client.get_notes(invitation=SUBMISSION, trash=True)) == 2


def test_newest_version_of_a_note_counts() -> None:
    note = next(generate(2026, 1))
    older = note | {"tmdate": note["tmdate"] - 1, "number": 99}
    with StandIn(notes2=[older, note, older]) as server:
        assert [found.number for found in client2(server).get_all_notes(id=note["id"])] == [1]


# ---------------------------------------------------------------- refusals


def test_wrong_host(both: StandIn) -> None:
    assert client1(both).get_all_notes(invitation=SUBMISSION) == []
    assert client2(both).get_all_notes(invitation=BLIND) == []
    with pytest.raises(openreview.OpenReviewException) as caught:
        client2(both).get_note(next(generate(2020, 1))["id"])
    assert caught.value.args[0]["name"] == "NotFoundError"
    assert caught.value.args[0]["status"] == 404


@pytest.mark.parametrize(
    ("query", "path"),
    [({"limit": 1001}, "limit"), ({"limit": "many"}, "limit"), ({"sort": "beauty"}, "sort"), ({"page": 2}, "page")],
)
def test_what_cannot_be_asked(both: StandIn, query: dict[str, Any], path: str) -> None:
    for url in (both.url1, both.url2):
        answer = get(f"{url}/notes", **query)
        assert (answer.status_code, answer.json()["name"]) == (400, "ValidationError")
        assert answer.json()["details"]["path"] == path


def test_invitations_are_prefixes_in_api_1(both: StandIn) -> None:
    with pytest.raises(openreview.OpenReviewException, match="invitation must be a prefix regex"):
        client1(both).get_notes(invitation="ICLR.cc/2020/Conference/Paper.*/-/Official_Review")
    replies = [note for note in flat(2020, 60) if "/Paper7/" in note["invitation"]]
    assert len(client1(both).get_all_notes(invitation="ICLR.cc/2020/Conference/Paper7/.*")) == len(replies) > 0


def test_unknown_paths(both: StandIn) -> None:
    paths = ((both.url1, "notes/edits"), (both.url2, "references"), (both.url2, "tags"), (both.url2, "groups"))
    for url, path in paths:
        answer = get(f"{url}/{path}", id="ICLR.cc/1999")
        assert (answer.status_code, answer.json()["name"]) == (404, "NotFoundError")


# ---------------------------------------------------------------- beside the notes


def test_groups_tell_the_version_of_a_venue(both: StandIn) -> None:
    old, new = (client2(both).get_group(f"ICLR.cc/{year}/Conference") for year in (2020, 2026))
    assert (old.domain, old.content) == (None, None)
    assert new.domain == new.id == "ICLR.cc/2026/Conference"
    assert new.content["withdrawn_venue_id"]["value"] == "ICLR.cc/2026/Conference/Withdrawn_Submission"
    assert requests.get(f"{both.url2}/groups", params={"id": new.id}, timeout=5).ok  # also for guests


def test_history_of_a_review(both: StandIn) -> None:
    for year, api in ((2020, 1), (2026, 2)):
        review = next(note for note in flat(year, 60) if note["replyto"] and note["tmdate"] > note["tcdate"])
        steps = (
            client1(both).get_references(referent=review["id"], original=True)
            if api == 1
            else client2(both).get_note_edits(review["id"], sort="tcdate")
        )
        assert len(steps) == 2
    edits, count = client2(both).get_note_edits(review["id"], with_count=True)
    assert count == 2
    assert edits[0].note.content == review["content"]


# ---------------------------------------------------------------- limits


def test_budget_is_in_the_headers_and_comes_to_an_end() -> None:
    with StandIn(notes2=generate(2026, 3), budget=Budget(2, seconds=0.6, retry_after=True)) as server:
        answers = [get(f"{server.url2}/notes", invitation=SUBMISSION) for _ in range(3)]
        assert [answer.headers["ratelimit-remaining"] for answer in answers] == ["1", "0", "0"]
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        assert answers[0].headers["ratelimit-policy"] == "2;w=0.6"
        assert abs(int(answers[0].headers["x-ratelimit-reset"]) - time.time()) < 2
        assert answers[2].json()["details"].keys() >= {"limit", "remaining", "resetTime", "used", "reqId"}
        assert "ratelimit-limit" not in get(f"{server.url1}/notes", invitation=BLIND).headers
        assert len(listing(server, 2)) == 3  # the client waits for Retry-After and finds a new window
        assert server.count("/notes", api=2) == 6


# ---------------------------------------------------------------- faults

OR, JSON = openreview.OpenReviewException, requests.JSONDecodeError
LOST = requests.ConnectionError
ENDLESS = [  # kind, requests and error of each client; the second loses the reason, or stumbles over an empty body
    ("401", (1, OR), (1, OR)),
    ("403", (1, OR), (1, OR)),
    ("429", (9, OR), (9, JSON)),
    ("500", (9, OR), (9, JSON)),
    ("502", (9, JSON), (1, ValueError)),
    ("503", (9, OR), (9, OR)),
    ("html", (1, JSON), (1, JSON)),
    ("truncated", (1, JSON), (1, JSON)),
    ("cut", (1, requests.exceptions.ChunkedEncodingError), (1, requests.exceptions.ChunkedEncodingError)),
    ("reset", (9, LOST), (9, LOST)),
    ("refused", (1, LOST), (1, LOST)),
]


@pytest.mark.parametrize(("kind", "first", "second"), ENDLESS)
def test_faults_for_ever(hurry: None, kind: str, first: tuple[int, type], second: tuple[int, type]) -> None:
    for api, (asked, trouble) in ((1, first), (2, second)):
        with StandIn(generate(2020, 3), generate(2026, 3), faults=[Fault(kind, times=math.inf)]) as server:
            with pytest.raises(trouble):
                listing(server, api)
            assert server.count("/notes") == asked


@pytest.mark.parametrize("api", [1, 2])
@pytest.mark.parametrize("kind", ["429", "500", "503", "reset"])
def test_one_fault_is_ridden_out(kind: str, api: int) -> None:
    with StandIn(generate(2020, 3), generate(2026, 3), faults=[Fault(kind, after=1)]) as server:
        assert len(listing(server, api)) == 3
        assert server.count("/notes") == 3  # two pages, one of them twice


def test_retry_after_is_kept_to() -> None:
    with StandIn(notes2=generate(2026, 3), faults=[Fault("429", retry_after=1)]) as server:
        listing(server, 2)
        first, again, *_ = (request.time for request in server.requests if request.path == "/notes")
        assert again - first >= 1


def test_429_says_when_it_is_over() -> None:
    with StandIn(faults=[Fault("429", reset=90)]) as server:
        answer = get(f"{server.url2}/notes")
        assert "Retry-After" not in answer.headers
        assert (answer.headers["ratelimit-remaining"], answer.headers["ratelimit-reset"]) == ("0", "90")
        assert "1 minutes and 30 seconds" in answer.json()["message"]
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", answer.json()["details"]["resetTime"])


def test_a_stalled_answer_comes_in_the_end() -> None:
    with StandIn(faults=[Fault("stall", seconds=0.4)]) as server:
        with pytest.raises(requests.ReadTimeout):
            requests.get(f"{server.url2}/notes", headers=LOGGED_IN, timeout=0.1)
        server.faults = [Fault("stall", seconds=0.2)]
        assert get(f"{server.url2}/notes").json() == {"notes": []}


@pytest.mark.parametrize("api", [1, 2])
def test_pages_that_overlap_or_miss_a_note(api: int) -> None:
    years = [VenueYear(2020, 1300), VenueYear(2026, 1100)]
    for kind, difference in (("repeat", 1), ("vanish", -1)):
        with StandIn(years=years, faults=[Fault(kind, after=1)]) as server:
            ids = [note.id for note in listing(server, api)]
            whole = len(listing(server, api))
        assert len(ids) == whole + difference
        assert len(set(ids)) == whole + min(difference, 0)


def test_faults_combine_in_order_of_the_script() -> None:
    faults = [Fault("403", after=1), Fault("500", after=1, times=2), Fault("503", api=1), Fault("401", path="/groups")]
    with StandIn(faults=faults) as server:
        assert [get(f"{server.url2}/notes").status_code for _ in range(4)] == [200, 403, 500, 200]
        assert [get(f"{server.url1}/notes").status_code for _ in range(2)] == [503, 200]
        assert get(f"{server.url2}/groups").status_code == 401


def test_unknown_fault_names_the_others() -> None:
    with pytest.raises(ValueError, match="No fault '418'; there are 401, 403"):
        Fault("418")


def test_a_port_that_was_closed_can_be_taken_over(hurry: None) -> None:
    with StandIn(notes2=generate(2026, 3), faults=[Fault("refused")]) as server:
        client = client2(server)
        with pytest.raises(requests.ConnectionError):
            client.get_notes(invitation=SUBMISSION)
        with StandIn(notes2=generate(2026, 3), port2=int(server.url2.rsplit(":")[-1])):
            assert len(client.get_notes(invitation=SUBMISSION)) == 3


# ---------------------------------------------------------------- beginning and end


def test_nothing_is_left_open() -> None:
    before = threading.active_count()
    with StandIn() as server, requests.Session() as session:
        session.get(f"{server.url2}/notes", timeout=5)  # stays connected
        address = ("127.0.0.1", int(server.url2.rsplit(":")[-1]))
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, timeout=5)
    time.sleep(0.1)
    assert threading.active_count() == before


def test_it_stops_after_so_many_requests_or_seconds() -> None:
    with StandIn(max_requests=2) as server:
        assert [get(f"{server.url2}/groups").status_code for _ in range(2)] == [404, 404]
        assert server.stopped.wait(2)
    with StandIn(max_seconds=0.1) as server:
        assert server.stopped.wait(2)


def test_by_hand(tmp_path: Path) -> None:
    saved = tmp_path / "notes.json"
    saved.write_bytes(orjson.dumps(list(generate(2019, 5))))
    command = [sys.executable, str(SCRIPT), str(saved), "--years", "2026", "--papers", "4", "--max-requests", "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        exported = dict(re.fullmatch(r"export (\w+)=(.+)\n", process.stdout.readline()).groups() for _ in range(5))
        url1, url2 = exported["OPENREVIEW_API_BASEURL"], exported["OPENREVIEW_API_BASEURL_V2"]
        assert len(get(f"{url2}/notes", invitation=SUBMISSION).json()["notes"]) == 4
        assert get(f"{url1}/notes", id=next(generate(2019, 1))["id"]).json()["count"] == 1
        assert process.wait(10) == 0
        assert process.stderr.read().count('"GET /notes') == 2


@pytest.mark.parametrize("arguments", [["--years", "1999"], ["no-such-file.json"]])
def test_by_hand_trouble_is_one_sentence(arguments: list[str]) -> None:
    done = subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, timeout=30)
    assert done.returncode == 1
    assert done.stderr.startswith("The stand-in cannot start: ")
    assert done.stderr.count("\n") == 1


# ---------------------------------------------------------------- notes


def reply_of(note: Note, layout: Any, name: str) -> list[Note]:
    invitation = layout.invitation(name, note["number"])
    replies = note["details"]["replies"]
    return [reply for reply in replies if invitation in reply.get("invitations", [reply.get("invitation")])]


@pytest.mark.parametrize(
    ("year", "invitation", "rating"),
    [
        (2017, "ICLR.cc/2017/conference/-/paper1/official/review", "rating"),
        (2018, "ICLR.cc/2018/Conference/-/Paper1/Official_Review", "rating"),
        (2020, "ICLR.cc/2020/Conference/Paper1/-/Official_Review", "rating"),
        (2023, "ICLR.cc/2023/Conference/Paper1/-/Official_Review", "recommendation"),
        (2024, "ICLR.cc/2024/Conference/Submission1/-/Official_Review", "rating"),
        (2026, "ICLR.cc/2026/Conference/Submission1/-/Official_Review", "rating"),
    ],
)
def test_forms_of_the_year(year: int, invitation: str, rating: str) -> None:
    layout = LAYOUTS[year]
    assert layout.invitation("Official_Review", 1) == invitation
    reviews = [review for note in generate(year, 60) for review in reply_of(note, layout, "Official_Review")]
    answers = [review["content"][rating] for review in reviews]
    values = [answer["value"] if year >= 2024 else answer for answer in answers]
    assert {type(value) for value in values} == {int if year >= 2025 else str}
    assert set(values) <= set(layout.ratings)


@pytest.mark.parametrize("year", LAYOUTS)
def test_decided_papers_have_one_decision_and_others_none(year: int) -> None:
    layout, conference = LAYOUTS[year], VenueYear(year, 80)
    for index, note in enumerate(conference):
        name = "Decision"
        decisions = [reply["content"] for reply in reply_of(note, layout, name)]
        said = conference.paper(index).decision
        field = "recommendation" if year == 2019 else "decision"
        assert decisions == [] if not said else [content[field] for content in decisions] in ([said], [{"value": said}])


def test_stages_are_snapshots_of_one_conference() -> None:
    def ratings(stage: str) -> dict[str, str]:
        notes = flatten(list(generate(2020, 400, stage=stage)))
        return {note["id"]: note["content"]["rating"] for note in notes if "rating" in note["content"]}

    release, final = ratings("release"), ratings("final")
    common = release.keys() & final.keys()
    assert 0.05 < sum(release[review] != final[review] for review in common) / len(common) < 0.2
    assert release.keys() - common
    assert final.keys() - common
    assert not any("decision" in note["content"] for note in flatten(list(generate(2020, 50, stage="release"))))


def test_comments_are_the_same_in_all_stages() -> None:
    discussed, final = (
        {note["id"]: note for note in flatten(list(generate(2026, 50, stage=stage))) if "comment" in note["content"]}
        for stage in ("discussed", "final")
    )
    decided = {name for name, note in final.items() if note["invitations"][0].endswith("/-/Decision")}
    assert discussed == {name: note for name, note in final.items() if name not in decided} != {}


def test_sizes_and_order() -> None:
    conference = VenueYear(2026, 30, sizes="real")
    ids = [note["id"] for note in conference]
    assert ids == sorted(ids)
    for index, thread in enumerate(conference):
        assert {conference.index_of(note["id"]) for note in flatten(thread)} == {index}
    assert conference.index_of("g1SzIRLQXMM") is None
    paper = next(note for note in conference if reply_of(note, conference.layout, "Official_Review"))
    texts = reply_of(paper, conference.layout, "Official_Review")[0]["content"]
    assert 3400 < sum(len(texts[name]["value"]) for name in conference.layout.texts) <= 3500
    assert len(reply_of(paper, conference.layout, "Official_Comment")) == 10


def test_some_notes_are_not_for_everyone() -> None:
    readers = [reply["readers"] for note in generate(2025, 40) for reply in note["details"]["replies"]]
    assert ["everyone"] in readers
    assert ["ICLR.cc/2025/Conference/Program_Chairs"] in readers


def lines(values: list[Any]) -> bytes:
    return b"\n".join(orjson.dumps(value) for value in values)


def beside(note: Note) -> Note:
    return note | {"replies": note["details"]["replies"], "details": {"tags": []}}


SHAPES: dict[str, Callable[[list[Note]], bytes]] = {
    "list.json": orjson.dumps,
    "answer.json": lambda notes: orjson.dumps({"notes": notes, "count": len(notes), "fromCache": True}),
    "lines.jsonl": lines,
    "lines.jsonl.gz": lambda notes: gzip.compress(lines(notes)),
    "forums.jsonl": lambda notes: lines([{"forum": note["id"], "notes": list(flatten(note))} for note in notes]),
    "beside.json": lambda notes: orjson.dumps([beside(note) for note in notes]),
}


@pytest.mark.parametrize("name", SHAPES)
def test_files_in_the_shapes_of_the_api(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(SHAPES[name]([*generate(2020, 3), *generate(2026, 3)]))
    assert read_notes(path) == (flat(2020, 3), flat(2026, 3))


def test_other_files_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    path.write_text('[{"title": "no note"}]')
    with pytest.raises(ValueError, match=r"table\.json: not a note of OpenReview"):
        read_notes(path)
