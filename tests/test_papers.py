"""One paper, out of the store: by its forum id or by ratings."""

from __future__ import annotations

import numpy as np
import orjson
import pandas as pd
import pytest
from drawing import WIDTHS, drawn, notes, texts_outside, texts_that_overlap, ticks
from hypothesis import given
from openreview_notes import generate
from openreview_standin import StandIn, VenueYear
from samples import drawn_sample, edge_samples, make_sample, papers

from analysis import fetch, notebook, tables, words
from analysis.draw import draw_alike, draw_panel
from analysis.errors import Trouble
from analysis.papers import ask, described, find
from analysis.statistics.paper import alike_outcomes, example, over_time
from analysis.statistics.standing import fate

FIRST = "bundled-2020-00001"  # accepted (poster): 1 1 8, then 1 6 8 8


@pytest.fixture(scope="module")
def fetched(tmp_path_factory):
    """ICLR 2026 as the API gives it, and again with one rating changed; a title that must stay text."""
    folder = tmp_path_factory.mktemp("fetched")
    database = folder / "reviews.duckdb"
    thread = list(generate(2026, 30))
    for day, change in (("2025-11-12", False), ("2025-11-20", True)):
        for paper in thread[:1]:
            paper["content"]["title"] = {"value": TITLE}
            review = next(one for one in paper["details"]["replies"] if "rating" in one["content"])
            if change:
                review["content"]["rating"] = {"value": 10}
        (folder / f"{day}.json").write_bytes(orjson.dumps({"notes": thread}))
        asked = fetch.Asked("notes", (folder / f"{day}.json",), day)
        fetch.fetch("ICLR", (2026,), asked, database, lambda line: None)
    return database, thread[0]


TITLE = "<img src=x onerror=alert(1)> $x_1$ 100 %"


# The store ----------------------------------------------------------------------------------------------------------


def test_a_paper_rebuilt_from_counts_has_no_address(bundled_store):
    paper = find(bundled_store, "ICLR", 2020, FIRST)
    assert paper.link == "" and "made-up id" in described(paper)
    assert [one.name for one in paper.held] == ["2019-11-08", "2019-12-01", "final"]
    assert [paper.ratings(one.name) for one in paper.held] == [[1, 1, 8], [1, 6, 8, 8], [1, 6, 8, 8]]


def test_the_same_review_has_the_same_number_where_reviews_are_linked(bundled_store):
    paper = find(bundled_store, "ICLR", 2020, FIRST)
    linked = paper.reviews[paper.reviews["linked_to"] == "2019-11-08"]
    wide = linked.pivot(index="review", columns="snapshot", values="rating")
    assert wide["2019-11-08"].fillna(0).tolist() == [1, 1, 8, 0]
    assert wide["2019-12-01"].tolist() == [6, 1, 8, 8]
    assert paper.reviews.loc[paper.reviews["snapshot"] == "final", "linked_to"].eq("final").all()


def test_a_fetched_paper_is_linked_to_openreview_and_its_title_is_text(fetched):
    database, note = fetched
    for forum in (note["id"], f"https://openreview.net/forum?id={note['id']}&noteId=abc"):
        paper = find(database, "ICLR", 2026, forum)
        assert paper.link == f"https://openreview.net/forum?id={note['id']}"
    assert paper.title == TITLE and TITLE in described(paper)
    assert len(paper.review_ids) == len(set(paper.review_ids)) == paper.reviews["review"].max()
    moved = paper.reviews.pivot(index="review", columns="snapshot", values="rating")
    assert (moved["2025-11-12"] != moved["2025-11-20"]).sum() == 1
    assert not any("review_id" in name or "reviewer" in name for name in paper.reviews)
    assert "<img" not in tables.text(pd.DataFrame({"title": [paper.title]}), "html")


def test_an_unknown_paper_is_told_with_the_next_step(bundled_store):
    with pytest.raises(
        Trouble, match=r"No snapshot of ICLR 2020 lists a paper `abc`: give the id at the end of its addr"
    ):
        find(bundled_store, "ICLR", 2020, "abc")


def test_without_a_paper_the_most_frequent_ratings_are_an_example(bundled_store):
    asked, said = ask(bundled_store, "ICLR", 2020, "", [], "")
    assert asked.given.ratings == (3, 3, 6) and "are an example" in said
    assert asked.sample.snapshot.name == "2019-11-08" and asked.paper is None
    asked, said = ask(bundled_store, "ICLR", 2020, "", [6, 6, 6], "final")
    assert asked.given.text == "6 6 6" and asked.reviews["snapshot"].unique().tolist() == ["final"]
    with pytest.raises(Trouble, match="5 is not a rating"):
        ask(bundled_store, "ICLR", 2020, "", [5], "")


def test_a_paper_without_ratings_is_told(bundled_store):
    forum = _without_ratings(bundled_store)
    with pytest.raises(Trouble, match="has no rating in any snapshot"):
        ask(bundled_store, "ICLR", 2020, forum, [], "")


