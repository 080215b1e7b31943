"""The api source: the submissions of a venue-year with all their replies, a page at a time, from OpenReview.

openreview-py does the talking: its client of API 1 for years up to 2023, that of API 2 from 2024. One log-in serves
both. A listing is asked for by the thousand, in the order of ids, each page from the last id of the one before: an
offset would miss and repeat notes while papers come and go.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any

from analysis.errors import Trouble, count
from analysis.sources.decoding import parsed
from analysis.sources.progress import PAGE, Progress, over_progress, plan
from analysis.sources.transport import MAX_WAIT, RESUME, SAVED, Refused, Transport
from analysis.venues import VenueYear

MOST_MISSING = 0.02  # of a listing, after a second look
QUICK = 60  # seconds, in which hardly a paper moves from one listing to another

Note = dict[str, Any]
Say = Callable[[str], None]
Parser = Callable[[bytes], object]

# by API: the name of its address in the environment, and the usual address
HOSTS = {
    1: ("OPENREVIEW_API_BASEURL", "https://api.openreview.net"),
    2: ("OPENREVIEW_API_BASEURL_V2", "https://api2.openreview.net"),
}


@dataclass(frozen=True)
class Cursor:
    """How far a fetch is: enough to go on from there in another process."""

    listing: str
    after: str = ""  # the last id that came
    seen: int = 0  # different notes of this listing so far
    count: int | None = None  # how many the server says there are
    again: bool = False  # on the second look at a listing
    ended: bool = False
    before: tuple[tuple[str, int], ...] = ()  # the listings before it, and how many notes each had

    @classmethod
    def read(cls, said: Mapping[str, Any]) -> Cursor:
        """A cursor from its JSON."""
        return cls(**{**said, "before": tuple((listing, seen) for listing, seen in said["before"])})


@dataclass(frozen=True)
class Page:
    """One answer: submissions, with their replies in `details`, as `Session.parsed` has them; where the next page begins."""

    notes: list[Note]
    cursor: Cursor


class Session:
    """Both clients, signed in once, for all years of a run.

    Credentials come from the environment, and stay in this object and in the clients.
    """

    def __init__(
        self,
        say: Say,
        max_wait: float = MAX_WAIT,
        environment: Mapping[str, str] = os.environ,
        **patience: Any,
    ) -> None:
        self.say = over_progress(say)
        self.transport = Transport(self.say, max_wait, **patience)
        self.urls = {api: (environment.get(name) or usual).rstrip("/") for api, (name, usual) in HOSTS.items()}
        self._username, self._password, self._token = (
            environment.get(f"OPENREVIEW_{name}", "") for name in ("USERNAME", "PASSWORD", "TOKEN")
        )
        self._token = self._token.removeprefix("Bearer ").strip()
        self._clients: dict[int, Any] = {}
        self._logged_in = False
        self._renewable = False  # logged in, and the token has been good since
        self.parsed: Parser = parsed  # a fetch has one of its own, that hands large answers on
        self._hide()

    def notes(self, api: int, **query: Any) -> dict[str, Any]:
        """The answer of /notes, as `parsed` has it."""
        return self._asked(api, "notes_url", "notes", query, self.parsed)

    def history(self, api: int, note_id: str) -> list[Note]:
        """What is kept of a note's past, as far as its reader may read it: full copies in API 1, edits in API 2."""
        if api == 1:
            return self._asked(1, "reference_url", "references", {"referent": note_id, "original": "true"})[
                "references"
            ]
        query = {"note.id": note_id, "sort": "tcdate", "trash": "true"}
        return self._asked(2, "note_edits_url", "edits", query)["edits"]

    def _asked(
        self, api: int, where: str, key: str, query: Mapping[str, Any], parsed: Parser = parsed
    ) -> dict[str, Any]:
        if not self._token:
            self._log_in()
        client = self._client(api)
        url, headers = getattr(client, where), client.headers | {"Authorization": f"Bearer {self._token}"}
        try:
            answer = self.transport.ask(client.session, "GET", url, key, parsed=parsed, params=query, headers=headers)
        except Refused as refused:
            if refused.status != 401:
                raise
        else:
            self._renewable = self._logged_in
            return answer
        self._renew()
        return self._asked(api, where, key, query, parsed)

    def left(self, api: int) -> int | None:
        """Requests left of the window, where the server tells."""
        budget = self.transport.budgets.get(f"{self.urls[api]}/notes")
        return budget.remaining if budget else None

    def _client(self, api: int) -> Any:
        """The client of an API, with our adapter, and without a request."""
        if api not in self._clients:
            # Here, since it takes a quarter of a second; most commands need no client.
            import openreview
            import openreview.api

            kind = openreview.Client if api == 1 else openreview.api.OpenReviewClient
            try:
                # Without a token it would log in by itself, before our adapter is there; with a real one it would ask
                # for the profile of its reader, twice a run.
                client = kind(baseurl=self.urls[api], token="none yet")
            except openreview.OpenReviewException:
                name, usual = HOSTS[api]
                raise Trouble(f"{name} is {self.urls[api]}, which is the other API; usual is {usual}.") from None
            self.transport.mount(client.session)
            self._clients[api] = client
        return self._clients[api]

    def _log_in(self) -> None:
        """One POST to API 2, whose token is good for both."""
        self._check_credentials()
        client, self._logged_in = self._client(2), True
        said = {"id": self._username, "password": self._password, "expiresIn": None}
        headers = {name: value for name, value in client.headers.items() if name != "Authorization"}
        try:
            # Not by client.login_user: with a second factor it prompts, wherever it finds a terminal.
            answer = self.transport.ask(
                client.session, "POST", client.login_url, "token", "mfaPending", json=said, headers=headers
            )
        except Refused as refused:
            raise Trouble(
                f"OpenReview refused the log-in ({refused.words or refused.status}): check OPENREVIEW_USERNAME and "
                "OPENREVIEW_PASSWORD by signing in at https://openreview.net/login."
            ) from None
        if "token" not in answer:
            raise Trouble(
                "This OpenReview account has a second factor, and a batch cannot ask for its code: set "
                "OPENREVIEW_TOKEN to a token from a log-in by hand, use an account without a second factor, "
                f"or {SAVED}."
            )
        self._token = str(answer["token"])
        self._hide()

    def _check_credentials(self) -> None:
        lacking = [name for name in ("USERNAME", "PASSWORD") if not getattr(self, f"_{name.lower()}")]
        if lacking:
            raise Trouble(
                f"OpenReview answers only readers who are signed in, and OPENREVIEW_{lacking[0]} is not set: set "
                "OPENREVIEW_USERNAME and OPENREVIEW_PASSWORD, or OPENREVIEW_TOKEN (an account is free: "
                f"https://openreview.net/signup), or {SAVED}."
            )

    def _renew(self) -> None:
        """Log in anew where a long wait has outlived the hour of a token; a new one that is refused is not replaced."""
        if self._renewable:
            self._token, self._renewable = "", False
        elif self._logged_in:
            raise Trouble(f"OpenReview does not accept the token of its own log-in; later, {RESUME}.")
        else:
            raise Trouble(
                "OPENREVIEW_TOKEN has expired or is not one of OpenReview's: set a new one, or unset it and set "
                f"OPENREVIEW_USERNAME and OPENREVIEW_PASSWORD; then {RESUME}."
            )

    def _hide(self) -> None:
        self.transport.secrets = tuple(filter(None, (self._token, self._password, self._username)))


