"""What a notebook calls: load a sample, open a book for its figures, say a sentence. Nothing is computed or drawn here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from analysis import ROOT, papers, status
from analysis import fetch as fetching
from analysis import sample as samples_of
from analysis.draw import publish
from analysis.errors import Trouble, count
from analysis.sample import Sample
from analysis.snapshots import around_discussion as choose_around
from analysis.snapshots import pair as pair_of
from analysis.statistics import queries
from analysis.statistics.ledger import knows_accepted
from analysis.statistics.paper import over_time
from analysis.venues import known_years, venue_year


def path(database: str) -> Path:
    """A relative path is meant from the project's folder, wherever the notebook runs."""
    return ROOT / database


def say(*sentences: str) -> None:
    """Print sentences, one a line."""
    for sentence in sentences:
        print(sentence)


def fetch(venue: str, year: int, source: str, database: str) -> None:
    """Load a year from a source into the store; what is already there is left alone.

    Saved notes come in by `python -m analysis fetch --load FILE`, so for these, as for no source, the store must have the year
    or the suite its counts.
    """
    if source in ("", "notes"):
        held = fetching.ensure(path(database), venue, year, source)
        say(f"{venue} {year}: {count(len(held), 'snapshot')} in the store.")
    else:
        fetching.fetch(venue, [year], fetching.Asked(source), path(database), say)


def snapshots(venue: str, year: int, database: str) -> pd.DataFrame:
    """The snapshots of a year in the store, with what they hold."""
    return status.status(path(database), venue, (year,)).drop(columns=["venue", "year"])


def book(name: str, *read: Sample, venue: str = "", year: int | None = None, width: str = "iclr") -> publish.Book:
    """Where a notebook's figures and tables go: beside those of the same snapshot, or of the same year or venue."""
    return publish.book(name, *read, venue=venue, year=year, width=width)


def book_if(
    holds: bool, name: str, *read: Sample, width: str = "iclr", lacking: str = "what is asked"
) -> publish.Book | None:
    """As `book`; where the snapshot lacks what it is about that is said, and no folder is left."""
    if holds:
        return publish.book(name, *read, width=width)
    say(f"{read[0].snapshot.title} ({read[0].snapshot.source}) has no {lacking}: this is left out.")
    publish.discard(name, *read)
    return None


def problems(venue: str, year: int, database: str) -> pd.DataFrame:
    """What could not be read in the snapshots of a year, by field and reason."""
    return status.problems(path(database), venue, year)


def acceptance_known(loaded: Sample) -> bool:
    """Whether this snapshot knows who was accepted; says so where it does not."""
    if knows_accepted(loaded):
        return True
    say(f"{loaded.snapshot.title} does not know who was accepted: what was decided is left out.")
    return False


def with_outcomes(loaded: Sequence[Sample]) -> list[Sample]:
    """Those of the samples that know who was accepted; says which do not."""
    return [one for one in loaded if acceptance_known(one)]


def self_assessment(venue: str, year: int, database: str) -> str:
    """What the form of a year asks reviewers about themselves: `experience`, else `confidence`."""
    form = venue_year(venue, year, path(database))
    return "experience" if form.experience_scale else "confidence"


def sample(
    venue: str,
    year: int,
    snapshot: str = "",
    database: str = "",
    population: str = "reviewed",
    need: str = "",
    source: str = "",
    columns: tuple[str, ...] = (),
) -> Sample:
    """Load a sample, and say what must be said about it."""
    loaded = samples_of.load(path(database), venue, year, snapshot, population, source, need=need, columns=columns)
    say(loaded.title, *loaded.remarks)
    return loaded


def pair(venue: str, year: int, before: str, after: str, database: str, population: str) -> tuple[Sample, Sample]:
    """Load two snapshots of a year, and say what must be said about them. Without names the first and last of the same papers."""
    if not (before and after):
        found = pair_of(fetching.ensure(path(database), venue, year))
        if found is None:
            raise Trouble(f"{venue} {year} has no two snapshots of the same papers, one from before the decisions.")
        before, after = (before or found[0].name), (after or found[1].name)
    first, second = (samples_of.load(path(database), venue, year, name, population) for name in (before, after))
    say(first.title, second.title, *dict.fromkeys((*first.remarks, *second.remarks)))
    return first, second


