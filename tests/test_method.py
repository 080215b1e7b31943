"""docs/method.md: an entry for each statistic, held to its docstring."""

import re

import pytest

from analysis import ROOT
from analysis.statistics import statistics

TEXT = (ROOT / "docs" / "method.md").read_text(encoding="utf-8")
FIELDS = ("Definition", "Assumes", "Interval", "Trap", "Reference")


def _entries() -> dict[str, str]:
    parts = re.split(r"^### `([a-z0-9-]+)`\n", TEXT, flags=re.MULTILINE)
    bodies = [re.split(r"^## ", body, flags=re.MULTILINE)[0] for body in parts[2::2]]
    return dict(zip(parts[1::2], bodies, strict=True))


def _plain(text: str) -> str:
    return " ".join(text.split())


def test_every_statistic_has_an_entry_and_every_entry_a_statistic():
    assert sorted(_entries()) == sorted(statistics())


@pytest.mark.parametrize("name", statistics())
def test_an_entry_opens_with_the_question_of_the_docstring(name):
    assert _plain(_entries().get(name, "")).startswith(statistics()[name].question)


@pytest.mark.parametrize("name", statistics())
def test_an_entry_says_what_it_must_in_order(name):
    found = re.findall(r"^\*\*(\w+)\.\*\* \S", _entries().get(name, ""), flags=re.MULTILINE)
    assert tuple(found) == FIELDS


@pytest.mark.parametrize("name", statistics())
def test_an_interval_is_claimed_where_there_is_one(name):
    """A seeded statistic is resampled or simulated: its entry says over what."""
    interval = re.search(r"\*\*Interval\.\*\* (.*)", _entries().get(name, ""))
    if statistics()[name].seeded:
        assert interval and re.search("bootstrap|draws|seed|permut|simulat", interval.group(1), re.IGNORECASE)


def test_papers_that_docstrings_cite_are_cited_in_the_method():
    docstrings = " ".join(one.function.__doc__ for one in statistics().values())
    for number in set(re.findall(r"arXiv (\d{4}\.\d{4,5})", docstrings)):
        assert number in TEXT, number
