"""Agreement and harshness on real notes, as OpenReview answers them."""

from __future__ import annotations

import pytest
from drawing import drawn, notes

from analysis import draw, fetch, words
from analysis.sample import Sample, load
from analysis.statistics import agreement as family
from analysis.statistics import harshness
from analysis.statistics.agreement import agreement, agreement_by_year, unanimity, uncertain_order, variation


@pytest.fixture(scope="module", params=[2017, 2019, 2020])
def real(request, review_data, tmp_path_factory) -> Sample:
    database = tmp_path_factory.mktemp("real") / "reviews.duckdb"
    saved = review_data / "iclr-api1" / f"iclr{request.param}_forums.jsonl.gz"
    fetch.fetch("ICLR", [request.param], fetch.Asked("notes", (saved,)), database, lambda line: None)
    return load(database, "ICLR", request.param)


def test_real_notes_agree_with_the_counts(real, bundled_sample):
    """The notes of 2020 are those of accepted and rejected papers: R, .367. Of 2019, withdrawn papers are missing too."""
    counted = bundled_sample(real.snapshot.year, "final", "decided")
    ours, theirs = (agreement(one, draws=2).set_index("measure")["value"] for one in (real, counted))
    assert ours["icc"] == pytest.approx(theirs["icc"], abs=1e-3)
    if real.snapshot.year == 2020:
        assert ours["icc"] == pytest.approx(0.367, abs=1e-3)


@pytest.mark.filterwarnings("error")
def test_no_figure_of_real_notes_is_empty(real):
    field = "experience" if real.snapshot.year == 2020 else "confidence"
    year = {"year": real.snapshot.year}
    frames = {
        "agreement_years": agreement_by_year([(None, real)], draws=20),
        "reliability": family.reliability(real, draws=20).assign(**year),
        "uncertain_order": uncertain_order(real, draws=20).assign(**year),
        "unanimity": unanimity(real, draws=20).assign(**year),
    }
    for name, frame in frames.items():
        assert notes(drawn(getattr(draw, f"draw_{name}"), frame)) != [draw.agreement.TOO_FEW]
        assert "Too few" not in getattr(words, name)(frame).title
    for name in ("within_paper", "decisions"):
        frame = getattr(harshness, f"{field}_{name}")(real, draws=20)
        assert len(notes(drawn(getattr(draw, f"draw_{name}"), frame))) > 3
        assert "Too few" not in getattr(words, name)(frame, field).title
    assert variation(real, draws=20)["value"].notna().all()
