"""venues.toml read and checked: where a venue-year lives, its forms, scales, decisions, dates and official counts."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache, cached_property
from pathlib import Path

from analysis import DATABASE
from analysis.errors import Trouble, choices
from analysis.snapshots import OUTCOMES

SHIPPED = Path(__file__).with_name("venues.toml")

# Listings move: late withdrawals and corrections change a count by this share within a year or two.
SLACK = 0.005


@dataclass(frozen=True)
class Scale:
    """The levels a form offers for one question, in order, with the words beside them.

    `accept_from` is the lowest level on the accepting half. `declared` is False where no table describes the form and
    the levels are those seen in the notes. `corresponds` says by the name of another scale which of its levels mean
    what a level of this one says.
    """

    levels: tuple[int, ...]
    labels: Mapping[int, str] = field(default_factory=dict)
    accept_from: int | None = None
    declared: bool = True
    name: str = field(default="", compare=False)
    corresponds: Mapping[str, Mapping[int, tuple[int, ...]]] = field(default_factory=dict, compare=False)

    def level_said(self, words: str) -> int | None:
        """The level whose label this is, whatever its case and full stop; None where it is no label."""
        return self._levels_said.get(_plain(words))

    @cached_property
    def _levels_said(self) -> dict[str, int]:
        return {_plain(words): level for level, words in self.labels.items()}


def _plain(words: str) -> str:
    return words.strip().rstrip(".").casefold()


@dataclass(frozen=True)
class Question:
    """A question of the review form: the field of the note that holds the answer, and the scale of the answers."""

    field: str
    scale: Scale


@dataclass(frozen=True)
class VenueYear:
    """One venue-year. Of a year that is not on OpenReview or has no ratings, `absent` says so in a sentence.

    Kinds of notes (`review`, `meta_review`, `decision`) are what their invitation ends in, in snake case:
    `official_review` is 2017's `paper1/official/review` as well as `Paper1/-/Official_Review`. A review is told by its
    kind and by who signed it.
    """

    venue: str
    year: int
    api: int | None = None  # 1 or 2; None: not on OpenReview
    group: str = ""  # the venue's id on OpenReview
    listings: tuple[str, ...] = ()  # invitations whose notes are the submissions
    review: str = ""  # kind of the official reviews
    reviewer: str = ""  # the last part of the signature of an assigned reviewer: a regular expression
    meta_review: str = ""  # kind of the meta-reviews
    decision: str = ""  # kind of the notes that hold the decisions
    decision_field: str = "decision"  # the field of such a note with the decision itself
    decided_by: tuple[str, ...] = ()  # places that may tell the outcome, the first one that does counts
    words: Mapping[str, str] = field(default_factory=dict)  # a word in such a place -> outcome; the first found counts
    tiers: tuple[str, ...] = ()  # kinds of acceptance in the venue's own words, the highest first
    rating: Question | None = None
    confidence: Question | None = None
    experience: Question | None = None
    scores: Mapping[str, Question] = field(default_factory=dict)  # the other scored fields, by their short names
    texts: tuple[str, ...] = ()  # the fields that are the review's text
    area: str = ""  # the field of the submission with its research area
    deadline: date | None = None  # when submissions were due
    reviews_due: date | None = None  # when reviewers had to be done
    released: date | None = None  # the reviews were public on this day
    decided: date | None = None  # the decisions were public on this day
    decision_snapshot: str = "final"  # what decisions were based on: `final`, or `release` where scores were put back
    official: Mapping[str, int] = field(default_factory=dict)  # counts: `submitted`, outcomes and tiers, where known
    official_source: str = ""
    remarks: tuple[str, ...] = ()  # sentences to print with every number of this year
    absent: str = ""
    described: bool = True  # False: read like the newest known year, and its scales are the levels seen

    @property
    def rating_scale(self) -> Scale | None:
        return self.rating.scale if self.rating else None

    @property
    def confidence_scale(self) -> Scale | None:
        return self.confidence.scale if self.confidence else None

    @property
    def experience_scale(self) -> Scale | None:
        return self.experience.scale if self.experience else None


def venue_year(venue: str, year: int, database: Path | None = None) -> VenueYear:
    """What is known of a venue-year; Trouble naming the venues or years that are known."""
    years = _years_of(venue, database)
    if year not in years:
        known = f"known are {_ranges(years)}"
        raise Trouble(
            f"{venue} {year} is not known; {known} (a venues.toml beside the database adds years, see docs/adding.md)."
        )
    return years[year]


def known_years(venue: str, database: Path | None = None) -> list[int]:
    """The years of a venue that are listed, whether they have ratings or not, in ascending order."""
    return sorted(_years_of(venue, database))


def parse_years(text: str, venue: str = "ICLR", database: Path | None = None) -> list[int]:
    """``2020``, ``2020,2023-2025`` or ``all`` as years, each known to exist; Trouble with one sentence otherwise."""
    if text.strip() == "all":
        return known_years(venue, database)
    years = [year for part in text.split(",") for year in _span(part.strip())]
    return [venue_year(venue, year, database).year for year in dict.fromkeys(years)]


def _span(part: str) -> range:
    match = re.fullmatch(r"([0-9]{4})(?:-([0-9]{4}))?", part)
    if not match or int(match[2] or match[1]) < int(match[1]):
        raise Trouble(f"`{part}` is not a year; give years as 2020, as 2020,2023-2025, or all.")
    return range(int(match[1]), int(match[2] or match[1]) + 1)


def _ranges(years: Mapping[int, VenueYear]) -> str:
    ordered = sorted(years)
    whole = ordered == list(range(ordered[0], ordered[-1] + 1)) and len(ordered) > 2
    return f"{ordered[0]} to {ordered[-1]}" if whole else choices(ordered)


def _years_of(venue: str, database: Path | None) -> Mapping[int, VenueYear]:
    own = Path(database or DATABASE).parent / SHIPPED.name
    stamp = own.stat().st_mtime_ns if own.is_file() else None
    venues = _read(own if stamp else None, stamp)
    if venue not in venues:
        known = f"there is {choices(venues)}"
        raise Trouble(f"There is no venue `{venue}`; {known} (a venues.toml beside the database adds others).")
    return venues[venue]


# Reading and checking -----------------------------------------------------------------------------------------------


@cache
def _read(own: Path | None, stamp: int | None) -> dict[str, dict[int, VenueYear]]:
    """The shipped file, with the user's own laid over it; `stamp` makes a changed file be read again."""
    tables = _parsed(SHIPPED)
    if own:
        tables = _laid_over(tables, _parsed(own))
    place = str(own or SHIPPED.name)
    for name, table in tables.items():
        _check(name in TABLES, place, name, f"a table called {choices(TABLES)}")
        _check(isinstance(table, dict), f"{place}: {name}", table, "a table")
    forms, venues = tables["forms"], tables["venues"]
    scales = {name: _scale(f"{place}: scales.{name}", name, entry) for name, entry in tables["scales"].items()}
    scales = _corresponding(f"{place}: corresponds", tables.get("corresponds", {}), scales)
    return {venue: _years(f"{place}: {venue}", venue, years, forms, scales) for venue, years in venues.items()}


