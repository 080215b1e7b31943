"""The runner: papermill over the grid of venue, year, snapshot and notebook.

What is up to date is known before papermill is imported. A notebook is up to date when its own source, the package, its parameters,
the snapshots of the years it reads and the libraries are those of its last good run, and all that it wrote is still there.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from analysis import DATABASE, ROOT, fetch, parameters, store
from analysis.errors import Trouble, choices, count
from analysis.places import place
from analysis.snapshots import Snapshot, choose, pair
from analysis.venues import venue_year

START_ATTEMPTS = 3
KERNEL = 400 * 2**20  # bytes of memory of a kernel with all imports and a conference of usual size, generously
PER_REVIEW = 100  # bytes more for each review of the years that a notebook reads: see benchmarks/statistics.py
Say = Callable[[str], None]


@dataclass(frozen=True)
class Job:
    """One notebook with the values it is run with."""

    notebook: Path
    place: str  # below figures/ and runs/
    values: Mapping[str, object]
    years: tuple[int, ...]
    title: str

    @property
    def key(self) -> str:
        return f"{self.place}/{self.notebook.stem}"

    @property
    def loads(self) -> bool:
        return _loads(self.notebook)


@dataclass
class Result:
    """What became of the jobs of one run, by their keys."""

    done: list[str] = field(default_factory=list)
    fresh: list[str] = field(default_factory=list)  # were up to date
    failed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)  # not run, since the notebook that loads their data failed

    @property
    def status(self) -> int:
        return int(bool(self.failed or self.skipped))

    def summary(self, seconds: float) -> str:
        parts = [f"{len(self.done)} done", f"{len(self.fresh)} up to date"]
        parts += [f"{len(keys)} {word}" for keys, word in ((self.failed, "failed"), (self.skipped, "skipped")) if keys]
        return f"{count(len(self.done + self.fresh + self.failed + self.skipped), 'notebook')}: {', '.join(parts)}, {seconds:.0f} s"


@dataclass(frozen=True)
class Settings:
    """How to run, for all jobs alike."""

    venue: str = "ICLR"
    source: str = ""
    snapshot: str = ""
    only: tuple[str, ...] = ()
    database: Path = DATABASE
    jobs: int = 0
    force: bool = False
    dry_run: bool = False
    cell_timeout: int = 0
    given: Mapping[str, object] = field(default_factory=dict)  # further parameters of notebooks
    warm: bool = True
    scheduler: str = ""  # of a Dask cluster that runs the notebooks; empty: this machine does
    root: Path = ROOT


def run(years: Sequence[int], settings: Settings, say: Say) -> Result:
    """Run the notebooks of these years: those that load first, then all others, then a summary. Trouble before anything starts."""
    began = time.monotonic()
    notebooks = _notebooks(settings)
    workers = _workers(settings, say)
    _load(years, notebooks, settings, say)
    loading = [notebook for notebook in notebooks if _loads(notebook)]
    result = Result()
    with workers:
        workers.run(_grid(loading, years, settings, say), result, serial=settings.source not in ("", "bundled"))
        lost = {job_year for key in result.failed for job_year in years if f"-{job_year}/" in key}
        rest = _grid([one for one in notebooks if one not in loading], years, settings, say)
        result.skipped += [job.key for job in rest if lost.intersection(job.years)]
        workers.run([job for job in rest if not lost.intersection(job.years)], result)
    if not settings.dry_run:
        say(result.summary(time.monotonic() - began))
    return result


@contextlib.contextmanager
def alone(root: Path, say: Say) -> Iterator[None]:
    """One run at a time in one folder, since they write the same files: a second one waits, and then finds most of it done."""
    path = root / "runs" / ".lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            say(f"another run is at work here (process {lock.read().strip() or 'unknown'}): waiting for it to end")
            fcntl.flock(lock, fcntl.LOCK_EX)
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield
        lock.truncate(0)


def _load(years: Sequence[int], notebooks: Sequence[Path], settings: Settings, say: Say) -> None:
    """Load what is bundled; Trouble, before anything is, where a year is neither that nor in the store."""
    bundled = [] if settings.database.is_dir() else fetch.bundled_of(settings.venue, years)
    if settings.source in ("", "bundled"):
        for year in years:
            if year not in bundled:
                fetch.ensure(settings.database, settings.venue, year, settings.source)
    if settings.database.is_dir():  # a folder of Parquet is only read
        return
    wanted = [*years, *_all_years(settings)] if any("years" in parameters.read(one) for one in notebooks) else years
    fetch.load_bundled(fetch.bundled_of(settings.venue, sorted(set(wanted))), settings.database, say)


def _workers(settings: Settings, say: Say) -> Workers:
    if not settings.scheduler:
        return Workers(settings, say)
    from analysis.cluster import ClusterWorkers

    return ClusterWorkers(settings, say)


def _loads(notebook: Path) -> bool:
    return notebook.name.startswith("01-")


# The grid ---------------------------------------------------------------------------------------------------------------


def _notebooks(settings: Settings) -> list[Path]:
    """The numbered notebooks that were asked for, each with a parameters cell that knows what is passed."""
    found = {path.name[:2]: path for path in sorted((settings.root / "notebooks").glob("[0-9][0-9]-*.ipynb"))}
    if unknown := [number for number in settings.only if number not in found]:
        raise Trouble(
            f"There is no notebook {choices(unknown)}; there are {choices(path.stem for path in found.values())}."
        )
    chosen = [path for number, path in found.items() if not settings.only or number in settings.only]
    known = {path: parameters.read(path) for path in chosen}
    for name, value in settings.given.items():
        takers = [path for path in chosen if name in known[path]] or chosen[:1]
        for path in takers:
            parameters.checked(path, known[path], {name: value})
        if name in ("venue", "year", "years", "snapshot", "source", "database", "before", "after"):
            raise Trouble(f"The parameter `{name}` is set by the option of that name; give it that way.")
    return chosen


def _grid(notebooks: Sequence[Path], years: Sequence[int], settings: Settings, say: Say) -> list[Job]:
    """A job for each notebook and whatever it takes: a snapshot, a year, two snapshots of a year, or the whole venue."""
    found = store.held(settings.database, settings.venue, source=settings.source)
    held = {year: [one for one in found if one.year == year] for year in years}
    jobs = []
    for notebook in notebooks:
        takes = parameters.read(notebook)
        if "years" in takes:  # of the whole venue, whichever years this run is about: its place is the same
            jobs.append(_job(notebook, takes, settings, _all_years(settings)))
        elif "before" in takes and "after" in takes:
            jobs += [
                _job(notebook, takes, settings, [year], values=pair) for year in years for pair in _pairs(held[year])
            ]
        elif "snapshot" in takes:
            jobs += [
                _job(notebook, takes, settings, [year], one.name)
                for year in years
                for one in _asked(held[year], settings)
            ]
        else:
            jobs += [_job(notebook, takes, settings, [year]) for year in years]
    _tell_missing(notebooks, held, settings, say)
    return jobs


def _all_years(settings: Settings) -> list[int]:
    return fetch.available_years(settings.database, settings.venue)


def _asked(held: Sequence[Snapshot], settings: Settings) -> list[Snapshot]:
    """The snapshots of a year that were asked for: all, or the one that a name means there (none where it means none)."""
    if not settings.snapshot:
        return list({one.name: one for one in held}.values())
    with contextlib.suppress(Trouble):
        decision = venue_year(held[0].venue, held[0].year, settings.database).decision_snapshot if held else "final"
        return [choose(held, settings.snapshot, decision)[0]]
    return []


def _tell_missing(notebooks: Sequence[Path], held: Mapping[int, list[Snapshot]], settings: Settings, say: Say) -> None:
    if not any("snapshot" in parameters.read(notebook) for notebook in notebooks):
        return
    missing = [year for year, snapshots in held.items() if not _asked(snapshots, settings)]
    name = f"snapshot `{settings.snapshot}`" if settings.snapshot else "snapshot"
    if len(missing) == len(held):
        where = f"{settings.venue} {choices(missing)}"
        raise Trouble(f"{where} has no {name} to run on; `python -m analysis status` lists what there is.")
    for year in missing:
        say(f"{settings.venue} {year} has no {name}: left out")


def _pairs(held: Sequence[Snapshot]) -> list[dict[str, str]]:
    """The first snapshot from before the decisions and the last one of all, of the same papers."""
    found = pair(held)
    return [{"before": found[0].name, "after": found[1].name}] if found else []


def _job(
    notebook: Path,
    takes: Mapping[str, parameters.Parameter],
    settings: Settings,
    years: Sequence[int],
    snapshot: str | None = None,
    values: Mapping[str, object] | None = None,
) -> Job:
    year = None if "years" in takes else years[0]
    offered = {
        "venue": settings.venue,
        "year": year,
        "snapshot": snapshot,
        "source": settings.source or None,
        "database": str(settings.database) if settings.database != DATABASE else None,
        **settings.given,
    }
    values = {name: value for name, value in offered.items() if name in takes and value is not None} | dict(
        values or {}
    )
    where = place(settings.venue, year, snapshot)
    title = " ".join(filter(None, [settings.venue, str(year or ""), snapshot]))
    return Job(notebook, where, parameters.checked(notebook, takes, values), tuple(years), f"{notebook.stem}  {title}")


# What is up to date -----------------------------------------------------------------------------------------------------


def fingerprint(job: Job, settings: Settings, held: Sequence[Snapshot]) -> dict[str, str]:
    """What a job's result follows from, by part, so that a change can be named; `held` is what the store holds."""
    return {
        "notebook": _hash(job.notebook.read_bytes()),
        "package": package_digest(settings.root / "analysis"),
        "parameters": _hash(json.dumps(job.values, sort_keys=True).encode()),
        "data": _data(job, settings, held),
        "libraries": _hash(*(path.read_bytes() for path in sorted(settings.root.glob("requirements.lock")))),
    }


