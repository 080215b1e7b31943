"""A cluster: notebooks, and draws by block, as tasks of a dask.distributed cluster.

Home is where the command was typed, a worker where a task runs. A worker has a checkout of its own and sees the data as
Parquet. It is asked before it gets anything whether it is like home: Python, libraries, package and data; one that differs is
left out, with the difference named. No other module imports Dask, and this one only when it connects.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import logging
import os
import platform
import re
import shutil
import socket
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePosixPath

from analysis import ROOT, __version__, kernels, places, runner, store
from analysis.errors import Trouble, count
from analysis.runner import Job, Result, Say, Settings
from analysis.statistics.intervals import spread_by

CONNECT = 10  # seconds to find the scheduler
RECEIVE = 300  # seconds for one notebook's results to come home
LOOK = 0.5  # seconds between two looks at who is there, and at whether a task is still wanted
PATIENCE = 30  # seconds without any worker: the system that started them may start others
LOSSES = 3  # workers that one task may lose: what kills them is then likely in the task
IDLE = 60  # seconds without a task after which a worker ends the process that forks its kernels
MOST = 256  # notebooks that wait for a place at once
CHANGED = "has changed since the worker started"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
LOADED = runner.package_digest(ROOT / "analysis")  # what this process has imported, or is about to


# What home and workers tell each other ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """A notebook as a worker is told of it. Paths in `values` are absolute, or meant from the worker's own folder."""

    notebook: bytes
    name: str
    values: Mapping[str, object]
    cell_timeout: int
    warm: bool


@dataclass(frozen=True)
class Outcome:
    """What became of it: the executed notebook as far as there is one, what it published, and trouble in a line."""

    seconds: float
    executed: bytes
    published: Mapping[str, bytes]  # by path below figures/
    error: str = ""


@dataclass(frozen=True)
class Unfit:
    """A worker could not do a task for a reason of its own."""

    why: str


# On a worker ------------------------------------------------------------------------------------------------------------


