"""Words about how large the years are."""

from __future__ import annotations

import pandas as pd

from analysis.words.common import NOTHING_YET, Words, percent


def growth(frame: pd.DataFrame) -> Words:
    size = frame["official"].fillna(frame["papers"]).astype(float)
    if frame.empty or not size.max() > 0:
        return NOTHING_YET
    first, last = frame.iloc[0], frame.iloc[-1]
    title = f"From {size.iloc[0]:,.0f} submissions in {first['year']} to {size.iloc[-1]:,.0f} in {last['year']}"
    known = frame.dropna(subset=["value"])
    if len(known):
        low, high = known["value"].min(), known["value"].max()
        title += (
            f", each read by {low:.1f} to {high:.1f} reviewers"
            if high - low >= 0.05
            else f", each read by {high:.1f} reviewers"
        )
    caption = (
        "Submissions by year (official counts, else those of the snapshot), the factor to the year before, and below the years the "
        f"ratings per paper that has one ({int(known['n'].sum()):,} papers). Counts are a census and have no interval."
    )
    alt = ", ".join(f"{year}: {number:,.0f}" for year, number in zip(frame["year"], size, strict=True))
    return Words(title, caption, f"Bar chart of submissions. {alt}.")


def funnel(frame: pd.DataFrame) -> Words:
    known = frame.dropna(subset=["value"])
    if known.empty:
        return Words("Which papers were accepted is not known", "No snapshot here has outcomes.", "An empty figure.")
    rates = {step: known[known["step"] == step] for step in ("submitted", "decided")}
    said = [
        f"{percent(some['value'].min())} to {percent(some['value'].max())} of the papers {step}"
        for step, some in rates.items()
        if len(some)
    ]
    title = f"The acceptance rate is {' or '.join(said)}, depending on the year"
    caption = (
        f"What became of the submissions of {frame['year'].nunique()} years. Reviewed and decided papers have a rating; decided means "
        "accepted, rejected or sent to the workshop. Hatched: a snapshot that cannot tell these apart; no rate is guessed for it, the "
        "one in brackets is from the official counts."
    )
    alt = ", ".join(f"{row.year} of {row.step}: {percent(row.value, 1)}" for row in known.itertuples())
    return Words(title, caption, f"Stacked bars of outcomes. Accepted, {alt}.")
