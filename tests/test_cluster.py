"""A cluster on this machine: a scheduler, workers in folders of their own, and all that can befall them."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import warnings
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from test_runner import SNAPSHOT, Said, write

from analysis import ROOT, cluster, runner
from analysis.compute import Asked, compute
from analysis.errors import Trouble
from analysis.export import export

pytest.importorskip("distributed", reason="dask.distributed is not installed; requirements-cluster.lock has it.")
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")

HANG = """
import os, pathlib, time
begun = pathlib.Path(DATABASE).parent / "begun"
if not begun.exists():
    begun.write_text(str(os.getppid())); time.sleep(120)
print("done by", os.getcwd())
"""


def until(holds, seconds: float = 60) -> bool:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.1)
    return bool(holds())


class Machines:
    """A scheduler and workers, processes of this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.processes = folder, []
        folder.mkdir(exist_ok=True)
        known = folder / f"scheduler-{time.monotonic_ns()}.json"
        options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(known)]
        self.scheduler = self._start(folder, "distributed.cli.dask_scheduler", *options)
        assert until(lambda: known.exists() and known.stat().st_size), "The scheduler did not start."
        self.address = json.loads(known.read_text())["address"]

    def worker(self, name: str, **options) -> subprocess.Popen:
        """A worker in a checkout of its own, there when it has registered."""
        checkout = project(self.folder / name)
        command = ["distributed.cli.dask_worker", self.address, "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny"]
        process = self._start(checkout, *command, "--no-dashboard", "--name", name, "--death-timeout", "60", **options)
        assert until(lambda: name in self.names()), f"The worker {name} did not start."
        return process

    def names(self) -> list[str]:
        from distributed import Client

        with warnings.catch_warnings(action="ignore"), Client(self.address, set_as_default=False) as client:
            return [str(one["name"]) for one in client.scheduler_info()["workers"].values()]

    def _start(self, checkout: Path, *command: str, path: str = "", **options) -> subprocess.Popen:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [path, str(checkout)]))}
        process = subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=checkout, env=environment, stdout=-3, stderr=-3, start_new_session=True, **options,
        )  # fmt: skip
        self.processes.append(process)
        return process

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


def project(folder: Path, *names: str) -> Path:
    """What a worker needs of the repository; with more names, what home has besides."""
    for name in ("analysis", "data/bundled", *names):
        if not (folder / name).exists():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@contextmanager
