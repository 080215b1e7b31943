"""Compute: a statistic by its name, from the store. What the command line prints and the checks recompute."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from analysis import fetch, sample
from analysis.errors import Trouble, choices, count
from analysis.snapshots import Snapshot, choose, in_a_row, pair
from analysis.statistics import Statistic, statistic
from analysis.venues import venue_year


@dataclass(frozen=True)
class Asked:
    """What somebody wants computed: the options that every statistic takes."""

    database: Path
    venue: str
    years: tuple[int, ...]
    snapshot: str = ""
    population: str = ""
    source: str = ""
    by: str = ""
    join: Path | None = None
    seed: int = 0
    word: str = ""
    draws: int = 0  # bootstrap draws, or simulations; 0: as many as the statistic takes by itself


@dataclass(frozen=True)
class Answer:
    """A frame with what must be said about it."""

    frame: pd.DataFrame
    shares: tuple[str, ...]
    titles: tuple[str, ...]
    remarks: tuple[str, ...] = field(default=())


def compute(name: str, asked: Asked) -> Answer:
    """The named statistic for the years asked for; Trouble where one of them cannot be had."""
    wanted = statistic(name)
    if wanted.takes == "ratings":
        raise Trouble(
            f"`{name}` is about the ratings of one paper: `python -m analysis stand --year {asked.years[0]} 6 6 6`, or the "
            "notebook 12-paper, prints it."
        )
    if asked.word and not wanted.worded:
        raise Trouble(f"`{name}` looks for no word: --word is for `search`.")
    if asked.draws and not wanted.drawn:
        raise Trouble(f"`{name}` draws nothing at random: leave out --draws.")
    run = {"sample": _each, "pair": _pairs, "samples": _across, "days": _days}[wanted.takes]
    return run(wanted, asked)


def _load(wanted: Statistic, asked: Asked, year: int, snapshot: str = "", source: str = "") -> sample.Sample:
    return sample.load(
        asked.database,
        asked.venue,
        year,
        snapshot or asked.snapshot,
        population=asked.population or wanted.population,
        source=source or asked.source,
        need=wanted.need,
        columns=(*filter(None, (asked.by,)), *wanted.columns),
        join=asked.join,
    )


def _call(wanted: Statistic, asked: Asked, *args) -> pd.DataFrame:
    given = {"seed": asked.seed} if wanted.seeded else {}
    given |= {"draws": asked.draws} if asked.draws else {}
    return wanted.function(*args, **given, **({"word": asked.word} if wanted.worded else {}))


def _each(wanted: Statistic, asked: Asked) -> Answer:
    samples = [_load(wanted, asked, year) for year in asked.years]
    frames = [_by(wanted, asked, one) for one in samples]
    if len(samples) > 1:
        frames = [_labelled(frame, "year", one.snapshot.year) for frame, one in zip(frames, samples, strict=True)]
    return _answer(wanted, frames, samples)


def _by(wanted: Statistic, asked: Asked, one: sample.Sample) -> pd.DataFrame:
    if not asked.by:
        return _call(wanted, asked, one)
    parts = [_labelled(_call(wanted, asked, part), asked.by, value) for value, part in one.split(asked.by)]
    if not parts:
        raise Trouble(f"{one.snapshot.title} has no value in the column `{asked.by}` to split by.")
    return pd.concat(parts, ignore_index=True)


def _labelled(frame: pd.DataFrame, column: str, value: object) -> pd.DataFrame:
    """The frame with its group in front; a column of the same name keeps its place as `..._within`."""
    renamed = frame.rename(columns={column: f"{column}_within"})
    renamed.insert(0, column, value)
    return renamed


def _pairs(wanted: Statistic, asked: Asked) -> Answer:
    frames, samples = [], []
    for year in asked.years:
        before, after = (_load(wanted, asked, year, name) for name in _two_snapshots(wanted, asked, year))
        frame = _by_pair(wanted, asked, before, after)
        frames.append(_labelled(frame, "year", year) if len(asked.years) > 1 else frame)
        samples += [before, after]
    return _answer(wanted, frames, samples)


def _two_snapshots(wanted: Statistic, asked: Asked, year: int) -> Sequence[str]:
    """The names asked for; else the first and the last snapshot whose papers, or reviews, are the same ones."""
    if asked.snapshot:
        names = asked.snapshot.split(",")
        if len(names) != 2:
            raise Trouble(f"`{wanted.name}` compares two snapshots: --snapshot FIRST,SECOND (got {asked.snapshot!r}).")
        return names
    held = fetch.ensure(asked.database, asked.venue, year, asked.source)
    found = pair(held, wanted.linked)
    if found is None:
        what = {"paper_ids": "papers", "review_ids": "reviews"}[wanted.linked]
        names = choices(dict.fromkeys(one.name for one in held))
        raise Trouble(
            f"{asked.venue} {year} has no two snapshots of the same {what}, one from before the decisions (it has "
            f"{names}): `{wanted.name}` cannot compare them{_unlinked(wanted)}."
        )
    return [one.name for one in found]


def _unlinked(wanted: Statistic) -> str:
    return "; multiset-movement needs only the same papers" if wanted.linked == "review_ids" else ""


def _by_pair(wanted: Statistic, asked: Asked, before: sample.Sample, after: sample.Sample) -> pd.DataFrame:
    """The statistic for each value that the column has in the second snapshot; the same papers or reviews of the first."""
    if not asked.by:
        return _call(wanted, asked, before, after)
    parts = [
        _labelled(_call(wanted, asked, *two), asked.by, value)
        for value, two in sample.split_pair(before, after, asked.by)
    ]
    if not parts:
        raise Trouble(f"{after.snapshot.title} has no value in the column `{asked.by}` to split by.")
    return pd.concat(parts, ignore_index=True)


def _across(wanted: Statistic, asked: Asked) -> Answer:
    if asked.by:
        raise Trouble(f"`{wanted.name}` compares years and cannot be split with --by.")
    samples = [_load(wanted, asked, year) for year in asked.years]
    return _answer(wanted, [_call(wanted, asked, samples)], samples)


def _days(wanted: Statistic, asked: Asked) -> Answer:
    frames, titles, remarks = [], [], []
    for year in asked.years:
        row, left_out = _row_of_snapshots(asked, year)
        # One after the other: a whole discussion does not have to fit into memory.
        samples = _told(remarks, (_load(wanted, asked, year, one.name, one.source) for one in row))
        frame = _by_days(wanted, asked, samples)
        frames.append(_labelled(frame, "year", year) if len(asked.years) > 1 else frame)
        titles.append(f"{asked.venue} {year}, {count(len(row), 'snapshot')}, {_span(row)}")
        remarks += left_out
    return Answer(pd.concat(frames, ignore_index=True), wanted.shares, tuple(titles), tuple(dict.fromkeys(remarks)))


def _span(row: Sequence[Snapshot]) -> str:
    return row[0].name if len(row) == 1 else f"{row[0].name} to {row[-1].name}"


def _row_of_snapshots(asked: Asked, year: int) -> tuple[list[Snapshot], list[str]]:
    """The snapshots named, in that order, else those to follow from day to day; and a sentence on those left out."""
    held = fetch.ensure(asked.database, asked.venue, year, asked.source)
    row = in_a_row(held)
    others = count(len(held) - len(row), "bundled snapshot")
    left_out = [f"{asked.venue} {year}: {others} left out, whose papers have other ids; --source bundled shows them."]
    if asked.snapshot:
        decision = venue_year(asked.venue, year, asked.database).decision_snapshot
        return [choose(row, name, decision)[0] for name in asked.snapshot.split(",")], []
    return row, left_out if len(row) < len(held) else []


def _told(remarks: list[str], samples: Iterable[sample.Sample]) -> Iterator[sample.Sample]:
    for one in samples:
        remarks += one.remarks
        yield one


def _by_days(wanted: Statistic, asked: Asked, samples: Iterable[sample.Sample]) -> pd.DataFrame:
    if not asked.by:
        return _call(wanted, asked, samples)
    groups: dict[object, list[sample.Sample]] = {}
    for value, part in (each for one in samples for each in one.split(asked.by)):
        groups.setdefault(value, []).append(part)
    if not groups:
        raise Trouble(f"{asked.venue} has no value in the column `{asked.by}` to split by.")
    parts = [_labelled(_call(wanted, asked, some), asked.by, value) for value, some in sorted(groups.items())]
    return pd.concat(parts, ignore_index=True)


def _answer(wanted: Statistic, frames: list[pd.DataFrame], samples: list[sample.Sample]) -> Answer:
    remarks = tuple(dict.fromkeys(remark for one in samples for remark in one.remarks))
    titles = tuple(dict.fromkeys(one.title for one in samples))
    return Answer(pd.concat(frames, ignore_index=True), wanted.shares, titles, remarks)
