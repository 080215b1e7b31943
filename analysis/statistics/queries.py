"""Queries: which statistics of which samples made a frame, so that its numbers can be cited, and computed again.

A query of a statistic has its name, the samples and the unusual options that it was called with, and `by`, the column by
whose values they were split. What no statistic made has the SQL or the command that gives it. A frame carries its queries along.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pandas as pd

Query = dict[str, object]
CARRIED = "queries"  # in the attributes of a frame, as text, since pandas copies attributes deeply

_called: list[Query] = []
_by: list[str] = []


def traced(name: str, function: Callable[..., pd.DataFrame]) -> Callable[..., pd.DataFrame]:
    """The function, whose calls are noted, and whose frames carry the query that made them."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def called(*args, **options) -> pd.DataFrame:
        earlier = len(_called)
        frame = function(*args, **options)
        given = signature.bind(*args, **options).arguments
        usual = {key: one.default for key, one in signature.parameters.items()}
        query = _query(name, {key: value for key, value in given.items() if value is not usual[key]})
        _called[earlier:] = [query]  # the statistics that it called itself are a part of it
        return carrying(frame, [query])

    return called


def _query(name: str, arguments: dict[str, object]) -> Query:
    given = [one for value in arguments.values() for one in (value if isinstance(value, list | tuple) else [value])]
    samples = [_sampled(one) for one in given if hasattr(one, "snapshot")]
    options = {key: value for key, value in arguments.items() if isinstance(value, str | int | float | bool)}
    if "ratings" in arguments:  # of one paper, as they were typed
        asked = arguments["ratings"]
        options["ratings"] = asked.text if hasattr(asked, "text") else " ".join(map(str, asked))
    return {"statistic": name, "samples": samples, "options": options} | ({"by": _by[-1]} if _by else {})


def _sampled(sample) -> dict[str, object]:
    taken = sample.snapshot
    return {"venue": taken.venue, "year": taken.year, "snapshot": taken.name, "population": sample.population}


@contextmanager
def split_by(column: str) -> Iterator[None]:
    """Notes of what is called within that its sample is the part of one value of a column."""
    _by.append(column)
    try:
        yield
    finally:
        _by.pop()


def called() -> list[Query]:
    """The statistics that were called since this was last asked."""
    taken = _called.copy()
    _called.clear()
    return taken


def of(frame: pd.DataFrame) -> list[Query]:
    """The queries that made a frame; none where nobody noted them."""
    return json.loads(frame.attrs.get(CARRIED, "[]"))


def carrying(frame: pd.DataFrame, queries: Sequence[Query]) -> pd.DataFrame:
    """The frame, which carries these queries from now on."""
    frame.attrs[CARRIED] = json.dumps(joined(queries), sort_keys=True)
    return frame


def joined(queries: Sequence[Query]) -> list[Query]:
    """One query for each statistic with the same options, of the samples of all of them, each once."""
    found: dict[str, Query] = {}
    for query in queries:
        samples = query.get("samples", [])
        kind = json.dumps({**query, "samples": []}, sort_keys=True)
        known = found.setdefault(kind, {**query, **({"samples": []} if "samples" in query else {})})
        if samples:
            known["samples"] = [*known["samples"], *(one for one in samples if one not in known["samples"])]
    return list(found.values())


def together(frames: Sequence[pd.DataFrame], *front: str) -> pd.DataFrame:
    """Frames one below the other, these columns in front, with the queries of all of them."""
    whole = pd.concat(frames, ignore_index=True)
    whole = whole[[*front, *whole.columns.drop(list(front))]]
    return carrying(whole, [query for frame in frames for query in of(frame)])
