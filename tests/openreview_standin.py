"""A stand-in for both OpenReview APIs on this machine: to test against, and to try the suite without an account.

    python tests/openreview_standin.py --years 2020,2026 --papers 200
    python tests/openreview_standin.py notes.jsonl.gz --max-requests 50

It prints the environment variables to export, and stops by itself after so many requests or seconds. In a test:

    with StandIn(notes2=generate(2026, 50), faults=[Fault("429", after=1, retry_after=1)]) as server:
        client = openreview.api.OpenReviewClient(server.url2, USERNAME, PASSWORD)
        client.get_all_notes(invitation="ICLR.cc/2026/Conference/-/Submission", details="replies")
    assert server.count("/notes") == 3

Each API version has its own port and its own notes, so that asking the wrong host shows: a listing is empty, an id is
not found. Answers, paging, counts, errors and rate headers are those that openreview-py 2.9 meets (it is used
unchanged), with these additions of ours: a query parameter that is not known here is refused, and `details` other
than replies, directReplies and their counts are left out. Everybody who is logged in may read restricted notes, as an
account with a role may. A token that was not given out here counts as expired.

The client of API 1 logs in at API 2. For a base URL that is not OpenReview's own it takes the address of API 2 from
OPENREVIEW_API_V2_URL, read once when openreview is imported, else http://localhost:3001; where nothing listens there,
it logs in at its own base URL, which works here too. So export OPENREVIEW_API_V2_URL before Python starts
(`environment` holds it), or set openreview.tools.LOCAL_API_V2 where openreview is already imported, or log in with
one client and give its token to the other, which is the usual way. With a second factor the fallback does not work.
"""

from __future__ import annotations

import argparse
import base64
import math
import re
import shlex
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

import orjson
from openreview_notes import Note, VenueYear, edits_of, flatten, generate, group_of, read_notes, references_of

__all__ = ["PASSWORD", "TOKEN", "USERNAME", "Budget", "Fault", "StandIn", "VenueYear", "generate", "read_notes"]

Api = Literal[1, 2]
Query = dict[str, list[str]]  # as parse_qs gives it

USERNAME, PASSWORD = "reader@example.org", "not-a-secret"
USER = {"id": USERNAME, "profile": {"id": "~Stand_In1"}}
PAGE = 1000  # notes in a page, at most and by default
SECONDS, REQUESTS = 3600, 100_000  # caps, for a server that nobody stops


def _token(payload: dict[str, Any]) -> str:
    """A token in the form of OpenReview's: the client reads the user from it and then asks for /profiles."""
    parts = [{"alg": "HS256", "typ": "JWT"}, payload]
    encoded = [base64.urlsafe_b64encode(orjson.dumps(part)).rstrip(b"=").decode() for part in parts]
    return ".".join([*encoded, base64.urlsafe_b64encode(b"unsigned").decode()])


TOKEN = _token({"user": USER})

# ---------------------------------------------------------------- requests and answers


@dataclass(frozen=True)
class Request:
    """One request as it arrived."""

    api: Api
    method: str
    path: str
    query: Query = field(default_factory=dict)
    authorization: str = ""
    body: bytes = b""
    time: float = field(default_factory=time.monotonic)

    @property
    def authorized(self) -> bool:
        return bool(self.authorization)

    def first(self, name: str, default: str = "") -> str:
        return self.query.get(name, [default])[0]

    def said(self) -> dict[str, Any]:
        return orjson.loads(self.body or b"{}")


@dataclass
class Answer:
    status: int = 200
    body: bytes = b""
    kind: str = "application/json; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict)


class Refusal(Exception):
    """Raised where a question cannot be answered; carries the answer to give instead."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer


def told(value: Any) -> Answer:
    return Answer(body=orjson.dumps(value))


def error(status: int, name: str, message: str, **details: Any) -> Answer:
    """An error in OpenReview's envelope, which ends its messages with a number to quote."""
    number = f"{datetime.now(UTC):%Y-%m-%d}-{time.monotonic_ns() % 10**7}"
    envelope = {"name": name, "message": f"{message} ({number})", "status": status}
    return Answer(status, orjson.dumps(envelope | {"details": details | {"reqId": number}}))


