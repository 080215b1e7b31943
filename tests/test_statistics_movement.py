from __future__ import annotations

import warnings
from dataclasses import replace

import crawler_shapes
import numpy as np
import orjson
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import OUTCOMES, SCALE, make_pair, of_family
from scipy.stats import multivariate_hypergeom
from statsmodels.stats.contingency_tables import SquareTable

from analysis import fetch, store
from analysis.compute import Asked, compute
from analysis.errors import Trouble
from analysis.sample import restrict, split_pair
from analysis.snapshots import pair
from analysis.sources import bundled
from analysis.statistics import movement as movement_file
from analysis.statistics.movement import (
    average_fates,
    average_movement,
    averages,
    bowker,
    conformity,
    coverage,
    matched,
    mean_averages,
    movement,
    movement_by,
    movement_tests,
    multiset_movement,
    standardised_fates,
    stuart_maxwell,
    transitions,
)

# P=R: rows 2019-11-08 rated 1, 3, 6, 8; columns 2019-12-01.
MATRIX = [[1225, 110, 34, 2], [19, 2991, 484, 28], [2, 35, 1928, 170], [0, 4, 19, 639]]
BY_EXPERIENCE = {"after": [9.48, 11.15, 12.97, 12.53], "before": [9.34, 11.15, 13.03, 12.53]}

rating = st.none() | st.sampled_from(SCALE.levels)
drawn_reviews = st.lists(st.tuples(rating, rating, st.integers(0, 4)), max_size=5)
drawn_papers = st.lists(st.tuples(drawn_reviews, st.sampled_from(OUTCOMES)), max_size=20)


@pytest.fixture(scope="module")
def discussed(bundled_sample):
    """ICLR 2020 on 2019-11-08 and on 2019-12-01: the same reviews."""
    return bundled_sample(2020, "2019-11-08"), bundled_sample(2020, "2019-12-01")


def two(drawn):
    return make_pair([some for some, _ in drawn], [outcome for _, outcome in drawn])


def pairs(drawn) -> list[tuple[int, int]]:
    return [(one, other) for some, _ in drawn for one, other, _ in some if None not in (one, other)]


def of(frame: pd.DataFrame, column: str, name: str = "change") -> dict:
    return frame.set_index(name)[column].to_dict()


# Published numbers --------------------------------------------------------------------------------------------------


def test_907_of_7690_ratings_changed(discussed):
    found = movement(*discussed)
    assert of(found, "count") == {"changed": 907, "up": 828, "down": 79, "same": 6783}
    assert (found["n"] == 7690).all()
    assert round(100 * of(found, "value")["changed"], 2) == 11.79
    assert ((found["low"] < found["value"]) & (found["value"] < found["high"])).all()


def test_the_matrix_of_2020(discussed):
    found = transitions(*discussed, draws=10)
    assert found.pivot(index="before", columns="after", values="count").to_numpy().tolist() == MATRIX
    assert found.groupby("before")["value"].sum().tolist() == pytest.approx([1, 1, 1, 1])


@pytest.mark.parametrize("of", BY_EXPERIENCE)
def test_movement_by_experience(discussed, of):
    found = movement_by(*discussed, "experience", of=of, draws=10).query("change == 'changed'")
    assert (100 * found["value"]).round(2).tolist() == BY_EXPERIENCE[of]
    if of == "after":
        assert found["n"].tolist() == [1097, 2521, 2636, 1436]


def test_the_classical_tests_of_2020(discussed):
    found = movement_tests(*discussed)
    assert found["value"].round(1).tolist() == [621.7, 587.1]
    assert found["degrees"].tolist() == [6, 3]
    assert found["assumes"].str.startswith("independent reviews").all()


def test_mean_averages_of_2020(discussed):
    found = mean_averages(*discussed)
    assert found["value"].round(2).tolist() == [3.90, 4.18, 0.27]
    assert found["value"].tolist() == pytest.approx([3.9049, 4.1780, 0.2731], abs=5e-5)
    assert (found["n"] == 2561).all()


