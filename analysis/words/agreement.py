"""Words about agreement between the reviewers of one paper."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from analysis.errors import with_sign
from analysis.words.common import WILSON, Words, of_reviews, percent

CORRECTED = "Bars: 95 % bootstrap over papers (bias-corrected), since the reviews of a paper are not independent."

TOO_FEW = Words(
    "Too few reviews to measure agreement",
    "No paper has two reviews, or all ratings are equal: there is nothing to compare.",
    "An empty figure.",
)


@of_reviews
def agreement_years(frame: pd.DataFrame) -> Words:
    """The dumbbell: growth is told of the years whose discussion was not undone."""
    shown = frame[(frame["measure"] == "icc") & (frame["papers"] == "reviewed")].sort_values("year")
    shown = shown[shown["before"].notna() | shown["after"].notna()]
    if shown.empty:
        return TOO_FEW
    both = shown[shown["value"].notna() & ~shown["put_back"].astype(bool)]
    caption = (
        "ICC(1): the share of the variance of single ratings that lies between papers, all papers with a review; hollow at release, "
        f"filled after the discussion, on the same papers, with the growth and its paired interval.{_without_withdrawn(frame)} Growth is "
        f"convergence, not accuracy: reviewers read each other. {_put_back(shown)}{CORRECTED}"
    )
    return Words(_growth_title(shown, both), caption, f"Dumbbell chart of agreement by year. {_listed(shown)}.")


def _growth_title(shown: pd.DataFrame, both: pd.DataFrame) -> str:
    if both.empty:
        last = shown.iloc[-1]
        value = last["after"] if pd.notna(last["after"]) else last["before"]
        return f"{percent(value)} of the variance of ratings lies between papers ({last['year']})"
    growth = both["after"] / both["before"] - 1
    if len(both) == 1 or growth.min() <= 0:
        one = both.iloc[-1]
        return f"Agreement goes from {one['before']:.2f} to {one['after']:.2f} during the discussion of {one['year']}"
    return f"Agreement between reviewers grows by {_span(growth, percent)} during the discussion"


def _span(values: pd.Series, said: Callable[[float], str]) -> str:
    """The lowest and the highest value, once where they read the same."""
    low, high = said(values.min()), said(values.max())
    return low if low == high else f"{low} to {high}"


def _without_withdrawn(frame: pd.DataFrame) -> str:
    """The growth again without withdrawn papers, where it is known who withdrew."""
    active = frame[(frame["measure"] == "icc") & (frame["papers"] == "active")].dropna(subset=["value"])
    if active.empty:
        return ""
    grown = ", ".join(f"{row.year}: {with_sign(row.value, 3)}" for row in active.itertuples())
    return f" Without withdrawn papers it is {grown}."


def _put_back(shown: pd.DataFrame) -> str:
    years = [str(year) for year in shown.loc[shown["put_back"].astype(bool), "year"]]
    if not years:
        return ""
    return (
        f"In {' and '.join(years)} scores were put back to those at release: the final ones are the same and say nothing of what "
        "a discussion does, so only the release is drawn. "
    )


def _listed(shown: pd.DataFrame) -> str:
    def said(row) -> str:
        sides = [
            f"{value:.3f} {stage}"
            for value, stage in ((row.before, row.before_stage), (row.after, row.after_stage))
            if value == value
        ]
        return f"{row.year}: {', '.join(sides)}"

    return "; ".join(said(row) for row in shown.itertuples())


@of_reviews
def reliability(frame: pd.DataFrame) -> Words:
    frame = frame.dropna(subset=["value"])
    if frame.empty:
        return TOO_FEW
    usual = frame.loc[frame.groupby("year")["papers_with"].idxmax()]
    sizes = sorted(set(usual["reviewers"]))
    panel = f"{sizes[0]} or {sizes[-1]}" if len(sizes) > 1 else f"{sizes[0]}"
    title = f"An average of {panel} reviewers at release has a reliability of {_span(usual['value'], '{:.2f}'.format)}"
    caption = (
        "Spearman-Brown reliability of the average of so many reviewers, from the ICC at release: the correlation with the average of as "
        "many others, where 1 is perfect. Dots are at the size that most papers have. It assumes reviewers who rate independently, as at "
        "release at best. Bands: 95 % bootstrap over papers (bias-corrected)."
    )
    listed = ", ".join(f"{row.year}: {row.value:.2f} with {row.reviewers}" for row in usual.itertuples())
    return Words(title, caption, f"Reliability by number of reviewers, a line a year. {listed}.")


@of_reviews
def uncertain_order(frame: pd.DataFrame) -> Words:
    shares = frame[frame["order"] == "uncertain"].dropna(subset=["value"]).sort_values("year")
    if shares.empty:
        return TOO_FEW
    low, high = percent(shares["value"].min()), percent(shares["value"].max())
    title = (
        f"For {low if low == high else f'{low} to {high}'} of pairs of papers the averages do not tell which is better"
    )
    caption = (
        "All pairs of papers by their averages at release: equal, apart by at most 1.96 standard errors of the difference (from the spread "
        "within papers and the two numbers of reviewers), or further apart. Lines: range of the bootstrap over papers; averages sit on a "
        "lattice, so it is not a 95 % interval. It is about what a paper's few reviewers can tell, not about what a committee decides."
    )
    listed = ", ".join(f"{row.year}: {percent(row.value)}" for row in shares.itertuples())
    return Words(title, caption, f"Bars of pairs of papers whose order is uncertain. {listed}.")


@of_reviews
def unanimity(frame: pd.DataFrame) -> Words:
    frame = frame[frame["n"] > 0]
    alike, ends = (frame[frame["measure"] == name].sort_values("year") for name in ("unanimous", "opposite"))
    ratios = [_span(some["ratio"].dropna(), "{:.1f}".format) for some in (alike, ends)]
    title = f"Reviewers are unanimous {ratios[0]} times as often as chance, and at opposite ends {ratios[1]} times"
    if frame["ratio"].isna().any():
        title = f"Reviewers of {_span(alike['value'], percent)} of papers are unanimous"
    levels = "; ".join(f"{some['year'].min()}: {ends_said}" for ends_said, some in ends.groupby("ends", sort=False))
    caption = (
        "Papers with two reviews or more, at release: all ratings equal, and a rating in the lowest and one in the highest quarter of the "
        f"scale (from {levels}). Hollow: the same ratings dealt at random to panels of the same sizes, exactly. A coarse scale makes for more "
        f"equal ratings, so each year is held against its own chance, not against other years. {WILSON}"
    )
    listed = ", ".join(
        f"{row.year}: {percent(row.value)} unanimous, {percent(row.independent)} by chance"
        for row in alike.itertuples()
    )
    return Words(title, caption, f"Unanimous and opposite panels against chance. {listed}.")