def describe(libraries: Sequence[str], database: str, venue: str, root: Path = ROOT) -> dict[str, object]:
    """What must be the same everywhere: versions by name, the package's content, and the data, or why there is none."""
    digest = runner.package_digest.__wrapped__(ROOT / "analysis")
    return {
        "host": socket.gethostname(),
        "versions": {"Python": platform.python_version(), **{name: _version(name) for name in libraries}},
        "package": digest if digest == LOADED else CHANGED,
        "suite": __version__,
        "data": _held(root / database, venue) if database else {},
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"


def _held(folder: Path, venue: str) -> dict[str, str] | str:
    """The content of each snapshot, and of somebody's own venues.toml beside the folder."""
    try:
        snapshots = store.held(folder, venue)
    except Trouble as trouble:
        return str(trouble)
    if not snapshots:
        return f"there is no {folder} with snapshots of {venue}"
    found = {f"{one.venue} {one.year} {one.name} ({one.source})": one.digest for one in snapshots}
    own = folder.parent / "venues.toml"
    return found | ({"venues.toml": sha256(own.read_bytes()).hexdigest()} if own.is_file() else {})


def work(task: Task) -> Outcome | Unfit:
    """Run a notebook in a private folder, with a kernel as on one machine."""
    try:
        with _bench as tools, tempfile.TemporaryDirectory(dir=tools.folder.path, ignore_cleanup_errors=True) as place:
            return _worked(task, tools, Path(place))
    except OSError as error:
        if error.errno in FULL:
            return Unfit(f"it cannot write to {tempfile.gettempdir()} ({error.strerror})")
        raise


def _worked(task: Task, tools: Tools, place: Path) -> Outcome | Unfit:
    source, executed, figures = place / task.name, place / "executed.ipynb", place / "figures"
    source.write_bytes(task.notebook)
    began, error, stopped, started = time.monotonic(), "", threading.Event(), []
    manager = _publishing(tools.manager(task.warm), figures, started)
    with _ended_when_unwanted(started, stopped):
        try:
            timeout = task.cell_timeout or None
            runner.execute(source, executed, task.values, manager, stopped.is_set, execution_timeout=timeout)
        except Exception as failure:
            if full := _full(failure):
                return Unfit(full)
            error = runner.told_in_a_line(failure)
    seconds = time.monotonic() - began
    return Outcome(seconds, executed.read_bytes() if executed.exists() else b"", _files(figures), error)


def _full(failure: Exception) -> str:
    """Why a worker cannot write, where that is what failed, in the notebook or around it."""
    told = runner.told_in_a_line(failure)
    found = re.match(r"OSError: \[Errno (\d+)\] ([^:]*)", told)
    if found is None or int(found[1]) not in FULL:
        return ""
    return f"it cannot write to {tempfile.gettempdir()} ({found[2]})"


def _files(folder: Path) -> dict[str, bytes]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def _publishing(manager: type, figures: Path, started: list) -> type:
    """The kernel manager, with kernels that publish into this folder and are noted when they start."""

    class Publishing(manager):
        async def _async_pre_start_kernel(self, **options):
            command, options = await super()._async_pre_start_kernel(**options)
            return command, {**options, "env": {**options["env"], places.FIGURES: str(figures)}}

        async def _async_post_start_kernel(self, **options):
            await super()._async_post_start_kernel(**options)
            started.append(self.provisioner)

    return Publishing


@contextmanager
def _ended_when_unwanted(started: list, stopped: threading.Event) -> Iterator[None]:
    """End the kernels when nobody waits for this task any more: it was cancelled, home or the scheduler is gone."""
    from distributed import get_worker

    worker, done = get_worker(), threading.Event()
    key = worker.get_current_task()

    def wanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state != "cancelled" and worker.status.name in ("running", "paused")

    def watch() -> None:
        while not done.wait(LOOK):
            if not wanted():
                stopped.set()
                for provisioner in started:
                    if provisioner.pid:
                        kernels.kill_group(provisioner.pid)

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield
    finally:
        done.set()
        watching.join()


class Tools:
    """What a worker's process keeps from task to task: a private folder and the process that forks warm kernels."""

    def __init__(self) -> None:
        self.folder, self._plain = kernels.Folder(), kernels.Plain()
        self._nursery: kernels.Nursery | None = None
        self._lock = threading.Lock()

    def manager(self, warm: bool) -> type:
        with self._lock:
            if warm and kernels.WARM and self._nursery is None:
                self._nursery = kernels.Nursery(ROOT)
        return kernels.manager(ROOT, self.folder.path, self._nursery if warm else None, self._plain)

    def close(self) -> None:
        if self._nursery is not None:
            self._nursery.close()
        self._plain.close()
        self.folder.close()


class Bench:
    """Hands out the tools, and puts them away some time after the last task, since a home may die without a word."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users, self._tools, self._timer = 0, None, None
        self._soon = False  # put away when the last one gives them back

    def __enter__(self) -> Tools:
        with self._lock:
            self._users += 1
            self._soon = False
            if self._timer is not None:
                self._timer.cancel()
            if self._tools is None:
                self._tools = Tools()
            return self._tools

    def __exit__(self, *error) -> None:
        with self._lock:
            self._users -= 1
            if self._soon:
                self._put_away()
            self._timer = threading.Timer(IDLE, self.tidy)
            self._timer.daemon = True
            self._timer.start()

    def tidy(self) -> None:
        with self._lock:
            self._soon = True
            self._put_away()

    def _put_away(self) -> None:
        if self._users == 0 and self._tools is not None:
            self._tools.close()
            self._tools = None


_bench = Bench()


def tidy() -> None:
    """End what a worker keeps from task to task, as soon as no task of another run uses it."""
    _bench.tidy()


def blocks_of(function: bytes, blocks: Sequence[int]) -> list:
    """What a function gives for some blocks, one after the other."""
    import cloudpickle

    return list(map(cloudpickle.loads(function), blocks))


# At home: the workers that are fit --------------------------------------------------------------------------------------


class Gone(Trouble):
    """The cluster cannot go on."""


class Cluster:
    """The workers of a scheduler that are like home, with a place for each of their threads."""

    def __init__(self, address: str, say: Say, database: str = "", venue: str = "", root: Path = ROOT) -> None:
        self.address, self._say = address, say
        self._asked = (_libraries(), database, venue)
        self._here = describe(*self._asked, root)
        if isinstance(self._here["data"], str):
            raise Trouble(f"Here {self._here['data']}; give --database the folder that `export` wrote.")
        self._client = _connected(address)
        self._places: dict[str, int] = {}  # free ones, by worker
        self._left_out: dict[str, str] = {}  # why, by worker
        self._last_seen = time.monotonic()
        self._tickets, self._waiting = itertools.count(), []
        self._running: set = set()
        self._begun = False
        self._over = ""  # why nothing goes on
        self._changed, self._closed = threading.Condition(), threading.Event()
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def _begin(self) -> None:
        self._look()
        told = list(self._left_out.values())
        if not self._places:
            others = f" ({len(told)} workers are left out in all.)" if len(told) > 1 else ""
            raise Gone(told[0] + others if told else _nobody(self.address))
        for line in told:
            self._say(line)
        self.slots = sum(self._places.values())
        self._say(f"{self.address}: {count(len(self._places), 'worker')} with {count(self.slots, 'thread')}")
        self._begun = True
        threading.Thread(target=self._watch, daemon=True).start()

    def call(self, function: Callable, *args):
        """What a function gives on a worker; on another one when that is lost or not fit."""
        lost = 0
        while lost < LOSSES:
            address = self._take()
            try:
                answer = self._answer(self._client.submit(function, *args, workers=[address], pure=False), address)
            finally:
                self._give_back(address)
            if answer is None:
                lost += 1
            elif isinstance(answer, Unfit):
                self._leave_out(address, answer.why, "make room there, or give its temporary files another place")
            else:
                return answer
        raise runner.Failed(f"{LOSSES} workers were lost while they ran it")

    def map(self, function: Callable, blocks: Iterable[int]) -> Iterator:
        """As `map`, some blocks a task: two tasks for each place, since workers are not equally fast."""
        import cloudpickle

        blocks, pickled = list(blocks), cloudpickle.dumps(function)
        size = max(1, -(-len(blocks) // (2 * self.slots)))
        parts = [blocks[start : start + size] for start in range(0, len(blocks), size)]
        with ThreadPoolExecutor(max_workers=max(1, min(MOST, len(parts)))) as pool:
            try:
                answers = list(pool.map(lambda part: self.call(blocks_of, pickled, part), parts))
            except BaseException:
                self.stop("stopped")
                raise
        return itertools.chain.from_iterable(answers)

    def _take(self) -> str:
        """A free place, first come, first served; Gone when there will be none."""
        with self._changed:
            ticket = next(self._tickets)
            self._waiting.append(ticket)
            try:
                self._changed.wait_for(
                    lambda: self._over or (any(self._places.values()) and ticket == min(self._waiting))
                )
                self._check()
                address = max(self._places, key=self._places.get)
                self._places[address] -= 1
                return address
            finally:
                self._waiting.remove(ticket)
                self._changed.notify_all()

    def _give_back(self, address: str) -> None:
        with self._changed:
            if address in self._places:
                self._places[address] += 1
                self._changed.notify_all()

    def _check(self) -> None:
        if self._over:
            raise Gone(self._over)

    def _answer(self, future, address: str):
        """What a task gave; None when its worker is lost."""
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        self._running.add(future)
        try:
            while not done.wait(LOOK):
                self._check()
                if address not in self._places:
                    break
            with contextlib.suppress(TimeoutError):
                return self._result(future, address)
        finally:
            self._running.discard(future)
            with contextlib.suppress(Exception):
                future.cancel()

    def _result(self, future, address: str):
        from distributed import KilledWorker

        lost = future.status in ("lost", "cancelled", "pending")
        if lost or (future.status == "error" and isinstance(future.exception(timeout=CONNECT), KilledWorker)):
            time.sleep(LOOK)  # until it is known whether it is the worker or the scheduler that is gone
            self._check()
            return None
        return future.result(timeout=RECEIVE)

    # Who is there -----------------------------------------------------------------------------------------------------

    def _watch(self) -> None:
        while not self._closed.wait(LOOK):
            try:
                self._look()
            except Exception:
                if not self._closed.is_set():
                    self.stop(
                        f"The scheduler {self.address} is gone; what was complete is kept: start it again with its workers, "
                        "and the same command goes on from there."
                    )
                return

    def _look(self) -> None:
        """Take note of workers that came and went."""
        if self._client.status != "running":
            raise ConnectionError
        present = self._client.nthreads()
        for address in [one for one in self._places if one not in present]:
            with self._changed:
                del self._places[address]
            self._say(f"The worker {address} is gone; what it was running goes to another one.")
        self._left_out = {one: why for one, why in self._left_out.items() if one in present}
        self._meet({one: n for one, n in present.items() if one not in self._places and one not in self._left_out})
        if self._places:
            self._last_seen = time.monotonic()
        elif time.monotonic() - self._last_seen > PATIENCE:
            self.stop(_nobody(self.address))

    def _meet(self, new: Mapping[str, int]) -> None:
        if not new:
            return
        told = self._client.run(describe, *self._asked, workers=list(new), on_error="return")
        for address, there in told.items():
            why, remedy = _difference(self._here, there)
            if why:
                self._leave_out(address, why, remedy)
                continue
            with self._changed:
                self._places[address] = new[address]
                self._changed.notify_all()

    def _leave_out(self, address: str, why: str, remedy: str) -> None:
        with self._changed:
            if address in self._left_out:
                return
            told = f"The worker {address} is left out: {why}; {remedy}."
            self._left_out[address] = told
            had = self._places.pop(address, None) is not None
        if had and not self._places:
            self.stop(told)
        elif self._begun:
            self._say(told)

    # The end ----------------------------------------------------------------------------------------------------------

    def stop(self, why: str) -> None:
        """Cancel what runs; whoever waits is told why."""
        with self._changed:
            self._over = self._over or why
            self._changed.notify_all()
        with contextlib.suppress(Exception):
            self._client.cancel(list(self._running), force=True)

    def close(self) -> None:
        """Leave nothing behind on the workers."""
        self._closed.set()
        self.stop("stopped")
        with contextlib.suppress(Exception):
            if self._client.status == "running" and self._places:
                self._client.run(tidy, workers=list(self._places), on_error="ignore")
        with contextlib.suppress(Exception):
            self._client.close(timeout=2)


def _connected(address: str):
    try:
        from distributed import Client
    except ImportError:
        raise Trouble(
            "--scheduler needs dask.distributed: `.venv/bin/python -m pip install -r requirements-cluster.lock`."
        ) from None
    for name in logging.root.manager.loggerDict:  # what is lost is told in our own words; each has a level of its own
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # versions are compared, and told, by ourselves
            return Client(address, timeout=CONNECT, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise Trouble(
            f"No scheduler answers at {address} ({type(error).__name__}); give --scheduler as tcp://host:8786, where "
            "`dask scheduler` runs (docs/cluster.md)."
        ) from None


def _nobody(address: str) -> str:
    return f"There is no worker at {address}; start some (docs/cluster.md), and the same command goes on from there."


def _libraries() -> tuple[str, ...]:
    """The names in the lock file, as far as they are installed here, and Dask itself."""
    lock = ROOT / "requirements.lock"
    names = re.findall(r"^([A-Za-z0-9._-]+)==", lock.read_text(), flags=re.MULTILINE) if lock.is_file() else []
    installed = (name for name in dict.fromkeys(names) if _version(name) != "none")
    return (*installed, "dask", "distributed")


def _difference(here: Mapping, there: Mapping | Exception) -> tuple[str, str]:
    """How a worker differs from home, and what to do about it; empty when it does not."""
    if isinstance(there, Exception):
        missing = f"it cannot import this suite ({there})"
        return missing, "start it in an up-to-date checkout of the repository (docs/cluster.md)"
    versions = here["versions"]
    others = [name for name in versions if there["versions"][name] != versions[name]]
    if others:
        told = [f"{name} {there['versions'][name]} (here {versions[name]})" for name in others[:3]]
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        return f"it has {', '.join(told)}{more}", "install requirements-cluster.lock there, and start it again"
    if there["package"] != here["package"]:
        how = there["package"] if there["package"] == CHANGED else f"is not that of here (both say {__version__})"
        if there["suite"] != here["suite"]:
            how = f"is {there['suite']} (here {here['suite']})"
        return f"its package `analysis` {how}", "bring its checkout to the same commit, and start it again"
    return _difference_of_data(here["data"], there["data"])


def _difference_of_data(here: Mapping[str, str], there: Mapping[str, str] | str) -> tuple[str, str]:
    remedy = "let it see the same folder under the same path, or a copy"
    if isinstance(there, str):
        return f"it lacks the data: {there.rstrip('.')}", remedy
    for name in here | there:
        if name not in there:
            return f"its data lack {name}", remedy
        if here.get(name) != there[name]:
            return f"its data hold another {name}", remedy
    return "", ""


# At home: the grid, and the draws ---------------------------------------------------------------------------------------


class ClusterWorkers(runner.Workers):
    """Runs jobs on the workers of a cluster. What is up to date, the order, the records and the page are home's."""

    def __init__(self, settings: Settings, say: Say) -> None:
        super().__init__(settings, say)
        if settings.source == "api":
            raise Trouble(
                "A cluster fetches nothing: run `fetch --source api` and `export` first, then this without it."
            )
        if not settings.database.is_dir():
            raise Trouble(
                "A cluster reads Parquet: run `python -m analysis export --to DIR` into a folder that all workers see, "
                "then give --database DIR."
            )
        self._cluster: Cluster | None = None

    def _start(self) -> None:
        if self._cluster is None:
            settings = self.settings
            self._cluster = Cluster(settings.scheduler, self.say, _portable(settings), settings.venue, settings.root)
            self._kernels.callback(self._cluster.close)

    def _room(self, jobs: Sequence[Job]) -> int:
        return MOST  # threads that wait for a place

    def _execute(self, job: Job, follow: bool) -> float:
        values = dict(job.values) | ({"database": _portable(self.settings)} if "database" in job.values else {})
        settings = self.settings
        task = Task(job.notebook.read_bytes(), job.notebook.name, values, settings.cell_timeout, settings.warm)
        outcome = self._cluster.call(work, task)
        if outcome.executed:
            self._output(job).write_bytes(outcome.executed)
        if not outcome.error or outcome.published:
            _publish(settings.root / "figures", job.key, outcome.published)
        if outcome.error:
            raise runner.Failed(outcome.error)
        return outcome.seconds

    def _account(self, job: Job, finished: Future, result: Result) -> None:
        if isinstance(error := finished.exception(), Gone):
            raise error
        super()._account(job, finished, result)


def _portable(settings: Settings) -> str:
    """Where the data are, as every machine understands it: below the project's folder, or under one path everywhere."""
    database = Path(os.path.normpath(settings.database))  # as text, `here/../elsewhere` would be below `here`
    return database.relative_to(settings.root).as_posix() if database.is_relative_to(settings.root) else str(database)


def _publish(figures: Path, key: str, published: Mapping[str, bytes]) -> None:
    """Put what a notebook published where it would have put it here, in place of what was there."""
    books = {name.parent for name in map(PurePosixPath, published) if name.name == "manifest.json"}
    for book in {*books, PurePosixPath(key)}:
        shutil.rmtree(figures / book, ignore_errors=True)
    # The manifest last: it says that all the rest is there.
    for name in sorted(published, key=lambda name: name.endswith("manifest.json")):
        path = figures / name
        if not Path(os.path.normpath(path)).is_relative_to(figures):
            raise runner.Failed(f"its worker sent a file for {name}, which is not below figures/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(published[name])


@contextmanager
def spread(address: str, say: Say) -> Iterator[None]:
    """Within the block, what is drawn at random is drawn on the workers; they need no data for it."""
    with closing(Cluster(address, say)) as cluster, spread_by(cluster.map):
        yield
