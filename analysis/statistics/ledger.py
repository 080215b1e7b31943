"""The ledger: how many papers there were, what became of them, and every acceptance rate with its denominator."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.errors import Trouble, percent
from analysis.sample import Sample
from analysis.snapshots import DECIDED, OUTCOMES
from analysis.statistics import register
from analysis.statistics.intervals import shares_of_papers

LEFT = ("withdrawn", "desk_rejected")
DENOMINATORS = ("submitted", "reviewed", "active", "decided")


def groups(sample: Sample) -> dict[str, np.ndarray]:
    """Which papers each item of the ledger counts: a mask a paper, by final outcome as far as it is known."""
    outcome, tier = sample.papers["outcome"].to_numpy(), sample.papers["tier"].to_numpy()
    reviewed = sample.papers["reviews"].to_numpy() > 0
    masks = {
        "submitted": np.ones(len(outcome), dtype=bool),
        "reviewed": reviewed,
        "active": reviewed & ~np.isin(outcome, LEFT),
        "decided": reviewed & np.isin(outcome, DECIDED),
        "accepted": outcome == "accepted",
    }
    masks |= {name: (outcome == "accepted") & (tier == name) for name in tiers(sample)}
    return masks | {name: outcome == name for name in OUTCOMES if name != "accepted"}


def tiers(sample: Sample) -> list[str]:
    """The tiers in order of prestige; those that no table describes come last, by name."""
    seen = set(sample.papers.loc[sample.papers["outcome"] == "accepted", "tier"].dropna().unique())
    return [*sample.form.tiers, *sorted(seen.difference(sample.form.tiers))]


def knows_accepted(sample: Sample) -> bool:
    """Whether it is known who was accepted: not so in 2024, nor before the decisions are out."""
    return sample.snapshot.outcomes != "none"


def require_accepted(sample: Sample) -> None:
    """Trouble, in one sentence, where it is not known who was accepted."""
    if not knows_accepted(sample):
        raise Trouble(refusal(sample, "accepted"))


def refusal(sample: Sample, item: str) -> str:
    """Why the number of papers of an item is not given, and what is known instead."""
    outcomes = sample.snapshot.outcomes
    sentence = f"{sample.snapshot.title}: how many papers were {item} is not known (outcomes: {outcomes})"
    if not knows_accepted(sample):
        return f"{sentence}, so there is no acceptance rate; load a snapshot with the decisions for one."
    masks = groups(sample)
    accepted, reviewed = int((masks["accepted"] & masks["reviewed"]).sum()), int(masks["reviewed"].sum())
    share = percent(accepted / reviewed) if reviewed else "none"
    return f"{sentence}; what is known is accepted / reviewed = {accepted:,} / {reviewed:,} = {share}."


@register("ledger", population="all", shares=())
def ledger(sample: Sample) -> pd.DataFrame:
    """How many papers were submitted, reviewed, decided and accepted, and do the official counts agree?

    An item counts papers of the snapshot by their final outcome; active, decided and reviewed papers have at least
    one rating. `difference` is papers less the official count, which is that of the venue's whole year: a snapshot
    that was taken early, or lost papers since, differs. A count that nobody can know from this snapshot is missing,
    never 0: where only the accepted are known (2026), nothing is said of rejected or decided papers; where no
    outcomes are (2024), only papers that were withdrawn or desk-rejected by then can be told apart. `note` says which
    counts are partial.

    The counts are a census and have no interval.
    """
    counted = {item: int(mask.sum()) for item, mask in groups(sample).items()}
    papers = [None if _is_unknown(sample, item, number) else number for item, number in counted.items()]
    official = [sample.form.official.get(item) for item in counted]
    frame = pd.DataFrame({"papers": papers, "official": official}, dtype="Int64")
    notes = [_note(sample, item, number) for item, number in zip(counted, papers, strict=True)]
    frame.insert(0, "item", list(counted))
    return frame.assign(difference=frame["papers"] - frame["official"], note=notes)


def _is_unknown(sample: Sample, item: str, number: int) -> bool:
    """Whether a count cannot be known. Of papers that left, those so far may be; none so far says nothing."""
    if sample.snapshot.outcomes == "complete" or item in ("submitted", "reviewed", "active", "undecided"):
        return False
    if item in LEFT:
        return number == 0
    return item in ("decided", "rejected", "workshop") or not knows_accepted(sample)


def _note(sample: Sample, item: str, papers: int | None) -> str:
    if sample.snapshot.outcomes == "complete" or item in ("submitted", "reviewed"):
        return ""
    if papers is None:
        return f"not known (outcomes: {sample.snapshot.outcomes})"
    partial = {
        "active": "less only the withdrawals and desk rejections known so far",
        "undecided": "papers whose outcome is not known",
        **dict.fromkeys(LEFT, "only those known so far"),
    }
    return partial.get(item, "")


@register("rates", population="all")
def rates(sample: Sample) -> pd.DataFrame:
    """What share of the papers was accepted, of those submitted, reviewed, active or decided?

    `accepted` counts the accepted papers within the denominator, `n` is the denominator; reviewed, active and decided
    papers have at least one rating. Limits are Wilson's (papers are taken as independent; a year is a census, so an
    interval means "a year like this one"). A rate whose denominator or numerator is not known is missing, and `note`
    says why and what is known: of 2026 only who was accepted, so accepted / decided would be 100 %; of 2024 nothing,
    so every rate would be 0 %.
    """
    masks = groups(sample)
    counts = [{"accepted": (masks[item] & masks["accepted"]).sum(), "n": masks[item].sum()} for item in DENOMINATORS]
    frame = pd.DataFrame(counts, dtype="Int64")
    notes = [_refused(sample, item) for item in DENOMINATORS]
    frame.loc[[note != "" for note in notes]] = pd.NA
    frame.insert(0, "rate", [f"accepted / {item}" for item in DENOMINATORS])
    frame = frame.assign(**shares_of_papers(frame["accepted"], frame["n"]), note=notes)
    return frame[["rate", "accepted", "value", "low", "high", "n", "note"]]


def _refused(sample: Sample, item: str) -> str:
    """Why accepted / item is refused, or an empty string. Who is active in the end is known only with the outcomes."""
    if not knows_accepted(sample):
        return refusal(sample, "accepted")
    if sample.snapshot.outcomes != "complete" and item in ("active", "decided"):
        return refusal(sample, item)
    return ""