def _hash(*contents: bytes) -> str:
    digest = hashlib.sha256()
    for content in contents:
        digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()[:16]


@cache
def package_digest(folder: Path = ROOT / "analysis") -> str:
    """All of the package: which statistic a notebook uses is not found out, so any change reruns everything."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return _hash(*(path.relative_to(folder).as_posix().encode() + path.read_bytes() for path in files))


def _data(job: Job, settings: Settings, held: Sequence[Snapshot]) -> str:
    """The content of all snapshots of the years that a job reads, since outcomes come from later ones."""
    digests = [f"{one.year} {one.name} {one.source} {one.digest}" for one in held if one.year in job.years]
    own_venues = settings.database.parent / "venues.toml"
    return _hash("\n".join(digests).encode(), own_venues.read_bytes() if own_venues.is_file() else b"")


def reason(job: Job, settings: Settings, held: Sequence[Snapshot]) -> str:
    """Why a job must run; empty when it is up to date."""
    if settings.force:
        return "forced"
    last = _last(job, settings)
    if last is None:
        return "never run"
    now = fingerprint(job, settings, held)
    if changed := [part for part, value in now.items() if last["fingerprint"].get(part) != value]:
        return f"{choices(changed).replace(' or ', ' and ')} changed"
    return "" if _outputs_exist(job, settings) or not last["published"] else "outputs missing"


def _record(job: Job, settings: Settings) -> Path:
    return settings.root / "runs" / f"{job.key}.json"


def _last(job: Job, settings: Settings) -> dict | None:
    try:
        last = json.loads(_record(job, settings).read_text())
        published = bool(last.get("published", True))
        return {"fingerprint": dict(last["fingerprint"]), "seconds": float(last["seconds"]), "published": published}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _outputs_exist(job: Job, settings: Settings) -> bool:
    folder = settings.root / "figures" / job.key
    try:
        files = json.loads((folder / "manifest.json").read_text())["files"]
    except (OSError, ValueError, KeyError):
        return False
    return all((folder / name).is_file() for name in files)


# Running ----------------------------------------------------------------------------------------------------------------


class Workers:
    """Runs jobs on threads of this process, each with a kernel of its own; nothing is started before the first job."""

    def __init__(self, settings: Settings, say: Say) -> None:
        self.settings, self.say = settings, say
        self._stop = threading.Event()
        self._kernels = contextlib.ExitStack()
        self._manager = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error) -> None:
        self._stop.set()
        self._kernels.close()

    def run(self, jobs: Sequence[Job], result: Result, serial: bool = False) -> None:
        """Run what is not up to date, the longest first; a failure is kept, told, and the rest goes on."""
        due, held = [], self._held()  # read once: opening the database for each job took most of an idle run
        for job in jobs:
            why = "a fetch may bring something new" if serial else reason(job, self.settings, held)
            if why:
                due.append((job, why))
            else:
                result.fresh.append(job.key)
        if self.settings.dry_run:
            for job, why in due:
                self.say(f"{job.title}: {why}")
            return
        if due:
            self._run(sorted((job for job, _ in due), key=self._expected, reverse=True), result, serial)

    def _held(self) -> list[Snapshot]:
        return store.held(self.settings.database, self.settings.venue)

    def _expected(self, job: Job) -> float:
        last = _last(job, self.settings)
        return last["seconds"] if last else float("inf")

    def _run(self, jobs: Sequence[Job], result: Result, serial: bool) -> None:
        self._start()
        at_once = 1 if serial else self.settings.jobs or self._room(jobs)
        pool = ThreadPoolExecutor(max_workers=min(at_once, len(jobs)))
        try:
            running: dict[Future, Job] = {pool.submit(self._one, job, serial): job for job in jobs}
            for finished in as_completed(running):
                self._account(running[finished], finished, result)
        except KeyboardInterrupt:
            self._stop.set()
            self._kernels.close()  # kernels end, so that the threads waiting for them do
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _room(self, jobs: Sequence[Job]) -> int:
        return _at_once(jobs, self._held())

    def _start(self) -> None:
        if self._manager is not None:
            return
        from analysis import kernels

        folder = kernels.Folder()
        self._kernels.callback(folder.close)
        plain, nursery = kernels.Plain(), None
        self._kernels.callback(plain.close)
        if self.settings.warm and kernels.WARM:
            nursery = kernels.Nursery(self.settings.root)
            self._kernels.callback(nursery.close)
        self._manager = kernels.manager(self.settings.root, folder.path, nursery, plain)

    def _account(self, job: Job, finished: Future, result: Result) -> None:
        error = finished.exception()
        if error is None:
            result.done.append(job.key)
            self.say(f"{job.title}  {finished.result():.1f} s")
        else:
            result.failed.append(job.key)
            output = self._output(job)
            told = f"{_failing_cell(output)}{told_in_a_line(error)}"
            self.say(f"{job.title}  FAILED: {told} (kept in {output.relative_to(self.settings.root)})")

    def _one(self, job: Job, follow: bool) -> float:
        if self._stop.is_set():
            raise KeyboardInterrupt
        made = fingerprint(job, self.settings, self._held())
        _record(job, self.settings).unlink(missing_ok=True)
        self._output(job).parent.mkdir(parents=True, exist_ok=True)
        seconds = self._execute(job, follow)
        if job.loads:  # it changes the data by itself; a change while another one runs must make that one run again
            made["data"] = _data(job, self.settings, self._held())
        # A notebook that lacks what it needs publishes nothing, and is up to date without.
        published = (self.settings.root / "figures" / job.key / "manifest.json").is_file()
        kept = {"fingerprint": made, "seconds": round(seconds, 2), "published": published, "values": dict(job.values)}
        _write(_record(job, self.settings), json.dumps(kept, sort_keys=True))
        return seconds

    def _output(self, job: Job) -> Path:
        return self.settings.root / "runs" / f"{job.key}.ipynb"

    def _execute(self, job: Job, follow: bool) -> float:
        stream = _Lines(self.say) if follow else None
        options = {
            "stdout_file": stream,
            "stderr_file": stream,
            "execution_timeout": self.settings.cell_timeout or None,
        }
        return execute(job.notebook, self._output(job), job.values, self._manager, self._stop.is_set, **options)


def execute(
    notebook: Path, output: Path, values: Mapping[str, object], manager: type, stopped: Callable[[], bool], **options
) -> float:
    """Run a notebook through papermill, anew where its kernel did not start; gives the seconds that it took."""
    engine = _engine()
    import papermill

    began = time.monotonic()
    for attempt in range(1, START_ATTEMPTS + 1):
        try:
            papermill.execute_notebook(
                notebook,
                output,
                parameters=dict(values),
                engine_name=engine,
                kernel_name="python3",
                language="python",
                progress_bar=False,
                shutdown_kernel="immediate",  # its cells are done; to ask it to end takes a third of a second
                kernel_manager_class=manager,
                **options,
            )
            break
        except Exception as error:
            if attempt == START_ATTEMPTS or stopped() or not _did_not_start(error):
                _keep(error, output)
                raise
    return time.monotonic() - began


@cache
def _engine() -> str:
    """The name of papermill's own engine, but that it writes the notebook at the start and at the end, however that comes.

    Papermill writes all of it before and after each cell, and all notebooks of a run share one interpreter for that: it
    was a third of what a run took besides the notebooks.
    """
    # Two seconds of reading grammars, for a check of addresses that no notebook has.
    sys.modules.setdefault("rfc3987_syntax", None)
    from papermill.engines import NBClientEngine, papermill_engines

    class AtTheEnd(NBClientEngine):
        @classmethod
        def execute_managed_notebook(cls, nb_man, kernel_name, **options):
            output, nb_man.output_path = nb_man.output_path, None
            try:
                return super().execute_managed_notebook(nb_man, kernel_name, **options)
            finally:
                nb_man.output_path = output

    papermill_engines.register("at-the-end", AtTheEnd)
    return "at-the-end"


def _at_once(jobs: Sequence[Job], held: Sequence[Snapshot]) -> int:
    """One more than there are cores, but no more than fit into the memory that is free now; one fits always.

    A kernel waits for half a second when it starts, and the cores for it: a run took a fifth longer with one a core.
    """
    import psutil

    reviews = max(sum(one.reviews for one in held if one.year in job.years) for job in jobs)
    fitting = psutil.virtual_memory().available // (KERNEL + reviews * PER_REVIEW)
    return max(1, min(_cores() + 1, fitting))


def _cores() -> int:
    """The cores that this process may use; a container often has fewer than the machine."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Lines:
    """A file that says each line."""

    def __init__(self, say: Say) -> None:
        self.say = say

    def write(self, text: str) -> None:
        for line in text.splitlines():
            self.say(f"  {line}")

    def flush(self) -> None:
        """Nothing is held back."""


