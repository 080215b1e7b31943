"""The commands as people type them."""

import json
import os
import re
import subprocess
import sys

import pytest

from analysis import ROOT


def run(*arguments: str, database=None) -> subprocess.CompletedProcess:
    where = ["--database", str(database)] if database else []
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", "analysis", *arguments, *where],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


def test_help_is_quick_and_imports_nothing_heavy():
    code = "import sys; from analysis.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\nprint(sorted(sys.modules), file=sys.stderr)"
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "examples:" in shown.stdout
    assert not re.search(r"'(duckdb|pandas|numpy|matplotlib|papermill|openreview)'", shown.stderr)


@pytest.mark.parametrize(
    "command", ["fetch", "run", "stand", "stat", "status", "check", "diff", "digest", "export", "prune"]
)
def test_every_command_has_help_with_an_example(command):
    shown = run(command, "--help")
    assert shown.returncode == 0 and "example" in shown.stdout


def test_stand_answers_where_no_store_exists_yet_with_the_sentence_of_the_readme(tmp_path):
    shown = run("stand", "--year", "2020", "--snapshot", "final", "6", "6", "6", database=tmp_path / "reviews.duckdb")
    assert shown.returncode == 0
    readme = re.sub(r"\s*\n> ", " ", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert shown.stdout.splitlines()[0] in readme


def test_stand_imports_neither_scipy_nor_seaborn(bundled_store):
    code = (
        "import sys; from analysis.cli import main\n"
        "main(['stand', '--year', '2020', '6', '6', '6', '--database', sys.argv[1]])\n"
        "sys.exit(any(name in sys.modules for name in ('scipy', 'seaborn', 'matplotlib', 'papermill')))"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code, str(bundled_store)], cwd=ROOT, capture_output=True, check=False
        ).returncode
        == 0
    )


def test_stand_as_json_is_stable_and_holds_fractions(bundled_store):
    arguments = ("stand", "--year", "2026", "2", "4", "6", "6", "--format", "json")
    first, second = run(*arguments, database=bundled_store), run(*arguments, database=bundled_store)
    assert first.stdout == second.stdout
    answer = json.loads(first.stdout)
    assert answer["snapshot"] == "2025-11-17" and answer["stage"] == "release"
    assert answer["positions"][0]["below"] == pytest.approx(0.5282, abs=1e-4)


def test_an_average_is_matched_to_what_it_rounds(bundled_store):
    shown = run("stand", "--year", "2020", "--snapshot", "final", "--average", "4.67", database=bundled_store)
    assert shown.returncode == 0 and "4.67" in shown.stdout


@pytest.mark.parametrize("format", ["table", "csv", "json", "markdown", "latex"])
def test_a_statistic_in_every_format(bundled_store, format):
    shown = run("stat", "top", "--year", "2020", "--snapshot", "2019-11-08", "--format", format, database=bundled_store)
    assert shown.returncode == 0 and "7.33" in shown.stdout


def test_messages_go_to_stderr(bundled_store):
    shown = run("stat", "experience", "--year", "2020", "--format", "json", database=bundled_store)
    assert [row["count"] for row in json.loads(shown.stdout)] == [1108, 2553, 2660, 1449]
    assert "this is 2019-12-01 (discussed), the newest that has it" in shown.stderr


def test_a_statistic_is_split_by_a_column_and_several_years_stand_together(bundled_store):
    shown = run("stat", "ratings", "--years", "2019,2020", "--by", "outcome", "--format", "csv", database=bundled_store)
    assert shown.stdout.startswith("year,outcome,rating,label")
    rows = shown.stdout.splitlines()[1:]
    assert sum(int(row.split(",")[-5]) for row in rows if row.startswith("2020")) == 7775


