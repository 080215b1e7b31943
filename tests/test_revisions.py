"""Public revisions of single reviews, over real sockets from the stand-in: on request, one paper at a time."""

from __future__ import annotations

import pytest
from openreview_notes import edits_of, flatten, generate, references_of
from openreview_standin import StandIn, VenueYear

from analysis.errors import Trouble
from analysis.forms import invitations, kind_of
from analysis.sources.openreview import Session
from analysis.sources.revisions import COLUMNS, public_revisions, told
from analysis.venues import venue_year

DAY = 86_400_000


def session(server: StandIn, **environment: str) -> Session:
    return Session(lambda line: None, 1, server.environment | environment, timeout=(2, 20), sleep=lambda seconds: None)


def reviews(year: int) -> list[dict]:
    notes = flatten(list(generate(year, 10)))
    return [note for note in notes if any(kind_of(one) == "official_review" for one in invitations(note))][:3]


def rated(note: dict, rating: object, year: int) -> dict:
    """The note with another rating in its content, as the API of that year writes it."""
    value = {"value": rating} if year >= 2024 else rating
    return note | {"content": note["content"] | {"rating": value}}


def changed_edits(note: dict) -> list[dict]:
    """Posted before the release and closed; released by the venue; then changed by its reviewer, readable by everyone."""
    first, *_ = edits_of(note)
    closed = {**first, "readers": ["ICLR.cc/2026/Conference/Program_Chairs"], "note": rated(note, 2, 2026)}
    shared = {**first, "readers": ["everyone"], "nonreaders": []}
    released = {
        **shared,
        "id": "e2",
        "tcdate": first["tcdate"] + DAY,
        "note": {"id": note["id"], "readers": ["everyone"]},
    }
    later = {**shared, "id": "e3", "tcdate": first["tcdate"] + 9 * DAY, "note": {"content": {"rating": {"value": 4}}}}
    last = {
        **shared,
        "id": "e4",
        "tcdate": first["tcdate"] + 10 * DAY,
        "note": {"content": {"rating": {"value": 8}, "confidence": {"value": 3}}},
    }
    gone = {
        **shared,
        "id": "e5",
        "tcdate": first["tcdate"] + 11 * DAY,
        "note": {"content": {"rating": {"value": {"delete": True}}}},
    }
    return [closed, released, later, last, gone]


def test_edits_that_everyone_may_read_are_told_and_closed_ones_are_not():
    with StandIn(years=[VenueYear(2026, 10)]) as server:
        asked = reviews(2026)
        server.histories = {asked[1]["id"]: changed_edits(asked[1])} | {
            one["id"]: edits_of(one)[1:] for one in asked[::2]
        }
        found = public_revisions(venue_year("ICLR", 2026), session(server), [one["id"] for one in asked])
        assert server.count("/notes/edits") == 3 and server.count("/login") == 1
        (query,) = {
            tuple(sorted(set(one.query) - {"note.id"})) for one in server.requests if one.path == "/notes/edits"
        }
        assert query == ("sort", "trash")
    assert found.columns.tolist() == COLUMNS
    assert found["review"].tolist() == [2, 2]
    assert found["rating"].tolist() == [4, 8] and found["confidence"].fillna(0).tolist() == [0, 3]
    assert found["revised_at"].is_monotonic_increasing
    assert "2 public revisions of 1 of the 3 reviews; in 1 of them the rating differs" in told(found, 3)


def test_full_copies_of_api_1():
    with StandIn(years=[VenueYear(2020, 10)]) as server:
        asked = reviews(2020)
        newest, *_ = references_of(asked[0])
        copies = [
            rated(newest | {"tmdate": newest["tmdate"] + DAY}, "8: Accept", 2020),
            rated(newest, "3: Weak Reject", 2020),
        ]
        closed = newest | {"readers": ["ICLR.cc/2020/Conference/Paper1/Area_Chairs"]}
        server.histories = {asked[0]["id"]: [*copies, closed]}
        found = public_revisions(venue_year("ICLR", 2020), session(server), [asked[0]["id"]])
        assert server.count("/references", api=1) == 1
        assert next(one for one in server.requests if one.path == "/references").first("original") == "true"
    assert found["rating"].tolist() == [3, 8]


def test_nobody_is_named():
    with StandIn(years=[VenueYear(2026, 10)]) as server:
        asked = reviews(2026)
        found = public_revisions(venue_year("ICLR", 2026), session(server), [one["id"] for one in asked])
    assert "Reviewer" not in found.to_csv()


def test_nothing_public_is_said_in_a_sentence():
    with StandIn(years=[VenueYear(2026, 10)]) as server:
        asked = reviews(2026)
        server.histories = {one["id"]: [changed_edits(one)[0]] for one in asked}
        found = public_revisions(venue_year("ICLR", 2026), session(server), [one["id"] for one in asked])
    assert found.empty and found.columns.tolist() == COLUMNS
    assert told(found, 3).startswith(
        "OpenReview shows no public revision of the 3 reviews: the first version is mostly closed"
    )


def test_without_an_account_nothing_is_asked():
    with StandIn(years=[VenueYear(2026, 10)]) as server:
        with pytest.raises(Trouble, match="OPENREVIEW_USERNAME is not set"):
            public_revisions(venue_year("ICLR", 2026), session(server, OPENREVIEW_USERNAME=""), ["x"])
        assert not server.requests