def _did_not_start(error: Exception) -> bool:
    silent = ("Kernel died before replying", "Kernel didn't respond")
    return isinstance(error, ChildProcessError) or (isinstance(error, RuntimeError) and str(error).startswith(silent))


ADDED = {"injected-parameters", "papermill-error-cell-tag"}  # tags of the cells that papermill adds


def _started(cells: Sequence[Mapping]) -> dict | None:
    """The cell that was started last: where a notebook failed."""
    begun = [cell for cell in cells if cell["metadata"].get("papermill", {}).get("start_time")]
    return begun[-1] if begun else None


def _failing_cell(output: Path) -> str:
    """``cell 3: ``, counted as in the notebook's source; nothing where no cell was started."""
    with contextlib.suppress(OSError, ValueError, KeyError):
        cells = json.loads(output.read_text(encoding="utf-8"))["cells"]
        own = [cell for cell in cells if not ADDED.intersection(cell["metadata"].get("tags", []))]
        if (cell := _started(own)) is not None:
            return f"cell {own.index(cell) + 1}: "
    return ""


def _keep(error: Exception, output: Path) -> None:
    """Write an error that came from outside the cells, as the death of a kernel, to the cell where it happened."""
    if type(error).__name__ not in ("CellTimeoutError", "DeadKernelError"):
        return
    with contextlib.suppress(OSError, ValueError, KeyError):
        kept = json.loads(output.read_text(encoding="utf-8"))
        if (cell := _started(kept["cells"])) is not None:
            told = {"ename": type(error).__name__, "evalue": told_in_a_line(error)}
            cell["outputs"].append({"output_type": "error", **told, "traceback": [": ".join(told.values())]})
            _write(output, json.dumps(kept, indent=1, ensure_ascii=False))


class Failed(Exception):
    """A notebook failed elsewhere, and there it was told in a line."""


def told_in_a_line(error: BaseException) -> str:
    """Notebook trouble in a line."""
    if isinstance(error, Failed):
        return str(error)
    if type(error).__name__ == "PapermillExecutionError":
        return f"{error.ename}: {_line(error.evalue)}"
    if type(error).__name__ == "CellTimeoutError":
        return "it took longer than --cell-timeout"
    if type(error).__name__ == "DeadKernelError":
        return "its kernel died"
    return f"{type(error).__name__}: {_line(str(error))}"


def _line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _write(path: Path, text: str) -> None:
    new = path.with_name(path.name + ".new")
    new.write_text(text + "\n")
    os.replace(new, path)
