from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import edge_samples, make_sample

from analysis.compute import Asked, compute
from analysis.errors import Trouble
from analysis.fetch import Asked as Fetched
from analysis.fetch import fetch
from analysis.sample import load
from analysis.statistics import topics

EVIL = ["=cmd|' /C calc'!A0", "$x_1^2$", "<img src=x onerror=alert(1)>", "大模型", "50 % \N{ROCKET}", "C++"]


def with_columns(sample, **columns):
    return replace(
        sample, papers=sample.papers.assign(**{name: pd.Series(one, dtype=object) for name, one in columns.items()})
    )


@pytest.fixture(scope="module")
def real_2020(review_data, tmp_path_factory):
    database = tmp_path_factory.mktemp("notes") / "reviews.duckdb"
    file = review_data / "iclr-api1" / "iclr2020_forums.jsonl.gz"
    fetch("ICLR", [2020], Fetched("notes", (file,), "2021-04-01"), database, lambda line: None)
    return database


# Words --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("LLMs", "llm"),
        ("Reinforcement Learning.", "reinforcement learning"),
        ("reinforcement-learning", "Reinforcement  learning"),
        ("Large Language Models (LLMs)", "large language model"),
        ("GPUs", "gpu"),
        ("GANs", "GAN"),
        ("learning theories", "learning theory"),
        ("diffusion processes", "diffusion process"),
        ("few_shot learning", "few\N{EN DASH}shot learning"),
        ("\N{FULLWIDTH LATIN CAPITAL LETTER L}LM", "LLM"),
        (" deep learning;", "deep learning"),
    ],
)
def test_spellings_that_are_one_keyword(one, other):
    assert topics.normalised(one) == topics.normalised(other)


@pytest.mark.parametrize(
    "word", ["analysis", "bias", "loss", "dynamics", "corpus", "time series", "physics", "consensus"]
)
def test_words_that_are_no_plurals_stay(word):
    assert topics.normalised(word.upper()) == word


@given(st.text(max_size=30))
def test_any_text_is_normalised_once_and_for_all(text):
    once = topics.normalised(text)
    assert once == once.strip()
    assert "  " not in once


def test_several_keywords_in_one_entry():
    assert [part.strip() for part in topics.parts("GAN; VAE, flows\nNLP.")] == ["GAN", "VAE", "flows", "NLP."]
    assert topics.parts("deep learning") == ["deep learning"] and topics.parts(" . ") == []


# Breakdowns against plainer computations ----------------------------------------------------------------------------

KEYS = ("alpha", "beta", "gamma")
tagged = st.lists(
    st.tuples(
        st.lists(st.sampled_from((1, 3, 6, 8)), min_size=1, max_size=3),
        st.booleans(),
        st.lists(st.sampled_from(KEYS), max_size=3),
    ),
    max_size=25,
)


def tagged_sample(drawn):
    outcomes = ["accepted" if accepted else "rejected" for _, accepted, _ in drawn]
    sample = make_sample([ratings for ratings, _, _ in drawn], outcomes)
    return with_columns(
        sample, keywords=[list(keys) for _, _, keys in drawn], title=[" ".join(keys) for _, _, keys in drawn]
    )


@given(tagged)
def test_breakdowns_agree_with_counting(drawn):
    if not any(keys for _, _, keys in drawn):
        return
    sample = tagged_sample([*drawn, ([1], False, []), ([8], True, ["delta"])])
    rows = [*drawn, ([1], False, []), ([8], True, ["delta"])]
    rates, averages = topics.keywords(sample, least=2), topics.keyword_averages(sample, least=2)
    assert rates["topic"].tolist() == averages["topic"].tolist()
    for key in KEYS:
        having = [(np.mean(ratings), accepted) for ratings, accepted, keys in rows if key in keys]
        row = rates[rates["topic"] == key]
        assert len(row) == (len(having) >= 2)
        if len(having) >= 2:
            assert row["n"].item() == len(having)
            assert row["value"].item() == pytest.approx(np.mean([accepted for _, accepted in having]))
            mean = averages[averages["topic"] == key]["value"].item()
            assert mean == pytest.approx(np.mean([average for average, _ in having]))
            # The chance: a z test with the variance of a random draw without replacement.
            everyone = [float(accepted) for _, accepted, _ in rows]
            variance = np.var(everyone, ddof=1) / len(having) * (1 - len(having) / len(rows))
            z = abs(row["value"].item() - np.mean(everyone)) / np.sqrt(variance) if variance > 0 else 0.0
            assert row["p"].item() == pytest.approx(math.erfc(z / np.sqrt(2)))