def not_found(kind: str, value: str) -> Answer:
    return error(404, "NotFoundError", f"The {kind} {value} was not found", path="id", value=value)


def invalid(path: str, message: str, **details: Any) -> Answer:
    return error(400, "ValidationError", message, path=path, **details)


def too_many(limit: int, reset: float, retry_after: float | None) -> Answer:
    message = (
        f"Too many requests: You have made {limit + 1} requests, surpassing the limit of {limit} requests. "
        f"Please try again in {int(reset // 60)} minutes and {math.ceil(reset % 60)} seconds"
    )
    at = datetime.now(UTC) + timedelta(seconds=reset)
    answer = error(
        429,
        "RateLimitError",
        message,
        limit=limit,
        remaining=0,
        used=limit + 1,
        current=limit + 1,
        resetTime=at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    )
    answer.headers = {} if retry_after is None else {"Retry-After": str(math.ceil(retry_after))}
    return answer


def challenge(status: int) -> Answer:
    """What a guest is shown: the error, or the page that would test the browser."""
    if status == 200:
        return page(200, "Verifying your browser | OpenReview")
    envelope = {"name": "ChallengeRequiredError", "message": "Challenge verification required"}
    details = {"challengeUrl": "https://openreview.net/challenge?redirect=%2F"}
    return Answer(403, orjson.dumps(envelope | {"details": details}))


def page(status: int, title: str) -> Answer:
    html = f"<!DOCTYPE html><html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>"
    return Answer(status, html.encode(), "text/html; charset=utf-8")


# ---------------------------------------------------------------- what can go wrong


@dataclass
class Fault:
    """Something that goes wrong with the next `times` requests to a path, once there were `after` of them.

    All requests to the path are counted, whatever became of them, and the first fault of a script whose turn it is
    decides. Kinds besides the status codes: `html` is a page where JSON is expected; `truncated` is half of the JSON in
    an intact answer, `cut` a connection lost half-way; `stall` keeps silent for `seconds` and then answers; `reset`
    breaks the connection off, and `refused` also closes the port for good; `trickle` sends an answer in twenty pieces,
    `seconds` apart, and `trickle head` its head a byte at a time for ever; `repeat` starts a page with the last note of
    the one before, `vanish` leaves out the note that was to come first; `uncounted` leaves out the count, and `stuck`
    gives the first page whatever was asked for.
    """

    kind: str
    after: int = 0
    times: float = 1  # math.inf is for ever
    path: str = "/notes"
    api: Api | None = None  # both
    retry_after: float | None = None  # the header of a 429, left out by default
    reset: float = 60  # seconds to the resetTime of a 429 without that header
    seconds: float = 1  # of a stall
    seen: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        kinds = (*ERRORS, *SHIFTS, *FORGOTTEN, *DELIVERIES)
        if self.kind not in kinds:
            raise ValueError(f"No fault {self.kind!r}; there are {', '.join(kinds)}.")

    @property
    def wait(self) -> float:
        """Seconds until a 429 says that it is over."""
        return self.reset if self.retry_after is None else self.retry_after

    def strikes(self, request: Request) -> bool:
        """Count a request, and say whether it fails."""
        if request.path != self.path or self.api not in (None, request.api):
            return False
        self.seen += 1
        return self.after < self.seen <= self.after + self.times