def _without_ratings(database) -> str:
    from analysis import store

    with store.reading(database) as con:
        query = (
            "select min(forum) from submissions join snapshots using (snapshot_id) where year = 2020 and forum not in "
            "(select forum from reviews)"
        )
        return con.execute(query).fetchall()[0][0]


# Statistics ---------------------------------------------------------------------------------------------------------


def test_outcomes_of_papers_alike_add_up_and_agree_with_fate(bundled_sample):
    sample = bundled_sample(2020, "final", "all")
    for ratings in ([6, 6, 6], [1, 1, 8], [8, 8, 8, 8]):
        found, answer = alike_outcomes(sample, ratings), fate(sample, ratings).iloc[-1]
        assert found["count"].sum() == answer["n"] and found["n"].eq(answer["n"]).all()
        assert found.loc[found["outcome"] == "accepted", "count"].sum() == answer["accepted"]
        assert found["like"].eq(answer["like"]).all()
    assert alike_outcomes(sample, [6, 6, 6])["tier"].tolist()[:3] == ["talk", "spotlight", "poster"]


def test_where_a_paper_stood_over_time(bundled_sample):
    samples = [bundled_sample(2020, name, "all") for name in ("2019-11-08", "final")]
    found = over_time(samples, [[6, 6, 6], [6, 6, 6]])
    assert found["ratings"].tolist() == ["6 6 6"] * 2 and found["below"].iloc[0] > found["below"].iloc[1]
    assert round(100 * found["below"].iloc[1], 2) == 78.21
    assert len(over_time(samples, [[], [6]])) == 1


@given(papers)
def test_the_example_is_a_most_frequent_panel(drawn):
    profiles = [tuple(sorted(rating for rating, _ in some)) for some, _ in drawn if some]
    found = tuple(example(drawn_sample(drawn)))
    if not profiles:
        assert found == ()
    else:
        most = max(map(profiles.count, profiles))
        best = [one for one in set(profiles) if profiles.count(one) == most]
        assert found in best and np.mean(found) == pytest.approx(max(map(np.mean, best)))


@given(papers)
def test_papers_alike_are_counted_one_by_one(drawn):
    sample = drawn_sample(drawn)
    if sample.papers["reviews"].sum():
        found = alike_outcomes(sample, [3, 6])
        n = found["n"].iloc[0]
        assert found["count"].sum() == n and found["value"].sum() == pytest.approx(1)


def test_edges_of_papers_alike():
    for sample in edge_samples():
        if example(sample):
            assert alike_outcomes(sample, example(sample))["n"].min() > 0
    assert example(make_sample([[]])) == []


# Figures and the notebook's calls -----------------------------------------------------------------------------------


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("year", "forum"), [(2020, FIRST), (2020, ""), (2026, ""), (2017, "")])
def test_panels_and_fates_are_drawn_inside_and_apart(bundled_store, width, year, forum):
    asked, _ = ask(bundled_store, "ICLR", year, forum, [], "")
    scale = asked.sample.scale
    frame = alike_outcomes(asked.sample, asked.given)
    for ax in (
        drawn(draw_panel, asked.reviews, width=width, levels=scale.levels, accept_from=scale.accept_from),
        drawn(draw_alike, frame, width=width, ratio=0.45),
    ):
        assert not texts_outside(ax) and not texts_that_overlap(ax)
    assert "nan" not in " ".join((*words.panel(asked.reviews), *words.alike(frame)))


def test_a_line_joins_a_review_to_itself(bundled_store):
    asked, _ = ask(bundled_store, "ICLR", 2020, FIRST, [], "")
    ax = drawn(draw_panel, asked.reviews, levels=(1, 3, 6, 8), accept_from=6)
    joined = [
        line
        for line in ax.lines
        if line.get_linestyle() == "-" and len(line.get_xdata()) == 2 and line.get_zorder() == 2
    ]
    assert sorted(tuple(line.get_ydata()) for line in joined) == [(1, 1), (1, 6), (8, 8)]
    assert ticks(ax.xaxis) == ["2019-11-08\nrelease", "2019-12-01\ndiscussed", "final"]
    assert "average 3.33" in notes(ax) and "average 5.75" in notes(ax)


def test_revisions_are_asked_for_fetched_papers_only(bundled_store, fetched, monkeypatch, capsys):
    asked, _ = ask(bundled_store, "ICLR", 2020, FIRST, [], "")
    assert notebook.public_revisions(asked) is None
    assert "they need a paper that was fetched" in capsys.readouterr().out
    database, note = fetched
    asked, _ = ask(database, "ICLR", 2026, note["id"], [], "")
    for name in ("OPENREVIEW_USERNAME", "OPENREVIEW_PASSWORD", "OPENREVIEW_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    assert notebook.public_revisions(asked) is None
    assert "cannot be had: OpenReview answers only readers who are signed in" in capsys.readouterr().out
    with StandIn(years=[VenueYear(2026, 30)]) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        found = notebook.public_revisions(asked)
        assert server.count("/notes/edits") == len(asked.paper.review_ids)
    assert set(found["review"]) <= set(range(1, len(asked.paper.review_ids) + 1))
    assert "public revision" in capsys.readouterr().out
