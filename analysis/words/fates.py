"""Words about papers with the same average."""

from __future__ import annotations

import pandas as pd

from analysis.errors import signed
from analysis.words.common import WILSON, Words, of_reviews, percent
from analysis.words.line import papers_of

TESTED = "after Benjamini-Hochberg over all {many} rows (5 % false findings expected)"


@of_reviews
def rivals(frame: pd.DataFrame) -> Words:
    found = frame[frame["differs"]]
    title = f"Of {len(frame):,} sets of ratings none fared differently from others of the same average"
    if len(found):
        gap = (found["value"] - found["others"]).abs()
        most = found.loc[gap.idxmax()]
        title = f"Ratings {most['ratings']}: {percent(most['value'])} accepted; others with the same average: {percent(most['others'])}"
    caption = (
        f"Sets of ratings of 20 {papers_of(frame)} or more, beside others with the same average and as many reviews; shown are those nearest to even odds. "
        f"{len(found):,} of {len(frame):,} differ (Fisher's exact test, {TESTED.format(many=len(frame))}). {WILSON} Such papers differ in much else: no advice."
    )
    told = "; ".join(f"{row.ratings}: {percent(row.value)} against {percent(row.others)}" for row in found.itertuples())
    return Words(title, caption, f"Acceptance of sets of ratings with the same average. Different: {told or 'none'}.")


@of_reviews
def near(frame: pd.DataFrame) -> Words:
    found = frame[frame["differs"]]
    title = f"Near the line none of {len(frame):,} groups fared differently at the same average"
    if len(found):
        most = found.loc[found["value"].abs().idxmax()]
        word = "more" if most["value"] > 0 else "fewer"
        title = f"Near the line, at the same average, {word} papers with {_group(most)} were accepted ({signed(most['value'])} points)"
    caption = (
        f"Papers within half a point of the line ({frame['line'].iloc[0]:.2f}), among {papers_of(frame)}: how many percentage points more of a group were accepted "
        "than of the other papers at the same exact averages (Mantel-Haenszel; bars: 95 %, Sato). In brackets: papers of the group, of all that are compared. "
        f"{len(found):,} differ (Cochran-Mantel-Haenszel test, {TESTED.format(many=len(frame))}). Associations, not causes; groups overlap."
    )
    told = "; ".join(f"{_group(row)}: {signed(row['value'])} points" for _, row in frame.iterrows())
    return Words(title, caption, f"Differences in acceptance near the line. {told}.")


def _group(row: pd.Series) -> str:
    return f"{row['split']} {row['group']}"