def same_reviews(first: Sample, database: str) -> tuple[Sample, Sample] | None:
    """The snapshot of `first`, and the last one whose reviews are the same ones; None, which is said, where there is none."""
    taken = first.snapshot
    held = [one for one in fetching.ensure(path(database), taken.venue, taken.year) if one.paper_ids == taken.paper_ids]
    later = [one for one in held if one.review_ids == taken.review_ids and one.order > taken.order]
    if not later:
        say(
            f"{taken.title}: which reviews are the same ones in a later snapshot is not known; papers are, as multisets."
        )
        return None
    last = max(later, key=lambda one: one.order)
    say(f"Reviews are the same ones in {taken.name} and {last.name}.")
    return first, samples_of.load(path(database), taken.venue, taken.year, last.name, first.population, last.source)


def decided(first: Sample, second: Sample) -> tuple[Sample, Sample] | None:
    """The same two with only the decided papers; None, which is said, where it is not known which they are."""
    try:
        return samples_of.restrict(first, "decided"), samples_of.restrict(second, "decided")
    except Trouble as trouble:
        say(str(trouble))
        return None


def discussed(first: Sample, second: Sample) -> bool:
    """Whether the scores between two snapshots moved freely; says so where they were put back."""
    if first.form.decision_snapshot != "release":
        return True
    after = f"{second.snapshot.title} ({second.snapshot.stage})"
    held = (
        "holds the scores of before the discussion again"
        if second.snapshot.stage == "final"
        else "was taken before that"
    )
    say(
        f"Scores of {first.snapshot.venue} {first.snapshot.year} were put back to those before the discussion; {after} {held}.",
        "What changed between the two is counted in a table and not drawn: a picture would say that nobody moves.",
    )
    return False


def paper(venue: str, year: int, forum: str, ratings: Sequence[int], at: str, database: str) -> papers.Asked | None:
    """One paper, by its forum id or by ratings, with the sample to place it in; says what it is. None without reviews."""
    asked, sentence = papers.ask(path(database), venue, year, forum, ratings, at)
    say(sentence, *([asked.sample.title, *asked.sample.remarks] if asked else []))
    return asked


def paper_over_time(asked: papers.Asked, database: str) -> pd.DataFrame | None:
    """Where a paper stood in each snapshot that lists it; None, which is said, where only ratings were given."""
    if asked.paper is None:
        say("Ratings alone have no past: give a forum id to see how a paper moved.")
        return None
    held = asked.paper.held
    loaded = [samples_of.load(path(database), one.venue, one.year, one.name, "all", one.source) for one in held]
    return over_time(loaded, [asked.paper.ratings(one.name) for one in held])


def public_revisions(asked: papers.Asked) -> pd.DataFrame | None:
    """Ask OpenReview for the public revisions of a paper's reviews; None, which is said, where there are none to ask for.

    One request a review, signed in as for a fetch.
    """
    if asked.paper is None or not asked.paper.link:
        say("Revisions are kept by OpenReview: they need a paper that was fetched, by its forum id.")
        return None
    # Here, since no other notebook talks to OpenReview.
    from analysis.sources import revisions as revising
    from analysis.sources.openreview import Session

    try:
        revisions = revising.public_revisions(asked.sample.form, Session(say), asked.paper.review_ids)
    except Trouble as trouble:
        say(f"The revisions cannot be had: {trouble}")
        return None
    say(revising.told(revisions, len(asked.paper.review_ids)))
    return queries.carrying(revisions, [{"asked": f"what OpenReview answered about {asked.paper.link}"}])


def official_submissions(venue: str, years: Sequence[int], database: str) -> dict[int, int]:
    """The official counts of submissions from the first of these years to the last, with those between them."""
    known = {year: venue_year(venue, year, path(database)) for year in known_years(venue, path(database))}
    within = (form for year, form in known.items() if years and min(years) <= year <= max(years))
    return {form.year: form.official["submitted"] for form in within if "submitted" in form.official}


