"""Digest: what changed since the last snapshot, in five sentences and one table."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from analysis import changes, fetch, sample, tables
from analysis.changes import Changes
from analysis.errors import Trouble, choices, count, percent
from analysis.sample import Sample
from analysis.snapshots import DECIDED, Snapshot, choose, in_a_row
from analysis.statistics.series import ENOUGH, series
from analysis.venues import venue_year

FORMATS = ("table", "csv", "json", "markdown", "latex", "html")

# What the table has a row for: a column of `series`, and how readers call it.
COUNTS = {
    "papers": "papers",
    "withdrawn": "withdrawn papers",
    "short": f"papers with fewer than {ENOUGH} reviews",
    "reviews": "reviews",
    "changed": "ratings changed since the snapshot before",
}
SHARES = {"value": "ratings on the accept side"}
MEASURES = {"agreement": "agreement of reviewers, ICC(1)"}


@dataclass(frozen=True)
class Digest:
    """A snapshot, the one before it (None where there is none to compare with), five sentences and the numbers behind them.

    `numbers` has a row a measure: `measure`, `before`, `now` and `change`; shares are fractions.
    """

    snapshot: Snapshot
    before: Snapshot | None
    sentences: tuple[str, ...]
    numbers: pd.DataFrame
    remarks: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return f"{self.snapshot.venue} {self.snapshot.year} on {_called(self.snapshot)}"


def digest(database: Path, venue: str, year: int, snapshot: str = "", source: str = "", seed: int = 0) -> Digest:
    """What changed up to a snapshot (the newest one, unless it is named) since the one before (or two: ``FIRST,SECOND``)."""
    held = in_a_row(fetch.ensure(database, venue, year, source))
    before, now = _chosen(held, snapshot, venue_year(venue, year, database).decision_snapshot)
    loaded = [_load(database, one) for one in (before, now) if one]
    rows = series(loaded, seed=seed).to_dict("records")
    found = changes.between(database, before, now) if before else None
    sentences = _Sentences(loaded[-1], rows[-1], rows[0] if before else None, found, alone=len(held) == 1)
    return Digest(now, before, sentences.all(), _numbers(rows), loaded[-1].remarks)


def _chosen(held: Sequence[Snapshot], asked: str, decision: str) -> tuple[Snapshot | None, Snapshot]:
    """The snapshot before, and the one that is told."""
    names = asked.split(",") if asked else ["latest"]
    if len(names) > 2:
        raise Trouble(f"`digest` takes one snapshot or two: --snapshot FIRST,SECOND (got {asked!r}).")
    found = [choose(held, name, decision)[0] for name in names]
    if len(found) == 2:
        return found[0], found[1]
    earlier = [one for one in held if one.order < found[0].order and not changes.unlike(one, found[0])]
    return (earlier[-1] if earlier else None), found[0]


def _load(database: Path, one: Snapshot) -> Sample:
    return sample.load(
        database, one.venue, one.year, one.name, population="all", source=one.source, columns=("outcome_then",)
    )


def _called(one: Snapshot) -> str:
    """``2019-11-08 (release)``; ``2019-12-23 (final)`` for the one that is called by its stage."""
    return f"{one.taken_at:%Y-%m-%d} (final)" if one.name == "final" else f"{one.name} ({one.stage})"


# Sentences ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Sentences:
    """Each is right by itself: about the change where there is a snapshot before, about the state where there is none."""

    sample: Sample
    now: dict
    before: dict | None
    found: Changes | None
    alone: bool

    def all(self) -> tuple[str, ...]:
        return self.size(), self.ratings(), self.papers(), self.accept_side(), self.reviewers()

    def size(self) -> str:
        now, held = (
            self.sample.snapshot,
            f"{count(self.now['reviews'], 'review')} of {count(self.now['papers'], 'paper')}",
        )
        name = f"{now.venue} {now.year} on {_called(now)}"
        if self.found is None and self.alone:
            return f"{name} is the first snapshot in the store, so nothing can be compared yet: {held}."
        if self.found is None:
            return f"{name} has no earlier snapshot of the same reviews to compare with: {held}."
        came, went = self.found.number("review added"), self.found.number("review removed")
        told = _than_before(came - went, "review", "as many reviews as")
        return f"{name}, against {_called(self.found.first)}: {held}, {told} ({_some(came)} new, {_some(went)} gone)."

    def ratings(self) -> str:
        if self.found is None:
            return (
                "Which ratings change will be told from the next snapshot on."
                if self.alone
                else "Which ratings changed is not known."
            )
        if not self.found.reviews:
            return "No review is in both, so no rating can have changed."
        changed, up, down = self.found.moved("rating")
        others = self.found.number("review changed") - changed
        otherwise = f"; {count(others, 'other review')} changed otherwise" if others else ""
        if not changed:
            return f"No rating changed in the {count(self.found.reviews, 'review')} that are in both{otherwise}."
        share = percent(changed / self.found.reviews, 2)
        moved = f"{changed:,} of {count(self.found.reviews, 'rating')} changed ({share})"
        return f"{moved}, {_some(up)} up and {_some(down)} down{otherwise}."

    def papers(self) -> str:
        in_all = self.now["withdrawn"]
        if self.found is None:
            return "Withdrawals are not known." if _missing(in_all) else f"{_were(in_all)} withdrawn so far."
        came, went = self.found.number("paper added"), self.found.number("paper removed")
        listed = f"{_no(came, 'paper')} {_is(came)} new and {_some(went)} {_is(went)} gone from the listing"
        gone = self.found.outcomes("withdrawn")
        if gone is None:
            return f"{_capital(listed)}; withdrawals are not known for both snapshots."
        decided = {outcome: self.found.outcomes(outcome) for outcome in DECIDED}
        told = ", ".join(f"{number:,} {_plain(outcome)}" for outcome, number in decided.items() if number)
        rest = f"; decisions came: {told}" if told else ""
        return f"{_were(gone)} withdrawn ({in_all:,} in all), {listed}{rest}."

    def accept_side(self) -> str:
        scale, now = self.sample.scale, self.now
        if not now["reviews"]:
            return "There is no rating yet."
        if scale.accept_from is None:
            return "Which ratings are on the accept side is not declared, so their share is not given."
        limits = f"95 % limits {percent(now['low'])} to {percent(now['high'])}"
        told = f"{percent(now['value'])} of the ratings are {scale.accept_from} or more ({limits})"
        if self.before is not None and self.before["reviews"]:
            told += f", {_points(now['value'] - self.before['value'])}"
        doubt = (
            ""
            if scale.declared
            else "; this year's scale is not declared, so which ratings accept is taken from another year"
        )
        return f"{told}{doubt}."

    def reviewers(self) -> str:
        short, earlier = self.now["short"], None if self.before is None else self.before["short"]
        told = f"how many papers still have fewer than {ENOUGH} reviews is not known"
        if not _missing(short):
            told = f"{_no(short, 'paper')} still in {'has' if short == 1 else 'have'} fewer than {ENOUGH} reviews"
            told += "" if _missing(earlier) else f", {_than_before(short - earlier, 'paper', 'as many as')}"
        if _missing(self.now["agreement"]):
            return f"{_capital(told)}."
        was = None if self.before is None else self.before["agreement"]
        earlier = "" if _missing(was) else f" (before: {was:.3f})"
        return f"{_capital(told)}; reviewers of one paper agree by ICC(1) {self.now['agreement']:.3f}{earlier}."


def _missing(value: object) -> bool:
    return value is None or bool(pd.isna(value))


def _some(number: int) -> str:
    return f"{number:,}" if number else "none"


def _no(number: int, noun: str) -> str:
    return count(number, noun) if number else f"no {noun}s"


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def _were(number: int) -> str:
    """``2 papers were``; ``No papers were``."""
    return _capital(f"{_no(number, 'paper')} {'was' if number == 1 else 'were'}")


def _plain(outcome: str) -> str:
    return {"workshop": "sent to the workshop"}.get(outcome, outcome)


def _than_before(by: int, noun: str, as_many: str) -> str:
    """``12 reviews more than before``; ``as many as before``."""
    return f"{count(abs(by), noun)} {'more' if by > 0 else 'fewer'} than before" if by else f"{as_many} before"


def _points(by: float) -> str:
    """A difference of shares in percentage points."""
    if round(100 * abs(by), 1) == 0:
        return "within 0.05 points of before"
    return f"{100 * abs(by):.1f} points {'more' if by > 0 else 'less'} than before"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# Numbers ------------------------------------------------------------------------------------------------------------


def _numbers(rows: Sequence[dict]) -> pd.DataFrame:
    now, before = rows[-1], rows[0] if len(rows) == 2 else {}
    names = {**COUNTS, **SHARES, **MEASURES}
    columns = {"measure": list(names.values())}
    for place, row in (("before", before), ("now", now)):
        columns[place] = [None if _missing(row.get(name)) else row[name] for name in names]
    columns["change"] = [
        None if name == "changed" or earlier is None or later is None else later - earlier
        for name, earlier, later in zip(names, columns["before"], columns["now"], strict=True)
    ]
    return pd.DataFrame(columns, dtype=object)  # whole numbers and shares, each as what it is


def _for_readers(numbers: pd.DataFrame) -> pd.DataFrame:
    """The numbers as words: each row has digits and a unit of its own."""
    shown = [
        {
            "measure": row.measure,
            **{name: _cell(row.measure, getattr(row, name), name) for name in ("before", "now", "change")},
        }
        for row in numbers.itertuples()
    ]
    return pd.DataFrame(shown)


def _cell(measure: str, value: float, column: str) -> str:
    if _missing(value):
        return tables.MISSING
    sign = "+" if column == "change" else ""
    if measure in COUNTS.values():
        return f"{value:{sign},.0f}" if value else "0"
    if measure in SHARES.values():
        return f"{100 * value:+.1f} points" if sign else percent(value)
    return f"{value:{sign}.3f}"


# Printed ------------------------------------------------------------------------------------------------------------


def printed(told: Digest, format: str) -> str:
    """The digest in one of `FORMATS`; as CSV the numbers alone."""
    if format not in FORMATS:
        raise Trouble(f"There is no digest as `{format}`; there are {choices(FORMATS)}.")
    return PRINTERS[format](told)


def _as_json(told: Digest) -> str:
    now = told.snapshot
    head = {"venue": now.venue, "year": now.year, "snapshot": now.name, "stage": now.stage, "source": now.source}
    before = told.before.name if told.before else None
    numbers = json.loads(tables.text(told.numbers, "json"))
    whole = {**head, "before": before, "sentences": list(told.sentences), "numbers": numbers}
    return json.dumps(whole, indent=2, ensure_ascii=False)


def _in_lines(told: Digest, format: str, line: Callable[[str], str] = str) -> str:
    """A sentence a line: many begin with a number, which is hard to see after a full stop."""
    sentences = "\n".join(map(line, told.sentences))
    return f"{sentences}\n\n{tables.text(_for_readers(told.numbers), format)}"


def _as_markdown(told: Digest) -> str:
    items = _in_lines(told, "markdown", lambda sentence: f"- {tables.markdown_escaped(sentence)}")
    return f"## {tables.markdown_escaped(told.title)}\n\n{items}"


PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 42rem; margin: 2rem auto; padding: 0 1rem; }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ text-align: left; padding: .25rem .5rem; border-bottom: 1px solid #8888; }}
th:not(:first-child), td:not(:first-child) {{ text-align: right; white-space: nowrap; }}
</style>
</head>
<body>
<main>
<h1>{title}</h1>
<ul>
{sentences}
</ul>
{table}
</main>
</body>
</html>"""


def _as_html(told: Digest) -> str:
    """A page by itself, which asks nothing of any other."""
    return PAGE.format(
        title=html.escape(told.title),
        sentences="\n".join(f"<li>{html.escape(sentence)}</li>" for sentence in told.sentences),
        table=tables.text(_for_readers(told.numbers), "html"),
    )


PRINTERS: dict[str, Callable[[Digest], str]] = {
    "table": lambda told: _in_lines(told, "table"),
    "csv": lambda told: tables.text(told.numbers, "csv"),
    "json": _as_json,
    "markdown": _as_markdown,
    "latex": lambda told: _in_lines(told, "latex", tables.latex_escaped),
    "html": _as_html,
}
