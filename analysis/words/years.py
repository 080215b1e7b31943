"""Words about the years side by side."""

from __future__ import annotations

import pandas as pd

from analysis.words.common import BY_PAPER, Words, listed, of_reviews, percent

SAID = {"release": "ratings at release", "discussed": "ratings during the discussion", "final": "final ratings"}


@of_reviews
def years(frame: pd.DataFrame) -> Words:
    stage = frame["stage"].mode().iloc[0]  # like is compared with like: the stage that most years have
    like = frame[frame["stage"] == stage]
    low, high = like.loc[like["value"].idxmin()], like.loc[like["value"].idxmax()]
    title = (
        f"Between {percent(low['value'])} ({low['year']}) and {percent(high['value'])} ({high['year']}) "
        f"of {SAID.get(stage, stage)} are on the accept side"
    )
    caption = (
        f"Share of ratings on the accept side, {int(frame['n'].sum()):,} reviews of {len(frame)} years; vertical rules mark a new "
        "scale, hollow marks are scores at release or during the discussion. Means of different scales are not compared. "
        + BY_PAPER
    )
    return Words(title, caption, f"Accept side by year. {listed(frame, 'year')}.")