ERRORS: dict[str, Callable[[Fault], Answer]] = {
    "401": lambda _: error(401, "TokenExpiredError", "Token has expired, please log in again"),
    "403": lambda _: error(403, "ForbiddenError", "You don't have permission to read the Note"),
    "429": lambda fault: too_many(500, fault.wait, fault.retry_after),
    "500": lambda _: error(500, "Error", "Internal server error"),
    "502": lambda _: Answer(502),  # its type says JSON and its body is empty
    "503": lambda _: page(503, "503 Service Temporarily Unavailable"),
    "html": lambda _: challenge(200),
}
SHIFTS = {"repeat": -1, "vanish": 1}
FORGOTTEN = {"uncounted": "count", "stuck": "after"}  # parameters that are not heeded
DELIVERIES = ("truncated", "cut", "stall", "trickle", "trickle head", "reset", "refused")


class Budget:
    """So many requests in a window of time, which opens with the first of them."""

    def __init__(self, limit: int = 500, seconds: float = 3600, retry_after: bool = False) -> None:
        self.limit, self.seconds, self.retry_after = limit, seconds, retry_after
        self.used, self.opened = 0, -math.inf
        self._lock = threading.Lock()

    def spend(self) -> Answer | None:
        """Count a request; the answer to give when there is nothing left."""
        with self._lock:
            if time.monotonic() - self.opened >= self.seconds:
                self.used, self.opened = 0, time.monotonic()
            self.used += 1
            if self.used <= self.limit:
                return None
            return too_many(self.limit, self.reset, self.reset if self.retry_after else None)

    @property
    def reset(self) -> float:
        return max(0.0, self.opened + self.seconds - time.monotonic())

    def headers(self, fault: Fault | None) -> dict[str, str]:
        """The rate headers, true to the fault when that says 429."""
        spent = fault is not None and fault.kind == "429"
        reset, remaining = (fault.wait, 0) if spent else (self.reset, max(0, self.limit - self.used))
        values = {"limit": self.limit, "remaining": remaining}
        return {
            "ratelimit-policy": f"{self.limit};w={self.seconds:g}",
            "ratelimit-reset": str(math.ceil(reset)),
            "x-ratelimit-reset": str(math.ceil(time.time() + reset)),
        } | {f"{prefix}ratelimit-{name}": str(value) for name, value in values.items() for prefix in ("", "x-")}


# ---------------------------------------------------------------- the notes of one API version


class Kept:
    """Notes in memory; of several versions of a note the newest counts."""

    def __init__(self, notes: Iterable[Note]) -> None:
        self.notes: dict[str, Note] = {}
        for note in flatten(list(notes)):
            older = self.notes.get(note["id"])
            if older is None or (note.get("tmdate") or 0) >= (older.get("tmdate") or 0):
                self.notes[note["id"]] = note
        self.forums: dict[str, list[Note]] = {}
        for note in self.notes.values():
            self.forums.setdefault(note.get("forum") or note["id"], []).append(note)
        self.venues = {
            re.sub(r"/(paper|Paper|Submission)\d+$", "", name.split("/-/")[0])
            for note in self.notes.values()
            for name in _invitations(note)
        }

    def note(self, note_id: str) -> Note | None:
        return self.notes.get(note_id)

    def thread(self, forum: str) -> list[Note]:
        return self.forums.get(forum, [])

    def candidates(self, query: Query) -> Iterable[Note]:
        if "id" in query:
            return [self.notes[note_id] for note_id in query["id"] if note_id in self.notes]
        return self.thread(query["forum"][0]) if "forum" in query else self.notes.values()


