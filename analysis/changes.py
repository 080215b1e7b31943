"""Changes: what differs between two snapshots of a year, review by review and field by field."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pandas as pd

from analysis import fetch, store, tables
from analysis.errors import Trouble, count
from analysis.snapshots import Snapshot, choose
from analysis.venues import venue_year

COLUMNS = ("change", "forum", "review_id", "field", "before", "after")
IN_BOTH = "before.review_id is not null and after.review_id is not null"
FIELDS = ("rating", "confidence", "experience", "words")  # and the year's other scored fields, which `scores` holds


@dataclass(frozen=True)
class Changes:
    """Two snapshots, how many papers and reviews are in both, and a row for each thing that differs.

    `rows` has the columns `change` (`paper added`, `paper removed`, `paper changed`, and the same of reviews), `forum`,
    `review_id` (missing for papers), `field`, `before` and `after`. A paper's field is its outcome as the snapshot itself
    said it; a review that was added or removed has one row, with its rating.
    """

    first: Snapshot
    second: Snapshot
    papers: int
    reviews: int
    rows: pd.DataFrame
    tells_outcomes: (
        bool  # whether both snapshots say what the outcomes were then: bundled ones from before the decisions do not
    )

    @property
    def title(self) -> str:
        return f"{self.first.venue} {self.first.year}, from {self.first.name} to {self.second.name}"

    def number(self, change: str) -> int:
        """How many papers, or reviews, are changed in this way."""
        rows = self.rows[self.rows["change"] == change]
        return len(rows.drop_duplicates(["forum", "review_id"]))

    def outcomes(self, outcome: str) -> int | None:
        """How many papers have this outcome now and had another one before, or were not there; None where nobody says."""
        if not self.tells_outcomes:
            return None
        return int((self._of("outcome")["after"] == outcome).sum())

    def moved(self, field: str) -> tuple[int, int, int]:
        """In how many of the reviews in both snapshots a field is another one; how often it went up, and down."""
        rows = self._of(field)
        rows = rows[rows["change"] == "review changed"]
        known = rows.dropna(subset=["before", "after"])
        up = int((known["after"].astype(int) > known["before"].astype(int)).sum())
        return len(rows), up, len(known) - up

    def _of(self, field: str) -> pd.DataFrame:
        return self.rows[self.rows["field"] == field]

    @property
    def fields(self) -> list[str]:
        """The fields of reviews that changed, in the order of the form."""
        seen = self.rows.loc[self.rows["change"] == "review changed", "field"]
        return list(dict.fromkeys(seen))

    def summary(self) -> pd.DataFrame:
        """How many papers and reviews there are of each change: columns `what` and `n`."""
        counted = {"papers in both": self.papers}
        counted |= {f"papers {name}": self.number(f"paper {name}") for name in ("added", "removed")}
        changed = self.number("paper changed") if self.tells_outcomes else None
        counted |= {"papers withdrawn": self.outcomes("withdrawn"), "outcomes changed": changed}
        counted |= {"reviews in both": self.reviews}
        counted |= {f"reviews {name}": self.number(f"review {name}") for name in ("added", "removed", "changed")}
        for field in dict.fromkeys(("rating", *self.fields)):
            changed, up, down = self.moved(field)
            counted |= {f"{field} changed": changed, f"{field} up": up, f"{field} down": down}
        return pd.DataFrame({"what": list(counted), "n": pd.array(list(counted.values()), dtype="Int64")})

    def sentence(self) -> str:
        """The summary in one sentence."""
        changed, up, down = self.moved("rating")
        parts = [
            f"{count(self.number('review added'), 'review')} added, {self.number('review removed'):,} removed",
            f"{self.number('review changed'):,} of {self.reviews:,} changed",
            f"{changed:,} of them in their rating ({up:,} up, {down:,} down)",
            f"{count(self.number('paper added'), 'paper')} added, {self.number('paper removed'):,} removed",
            f"{self.outcomes('withdrawn'):,} withdrawn" if self.tells_outcomes else "withdrawals not known",
        ]
        return f"{self.title}: {', '.join(parts)}."


def changes(database: Path, venue: str, year: int, first: str, second: str, source: str = "") -> Changes:
    """What differs from one snapshot of a year to another; Trouble where their ids do not mean the same."""
    held = fetch.ensure(database, venue, year, source)
    decision = venue_year(venue, year, database).decision_snapshot
    before, after = (choose(held, name, decision)[0] for name in (first, second))
    return between(database, before, after)


def between(database: Path, first: Snapshot, second: Snapshot) -> Changes:
    """What differs from one snapshot to another; Trouble where their ids do not mean the same."""
    if said := unlike(first, second):
        raise Trouble(said)
    with store.reading(database) as con:
        papers, of_papers = _papers(con, first, second)
        tells = all(_tells_outcomes(con, one) for one in (first, second))
        reviews, of_reviews = _reviews(con, first, second)
    rows = pd.concat([of_papers, of_reviews], ignore_index=True)
    return Changes(first, second, papers, reviews, rows, tells)


def unlike(first: Snapshot, second: Snapshot) -> str:
    """Why two snapshots cannot be compared review by review, in one sentence; empty where they can."""
    what = (
        "papers" if first.paper_ids != second.paper_ids else "reviews" if first.review_ids != second.review_ids else ""
    )
    if not what:
        return ""
    two = f"{first.title} ({first.source}) and {second.name} ({second.source})"
    way = "the bundled counts do not link them" if first.source == second.source else "compare two of one --source"
    return f"Which {what} of {two} are the same ones is not known: {way}."


# In SQL -------------------------------------------------------------------------------------------------------------


def _papers(con: duckdb.DuckDBPyConnection, first: Snapshot, second: Snapshot) -> tuple[int, pd.DataFrame]:
    """How many papers are in both; those that came, went or have another outcome.

    By `outcome_then`: the outcome known today is the same in all snapshots. Where a snapshot does not say it (bundled
    ones from before the decisions), no change is told.
    """
    joined = (
        "from (select forum, outcome_then as outcome from submissions where snapshot_id = ?) as before "
        "full join (select forum, outcome_then as outcome from submissions where snapshot_id = ?) as after using (forum)"
    )
    numbers = [first.snapshot_id, second.snapshot_id]
    both = f"select count(*) {joined} where before.forum is not null and after.forum is not null"
    rows = con.sql(
        f"""
        select 'paper ' || {_kind("forum")} as change, forum, null::varchar as review_id, 'outcome' as field,
               before.outcome as before, after.outcome as after
        {joined}
        where before.forum is null or after.forum is null or before.outcome <> after.outcome
        order by change, forum
        """,
        params=numbers,
    ).df()
    return con.execute(both, numbers).fetchall()[0][0], _as_objects(rows)


def _tells_outcomes(con: duckdb.DuckDBPyConnection, one: Snapshot) -> bool:
    query = "select count(*) = count(outcome_then) from submissions where snapshot_id = ?"
    return con.execute(query, [one.snapshot_id]).fetchall()[0][0]


def _reviews(con: duckdb.DuckDBPyConnection, first: Snapshot, second: Snapshot) -> tuple[int, pd.DataFrame]:
    """How many reviews are in both; those that came or went, and each field that changed."""
    of_both = f"select * from reviews where snapshot_id in ({first.snapshot_id}, {second.snapshot_id})"
    keys = f"select distinct unnest(map_keys(scores)) as key from ({of_both}) order by key"
    scored = [row[0] for row in con.execute(keys).fetchall()]
    values = {name: (f"before.{name}", f"after.{name}") for name in FIELDS}
    values |= {name: tuple(f"{side}.scores[{_text(name)}]" for side in ("before", "after")) for name in scored}
    con.execute(
        f"""
        create or replace temp table joined as
        select before, after
        from (select * from reviews where snapshot_id = {first.snapshot_id}) as before
        full join (select * from reviews where snapshot_id = {second.snapshot_id}) as after
        on before.review_id = after.review_id
        """
    )
    parts = [
        f"""
        select {place} as place, 'review ' || {_kind("review_id")} as change, coalesce(after.forum, before.forum) as forum,
               coalesce(after.review_id, before.review_id) as review_id, {_text(name)} as field,
               ({before})::bigint as before, ({after})::bigint as after
        from joined
        where {_tells(name)} ({before} is distinct from {after} and {IN_BOTH})
        """
        for place, (name, (before, after)) in enumerate(values.items())
    ]
    rows = con.sql(
        f"select * exclude (place) from ({' union all '.join(parts)}) order by place, change, forum, review_id"
    ).df()
    return con.execute(f"select count(*) from joined where {IN_BOTH}").fetchall()[0][0], _as_objects(rows)


def _kind(key: str) -> str:
    return f"case when before.{key} is null then 'added' when after.{key} is null then 'removed' else 'changed' end"


def _tells(field: str) -> str:
    """A review that came or went is told once, with its rating."""
    return "before.review_id is null or after.review_id is null or" if field == "rating" else ""


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _as_objects(rows: pd.DataFrame) -> pd.DataFrame:
    """Words and whole numbers in one column, each as what it is; missing is None."""
    whole = {name: rows[name].astype("Int64") for name in ("before", "after") if rows[name].dtype.kind in "if"}
    rows = rows.assign(**whole).astype(object)
    return rows.where(rows.notna(), None)[list(COLUMNS)]


# Printed ------------------------------------------------------------------------------------------------------------


def printed(found: Changes, format: str) -> str:
    """The summary and the rows; as CSV the rows alone."""
    if format == "csv":
        return tables.text(found.rows, "csv")
    summary = found.summary()
    if format == "json":
        return _as_json(found, summary)
    parts = [tables.text(summary, format, caption=found.title)]
    if len(found.rows):
        parts.append(tables.text(found.rows, format, caption=f"{found.title}: what changed"))
    return "\n\n".join(parts)


def _as_json(found: Changes, summary: pd.DataFrame) -> str:
    head = {
        "venue": found.first.venue,
        "year": found.first.year,
        "first": found.first.name,
        "second": found.second.name,
    }
    counted = dict(zip(summary["what"], map(tables.plain, summary["n"]), strict=True))
    return json.dumps(
        {**head, "summary": counted, "changes": json.loads(tables.text(found.rows, "json"))},
        indent=2,
        ensure_ascii=False,
    )