@given(tagged)
def test_order_is_irrelevant(drawn):
    if not any(keys for _, _, keys in drawn):
        return
    for statistic in (topics.keywords, topics.keyword_averages):
        once, again = (statistic(tagged_sample(some), least=2) for some in (drawn, drawn[::-1]))
        pd.testing.assert_frame_equal(once, again)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_adjusted_values_are_those_of_the_step_up_procedure(p):
    q = topics.adjusted(np.array(p))
    ordered = sorted(p)
    largest = max((rank for rank, one in enumerate(ordered, 1) if one <= 0.05 * rank / len(p)), default=0)
    rejected = [one <= ordered[largest - 1] for one in p] if largest else [False] * len(p)
    assert (q <= 0.05 + 1e-12).tolist() == rejected


def test_the_chance_is_that_of_random_draws():
    """One in twenty of random topics lies beyond the 95 % limits, as many beyond them as p says."""
    generator = np.random.default_rng(3)
    accepted = generator.random(2000) < 0.3
    sample = make_sample([[6]] * 2000, np.where(accepted, "accepted", "rejected").tolist())
    marks = [[f"topic {topic}" for topic in generator.choice(800, 20, replace=False)] for _ in range(2000)]
    frame = topics.keywords(with_columns(sample, keywords=marks), least=20)
    assert len(frame) == 800
    assert (frame["p"] <= 0.05).mean() == pytest.approx(0.05, abs=0.02)
    assert frame["shrunken"].std() < 0.3 * frame["value"].std()


def test_limits_hold_what_does_not_stand_out():
    generator = np.random.default_rng(4)
    marks = generator.integers(0, 30, 3000)
    accepted = generator.random(3000) < np.where(marks == 7, 0.8, 0.3)
    sample = make_sample([[6]] * 3000, np.where(accepted, "accepted", "rejected").tolist())
    frame = topics.keywords(with_columns(sample, keywords=[[f"word {mark}"] for mark in marks]))
    limits = topics.funnel_limits(frame, points=500).set_index(["limit", "n"])
    for row in frame.itertuples():
        for limit, stands_out in (("95 %", row.p <= 0.05), ("all tests", row.q <= 0.05)):
            band = limits.loc[(limit, row.n)]
            inside = band["low"] - 1e-9 < row.value < band["high"] + 1e-9
            assert inside != stands_out or abs(row.value - band["high"]) < 1e-9 or abs(row.value - band["low"]) < 1e-9
    assert frame.sort_values("q")["topic"].iloc[0] == "word 7" and (frame["q"] <= 0.05).sum() < 4


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 30)), min_size=2, max_size=12))
def test_shrunken_rates_lie_between_their_own_and_the_overall_one(drawn):
    n = np.array([max(pair) for pair in drawn])
    count = np.array([min(pair) for pair in drawn])
    overall = count.sum() / n.sum()
    shrunken, own = topics.shrunken_rates(count, n, overall), count / n
    assert (np.minimum(own, overall) - 1e-9 <= shrunken).all() and (shrunken <= np.maximum(own, overall) + 1e-9).all()


def test_the_likelihood_is_the_beta_binomial_one():
    count, n, overall = np.array([3, 0, 7]), np.array([10, 4, 7]), 0.4

    def plainly(m: float) -> float:
        beta = lambda a, b: math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)  # noqa: E731
        a, b = overall * m, (1 - overall) * m
        return sum(beta(a + x, b + size - x) - beta(a, b) for x, size in zip(count.tolist(), n.tolist(), strict=True))

    for m in (1.5, 20.0):
        assert topics._likelihood(count, n, overall, m) == pytest.approx(plainly(m))


def test_shrunken_rates_find_the_spread_that_made_them():
    generator = np.random.default_rng(6)
    true = generator.beta(0.3 * 40, 0.7 * 40, 400)
    n = generator.integers(20, 60, 400)
    count = generator.binomial(n, true)
    shrunken = topics.shrunken_rates(count, n, count.sum() / n.sum())
    assert ((shrunken - true) ** 2).mean() < 0.7 * ((count / n - true) ** 2).mean()


# Search -------------------------------------------------------------------------------------------------------------


@given(tagged, st.sampled_from(KEYS))
def test_search_counts_what_a_loop_counts(drawn, key):
    found = topics.search(tagged_sample(drawn), key.upper()).set_index("where")
    having = [(ratings, accepted) for ratings, accepted, keys in drawn if key in keys]
    assert found["n"].tolist() == [len(having)] * 3 + [len(drawn)]
    assert found.loc["either", "accepted"] == sum(accepted for _, accepted in having)
    mean = np.mean([np.mean(ratings) for ratings, _ in having]) if having else np.nan
    assert found.loc["either", "mean"] == pytest.approx(mean, nan_ok=True)