def machines(folder: Path):
    opened = Machines(folder)
    try:
        yield opened
    finally:
        opened.close()


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Two workers for all that does no harm."""
    with machines(tmp_path_factory.mktemp("two")) as opened:
        opened.worker("one")
        opened.worker("two")
        yield opened


@pytest.fixture
def settings(tmp_path, bundled_store) -> runner.Settings:
    """A home with no notebooks yet, and the data of 2017 in a folder that all see."""
    home = tmp_path / "home"
    (home / "notebooks").mkdir(parents=True)
    export(bundled_store, tmp_path / "shared" / "iclr", "ICLR", (2017,))
    return runner.Settings(root=home, database=tmp_path / "shared" / "iclr", warm=False)


def hanging(settings: runner.Settings, *more: str) -> Path:
    """A notebook that hangs until it is run a second time; gives the file that says it began."""
    for name in ("02-made", *more):
        write(settings.root, name, SNAPSHOT, HANG.replace("DATABASE", repr(str(settings.database))))
    return settings.database.parent / "begun"


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def executed(settings: runner.Settings, name: str = "02-made") -> str:
    return (settings.root / "runs" / "iclr-2017" / "final" / f"{name}.ipynb").read_text()


# The same as on one machine ---------------------------------------------------------------------------------------------


def test_the_grid_gives_the_same_bytes_on_two_workers(two, settings, tmp_path):
    alone = replace(settings, root=project(tmp_path / "alone", "notebooks"), only=("02", "03"), jobs=2, warm=True)
    spread = replace(alone, root=project(tmp_path / "spread", "notebooks"), scheduler=two.address, jobs=0)
    said = Said()
    assert runner.run([2017], alone, Said()).status == runner.run([2017], spread, said).status == 0
    assert f"{two.address}: 2 workers with 2 threads" in said and "2 notebooks: 2 done" in said[-1]
    ours, theirs = (files_below(one.root / "figures") for one in (alone, spread))
    assert "iclr-2017/final/02-scores/ratings.png" in ours and ours == theirs
    # Nothing stays in the workers' checkouts, and what is up to date needs no cluster.
    assert not [path for path in two.folder.rglob("figures") if path.is_dir()]
    again = runner.run([2017], replace(spread, scheduler="tcp://127.0.0.1:9"), Said())
    assert len(again.fresh) == 2 and again.status == 0


def test_a_failure_is_kept_and_told_and_the_rest_goes_on(two, settings):
    write(settings.root, "02-made", SNAPSHOT, "x = 1", "1 / 0")
    write(settings.root, "03-good", SNAPSHOT, "print('still here')")
    said = Said()
    result = runner.run([2017], replace(settings, scheduler=two.address), said)
    assert result.status == 1 and result.done == ["iclr-2017/final/03-good"]
    assert "02-made  ICLR 2017 final  FAILED: cell 3: ZeroDivisionError: division by zero (kept in runs/" in str(said)
    assert "ZeroDivisionError" in executed(settings) and "still here" in executed(settings, "03-good")


def test_an_earlier_result_goes_when_there_is_nothing_to_publish(two, settings):
    write(settings.root, "02-made", SNAPSHOT, "pass")
    old = settings.root / "figures" / "iclr-2017" / "final" / "02-made" / "old.png"
    old.parent.mkdir(parents=True)
    old.write_text("")
    runner.run([2017], replace(settings, scheduler=two.address), Said())
    assert not old.parent.exists()


@pytest.mark.parametrize(
    ("name", "draws"), [("top", 10_000), ("agreement", 10_000), ("uncertain-order", 450), ("resampling", 1000)]
)
def test_draws_spread_over_two_workers_are_those_of_one_core(two, bundled_store, name, draws):
    asked = Asked(bundled_store, "ICLR", (2017,), seed=3, draws=draws)
    alone = compute(name, asked).frame
    with cluster.spread(two.address, Said()):
        spread = compute(name, asked).frame
    pd.testing.assert_frame_equal(alone, spread, check_exact=True)


def test_without_an_address_nothing_of_dask_is_imported(bundled_store):
    code = (
        "import sys; from analysis import cli, runner\n"
        f"cli.main(['stat', 'top', '--year', '2017', '--draws', '100', '--database', {str(bundled_store)!r}])\n"
        "import analysis.cluster\n"
        "assert not {name.partition('.')[0] for name in sys.modules} & {'dask', 'distributed', 'cloudpickle'}"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, stdout=-3, stderr=-3)


# Refused before anything runs -------------------------------------------------------------------------------------------


def test_a_worker_with_another_library_or_without_the_data_is_left_out_and_told(settings, tmp_path):
    """The data lie in home's folder: the worker `bare` has no such folder in its own; `old` has another pandas."""
    write(settings.root, "02-made", SNAPSHOT, "import os; print(os.getcwd())")
    inside = replace(settings, database=settings.root / "shared" / "iclr")
    shutil.copytree(settings.database, inside.database)
    shutil.copytree(settings.database, tmp_path / "machines" / "old" / "shared" / "iclr")
    metadata = tmp_path / "libraries" / "pandas-0.1.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: pandas\nVersion: 0.1\n")
    with machines(tmp_path / "machines") as opened:
        inside = replace(inside, scheduler=opened.address)
        with pytest.raises(Trouble, match=r"There is no worker at tcp://"):
            runner.run([2017], inside, Said())
        opened.worker("bare")
        with pytest.raises(Trouble, match=r"left out: it lacks the data: there is no .*shared/iclr") as told:
            runner.run([2017], inside, Said())
        assert "\n" not in str(told.value)
        opened.worker("old", path=str(metadata.parent))
        with pytest.raises(Trouble, match=r"\(2 workers are left out in all\.\)"):
            runner.run([2017], inside, Said())
        assert not (settings.root / "runs").exists() or not list((settings.root / "runs").rglob("*.ipynb"))
        shutil.copytree(settings.database, tmp_path / "machines" / "good" / "shared" / "iclr")
        opened.worker("good")
        said = Said()
        assert runner.run([2017], inside, said).status == 0
    assert f"it has pandas 0.1 (here {pd.__version__}); install requirements-cluster.lock there" in str(said)
    assert "lacks the data" in str(said) and "1 worker with 1 thread" in str(said)
    assert str(tmp_path / "machines" / "good") in executed(settings)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, ""),
        ({"versions": {"Python": "3.10.1", "numpy": "2"}}, "it has Python 3.10.1 (here 3.11)"),
        ({"package": "b"}, "its package `analysis` is not that of here"),
        ({"package": "b", "suite": "0.0.1"}, "is 0.0.1 (here 0.1.0)"),
        ({"package": cluster.CHANGED}, "its package `analysis` has changed since the worker started"),
        ({"data": {}}, "its data lack ICLR 2017 final"),
        ({"data": {"ICLR 2017 final (bundled)": "y"}}, "its data hold another ICLR 2017 final"),
        (ModuleNotFoundError("No module named 'analysis'"), "cannot import this suite"),
    ],
)  # fmt: skip
def test_a_difference_is_named(change, told):
    here = {
        "versions": {"Python": "3.11", "numpy": "2"},
        "package": "a",
        "suite": "0.1.0",
        "data": {"ICLR 2017 final (bundled)": "x"},
    }
    why, remedy = cluster._difference(here, change if isinstance(change, Exception) else {**here, **change})
    assert told in why and bool(why) == bool(told) == bool(remedy)