class Made:
    """Notes made up when they are asked for."""

    def __init__(self, made: VenueYear) -> None:
        self.made, self.venues = made, {made.layout.venue}
        self.listings = {made.layout.listing(outcome) for outcome in ("accepted", "withdrawn", "desk_rejected")}

    def note(self, note_id: str) -> Note | None:
        index = self.made.index_of(note_id)
        if index is None:
            return None
        submission = self.made.submission(index)
        if submission["id"] == note_id:
            return submission
        return next((reply for reply in self.made.replies(index) if reply["id"] == note_id), None)

    def thread(self, forum: str) -> list[Note]:
        index = self.made.index_of(forum)
        return [] if index is None else self._all(index)

    def candidates(self, query: Query) -> Iterable[Note]:
        """The notes that may match; all replies of all papers are made only for want of a paper or a listing."""
        for name in ("id", "forum", "replyto"):
            if name in query:
                return self.thread(query[name][0])
        invitation, papers = query.get("invitation", [""])[0], range(len(self.made))
        if invitation in self.listings or "content.venueid" in query:
            return (self.made.submission(index) for index in papers)
        if number := re.search(r"(?:paper|Paper|Submission)(\d+)/", invitation):
            papers = papers[int(number[1]) - 1 : int(number[1])]
        return (note for index in papers for note in self._all(index))

    def _all(self, index: int) -> list[Note]:
        return [self.made.submission(index), *self.made.replies(index)]


Shelf = Kept | Made


def _invitations(note: Note) -> list[str]:
    return note["invitations"] if "invitations" in note else [note["invitation"]]


def _invited(note: Note, wanted: list[str]) -> bool:
    """By one of its invitations; API 1 also takes a prefix that ends in `.*`."""
    if "invitation" in note and wanted[0].endswith(".*"):
        return note["invitation"].startswith(wanted[0][:-2])
    return wanted[0] in _invitations(note)


def _equal(name: str) -> Callable[[Note, list[str]], bool]:
    return lambda note, wanted: str(note.get(name)) == wanted[0]


FILTERS: dict[str, Callable[[Note, list[str]], bool]] = {
    "id": _equal("id"),
    "forum": _equal("forum"),
    "replyto": _equal("replyto"),
    "number": _equal("number"),
    "domain": _equal("domain"),
    "invitation": _invited,
    "signature": lambda note, wanted: wanted[0] in note["signatures"],
    "signatures": lambda note, wanted: set(wanted) <= set(note["signatures"]),
    "mintcdate": lambda note, wanted: (note.get("tcdate") or 0) >= int(wanted[0]),
}
SHAPING = {"limit", "offset", "after", "count", "details", "select", "sort", "trash"}
SORTS = ("id", "number", "cdate", "tcdate", "tmdate", "mdate", "ddate")


def _contains(note: Note, name: str, wanted: str) -> bool:
    """Whether a field of the content, wrapped or not, has this value, alone or in its list."""
    value = note["content"].get(name)
    value = value.get("value") if isinstance(value, dict) else value
    return wanted in value if isinstance(value, list) else str(value) == wanted


def _matches(note: Note, query: Query) -> bool:
    deleted = note.get("ddate") and note["ddate"] <= time.time() * 1000
    if deleted and query.get("trash") != ["true"]:
        return False
    return all(
        FILTERS[name](note, wanted) if name in FILTERS else _contains(note, name.removeprefix("content."), wanted[0])
        for name, wanted in query.items()
        if name not in SHAPING
    )


def _selected(note: Note, paths: list[str]) -> Note:
    """The note cut down to some paths, such as id and content.venueid."""
    cut: Note = {}
    for first, *rest in (path.split(".", 1) for path in paths):
        if first in note and rest:
            cut.setdefault(first, {}).update({rest[0]: note[first][rest[0]]} if rest[0] in note[first] else {})
        elif first in note:
            cut[first] = note[first]
    return cut


