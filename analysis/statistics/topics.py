"""Topics: what papers say they are about, in their keywords, areas and titles, and what became of them.

Counts and limits only: a topic that stands out was reviewed or chosen otherwise than the rest, for reasons that are not here, and a keyword is
no way into a conference.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
import pandas as pd

from analysis.errors import Trouble
from analysis.sample import Sample
from analysis.snapshots import OUTCOMES
from analysis.statistics import register
from analysis.statistics.intervals import LEVEL, Z, wilson
from analysis.statistics.ledger import knows_accepted, refusal

LEAST = 20  # papers: below this a rate is one or two papers' fate
COLUMNS = ("topic", "value", "low", "high", "n", "shrunken", "p", "q", "overall", "spread", "papers")
SHARES = ("value", "low", "high", "shrunken", "overall")


# Words --------------------------------------------------------------------------------------------------------------


def normalised(keyword: str) -> str:
    """A keyword as it is compared: whatever its case, plural, full stops and separators.

    Compatible characters are made equal (NFKC), an abbreviation in brackets at the end goes ("large language models
    (LLMs)"), so do dots and other marks at the ends; hyphens, underscores and runs of spaces are one space; a plural s
    of the last word goes (`LLMs` is `llm`, `networks` is `network`, `theories` is `theory`), but not of `analysis`,
    `bias`, `loss`, `dynamics`, `corpus`. Synonyms stay apart: `llm` is not `large language model`.
    """
    text = unicodedata.normalize("NFKC", keyword)
    text = re.sub(r"(?<=\w)\s*\([^()]*\)\s*$", "", text)
    text = re.sub(r"\b([A-Z]{2,})s\b", r"\1", text).casefold()
    text = " ".join(re.sub(r"[-\u2010-\u2015_\s]+", " ", text).split()).strip(" .,:;!?'\"`*|")
    return _singular(text)


def _singular(text: str) -> str:
    if text.endswith("ies") and len(text.split()[-1]) > 4 and not text.endswith(("series", "species")):
        return f"{text[:-3]}y"
    if text.endswith(("sses", "shes", "ches", "xes")):
        return text[:-2]
    kept = ("ss", "us", "is", "ics", "bias", "series", "species")
    return text[:-1] if text.endswith("s") and len(text.split()[-1]) > 3 and not text.endswith(kept) else text


def parts(keyword: str) -> list[str]:
    """The keywords in one entry: people put several into a field, between semicolons, commas or on lines."""
    return [part for part in re.split(r"[;,\n\u3001\uff0c\uff1b]", keyword) if part.strip(" .")]


def has(sample: Sample, column: str) -> bool:
    """Whether the snapshot knows this of any paper; bundled counts know none."""
    return column in sample.papers and bool(sample.papers[column].notna().any())


def require(sample: Sample, column: str) -> None:
    """Trouble, in one sentence, where the snapshot does not know this of any paper."""
    if len(sample.papers) and not has(sample, column):
        what = {"keywords": "keywords", "area": "areas", "title": "titles"}[column]
        year = sample.snapshot.year
        raise Trouble(
            f"{sample.snapshot.title} ({sample.snapshot.source}) has no {what}: `python -m analysis fetch --source api --years {year}` "
            "brings them where the year has them, and so does --load with saved notes."
        )


# Breakdowns ---------------------------------------------------------------------------------------------------------


@register("keywords", columns=("keywords",), shares=SHARES)
def keywords(sample: Sample, least: int = LEAST) -> pd.DataFrame:
    """Which keywords have papers that are accepted more or less often than all?

    A row a keyword (see `normalised`; shown in its most frequent spelling) with at least `least` papers, the most
    frequent first. `value` is accepted / papers with Wilson limits, `shrunken` the same drawn towards the overall rate
    as far as the spread between keywords asks for (beta-binomial, its precision by maximum likelihood; Efron and
    Morris 1975). `p` is of the difference to the overall rate if the papers were drawn from all at random, without
    replacement (normal approximation), `q` is p adjusted for all keywords (Benjamini and Hochberg 1995). Papers have
    several keywords, so rows overlap. The keywords of accepted papers may have been edited later.
    """
    return _rates(sample, keyed(sample), least)


@register("areas", columns=("area",), shares=SHARES)
def areas(sample: Sample, least: int = LEAST) -> pd.DataFrame:
    """Which research areas have papers that are accepted more or less often than all?

    As keywords, for the one area that authors choose from the venue's list (ICLR asks for it since 2023).
    """
    return _rates(sample, _areas(sample), least)


@register("keyword-averages", columns=("keywords",), shares=())
def keyword_averages(sample: Sample, least: int = LEAST) -> pd.DataFrame:
    """Which keywords have papers that are rated higher or lower than all?

    As keywords, but `value` is the mean of the paper averages with its normal 95 % limits, papers taken as independent,
    and `shrunken` is drawn towards the overall mean by a normal model (variance between keywords by moments,
    DerSimonian and Laird 1986). It wants no outcomes.
    """
    return _averages(sample, keyed(sample), least)


@register("area-averages", columns=("area",), shares=())
def area_averages(sample: Sample, least: int = LEAST) -> pd.DataFrame:
    """Which research areas have papers that are rated higher or lower than all?

    As keyword-averages, for the one area that authors choose from the venue's list.
    """
    return _averages(sample, _areas(sample), least)


def keyed(sample: Sample) -> pd.DataFrame:
    """A row a paper (its place in the sample) and keyword, each once: place, key (see `normalised`), spelling."""
    require(sample, "keywords")
    if "keywords" not in sample.papers:
        return pd.DataFrame({"place": [], "key": [], "spelling": []})
    exploded = sample.papers["keywords"].reset_index(drop=True).explode().dropna()
    return _keyed(exploded, parts)


def _areas(sample: Sample) -> pd.DataFrame:
    require(sample, "area")
    if "area" not in sample.papers:
        return pd.DataFrame({"place": [], "key": [], "spelling": []})
    return _keyed(sample.papers["area"].reset_index(drop=True).dropna(), lambda area: [area])


def _keyed(written: pd.Series, split: Callable[[str], list[str]]) -> pd.DataFrame:
    # Every text is looked at once, however many papers have it.
    texts = {text: split(str(text)) for text in written.unique()}
    one = written.map(texts).explode().dropna()
    spelling = {text: " ".join(text.split()).strip(" .") for text in one.unique()}
    keys = {text: normalised(text) for text in one.unique()}
    frame = pd.DataFrame({"place": one.index, "key": one.map(keys), "spelling": one.map(spelling)})
    return frame[frame["key"] != ""].drop_duplicates(["place", "key"]).reset_index(drop=True)


def _rates(sample: Sample, topics: pd.DataFrame, least: int) -> pd.DataFrame:
    if len(sample.papers) and not knows_accepted(sample):
        raise Trouble(refusal(sample, "accepted"))
    accepted = (sample.papers["outcome"] == "accepted").to_numpy(dtype=float)
    frame = _breakdown(accepted, np.ones(len(accepted), dtype=bool), topics, least)
    count = np.rint(frame["value"] * frame["n"])
    low, high = wilson(count, frame["n"])
    shrunken = shrunken_rates(count.to_numpy(), frame["n"].to_numpy(), accepted.mean() if len(accepted) else np.nan)
    return frame.assign(low=low, high=high, shrunken=shrunken)[list(COLUMNS)]


def _averages(sample: Sample, topics: pd.DataFrame, least: int) -> pd.DataFrame:
    average = sample.papers["average"].to_numpy()
    frame = _breakdown(average, ~np.isnan(average), topics, least)
    half = Z * frame["sd"] / np.sqrt(frame["n"])
    shrunken = shrunken_means(
        frame["value"].to_numpy(), frame["sd"].to_numpy(), frame["n"].to_numpy(), frame["overall"].to_numpy()
    )
    return frame.assign(low=frame["value"] - half, high=frame["value"] + half, shrunken=shrunken)[list(COLUMNS)]


def _breakdown(y: np.ndarray, known: np.ndarray, topics: pd.DataFrame, least: int) -> pd.DataFrame:
    """The mean of `y` for each topic with enough papers, against random draws of as many papers from all."""
    topics = topics[known[topics["place"].to_numpy(dtype=np.int64)]]
    key, name = pd.factorize(topics["key"], sort=True)
    values = y[topics["place"].to_numpy(dtype=np.int64)]
    n = np.bincount(key, minlength=len(name))
    kept = n >= max(least, 2)
    sums, squares = (np.bincount(key, weights=values**power, minlength=len(name))[kept] for power in (1, 2))
    n, papers = n[kept], int(known.sum())
    overall, spread = (y[known].mean(), y[known].std(ddof=1)) if papers > 1 else (np.nan, np.nan)
    frame = pd.DataFrame(
        {"topic": _spellings(topics, key)[kept], "value": sums / n, "n": n, "key": np.asarray(name)[kept]}
    )
    frame["sd"] = np.sqrt(np.maximum(squares - sums**2 / n, 0) / (n - 1))
    frame = frame.assign(overall=overall, spread=spread, papers=papers)
    frame["p"] = _chance(frame)
    frame["q"] = adjusted(frame["p"].to_numpy())
    return frame.sort_values(["n", "key"], ascending=[False, True], ignore_index=True)


def _spellings(topics: pd.DataFrame, key: np.ndarray) -> np.ndarray:
    """The most frequent spelling of each key, the first in the alphabet of equally frequent ones."""
    counted = topics.assign(key=key).groupby(["key", "spelling"], as_index=False).size()
    first = counted.sort_values(["key", "size", "spelling"], ascending=[True, False, True]).drop_duplicates("key")
    return first["spelling"].to_numpy(dtype=object)


def expected_error(frame: pd.DataFrame, n: np.ndarray) -> np.ndarray:
    """The standard error of the mean of `n` papers drawn from all at random, without replacement."""
    spread, papers = (frame[name].iloc[0] if len(frame) else np.nan for name in ("spread", "papers"))
    return spread * np.sqrt(np.maximum(papers - n, 0) / papers / n)


def _chance(frame: pd.DataFrame) -> np.ndarray:
    """The probability of a difference to the overall value as large, were the papers drawn from all at random."""
    error = expected_error(frame, frame["n"].to_numpy(dtype=float))
    away = np.abs(frame["value"] - frame["overall"]).to_numpy()
    z = np.divide(away, error, out=np.zeros(len(frame)), where=error > 0)
    return np.array([math.erfc(one / math.sqrt(2)) for one in z])


def adjusted(p: np.ndarray) -> np.ndarray:
    """P-values adjusted for the false discovery rate (Benjamini and Hochberg 1995)."""
    order = np.argsort(p, kind="stable")
    scaled = p[order] * len(p) / np.arange(1, len(p) + 1)
    q = np.empty(len(p))
    q[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1)
    return q


def funnel_limits(frame: pd.DataFrame, points: int = 60) -> pd.DataFrame:
    """How far the values of so many papers lie from the overall one by chance: a row a limit and number of papers.

    `95 %` holds one topic drawn at random; beyond the second limit lie exactly the topics that stand out with all tests
    counted (q of 0.05 or less), or, where none does, it is where the first one would (0.05 / tests).
    """
    if frame.empty:
        return pd.DataFrame({"limit": [], "n": [], "low": [], "high": []})
    n = np.unique(np.geomspace(frame["n"].min(), frame["n"].max(), points).round())
    out = frame.loc[frame["q"] <= 1 - LEVEL, "p"]
    chance = {"95 %": 1 - LEVEL, "all tests": out.max() if len(out) else (1 - LEVEL) / len(frame)}
    overall, error = frame["overall"].iloc[0], expected_error(frame, n)
    rows = []
    for limit, p in chance.items():
        half = NormalDist().inv_cdf(1 - max(p, 1e-300) / 2) * error if p > 1e-15 else 8 * error
        rows.append(pd.DataFrame({"limit": limit, "n": n.astype(int), "low": overall - half, "high": overall + half}))
    return pd.concat(rows, ignore_index=True)


# Shrinkage ----------------------------------------------------------------------------------------------------------


def shrunken_rates(count: np.ndarray, n: np.ndarray, overall: float) -> np.ndarray:
    """Rates drawn towards the overall one: (count + overall m) / (n + m).

    Counts are taken as beta-binomial with that mean; the precision `m` is where their likelihood is highest, on a fine
    grid from 1 to a million (where topics do not differ beyond chance they all become the overall rate).
    """
    if not len(n) or not 0 < overall < 1:
        return np.asarray(count, dtype=float) / n
    grid = np.geomspace(1, 1e6, 241)
    best = grid[np.argmax([_likelihood(count.astype(int), n.astype(int), overall, m) for m in grid])]
    return (count + overall * best) / (n + best)


def _likelihood(count: np.ndarray, n: np.ndarray, overall: float, m: float) -> float:
    """The log likelihood of beta-binomial counts, less what does not depend on `m`: rising factorials, summed once."""
    steps = np.arange(n.max())

    def rising(start: float, upto: np.ndarray) -> float:
        return np.concatenate([[0.0], np.cumsum(np.log(start + steps))])[upto].sum()

    return rising(overall * m, count) + rising((1 - overall) * m, n - count) - rising(m, n)


def shrunken_means(value: np.ndarray, sd: np.ndarray, n: np.ndarray, overall: np.ndarray) -> np.ndarray:
    """Means drawn towards the overall one, by how much of their spread is more than their errors explain."""
    if len(n) < 2:
        return value
    pooled = (sd**2 * (n - 1)).sum() / (n - 1).sum()  # one variance: that of few papers is too rough
    if not pooled > 0:
        return value
    weight = n / pooled
    excess = (weight * (value - overall) ** 2).sum() - len(n)
    between = max(excess, 0) / weight.sum()
    return overall + (value - overall) * between / (between + 1 / weight)


# Search -------------------------------------------------------------------------------------------------------------


@register("search", columns=("title", "keywords"))
def search(sample: Sample, word: str = "") -> pd.DataFrame:
    """How many papers have a word in their title or keywords, how are they rated, and what became of them?

    `word` is found as whole words, whatever its case and with or without a plural s; between slashes it is a regular
    expression (`/diffusion|score.based/`). Rows: in the title, in the keywords, in either, and all papers beside them.
    `value` is accepted / n with Wilson limits, `mean` the mean of the paper averages with normal limits; an outcome
    that the snapshot does not know is missing. Titles are as they are now: accepted papers may have changed theirs.
    """
    found = pattern(word)
    if len(sample.papers) and not (has(sample, "title") or has(sample, "keywords")):
        require(sample, "title")
    title = _matches(sample, "title", found)
    keyword = _matches(sample, "keywords", found)
    masks = {"title": title, "keywords": keyword, "either": title | keyword, "all papers": np.ones(len(title), bool)}
    rows = [{"where": where, **_fate(sample, mask)} for where, mask in masks.items()]
    counts = dict.fromkeys(("n", *OUTCOMES), "Int64")
    return pd.DataFrame(rows).astype(counts)


def pattern(word: str) -> re.Pattern:
    """What is searched: a text as whole words, or a regular expression between slashes; Trouble for none or a broken one."""
    word = unicodedata.normalize("NFKC", word).strip()
    if not word.strip("/"):
        raise Trouble(
            "Which word? Give it with --word, as in --word diffusion, or --word '/diffusion|score/' for a regular expression."
        )
    if len(word) > 2 and word[0] == word[-1] == "/":
        try:
            return re.compile(word[1:-1], re.IGNORECASE)
        except re.error as error:
            raise Trouble(
                f"`{word}` is no regular expression ({error}); without the slashes it is searched as it is."
            ) from None
    plain = r"[-\s]+".join(map(re.escape, re.split(r"[-\s]+", word)))
    return re.compile(rf"(?<!\w){plain}s?(?!\w)", re.IGNORECASE)


def _matches(sample: Sample, column: str, found: re.Pattern) -> np.ndarray:
    if column not in sample.papers:
        return np.zeros(len(sample.papers), dtype=bool)
    texts = (_text(one) for one in sample.papers[column].array)
    return np.fromiter((found.search(text) is not None for text in texts), dtype=bool, count=len(sample.papers))


def _text(written: object) -> str:
    """A title, or all keywords of a paper, one a line."""
    if isinstance(written, str):
        return unicodedata.normalize("NFKC", written)
    if not isinstance(written, list | tuple | np.ndarray):  # missing, in one of pandas's ways
        return ""
    return unicodedata.normalize("NFKC", "\n".join(map(str, written)))


def _fate(sample: Sample, mask: np.ndarray) -> dict[str, object]:
    papers = sample.papers[mask]
    n, outcomes = len(papers), papers["outcome"].value_counts()
    known = {"complete": OUTCOMES, "accepted only": ("accepted", "withdrawn"), "none": ()}[sample.snapshot.outcomes]
    counts = {name: int(outcomes.get(name, 0)) if name in known else None for name in OUTCOMES}
    accepted = np.nan if counts["accepted"] is None else counts["accepted"]
    low, high = wilson(accepted, n)
    average = papers["average"].dropna()
    mean = average.mean() if len(average) else np.nan
    half = Z * average.std(ddof=1) / np.sqrt(len(average)) if len(average) > 1 else np.nan
    share = {"value": accepted / n if n else np.nan, "low": float(low), "high": float(high), "n": n}
    return {**share, "mean": mean, "mean_low": mean - half, "mean_high": mean + half, **counts}
