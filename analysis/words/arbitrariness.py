"""Words about how arbitrary decisions are, as two experiments measured and models say."""

from __future__ import annotations

import pandas as pd

from analysis.words.common import Words, of_reviews, percent

MODEL = (
    "A model, not a measurement: normal quality and reviewer noise with the variance components of the ratings, the top share accepted "
    "by average alone. Scores at release and final scores, which have converged, are bounds. Bars: 95 % bootstrap over papers; the "
    "model's own error is not in them."
)


@of_reviews
def again(frame: pd.DataFrame, experiments: pd.DataFrame, reviewers: int) -> Words:
    low, high = experiments["value"].min(), experiments["value"].max()
    frame = frame.dropna(subset=["value"])
    first = frame[frame["stage"] == "release"]
    title = f"Two experiments: {percent(low)} to {percent(high)} of accepted papers were accepted again"
    if percent(low) == percent(high):
        title = f"Two experiments: {percent(low)} of accepted papers were accepted again"
    if len(first):
        title += f"; the model at release says {percent(first['value'].min())} to {percent(first['value'].max())}"
    sources = "; ".join(f"{row.experiment}: {row.source}" for row in experiments.itertuples())
    caption = f"{sources}, 95 % Wilson limits. Below, {reviewers} other reviewers a paper; crosses: the simulation of Tran et al. (2020). {MODEL}"
    told = "; ".join(f"{row.year} {row.stage}: {percent(row.value)}" for row in frame.itertuples())
    return Words(title, caption, f"Share of accepted papers accepted again. {told}.")


@of_reviews
def panels_again(frame: pd.DataFrame, experiments: pd.DataFrame) -> Words:
    first = frame[frame["stage"] == frame["stage"].iloc[0]].set_index("reviewers")["value"]
    if first.isna().any():
        return Words("Too few papers for a model", MODEL, "An empty figure.")
    year, stage = frame["year"].iloc[0], frame["stage"].iloc[0]
    title = f"With ten reviewers instead of three {percent(first[10])} would be accepted again, not {percent(first[3])} ({year}, {stage}; a model)"
    caption = f"Share of accepted papers that as many other reviewers would accept again, {int(frame['n'].max()):,} papers. {MODEL}"
    told = "; ".join(f"{row.stage} {row.reviewers}: {percent(row.value)}" for row in frame.itertuples())
    return Words(title, caption, f"Accepted again by number of reviewers. {told}.")
