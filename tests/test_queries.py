"""Queries: what a published frame was made of, and the commands that give its numbers again."""

from __future__ import annotations

import shlex

import pandas as pd
import pytest

from analysis import cli, notebook
from analysis.page.commands import with_commands
from analysis.statistics import agreement, paper, queries, scales, standing, thresholds
from analysis.statistics.ratings import ratings


@pytest.fixture(autouse=True)
def nothing_called_before():
    queries.called()


def sampled(year: int, snapshot: str, population: str = "reviewed") -> dict[str, object]:
    return {"venue": "ICLR", "year": year, "snapshot": snapshot, "population": population}


def commands(query: dict, store) -> list[str]:
    return with_commands(query, store).get("commands", [])


def test_what_a_statistic_calls_itself_is_a_part_of_it(bundled_sample):
    whole = bundled_sample(2017, "final", "all")
    standing.sentence(whole, [6, 6, 7])
    frame = thresholds.top(whole, seed=3)
    assert [one["statistic"] for one in queries.called()] == ["positions", "fate", "top"]
    assert queries.of(frame) == [
        {"statistic": "top", "samples": [sampled(2017, "final", "all")], "options": {"seed": 3}}
    ]
    assert queries.called() == []


def test_one_statistic_of_many_samples_is_one_query(bundled_sample, bundled_store):
    some = [bundled_sample(year) for year in (2017, 2018, 2024, 2026)]
    (query,) = queries.of(notebook.each_year(ratings, some))
    assert [one["year"] for one in query["samples"]] == [2017, 2018, 2024, 2026]
    assert commands(query, bundled_store) == [
        "python -m analysis stat ratings --year 2017,2018 --snapshot final --population reviewed",
        "python -m analysis stat ratings --year 2024 --snapshot 2023-11-27 --population reviewed",
        "python -m analysis stat ratings --year 2026 --snapshot 2025-11-17 --population reviewed",
    ]


def test_what_compares_years_is_asked_for_by_the_name_that_means_its_snapshots(bundled_sample, bundled_store):
    released, decided = ([bundled_sample(year, name) for year in (2020, 2026)] for name in ("release", "decision"))
    for some, alias in ((released, " --snapshot release"), (decided, "")):
        (query,) = queries.of(scales.rank_map(some, draws=5))
        del query["options"]["draws"]
        assert commands(query, bundled_store) == [
            f"python -m analysis stat rank-map --year 2020,2026{alias} --population reviewed"
        ]
    odd = [bundled_sample(2020, "2019-12-01"), bundled_sample(2026, "2025-11-22")]
    (query,) = queries.of(scales.rank_map(odd, draws=5))
    assert commands(query, bundled_store) == []


def test_pairs_are_asked_for_year_by_year(bundled_sample, bundled_store):
    around = [tuple(bundled_sample(year, name) for name in names) for year, names in PAIRS.items()]
    (query,) = queries.of(agreement.agreement_by_year(around, seed=1))
    assert commands(query, bundled_store) == [
        "python -m analysis stat agreement-change --year 2020 --snapshot 2019-11-08,final --population reviewed --seed 1",
        "python -m analysis stat agreement-change --year 2026 --snapshot 2025-11-17,2025-11-22 --population reviewed --seed 1",
    ]


PAIRS = {2020: ("2019-11-08", "final"), 2026: ("2025-11-17", "2025-11-22")}


def test_parts_of_a_sample_are_told_by_their_column(bundled_sample, bundled_store):
    (query,) = queries.of(notebook.each_level(ratings, bundled_sample(2017, "final"), "confidence"))
    assert query["by"] == "confidence" and query["samples"] == [sampled(2017, "final")]
    assert commands(query, bundled_store) == [
        "python -m analysis stat ratings --year 2017 --snapshot final --population reviewed --by confidence"
    ]


def test_a_command_prints_the_numbers_of_its_frame(bundled_sample, bundled_store, capsys):
    whole = bundled_sample(2017, "final", "all")
    made = {
        "top": thresholds.top(bundled_sample(2017, "final"), seed=3),
        "by": notebook.each_level(ratings, bundled_sample(2017, "final"), "confidence"),
        "positions": standing.positions(whole, [6, 6, 7]),
    }
    for name, frame in made.items():
        (command,) = commands(queries.of(frame)[0], bundled_store)
        arguments = shlex.split(command)[3:]
        assert cli.main([*arguments, "--database", str(bundled_store), "--format", "csv"]) == 0
        printed = capsys.readouterr().out
        for value in frame["below" if name == "positions" else "value"]:
            assert f"{value:.10g}" in printed


def test_options_that_the_command_line_lacks_have_no_command(bundled_sample, bundled_store):
    (query,) = queries.of(standing.error_of_average(bundled_sample(2017, "final"), reviews=2))
    assert query["options"] == {"reviews": 2} and commands(query, bundled_store) == []
    (query,) = queries.of(paper.alike_outcomes(bundled_sample(2017, "final", "all"), [6, 6, 7]))
    assert query["options"] == {"ratings": "6 6 7"} and commands(query, bundled_store) == []  # `stand` prints others


def test_frames_without_queries_have_none():
    assert queries.of(pd.DataFrame()) == []
    assert queries.joined([{"sql": "select 1"}, {"sql": "select 1"}]) == [{"sql": "select 1"}]
