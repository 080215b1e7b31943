"""The runner over small notebooks, in a copy of the project."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from analysis import ROOT, runner
from analysis.errors import Trouble
from analysis.snapshots import Snapshot

YEAR = "year: int = 2020"
SNAPSHOT = 'year: int = 2020\nsnapshot: str = ""'
PUBLISH = """
import json, pathlib
where = pathlib.Path(f"figures/iclr-{year}/{snapshot}/02-made")
where.mkdir(parents=True, exist_ok=True)
(where / "one.csv").write_text("a")
(where / "manifest.json").write_text(json.dumps({"files": ["one.csv"]}))
"""


def write(root: Path, name: str, parameters: str, *cells: str) -> None:
    made = [new_code_cell(parameters, metadata={"tags": ["parameters"]}), *map(new_code_cell, cells)]
    # A notebook often carries the name of its author's environment.
    metadata = {"kernelspec": {"name": "py39_new", "display_name": "x", "language": "python"}}
    nbformat.write(new_notebook(cells=made, metadata=metadata), root / "notebooks" / f"{name}.ipynb")


@pytest.fixture
def settings(tmp_path) -> runner.Settings:
    """Settings for a project of its own, with the real package and no notebooks yet.

    Plain kernels start sooner where there are few; tests of what forked ones do ask for them.
    """
    root = tmp_path / "with a space"
    (root / "notebooks").mkdir(parents=True)
    shutil.copytree(ROOT / "analysis", root / "analysis", ignore=shutil.ignore_patterns("__pycache__"))
    return runner.Settings(root=root, database=root / "data" / "reviews.duckdb", jobs=2, warm=False)


class Said(list):
    """What the runner says, a line an entry."""

    def __call__(self, line: str) -> None:
        self.append(line)

    def __str__(self) -> str:
        return "\n".join(self)


def outputs(settings: runner.Settings, key: str) -> str:
    return (settings.root / "runs" / f"{key}.ipynb").read_text()


def test_a_notebook_runs_once_for_whatever_it_takes(settings):
    write(settings.root, "01-load", YEAR, "print('year', year)")
    write(settings.root, "02-made", SNAPSHOT, "print('snapshot', snapshot)")
    write(
        settings.root, "03-pair", 'year: int = 2020\nbefore: str = ""\nafter: str = ""', "print('pair', before, after)"
    )
    write(settings.root, "04-all", "years: list = []", "print('years', years)")
    result = runner.run([2017, 2020], settings, Said())
    assert result.status == 0
    assert sorted(result.done) == [
        "iclr-2017/01-load", "iclr-2017/final/02-made", "iclr-2020/01-load", "iclr-2020/03-pair", "iclr-2020/2019-11-08/02-made",
        "iclr-2020/2019-12-01/02-made", "iclr-2020/final/02-made", "iclr/04-all",
    ]  # fmt: skip
    assert "years []" in outputs(settings, "iclr/04-all")  # all that the store has, whichever this run is about
    assert "pair 2019-11-08 final" in outputs(settings, "iclr-2020/03-pair")


def test_the_loading_notebook_comes_first(settings):
    write(settings.root, "01-load", YEAR, "import time; time.sleep(0.5); print(time.time())")
    write(settings.root, "02-made", SNAPSHOT, "import time; print(time.time())")
    said = Said()
    runner.run([2017], settings, said)
    assert [line.split()[0] for line in said if line.startswith("0")] == ["01-load", "02-made"]


@pytest.mark.parametrize("warm", [True, False])
def test_kernels_are_those_of_this_interpreter_and_show_figures(settings, warm):
    probe = "import sys, os, analysis; print(sys.executable); print(os.getcwd()); print(analysis.__file__)"
    picture = "import matplotlib.pyplot as plt; plt.plot([1, 2]);"
    write(settings.root, "02-made", SNAPSHOT, probe, picture)
    assert runner.run([2017], replace(settings, warm=warm), Said()).status == 0
    cells = json.loads(outputs(settings, "iclr-2017/final/02-made"))["cells"]
    assert "".join(cells[-2]["outputs"][0]["text"]).split("\n")[:3] == [
        sys.executable, str(settings.root), str(settings.root / "analysis" / "__init__.py"),
    ]  # fmt: skip
    assert any("image/png" in output.get("data", {}) for output in cells[-1]["outputs"])


def test_a_failure_is_kept_and_told_and_the_rest_goes_on(settings):
    write(settings.root, "02-made", SNAPSHOT, "x = 1", "1 / 0", "x = 2")
    write(settings.root, "03-good", SNAPSHOT, "print('still here')")
    said = Said()
    result = runner.run([2017], settings, said)
    assert (
        result.status == 1
        and result.failed == ["iclr-2017/final/02-made"]
        and result.done == ["iclr-2017/final/03-good"]
    )
    # The third cell of the source; papermill put another one and two notes before it.
    assert "02-made  ICLR 2017 final  FAILED: cell 3: ZeroDivisionError: division by zero (kept in runs/" in str(said)
    assert "ZeroDivisionError" in outputs(settings, "iclr-2017/final/02-made")
    assert "1 failed" in said[-1]


def test_nothing_runs_on_data_that_failed_to_load(settings):
    write(settings.root, "01-load", YEAR, "assert year != 2017")
    write(settings.root, "02-made", SNAPSHOT, "pass")
    result = runner.run([2017, 2018], settings, Said())
    assert result.failed == ["iclr-2017/01-load"] and result.skipped == ["iclr-2017/final/02-made"]
    assert result.status == 1 and "iclr-2018/final/02-made" in result.done


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"yaer": "2021"}, "no parameter `yaer`"),
        ({"year": "twenty"}, "takes a whole number, not 'twenty'"),
        ({"year": "2021"}, "option of that name"),
    ],
)
def test_parameters_are_checked_before_anything_starts(settings, given, said):
    write(settings.root, "02-made", SNAPSHOT, "pass")
    with pytest.raises(Trouble, match=said):
        runner.run([2017], replace(settings, given=given), Said())
    assert not (settings.root / "runs").exists() and not (settings.root / "data").exists()


def test_an_unknown_notebook_names_those_that_exist(settings):
    write(settings.root, "02-made", SNAPSHOT, "pass")
    with pytest.raises(Trouble, match="no notebook 07; there are 02-made"):
        runner.run([2017], replace(settings, only=("07",)), Said())


def test_a_snapshot_that_some_years_lack_is_skipped_with_a_line_and_none_is_an_error(settings):
    write(settings.root, "02-made", SNAPSHOT, "pass")
    said = Said()
    result = runner.run([2017, 2020], replace(settings, snapshot="2019-11-08"), said)
    assert (
        result.done == ["iclr-2020/2019-11-08/02-made"] and "ICLR 2017 has no snapshot `2019-11-08`: left out" in said
    )
    with pytest.raises(Trouble, match="no snapshot `2019-11-08`"):
        runner.run([2017], replace(settings, snapshot="2019-11-08"), Said())


def test_what_is_up_to_date_is_skipped_and_the_reasons_are_told(settings):
    write(settings.root, "02-made", SNAPSHOT, PUBLISH)
    key, dry = "iclr-2017/final/02-made", replace(settings, dry_run=True)

    def reasons(settings=dry) -> str:
        said = Said()
        runner.run([2017], settings, said)
        return str(said)

    assert "never run" in reasons()
    assert runner.run([2017], settings, Said()).done == [key]
    assert runner.run([2017], settings, Said()).fresh == [key]
    assert reasons() == ""
    assert "forced" in reasons(replace(dry, force=True))
    (settings.root / "figures" / key / "one.csv").unlink()
    assert "outputs missing" in reasons()
    write(settings.root, "02-made", SNAPSHOT, PUBLISH, "# another cell")
    assert "notebook changed" in reasons()
    (settings.root / "requirements.lock").write_text("numpy==1\n")
    assert "notebook and libraries changed" in reasons()
    (settings.root / "data" / "venues.toml").write_text("[venues]\n")
    assert "data" in reasons()


def test_a_notebook_that_publishes_nothing_is_up_to_date_without(settings):
    write(settings.root, "02-made", SNAPSHOT, "print('This snapshot has no texts.')")
    key = "iclr-2017/final/02-made"
    assert runner.run([2017], settings, Said()).done == [key]
    assert runner.run([2017], settings, Said()).fresh == [key]


def test_a_changed_package_reruns_everything(settings):
    write(settings.root, "02-made", SNAPSHOT, PUBLISH)
    runner.run([2017], settings, Said())
    (settings.root / "analysis" / "errors.py").open("a").write("# changed\n")
    runner.package_digest.cache_clear()
    said = Said()
    runner.run([2017], replace(settings, dry_run=True), said)
    assert "package changed" in str(said)


def test_a_hung_cell_is_stopped_and_told(settings):
    write(settings.root, "02-made", SNAPSHOT, "import time; time.sleep(60)")
    said = Said()
    began = time.monotonic()
    assert runner.run([2017], replace(settings, cell_timeout=1, warm=True), said).status == 1
    assert time.monotonic() - began < 30 and "FAILED: cell 2: it took longer than --cell-timeout" in str(said)
    assert "CellTimeoutError" in outputs(settings, "iclr-2017/final/02-made")


def test_a_dying_kernel_is_told(settings):
    write(settings.root, "02-made", SNAPSHOT, "import os; os._exit(1)")
    said = Said()
    assert runner.run([2017], replace(settings, warm=True), said).status == 1
    assert "FAILED: cell 2: its kernel died" in str(said)
    nbformat.validate(nbformat.reads(outputs(settings, "iclr-2017/final/02-made"), 4))
    assert "DeadKernelError" in outputs(settings, "iclr-2017/final/02-made")


def test_kernels_that_cannot_be_forked_are_started_the_plain_way(settings):
    write(settings.root, "02-made", SNAPSHOT, "print('plain')")
    (settings.root / "analysis" / "kernels.py").write_text("raise SystemExit(3)\n")
    assert runner.run([2017], replace(settings, warm=True), Said()).done == ["iclr-2017/final/02-made"]
    assert "plain" in outputs(settings, "iclr-2017/final/02-made")


def test_data_that_changes_while_a_notebook_runs_makes_it_run_again(settings):
    change = '(pathlib.Path("data") / "venues.toml").write_text("# changed")'
    write(settings.root, "02-made", SNAPSHOT, PUBLISH, change)
    write(settings.root, "01-load", SNAPSHOT, PUBLISH.replace("02-made", "01-load"))
    runner.run([2017], settings, Said())
    said = Said()
    runner.run([2017], replace(settings, dry_run=True, only=("02",)), said)
    assert said == ["02-made  ICLR 2017 final: data changed"]


def test_a_record_that_cannot_be_read_counts_as_none(settings):
    write(settings.root, "02-made", SNAPSHOT, "pass")
    record = settings.root / "runs" / "iclr-2017" / "final" / "02-made.json"
    record.parent.mkdir(parents=True)
    record.write_text("{}\n")
    said = Said()
    runner.run([2017], replace(settings, dry_run=True), said)
    assert said[-1] == "02-made  ICLR 2017 final: never run"


@pytest.mark.parametrize(("year", "why"), [(2015, "2015"), (2031, "2031 is not known"), (2025, "not bundled")])
def test_a_year_that_cannot_be_had_is_explained_before_anything_is_loaded(settings, year, why):
    write(settings.root, "01-load", YEAR, "pass")
    with pytest.raises(Trouble, match=why):
        runner.run([2017, year], settings, Said())
    assert not settings.database.exists() and not (settings.root / "runs").exists()


def snapshot(name: str, stage: str, paper_ids: str) -> Snapshot:
    taken = datetime(2020, 1, {"release": 1, "discussed": 2, "final": 3}[stage])
    return Snapshot(1, "ICLR", 2020, name, stage, taken, "api", "complete", paper_ids, paper_ids, 1, 1, name)


def test_a_pair_is_of_the_same_papers():
    first, later = snapshot("a", "release", "bundled"), snapshot("b", "discussed", "bundled")
    final = snapshot("final", "final", "api")
    assert runner._pairs([first, later, final]) == [{"before": "a", "after": "b"}]
    assert runner._pairs([first, final]) == runner._pairs([final]) == []


def test_many_at_once(settings):
    for number in range(2, 10):
        write(settings.root, f"0{number}-made", SNAPSHOT, f"print({number})")
    assert len(runner.run([2017], replace(settings, jobs=8, warm=True), Said()).done) == 8


def kernels_of(root: Path) -> list[int]:
    """The processes that work in a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and Path(os.readlink(entry / "cwd")) == root and int(entry.name) != os.getpid():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def gone(root: Path, within: float) -> bool:
    until = time.monotonic() + within
    while time.monotonic() < until:
        if not kernels_of(root):
            return True
        time.sleep(0.1)
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize("warm", [True, False])
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_no_process_outlives_the_runner_and_the_next_run_completes(settings, sent, warm):
    hang = 'import pathlib, time\nif not pathlib.Path("go").exists(): pathlib.Path("begun").touch(); time.sleep(60)'
    write(settings.root, "02-made", SNAPSHOT, hang)
    code = (
        "import sys; from pathlib import Path; from analysis import runner\n"
        "root = Path(sys.argv[1])\n"
        "database = root / 'data' / 'reviews.duckdb'\n"
        "runner.run([2017], runner.Settings(root=root, database=database, warm=bool(sys.argv[2])), print)"
    )
    command = [sys.executable, "-c", code, str(settings.root), "1" * warm]
    with subprocess.Popen(command, cwd=ROOT, stdout=-3, stderr=-3) as process:
        until = time.monotonic() + 30
        while not (settings.root / "begun").exists() and time.monotonic() < until:
            time.sleep(0.05)
        assert kernels_of(settings.root)
        process.send_signal(sent)
        process.wait(10)
    assert gone(settings.root, within=5)
    (settings.root / "go").touch()
    assert runner.run([2017], settings, Said()).done == ["iclr-2017/final/02-made"]
    assert gone(settings.root, within=5)


