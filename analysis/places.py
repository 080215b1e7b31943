"""Where results of a venue-year and snapshot lie, below figures/ and runs/ alike."""

from __future__ import annotations

FIGURES = "ANALYSIS_FIGURES"  # in the environment of a kernel: the folder to publish into instead of figures/


def place(venue: str, year: int | None = None, snapshot: str | None = None) -> str:
    """``iclr-2020/2019-11-08``; ``iclr-2020`` for a whole year, ``iclr`` for a whole venue."""
    name = venue.lower().replace("/", "-")
    folder = name if year is None else f"{name}-{year}"
    return folder if snapshot is None else f"{folder}/{snapshot}"