def samples(
    venue: str,
    years: Sequence[int],
    snapshot: str,
    database: str,
    population: str,
    columns: tuple[str, ...] = (),
) -> list[Sample]:
    """A sample a year; of all years in the store when none are named.

    A year without the asked snapshot is left out, and told; so is one without reviews, unless it is about all submissions.
    """
    loaded = []
    for year in years or fetching.available_years(path(database), venue):
        try:
            loaded.append(samples_of.load(path(database), venue, year, snapshot, population, columns=columns))
        except Trouble as trouble:
            say(f"{year} left out: {trouble}")
    if population != "all" and (reviewed := [one for one in loaded if len(one.reviews)]):
        say(*(f"{one.snapshot.title} has no reviews yet: left out." for one in loaded if not len(one.reviews)))
        loaded = reviewed
    say(*dict.fromkeys(remark for one in loaded for remark in one.remarks))
    return loaded


def each_year(statistic: Callable[[Sample], pd.DataFrame], loaded: Sequence[Sample]) -> pd.DataFrame:
    """A statistic for each of these years, with the year in front."""
    frames = [statistic(one).assign(year=one.snapshot.year) for one in loaded]
    return queries.together(frames, "year")


def around_discussion(
    venue: str, years: Sequence[int], database: str, population: str
) -> list[tuple[Sample | None, Sample | None]]:
    """For each year the sample at release and the last one that the discussion has moved; None where there is none, and told.

    Of all years in the store when none are named.
    """
    found = []
    for year in years or fetching.available_years(path(database), venue):
        held = fetching.ensure(path(database), venue, year)
        two = choose_around(held, venue_year(venue, year, path(database)).decision_snapshot)
        # By source too: a fetched snapshot may have the name of a bundled one, whose papers are others.
        found.append(
            tuple(one and samples_of.load(path(database), venue, year, one.name, population, one.source) for one in two)
        )
        lacking = [what for what, one in zip(("at release", "after the discussion"), two, strict=True) if one is None]
        say(*(f"{venue} {year} has no snapshot {what}." for what in lacking))
    loaded = [one for two in found for one in two if one is not None]
    say(*dict.fromkeys(remark for one in loaded for remark in one.remarks))
    return found


def around(loaded: Sample, database: str) -> list[Sample]:
    """The first snapshot of the year that has reviews, this one and the last, as far as they differ, in order of time.

    Not all of them: a year that is fetched every day has dozens.
    """
    taken = loaded.snapshot
    held = [one for one in fetching.ensure(path(database), taken.venue, taken.year) if one.reviews]
    held = sorted(held, key=lambda one: one.order)
    kept = {one.name: one for one in (*held[:1], taken, *held[-1:])}.values()
    return [
        loaded
        if one == taken
        else samples_of.load(path(database), taken.venue, taken.year, one.name, loaded.population, one.source)
        for one in sorted(kept, key=lambda one: one.order)
    ]


def distinct(*groups: Sequence[Sample]) -> list[Sample]:
    """The samples of all groups, each snapshot once."""
    return list({one.snapshot.snapshot_id: one for group in groups for one in group}.values())


def each_snapshot(statistic: Callable[[Sample], pd.DataFrame], loaded: Sequence[Sample]) -> pd.DataFrame:
    """A statistic for each of these snapshots, with year, name and stage in front."""
    frames = [
        statistic(one).assign(year=one.snapshot.year, snapshot=one.snapshot.name, stage=one.snapshot.stage)
        for one in loaded
    ]
    return queries.together(frames, "year", "snapshot", "stage")


def each_level(statistic: Callable[[Sample], pd.DataFrame], loaded: Sample, column: str) -> pd.DataFrame:
    """A statistic for each value of a column of papers or reviews, with the value in front."""
    with queries.split_by(column):
        frames = [statistic(part).assign(**{column: value}) for value, part in loaded.split(column)]
    return queries.together(frames, column)


def fields(loaded: Sample, *columns: str) -> list[str]:
    """Those of the columns of reviews that have values here."""
    return [name for name in columns if name in loaded.reviews and loaded.reviews[name].notna().any()]
