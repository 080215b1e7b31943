"""Kernels for the runner: those of this interpreter, forked warm from one process where the system can fork.

Starting a kernel and importing pandas, matplotlib and the rest takes seconds of computing for each notebook. On Linux one process,
the nursery, imports all of it once and forks a kernel whenever one is asked for. Elsewhere kernels start the plain way, with the
same results. Both are reached through jupyter_client's kernel provisioners, and no kernel is registered anywhere.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from importlib.metadata import EntryPoint
from pathlib import Path
from uuid import uuid4

WARM = sys.platform == "linux"
MODULES = (
    "ipykernel.kernelapp", "ipykernel.ipkernel", "matplotlib_inline.backend_inline", "matplotlib.figure", "numpy", "pandas",
    "duckdb", "seaborn", "analysis.notebook", "analysis.words", "analysis.draw",
)  # fmt: skip


# The nursery: runs as `python -m analysis.kernels`, forks on request ---------------------------------------------------


def nursery(modules: tuple[str, ...] = MODULES) -> None:
    """Import everything, then fork a kernel for each line ``{"arguments": [...], "environment": {...}}`` of standard input.

    Answers each with the process id. When the input ends, because the runner is gone however it went, all kernels are killed.
    """
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    for module in modules:
        with contextlib.suppress(ImportError):
            __import__(module)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the kernels: let the system reap them
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the runner, which then closes our input
    children = []
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _become_kernel(asked["arguments"], asked["environment"])
        children.append(pid)
        print(pid, flush=True)
    for pid in children:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


def _become_kernel(arguments: list[str], environment: dict[str, str]) -> None:
    status = 1
    try:
        _leave_home()
        os.environ.clear()
        os.environ.update(environment)
        _serve(arguments)
        status = 0
    finally:
        os._exit(status)  # never back into the loop above


def _leave_home() -> None:
    """A session of its own, no pipe of the nursery's, and death when the nursery dies."""
    os.setsid()
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.dup2(null, 2)  # a kernel that is interrupted says so there; what a cell prints goes into the notebook
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _serve(arguments: list[str]) -> None:
    from ipykernel.kernelapp import IPKernelApp

    app = IPKernelApp.instance()
    app.initialize(arguments)
    # The inline back end hooks itself into the shell when it is chosen: one that was inherited would lose figures silently.
    app.shell.run_line_magic("matplotlib", "inline")
    app.start()


class Nursery:
    """The runner's side: starts the nursery and asks it for kernels."""

    def __init__(self, root: Path) -> None:
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "analysis.kernels"],
            cwd=root, env=environment(root), stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip

    def fork(self, arguments: list[str], environment: dict[str, str]) -> int:
        """A new kernel's process id; ChildProcessError when the nursery is gone."""
        asked = json.dumps({"arguments": arguments, "environment": environment})
        with self._lock, contextlib.suppress(OSError):
            self._process.stdin.write(asked.encode() + b"\n")
            self._process.stdin.flush()
            if answer := self._process.stdout.readline():
                return int(answer)
        raise ChildProcessError("the process that forks kernels has ended")

    def close(self) -> None:
        """End the nursery and every kernel that still lives."""
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self._process.kill()  # its kernels die with it
            self._process.wait()
        self._process.stdout.close()


def environment(root: Path) -> dict[str, str]:
    """What a kernel's process starts with: the package can be imported, and figures go into the notebook."""
    path = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, "PYTHONPATH": path, "MPLBACKEND": "module://matplotlib_inline.backend_inline"}


# The provisioner and the manager: what papermill is handed ---------------------------------------------------------------


def manager(root: Path, folder: Path, nursery: Nursery | None):
    """A kernel manager class for papermill: kernels of this interpreter, in `root`, connected through files in `folder`."""
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager
    from jupyter_client.provisioning import KernelProvisionerFactory

    name = "local-provisioner"
    if nursery is not None:
        name = "forked"
        entry = EntryPoint(name, "analysis.provisioner:ForkedKernel", KernelProvisionerFactory.GROUP_NAME)
        KernelProvisionerFactory.instance().provisioners[name] = entry
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    chosen = KernelSpec(
        argv=command,
        display_name="Python 3",
        language="python",
        metadata={"kernel_provisioner": {"provisioner_name": name}},
    )

    class Manager(AsyncKernelManager):
        """Sockets are files in a private folder: no port can be taken by somebody else in between."""

        kernel_spec = chosen

        def __init__(self, **options) -> None:
            file = folder / f"{uuid4().hex[:12]}.json"
            super().__init__(**{**options, "transport": "ipc", "connection_file": str(file)})
            self.nursery = nursery

        async def _async_pre_start_kernel(self, **options):
            return await super()._async_pre_start_kernel(**{**options, "cwd": str(root), "env": environment(root)})

    return Manager


class Folder:
    """One private folder for connection files, below a common one whose leavings of dead runners are cleared."""

    def __init__(self) -> None:
        common = Path(tempfile.gettempdir()) / f"analysis-kernels-{os.getuid()}"
        common.mkdir(mode=0o700, exist_ok=True)
        for old in common.iterdir():
            if not _alive(int(old.name)):
                shutil.rmtree(old, ignore_errors=True)
        self.path = common / str(os.getpid())
        self.path.mkdir(exist_ok=True)
        atexit.register(self.close)

    def close(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        with contextlib.suppress(OSError):
            self.path.parent.rmdir()
        atexit.unregister(self.close)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # somebody else's: alive
    return True


if __name__ == "__main__":
    nursery()