@pytest.mark.parametrize(("free", "fitting"), [(100, 5), (1.2, 2), (0.1, 1)])
def test_no_more_notebooks_run_at_once_than_fit_into_memory(monkeypatch, free, fitting):
    """With a million reviews a kernel is taken to need some 500 MiB."""
    taken = datetime(2020, 1, 1)
    held = [Snapshot(1, "ICLR", 2020, "final", "final", taken, "api", "complete", "x", "x", 250_000, 1_000_000, "x")]
    job = runner.Job(Path("02-made.ipynb"), "iclr-2020", {}, (2020,), "made")
    monkeypatch.setattr(runner, "_cores", lambda: 4)
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=int(free * 2**30)))
    assert runner._at_once([job, job], held) == fitting


TWO = """
import sys
from pathlib import Path
from analysis import runner

root = Path(sys.argv[1])
settings = runner.Settings(root=root, database=root / "data" / "reviews.duckdb", jobs=1, warm=False)
say = lambda line: print(line, flush=True)
with runner.alone(root, say):
    sys.exit(runner.run([2017], settings, say).status)
"""


def test_of_two_runs_in_one_folder_the_second_waits_and_finds_the_work_done(settings):
    write(settings.root, "02-made", SNAPSHOT, PUBLISH, "import time; time.sleep(1)")
    start = {"cwd": ROOT, "stdout": subprocess.PIPE, "text": True}
    command = [sys.executable, "-c", TWO, str(settings.root)]
    first = subprocess.Popen(command, **start)
    line = first.stdout.readline()  # it has begun
    second = subprocess.run(command, **start, timeout=60)
    assert "1 done" in line + first.communicate(timeout=60)[0] and first.returncode == 0
    assert f"another run is at work here (process {first.pid}): waiting" in second.stdout
    assert "1 notebook: 0 done, 1 up to date" in second.stdout and second.returncode == 0
