"""Kernels: forked warm where that works, plain otherwise, and none that stays."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from analysis import ROOT, kernels

linux = pytest.mark.skipif(not kernels.WARM, reason="kernels are forked on Linux only")


def until(holds, seconds: float = 5) -> bool:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return bool(holds())


def ended(pid: int) -> bool:
    """Whether a process is gone; one that waits for its parent to take note of its end is."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr(kernels.tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_the_folder_is_private_and_goes(temporary):
    folder = kernels.Folder()
    assert folder.path.parent == temporary and folder.path.stat().st_mode & 0o077 == 0
    folder.close()
    assert not list(temporary.iterdir())


def test_a_run_clears_what_dead_runners_left_and_nothing_else(temporary):
    with subprocess.Popen([sys.executable, "-c", ""]) as dead:
        pass
    for name in (f"{dead.pid}-abc", f"{os.getpid()}-abc", "notes-abc"):
        (temporary / f"{kernels.PREFIX}{name}").mkdir()
    folder = kernels.Folder()
    left = {path.name.removeprefix(kernels.PREFIX) for path in temporary.iterdir() if path != folder.path}
    folder.close()
    assert left == {f"{os.getpid()}-abc", "notes-abc"}


@pytest.mark.parametrize("works", [True, False, None])
def test_kernels_are_plain_where_none_can_be_forked(tmp_path, works):
    nursery = None if works is None else SimpleNamespace(works=works)
    made = kernels.manager(ROOT, tmp_path, nursery, kernels.Plain())()
    name = "forked" if works else "local-provisioner"
    assert made.kernel_spec.metadata["kernel_provisioner"]["provisioner_name"] == name
    assert made.kernel_spec.argv[0] == sys.executable


def test_a_path_too_long_for_sockets_takes_ports(tmp_path):
    def transport(folder) -> str:
        return kernels.manager(ROOT, folder, None, kernels.Plain())().transport

    short = Path("short")
    assert (transport(short), transport(tmp_path / ("d" * 100))) == ("ipc", "tcp")


def sleeper() -> subprocess.Popen:
    return subprocess.Popen(["sleep", "60"], start_new_session=True)


def test_plain_kernels_end_also_when_they_start_too_late():
    plain, early, late = kernels.Plain(), sleeper(), sleeper()
    plain.add(early)
    plain.close()
    plain.add(late)
    assert early.wait(5) == late.wait(5) == -signal.SIGKILL


@linux
def test_a_nursery_that_cannot_start_says_so(tmp_path):
    (tmp_path / "analysis").mkdir()
    (tmp_path / "analysis" / "__init__.py").write_text("")
    (tmp_path / "analysis" / "kernels.py").write_text("raise SystemExit(3)\n")
    nursery = kernels.Nursery(tmp_path)
    with pytest.raises(ChildProcessError):
        nursery.fork([], {})
    nursery.close()
    assert not nursery.works


# A nursery whose kernels start a process of their own, print its id to a file, and end as they are told to.
NURSERY = """
import os, pathlib, subprocess, sys
del sys.modules["analysis"]
sys.path.insert(0, {root!r})
from analysis import kernels

def serve(arguments):
    started = subprocess.Popen(["sleep", "60"])
    pathlib.Path(arguments[0]).write_text(str(started.pid))
    if arguments[1:] == ["ends"]:
        return
    started.wait()

kernels._serve = serve
kernels.nursery(("this",))
"""


@pytest.fixture
def nursery(tmp_path):
    (tmp_path / "analysis").mkdir()
    (tmp_path / "analysis" / "__init__.py").write_text("")
    (tmp_path / "analysis" / "kernels.py").write_text(NURSERY.format(root=str(ROOT)))
    made = kernels.Nursery(tmp_path)
    yield made
    made.close()


def started_by(nursery, file, *how: str) -> tuple[int, int]:
    """A kernel and the process that it started."""
    kernel = nursery.fork([str(file), *how], dict(os.environ))
    assert until(lambda: file.exists() and file.read_text())
    return kernel, int(file.read_text())


@linux
def test_what_a_kernel_started_ends_with_it(nursery, tmp_path):
    kernel, child = started_by(nursery, tmp_path / "one", "ends")
    assert until(lambda: ended(kernel) and ended(child))
    # Reaped: its id is not kept, and nobody takes it for alive.
    assert not os.path.exists(f"/proc/{kernel}")


@linux
@pytest.mark.parametrize("how", ["closed", "killed"])
def test_all_end_with_the_nursery(nursery, tmp_path, how):
    kernel, _ = started_by(nursery, tmp_path / "one")
    if how == "closed":
        nursery.close()
    else:
        nursery._process.kill()
    assert until(lambda: ended(kernel))


@linux
def test_what_an_import_prints_is_no_answer(nursery, tmp_path):
    assert started_by(nursery, tmp_path / "one", "ends")[0] > 0  # the module `this` prints a poem
