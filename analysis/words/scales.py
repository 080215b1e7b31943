"""Words about years on different scales."""

from __future__ import annotations

import pandas as pd

from analysis.words.common import BY_PAPER, NOTHING_YET, Words, listed, of_reviews, percent

NO_PAIR = Words(
    "No two years can be compared", "They differ in stage, or in scales that nothing connects.", "An empty figure."
)
BY_BOTH = "Bars: 95 % bootstrap over the papers of both years."


@of_reviews
def sides(frame: pd.DataFrame, years: pd.DataFrame) -> Words:
    known = years.dropna(subset=["value"])
    if known.empty:
        return NOTHING_YET
    low, high = known.loc[known["value"].idxmin()], known.loc[known["value"].idxmax()]
    stage = " and ".join(known["stage"].unique())
    title = (
        f"At {stage} {percent(low['value'])} ({low['year']}) to {percent(high['value'])} ({high['year']}) "
        "of the ratings are on the accept side, whatever the scale"
    )
    caption = (
        f"Ratings of {len(known)} years at {stage}, {int(known['n'].sum()):,} reviews: to the right those on the accept side (6 or "
        "more), level by level; dashed rules mark a new scale. That 6 means the same on each scale is taken for granted. "
        + BY_PAPER
    )
    return Words(title, caption, f"Diverging bars of ratings by year. Accept side: {listed(known, 'year')}.")


def rank_map(frame: pd.DataFrame) -> Words:
    known = frame.dropna(subset=["value"])
    if known.empty:
        return NO_PAIR
    year, others = known["year"].iloc[0], known.groupby("than")
    middle = known.loc[(known["percentile"] - 0.5).abs().groupby(known["than"]).idxmin()].sort_values("than")
    said = ", ".join(f"{row.value:.2f} in {row.than}" for row in middle[::-1].itertuples())
    title = f"An average of {middle['average'].iloc[0]:g} in {year} ranks like {said}"
    caption = (
        f"Averages of other years that rank as high among their papers as an average of {year} among its own ({known['n'].iloc[0]:,} "
        f"papers, {len(others)} other years, {known['stage'].iloc[0]}; the middle 96 % of papers). Same rank is not same quality: that "
        "would need equally good papers every year. Bands: the middle 95 % of bootstrap draws over papers, a range on a lattice."
    )
    return Words(title, caption, f"Lines of equal rank. {title}.")


def preference(frame: pd.DataFrame) -> Words:
    known = frame.dropna(subset=["value"])
    if known.empty:
        return NO_PAIR
    far = known.loc[(known["value"] - 0.5).abs().idxmax()]
    last = known[known["year"] == known["year"].max()]
    said = " to ".join(percent(value, 1) for value in sorted(last["value"]))
    title = (
        f"A review of {last['year'].iloc[0]} is more favourable than one of {last['than'].iloc[0]} {said} of the time"
    )
    caption = (
        f"Probability that a review of a year is more favourable than one of the year before, ties half ({known['stage'].iloc[0]} "
        f"scores). On two scales by what the labels say; two dots where they leave two readings open. {BY_BOTH}"
    )
    alt = ", ".join(
        f"{row.year} against {row.than} ({row.reading}): {percent(row.value, 1)}" for row in known.itertuples()
    )
    return Words(title, caption, f"Farthest from even: {far['year']} against {far['than']}. {alt}.")


def scale_change(frame: pd.DataFrame) -> Words:
    known = frame[frame["reading"] != "same scale"].dropna(subset=["value"])
    if known.empty:
        return NO_PAIR
    rank, label = known[known["reading"] == "by rank"], known[known["reading"] != "by rank"]
    last = rank.loc[rank["year"].idxmax()]
    shares = sorted(label.loc[(label["year"] == last["year"]) & (label["stage"] == last["stage"]), "share"])
    said = " to ".join(dict.fromkeys(percent(share) for share in shares))
    verb = "fell" if last["difference"] < 0 else "rose"
    title = (
        f"From {last['than']} to {last['year']} the mean {verb} by {abs(last['difference']):.2f}: "
        f"{said} of that is the new scale if reviewers chose words, all of it if ranks stayed"
    )
    caption = (
        "How much of the change of the mean rating is the new scale. It cannot be known without the same reviewers rating the same papers "
        "on both scales, so two readings bound it: reviews keep their words, laid on the other scale by venues.toml (dots; a bar where "
        f"words leave two readings open), or reviews are as favourable as the year before (diamond). {BY_BOTH}"
    )
    alt = ", ".join(f"{row.than} to {row.year}, {row.reading}: {row.value:.2f}" for row in known.itertuples())
    return Words(title, caption, f"Change of the mean by the scale. {alt}.")
