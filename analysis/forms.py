"""Raw notes into rows: who may be known is taken out first, then the notes of one forum become typed rows.

Pure functions. What differs from year to year is said in venues.toml; here is only how such a description is applied.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from functools import lru_cache

import numpy as np
import orjson

from analysis.venues import Question, Scale, VenueYear

TABLES = ("submissions", "reviews", "decisions", "meta_reviews", "comments", "problems")

# Who wrote it. `paperhash` begins with the first author's name. In 2017 `author_emails` hides the rest in one string,
# and `conflicts` lists the authors' institutions.
IDENTITIES = {"authors", "authorids", "_bibtex", "tauthor", "paperhash", "author_emails", "conflicts"}
# Papers also write {first,second}@example.org; in links the signs are %40 and %7E.
DOMAIN = r"(?:[\w*-]+\.)+[^\W\d_]{2,}"
LOCAL = r"""[^\s@,;:<>()\[\]"]"""
EMAIL = re.compile(rf"(?:\{{[^{{}}@]{{0,200}}\}}|(?<!{LOCAL}){LOCAL}++)(?:@{DOMAIN})+|[\w.+-]{{1,64}}%40{DOMAIN}")
CODED = re.compile(rb"%(?:40|7)")
PROFILE = re.compile(r"""(?:~|%7E)[^\W\d_][^\s~,;:()\[\]{}<>"|/\\]*\d""", re.IGNORECASE)
NESTED = ("replies", "directReplies")
HOLDERS = {"details", *NESTED}
KEPT_APART = IDENTITIES | {"number_of_authors"}

UNANSWERED = {"", "n/a", "na", "not applicable"}
UNDECLARED = range(128)  # what a column can hold, where no scale is declared
SPACE = np.array([chr(code).isspace() for code in range(0x3002)])  # the last one stands for all above it
OPTION = re.compile(r"[0-9]{1,2}(: .*)?")  # an answer chosen from a list, in a form that no table describes
WHOLE = re.compile(r"\s*([0-9]{1,9})(?:\.0+)?(?![0-9]|\.[0-9])")  # 10 of "10: Top 5 %", 3 of "3 good", 7 of "7.0"
PAPER = re.compile(r"(?:paper|submission)([0-9]{1,9})(?![0-9])", re.IGNORECASE)
EPOCH = datetime(1970, 1, 1)
NOT_PROSE = {"title", "decision", "recommendation", "rating", "confidence"}
SIGNED = {
    "authors": re.compile(r"authors"),
    "reviewer": re.compile(r"(?:anon)?reviewer.*"),
    "area_chair": re.compile(r"(?:senior_)?area_?chair.*"),
    "program_chairs": re.compile(r"program_chairs?|pcs"),
    "public": re.compile(r"\(.*\)|~.*|.*@.*"),  # (profile), (anonymous); the authors of 2017, too, signed by name
}

Note = Mapping[str, object]
Row = dict[str, object]
Rows = dict[str, list[Row]]


# Without identities -------------------------------------------------------------------------------------------------


def scrub(note: Note) -> Note:
    """A note without authors, e-mail addresses, profile names, and fields that not everyone may read.

    The venue's own pseudonyms (`Paper1/AnonReviewer2`) stay, and so does the number of authors.
    """
    return scrubbed(note)[0]


def scrubbed(note: Note) -> tuple[Note, bytes]:
    """The same, and as JSON with sorted keys: the same note gives the same text, whatever their order was."""
    text = _json(note)
    if text is not None and _has_nothing_to_hide(note, text):
        return note, text
    content = note.get("content")
    clean = _clean(note)
    if isinstance(content, dict) and (number := _number_of_authors(content)) is not None:
        clean["content"]["number_of_authors"] = number
    return clean, _json(clean) or json.dumps(clean, sort_keys=True, ensure_ascii=False).encode()


def _has_nothing_to_hide(note: Note, text: bytes) -> bool:
    """Whether scrubbing would change nothing: quickly told of most replies, of which a large year has a million."""
    content = note.get("content")
    if not isinstance(content, dict) or not KEPT_APART.isdisjoint(content) or not IDENTITIES.isdisjoint(note):
        return False
    # One byte is found much faster than two.
    if b"@" in text or b"~" in text or (b"%" in text and CODED.search(text)):
        return False
    return _is_flat(note, content) and _is_flat(content)  # what is deeper down has anything in it, and its own readers


def _is_flat(fields: Mapping, but: object = None) -> bool:
    """Whether no field but one holds an object, other than a value wrapped as in API 2, for all who read the note."""
    for value in fields.values():
        if type(value) is str or value is but:
            continue
        if type(value) is dict:
            if len(value) != 1 or "value" not in value:
                return False
            value = value["value"]
            if type(value) is dict:
                return False
        if type(value) is list:
            for one in value:  # not `all`: this runs twenty million times for a large year
                if type(one) is not str:
                    return False
    return True


def _json(note: Note) -> bytes | None:
    """A note as text; None where it has half a surrogate pair, or a whole number of more than 64 bits."""
    try:
        return orjson.dumps(note, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return None


def mask(text: str) -> str:
    """A text without e-mail addresses and profile names (`~First_Last1`), and without what UTF-8 cannot hold."""
    coded = "%" in text
    if "@" in text or (coded and "%40" in text):
        text = EMAIL.sub("(e-mail)", text)
    if "~" in text or (coded and "%7" in text):
        text = PROFILE.sub("(profile)", text)
    # Half a surrogate pair is legal in JSON and cannot be stored.
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _clean(value: object) -> object:
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, list):
        return [mask(one) if type(one) is str else _clean(one) for one in value]
    if isinstance(value, dict):
        hidden = {"value"} if isinstance(value.get("readers"), list) and not is_public(value) else ()
        kept = [(key, one) for key, one in value.items() if key not in IDENTITIES and key not in hidden]
        return {_key(key): mask(one) if type(one) is str else _clean(one) for key, one in kept}
    return value


_key = lru_cache(maxsize=1 << 12)(mask)  # the same few, again and again


def _number_of_authors(content: Mapping) -> int | None:
    """How many authors a submission names; None while they are anonymous."""
    known, authors = _value(content, "number_of_authors"), _value(content, "authors")
    if isinstance(authors, str):  # some notes of 2017
        authors = [name for name in re.split(r"[,;]|\band\b", authors) if name.strip()]
    if isinstance(authors, list) and authors and authors != ["Anonymous"]:
        return len(authors)
    return known if type(known) is int else None


def public(notes: list[Note]) -> tuple[list[Note], list[str]]:
    """The flat notes in these that everyone may read, and the ids of the others; the list is used up, to save memory."""
    readable, hidden = [], []
    notes.reverse()
    while notes:
        for note in flatten(notes.pop()):
            if is_public(note):
                readable.append(note)
            else:
                hidden.append(str(note.get("id")))
    return readable, hidden


def is_public(note: Note) -> bool:
    """Whether everyone may read a note; not where it does not say: all real notes of both APIs have readers."""
    readers = note.get("readers")
    return isinstance(readers, list) and "everyone" in readers


def flatten(note: Note) -> Iterator[dict]:
    """A note without its details, then the replies in them, each id once: direct replies are among the replies, too."""
    seen = set()
    for one in _unfolded(note):
        if (identity := str(one.get("id"))) not in seen:
            seen.add(identity)
            yield one


def _unfolded(note: Note) -> Iterator[dict]:
    if HOLDERS.isdisjoint(note):  # most notes are replies without replies
        yield note
        return
    yield {name: part for name, part in note.items() if name not in HOLDERS}
    details = note.get("details")
    holders = [note, details] if isinstance(details, dict) else [note]
    for replies in (holder.get(name) for holder in holders for name in NESTED):
        for reply in replies if isinstance(replies, list) else []:
            if isinstance(reply, dict):
                yield from _unfolded(reply)


# What a note says of itself -----------------------------------------------------------------------------------------


def invitations(note: Note) -> list[str]:
    """The invitations of a note: API 1 has one, API 2 a list that grows with each edit."""
    found = note.get("invitations", note.get("invitation"))
    return [one for one in (found if isinstance(found, list) else [found]) if isinstance(one, str)]


@lru_cache(maxsize=1 << 12)  # those of a paper come together
def kind_of(invitation: str) -> str:
    """How an invitation ends, in snake case: `official_review` of `-/paper1/official/review` (2017) as well."""
    ending = invitation.rpartition("/-/")[2]
    paper, _, rest = ending.partition("/")
    return re.sub(r"[^a-z0-9]+", "_", (rest if PAPER.fullmatch(paper) else ending).lower()).strip("_")


def _kinds(note: Note) -> list[str]:
    """The kinds of a note; an edit by the venue is no kind of its own."""
    kinds = [kind_of(one) for one in invitations(note)]
    return [kind for kind in kinds if kind != "edit"] or ["unknown"]


def _content(note: Note) -> Mapping:
    content = note.get("content")
    return content if isinstance(content, dict) else {}


def _value(content: Mapping, name: str) -> object:
    """A field's value: bare in API 1; in API 2 under `value`, which is not there for who may not read it."""
    field = content.get(name)
    return field.get("value") if isinstance(field, dict) else field


def _text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if type(value) is int:
        return str(value)
    return json.dumps(value, ensure_ascii=False)


def _texts(content: Mapping, names: Iterable[str]) -> str:
    values = (_value(content, name) for name in names)
    return "\n".join(value for value in values if isinstance(value, str))


def _prose(content: Mapping) -> str:
    """Of a note that is no review every text but its title and the answers chosen from a list."""
    return _texts(content, content.keys() - NOT_PROSE)


def _words(texts: list[str]) -> list[int]:
    """How many words each text has, as `len(text.split())`, in half the time: all at once, and no word is copied."""
    codes = np.frombuffer("\n".join(["", *texts, ""]).encode("utf-32-le", "surrogatepass"), np.uint32)
    blank = (codes - np.uint32(9) < 5) | (codes - np.uint32(28) < 5)  # those of ASCII; what is less wraps around
    wide = np.flatnonzero(codes > 127)
    blank[wide] = SPACE.take(codes[wide], mode="clip")
    starts = np.flatnonzero(blank[:-1] > blank[1:])
    ends = np.cumsum([len(text) + 1 for text in texts])
    return np.diff(np.searchsorted(starts, ends), prepend=0).tolist()


def _moment(note: Note, *names: str) -> int:
    """Milliseconds at which a note was made or changed; 0 where it does not say."""
    for name in names:
        value = note.get(name)
        if type(value) is int and 0 < value < 253_402_300_800_000:
            return value
    return 0


def _time(note: Note, *names: str) -> str | None:
    moment = _moment(note, *names)
    return (EPOCH + timedelta(seconds=moment // 1000)).isoformat() if moment else None


def _created(note: Note) -> str | None:
    return _time(note, "tcdate", "cdate")


def _tails(note: Note) -> list[str]:
    """The last parts of the signatures: `AnonReviewer2`, `Authors`."""
    signatures = note.get("signatures")
    found = signatures if isinstance(signatures, list) else [signatures]
    return [one.rpartition("/")[2] for one in found if isinstance(one, str)]


def _author_kind(note: Note) -> str:
    return _kind_signed(tuple(_tails(note)))


@lru_cache(maxsize=1 << 12)
def _kind_signed(tails: tuple[str, ...]) -> str:
    signatures = [tail.lower() for tail in tails]
    return next((kind for kind, signed in SIGNED.items() if any(map(signed.fullmatch, signatures))), "venue")


# Answers ------------------------------------------------------------------------------------------------------------


def whole_number(value: object, scale: Scale) -> int | None:
    """The level that an answer means, whether it is on the scale or not; None where it means none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return int(value) if value == value // 1 else None
    if not isinstance(value, str):
        return None
    match = WHOLE.match(value)
    return int(match[1]) if match else scale.level_said(value)


def level(note: Note, question: Question | None) -> int | None:
    """The level of the scale that a note gives as its answer to a question; None where it gives none."""
    if question is None:
        return None
    found = whole_number(_value(_content(note), question.field), question.scale)
    return found if found in question.scale.levels or not question.scale.declared else None


def _is_option(value: object) -> bool:
    return type(value) is int or (isinstance(value, str) and OPTION.fullmatch(value) is not None)


def _unanswered(value: object) -> bool:
    return value is None or (isinstance(value, str) and value.strip().rstrip(".").casefold() in UNANSWERED)


# One forum ----------------------------------------------------------------------------------------------------------


def read_forum(notes: Iterable[Note], form: VenueYear) -> Rows:
    """The rows that the notes of one forum make: those of schema.sql by table, without `snapshot_id` and `paper`.

    Notes come scrubbed, in any order, and in several versions. Nothing is lost in silence: what cannot be read, and
    where places disagree, is a row of `problems`.
    """
    return _Forum(list(notes), form).rows


class _Forum:
    """The rows of one forum in the making."""

    def __init__(self, notes: list[Note], form: VenueYear) -> None:
        self.form = form
        self.rows: Rows = {table: [] for table in TABLES}
        self.proses: list[tuple[Row, str]] = []  # rows whose words are still to be counted
        self.forum = min((forum for note in notes if (forum := _forum_of(note))), default=None)
        kept = sorted(self._kept(notes), key=lambda note: (_moment(note, "tcdate", "cdate"), note["id"]))
        # A listing by forum is in no order (reference A.14): the submission is the note that the forum is named after.
        submission = next((note for note in kept if note["id"] == self.forum), None)
        for note in kept:
            if note is not submission:
                self._reply(note)
        if kept:
            self._submission(submission, kept)
        for (row, _), words in zip(self.proses, _words([text for _, text in self.proses]), strict=True):
            row["words"] = words

    def _kept(self, notes: list[Note]) -> Iterator[Note]:
        """The newest version of each note, where it is neither deleted nor restricted."""
        versions = defaultdict(list)
        for note in notes:
            if isinstance(note.get("id"), str):
                versions[note["id"]].append(note)
            else:
                self._problem(note, "id", note.get("id"), "not a note's id")
        for note in map(_newest, versions.values()):
            if note.get("ddate") is None:
                if is_public(note):
                    yield note
                else:
                    self._problem(note, "readers", None, "not public")

    def _problem(self, note: Note, field: str, value: object, reason: str) -> None:
        text = None if value is None else mask(_text(value))[:80]
        identity = note.get("id")
        row = {"forum": self.forum, "note_id": identity if isinstance(identity, str) else None}
        self.rows["problems"].append({**row, "field": field, "value": text, "reason": reason})

    def _reply(self, note: Note) -> None:
        form, kinds = self.form, _kinds(note)
        if form.review in kinds and (reviewer := self._reviewer(note)):
            self._review(note, reviewer)
        elif form.decision in kinds or form.meta_review in kinds:
            if form.decision in kinds:
                self._decision(note)
            if form.meta_review in kinds:
                self._meta_review(note)
        else:
            self._comment(note, kinds[0])

    def _reviewer(self, note: Note) -> str | None:
        tails = _tails(note)
        found = next((tail for tail in tails if re.fullmatch(self.form.reviewer, tail)), None)
        if found is None:
            self._problem(note, "signatures", tails, "a review that no assigned reviewer signed")
        return found

    # Rows

    def _row(self, note: Note, **columns: object) -> Row:
        return {"forum": self.forum, "note_id": note["id"], **columns, "created_at": _created(note)}

    def _review(self, note: Note, reviewer: str) -> None:
        content, form = _content(note), self.form
        row = {"forum": self.forum, "review_id": note["id"], "reviewer": reviewer}
        for name in ("rating", "confidence", "experience"):
            row[name], row[f"{name}_text"] = self._answer(note, getattr(form, name))
        answers = {name: self._answer(note, question) for name, question in self._scored(content).items()}
        row["scores"] = {name: number for name, (number, _) in answers.items() if number is not None}
        row["score_texts"] = {name: text for name, (_, text) in answers.items() if text is not None}
        self._has(row, _texts(content, form.texts))
        row |= {"created_at": _created(note), "modified_at": _time(note, "tmdate", "mdate")}
        if form.rating and row["rating_text"] is None:
            self._problem(note, form.rating.field, None, "no rating")
        self.rows["reviews"].append(row)

    def _scored(self, content: Mapping) -> Mapping[str, Question]:
        """The other scored fields; in a form that is not described also what looks like one, by its own name."""
        form = self.form
        if form.described:
            return form.scores
        asked = (form.rating, form.confidence, form.experience, *form.scores.values())
        known = {*form.texts, *(question.field for question in asked if question)}
        others = (name for name in content if name not in known and _is_option(_value(content, name)))
        return {**form.scores, **{name: Question(name, Scale((), declared=False)) for name in others}}

    def _answer(self, note: Note, question: Question | None) -> tuple[int | None, str | None]:
        """The level that answers a question, and the text it came from; one off the scale is a problem and no level."""
        if question is None:
            return None, None
        value = _value(_content(note), question.field)
        if _unanswered(value):
            return None, _text(value)
        number, scale = whole_number(value, question.scale), question.scale
        if number is None:
            self._problem(note, question.field, value, "not a score")
        elif number not in (scale.levels if scale.declared else UNDECLARED):
            self._problem(note, question.field, value, "off the scale")
            number = None
        return number, _text(value)

    def _meta_review(self, note: Note) -> None:
        content = _content(note)
        recommendation = _text(_value(content, "recommendation") or _value(content, self.form.decision_field))
        confidence, _ = self._answer(note, self.form.confidence)
        row = self._row(note, recommendation=recommendation, confidence=confidence)
        self._has(row, _prose(content))
        self.rows["meta_reviews"].append(row)

    def _comment(self, note: Note, kind: str) -> None:
        row = self._row(note, kind=kind, author_kind=_author_kind(note))
        self._has(row, _prose(_content(note)))
        self.rows["comments"].append(row)

    def _has(self, row: Row, text: str) -> None:
        """Count the words of a row's text, together with all others."""
        self.proses.append((row, text))

    # Outcome

    def _decision(self, note: Note) -> None:
        text = _text(_value(_content(note), self.form.decision_field))
        outcome = _outcome_said(text or "", self.form)
        if outcome is None:
            self._problem(note, self.form.decision_field, text, "not a decision")
        self._told(note, "decision", text, outcome, text)

    def _told(self, note: Note, place: str, text: str | None, outcome: str | None, tier_in: str | None) -> None:
        tier = _tier(tier_in or "", self.form) if outcome == "accepted" else None
        self.rows["decisions"].append(self._row(note, place=place, decision=text, outcome=outcome, tier=tier))

    def _places(self, note: Note) -> None:
        """What the submission itself tells of its outcome: a field (`venue`), its status, or the list it is in."""
        content, form = _content(note), self.form
        if form.decision in _kinds(note):  # 2013: a field of the submission
            self._decision(note)
        for place in (place for place in form.decided_by if place != "decision"):
            if place == "invitation":
                text = next((one.rpartition("/")[2] for one in invitations(note) if one in form.listings), None)
            else:
                text = _text(_value(content, place))
            if not text:
                continue
            outcome = _status_said(text, form) if place == "venueid" else _outcome_said(text, form)
            if outcome:
                self._told(note, place, text, outcome, _text(_value(content, "venue")))
            elif place == "venueid":
                self._problem(note, place, text, f"not a status of {form.group}")

    def _outcome(self) -> Row:
        """Outcome, tier and decision by the first place that tells one; another place that disagrees is a problem."""
        places, newest_first = self.form.decided_by, self.rows["decisions"][::-1]
        told = [row for place in places for row in newest_first if row["place"] == place and row["outcome"]]
        first = told[0] if told else {"outcome": "undecided"}
        agreed = [row for row in told if row["outcome"] == first["outcome"]]
        for row in told:
            if row not in agreed:
                reason = f"says {row['outcome']}, but {first['place']} says {first['outcome']}, which counts"
                self._problem({"id": row["note_id"]}, row["place"], row["decision"], reason)
        given = [row["decision"] for row in newest_first if row["place"] == "decision"]
        given += [row["decision"] for row in agreed if row["outcome"] != "undecided"]
        # A status under review outweighs other places, and is no decision.
        self.rows["decisions"] = [row for row in self.rows["decisions"] if row["outcome"] != "undecided"]
        return {
            "outcome": first["outcome"],
            "outcome_as_of": None,
            "outcome_then": first["outcome"],
            "tier": next((row["tier"] for row in agreed if row["tier"]), None),
            "decision": next(iter(given), None),
        }

    def _submission(self, note: Note | None, kept: list[Note]) -> None:
        """The paper itself; where only its replies are at hand, what they say of it."""
        if note:
            self._places(note)
        content = _content(note or {})
        self.rows["submissions"].append(
            {
                "forum": self.forum,
                "number": _number(note) if note else _number_in(kept),
                "title": _text(_value(content, "title")),
                "keywords": _keywords(_value(content, "keywords")),
                "area": _text(_value(content, self.form.area)),
                "authors": _number_of_authors(content),
                **self._outcome(),
                "submitted_at": _created(note) if note else None,
            }
        )


def _forum_of(note: Note) -> str | None:
    for name in ("forum", "id"):
        if isinstance(found := note.get(name), str):
            return found
    return None


def _newest(versions: list[Note]) -> Note:
    """The version changed last; of several changed at one moment always the same one."""
    if len(versions) == 1:
        return versions[0]
    return max(versions, key=lambda note: (_moment(note, "tmdate", "mdate"), json.dumps(note, sort_keys=True)))


def _number(note: Note) -> int | None:
    number = note.get("number")
    return number if type(number) is int and 0 <= number < 1 << 31 else None


def _number_in(notes: list[Note]) -> int | None:
    """The paper's number in the invitations of its replies."""
    found = (PAPER.search(one) for note in notes for one in invitations(note))
    return next((int(match[1]) for match in found if match), None)


def _keywords(value: object) -> list[str] | None:
    """Keywords as a list; some authors wrote all of theirs into one text."""
    words = [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]
    if len(words) == 1:
        words = re.split("[;,]", words[0])
    return [word.strip() for word in words if word.strip()] or None


# The venue's words for an outcome -----------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _plain(text: str) -> str:
    """`notable top 5%` (2023), `notable-top-5%` and `NotableTop5%` as one."""
    return re.sub(r"[^a-z0-9%]", "", text.lower())


def _tier_said(text: str, form: VenueYear) -> str | None:
    return next((tier for tier in form.tiers if _plain(tier) in _plain(text)), None)


def _tier(text: str, form: VenueYear) -> str | None:
    """The tier in a text; one that is not listed is what `Accept (Highlight)` or `ICLR 2027 Highlight` say besides."""
    known = rf"{re.escape(form.group)}|{re.escape(form.venue)} {form.year}|accept(ed)?|conditional"
    besides = re.sub(known, " ", text, flags=re.IGNORECASE).lower()
    return _tier_said(text, form) or "-".join(re.findall(r"[\w%.+-]+", besides)) or None


def _outcome_said(text: str, form: VenueYear) -> str | None:
    """The outcome in a text; a tier means accepted, whatever else is said (`Conditional Accept (Poster)`, 2026)."""
    said = text.lower()
    outcome = next((outcome for word, outcome in form.words.items() if word in said), None)
    return outcome or ("accepted" if _tier_said(text, form) else None)


def _status_said(venueid: str, form: VenueYear) -> str | None:
    """The outcome in API 2's status: the venue itself once accepted, `.../Submission` under review, else a word."""
    status = venueid.removeprefix(form.group)
    if status == venueid:
        return None
    return {"": "accepted", "/Submission": "undecided"}.get(status) or _outcome_said(status, form)