def test_words_are_whole_and_take_a_plural():
    titles = ["A GAN", "Two GANs", "The organ", "C++ in 50 % of cases", "a.b", "axb", "few-shot", "few shot"]
    sample = with_columns(make_sample([[6]] * 8), title=titles)

    def titled(word: str) -> int:
        return int(topics.search(sample, word)["n"].iloc[0])

    assert [titled(word) for word in ("gan", "C++", "50 %", "a.b", "/a.b/", "few shot", "/organ|gan/")] == [
        2,
        1,
        1,
        1,
        2,
        2,
        3,
    ]


@pytest.mark.parametrize(
    ("word", "said"), [("", "Which word"), (" // ", "Which word"), ("/(/", "is no regular expression")]
)
def test_nothing_or_a_broken_expression_is_told(word, said):
    with pytest.raises(Trouble, match=said):
        topics.search(with_columns(make_sample([[6]]), title=["x"]), word)


def test_outcomes_that_are_not_known_are_missing():
    sample = with_columns(
        make_sample([[6]] * 3, ["accepted", "undecided", "withdrawn"], known="accepted only"), title=["x"] * 3
    )
    row = topics.search(sample, "x").iloc[0]
    assert (row["accepted"], row["withdrawn"]) == (1, 1) and pd.isna(row["rejected"]) and pd.isna(row["undecided"])
    none = topics.search(replace(sample, snapshot=replace(sample.snapshot, outcomes="none")), "x").iloc[0]
    assert pd.isna(none["accepted"]) and np.isnan(none["value"])


def test_whatever_a_keyword_holds_it_stays_text():
    sample = with_columns(make_sample([[6], [1]] * 15, ["accepted", "rejected"] * 15), keywords=[EVIL] * 30)
    assert sorted(topics.keywords(sample)["topic"]) == sorted(["=cmd|' /C calc'!A0", *EVIL[1:]])
    for word in EVIL:
        assert topics.search(sample, word)["n"].tolist() == [0, 30, 30, 30]


# The smallest samples, and those without ----------------------------------------------------------------------------


@pytest.mark.filterwarnings("error")
def test_edges_have_the_same_columns():
    for name in ("keywords", "keyword_averages", "areas", "area_averages"):
        frames = []
        for sample in edge_samples():
            column = "area" if name.startswith("area") else "keywords"
            values = ["vision" if column == "area" else ["vision"]] * len(sample.papers)
            frames.append(getattr(topics, name)(with_columns(sample, **{column: values}), least=2))
        assert len({tuple(frame.columns) for frame in frames}) == 1
        for frame in frames:
            topics.funnel_limits(frame)
    for sample in edge_samples():
        assert len(topics.search(with_columns(sample, title=["a"] * len(sample.papers)), "a")) == 4


def test_bundled_counts_have_no_topics_and_say_what_brings_them(bundled_store):
    for name, what in (("keywords", "keywords"), ("areas", "areas"), ("search", "titles")):
        asked = Asked(bundled_store, "ICLR", (2020,), word="gan" if name == "search" else "")
        with pytest.raises(Trouble, match=f"ICLR 2020, final .bundled. has no {what}: .*--source api --years 2020"):
            compute(name, asked)
    with pytest.raises(Trouble, match="`ratings` looks for no word"):
        compute("ratings", Asked(bundled_store, "ICLR", (2020,), word="gan"))


# Real notes ---------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("error")
def test_real_keywords_of_2020(real_2020):
    sample = load(real_2020, "ICLR", 2020, source="notes", columns=("keywords", "title"))
    found = topics.keywords(sample).set_index("topic")
    assert found.index[0] == "deep learning" and found["overall"].iloc[0] == pytest.approx(687 / 2213)
    # Counted plainly: papers one of whose keywords is this, whatever its case, separators, full stop and plural.
    plain = ("reinforcement learning", "reinforcement-learning", "reinforcement learning.")
    having = [
        paper is not pd.NA and any(word.strip().lower() in plain for word in paper)
        for paper in sample.papers["keywords"]
    ]
    assert abs(found.loc["reinforcement learning", "n"] - sum(having)) <= 5
    assert topics.search(sample, "reinforcement learning")["n"].iloc[2] > found.loc["reinforcement learning", "n"]
    assert len(topics.keyword_averages(sample)) == len(found)


def test_the_command_searches(real_2020):
    answer = compute("search", Asked(real_2020, "ICLR", (2020,), source="notes", word="/GAN|adversarial/"))
    assert answer.frame["n"].is_monotonic_increasing or answer.frame["n"].iloc[3] == 2213
