"""The statistics: pure functions, a file per family, each known by one name.

A statistic takes a sample (or a pair, or several) and gives one tidy frame: group columns, then `value`, `low`, `high`, `n`
where an estimate is meant. `register` makes it known to the command line and the notebooks.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from analysis.errors import Trouble, choices
from analysis.statistics import queries

FAMILIES = (
    "ledger",
    "ratings",
    "thresholds",
    "standing",
    "reviewers",
    "harshness",
    "acceptance",
    "line",
    "fates",
    "years",
    "agreement",
    "scales",
    "growth",
    "movement",
    "paper",
    "arbitrariness",
    "series",
    "topics",
    "texts",
)


@dataclass(frozen=True)
class Statistic:
    """A function with the name people type, and what it wants.

    `takes` is `sample`, `pair` (two snapshots of a year), `samples` (one of each year), `days` (all snapshots of a year) or `ratings` (a sample and one paper's). `need` is a review column without
    which a snapshot is no use. `columns` are further columns of the store that it reads, or `comments`, which is a table. `linked` is what must be the same in a pair: `paper_ids` or `review_ids`. `shares` are the columns that are fractions: printed as percent.
    """

    name: str
    function: Callable[..., pd.DataFrame]
    takes: str
    population: str
    need: str
    shares: tuple[str, ...]
    seeded: bool
    linked: str = "paper_ids"
    columns: tuple[str, ...] = ()  # further columns of the store that it reads
    worded: bool = False  # takes a word to look for
    drawn: bool = False  # takes `draws`: how many bootstrap draws, or simulations

    @property
    def question(self) -> str:
        """The first sentence of the docstring."""
        return (self.function.__doc__ or "").strip().splitlines()[0]


_known: dict[str, Statistic] = {}


def register(
    name: str,
    takes: str = "sample",
    population: str = "reviewed",
    need: str = "",
    shares: tuple[str, ...] = ("value", "low", "high"),
    linked: str = "paper_ids",
    columns: tuple[str, ...] = (),
):
    """Make a function known as a statistic: ``@register("ratings")``."""

    def remember(function: Callable[..., pd.DataFrame]) -> Callable[..., pd.DataFrame]:
        code = function.__code__
        arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        seeded, worded, drawn = (one in arguments for one in ("seed", "word", "draws"))
        traced = queries.traced(name, function)
        _known[name] = Statistic(name, traced, takes, population, need, shares, seeded, linked, columns, worded, drawn)
        return traced

    return remember


def statistics() -> dict[str, Statistic]:
    """All statistics by name, in the order of the families."""
    for family in FAMILIES:
        importlib.import_module(f"analysis.statistics.{family}")
    return dict(_known)


def statistic(name: str) -> Statistic:
    """The statistic of that name; Trouble naming those that exist."""
    known = statistics()
    if name not in known:
        raise Trouble(f"There is no statistic `{name}`; there are {choices(known)}.")
    return known[name]
