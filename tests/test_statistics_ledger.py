from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from samples import assert_columns_hold, assert_order_is_irrelevant, drawn_sample, edge_samples, make_sample, papers

from analysis.statistics.ledger import ledger, rates

# What the bundled counts hold, by final outcome (oracles).
COUNTS = {
    (2017, "final"): {"oral": 15, "poster": 183, "workshop": 47, "rejected": 245, "submitted": 490},
    (2018, "final"): {
        "oral": 23, "poster": 314, "workshop": 90, "rejected": 496, "withdrawn": 69, "undecided": 3, "submitted": 995,
    },
    (2019, "final"): {"oral": 24, "poster": 478, "rejected": 921, "withdrawn": 156, "submitted": 1579},
    (2020, "final"): {
        "talk": 48, "spotlight": 108, "poster": 531, "rejected": 1526, "withdrawn": 369, "desk_rejected": 12,
        "submitted": 2594, "reviewed": 2561,
    },
    (2021, "final"): {
        "oral": 53, "spotlight": 114, "poster": 693, "rejected": 1756, "withdrawn": 381, "desk_rejected": 17,
    },
    (2022, "final"): {
        "oral": 55, "spotlight": 174, "poster": 866, "rejected": 1582, "withdrawn": 719, "desk_rejected": 26,
    },
    (2023, "final"): {
        "notable-top-5%": 91, "notable-top-25%": 280, "poster": 1204, "rejected": 2285, "withdrawn": 1077,
        "desk_rejected": 18,
    },
    (2026, "2025-11-17"): {"accepted": 5358, "oral": 224, "poster": 5134, "withdrawn": 2351, "reviewed": 19472},
}  # fmt: skip


@pytest.mark.parametrize("which", COUNTS, ids=lambda which: f"{which[0]} {which[1]}")
def test_outcomes_are_the_counted_ones(bundled_sample, which):
    counted = ledger(bundled_sample(*which, "all")).set_index("item")["papers"]
    assert {item: counted[item] for item in COUNTS[which]} == COUNTS[which]


def test_tiers_come_in_order_and_add_up_to_the_accepted(bundled_sample):
    counted = ledger(bundled_sample(2023, "final", "all")).set_index("item")["papers"]
    tiers = ["notable-top-5%", "notable-top-25%", "poster"]
    assert counted.index.tolist()[4:8] == ["accepted", *tiers]
    assert counted[tiers].sum() == counted["accepted"] == 1575


def test_official_counts_are_set_beside_ours():
    sample = make_sample([[6], [3]], ["accepted", "rejected"], ["poster", None], official={"accepted": 3, "poster": 1})
    rows = ledger(sample).set_index("item")
    assert rows.loc["accepted", ["papers", "official", "difference"]].tolist() == [1, 3, -2]
    assert rows.loc["poster", "difference"] == 0
    assert rows.loc["rejected", ["official", "difference"]].isna().all()


def test_a_tier_that_no_table_describes_is_counted_too():
    rows = ledger(make_sample([[6]], ["accepted"], ["highlight"])).set_index("item")
    assert rows.index.tolist()[4:8] == ["accepted", "talk", "poster", "highlight"]
    assert rows.loc["highlight", "papers"] == 1


def test_2026_says_nothing_of_rejected_or_decided_papers(bundled_sample):
    rows = ledger(bundled_sample(2026, population="all")).set_index("item")
    assert rows.loc[["decided", "rejected", "workshop", "desk_rejected"], "papers"].isna().all()
    assert rows.loc["withdrawn", "note"] == "only those known so far"


def test_2024_knows_only_early_withdrawals_and_desk_rejections(bundled_sample):
    rows = ledger(bundled_sample(2024, "2023-11-10", "all")).set_index("item")
    assert rows.loc[["decided", "accepted", "oral", "poster", "rejected"], "papers"].isna().all()
    assert rows.loc[["withdrawn", "desk_rejected", "undecided"], "papers"].tolist() == [32, 19, 7253]
    assert rows.loc["accepted", "note"] == "not known (outcomes: none)"


def test_rates_of_2020_name_their_denominators(bundled_sample):
    found = rates(bundled_sample(2020, "final", "all")).set_index("rate")
    assert found.index.tolist() == [f"accepted / {item}" for item in ("submitted", "reviewed", "active", "decided")]
    assert found["n"].tolist() == [2594, 2561, 2213, 2213]
    assert (found["accepted"] == 687).all()
    assert found["value"].tolist() == pytest.approx([687 / 2594, 687 / 2561, 687 / 2213, 687 / 2213])
    assert (found["note"] == "").all()


def test_2026_is_refused_by_the_decided_and_offered_by_the_reviewed(bundled_sample):
    found = rates(bundled_sample(2026, population="all")).set_index("rate")
    refused, offered = found.loc["accepted / decided"], found.loc["accepted / reviewed"]
    assert pd.isna(refused[["accepted", "value", "low", "high", "n"]]).all()
    assert "accepted / reviewed = 5,358 / 19,472 = 27.5 %" in refused["note"]
    assert (offered["accepted"], offered["n"]) == (5358, 19472)
    assert offered["value"] == pytest.approx(0.2752, abs=5e-5)
    assert not (found["value"] > 0.3).any()


def test_2024_has_no_rate_at_all(bundled_sample):
    found = rates(bundled_sample(2024, population="all"))
    assert found[["accepted", "value", "low", "high", "n"]].isna().all(axis=None)
    assert found["note"].str.contains("how many papers were accepted is not known").all()


@given(papers)
def test_groups_add_up_to_all(drawn):
    sample = drawn_sample(drawn)
    counted = ledger(sample).set_index("item")["papers"]
    parts = ["accepted", "rejected", "workshop", "withdrawn", "desk_rejected", "undecided"]
    assert counted[parts].sum() == counted["submitted"] == len(drawn)
    assert counted["reviewed"] == sum(1 for some, _ in drawn if some)
    assert counted["active"] == sum(1 for some, outcome in drawn if some and outcome != "withdrawn")


@given(papers)
def test_order_is_irrelevant(drawn):
    assert_order_is_irrelevant("ledger", drawn)


def test_columns_hold():
    assert_columns_hold(
        "ledger", *edge_samples(), make_sample([[6]], known="none"), make_sample([[6]], known="accepted only")
    )
