"""Words about who reviews, and how."""

from __future__ import annotations

import pandas as pd

from analysis.words.common import BY_PAPER, WILSON, Words, limits, listed, of_reviews, percent


@of_reviews
def experience(frame: pd.DataFrame, published: pd.DataFrame) -> Words:
    no = published[published["published"] == "no"].iloc[0]
    title = f"{percent(no['value'])} of {int(no['n']):,} reviews are by people who have not published in the area"
    caption = (
        f"What reviewers said of their experience, as shares of {int(no['n']):,} reviews. Not published in the area: the two lower "
        f"levels, {int(no['count']):,} reviews ({limits(no)}). {BY_PAPER}"
    )
    return Words(title, caption, f"Bar chart of experience. {listed(frame, 'label')}.")


@of_reviews
def confidence(frame: pd.DataFrame) -> Words:
    n, high = int(frame["n"].max()), frame[frame["level"] >= 4]
    title = f"{percent(high['value'].sum())} of {n:,} reviews are confident or certain (4 or 5 of 5)"
    caption = f"What reviewers said of their confidence, as shares of {n:,} reviews. {BY_PAPER}"
    return Words(title, caption, f"Bar chart of confidence. {listed(frame, 'level')}.")


@of_reviews
def ratings_by_level(frame: pd.DataFrame, what: str) -> Words:
    known = frame.dropna(subset=["value"])
    first, last = known.iloc[0], known.iloc[-1]
    title = f"The mean rating goes from {first['value']:.2f} at the lowest {what} to {last['value']:.2f} at the highest"
    caption = f"Mean rating by the reviewer's {what}, {int(known['n'].sum()):,} reviews. {BY_PAPER}"
    means = ", ".join(f"{row.level}: {row.value:.2f}" for row in known.itertuples())
    return Words(title, caption, f"Mean rating by {what}. {means}.")


@of_reviews
def rating_counts(frame: pd.DataFrame, what: str) -> Words:
    most = frame.loc[frame["value"].idxmax()]
    title = f"At {what} {most['level']}, {percent(most['value'])} of the ratings are a {most['rating']}"
    caption = f"How the reviews of each {what} spread over the ratings, {int(frame['count'].sum()):,} reviews; a row adds up to 100 %."
    return Words(title, caption, f"Heat map of ratings by {what}. The fullest cell: {title}.")


@of_reviews
def panels(frame: pd.DataFrame) -> Words:
    none = frame[frame["published"] == 0].iloc[0]
    title = f"{percent(none['value'])} of {int(none['n']):,} papers had no reviewer who has published in the area"
    caption = f"Papers by how many of their reviewers have published in the area ({int(none['n']):,} papers). {WILSON}"
    return Words(title, caption, f"Bar chart of panels. {listed(frame, 'published')}.")