def _parsed(path: Path) -> dict:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise Trouble(f"{path} cannot be read as TOML: {error}.") from None


def _laid_over(below: Mapping, above: Mapping) -> dict:
    """The entries of both, table by table; those above win."""
    merged = dict(below)
    for key, value in above.items():
        both = isinstance(value, dict) and isinstance(below.get(key), dict)
        merged[key] = _laid_over(below[key], value) if both else value
    return merged


def _check(holds: bool, place: str, value: object, allowed: str) -> None:
    if not holds:
        raise Trouble(f"{place}: `{value}` is not {allowed}.")


def _scale(place: str, name: str, entry: object) -> Scale:
    _check(isinstance(entry, dict), place, entry, "a table with levels, labels and accept_from")
    for key in entry:
        known = key in ("levels", "labels", "accept_from")
        _check(known, place, key, "a key of a scale; it has levels, labels and accept_from")
    levels, labels, accept_from = entry.get("levels"), entry.get("labels", {}), entry.get("accept_from")
    ascending = isinstance(levels, list) and all(type(one) is int for one in levels) and levels == sorted(set(levels))
    _check(ascending and bool(levels), f"{place}.levels", levels, "a list of whole numbers in ascending order")
    _check(isinstance(labels, dict), f"{place}.labels", labels, "a table with a text for each level")
    for level, words in labels.items():
        _check(level in map(str, levels), f"{place}.labels", level, f"one of its levels, which are {choices(levels)}")
        _check(isinstance(words, str), f"{place}.labels.{level}", words, "a text")
    on_scale = accept_from is None or (type(accept_from) is int and accept_from in levels)
    _check(on_scale, f"{place}.accept_from", accept_from, f"one of its levels, which are {choices(levels)}")
    return Scale(tuple(levels), {int(level): words for level, words in labels.items()}, accept_from, name=name)