def test_a_file_of_ones_own_is_joined(bundled_store, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("forum,kind\nbundled-2017-00001,theory\nbundled-2017-00002,theory\n")
    shown = run(
        "stat",
        "averages",
        "--year",
        "2017",
        "--by",
        "kind",
        "--join",
        str(path),
        "--format",
        "json",
        database=bundled_store,
    )
    rows = json.loads(shown.stdout)
    assert {row["kind"] for row in rows} == {"theory"} and rows[0]["n"] == 2


def test_status_lists_the_snapshots(bundled_store):
    shown = run("status", "--format", "json", database=bundled_store)
    assert len(json.loads(shown.stdout)) == 16


BAD = [
    (("fetch", "--years", "2015"), "not on OpenReview"),
    (("stat", "ratings", "--year", "2013"), "no ratings"),
    (("fetch", "--years", "2031"), "ICLR 2031 is not known"),
    (("run", "--years", "twenty"), "`twenty` is not a year"),
    (("stat", "ratings", "--year", "2020", "--venue", "NeurIPS"), "no venue `NeurIPS`"),
    (("stat", "ratings", "--year", "2020", "--snapshot", "2019-11-09"), "2020 has 2019-11-08, 2019-12-01 or final"),
    (("stat", "ratings", "--year", "2017", "--snapshot", "release"), "no `release` snapshot; ICLR 2017 has final"),
    (("stat", "ratnigs", "--year", "2020"), "no statistic `ratnigs`; there are ledger"),
    (("stat", "ratings"), "Which year?"),
    (("stat", "positions", "--year", "2020"), "analysis stand"),
    (("stat", "ratings", "--year", "2020", "--population", "best"), "no population `best`"),
    (("stat", "ratings", "--year", "2024", "--population", "decided"), "not known"),
    (("stat", "ratings", "--year", "2020", "--by", "colour"), "no column `colour`"),
    (("stat", "sixes", "--year", "2024"), "not known"),
    (("run", "--years", "2020", "--only", "77"), "no notebook 77"),
    (("run", "--years", "2020", "-p", "yaer", "2021"), "no parameter `yaer`"),
    (("run", "--years", "2020", "-p", "year", "twenty"), "takes a whole number, not 'twenty'"),
    (("stand", "--year", "2020", "6", "6", "7"), "the scale is 1, 3, 6 or 8"),
    (("stand", "--year", "2020", "6", "six"), "whole numbers"),
    (("stand", "--year", "2020"), "Give the ratings"),
    (("stand", "--years", "2019,2020", "6"), "one year"),
    (("stand", "--year", "2020", "--average", "9.5"), "9.5"),
    (("diff", "--year", "2020", "2019-12-01", "final"), "Which reviews of ICLR 2020, 2019-12-01 (bundled) and final"),
    (("diff", "--years", "2019,2020", "final", "final"), "`diff` takes one year"),
    (("digest", "--year", "2020", "--snapshot", "a,b,c"), "`digest` takes one snapshot or two"),
    (("prune",), "no fetched snapshot of any year"),
    (("prune", "--keep", "-1"), "0 or more"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "said"), BAD, ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_bad_input_is_one_sentence_and_changes_nothing(bundled_store, arguments, said):
    before = bundled_store.stat()
    shown = run(*arguments, database=bundled_store)
    assert shown.returncode != 0 and shown.stdout == ""
    assert len(shown.stderr.strip().splitlines()) == 1 and re.search(re.escape(said).replace(r"\ ", " "), shown.stderr)
    after = bundled_store.stat()
    assert (before.st_ino, before.st_mtime_ns, before.st_size) == (after.st_ino, after.st_mtime_ns, after.st_size)


def test_2026_never_shows_all_accepted_and_offers_what_is_known(bundled_store):
    shown = run("stat", "rates", "--year", "2026", database=bundled_store)
    assert "accepted / reviewed = 5,358 / 19,472 = 27.5 %" in shown.stdout and "100.0 %" not in shown.stdout
    refused = run("stat", "ratings", "--year", "2026", "--population", "decided", database=bundled_store)
    assert refused.returncode == 1 and "5,358 / 19,472 = 27.5 %" in refused.stderr


def test_a_closed_pipe_is_no_trouble(bundled_store):
    with subprocess.Popen(
        [sys.executable, "-m", "analysis", "stat", "averages", "--year", "2026", "--database", str(bundled_store)],
        cwd=ROOT, stdout=-1, stderr=-1,
    ) as process:  # fmt: skip
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
