"""JSON as OpenReview writes it."""

from __future__ import annotations

import json

import orjson


def parsed(text: bytes) -> object | None:
    """The value of a JSON text; None where it is none (nor is `null`, which would be no note)."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(text)  # takes half a surrogate pair, which some reviews hold
    except (ValueError, RecursionError):
        return None