@pytest.fixture(scope="module")
def real_2020(review_data, tmp_path_factory):
    """A store with the notes of ICLR 2020 as they were on both days."""
    folder = tmp_path_factory.mktemp("real")
    database = folder / "reviews.duckdb"
    for name in ("2019-11-08", "2019-12-01"):
        lines = crawler_shapes.lines(review_data / "iclr2020" / f"content_{name.replace('-', '')}.jsonl.gz")
        notes = [note for line in lines for note in crawler_shapes.content_2020(line)]
        file = folder / f"{name}.json"
        file.write_bytes(orjson.dumps(notes))
        fetch.fetch("ICLR", (2020,), fetch.Asked("notes", (file,), name), database, lambda line: None)
    return database


def test_movement_by_thoroughness(real_2020, review_data, tmp_path):
    """Thoroughness comes with the user's own file: it is in no bundled count."""
    own = pd.read_csv(review_data / "iclr2020" / "reviews.csv.gz", keep_default_na=False)
    own = own[["review_id", "thoroughness"]].rename(columns={"thoroughness": "reading"})
    own.to_csv(tmp_path / "own.csv", index=False)
    asked = Asked(real_2020, "ICLR", (2020,), "2019-11-08,2019-12-01", source="notes")
    asked = replace(asked, by="reading", join=tmp_path / "own.csv")
    found = compute("movement", asked).frame.query("change == 'changed'")
    shares = {row.reading[:19]: (round(100 * row.value, 2), row.n) for row in found.itertuples()}
    assert shares == {
        "I made a quick asse": (9.72, 617),
        "I read the paper at": (10.35, 4156),
        "I read the paper th": (14.33, 2742),
        "N/A": (13.71, 175),
    }


def test_real_notes_give_the_counts_of_the_bundled_ones(real_2020, discussed):
    asked = Asked(real_2020, "ICLR", (2020,), "2019-11-08,2019-12-01", source="notes")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compute("movement", asked).frame.equals(movement(*discussed))
        assert compute("conformity", asked).frame["count"].tolist() == conformity(*discussed)["count"].tolist()
        assert compute("movement-tests", asked).frame.equals(movement_tests(*discussed))


# A second, plainer computation --------------------------------------------------------------------------------------


@given(drawn_papers)
def test_movement_agrees_with_counting_one_by_one(drawn):
    moves = pairs(drawn)
    found = movement(*two(drawn), draws=2)
    up, down = sum(b > a for a, b in moves), sum(b < a for a, b in moves)
    expected = {"changed": up + down, "up": up, "down": down, "same": len(moves) - up - down}
    assert of(found, "count") == expected
    for change, value in of(found, "value").items():
        assert value == pytest.approx(expected[change] / len(moves) if moves else np.nan, nan_ok=True)


@given(drawn_papers)
def test_the_matrix_agrees_with_crosstab(drawn):
    moves = pairs(drawn)
    found = transitions(*two(drawn), draws=2).set_index(["before", "after"])["count"]
    assert {cell: n for cell, n in found.items() if n} == pd.Series(moves, dtype=object).value_counts().to_dict()


@given(drawn_papers)
def test_levels_agree_with_counting_one_by_one(drawn):
    reviews = [(one, other, level, outcome) for some, outcome in drawn for one, other, level in some]
    reviews = [review for review in reviews if None not in review]
    for column, place in (("experience", 2), ("rating", 0), ("outcome", 3)):
        found = movement_by(*two(drawn), column, draws=2).query("change == 'changed'")
        for row in found.itertuples():
            these = [review for review in reviews if review[place] == row.level]
            assert (row.count, row.n) == (sum(a != b for a, b, *_ in these), len(these))


@given(drawn_papers)
def test_conformity_agrees_with_the_means_of_the_others(drawn):
    expected = {}
    for some, _ in drawn:
        firsts = [one for one, _, _ in some if one is not None]
        for one, other, _ in some:
            if one is None or other is None or len(firsts) < 2:
                continue
            others = (sum(firsts) - one) / (len(firsts) - 1)
            for key in ((str(one)), "all"):
                towards, away, n = expected.get(key, (0, 0, 0))
                if abs(others - one) > 1e-9:
                    toward = (other - one) * (others - one)
                    expected[key] = (towards + (toward > 0), away + (toward < 0), n + 1)
    found = conformity(*two(drawn), draws=3).set_index(["rating", "move"])
    for key in [*map(str, SCALE.levels), "all"]:
        towards, away = found.loc[(key, "towards")], found.loc[(key, "away")]
        assert (towards["count"], away["count"], towards["n"]) == expected.get(key, (0, 0, 0))


