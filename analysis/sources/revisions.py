"""The past of single reviews: what OpenReview keeps of it and everyone may read, asked for one paper at a time.

API 1 keeps full copies, API 2 edits. A review is posted before the release, so its first edit is mostly closed to the
public; what its reviewer changed afterwards may be open. So a first rating is rarely to be had this way: a snapshot
taken at release is the way to keep it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from analysis.errors import count
from analysis.forms import is_public, level
from analysis.sources.openreview import Session
from analysis.venues import VenueYear

COLUMNS = ["review", "revised_at", "rating", "confidence"]


def public_revisions(form: VenueYear, session: Session, review_ids: Sequence[str]) -> pd.DataFrame:
    """A row a revision that gives a rating or a confidence and that everyone may read: the review (its place among those
    asked for, from 1), when, and the two. One request a review. Nothing of who wrote it is kept.
    """
    rows = [
        {"review": place, **revision}
        for place, review_id in enumerate(review_ids, start=1)
        for revision in _revisions(form, session.history(form.api, review_id))
    ]
    frame = pd.DataFrame(rows, columns=COLUMNS).astype({"rating": "Int64", "confidence": "Int64"})
    return frame.sort_values(["review", "revised_at"], kind="stable", ignore_index=True)


def _revisions(form: VenueYear, kept: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for one in kept:
        note = one if form.api == 1 else one.get("note")
        if not is_public(one) or not isinstance(note, dict):
            continue
        answers = {"rating": level(note, form.rating), "confidence": level(note, form.confidence)}
        if any(answer is not None for answer in answers.values()):  # a release changes the readers only
            yield {"revised_at": _moment(one.get("tmdate" if form.api == 1 else "tcdate")), **answers}


def _moment(milliseconds: object) -> str | None:
    if type(milliseconds) is not int:
        return None
    return datetime.fromtimestamp(milliseconds // 1000, UTC).strftime("%Y-%m-%d %H:%M")


def told(revisions: pd.DataFrame, reviews: int) -> str:
    """What came of asking, in a sentence."""
    if revisions.empty:
        return (
            f"OpenReview shows no public revision of the {count(reviews, 'review')}: the first version is mostly closed to "
            "the public, and nothing was changed since, or only where not everyone may read it."
        )
    ratings = revisions.dropna(subset=["rating"]).groupby("review")["rating"]
    changed = int((ratings.nunique() > 1).sum())
    seen = revisions["review"].nunique()
    return (
        f"OpenReview shows {count(len(revisions), 'public revision')} of {seen} of the {count(reviews, 'review')}; "
        f"in {changed} of them the rating differs between revisions. Revisions that are not public may be missing."
    )
