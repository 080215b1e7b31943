"""What all tests share: the bundled counts, loaded once, and real notes where they are at hand."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

from analysis import ROOT, fetch
from analysis.sample import Sample, load
from analysis.sources import bundled

# A shell that starts the tests in the background has Ctrl-C ignored, also by the processes that the tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples on every run, and nothing written beside the tests.
settings.register_profile("suite", deadline=None, derandomize=True, database=None, max_examples=40)
settings.load_profile("suite")


@pytest.fixture(scope="session")
def bundled_store(tmp_path_factory) -> Path:
    """A database with all bundled snapshots; not to be written to."""
    database = tmp_path_factory.mktemp("store") / "reviews.duckdb"
    fetch.load_bundled(bundled.years(), database)
    return database


@pytest.fixture(scope="session")
def bundled_sample(bundled_store) -> Callable[..., Sample]:
    """``bundled_sample(2020, "final", "decided")``: a sample of the bundled counts, read once."""

    @cache
    def read(year: int, snapshot: str = "", population: str = "reviewed", need: str = "") -> Sample:
        return load(bundled_store, bundled.VENUE, year, snapshot, population, need=need)

    return read


@pytest.fixture(scope="session")
def review_data() -> Path:
    """The folder of real notes: REVIEW_DATA, or shared/data beside the project."""
    folder = Path(os.environ.get("REVIEW_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"There are no real notes in {folder}; set REVIEW_DATA to the folder that has them.")
    return folder
