"""Which snapshot a name means."""

from datetime import datetime

import pytest

from analysis.errors import Trouble
from analysis.snapshots import Snapshot, around_discussion, choose


def snapshot(name: str, stage: str, taken: str, source: str = "bundled") -> Snapshot:
    return Snapshot(
        1, "ICLR", 2020, name, stage, datetime.fromisoformat(taken), source, "complete", source, source, 1, 1, "d"
    )


RELEASE = snapshot("2019-11-08", "release", "2019-11-08")
DISCUSSED = snapshot("2019-12-01", "discussed", "2019-12-01")
FINAL = snapshot("final", "final", "2019-11-01")  # a wrong clock does not put the final one before the others
ALL = [FINAL, DISCUSSED, RELEASE]


@pytest.mark.parametrize(
    ("asked", "meant"),
    [("latest", FINAL), ("release", RELEASE), ("decision", FINAL), ("2019-12-01", DISCUSSED), ("final", FINAL)],
)
def test_names_and_aliases(asked, meant):
    assert choose(ALL, asked) == (meant, "")


def test_decision_means_release_where_scores_were_put_back():
    assert choose([DISCUSSED, RELEASE], "decision", decision="release") == (RELEASE, "")
    assert choose([FINAL], "decision", decision="release") == (FINAL, "")


def test_the_default_gives_way_with_a_sentence():
    chosen, sentence = choose([RELEASE, DISCUSSED])
    assert chosen == DISCUSSED
    assert "2019-12-01 (discussed)" in sentence and sentence.startswith("There is no snapshot")


def test_stand_prefers_release_and_says_when_there_is_none():
    usual = ("release", "decision", "latest")
    assert choose(ALL, usual=usual) == (RELEASE, "")
    chosen, sentence = choose([FINAL], usual=usual)
    assert chosen == FINAL and "before the decisions" in sentence


@pytest.mark.parametrize("asked", ["release", "2019-11-09", "newest"])
def test_a_name_that_was_asked_for_is_never_replaced(asked):
    with pytest.raises(Trouble, match="ICLR 2020 has final"):
        choose([FINAL], asked)


def test_of_two_at_one_moment_the_fetched_one_comes_last():
    fetched = snapshot("final", "final", "2019-11-01", "api")
    assert choose([fetched, FINAL], "final")[0] is fetched
    assert choose([FINAL, fetched])[0] is fetched


def test_no_snapshot_at_all_is_told():
    with pytest.raises(Trouble, match="no snapshot"):
        choose([])


def test_a_discussion_lies_between_release_and_the_last_scores_of_the_same_papers():
    assert around_discussion(ALL) == (RELEASE, FINAL)
    assert around_discussion(ALL, decision="release") == (RELEASE, DISCUSSED)
    assert around_discussion([FINAL]) == (None, FINAL)
    assert around_discussion([RELEASE, FINAL], decision="release") == (RELEASE, None)
    assert around_discussion([]) == (None, None)


def test_two_snapshots_that_can_be_compared_are_worth_more_than_a_newer_one():
    fetched = snapshot("final", "final", "2024-01-20", source="api")
    assert around_discussion([RELEASE, DISCUSSED, fetched]) == (RELEASE, DISCUSSED)
    assert around_discussion([RELEASE, fetched]) in [(RELEASE, None), (None, fetched)]
