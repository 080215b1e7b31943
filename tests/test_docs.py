"""README and docs: every command that needs no account runs, and every link inside the project leads somewhere."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from analysis import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(?:bash|sh|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
# What a test cannot do: it wants an account, a second machine, or somebody who looks at a window.
ELSEWHERE = re.compile(
    r"--source api|--scheduler|OPENREVIEW|\blab\b|cron|srun|sbatch|ssh |dask|rsync|git |pip |read -rs|prune"
)


def _commands() -> list[str]:
    lines = []
    for page in PAGES:
        for block in BLOCK.findall(page.read_text(encoding="utf-8")):
            joined = block.replace("\\\n", " ")
            lines += [line.split(" #")[0].strip() for line in joined.splitlines()]
    return [line for line in dict.fromkeys(lines) if line and not line.startswith("#")]


def _runnable(command: str) -> list[str]:
    """The arguments after `python -m analysis`; a run of the batch only tells what it would do."""
    words = shlex.split(command)
    if words[0] == "./run_all.sh":
        return ["run", *words[1:], "--dry-run"]
    return words[3:] if words[:3] == ["python", "-m", "analysis"] else []


COMMANDS = [one for one in _commands() if _runnable(one) and not ELSEWHERE.search(one) and "--load" not in one]


@pytest.fixture(scope="module")
def project(tmp_path_factory, bundled_store) -> Path:
    """A copy of what the commands read, with the bundled counts loaded."""
    root = tmp_path_factory.mktemp("docs")
    for folder in ("analysis", "notebooks", "data"):
        skipped = shutil.ignore_patterns("__pycache__", "reviews.duckdb*", "notes")
        shutil.copytree(ROOT / folder, root / folder, ignore=skipped)
    shutil.copy2(ROOT / "requirements.lock", root)
    shutil.copy2(bundled_store, root / "data" / "reviews.duckdb")
    return root


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_of_the_docs_run(project, command):
    done = subprocess.run(
        [sys.executable, "-m", "analysis", *_runnable(command)],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_there_are_commands_to_run():
    assert len(COMMANDS) > 10


def _anchors(text: str) -> set[str]:
    heads = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_inside_the_project_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|href|srcset)="([^"\s]+)"', text):
        if not re.match(r"https?:", target):
            path, _, anchor = target.partition("#")
            found = (page.parent / path).resolve() if path else page
            assert found.exists(), target
            if anchor and found.suffix == ".md":
                assert anchor in _anchors(found.read_text(encoding="utf-8")), target


def test_every_page_of_the_docs_is_reached_from_the_readme():
    text = PAGES[0].read_text(encoding="utf-8")
    assert [page.name for page in PAGES[1:] if f"docs/{page.name}" not in text] == []


def test_the_ways_to_open_the_project_name_files_that_exist():
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    assert (ROOT / ".devcontainer" / container["build"]["dockerfile"]).is_file()
    assert "environment.sh" in container["postCreateCommand"] and (ROOT / "environment.sh").is_file()
    required = (ROOT / "binder" / "requirements.txt").read_text()
    assert (ROOT / "binder" / re.search(r"^-r (.+)$", required, re.MULTILINE)[1]).is_file()
    python = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    assert (ROOT / "binder" / "runtime.txt").read_text().strip() == f"python-{python.removeprefix('>=')}"