def test_dealt_panels_agree_with_shuffling():
    generator = np.random.default_rng(3)
    side, step = (
        generator.choice([-1, 0, 1], 60, p=[0.2, 0.3, 0.5]),
        generator.choice([-1, 0, 1], 60, p=[0.1, 0.6, 0.3]),
    )
    dealt = movement_file._dealt(side, step, 20_000, np.random.default_rng(0))
    shuffled = np.array(
        [
            [(moves > 0).sum(), (moves < 0).sum()]
            for moves in (generator.permutation(side) * step for _ in range(20_000))
        ]
    )
    assert dealt.mean(axis=0) == pytest.approx(shuffled.mean(axis=0), rel=0.02)
    assert dealt.std(axis=0) == pytest.approx(shuffled.std(axis=0), rel=0.03)
    assert np.cov(dealt.T)[0, 1] == pytest.approx(np.cov(shuffled.T)[0, 1], abs=0.15)
    ups = (step == 1).sum()
    counts = [(side == one).sum() for one in (-1, 0, 1)]
    only_up = movement_file._dealt(side, np.maximum(step, 0), 20_000, np.random.default_rng(1))
    assert only_up[:, ::-1].mean(axis=0) == pytest.approx(multivariate_hypergeom(counts, ups).mean()[[0, 2]], rel=0.02)


@given(drawn_papers)
def test_multisets_agree_with_sorting_paper_by_paper(drawn):
    least = up = down = n = 0
    for some, _ in drawn:
        one, other = (sorted(review[place] for review in some if review[place] is not None) for place in (0, 1))
        if len(one) == len(other):
            rest = list(other)
            least += len(one)
            for level in one:
                if level in rest:
                    rest.remove(level)
                    least -= 1
            up += sum(b > a for a, b in zip(one, other, strict=True))
            down += sum(b < a for a, b in zip(one, other, strict=True))
            n += len(one)
    found = multiset_movement(*two(drawn), draws=2)
    assert of(found, "count") == {"at least": least, "up": up, "down": down, "same": n - up - down}
    assert (found["n"] == n).all()


@given(drawn_papers)
def test_multisets_are_a_lower_bound(drawn):
    kept = [([review for review in some if None not in review], outcome) for some, outcome in drawn]
    both = two(kept)
    assert (
        of(multiset_movement(*both, draws=2), "count")["at least"] <= of(movement(*both, draws=2), "count")["changed"]
    )


@given(drawn_papers)
def test_averages_and_fates_agree_with_counting_one_by_one(drawn):
    rows = []
    for some, outcome in drawn:
        one, other = ([review[place] for review in some if review[place] is not None] for place in (0, 1))
        if one and other:
            start, end = np.mean(one), np.mean(other)
            way = "stayed" if sum(one) * len(other) == sum(other) * len(one) else "rose" if end > start else "fell"
            rows.append((f"{np.floor(2 * start) / 2:.1f}", way, outcome))
    both = two(drawn)
    for row in average_movement(*both).itertuples():
        these = [one for one in rows if row.start in ("all", f"{one[0]} to {float(one[0]) + 0.5:.1f}")]
        assert (row.count, row.n) == (sum(one[1] == row.direction for one in these), len(these))
    for row in average_fates(*both).itertuples():
        these = [one for one in rows if row.start.startswith(f"{one[0]} to") and one[1] == row.direction]
        assert (row.accepted, row.n) == (sum(one[2] == "accepted" for one in these), len(these))
    assert len(averages(*both)) == len(rows)


def test_standardised_fates_agree_with_a_weighted_mean(bundled_sample):
    """ICLR 2020 to the end: each start's shares, weighted by the papers that started there."""
    both = bundled_sample(2020, "2019-11-08", "decided"), bundled_sample(2020, "final", "decided")
    cells = average_fates(*both).pivot(index="start", columns="direction", values=["value", "n"])
    cells = cells[(cells["n"] >= 10).all(axis=1)]
    weights = cells["n"].sum(axis=1)
    expected = cells["value"].mul(weights, axis=0).sum() / weights.sum()
    found = standardised_fates(*both).set_index("direction")
    assert found["value"].to_dict() == pytest.approx(expected.to_dict())
    assert ((found["low"] < found["value"]) & (found["value"] < found["high"])).all()
    assert found["within"].iloc[0] == pytest.approx(weights.sum() / len(averages(*both)))


