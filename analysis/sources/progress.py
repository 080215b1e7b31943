"""What a fetch tells: the plan before its first request, and a line a page."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any

from analysis.errors import count
from analysis.venues import VenueYear

PAGE = 1000  # submissions; the most that either API gives
BUDGETS = {1: "without a stated limit", 2: "of some 500 an hour"}  # by API, in autumn 2026; the headers of answers tell
CLEAR = "\r\x1b[K"


def plan(form: VenueYear) -> str:
    """How many requests a venue-year takes, by the official counts: to know better would cost a request."""
    sizes, budget = expected(form), BUDGETS[form.api]
    if not sizes:
        return f"{form.venue} {form.year}: one /notes request for each {PAGE:,} submissions, {budget}."
    requests, total = sum(size // PAGE + 1 for size in sizes.values()), sum(sizes.values())
    papers = f"{count(total, 'submission')} in {count(len(sizes), 'listing')}"
    return f"{form.venue} {form.year}: about {count(requests, '/notes request')}, {budget}, for {papers}."


def expected(form: VenueYear) -> dict[str, int]:
    """How many submissions each listing has, officially; on API 1 withdrawn and desk-rejected ones are listed apart."""
    total = form.official.get("submitted", 0)
    apart = [form.official.get(name, 0) for name in ("withdrawn", "desk_rejected")][: len(form.listings) - 1]
    return dict(zip(form.listings, (total - sum(apart), *apart), strict=False)) if total else {}


def over_progress(say: Callable[[str], None]) -> Callable[[str], None]:
    """`say`, for lines that on a terminal take the place of the progress line."""
    return lambda line: say(CLEAR + line if sys.stderr.isatty() else line)


class Progress:
    """A line a page; on a terminal each takes the place of the one before."""

    def __init__(self, form: VenueYear, say: Callable[[str], None]) -> None:
        self.form, self.say, self.sizes, self.started = form, say, expected(form), time.monotonic()
        self.pages = self.submissions = self.replies = 0

    def show(self, notes: list[dict[str, Any]], listing: str, seen: int, total: int | None, left: int | None) -> None:
        """Tell of a page: how far its listing is, and how many requests are left of the window."""
        self.pages += 1
        self.submissions += len(notes)
        self.replies += sum(len((note.get("details") or {}).get("replies") or ()) for note in notes)
        if total is not None:
            self.sizes[listing] = total
        line = f"{self.done}{self._to_go(listing, seen)}" + ("" if left is None else f"; {count(left, 'request')} left")
        if sys.stderr.isatty():
            print(CLEAR + line, end="", file=sys.stderr, flush=True)
        else:
            self.say(line)

    @property
    def done(self) -> str:
        papers, notes = count(self.submissions, "submission"), count(self.submissions + self.replies, "note")
        return f"{self.form.venue} {self.form.year}: {count(self.pages, 'page')}, {papers}, {notes} with their replies"

    def _to_go(self, listing: str, seen: int) -> str:
        later = self.form.listings[self.form.listings.index(listing) + 1 :]
        rest = [self.sizes.get(listing, 0) - seen, *(self.sizes.get(one, 0) for one in later)]
        pages = sum(math.ceil(max(0, size) / PAGE) for size in rest)
        seconds = math.ceil(pages * (time.monotonic() - self.started) / self.pages)
        return f"; about {count(pages, 'page')} to go, {seconds // 60}:{seconds % 60:02}" if pages else ""

    def clear(self) -> None:
        if sys.stderr.isatty():
            print(CLEAR, end="", file=sys.stderr, flush=True)
