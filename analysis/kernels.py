"""Kernels for the runner: those of this interpreter, forked warm from one process where the system can fork.

Starting a kernel and importing pandas, matplotlib and the rest takes seconds of computing for each notebook. On Linux one process,
the nursery, imports all of it once and forks a kernel whenever one is asked for. Elsewhere kernels start the plain way, with the
same results. Both are reached through jupyter_client's kernel provisioners, and no kernel is registered anywhere.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
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
PREFIX = "analysis-kernels-"
LONGEST_FOLDER = 80  # the path of a socket has at most 103 bytes, of which its name in there takes 20
MODULES = (
    "ipykernel.kernelapp", "ipykernel.ipkernel", "ipykernel.debugger", "matplotlib_inline.backend_inline", "matplotlib.figure", "numpy", "pandas",
    "duckdb", "seaborn", "analysis.notebook", "analysis.words", "analysis.draw.publish",
)  # fmt: skip


# The nursery: runs as `python -m analysis.kernels`, forks on request ---------------------------------------------------


def nursery(modules: tuple[str, ...] = MODULES) -> None:
    """Import everything, then fork a kernel for each line ``{"arguments": [...], "environment": {...}}`` of standard input.

    Answers each with the process id. When the input ends, because the runner is gone however it went, all kernels are killed.
    """
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")  # a warning about break points, which nobody sets
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what an import prints must not pass for an answer
    for module in modules:
        with contextlib.suppress(ImportError):
            __import__(module)
    with contextlib.suppress(Exception):  # what hinders it is told where a notebook meets it
        sys.modules["analysis.draw.publish"].rehearse()
    gc.collect()
    gc.freeze()  # or each kernel looks through all of this for garbage, and so gets a copy of it
    children: set[int] = set()
    signal.signal(signal.SIGCHLD, lambda *_: _reap(children))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the runner, which then closes our input
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})  # no child ends before it is listed
        pid = os.fork()
        if pid == 0:
            _become_kernel(asked["arguments"], asked["environment"])
        children.add(pid)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        print(pid, file=answers, flush=True)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for pid in children:
        kill_group(pid)


def _reap(children: set[int]) -> None:
    """Forget the kernels that ended, with what they started. Their ids are others' to use only after that."""
    with contextlib.suppress(ChildProcessError):
        while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            kill_group(ended.si_pid)
            os.waitpid(ended.si_pid, 0)
            children.discard(ended.si_pid)


def kill_group(pid: int) -> None:
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
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
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
        self.works = True  # until it failed to fork: kernels start the plain way then
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
        self.works = False
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


class Plain:
    """The kernels of a run that were started the plain way. Those that were forked end with the nursery."""

    def __init__(self) -> None:
        self._processes: list[subprocess.Popen] = []
        self._closed = False

    def add(self, process: subprocess.Popen) -> None:
        self._processes.append(process)
        if self._closed:  # it was starting when Ctrl-C came
            self._kill(process)

    def close(self) -> None:
        """End those that still live."""
        self._closed = True
        for process in self._processes:
            self._kill(process)

    def _kill(self, process: subprocess.Popen) -> None:
        if process.poll() is None:
            kill_group(process.pid)


# The provisioner and the manager: what papermill is handed ---------------------------------------------------------------


def manager(root: Path, folder: Path, nursery: Nursery | None, plain: Plain):
    """A kernel manager class for papermill: kernels of this interpreter, in `root`, connected through files in `folder`."""
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager
    from jupyter_client.provisioning import KernelProvisionerFactory

    entry = EntryPoint("forked", "analysis.provisioner:ForkedKernel", KernelProvisionerFactory.GROUP_NAME)
    KernelProvisionerFactory.instance().provisioners["forked"] = entry
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    # Sockets that are files in a private folder cannot be taken by somebody else in between; their paths must be short.
    transport = "ipc" if len(str(folder)) <= LONGEST_FOLDER else "tcp"

    def spec(provisioner: str) -> KernelSpec:
        metadata = {"kernel_provisioner": {"provisioner_name": provisioner}}
        return KernelSpec(argv=command, display_name="Python 3", language="python", metadata=metadata)

    class Manager(AsyncKernelManager):
        def __init__(self, **options) -> None:
            file = folder / f"{uuid4().hex[:12]}.json"
            super().__init__(**{**options, "transport": transport, "connection_file": str(file)})
            self.nursery = nursery

        @property
        def kernel_spec(self) -> KernelSpec:
            return spec("forked" if nursery is not None and nursery.works else "local-provisioner")

        async def _async_pre_start_kernel(self, **options):
            return await super()._async_pre_start_kernel(**{**options, "cwd": str(root), "env": environment(root)})

        async def _async_post_start_kernel(self, **options):
            await super()._async_post_start_kernel(**options)
            if self.provisioner.process is not None:
                plain.add(self.provisioner.process)

    return Manager


class Folder:
    """A private folder for connection files. Those that dead runners left are cleared first."""

    def __init__(self) -> None:
        for old in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
            pid = old.name.removeprefix(PREFIX).partition("-")[0]
            if pid.isdigit() and not _alive(int(pid)):
                shutil.rmtree(old, ignore_errors=True)
        self.path = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        atexit.register(self.close)

    def close(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
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