# Pages --------------------------------------------------------------------------------------------------------------


def pages(
    form: VenueYear, session: Session, start: Cursor | None = None, known: Set[str] = frozenset()
) -> Iterator[Page]:
    """All pages of all listings of a venue-year, or those after the page whose cursor is `start`.

    The submissions that came before that are `known`, by their ids.
    """
    session.say(_going_on(form, start) if start else plan(form))
    progress = Progress(form, session.say)
    try:
        for page in _listings(form, session, start, known):
            at = page.cursor
            progress.show(page.notes, at.listing, at.seen, at.count, session.left(form.api))
            yield page
            del page  # or two of them are in memory during the next request
    finally:
        progress.clear()
    if start is None and not progress.submissions:
        raise Trouble(_nothing(form, session))
    session.say(f"{progress.done}: all there is.")


def _listings(form: VenueYear, session: Session, start: Cursor | None, known: Set[str]) -> Iterator[Page]:
    """All listings, in an order that papers follow: from the active ones to those withdrawn and desk-rejected.

    A paper that moves on comes twice, and its newest version counts. One that moves back (a withdrawal that was undone)
    could be missed: hence a listing that has more notes at the end than it gave is read once more. To ask for that
    takes a request a listing, and is left out where all came within a minute.
    """
    before, began = dict(start.before) if start else {}, time.monotonic()
    for cursor in _cursors(form, start):
        # On a second look all are known from the first.
        seen = known if cursor is start and not start.again else frozenset()
        yield from _listing(form, session, replace(cursor, before=tuple(before.items())), before, seen)
    quick = start is None and time.monotonic() - began < QUICK
    for listing in () if quick else form.listings[:-1]:
        more = _counted(form, session, listing) - before[listing]
        if more > 0:
            session.say(f"{count(more, 'note')} came to {listing} meanwhile; looking again.")
            yield from _walk(form, session, Cursor(listing, again=True, before=tuple(before.items())))


