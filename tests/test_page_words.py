"""The page's search for a word: counted, and compared, as the statistics count and compare words."""

from __future__ import annotations

import random
from dataclasses import replace

import pandas as pd
import pytest
from browser import Watched, chromium
from samples import make_sample

from analysis.page import words
from analysis.page.build import ASSETS
from analysis.sample import Sample
from analysis.statistics import topics

TITLES = (
    "Score-Based Diffusion Models",
    "A theory of diffusions",
    "Theories of Large-Language Models (LLMs)",
    "\N{FULLWIDTH LATIN CAPITAL LETTER D}iffusion, and a diffusion model",
    "On the loss of GANs",
)
KEYWORDS = (
    ["LLMs; GANs", "diffusion models"],
    ["llm", "Diffusion-Model."],
    ["GAN"],
    None,
    ["large language models (LLMs)"],
)
TYPED = (
    "LLMs",
    "Theories",
    " few_shot  Learning;",
    "Analysis",
    "Große Sprachmodelle",
    "processes",
    "ΛΌΓΟΣ",
    "GANs!",
    "x²s",
    "(LLMs)",
)


@pytest.fixture(scope="module")
def papers() -> Sample:
    """Each title and each list of keywords seven times, so that most are shared by enough papers."""
    sample = make_sample(
        [[1, 6], [3], [8, 8], [6], [1]] * 7, ["accepted", "rejected", "accepted", "rejected", "withdrawn"] * 7
    )
    some = {"title": list(TITLES) * 7, "keywords": list(KEYWORDS) * 7}
    return replace(
        sample, papers=sample.papers.assign(**{name: pd.Series(one, dtype=object) for name, one in some.items()})
    )


def test_keywords_are_those_of_the_statistic(papers):
    counted = words.counted(papers)["keyword"]
    frame = topics.keywords(papers, least=words.ENOUGH)
    assert {key: row[0] for key, row in counted.items()} == dict(
        zip(map(topics.normalised, frame["topic"]), frame["n"], strict=True)
    )
    shares = {key: row[2] / row[0] for key, row in counted.items()}
    assert shares == pytest.approx(dict(zip(map(topics.normalised, frame["topic"]), frame["value"], strict=True)))


@pytest.mark.parametrize(
    "word", ["diffusion", "model", "diffusion model", "score", "loss", "gan", "llm", "large language"]
)
def test_a_word_of_titles_is_in_as_many_as_the_search_finds(papers, word):
    found = topics.search(papers, word).set_index("where").loc["title"]
    papers_with, mean, accepted, *_ = words.counted(papers)["title"][word]
    assert [papers_with, accepted] == [found["n"], found["accepted"]] and found["n"] > 0
    assert mean == pytest.approx(found["mean"], abs=5e-5)


def test_what_is_typed_is_compared_as_the_statistics_compare_it():
    draw = random.Random(5)
    letters = "aAsSyix TZ-_.(){}s\u2013\u00df\u03c2\ufb01es,;'"
    typed = [*TYPED, *TITLES, *("".join(draw.choices(letters, k=draw.randint(0, 12))) for _ in range(400))]
    script = (ASSETS / "page.js").read_text(encoding="utf-8")
    about = '{"years": [], "stand": [], "words": []}'
    holder = f'<button id="theme"></button><script type="application/json" id="about">{about}</script>'
    with chromium() as browser, Watched(browser) as watched:
        watched.page.set_content(holder)
        for part in ((ASSETS / "form.js").read_text(encoding="utf-8"), script):
            watched.page.add_script_tag(content=part)
        found = watched.page.evaluate("typed => typed.map(Page.normalised)", typed)
    assert dict(zip(typed, found, strict=True)) == {one: topics.normalised(one) for one in typed}
