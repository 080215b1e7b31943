"""The HTTP side of the api source: patient, bounded, and silent about secrets.

openreview-py 2.9.1 has no timeout, sleeps any `Retry-After` without a word, prints its retries to stdout, gives up on a
throttled log-in and turns some refusals into decoding errors. So its sessions get an adapter that retries nothing, and
what to do about a failed request is decided here, for all requests alike.
"""

from __future__ import annotations

import math
import random
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakSet

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from analysis.errors import Trouble, count
from analysis.sources import decoding

MAX_WAIT = 75  # minutes: OpenReview counts requests by the hour
CONNECT, READ = 10.0, 120.0  # seconds; the server takes its time over a page of 1,000 papers with all their replies
WHOLE = 600.0  # seconds for a whole answer, however it trickles in
TRIES, TRIES_UNHEARD, TRIES_FORBIDDEN = 6, 2, 3
LONGEST_BACKOFF = 60.0  # seconds
PIECE = 1 << 18  # bytes of an answer that are read at once; in the small pieces of requests it takes twice the time

RESUME = "run the same command again, and it goes on from the last page that arrived"
UNREACHED = "check the network, OPENREVIEW_API_BASEURL and OPENREVIEW_API_BASEURL_V2, then "
SAVED = "give answers saved while signed in with `--load FILE`"


class Adapter(HTTPAdapter):
    """Timeouts for every request, and no retries below our own; its connections can be broken off."""

    def __init__(self, timeout: tuple[float, float]) -> None:
        self.timeout = timeout
        self.connections: WeakSet[HTTPConnection] = WeakSet()
        super().__init__(max_retries=0)

    def init_poolmanager(self, *arguments, **options) -> None:
        super().init_poolmanager(*arguments, **options)
        pools = {"http": (HTTPConnectionPool, HTTPConnection), "https": (HTTPSConnectionPool, HTTPSConnection)}
        self.poolmanager.pool_classes_by_scheme = {
            scheme: type(pool.__name__, (pool,), {"ConnectionCls": self._noted(kind)})
            for scheme, (pool, kind) in pools.items()
        }

    def _noted(self, kind: type[HTTPConnection]) -> type[HTTPConnection]:
        """A kind of connection that is known here from when it is open."""
        connections = self.connections

        class Noted(kind):
            def connect(self) -> None:
                super().connect()
                connections.add(self)

        return Noted

    def send(self, request, stream=False, timeout=None, **options):
        return super().send(request, stream=stream, timeout=timeout or self.timeout, **options)

    def break_off(self) -> None:
        """End what is being read, from another thread."""
        for connection in list(self.connections):
            with suppress(OSError, AttributeError):  # closed meanwhile
                socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)


class Limit:
    """A time for a block, after which the connections of a session are broken off: read timeouts are for each piece."""

    def __init__(self, session: requests.Session, seconds: float) -> None:
        self.adapters = [one for one in session.adapters.values() if isinstance(one, Adapter)]
        self.over = False
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True

    def __enter__(self) -> Limit:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def _end(self) -> None:
        self.over = True
        for adapter in self.adapters:
            adapter.break_off()


class Refused(Trouble):
    """A refusal that asking again will not change, with its HTTP status."""

    def __init__(self, sentence: str, status: int, words: str) -> None:
        super().__init__(sentence)
        self.status, self.words = status, words


class Again(Exception):
    """A request failed in a way that may pass; `seconds` where the server said when, `first` what to do if it lasts."""

    def __init__(self, reason: str, tries: float = TRIES, seconds: float | None = None, first: str = "") -> None:
        super().__init__(reason)
        self.reason, self.tries, self.seconds, self.first = reason, tries, seconds, first


@dataclass(frozen=True)
class Budget:
    """What the rate headers of the last answer said."""

    limit: int
    remaining: int
    reset: float  # by our clock