def test_what_a_cluster_cannot_do_is_told_before_anything_is(settings, bundled_store, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT", 2)
    write(settings.root, "02-made", SNAPSHOT, "pass")
    for change, told in (
        ({"database": bundled_store}, "export --to DIR"),
        ({"source": "api"}, "A cluster fetches nothing"),
        ({}, r"No scheduler answers at tcp://127.0.0.1:9 \("),
        ({"scheduler": "nonsense:x"}, "No scheduler answers at nonsense:x"),
    ):
        with pytest.raises(Trouble, match=told):
            runner.run([2017], replace(settings, **{"scheduler": "tcp://127.0.0.1:9", **change}), Said())
    assert not list(settings.root.rglob("*.ipynb"))[1:]


# What can happen on the way ---------------------------------------------------------------------------------------------


def kernels_in(folder: Path) -> list[str]:
    """The kernels, and the processes that fork them, that work in a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        with_kernels = (b"ipykernel_launcher", b"analysis.kernels")
        try:
            command = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
            if any(name in command for name in with_kernels) and Path(os.readlink(entry / "cwd")) == folder:
                found.append(entry.name)
        except OSError:
            continue
    return found


class Running:
    """The command in a process of its own, as somebody types it."""

    def __init__(self, settings: runner.Settings) -> None:
        code = (
            "import sys; from pathlib import Path; from analysis import cli, cluster, runner; cluster.PATIENCE = 3\n"
            "root, database, address = sys.argv[1:]\n"
            "def run(options):\n"
            "    settings = runner.Settings(root=Path(root), database=Path(database), scheduler=address, warm=False)\n"
            "    return runner.run([2017], settings, cli._tell).status\n"
            "cli._run = run\n"
            "raise SystemExit(cli.main(['run']))"
        )
        arguments = [str(settings.root), str(settings.database), settings.scheduler]
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments], cwd=ROOT, stdout=-3, stderr=subprocess.PIPE, text=True
        )

    def end(self) -> tuple[int, list[str]]:
        """The exit status and the lines."""
        _, told = self.process.communicate(timeout=90)
        return self.process.returncode, told.splitlines()


@linux
def test_a_worker_that_is_killed_loses_nothing(settings, tmp_path):
    begun = hanging(settings)
    with machines(tmp_path / "machines") as opened:
        workers = {opened.worker(name).pid: name for name in ("one", "two")}
        running = Running(replace(settings, scheduler=opened.address))
        assert until(lambda: begun.exists() and begun.read_text())
        killed = int(begun.read_text())
        os.kill(killed, signal.SIGKILL)
        status, lines = running.end()
        assert until(lambda: not kernels_in(tmp_path / "machines" / workers[killed]), 5)
    (other,) = [name for pid, name in workers.items() if pid != killed]
    assert status == 0 and "1 notebook: 1 done" in lines[-1]
    assert [line for line in lines if "is gone; what it was running goes to another one." in line]
    assert str(tmp_path / "machines" / other) in executed(settings)


@linux
@pytest.mark.parametrize("killed", ["scheduler", "worker"])
def test_without_scheduler_or_workers_it_ends_and_the_next_run_goes_on(settings, tmp_path, killed):
    begun = hanging(settings, "03-made")
    with machines(tmp_path / "machines") as opened:
        worker = opened.worker("one")
        running = Running(replace(settings, scheduler=opened.address))
        assert until(lambda: begun.exists() and begun.read_text())
        (opened.scheduler if killed == "scheduler" else worker).kill()
        status, lines = running.end()
        assert until(lambda: not kernels_in(tmp_path / "machines" / "one"), 10)
    told = "The scheduler tcp://" if killed == "scheduler" else "There is no worker at tcp://"
    assert status == 1 and lines[-1].startswith(told) and "the same command goes on from there." in lines[-1]
    assert "Traceback" not in "\n".join(lines), "\n".join(lines)
    assert len(runner.run([2017], settings, Said()).done) == 2


@linux
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_when_home_stops_the_workers_stop(two, settings, sent):
    begun = hanging(settings)
    running = Running(replace(settings, scheduler=two.address))
    assert until(lambda: begun.exists() and begun.read_text())
    running.process.send_signal(sent)
    status, lines = running.end()
    assert until(lambda: not [pid for name in ("one", "two") for pid in kernels_in(two.folder / name)], 5)
    if sent == signal.SIGINT:
        assert status == 130 and lines[-1].startswith("Stopped; what was complete is kept")
    assert runner.run([2017], replace(settings, scheduler=two.address), Said()).status == 0


@linux
def test_a_worker_that_cannot_write_is_left_out(settings, tmp_path):
    """A limit on the size of files stands for a full disk: writing fails in the middle."""
    write(settings.root, "02-made", SNAPSHOT, "print('x' * 200_000)")

    def small() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    with machines(tmp_path / "machines") as opened:
        opened.worker("full", preexec_fn=small)
        with pytest.raises(Trouble, match=r"is left out: it cannot write to .* \(File too large\); make room") as told:
            runner.run([2017], replace(settings, scheduler=opened.address), Said())
        assert "\n" not in str(told.value)
        opened.worker("other")
        assert runner.run([2017], replace(settings, scheduler=opened.address), Said()).status == 0
    assert "x" * 200_000 in executed(settings)


def test_a_full_disk_is_told_from_other_errors():
    class Notebook(Exception):
        ename, evalue = "OSError", "[Errno 28] No space left on device: 'x'"

    Notebook.__name__ = "PapermillExecutionError"
    assert "(No space left on device)" in cluster._full(Notebook())
    assert cluster._full(OSError(28, "No space left on device")) != ""
    assert cluster._full(OSError(13, "Permission denied")) == cluster._full(ValueError("[Errno 28] x")) == ""