class Library:
    """The notes of one API version, and the questions that can be put to /notes."""

    def __init__(self, api: Api, shelves: list[Shelf]) -> None:
        self.api, self.shelves = api, shelves
        self.venues = set().union(*(shelf.venues for shelf in shelves))
        self._orders: dict[tuple[tuple[str, tuple[str, ...]], ...], list[tuple[Any, str]]] = {}

    def note(self, note_id: str) -> Note | None:
        return next((note for shelf in self.shelves if (note := shelf.note(note_id))), None)

    def page(self, request: Request, shift: int = 0) -> dict[str, Any]:
        """One page of a listing, its first note moved by a fault."""
        self._check(request)
        order = self._order(request)
        if not order and "id" in request.query:
            raise Refusal(not_found("Note", request.first("id")))
        start = max(0, self._start(request, order) + shift)
        notes = [self.note(note_id) for _, note_id in order[start : start + int(request.first("limit", str(PAGE)))]]
        answer: dict[str, Any] = {"notes": [self._dressed(note, request) for note in notes if note]}
        # API 2 counts when it is told to, or when an offset is given; API 1 always does.
        if self.api == 1 or request.first("count") == "true" or "offset" in request.query:
            answer["count"] = len(order)
        return answer

    def _check(self, request: Request) -> None:
        """Refuse what OpenReview refuses, and parameters that this stand-in does not know."""
        for name in request.query:
            if name not in FILTERS and name not in SHAPING and not name.startswith("content."):
                raise Refusal(invalid(name, f"property {name} is not known to the stand-in"))
        for name in ("limit", "offset", "mintcdate", "number"):
            if not request.first(name, "0").isdigit():
                raise Refusal(invalid(name, f"{name} must be an integer", invalidValue=request.first(name)))
        limit = int(request.first("limit", "0"))
        if limit > PAGE:
            raise Refusal(invalid("limit", f"limit must be <= {PAGE}", comparison="<=", limit=PAGE, invalidValue=limit))
        if self.api == 1 and ".*" in request.first("invitation")[:-2]:
            raise Refusal(invalid("invitation", "invitation must be a prefix regex"))
        if self._sort(request)[0] not in SORTS:
            raise Refusal(invalid("sort", f"sort must be one of {', '.join(SORTS)}"))

    def _sort(self, request: Request) -> tuple[str, bool]:
        """The field to sort by, and whether downwards."""
        # Without `sort` the latest change comes first, as in all 4,122 forums of API 1 that were looked at.
        name, _, direction = request.first("sort", "tmdate:desc").partition(":")
        return name, direction == "desc"

    def _order(self, request: Request) -> list[tuple[Any, str]]:
        """Sort keys and ids of all notes that match, worked out once a listing and not once a page."""
        name, down = self._sort(request)
        paging = SHAPING - {"trash", "sort"}
        listing = tuple(sorted((key, tuple(values)) for key, values in request.query.items() if key not in paging))
        if listing not in self._orders:
            candidates = (note for shelf in self.shelves for note in shelf.candidates(request.query))
            keys = ((note.get(name) or 0, note["id"]) for note in candidates if _matches(note, request.query))
            self._orders[listing] = sorted(keys, reverse=down)
        return self._orders[listing]

    def _start(self, request: Request, order: list[tuple[Any, str]]) -> int:
        """Where the page begins: strictly after a note in the order of the listing, whether or not that is listed."""
        after = request.first("after")
        if not after:
            return int(request.first("offset", "0"))
        name, down = self._sort(request)
        last = {"id": after} if name == "id" else self.note(after)
        if last is None:
            raise Refusal(not_found("Note", after))
        mark = (last.get(name) or 0, after)
        return sum(entry >= mark if down else entry <= mark for entry in order)

    def _dressed(self, note: Note, request: Request) -> Note:
        """The note with the details and cut to the fields that were asked for."""
        cut = _selected(note, request.first("select").split(",")) if "select" in request.query else note
        return cut | {"details": self._details(note, request)} if "details" in request.query else cut

    def _details(self, note: Note, request: Request) -> dict[str, Any]:
        forum = note.get("forum") or note["id"]
        thread = (other for shelf in self.shelves for other in shelf.thread(forum))
        replies = [other for other in thread if other["id"] != forum and _matches(other, {})]
        replies.sort(key=lambda reply: (reply.get("tcdate") or 0, reply["id"]))
        direct = [reply for reply in replies if reply.get("replyto") == note["id"]]
        details = {"directReplies": direct, "directReplyCount": len(direct)}
        if note["id"] == forum:  # only a submission has replies; anything may have direct ones
            details |= {"replies": replies, "replyCount": len(replies)}
        return {name: value for name, value in details.items() if name in request.first("details").split(",")}


