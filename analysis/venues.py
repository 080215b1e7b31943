"""venues.toml read and checked: where a venue-year lives, its forms, scales, decisions, dates and official counts."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from functools import cache
from pathlib import Path

from analysis import DATABASE
from analysis.errors import Trouble, choices

SHIPPED = Path(__file__).with_name("venues.toml")


@dataclass(frozen=True)
class Scale:
    """The levels a form offers for one question, in order, with the words beside them.

    `accept_from` is the lowest level on the accepting half. `declared` is False where no table describes the form and the
    levels are those seen in the notes.
    """

    levels: tuple[int, ...]
    labels: Mapping[int, str] = field(default_factory=dict)
    accept_from: int | None = None
    declared: bool = True


@dataclass(frozen=True)
class Question:
    """A question of the review form: the field of the note that holds the answer, and the scale of the answers."""

    field: str
    scale: Scale


@dataclass(frozen=True)
class VenueYear:
    """One venue-year. Of a year that is not on OpenReview or has no ratings, `absent` says so in a sentence."""

    venue: str
    year: int
    api: int | None = None  # 1 or 2; None: not on OpenReview
    group: str = ""  # the venue's id on OpenReview
    listings: tuple[str, ...] = ()  # invitations whose notes are the submissions
    review: str = ""  # how the invitation of an official review ends
    reviewer: str = ""  # how the signature of an assigned reviewer ends: a regular expression
    meta_review: str = ""
    decision: str = ""
    decided_by: str = ""  # the field of the decision note, or `venueid` of the submission
    rating: Question | None = None
    confidence: Question | None = None
    experience: Question | None = None
    scores: Mapping[str, Question] = field(default_factory=dict)  # the other scored fields, by their short names
    texts: tuple[str, ...] = ()  # the fields that are the review's text
    tiers: tuple[str, ...] = ()  # kinds of acceptance in the venue's own words, the highest first
    released: date | None = None  # when the reviews came out
    decided: date | None = None  # when the decisions were out
    deadline: date | None = None  # when the reviews were due
    decision_snapshot: str = "final"  # what decisions were based on: `final`, or `release` where scores were put back
    official: Mapping[str, int] = field(default_factory=dict)  # counts, as `submitted`, an outcome or a tier
    source: str = ""  # of the official counts
    remarks: tuple[str, ...] = ()  # sentences to print with every number of this year
    absent: str = ""
    described: bool = True  # False: read like the newest known year, and its scale is the levels seen

    @property
    def rating_scale(self) -> Scale | None:
        return self.rating.scale if self.rating else None

    @property
    def confidence_scale(self) -> Scale | None:
        return self.confidence.scale if self.confidence else None

    @property
    def experience_scale(self) -> Scale | None:
        return self.experience.scale if self.experience else None


def venue_year(venue: str, year: int, database: Path = DATABASE) -> VenueYear:
    """What is known of a venue-year; Trouble naming the venues or years that are known."""
    years = _years_of(venue, database)
    if year not in years:
        raise Trouble(f"{venue} {year} is not known; known are {_ranges(years)} (docs/adding.md says how to add a year).")
    return years[year]


def known_years(venue: str, database: Path = DATABASE) -> list[int]:
    """The years of a venue that are described, whether they have ratings or not."""
    return sorted(_years_of(venue, database))


def parse_years(text: str, venue: str = "ICLR", database: Path = DATABASE) -> list[int]:
    """``2020``, ``2020,2023-2025`` or ``all`` as years, each known to exist; Trouble with one sentence otherwise."""
    if text == "all":
        return known_years(venue, database)
    years = [year for part in text.split(",") for year in _span(part.strip())]
    return [venue_year(venue, year, database).year for year in dict.fromkeys(years)]


def _span(part: str) -> range:
    match = re.fullmatch(r"(\d{4})(?:-(\d{4}))?", part)
    if not match or int(match[2] or match[1]) < int(match[1]):
        raise Trouble(f"`{part}` is not a year; give years as 2020, as 2020,2023-2025, or all.")
    return range(int(match[1]), int(match[2] or match[1]) + 1)


def _ranges(years: Mapping[int, VenueYear]) -> str:
    ordered = sorted(years)
    whole = ordered == list(range(ordered[0], ordered[-1] + 1)) and len(ordered) > 2
    return f"{ordered[0]} to {ordered[-1]}" if whole else choices(ordered)


def _years_of(venue: str, database: Path) -> dict[int, VenueYear]:
    own = Path(database).parent / SHIPPED.name
    stamp = own.stat().st_mtime_ns if own.is_file() else None
    venues = _read(own if stamp else None, stamp)
    if venue not in venues:
        raise Trouble(f"There is no venue `{venue}`; there is {choices(venues)} (a venues.toml beside the database adds others).")
    return venues[venue]


# Reading and checking -----------------------------------------------------------------------------------------------


@cache
def _read(own: Path | None, stamp: int | None) -> dict[str, dict[int, VenueYear]]:
    """The shipped file, with the user's own laid over it; `stamp` makes a changed file be read again."""
    tables = _parsed(SHIPPED)
    if own:
        tables = _laid_over(tables, _parsed(own))
    place = str(own or SHIPPED.name)
    scales = {name: _scale(f"{place}: scales.{name}", entry) for name, entry in tables.get("scales", {}).items()}
    return {
        venue: {int(year): _venue_year(place, venue, year, entry, tables.get("forms", {}), scales) for year, entry in years.items()}
        for venue, years in tables.get("venues", {}).items()
    }