class Transport:
    """Asks, and waits where that helps: up to `max_wait` minutes in all."""

    def __init__(
        self,
        say: Callable[[str], None],
        max_wait: float = MAX_WAIT,
        timeout: tuple[float, float] = (CONNECT, READ),
        whole: float = WHOLE,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.say, self.max_wait, self.timeout, self.whole, self.sleep, self.clock = (
            say,
            max_wait,
            timeout,
            whole,
            sleep,
            clock,
        )
        self.secrets: tuple[str, ...] = ()  # never repeated, should a server quote them
        self.budgets: dict[str, Budget] = {}
        self._waited = 0.0
        self._heard: set[str] = set()

    def mount(self, session: requests.Session) -> None:
        """Take the place of all adapters of a client: those of single paths would else win by their longer prefix."""
        for prefix in list(session.adapters):
            session.mount(prefix, Adapter(self.timeout))

    def ask(
        self,
        session: requests.Session,
        method: str,
        url: str,
        *keys: str,
        parsed: Callable[[bytes], object] = decoding.parsed,
        **request: Any,
    ) -> dict[str, Any]:
        """The JSON answer as `parsed` reads it, which has one of `keys`; Trouble when it cannot be had."""
        failures = 0
        while True:
            self._pace(url)
            try:
                response, body = self._once(session, method, url, request)
                return self._judged(response, body, keys, parsed)
            except Again as again:
                failed = again  # and out of here, so that no trace shows what is behind a Trouble
            failures += 1
            self._bear(failed, failures, url)

    def _bear(self, failed: Again, failures: int, url: str) -> None:
        """Wait before another try, or say that there is none."""
        reason = f"{_host(url)}: {failed.reason}"
        if failures >= failed.tries:
            raise Trouble(f"{reason}, {count(failures, 'time')} in a row; {failed.first}{RESUME}.")
        if failed.seconds:
            self.budgets.pop(url, None)  # a 429 that says when is believed over its rate headers
        # A server that says "in a second" again and again is not asked every second.
        self._wait(max(failed.seconds or 0, _backoff(failures)), reason)

    def _once(
        self, session: requests.Session, method: str, url: str, request: Mapping[str, Any]
    ) -> tuple[requests.Response, bytes]:
        limit = Limit(session, self.whole)
        try:
            with limit:
                response = session.request(method, url, stream=True, **request)
                body = bytearray()  # a list of pieces, to be joined, would take twice the memory
                for piece in response.iter_content(PIECE):
                    body += piece
        except (requests.exceptions.InvalidURL, requests.exceptions.InvalidSchema, requests.exceptions.MissingSchema):
            where = "OPENREVIEW_API_BASEURL and OPENREVIEW_API_BASEURL_V2"
            raise Trouble(f"{_host(url)} is no address to ask; see {where}, or unset both.") from None
        except requests.RequestException as error:
            heard = _host(url) in self._heard or limit.over
            reason = "no whole answer in time" if limit.over else _broken(error)
            raise Again(reason, TRIES if heard else TRIES_UNHEARD, first=UNREACHED) from None
        if limit.over:  # a head that breaks off looks like a short one
            raise Again("no whole answer in time")
        self._heard.add(_host(url))
        self._learn(url, response.headers)
        return response, body

    # What an answer means

    def _judged(
        self, response: requests.Response, body: bytes, keys: tuple[str, ...], parsed: Callable[[bytes], object]
    ) -> dict[str, Any]:
        status, host = response.status_code, _host(response.url)
        kind = response.headers.get("Content-Type", "")
        if status == 200 and kind and "json" not in kind:
            raise Trouble(
                f"{host} answers with a web page instead of data, as it does to test a browser: wait a while, "
                f"sign in at https://openreview.net once, and {RESUME}; or {SAVED}."
            )
        said = (parsed if status == 200 else decoding.parsed)(body)
        said = said if isinstance(said, dict) else {}
        if status == 200 and any(key in said for key in keys):
            return said
        if status == 429:
            raise Again("too many requests", math.inf, self._told_to_wait(response.headers, said))
        if status == 200 or status == 408 or status >= 500:
            raise Again("a broken answer" if status == 200 else f"error {status}")
        raise self._refusal(host, status, said)

    def _refusal(self, host: str, status: int, said: Mapping[str, Any]) -> Exception:
        name, words = str(said.get("name", "")), self._unsecret(str(said.get("message", "")).split(" (")[0])
        if name == "ChallengeRequiredError":
            return Trouble(
                f"{host} asks for a challenge that only a browser can pass (ChallengeRequiredError): check "
                f"OPENREVIEW_USERNAME and OPENREVIEW_PASSWORD or OPENREVIEW_TOKEN and {RESUME}; or {SAVED}."
            )
        if status == 403:  # single ones happen to readers who are signed in
            return Again(f"reading is forbidden ({words or 403})", TRIES_FORBIDDEN)
        return Refused(f"{host} refuses: {words or name or 'no reason given'} (HTTP {status}).", status, words)

    def _unsecret(self, text: str) -> str:
        for secret in self.secrets:
            text = text.replace(secret, "***")
        return text

    # Waiting

    def _learn(self, url: str, headers: Mapping[str, str]) -> None:
        values = [_number(headers.get(f"ratelimit-{name}")) for name in ("limit", "remaining", "reset")]
        if None not in values:
            limit, remaining, reset = values
            self.budgets[url] = Budget(int(limit), int(remaining), self.clock() + reset)

    def _pace(self, url: str) -> None:
        """Stop before the request that would be refused: a 429 counts against the reader."""
        budget = self.budgets.get(url)
        if budget and budget.remaining <= 0 and budget.reset > self.clock():
            reason = f"{_host(url)}: all {count(budget.limit, 'request')} of this window are used"
            self._wait(budget.reset - self.clock() + 1, reason)

    def _told_to_wait(self, headers: Mapping[str, str], said: Mapping[str, Any]) -> float | None:
        """Seconds until a 429 is over: by its header, else by the time in its body on the server's own clock."""
        after = headers.get("Retry-After")
        if (seconds := _number(after)) is not None:
            return max(1.0, seconds)
        now = _moment(headers.get("Date")) or self.clock()
        details = said.get("details")
        until = _moment(after) or _moment(details.get("resetTime") if isinstance(details, dict) else None)
        seconds = until - now if until else _number(headers.get("ratelimit-reset"))
        return None if seconds is None else max(1.0, seconds)

    def _wait(self, seconds: float, reason: str) -> None:
        until = f"{datetime.fromtimestamp(self.clock() + seconds):%H:%M:%S} ({_duration(seconds)})"
        if self._waited + seconds > 60 * self.max_wait:
            so_far = f" ({_duration(self._waited)} so far)" if self._waited else ""
            raise Trouble(
                f"{reason}; waiting until {until} would be longer than --max-wait {self.max_wait:g} minutes{so_far}: "
                f"after that time, or with a longer --max-wait, {RESUME}."
            )
        self._waited += seconds
        self.say(f"{reason}; waiting until {until}.")
        self.sleep(seconds)


def _host(url: str) -> str:
    return urlsplit(url).hostname or url


def _broken(error: requests.RequestException) -> str:
    """What happened to a connection, in words of ours: those of the libraries hold addresses and objects."""
    if isinstance(error, requests.exceptions.ConnectTimeout):
        return "no connection in time"
    if isinstance(error, requests.exceptions.Timeout) or "timed out" in str(error):
        return "no answer in time"
    if isinstance(error, requests.exceptions.SSLError):
        return "no secure connection"
    if "refused" in str(error):
        return "connection refused"
    if "resolve" in str(error) or "resolution" in str(error):
        return "no such host, or no network"
    return "the connection broke off"


def _backoff(failures: int) -> float:
    """1, 2, 4, ... seconds, a little less at random, so that many readers do not come back together."""
    return min(LONGEST_BACKOFF, 2.0 ** (failures - 1)) * random.uniform(0.75, 1)


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 <= number < math.inf else None


def _moment(text: str | None) -> float | None:
    """Seconds since 1970 of a date as headers or as JSON have it."""
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = read(text)
        except (TypeError, ValueError):
            continue
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return None


def _duration(seconds: float) -> str:
    """``4 seconds``, ``62 minutes``."""
    return count(round(seconds / 60), "minute") if seconds > 90 else count(math.ceil(seconds), "second")