def _corresponding(place: str, said: Mapping, scales: Mapping[str, Scale]) -> dict[str, Scale]:
    """The scales with what their levels mean on others."""
    known = f"one of the scales, which are {choices(scales)}"
    for name, others in said.items():
        _check(name in scales, place, name, known)
        _check(isinstance(others, dict), f"{place}.{name}", others, "a table of scales")
        for other in others:
            _check(other in scales, f"{place}.{name}", other, known)
    return {
        name: replace(
            scale,
            corresponds={
                other: _readings(f"{place}.{name}.{other}", entry, scale, scales[other])
                for other, entry in said.get(name, {}).items()
            },
        )
        for name, scale in scales.items()
    }


def _readings(place: str, entry: object, scale: Scale, other: Scale) -> dict[int, tuple[int, ...]]:
    """For every level of a scale the levels of another that it may mean; a higher one never means a lower one."""
    whole = isinstance(entry, dict) and list(entry) == [str(level) for level in scale.levels]
    _check(whole, place, entry, f"a table with all its levels in order, which are {choices(scale.levels)}")
    for level, meant in entry.items():
        listed = isinstance(meant, list) and bool(meant) and meant == sorted(set(meant))
        fits = listed and set(meant) <= set(other.levels)
        _check(fits, f"{place}.{level}", meant, f"a list of levels in order, of {choices(other.levels)}")
    for end in (0, -1):
        ends = [meant[end] for meant in entry.values()]
        _check(ends == sorted(ends), place, ends, "in ascending order")
    return {int(level): tuple(meant) for level, meant in entry.items()}


def _years(place: str, venue: str, entry: object, forms: Mapping, scales: Mapping[str, Scale]) -> dict[int, VenueYear]:
    _check(isinstance(entry, dict), place, entry, "a table with a table for each year")
    for year in entry:
        _check(re.fullmatch("[0-9]{4}", year) is not None, place, year, "a year such as 2020")
    said = {int(year): _said(f"{place} {year}", one, forms) for year, one in entry.items()}
    return {year: _venue_year(f"{place} {year}", venue, year, one, scales) for year, one in said.items()}


def _said(place: str, entry: object, forms: Mapping) -> dict:
    """What is said of a year, in its own table or in that of its form."""
    _check(isinstance(entry, dict), place, entry, "a table")
    said = {**_form(place, entry.get("form"), forms), **entry}
    said.pop("form", None)
    return said


def _venue_year(place: str, venue: str, year: int, said: dict, scales: Mapping[str, Scale]) -> VenueYear:
    for key, value in said.items():
        _check(key in KEYS, place, key, f"a key of a year; there are {choices(KEYS)}")
        holds, allowed = KEYS[key]
        _check(holds(value), f"{place}: {key}", value, allowed)
    if not said.get("described", True):
        scales = {name: replace(scale, declared=False) for name, scale in scales.items()}
    asked = {key: _question(f"{place}: {key}", said[key], scales) for key in QUESTIONS if said.get(key)}
    scores = {key: _question(f"{place}: scores.{key}", one, scales) for key, one in said.get("scores", {}).items()}
    lists = {key: tuple(value) for key, value in said.items() if isinstance(value, list)}
    unasked = dict.fromkeys(QUESTIONS)
    made = VenueYear(venue, year, **{**said, **lists, **unasked, **asked, "scores": scores})
    _check_whole(place, made)
    return made


def _form(place: str, name: object, forms: Mapping) -> dict:
    """A form with what it builds on; a form cannot build on itself, since it is left out from its own base on."""
    if name is None:
        return {}
    known = isinstance(name, str) and isinstance(forms.get(name), dict)
    _check(known, f"{place}: form", name, f"one of the forms, which are {choices(forms)}")
    form = dict(forms[name])
    base = form.pop("extends", None)
    return {**_form(f"{place}: {name}.extends", base, {key: one for key, one in forms.items() if key != name}), **form}


def _question(place: str, entry: object, scales: Mapping[str, Scale]) -> Question:
    whole = isinstance(entry, dict) and set(entry) == {"field", "scale"} and _texts(list(entry.values()))
    _check(whole, place, entry, 'a question such as { field = "rating", scale = "ten" }')
    known = f"one of the scales, which are {choices(scales)}"
    _check(entry["scale"] in scales, f"{place}.scale", entry["scale"], known)
    return Question(entry["field"], scales[entry["scale"]])