def _parsed(path: Path) -> dict:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Trouble(f"{path} cannot be read as TOML: {error}.") from None


def _laid_over(below: Mapping, above: Mapping) -> dict:
    """The entries of both, table by table; those above win."""
    merged = dict(below)
    for key, value in above.items():
        both = isinstance(value, dict) and isinstance(below.get(key), dict)
        merged[key] = _laid_over(below[key], value) if both else value
    return merged


def _check(holds: bool, place: str, problem: str) -> None:
    if not holds:
        raise Trouble(f"{place}: {problem}.")


def _scale(place: str, entry: Mapping) -> Scale:
    levels, labels, accept_from = entry.get("levels"), entry.get("labels", {}), entry.get("accept_from")
    unknown = set(entry) - {"levels", "labels", "accept_from"}
    _check(not unknown, place, f"unknown key {choices(sorted(unknown))}; a scale has levels, labels and accept_from")
    whole = isinstance(levels, list) and all(type(level) is int for level in levels)
    _check(whole and levels and levels == sorted(set(levels)), place, f"levels must be whole numbers in ascending order, not {levels}")
    _check({int(level) for level in labels} <= set(levels), place, f"labels {choices(labels)} are not all levels of {levels}")
    _check(accept_from is None or accept_from in levels, place, f"accept_from {accept_from} is not one of {levels}")
    return Scale(tuple(levels), {int(level): words for level, words in labels.items()}, accept_from)


def _venue_year(place: str, venue: str, year: str, entry: Mapping, forms: Mapping, scales: Mapping[str, Scale]) -> VenueYear:
    place = f"{place}: venues.{venue}.{year}"
    _check(year.isdigit() and len(year) == 4, place, f"`{year}` is not a year")
    said = {**_form(place, entry.get("form"), forms), **entry}
    said.pop("form", None)
    known = {one.name: one.type for one in fields(VenueYear)}
    unknown = set(said) - set(known)
    _check(not unknown, place, f"unknown key {choices(sorted(unknown))}; there are {choices(known)}")
    for name in ("rating", "confidence", "experience"):
        said[name] = _question(f"{place}.{name}", said.get(name) or None, scales)
    said["scores"] = {name: _question(f"{place}.scores.{name}", one, scales) for name, one in said.get("scores", {}).items()}
    lists = {name: tuple(value) for name, value in said.items() if isinstance(value, list)}
    made = VenueYear(venue, int(year), **{**said, **lists})
    _check_venue_year(place, made)
    return made


def _form(place: str, name: str | None, forms: Mapping) -> dict:
    """A form with what it builds on."""
    if name is None:
        return {}
    _check(name in forms, place, f"there is no form `{name}`; there are {choices(forms)}")
    form = dict(forms[name])
    base = form.pop("extends", None)
    return {**_form(place, base, {key: value for key, value in forms.items() if key != name}), **form}


def _question(place: str, entry: Mapping | None, scales: Mapping[str, Scale]) -> Question | None:
    if entry is None:
        return None
    _check(set(entry) == {"field", "scale"}, place, f"a question has a field and a scale, not {choices(entry)}")
    _check(entry["scale"] in scales, place, f"there is no scale `{entry['scale']}`; there are {choices(scales)}")
    return Question(entry["field"], scales[entry["scale"]])


def _check_venue_year(place: str, made: VenueYear) -> None:
    _check(made.api in (1, 2) or bool(made.absent), place, f"api must be 1 or 2, not {made.api} (or `absent` says why there is none)")
    _check(bool(made.rating) or bool(made.absent), place, "a year without a rating needs a sentence in `absent`")
    for listing in made.listings:
        inside = listing.split("/-/")[0].lower().startswith(made.group.rsplit("/", 1)[0].lower())
        _check(inside and "/-/" in listing, place, f"listing `{listing}` is not an invitation of the group `{made.group}`")
    if made.rating:
        _check(made.rating.scale.accept_from is not None, place, "the scale of the rating needs accept_from")
    _check(made.decision_snapshot in ("final", "release"), place, f"decision_snapshot must be final or release, not {made.decision_snapshot}")
    for name in ("released", "decided", "deadline"):
        value = getattr(made, name)
        _check(value is None or type(value) is date, place, f"{name} must be a date such as 2019-12-19, not {value!r}")
    for name, number in made.official.items():
        _check(type(number) is int and number >= 0, place, f"official.{name} must be a count, not {number!r}")
    tiers = [made.official[tier] for tier in made.tiers if tier in made.official]
    if len(tiers) == len(made.tiers) and tiers and "accepted" in made.official:
        differ = abs(sum(tiers) - made.official["accepted"])
        _check(differ <= 1, place, f"the tiers add up to {sum(tiers)}, accepted is {made.official['accepted']}")
    _compiles(place, made.reviewer)


def _compiles(place: str, pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise Trouble(f"{place}: reviewer `{pattern}` is not a regular expression ({error}).") from None
