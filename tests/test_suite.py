"""The suite as a whole: the same bytes on every run, warm or not, and notebooks that run on any bundled year."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from analysis import ROOT

COLD = (
    "from analysis import page, runner; from analysis import ROOT\n"
    "settings = runner.Settings(warm=False, jobs=1, only=('02', '04', '08'))\n"
    "result = runner.run([2020], settings, print); page.make(ROOT / 'figures')\n"
    "raise SystemExit(result.status)"
)

SOME = re.compile(r"/(02|04|08)-")


def project(folder: Path) -> Path:
    for name in ("analysis", "notebooks", "data/bundled"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def run(root: Path, *arguments: str) -> str:
    shown = subprocess.run(
        [sys.executable, *arguments],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.returncode == 0, shown.stderr
    return shown.stdout + shown.stderr


def bytes_below(root: Path) -> dict[str, str]:
    figures = root / "figures"
    return {
        str(path.relative_to(figures)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(figures.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def first(tmp_path_factory) -> Path:
    root = project(tmp_path_factory.mktemp("first"))
    run(root, "-m", "analysis", "run", "--years", "2020")
    return root


def test_every_figure_has_all_its_forms_and_no_notebook_an_error(first):
    names = bytes_below(first)
    for stem in (
        "02-scores/ratings",
        "02-scores/averages",
        "07-acceptance/sixes",
        "03-deciles/top",
        "04-experience/experience",
    ):
        for suffix in ("pdf", "svg", "png", "csv"):
            assert f"iclr-2020/2019-11-08/{stem}.{suffix}" in names
    assert '"output_type": "error"' not in "".join(path.read_text() for path in (first / "runs").rglob("*.ipynb"))


def test_a_figure_is_stamped_with_the_papers_that_it_shows(first):
    """2024 knows no outcomes: it is among the years, and not in the figure of what was accepted."""
    manifest = json.loads((first / "figures" / "iclr" / "05-years" / "manifest.json").read_text())
    (sixes,) = [figure for figure in manifest["figures"] if figure["name"] == "sixes"]
    assert "36,333 papers" in sixes["caption"] and "36,333 papers" in sixes["stamp"]
    assert "43,595 papers" in manifest["stamp"]


def test_a_second_run_does_nothing_and_a_forced_one_changes_no_byte(first):
    before = bytes_below(first)
    stamps = {path: path.stat().st_mtime_ns for path in (first / "figures").rglob("*/*")}
    assert " notebooks: 0 done" in run(first, "-m", "analysis", "run", "--years", "2020")
    assert stamps == {path: path.stat().st_mtime_ns for path in (first / "figures").rglob("*/*")}
    run(first, "-m", "analysis", "run", "--years", "2020", "--only", "02,06,07", "--force")
    assert bytes_below(first) == before


def test_another_folder_and_plain_kernels_give_the_same_bytes(first, tmp_path):
    other = project(tmp_path / "another folder")
    run(other, "-c", COLD)
    again, before = (
        {name: of for name, of in bytes_below(root).items() if SOME.search(name)} for root in (other, first)
    )
    assert again == before and len(again) > 50
    assert any(name.endswith("notebook.html") for name in again)


def test_a_notebook_without_outcomes_or_reviewers_says_so(tmp_path):
    root = project(tmp_path / "project")
    run(root, "-m", "analysis", "run", "--years", "2021,2024", "--only", "01,02,03,04,07,08")
    text = (root / "runs" / "iclr-2024" / "2023-11-10" / "07-acceptance.ipynb").read_text()
    assert "does not know who was accepted" in text
    text = (root / "runs" / "iclr-2021" / "2020-11-11" / "04-experience.ipynb").read_text()
    assert "this is final (final), the newest that has it" in text
    assert (root / "figures" / "iclr-2021" / "2020-11-11" / "04-experience" / "confidence.png").is_file()


def test_notebooks_that_need_notes_say_so_and_leave_nothing_without_them(tmp_path):
    root = project(tmp_path / "project")
    run(root, "-m", "analysis", "run", "--years", "2017", "--only", "10,11")
    for name, lacking in (("10-topics", "titles, keywords and areas"), ("11-reviews", "texts, times and comments")):
        text = (root / "runs" / "iclr-2017" / "final" / f"{name}.ipynb").read_text()
        assert f"ICLR 2017, final (bundled) has no {lacking}: this is left out." in text
        assert not list((root / "figures").rglob(f"*{name}*"))
    assert "2 notebooks: 0 done, 2 up to date" in run(
        root, "-m", "analysis", "run", "--years", "2017", "--only", "10,11"
    )


def test_notebooks_on_real_notes_publish_figures_with_numbers(tmp_path, review_data):
    root = project(tmp_path / "project")
    file = review_data / "iclr-api1" / "iclr2017_forums.jsonl.gz"
    run(root, "-m", "analysis", "fetch", "--load", str(file), "--snapshot", "2021-04-01")
    run(root, "-m", "analysis", "run", "--years", "2017", "--source", "notes", "--only", "10,11")
    for name, figures in (
        ("10-topics", ["keywords", "keywords-most"]),
        ("11-reviews", ["lengths-rating", "lengths-confidence", "arrivals", "hours", "discussion", "threads"]),
    ):
        folder = root / "figures" / "iclr-2017" / "2021-04-01" / name
        manifest = json.loads((folder / "manifest.json").read_text())
        assert [figure["name"] for figure in manifest["figures"]] == figures
        assert all(len((folder / f"{figure}.csv").read_text().splitlines()) > 2 for figure in figures)
