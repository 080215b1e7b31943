"""A made-up year of any size, as a folder of Parquet that --database reads: the same rows for the same seed, on any machine.

Papers have a quality, reviewers a leaning, panels three to five reviews; after the discussion one review in eight has moved towards the
middle of its panel. Nothing of it is of a real conference; the sizes are what it is for.

    python benchmarks/synthetic.py FOLDER 1000000 2025      a million reviews at release and in the end, on the scale of 2025
"""

from __future__ import annotations

import sys
from pathlib import Path

import duckdb

sys.path[0] = str(Path(__file__).resolve().parent.parent)

from analysis import __version__  # noqa: E402
from analysis.store import SCHEMA, TABLES  # noqa: E402

SIZE = 4  # reviews a paper, on average
CUTS = {
    2020: "1 3 6 8 at 3 5.2 7.2",
    2025: "1 3 5 6 8 10 at 2 4 5.5 7 9",
}  # levels, and where one gives way to the next


def make(folder: Path, reviews: int, year: int = 2025, seed: int = 0) -> Path:
    """Write the folder: two snapshots (release, final) of so many reviews each, all outcomes known."""
    with duckdb.connect(config={"temp_directory": str(folder) + ".tmp"}) as con:
        con.execute("set preserve_insertion_order = false")
        con.execute(SCHEMA.read_text())
        con.execute(f"create macro uniform(a, b) as (hash(a, b, {seed}) % 1000000007) / 1000000007.0")
        con.execute("create macro normal(a, b) as (uniform(a, b) + uniform(a, b + 1) + uniform(a, b + 2) - 1.5) * 2")
        con.execute(_panels(reviews // SIZE, year))
        for number, stage in enumerate(("release", "final"), start=1):
            con.execute(_submissions(number))
            con.execute(_reviews(number, stage, year))
            con.execute(_snapshot(number, stage, year))
        for table in TABLES:
            (folder / table).mkdir(parents=True)
            con.execute(f"copy {table} to '{folder}/{table}/0.parquet' (format parquet)")
    return folder


def _panels(papers: int, year: int) -> str:
    levels, cuts = (part.split() for part in CUTS[year].split(" at "))
    steps = " ".join(f"when score < {cut} then {level}" for level, cut in zip(levels, cuts, strict=False))
    return f"""
        create table panels as
        with drawn as (
            select paper::integer as paper, review::integer as review, normal(paper, 0) as quality,
                   5 + 1.2 * normal(paper, 0) + 1.7 * normal(paper * 8 + review, 10) as first_score
            from range({papers}) as p(paper), range(5) as r(review) where review < {SIZE - 1} + paper % 3
        ), moved as (
            select *, avg(first_score) over (partition by paper) as middle from drawn
        ), scored as (
            select *, first_score as score, 'release' as stage from moved union all
            select *, if(uniform(paper * 8 + review, 20) < 0.125, middle, first_score), 'final' from moved
        )
        select paper, review, stage, quality, middle, (case {steps} else {levels[-1]} end)::tinyint as rating from scored
    """


def _submissions(number: int) -> str:
    return f"""
        insert into submissions by name
        select {number} as snapshot_id, paper, 'paper' || paper as forum, paper as number, outcome, outcome as outcome_then,
               if(outcome = 'accepted', 'poster', null) as tier
        from (
            select distinct paper, case when uniform(paper, 30) < 0.02 then 'desk_rejected'
                when quality + normal(paper, 40) / 4 > 0.5 then 'accepted' when uniform(paper, 50) < 0.2 then 'withdrawn'
                else 'rejected' end as outcome
            from panels
        )
    """


def _reviews(number: int, stage: str, year: int) -> str:
    own, levels = ("experience", 4) if year == 2020 else ("confidence", 5)
    return f"""
        insert into reviews by name
        select {number} as snapshot_id, paper, 'paper' || paper as forum, paper || '-' || review as review_id, rating,
               (1 + floor({levels} * uniform(paper * 8 + review, 60)))::tinyint as {own},
               (100 + 900 * uniform(paper * 8 + review, 70))::integer as words,
               timestamp '2024-10-20' + to_minutes((30000 * uniform(paper * 8 + review, 80))::bigint) as created_at
        from panels where stage = '{stage}' order by paper, review
    """


def _snapshot(number: int, stage: str, year: int) -> str:
    counts = ", ".join(
        f"count(*) filter (outcome = '{one}') as {one}"
        for one in ("accepted", "rejected", "workshop", "withdrawn", "desk_rejected", "undecided")
    )
    day = f"{year - 1}-11-12" if stage == "release" else f"{year}-02-01"
    return f"""
        insert into snapshots by name
        select {number} as snapshot_id, 'ICLR' as venue, {year} as year,
               '{day if stage == "release" else "final"}' as name, '{stage}' as stage, timestamp '{day}' as taken_at,
               'notes' as source, 'complete' as outcomes, 'openreview' as paper_ids, 'openreview' as review_ids,
               count(*)::integer as papers, (select count(*)::integer from reviews where snapshot_id = {number}) as reviews,
               {counts}, 'synthetic {number}' as digest, '{__version__}' as suite_version
        from submissions where snapshot_id = {number}
    """


if __name__ == "__main__":
    make(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
