"""Words about the line between accepted and other papers."""

from __future__ import annotations

import pandas as pd

from analysis.words.common import WILSON, Words, of_reviews, percent

TOO_FEW = "Too few papers, or too well parted ones, to say how well scores tell"
PAPERS = {
    "left out": "decided papers (withdrawn ones are left out)",
    "as rejected": "papers with a review (whatever was not accepted, withdrawn papers included, counts as rejected)",
}


def papers_of(frame: pd.DataFrame) -> str:
    """The papers that a frame is about, as a caption says it."""
    return PAPERS[frame["withdrawn"].iloc[0]]


@of_reviews
def curve(frame: pd.DataFrame, logit: pd.DataFrame) -> Words:
    even = logit.set_index("item").loc["even"]
    title = f"An average of {even['value']:.2f} had even odds of acceptance"
    if pd.isna(even["value"]):
        title = "Averages part accepted papers from all others"
    caption = (
        f"Share of {int(frame['n'].sum()):,} {papers_of(frame)} that were accepted, by exact average. {WILSON} Curve: logistic regression on "
        "the average with its 95 % band (Wald). It counts past papers and predicts nothing for one."
    )
    many = frame[frame["n"] >= 30]
    shares = ", ".join(f"{row.average:.2f}: {percent(row.value)}" for row in many.itertuples())
    return Words(
        title, caption, f"Acceptance by average of a paper's ratings, averages of 30 papers or more. {shares}."
    )


@of_reviews
def line(frame: pd.DataFrame, sides: pd.DataFrame) -> Words:
    below, above, on = (sides.set_index("side").loc[side] for side in ("below", "above", "on"))
    accepted = int(sides["accepted"].sum())
    if not accepted:
        return Words(
            "No paper was accepted",
            f"There is no line among {int(frame['n'].sum()):,} {papers_of(frame)}.",
            "An empty figure.",
        )
    title = (
        f"{int(below['accepted']):,} of {accepted:,} accepted papers were below the line, "
        f"{int(above['others']):,} above it were not accepted"
    )
    caption = (
        f"The line is the average that would accept the same number of {int(sides['n'].sum()):,} {papers_of(frame)}: {on['line']:.2f}, that of the last "
        f"one in when papers are taken by average alone. The {int(on['n']):,} papers exactly on it ({int(on['accepted']):,} accepted) are on neither "
        "side. A paper on the other side is no error: the average is not the decision."
    )
    shares = "; ".join(
        f"{name} the line {int(row['accepted']):,} of {int(row['n']):,} accepted"
        for name, row in (("above", above), ("on", on), ("below", below))
    )
    return Words(title, caption, f"Needles of papers on the other side of the line, by average. {shares}.")


@of_reviews
def auc(frame: pd.DataFrame) -> Words:
    average = frame[frame["predictor"] == "average"]
    last = average.iloc[-1]
    if average["value"].isna().any():
        return Words(TOO_FEW, f"Area under the ROC curve of {int(last['n']):,} {papers_of(frame)}.", TOO_FEW)
    title = f"In {percent(last['value'])} of pairs the accepted paper has the higher average"
    if len(average) > 1:
        title += f" ({last['stage']}); at {average.iloc[0]['stage']} in {percent(average.iloc[0]['value'])}"
    caption = (
        f"Area under the ROC curve, cross-validated over ten folds, of {int(last['n']):,} {papers_of(frame)}, ties half. Bars: 95 % (DeLong). "
        "Scores held after the discussion partly follow the decision in the making."
    )
    told = "; ".join(f"{row.predictor}, {row.stage}: {row.value:.3f}" for row in frame.itertuples())
    return Words(title, caption, f"How well scores tell accepted papers from others. {told}.")
