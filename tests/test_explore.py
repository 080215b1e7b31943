"""notebooks/explore.ipynb and JupyterLab: run as they are, with the suite's own kernel, outside the batch."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import nbformat
import pytest
from nbclient import NotebookClient

from analysis import ROOT, runner

NOTEBOOK = ROOT / "notebooks" / "explore.ipynb"


@pytest.mark.parametrize("year", [2017, 2020, 2024, 2026])
def test_it_runs_as_it_is_on_any_year(bundled_store, year, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # as run_all.sh sets it
    notebook = nbformat.read(NOTEBOOK, 4)
    source = notebook.cells[1].source
    assert "year: int = 2020" in source and "data/reviews.duckdb" in source
    notebook.cells[1].source = source.replace("2020", str(year)).replace("data/reviews.duckdb", str(bundled_store))
    notebook.cells.append(nbformat.v4.new_code_cell("import sys; sys.executable"))
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(ROOT / "notebooks")}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert not [output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"]
    assert [output for output in outputs if "image/png" in output.get("data", {})]
    assert repr(sys.executable) in outputs[-1].data["text/plain"]


def test_it_is_not_in_the_batch():
    assert NOTEBOOK not in runner._notebooks(runner.Settings())


def test_the_statistic_of_ones_own_agrees_with_counting(bundled_sample):
    cell = next(cell for cell in nbformat.read(NOTEBOOK, 4).cells if "def extremes" in cell.source)
    import pandas as pd

    from analysis import sample
    from analysis.statistics import intervals

    place = {"pd": pd, "sample": sample, "intervals": intervals}
    exec(cell.source, place)
    found, papers = (
        place["extremes"](bundled_sample(2020, "final")),
        bundled_sample(2020, "final").reviews.groupby("paper"),
    )
    expected = [papers["rating"].min().eq(1).mean(), papers["rating"].max().eq(8).mean()]
    assert found["value"].tolist() == pytest.approx(expected)


def test_lab_starts_jupyterlab_with_what_follows():
    """The script hands over to the environment's own JupyterLab, which finds the suite from any notebook."""
    if not shutil.which("bash"):
        pytest.skip("There is no bash here.")
    script = (ROOT / "run_all.sh").read_text()
    start = script[script.index("export PYTHONPATH") :]
    code = f'root="{ROOT}"; python="{sys.executable}"\n{start}'
    shown = subprocess.run(
        ["bash", "-c", code, "run_all.sh", "lab", "--version"], capture_output=True, text=True, env=dict(os.environ)
    )
    assert shown.returncode == 0 and shown.stdout.strip()[0].isdigit(), shown.stderr
