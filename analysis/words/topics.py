"""Words about topics: counts and limits, and no advice."""

from __future__ import annotations

import pandas as pd

from analysis.words.common import NOTHING_YET, Words, percent

NO_ADVICE = "What sets a topic apart is not known from this: it is no reason to choose a keyword."


def topic_funnel(frame: pd.DataFrame, what: str, rates: bool = True) -> Words:
    if frame.empty:
        return NOTHING_YET
    out, sure = int((frame["p"] <= 0.05).sum()), int((frame["q"] <= 0.05).sum())
    measure = "accepted" if rates else "rated"
    said = f"{sure} of {len(frame)} {what} stand out" if sure else f"None of {len(frame)} {what} stands out"
    title = (
        f"{said} from what chance does with so few papers, in how often they are {measure}"
        if rates
        else f"{said} from chance in how they are {measure}"
    )
    caption = (
        f"{what.capitalize()} with {int(frame['n'].min()):,} papers or more, of {int(frame['papers'].iloc[0]):,} papers, overall "
        f"{_value(frame['overall'].iloc[0], rates)}. Limits hold 95 % of random draws of so many papers (dashed, {out} {what} outside), and what "
        f"is left with all {len(frame)} tests counted (solid, Benjamini-Hochberg). {NO_ADVICE}"
    )
    named = frame[frame["q"] <= 0.05].head(20)
    alt = (
        ", ".join(f"{row.topic}: {_value(row.value, rates)} of {row.n:,}" for row in named.itertuples())
        or "none outside"
    )
    return Words(title, caption, f"Funnel plot. Outside with all tests counted: {alt}.")


def topics(frame: pd.DataFrame, what: str, rates: bool = True) -> Words:
    if frame.empty:
        return NOTHING_YET
    own, left = frame.head(15)["value"], frame.head(15)["shrunken"]
    ends = (f"{_value(some.min(), rates)} to {_value(some.max(), rates)}" for some in (own, left))
    measure = "accepted" if rates else "rated"
    title = f"The most frequent {what} are {measure} {next(ends)}; with chance drawn in, {next(ends)}"
    bars = "Bars: Wilson 95 % limits" if rates else "Bars: normal 95 % limits over papers"
    caption = (
        f"The {len(own)} {what} with the most papers (of {int(frame['papers'].iloc[0]):,}; {what} overlap where papers have several). {bars}; diamonds: "
        f"drawn towards all papers by as much of the spread as chance explains. {NO_ADVICE}"
    )
    alt = ", ".join(f"{row.topic}: {_value(row.value, rates)}" for row in frame.head(15).itertuples())
    return Words(title, caption, f"Dots by topic. {alt}.")


def _value(value: float, rates: bool) -> str:
    return percent(value) if rates else f"{value:.2f}"