def _check_whole(place: str, made: VenueYear) -> None:
    """What has to hold between the keys of a year."""
    if not made.absent:
        unless = "(a year that is not on OpenReview or has no ratings says so in `absent`)"
        for key in ("api", "group", "listings", "review", "reviewer", "rating", "decided_by"):
            _check(bool(getattr(made, key)), f"{place}: {key}", getattr(made, key), f"given {unless}")
    if made.rating:
        accept_from = made.rating.scale.accept_from
        _check(accept_from is not None, f"{place}: rating.scale.accept_from", accept_from, "one of its levels")
    for listing in made.listings:
        inside = listing.lower().startswith(f"{made.group}/-/".lower())
        _check(inside, f"{place}: listings", listing, f"an invitation of the group `{made.group}`")
    for tier in made.tiers:
        clear = not any(word in tier for word, outcome in made.words.items() if outcome != "accepted")
        _check(clear, f"{place}: tiers", tier, "clear of the words that say another outcome")
    _check_official(f"{place}: official", made)


def _check_official(place: str, made: VenueYear) -> None:
    """Outcomes add up to what was submitted, tiers to what was accepted; where one is not known they stay below it."""
    official, countable = made.official, ("submitted", *OUTCOMES, *made.tiers)
    for key in official:
        _check(key in countable, place, key, f"something to count; there are {choices(countable)}")
    _check_sum(place, official, "submitted", OUTCOMES, {"accepted", "rejected", "withdrawn"} <= set(official))
    _check_sum(place, official, "accepted", made.tiers, bool(made.tiers) and set(made.tiers) <= set(official))


def _check_sum(place: str, official: Mapping[str, int], whole: str, parts: tuple[str, ...], complete: bool) -> None:
    if whole not in official:
        return
    known = {part: official[part] for part in parts if part in official}
    total, slack = sum(known.values()), max(1, SLACK * official[whole])
    holds = total <= official[whole] + slack and (not complete or total >= official[whole] - slack)
    _check(holds, f"{place}.{whole}", official[whole], f"what {', '.join(known)} add up to, {total}")


# What the keys of a year hold ---------------------------------------------------------------------------------------

Rule = tuple[Callable[[object], bool], str]  # whether a value is allowed, and the words for what is


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) and one for one in value)


def _compiles(value: object) -> bool:
    try:
        return isinstance(value, str) and bool(re.compile(value))
    except re.error:
        return False


def _distinct_lower(value: object) -> bool:
    return _texts(value) and len(set(value)) == len(value) and all(one == one.lower() for one in value)


def _counts(value: object) -> bool:
    return isinstance(value, dict) and all(type(one) is int and one >= 0 for one in value.values())


def _outcome_words(value: object) -> bool:
    return isinstance(value, dict) and all(word == word.lower() and one in OUTCOMES for word, one in value.items())


def _kind(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch("[a-z0-9_]*", value) is not None


TABLES = ("scales", "corresponds", "forms", "venues")
QUESTIONS = ("rating", "confidence", "experience")
TEXT: Rule = (lambda value: isinstance(value, str), "a text")
TABLE: Rule = (lambda value: isinstance(value, dict), "a table")
DAY: Rule = (lambda value: type(value) is date, "a date such as 2019-12-19")
KIND: Rule = (_kind, "how invitations of such notes end, in snake case, as official_review")
LIST: Rule = (_texts, "a list of texts")
KEYS: Mapping[str, Rule] = {
    "api": (lambda value: type(value) is int and value in (1, 2), "1 or 2"),
    "group": TEXT,
    "listings": LIST,
    "review": KIND,
    "reviewer": (_compiles, "a regular expression"),
    "meta_review": KIND,
    "decision": KIND,
    "decision_field": TEXT,
    "decided_by": LIST,
    "words": (_outcome_words, f"a table of lower-case words, each with {choices(OUTCOMES)}"),
    "tiers": (_distinct_lower, "a list of different texts in lower case, the highest tier first"),
    **dict.fromkeys(QUESTIONS, TABLE),  # an empty one: not asked
    "scores": TABLE,
    "texts": LIST,
    "area": TEXT,
    **dict.fromkeys(("deadline", "reviews_due", "released", "decided"), DAY),
    "decision_snapshot": (lambda value: value in ("final", "release"), "final or release"),
    "official": (_counts, "a table of counts"),
    "official_source": TEXT,
    "remarks": LIST,
    "absent": TEXT,
    "described": (lambda value: isinstance(value, bool), "true or false"),
}