def _going_on(form: VenueYear, start: Cursor) -> str:
    return f"{form.venue} {form.year}: going on in {start.listing} after {count(start.seen, 'submission')}."


def _cursors(form: VenueYear, start: Cursor | None) -> list[Cursor]:
    listings = list(form.listings)
    if start is None:
        return [Cursor(listing) for listing in listings]
    if start.listing not in listings:
        raise Trouble(f"The pages at hand are of {start.listing}, which is no listing of {form.venue} {form.year}.")
    return [start, *(Cursor(listing) for listing in listings[listings.index(start.listing) + 1 :])]


def _listing(
    form: VenueYear, session: Session, cursor: Cursor, before: dict[str, int], known: Set[str]
) -> Iterator[Page]:
    """One listing, and once more from its beginning when it came short of the server's own count."""
    cursor = yield from _walk(form, session, cursor, known)
    missing = _missing(form, session, cursor)
    if missing:  # also where a fetch goes on that stopped for this reason
        session.say(f"{count(missing, 'note')} of {cursor.listing} did not come; looking again.")
        cursor = yield from _walk(form, session, Cursor(cursor.listing, again=True, before=cursor.before))
        missing = _missing(form, session, cursor)
    if missing:
        _come_short(cursor, missing, session)
    before[cursor.listing] = cursor.seen + missing


def _walk(
    form: VenueYear, session: Session, cursor: Cursor, known: Set[str] = frozenset()
) -> Generator[Page, None, Cursor]:
    came = set(known)
    while not cursor.ended:
        notes, cursor = _next(form, session, cursor, came)
        if notes:
            yield Page(notes, cursor)
        del notes
    return cursor


def _next(form: VenueYear, session: Session, cursor: Cursor, came: set[str]) -> tuple[list[Note], Cursor]:
    """The page after a cursor, and the cursor after it; its ids are added to those that came."""
    answer = session.notes(form.api, **_query(form, cursor))
    notes: list[Note] = answer["notes"]
    if not all(isinstance(note, dict) and isinstance(note.get("id"), str) for note in notes):
        raise Trouble(f"{session.urls[form.api]} gives notes without ids, which is not what OpenReview does: {RESUME}.")
    ids = {note["id"] for note in notes}
    if twice := len(notes) - len(ids - came):
        session.say(f"{count(twice, 'note')} of {cursor.listing} came twice, since pages overlap; the newest counts.")
    number, seen = answer.get("count", cursor.count), cursor.seen + len(ids - came)
    # A short page proves nothing, nor does a count from before papers came and went; both together end a listing.
    # A page without news ends it too, be it empty or the same for ever.
    ended = not ids - came or (len(notes) < PAGE and number is not None and seen >= number)
    after = notes[-1]["id"] if notes else cursor.after
    came |= ids
    return notes, replace(cursor, after=after, seen=seen, count=number, ended=ended)


def _query(form: VenueYear, cursor: Cursor) -> dict[str, Any]:
    query = {"invitation": cursor.listing, "details": "replies", "limit": PAGE, "sort": "id"}
    if cursor.after:
        query["after"] = cursor.after
    if form.api == 2 and cursor.count is None:  # API 1 always counts
        query["count"] = "true"
    return query


def _missing(form: VenueYear, session: Session, cursor: Cursor) -> int:
    """How many notes did not come that are there now: those that left meanwhile are not missing."""
    if cursor.count is None or cursor.seen >= cursor.count:
        return 0
    return max(0, _counted(form, session, cursor.listing) - cursor.seen)


def _counted(form: VenueYear, session: Session, listing: str) -> int:
    """How many notes a listing has now."""
    query = {"invitation": listing, "limit": 1, "select": "id"} | ({"count": "true"} if form.api == 2 else {})
    return session.notes(form.api, **query).get("count", 0)


def _come_short(cursor: Cursor, missing: int, session: Session) -> None:
    total = cursor.seen + missing
    sentence = f"OpenReview counts {count(total, 'note')} of {cursor.listing} and gave {cursor.seen:,}, twice"
    if missing > MOST_MISSING * total:
        raise Trouble(f"{sentence}: too few to go on; try again later, or tell OpenReview (info@openreview.net).")
    session.say(f"{sentence}.")


def _nothing(form: VenueYear, session: Session) -> str:
    return (
        f"OpenReview lists no submissions of {form.venue} {form.year} at {session.urls[form.api]}: the year is not "
        f"public yet, or it is on API {3 - form.api} instead of {form.api}, or its listing is not written "
        f"{form.listings[0]} (2017 is lower case); see `api` and `listings` in venues.toml."
    )
