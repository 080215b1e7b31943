"""What a measurement was made on, and the measuring of a command: wall time, time of the processors, peak memory."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

LIBRARIES = ("duckdb", "numpy", "pandas", "matplotlib", "seaborn", "papermill", "ipykernel", "openreview-py")


@dataclass(frozen=True)
class Cost:
    """Seconds of wall time, seconds of all processors together, and the peak memory in MB of the largest process."""

    seconds: float
    processor: float
    memory: float

    def __str__(self) -> str:
        return f"{self.seconds:8.1f} s {self.processor:8.1f} s of processors {self.memory:7,.0f} MB"


def described() -> str:
    """Processor, cores, memory, system and versions, in two lines."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    system = f"{platform.system()} {platform.release().split('-')[0]}"
    return f"{_processor()}, {cores} cores, {memory:.0f} GiB, {system}, Python {platform.python_version()}\n{libraries}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(": ")[2] for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def measure(command: list[str], folder: Path, **options) -> Cost:
    """The cost of a command with all processes that it started and waited for; ends this process where it failed.

    What it prints goes to this process's standard error, unless `options` of subprocess say otherwise.
    """
    began = perf_counter()
    process = subprocess.Popen(command, cwd=folder, **{"stdout": sys.stderr, **options})
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with status {process.returncode}.")
    return Cost(perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
