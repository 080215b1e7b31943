"""What a snapshot is, and which one a name means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from analysis.errors import Trouble, choices

OUTCOMES = ("accepted", "rejected", "workshop", "withdrawn", "desk_rejected", "undecided")
DECIDED = ("accepted", "rejected", "workshop")
STAGES = ("release", "discussed", "final")
ALIASES = ("latest", "release", "decision")


@dataclass(frozen=True)
class Snapshot:
    """What a venue-year looked like at one moment: one row of the table `snapshots`.

    `outcomes` says how far outcomes are known: `complete`, `accepted only` (who was accepted is known, the others are not
    told apart) or `none`. Papers (reviews) of two snapshots are the same ones only where `paper_ids` (`review_ids`) agree.
    """

    snapshot_id: int
    venue: str
    year: int
    name: str
    stage: str
    taken_at: datetime
    source: str
    outcomes: str
    paper_ids: str
    review_ids: str
    papers: int
    reviews: int
    digest: str

    @property
    def title(self) -> str:
        return f"{self.venue} {self.year}, {self.name}"

    @property
    def order(self) -> tuple:
        """Final snapshots come after all others; of two at one moment the fetched one comes after the bundled one."""
        return self.stage == "final", self.taken_at, self.source != "bundled"


def choose(
    snapshots: Sequence[Snapshot],
    asked: str = "",
    decision: str = "final",
    usual: tuple[str, ...] = ("decision", "latest"),
) -> tuple[Snapshot, str]:
    """The snapshot that a name or alias means, and a sentence where a default had to give way (else an empty string).

    A name that was asked for is never replaced. With no name the first of `usual` that exists is taken. `decision` says
    what decisions of this year were based on: `final`, or `release` where scores were put back.
    """
    ordered = sorted(snapshots, key=lambda snapshot: snapshot.order)
    if not ordered:
        raise Trouble("There is no snapshot to choose from; `python -m analysis status` lists what the store holds.")
    for alias in (asked,) if asked else usual:
        found = _meant(ordered, alias, decision)
        if found is not None:
            return found, _excuse(found, alias, asked, usual)
    first, names = ordered[0], list(dict.fromkeys(snapshot.name for snapshot in ordered))
    known = f"{first.venue} {first.year} has {choices(names)}"
    if asked in ALIASES:
        raise Trouble(
            f"{first.venue} {first.year} has no `{asked}` snapshot; {known}: ask for one of these by its name."
        )
    raise Trouble(f"There is no snapshot `{asked}`; {known}; the aliases are {choices(ALIASES)}.")


def _meant(ordered: Sequence[Snapshot], alias: str, decision: str) -> Snapshot | None:
    before = [snapshot for snapshot in ordered if snapshot.stage != "final"]
    final = [snapshot for snapshot in ordered if snapshot.stage == "final"]
    if alias == "latest":
        return ordered[-1]
    if alias == "release":
        return before[0] if before else None
    if alias == "decision" and decision == "release" and before:
        return before[0]
    if alias == "decision":  # scores that were put back are there in a final snapshot as well
        return final[-1] if final else None
    named = [snapshot for snapshot in ordered if snapshot.name == alias]
    return named[-1] if named else None


def _excuse(found: Snapshot, alias: str, asked: str, usual: tuple[str, ...]) -> str:
    if asked or alias == usual[0]:
        return ""
    missing = {"release": "from before the decisions", "decision": "that the decisions were based on"}[usual[0]]
    return f"There is no snapshot of {found.venue} {found.year} {missing}; this is {found.name} ({found.stage})."


def pair(snapshots: Sequence[Snapshot], same: str = "paper_ids") -> tuple[Snapshot, Snapshot] | None:
    """The first snapshot from before the decisions and the last one of all whose papers are the same; None without two.

    With ``same="review_ids"`` reviews are the same ones as well. The newest such ids are taken.
    """
    ordered = sorted(snapshots, key=lambda snapshot: snapshot.order)
    for ids in dict.fromkeys(getattr(one, same) for one in reversed(ordered)):
        alike = [one for one in ordered if getattr(one, same) == ids]
        if len(alike) > 1 and alike[0].stage != "final":
            return alike[0], alike[-1]
    return None


def in_a_row(snapshots: Sequence[Snapshot]) -> list[Snapshot]:
    """The snapshots of a year to follow from day to day, oldest first: the fetched ones, else the bundled ones.

    Both together are no row: their papers have other ids.
    """
    fetched = [one for one in snapshots if one.source != "bundled"]
    return sorted(fetched or snapshots, key=lambda one: one.order)


def around_discussion(
    snapshots: Sequence[Snapshot], decision: str = "final"
) -> tuple[Snapshot | None, Snapshot | None]:
    """The first snapshot at release, and the last whose scores the discussion has moved; of the same papers if there are two.

    Where scores were put back (`decision` is `release`) a final snapshot shows nothing of the discussion, and is not taken.
    """
    ordered = sorted(snapshots, key=lambda snapshot: snapshot.order)
    moved = {"discussed"} if decision == "release" else {"discussed", "final"}
    found = []
    for ids in dict.fromkeys(one.paper_ids for one in reversed(ordered)):
        same = [one for one in ordered if one.paper_ids == ids]
        before = next((one for one in same if one.stage == "release"), None)
        found.append((before, next((one for one in reversed(same) if one.stage in moved), None)))
    # Two that can be compared are worth more than one from a newer source.
    return max(found, key=lambda two: sum(one is not None for one in two), default=(None, None))
