"""Words about the years side by side."""

from __future__ import annotations

import pandas as pd

from analysis.words.common import BY_PAPER, Words, listed, of_reviews, percent


@of_reviews
def years(frame: pd.DataFrame) -> Words:
    low, high = frame.loc[frame["value"].idxmin()], frame.loc[frame["value"].idxmax()]
    title = (
        f"Between {percent(low['value'])} ({low['year']}) and {percent(high['value'])} ({high['year']}) "
        "of ratings are on the accept side"
    )
    caption = (
        f"Share of ratings on the accept side, {int(frame['n'].sum()):,} reviews of {len(frame)} years; vertical rules mark a new "
        "scale, hollow marks are scores at release or during the discussion. Means of different scales are not compared. "
        + BY_PAPER
    )
    return Words(title, caption, f"Accept side by year. {listed(frame, 'year')}.")
