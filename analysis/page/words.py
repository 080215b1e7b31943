"""Search a word in titles or keywords: counts for every word that enough papers share, where titles are known."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise

import numpy as np

from analysis import sample, store
from analysis.page import stand
from analysis.snapshots import OUTCOMES, Snapshot
from analysis.venues import venue_year

ENOUGH = 5  # papers: a word that fewer share is left out, so that no single paper is told
WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
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
    for (venue, year), group in groupby(stand.held(site.database), key=lambda one: (one.venue, one.year)):
        chosen = _chosen(site, list(group))
        if chosen is not None:
            file = f"page/words-{venue.lower().replace('/', '-')}-{year}.js"
            _write(site, file, chosen)
            index.append({"key": f"{venue} {year}", "snapshot": chosen.name, "stage": chosen.stage, "file": file})
    return sorted(index, key=lambda one: one["key"], reverse=True)


def _chosen(site, some: list[Snapshot]) -> Snapshot | None:
    """The newest snapshot of a year whose papers have titles or keywords."""
    query = (
        "select count(*) filter (where title is not null or len(keywords) > 0) from submissions where snapshot_id = ?"
    )
    with store.reading(site.database) as con:
        having = [one for one in some if one.reviews and con.execute(query, [one.snapshot_id]).fetchall()[0][0]]
    return max(having, key=lambda one: one.order, default=None)


def _write(site, file: str, chosen: Snapshot) -> None:
    stamp, path = stand._stamp(site.database, [chosen]), site.figures / file
    if path.is_file() and path.read_text(encoding="utf-8").startswith(stamp):
        site.written.add(path)
        return
    key = json.dumps(f"{chosen.venue} {chosen.year}")
    inside = json.dumps(counted(_papers(site, chosen)), ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    site.write(file, f"{stamp}\nPage.words[{key}] = {inside.replace('<', chr(92) + 'u003c')};\n")


def _papers(site, chosen: Snapshot):
    venue_year(chosen.venue, chosen.year, site.database)
    columns = ("title", "keywords")
    return sample.load(
        site.database, chosen.venue, chosen.year, chosen.name, "reviewed", source=chosen.source, columns=columns
    ).papers


def counted(papers) -> dict[str, object]:
    """For each word of titles and each keyword: papers with a review, mean of their averages, and how many of each outcome.

    A title counts once for each of its words and pairs of neighbouring words, a paper once for each of its keywords,
    whatever their case, full stops and hyphens.
    """
    outcome = papers["outcome"].map({name: place for place, name in enumerate(OUTCOMES)}).to_numpy()
    rows = {"title": defaultdict(list), "keyword": defaultdict(list)}
    for row, (title, keywords) in enumerate(zip(papers["title"], papers["keywords"], strict=True)):
        for word in set(_words(title)):
            rows["title"][word].append(row)
        for keyword in set(_keywords(keywords)):
            rows["keyword"][keyword].append(row)
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
    words = [word.casefold() for word in WORD.findall(title)] if isinstance(title, str) else []
    yield from (word for word in words if word not in PLAIN)
    yield from (f"{a} {b}" for a, b in pairwise(words) if not PLAIN.intersection((a, b)))


def _keywords(keywords: object) -> Iterator[str]:
    for keyword in keywords if isinstance(keywords, list | tuple | np.ndarray) else ():
        plain = " ".join(re.sub(r"[-_]+", " ", str(keyword)).casefold().strip(" .;,").split())
        if plain:
            yield plain


def form() -> str:
    """The box to search in; the script shows it where a year has titles."""
    return """<form id="words-form" class="boxes" hidden>
<label class="wide">A word of titles or keywords <input id="word" autocomplete="off" spellcheck="false"></label>
<label>Year <select id="words-year"></select></label>
</form>
<div id="words-found" role="status"></div>
"""