@given(st.lists(st.integers(0, 30), min_size=16, max_size=16))
def test_classical_tests_agree_with_statsmodels(cells):
    matrix = np.array(cells).reshape(4, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = SquareTable(matrix.astype(float), shift_zeros=False)
        symmetry, margins = theirs.symmetry(), theirs.homogeneity("stuart_maxwell")
    value, pairs_moved = bowker(matrix)
    if pairs_moved:
        assert value == pytest.approx(symmetry.statistic)
    if (matrix + matrix.T)[np.triu_indices(4, 1)].all():  # theirs counts pairs between which nothing moved
        assert pairs_moved == symmetry.df
    value, degrees = stuart_maxwell(matrix)
    if degrees == 3 and np.isfinite(margins.statistic):
        assert value == pytest.approx(margins.statistic, rel=1e-6)


# What people ask of it ----------------------------------------------------------------------------------------------


def every(before, after) -> dict[str, pd.DataFrame]:
    """Every statistic of the file on two samples."""
    return {
        one.name: one.function(restrict(before, one.population), restrict(after, one.population))
        for one in of_family("movement", "pair")
    }


def test_order_is_irrelevant(bundled_sample):
    before, after = bundled_sample(2020, "2019-11-08"), bundled_sample(2020, "2019-12-01")
    some = [sample.having((sample.papers["paper"] % 9 == 0).to_numpy()) for sample in (before, after)]

    def turned(sample):
        """The same with papers numbered from the other end, and the reviews of each the other way round."""
        papers = sample.papers.assign(paper=-sample.papers["paper"]).iloc[::-1].reset_index(drop=True)
        reviews = sample.reviews.assign(paper=-sample.reviews["paper"]).iloc[::-1].reset_index(drop=True)
        return replace(sample, papers=papers, reviews=reviews)

    for (name, one), other in zip(every(*some).items(), every(*map(turned, some)).values(), strict=True):
        pd.testing.assert_frame_equal(one, other, check_exact=True, obj=name)


EDGES = {
    "no paper": [],
    "a paper without a review": [[]],
    "one review": [[(6, 8, 3)]],
    "all equal": [[(6, 6, 2), (6, 6, 2)]] * 5,
    "no overlap": [[(6, None, 1)], [(None, 3, 2)]],
    "some": [[(1, 3, 1), (3, 3, 2)], [(6, 8, 3), (8, 8, 4), (None, 8, 0)], [(3, None, 2)], []],
}


def test_edges_have_the_same_columns_and_limits_around_their_values():
    columns = {}
    for papers in EDGES.values():
        for name, frame in every(*make_pair(papers)).items():
            assert columns.setdefault(name, tuple(frame.columns)) == tuple(frame.columns), name
            if {"low", "high"} <= set(frame.columns):
                known = frame.dropna(subset=["value", "low", "high"])
                assert (known["low"] <= known["value"] + 1e-12).all(), name
                assert (known["value"] <= known["high"] + 1e-12).all(), name


def test_reviews_that_came_or_went_are_in_neither_count():
    both = make_pair([[(6, None, 1), (6, 8, 1)], [(None, 3, 2), (3, 3, 2)]])
    assert of(movement(*both), "count") == {"changed": 1, "up": 1, "down": 0, "same": 1}
    found = coverage(*both).set_index("of")
    assert found.loc["reviews", ["in_both", "only_before", "only_after"]].tolist() == [2, 1, 1]
    assert found.loc["papers", ["in_both", "same_number"]].tolist() == [2, 0]
    assert pd.isna(found.loc["reviews", "same_number"])


def test_two_snapshots_without_a_paper_in_common():
    both = make_pair(EDGES["no overlap"])
    assert movement(*both)["n"].tolist() == [0] * 4 and movement(*both)["value"].isna().all()
    assert len(matched(*both)) == len(averages(*both)) == 0


def test_where_only_papers_are_linked_reviews_are_refused(bundled_sample):
    both = bundled_sample(2020, "2019-11-08"), bundled_sample(2020, "final")
    with pytest.raises(Trouble, match=r"Which reviews of ICLR 2020, 2019-11-08 and final .* multiset-movement"):
        movement(*both)
    with pytest.raises(Trouble, match="Which reviews"):
        dict(split_pair(*both, "rating"))
    assert coverage(*both)["of"].tolist() == ["papers"]
    elsewhere = replace(both[1], snapshot=replace(both[1].snapshot, paper_ids="openreview"))
    with pytest.raises(Trouble, match=r"Which papers .* one source"):
        multiset_movement(both[0], elsewhere)


def test_fates_want_the_outcomes(bundled_sample):
    with pytest.raises(Trouble, match="how many papers were accepted is not known"):
        average_fates(bundled_sample(2024, "2023-11-10"), bundled_sample(2024, "2023-11-27"))


def test_undeclared_levels_are_those_seen_in_either():
    both = make_pair([[(2, 7, 1), (2, 2, 1)]], scale=None, described=False)
    assert transitions(*both, draws=2)["before"].unique().tolist() == [2, 7]


def test_intervals_cover_what_they_claim():
    """100 papers of two to four correlated reviews, of whose ratings 11 % go up and 3 % down, four hundred times."""
    generator, truth = np.random.default_rng(1), np.array([0.14, 0.11, 0.03, 0.86])
    covered = np.zeros(4)
    for seed in range(400):
        sizes, chances = generator.integers(2, 5, 100), generator.dirichlet(4 * np.array([0.03, 0.86, 0.11]), 100)
        found = movement_file._changes(generator.multinomial(sizes, chances), 200, seed)
        covered += (found["low"] <= truth) & (truth <= found["high"])
    assert (covered / 400).tolist() == pytest.approx([0.95] * 4, abs=0.02)


# From the command line ----------------------------------------------------------------------------------------------


def test_two_snapshots_are_chosen_that_are_linked_as_the_statistic_wants(bundled_store):
    def titles(name):
        return [
            title.split(",")[1].split(" (")[0].strip()
            for title in compute(name, Asked(bundled_store, "ICLR", (2020,))).titles
        ]

    assert titles("movement") == ["2019-11-08", "2019-12-01"]
    assert titles("mean-averages") == ["2019-11-08", "final"]
    with pytest.raises(Trouble, match=r"2021 has no two snapshots of the same reviews.*2020-11-11 or final.*multiset"):
        compute("movement", Asked(bundled_store, "ICLR", (2021,)))
    with pytest.raises(Trouble, match="2017 has no two snapshots of the same papers"):
        compute("multiset-movement", Asked(bundled_store, "ICLR", (2017,)))


@pytest.mark.parametrize(("by", "expected"), [("experience", [9.48, 11.15, 12.97, 12.53]), ("outcome", None)])
def test_a_pair_is_split_by_a_column_of_the_second_snapshot(bundled_store, discussed, by, expected):
    found = compute("movement", Asked(bundled_store, "ICLR", (2020,), by=by)).frame.query("change == 'changed'")
    own = movement_by(*discussed, by).query("change == 'changed'")
    if expected:
        assert (100 * found["value"]).round(2).tolist() == expected
    assert sorted(found["count"]) == sorted(own["count"]) and sorted(found["n"]) == sorted(own["n"])


def test_a_split_by_reviews_compares_averages_of_the_same_reviews(bundled_store):
    asked = Asked(bundled_store, "ICLR", (2020,), "2019-11-08,2019-12-01", by="experience")
    found = compute("mean-averages", asked).frame.query("snapshot == 'difference'")
    assert (found["value"] > 0.2).all() and (found["n"] < 2561).all()


@pytest.mark.parametrize("year", bundled.years())
def test_every_bundled_year_without_a_warning(bundled_store, bundled_sample, year):
    """Each statistic gives numbers, or says in one sentence why it cannot; a year with one snapshot has no pair."""
    held = store.held(bundled_store, "ICLR", year)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for one in of_family("movement", "pair"):
            found = pair(held, one.linked) or ()
            try:
                both = [bundled_sample(year, snapshot.name, one.population, one.need) for snapshot in found]
                frame = one.function(*both) if both else None
            except Trouble as trouble:
                assert "is not known" in str(trouble) or f"has no {one.need}" in str(trouble), one.name
            else:
                assert frame is None or frame.iloc[:, 1:].notna().to_numpy().any(), one.name
                assert (frame is None) == (len(found) == 0)


def test_2026_moved_by_606_ratings_in_five_days(bundled_store):
    found = compute("movement", Asked(bundled_store, "ICLR", (2026,)))
    assert of(found.frame, "count")["changed"] == 606
    assert any("put its scores back" in remark for remark in found.remarks)