# ---------------------------------------------------------------- the server


def _pieces(body: bytes, number: int) -> list[bytes]:
    size = max(1, -(-len(body) // number))
    return [body[start : start + size] for start in range(0, len(body), size)]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are two writes, and a delayed ACK between them costs 40 ms
    server: _Server

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = Request(
            self.server.api,
            self.command,
            url.path,
            parse_qs(url.query, keep_blank_values=True),
            self.headers.get("Authorization", ""),
            body,
        )
        standin = self.server.standin
        fault = standin.record(request)
        self._deliver(standin.answer(request, fault), fault)
        if len(standin.requests) >= standin.max_requests:
            threading.Thread(target=standin.close).start()  # not from here: closing waits for this thread

    do_POST = do_GET

    def _deliver(self, answer: Answer, fault: Fault | None) -> None:
        kind = fault.kind if fault else ""
        if kind in ("reset", "refused"):
            return self._hang_up(refuse=kind == "refused")
        if kind == "trickle head":
            return self._drip(fault.seconds)
        if kind == "stall":
            self.server.standin.stopped.wait(fault.seconds)
        body = answer.body[: len(answer.body) // 2] if kind in ("truncated", "cut") else answer.body
        self.send_response(answer.status)
        for name, value in {"Content-Type": answer.kind, **answer.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body) if kind == "cut" else len(body)))
        self.end_headers()
        for piece in _pieces(body, 20) if kind == "trickle" else [body]:
            self.wfile.write(piece)
            if kind == "trickle":
                self.server.standin.stopped.wait(fault.seconds)
        self.close_connection |= kind == "cut"

    def _drip(self, seconds: float) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        self.close_connection = True
        with suppress(OSError):  # the client has had enough
            while not self.server.standin.stopped.wait(seconds):
                self.wfile.write(b".")

    def _hang_up(self, refuse: bool) -> None:
        if refuse:
            self.server.stop(spare=self.connection)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # close with RST
        self.server.broken.add(self.connection)
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        if self.server.standin.verbose:
            print(f"API {self.server.api}: {format % args}", file=sys.stderr)


class _Server(ThreadingHTTPServer):
    """One port; it knows its connections, so that they can be closed."""

    request_queue_size = 128  # of 5, and a burst of clients would be refused

    def __init__(self, standin: StandIn, api: Api, port: int) -> None:
        self.standin, self.api = standin, api
        self.connections: set[socket.socket] = set()
        self.broken: set[socket.socket] = set()
        super().__init__(("127.0.0.1", port), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def server_bind(self) -> None:
        TCPServer.server_bind(self)  # HTTPServer would also look up the name of the host, which can take seconds

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        if request in self.broken:
            self.broken.discard(request)
            self.close_request(request)  # without the farewell that shutdown would send
        else:
            super().shutdown_request(request)
        self.connections.discard(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # a client that has gone is no error of ours

    def stop(self, spare: socket.socket | None = None) -> None:
        """Close the port and all connections but one, and wait for their threads."""
        self.shutdown()
        self.server_close()
        patience = time.monotonic() + 2
        while (rest := self.connections - {spare}) and time.monotonic() < patience:
            for connection in rest:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            time.sleep(0.01)


class StandIn:
    """Both APIs on two ports of this machine, while the `with` block lasts.

    `notes1` and `notes2` are notes of API 1 and 2, flat or with their replies in `details`; `years` are made up as they
    are asked for. `budget` is that of /notes on API 2. A `guest` is answered 403 or 200, the latter with a page. With
    `mfa_code` the account has a second factor. `requests` is the log, and `faults` may be changed at any time.
    """

    def __init__(
        self,
        notes1: Iterable[Note] = (),
        notes2: Iterable[Note] = (),
        years: Iterable[VenueYear] = (),
        *,
        faults: Iterable[Fault] = (),
        budget: Budget | None = None,
        guest: Literal[403, 200] = 403,
        mfa_code: str | None = None,
        port1: int = 0,
        port2: int = 0,
        max_requests: int = REQUESTS,
        max_seconds: float = SECONDS,
        verbose: bool = False,
    ) -> None:
        made = list(years)
        self.libraries: dict[Api, Library] = {
            api: Library(api, [Kept(notes), *(Made(year) for year in made if year.layout.api == api)])
            for api, notes in ((1, notes1), (2, notes2))
        }
        self.faults, self.requests = list(faults), list[Request]()
        self.budgets = {"/notes": budget or Budget(), "/groups": Budget(700)}
        self.histories: dict[str, list[Note]] = {}  # of single notes, in place of what is behind an unchanged one
        self.guest, self.mfa_code, self.verbose = guest, mfa_code, verbose
        self.ports: dict[Api, int] = {1: port1, 2: port2}
        self.max_requests, self.stopped = max_requests, threading.Event()
        self._timer, self._lock = threading.Timer(max_seconds, self.close), threading.Lock()
        self._servers: list[_Server] = []

    def __enter__(self) -> StandIn:
        try:
            for api, port in self.ports.items():
                self._servers.append(_Server(self, api, port))
        except OSError:  # the second port is taken: leave the first
            self.close()
            raise
        self.url1, self.url2 = (server.url for server in self._servers)
        self._timer.daemon = True
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close both ports; done by itself when a cap is reached."""
        self.stopped.set()
        self._timer.cancel()
        for server in self._servers:
            server.stop()

    @property
    def environment(self) -> dict[str, str]:
        """What to export for a client; the third is for the log-in of API 1's."""
        return {
            "OPENREVIEW_API_BASEURL": self.url1,
            "OPENREVIEW_API_BASEURL_V2": self.url2,
            "OPENREVIEW_API_V2_URL": self.url2,
            "OPENREVIEW_USERNAME": USERNAME,
            "OPENREVIEW_PASSWORD": PASSWORD,
        }

    def count(self, path: str, api: Api | None = None) -> int:
        """How many requests came for a path."""
        return sum(request.path == path and api in (None, request.api) for request in self.requests)

    def record(self, request: Request) -> Fault | None:
        """Log a request, and give the fault whose turn it is."""
        with self._lock:
            self.requests.append(request)
            struck = [fault for fault in self.faults if fault.strikes(request)]
        return struck[0] if struck else None

    def answer(self, request: Request, fault: Fault | None) -> Answer:
        budget = self.budgets.get(request.path) if request.api == 2 else None
        answer = budget.spend() if budget else None
        if answer is None:
            answer = ERRORS[fault.kind](fault) if fault and fault.kind in ERRORS else self._reply(request, fault)
        if budget:
            answer.headers |= budget.headers(fault)
        return answer

    def _reply(self, request: Request, fault: Fault | None) -> Answer:
        """What OpenReview would say."""
        try:
            match request.method, request.path:
                case "POST", "/login":
                    return self._login(request)
                case "POST", "/mfa/challenge":
                    return told({})
                case "POST", "/mfa/verify":
                    return self._verify(request)
                case "GET", "/profiles":
                    return self._profiles(request)
                case "GET", "/groups":
                    return self._groups(request)
                case "GET", "/notes":
                    kind = fault.kind if fault else ""
                    query = {name: value for name, value in request.query.items() if name != FORGOTTEN.get(kind)}
                    return told(self._library(request).page(replace(request, query=query), SHIFTS.get(kind, 0)))
                case "GET", "/notes/edits" if request.api == 2:
                    return self._history(request, "edits", "note.id", edits_of)
                case "GET", "/references" if request.api == 1:
                    return self._history(request, "references", "referent", references_of)
            return error(404, "NotFoundError", f"The path {request.path} was not found", path=request.path)
        except Refusal as refusal:
            return refusal.answer

    def _login(self, request: Request) -> Answer:
        said = request.said()
        if (said.get("id"), said.get("password")) != (USERNAME, PASSWORD):
            return error(400, "Error", "Invalid username or password")
        if self.mfa_code is None:
            return told({"token": TOKEN, "user": USER})
        methods = {"mfaMethods": ["totp", "emailOtp", "passkey"], "preferredMethod": "totp"}
        return told({"mfaPending": True, "mfaPendingToken": "pending"} | methods)

    def _verify(self, request: Request) -> Answer:
        right = request.said().get("code") == self.mfa_code
        return told({"token": TOKEN, "user": USER}) if right else error(400, "MfaError", "Invalid verification code")

    def _profiles(self, request: Request) -> Answer:
        profile = USER["profile"] | {"content": {}}
        return told({"profiles": [profile] if request.first("id") == profile["id"] else []})

    def _groups(self, request: Request) -> Answer:
        venue = request.first("id")
        home = next((api for api, library in self.libraries.items() if venue in library.venues), None)
        return told({"groups": [group_of(venue, home)], "count": 1}) if home else not_found("Group", venue)

    def _history(self, request: Request, name: str, by: str, history: Callable[[Note], list[Note]]) -> Answer:
        note = self._library(request).note(request.first(by))
        steps = self.histories.get(request.first(by)) or (history(note) if note else [])
        return told({name: steps[: int(request.first("limit", str(PAGE)))], "count": len(steps)})

    def _library(self, request: Request) -> Library:
        """The notes of this API, for somebody who is logged in."""
        if not request.authorization.strip():
            raise Refusal(challenge(self.guest))
        if request.authorization != f"Bearer {TOKEN}":
            raise Refusal(ERRORS["401"](Fault("401")))
        return self.libraries[request.api]


# ---------------------------------------------------------------- by hand


EXAMPLE = """example:
  python tests/openreview_standin.py --years 2020,2026 --papers 200
  then, in another terminal, paste the lines that it prints, and fetch those years from the API as with an account"""


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Both OpenReview APIs on this machine, with saved or made-up notes.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add, default = parser.add_argument, "(default %(default)s)"
    add("files", nargs="*", metavar="FILE", help="notes as JSON or JSON lines, also gzipped")
    add("--years", help="make up these years, such as 2020,2026 (the default when there are no files)")
    add("--papers", type=int, default=100, help=f"how many submissions a year {default}")
    add("--sizes", choices=("small", "real"), default="small", help=f"length of the texts {default}")
    add("--stage", choices=("release", "discussed", "final"), default="final", help=f"how far the year is {default}")
    add("--seed", type=int, default=0, help=f"another seed, another conference {default}")
    add("--port1", type=int, default=0, help="port of API 1 (default: a free one)")
    add("--port2", type=int, default=0, help="port of API 2 (default: a free one)")
    add("--seconds", type=float, default=SECONDS, help=f"stop after so long {default}")
    add("--max-requests", type=int, default=REQUESTS, help=f"stop after so many requests {default}")
    return parser.parse_args()


def _stand_in(options: argparse.Namespace) -> StandIn:
    years = options.years or ("" if options.files else "2020,2026")
    shape = (options.papers, options.seed, options.sizes, options.stage)
    read = [read_notes(file) for file in options.files]
    return StandIn(
        notes1=[note for notes, _ in read for note in notes],
        notes2=[note for _, notes in read for note in notes],
        years=[VenueYear(int(year), *shape) for year in years.split(",") if year],
        port1=options.port1,
        port2=options.port2,
        max_requests=options.max_requests,
        max_seconds=options.seconds,
        verbose=True,
    )


def main() -> None:
    try:
        with _stand_in(_arguments()) as server:
            for name, value in server.environment.items():
                print(f"export {name}={shlex.quote(value)}", flush=True)
            server.stopped.wait()
    except (OSError, ValueError) as trouble:
        sys.exit(f"The stand-in cannot start: {trouble}")
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
