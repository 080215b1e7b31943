"""Samples say what they leave out, and when they are small."""

from samples import make_sample

from analysis.sample import FEW_PAPERS, restrict


def remarks(papers: int, unreviewed: int = 0) -> str:
    return " ".join(restrict(make_sample([[6, 6]] * papers + [[]] * unreviewed), "reviewed").remarks)


def test_few_papers_come_with_a_warning_and_many_do_not():
    assert f"{FEW_PAPERS - 1} papers only, so intervals are rough" in remarks(FEW_PAPERS - 1)
    assert remarks(FEW_PAPERS) == ""


def test_papers_left_out_are_counted():
    assert "3 papers of 203 left out; 200 remain" in remarks(200, unreviewed=3)
