"""Search a word in titles or keywords: counts for every word that enough papers share, where titles are known."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from pathlib import Path

import numpy as np

from analysis import sample, store
from analysis.page import stand
from analysis.page.commands import venue_option
from analysis.page.numbers import Part
from analysis.places import place
from analysis.snapshots import OUTCOMES, Snapshot
from analysis.statistics import topics

ENOUGH = 5  # papers: a word that fewer share is left out, so that no single paper is told
WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
# Words that tell nothing of a subject.
PLAIN = frozenset(
    """
    a an and are as at be by can do does for from how in into is it its not of on or over than that the their to towards
    toward under via we what when where which why with without
    """.split()  # noqa: SIM905 (a list of so many words reads worse)
)


def write(site) -> list[dict]:
    """Write the words of each year that has titles or keywords; gives the index of those years."""
    index = []
    for chosen in _searched(site.database):
        _write(site, _file(chosen), chosen)
        key, named = f"{chosen.venue} {chosen.year}", {"snapshot": chosen.name, "stage": chosen.stage}
        index.append({"key": key, **named, "file": _file(chosen)})
    return sorted(index, key=lambda one: one["key"], reverse=True)


def _file(chosen: Snapshot) -> str:
    return f"page/words-{chosen.venue.lower().replace('/', '-')}-{chosen.year}.js"


def _searched(database: Path) -> Iterator[Snapshot]:
    """The snapshot of each year that is searched, of the years that have titles or keywords."""
    for _, group in groupby(store.held(database), key=lambda one: (one.venue, one.year)):
        chosen = _chosen(database, list(group))
        if chosen is not None:
            yield chosen


def _chosen(database: Path, some: list[Snapshot]) -> Snapshot | None:
    """The newest snapshot of a year whose papers have titles or keywords."""
    query = (
        "select count(*) filter (where title is not null or len(keywords) > 0) from submissions where snapshot_id = ?"
    )
    with store.reading(database) as con:
        having = [one for one in some if one.reviews and con.execute(query, [one.snapshot_id]).fetchall()[0][0]]
    return max(having, key=lambda one: one.order, default=None)


def _write(site, file: str, chosen: Snapshot) -> None:
    stamp, path = stand._stamp(site.database, [chosen]), site.figures / file
    if path.is_file() and path.read_text(encoding="utf-8").startswith(stamp):
        site.written.add(path)
        return
    key = json.dumps(f"{chosen.venue} {chosen.year}")
    inside = json.dumps(_counted(site.database, chosen), ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    site.write(file, f"{stamp}\nPage.words[{key}] = {inside.replace('<', chr(92) + 'u003c')};\n")


def _counted(database: Path, chosen: Snapshot) -> dict[str, object]:
    of = chosen.venue, chosen.year, chosen.name
    return counted(sample.load(database, *of, "reviewed", source=chosen.source, columns=("title", "keywords")))


def recomputed(database: Path, years: Sequence[int] = ()) -> Iterator[tuple[str, str, dict]]:
    """As that of `stand`: for each year the file of its words, its name, and the counts as they are in the store now."""
    for chosen in _searched(database):
        if not years or chosen.year in years:
            yield _file(chosen), f"{chosen.venue} {chosen.year}", json.loads(json.dumps(_counted(database, chosen)))


def parts(database: Path, figures: Path) -> Iterator[Part]:
    """What the search looks through, a part a year."""
    for chosen in _searched(database):
        path = figures / _file(chosen)
        if path.is_file():
            about = {name: getattr(chosen, name) for name in ("venue", "year", "stage", "source")}
            asked = f"{venue_option(chosen.venue)} --year {chosen.year} --snapshot {chosen.name} --word WORD"
            about |= {"snapshot": chosen.name, "population": "reviewed", "file": _file(chosen)}
            about |= {"queries": [{"command": f"python -m analysis stat search{asked}"}]}
            papers = stand.parsed(path.read_text(encoding="utf-8"))["all"][0]
            where = place(chosen.venue, chosen.year, chosen.name)
            yield Part(f"{where}/words", about, {"?papers=reviewed": {"value": papers, "n": papers}})


def counted(chosen: sample.Sample) -> dict[str, object]:
    """For each word of titles and each keyword: papers with a review, mean of their averages, and how many of each outcome.

    A title counts once for each of its words and pairs of neighbouring words, a paper once for each of its keywords, all
    compared as `stat keywords` compares them (`topics.normalised`), and so is what is typed.
    """
    papers = chosen.papers
    outcome = papers["outcome"].map({name: place for place, name in enumerate(OUTCOMES)}).to_numpy()
    rows = {"title": defaultdict(list), "keyword": defaultdict(list)}
    for row, title in enumerate(papers["title"]):
        for word in set(_words(title)):
            rows["title"][word].append(row)
    if topics.has(chosen, "keywords"):
        for key, group in topics.keyed(chosen).groupby("key")["place"]:
            rows["keyword"][key] = group.tolist()
    average = papers["average"].to_numpy()
    found = {
        kind: {word: _row(average, outcome, some) for word, some in words.items() if len(some) >= ENOUGH}
        for kind, words in rows.items()
    }
    return {"outcomes": list(OUTCOMES), "all": _row(average, outcome, range(len(papers))), **found}


def _row(average: np.ndarray, outcome: np.ndarray, rows: Iterable[int]) -> list:
    """Papers, mean average, then a count of each outcome."""
    places = np.fromiter(rows, dtype=np.int64)
    counts = np.bincount(outcome[places].astype(np.int64), minlength=len(OUTCOMES))
    return [len(places), round(float(average[places].mean()), 4) if len(places) else None, *counts.tolist()]


def _words(title: object) -> Iterator[str]:
    words = WORD.findall(unicodedata.normalize("NFKC", title)) if isinstance(title, str) else []
    plain = [word.casefold() in PLAIN for word in words]
    yield from (topics.normalised(word) for word, is_plain in zip(words, plain, strict=True) if not is_plain)
    pairs = zip(pairwise(words), pairwise(plain), strict=True)
    yield from (topics.normalised(f"{a} {b}") for (a, b), are_plain in pairs if not any(are_plain))


def form() -> str:
    """The box to search in; the script shows it where a year has titles."""
    return """<form id="words-form" class="boxes" hidden>
<label class="wide">A word of titles or keywords <input id="word" autocomplete="off" spellcheck="false"></label>
<label>Year <select id="words-year"></select></label>
</form>
<div id="words-found" role="status"></div>
"""
