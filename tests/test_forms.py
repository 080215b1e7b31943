"""Forms: what is a review and what is not, what its answers mean, who decided, and that nobody can be known from it."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections import Counter
from datetime import UTC, datetime

import crawler_shapes
import openreview_notes
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis import store
from analysis.forms import TABLES, _words, flatten, is_public, kind_of, mask, read_forum, scrub, whole_number
from analysis.venues import Scale, VenueYear, venue_year

NOON = int(datetime(2023, 11, 10, 12, tzinfo=UTC).timestamp() * 1000)
RATED = range(2017, 2028)


def form(year: int) -> VenueYear:
    return venue_year("ICLR", year)


# Notes made by hand -------------------------------------------------------------------------------------------------


def note(year: int, ending: str, content: dict | None = None, signature: str = "", **more) -> dict:
    """A note of a year: `ending` is what follows the group in its invitation."""
    group = form(year).group
    invitation = f"{group}/{ending}"
    shape = {"invitation": invitation} if year < 2024 else {"invitations": [invitation, f"{group}/-/Edit"]}
    content = content or {}
    if year >= 2024:
        content = {name: {"value": value} for name, value in content.items()}
    made = {"id": "reply", "forum": "paper", "readers": ["everyone"], "tcdate": NOON, "tmdate": NOON, "ddate": None}
    return made | shape | {"content": content, "signatures": [f"{group}/{signature}"]} | more


REVIEW = {
    2017: ("-/paper12/official/review", "paper12/AnonReviewer2"),
    2018: ("-/Paper12/Official_Review", "Paper12/AnonReviewer2"),
    2020: ("Paper12/-/Official_Review", "Paper12/AnonReviewer2"),
    2022: ("Paper12/-/Official_Review", "Paper12/Reviewer_aB3d"),
    2024: ("Submission12/-/Official_Review", "Submission12/Reviewer_aB3d"),
}


def review(year: int, **more) -> dict:
    """A review that answers `6`, or whatever `content` says."""
    ending, signature = REVIEW[max(known for known in REVIEW if known <= year)]
    content = more.pop("content", {form(year).rating.field: "6"})
    return note(year, ending, content, more.pop("signature", signature), **more)


def submission(year: int, listing: int = 0, **content) -> dict:
    ending = form(year).listings[listing].removeprefix(f"{form(year).group}/")
    return note(year, ending, {"title": "On notes", **content}, id="paper", number=12)


DECISION = {
    2017: ("-/paper12/acceptance", "decision"),
    2018: ("-/Acceptance_Decision", "decision"),
    2019: ("-/Paper12/Meta_Review", "recommendation"),
    2020: ("Paper12/-/Decision", "decision"),
    2024: ("Submission12/-/Decision", "decision"),
}


def decision(year: int, text: str, **more) -> dict:
    ending, field = DECISION[max(known for known in DECISION if known <= year)]
    return note(year, ending, {field: text}, "Program_Chairs", **{"id": "decision", **more})


def read(year: int, *notes: dict) -> dict[str, list[dict]]:
    return read_forum(notes, form(year))


def paper(year: int, *notes: dict) -> dict:
    (row,) = read(year, *notes)["submissions"]
    return row


def outcome(year: int, *notes: dict) -> tuple[str, str | None]:
    row = paper(year, *notes)
    assert row["outcome"] == row["outcome_then"] and row["outcome_as_of"] is None
    return row["outcome"], row["tier"]


def problems(year: int, *notes: dict) -> list[tuple]:
    return [(row["field"], row["value"], row["reason"]) for row in read(year, *notes)["problems"]]


# Identities ---------------------------------------------------------------------------------------------------------

LEAK = re.compile(r"[\w.+-]+@[\w-]+\.[A-Za-z]{2}|~[A-Z][a-z]*_?\w*[0-9]")


def test_authors_leave_their_number_behind():
    content = {"authors": ["Ada A", "Bo B"], "authorids": ["a@b.org"], "_bibtex": "@a", "conflicts": "b.org"}
    assert scrub({"content": content, "tauthor": "x"}) == {"content": {"number_of_authors": 2}}
    assert scrub(note(2024, "-/Submission", content))["content"] == {"number_of_authors": 2}


@pytest.mark.parametrize(
    ("authors", "number"),
    [
        ("Ada A, Bo B and Cy C", 3),  # some notes of 2017
        (["Anonymous"], None),
        ([], None),
        (None, None),
        ([{"fullname": "Ada A", "username": "~Ada_A1"}], 1),  # from 2027, perhaps
    ],
)
def test_number_of_authors(authors, number):
    assert scrub({"content": {"authors": authors}})["content"].get("number_of_authors") == number
    assert paper(2017, submission(2017, authors=authors))["authors"] == number
    assert paper(2026, scrub(submission(2026, authors=authors)))["authors"] == number


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("write to ada.b-c@cs.example.edu.", "write to (e-mail)."),
        ("{ada,bo}@example.org", "(e-mail)"),
        ("****@example.org", "(e-mail)"),
        ("mailto:a@b.co,c@d.co", "mailto:(e-mail),(e-mail)"),
        ("x" * 5000 + "@example.org", "(e-mail)"),
        ("openreview.net/profile?email=ada%40example.org", "openreview.net/profile?email=(e-mail)"),
        ("~Ada_B1 and ~Bo_O'C.-D12", "(profile) and (profile)"),
        ("~Ju\u0308rgen_M1", "(profile)"),
        ("profile?id=%7EAda_B1", "profile?id=(profile)"),
        ("recall@0.5 of ~10 % at k@5", "recall@0.5 of ~10 % at k@5"),
        ("ICLR.cc/2019/Conference/Paper1/AnonReviewer2", "ICLR.cc/2019/Conference/Paper1/AnonReviewer2"),
        ("(anonymous)", "(anonymous)"),
        ("half \ud83d pair", "half ? pair"),
    ],
)
def test_addresses_and_profiles_are_masked(text, masked):
    assert mask(text) == masked == mask(masked)


def test_a_field_that_not_everyone_may_read_loses_its_value():
    field = {"value": "yes", "readers": ["ICLR.cc/2024/Conference/Program_Chairs"]}
    scrubbed = scrub({"content": {"first_time_reviewer": field}, "readers": ["everyone"]})
    assert scrubbed["content"]["first_time_reviewer"] == {"readers": field["readers"]}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.emails() | st.just("~Ada_B1"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8) | st.emails(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["content", "signatures", "authors", "tauthor", "note"]), JSON))
def test_scrubbed_notes_name_nobody_and_stay_as_they_are(made):
    scrubbed = scrub(made)
    assert not LEAK.search(json.dumps(scrubbed, ensure_ascii=False))
    assert repr(scrub(scrubbed)) == repr(scrubbed)


# Notes out of answers -----------------------------------------------------------------------------------------------


def test_replies_are_found_where_the_api_puts_them_each_once():
    reply, other = {"id": "b"}, {"id": "c", "directReplies": [{"id": "d"}]}
    whole = {"id": "a", "x": 1, "details": {"replies": [reply, other], "directReplies": [reply], "replyCount": 2}}
    flat = [{"id": "a", "x": 1}, {"id": "b"}, {"id": "c"}, {"id": "d"}]
    assert list(flatten(whole)) == flat
    assert list(flatten({"id": "a", "details": None, "replies": [reply, 3]})) == [{"id": "a"}, {"id": "b"}]


def test_only_what_everyone_may_read_is_public():
    assert is_public({"readers": ["ICLR.cc/2017/pcs", "everyone"]})
    assert not any(map(is_public, [{"readers": ["~Ada_B1"]}, {"readers": None}, {}, {"readers": "everyone"}]))


def test_real_notes_with_overlapping_replies(review_data):
    with gzip.open(review_data / "other-venues" / "neurips2021_note_with_details.json.gz") as file:
        whole = json.load(file)
    flat = list(flatten(whole))
    assert len(flat) == len({one["id"] for one in flat}) == 13
    assert sum(kind_of(one["invitation"]) == "official_review" for one in flat) == 4


# Which note is what -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("invitation", "kind"),
    [
        ("ICLR.cc/2017/conference/-/paper12/official/review", "official_review"),
        ("ICLR.cc/2017/conference/-/paper12/pre-review/question", "pre_review_question"),
        ("ICLR.cc/2018/Conference/-/Acceptance_Decision", "acceptance_decision"),
        ("ICLR.cc/2019/Conference/-/Paper3/Official_Review", "official_review"),
        ("ICLR.cc/2019/Conference/-/Paper3/Official_Review/Revision", "official_review_revision"),
        ("ICLR.cc/2020/Conference/Paper3/-/Official_Review", "official_review"),
        ("ICLR.cc/2026/Conference/Submission3/-/Official_Review", "official_review"),
        ("ICLR.cc/2017/conference/-/submission", "submission"),
        ("ICLR.cc/2024/Conference/-/Edit", "edit"),
    ],
)
def test_kinds_are_how_invitations_end(invitation, kind):
    assert kind_of(invitation) == kind


@pytest.mark.parametrize("year", RATED)
def test_a_review_is_told_by_invitation_and_signature(year):
    (row,) = read(year, review(year))["reviews"]
    assert (row["review_id"], row["forum"], row["rating"]) == ("reply", "paper", 6)
    assert row["reviewer"] == REVIEW[max(known for known in REVIEW if known <= year)][1].split("/")[1]


@pytest.mark.parametrize(
    ("year", "ending", "signature", "content"),
    [
        (2017, "-/paper12/public/review", "(profile)", {"rating": "9: Top 15% of accepted papers, strong accept"}),
        (2017, "-/paper12/pre-review/question", "paper12/AnonReviewer2", {"question": "Why?"}),
        (2019, "-/Paper12/Official_Review/AnonReviewer2/Review_Rating", "Paper12/Area_Chair1", {"rating": "4: useful"}),
        (2019, "-/Paper12/Review_Rating", "Paper12/AnonReviewer2", {"rating": "4"}),
        (2021, "Paper12/-/Ethics_Review", "Paper12/Ethics_Reviewer_1", {"rating": "4", "decision": "No judgement"}),
        (2027, "Submission12/-/Automated_Feedback", "Automated_Feedback_Agent", {"rating": 4}),
    ],
)
def test_what_only_looks_like_a_review_is_a_comment(year, ending, signature, content):
    rows = read(year, note(year, ending, content, signature))
    assert not rows["reviews"] and not rows["problems"] and len(rows["comments"]) == 1


@pytest.mark.parametrize("signature", ["(anonymous)", "~Ada_B1", "Paper12/Authors", "anonymous reviewer 3c4d"])
def test_a_review_that_no_assigned_reviewer_signed_is_a_comment_and_a_problem(signature):
    rows = read(2020, review(2020, signatures=[signature]))
    assert not rows["reviews"] and rows["comments"][0]["kind"] == "official_review"
    assert [row["reason"] for row in rows["problems"]] == ["a review that no assigned reviewer signed"]
    assert "Ada" not in str(rows)


@pytest.mark.parametrize("place", range(3))
def test_any_element_of_the_invitations_may_be_the_one(place):
    others = [f"{form(2024).group}/-/Edit", f"{form(2024).group}/Submission12/-/Other"]
    others.insert(place, f"{form(2024).group}/Submission12/-/Official_Review")
    assert len(read(2024, review(2024, invitations=others))["reviews"]) == 1
    assert len(read(2024, review(2024, invitations=[others[place]]))["reviews"]) == 1


def test_two_reviews_by_one_reviewer_are_two_reviews():
    rows = read(2020, review(2020, id="a"), review(2020, id="b"))
    assert [row["review_id"] for row in rows["reviews"]] == ["a", "b"]


def test_the_newest_version_counts_and_a_deleted_one_is_gone():
    old = review(2026, content={"rating": 2}, tmdate=NOON)
    new = review(2026, content={"rating": 0}, tmdate=NOON + 1)
    for order in ([old, new], [new, old]):
        assert [row["rating"] for row in read(2026, *order)["reviews"]] == [0]
        assert not read(2026, *order, new | {"tmdate": NOON + 2, "ddate": NOON})["reviews"]


def test_a_restricted_note_is_left_out_and_recorded():
    rows = read(2020, review(2020, readers=["ICLR.cc/2020/Conference/Program_Chairs"]))
    (problem,) = rows.pop("problems")
    assert problem == {"forum": "paper", "note_id": "reply", "field": "readers", "value": None, "reason": "not public"}
    assert not any(rows.values())


def test_comments_say_what_who_when_and_how_long():
    content = {"title": "Response", "comment": "three more words"}
    signatures = {
        "Paper12/Authors": "authors",
        "Paper12/AnonReviewer1": "reviewer",
        "Paper12/Area_Chair1": "area_chair",
        "paper12/areachair1": "area_chair",
        "Program_Chairs": "program_chairs",
        "pcs": "program_chairs",
        "(profile)": "public",
        "(anonymous)": "public",
        "Ethics": "venue",
    }
    for signature, kind in signatures.items():
        (row,) = read(2020, note(2020, "Paper12/-/Official_Comment", content, signature))["comments"]
        assert (row["kind"], row["author_kind"], row["words"]) == ("official_comment", kind, 3)
        assert row["created_at"] == "2023-11-10T12:00:00"


# Answers ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("10: Top 5% of accepted papers, seminal paper", 10),
        (6, 6), (0, 0), ("0", 0), ("7.0", 7), (7.0, 7), ("3 good", 3), (" 4: ok", 4),
        (True, None), (7.5, None), ("7.5", None), (float("nan"), None), (float("inf"), None), (None, None),
        ("good: 3", None), ([6], None), ({"value": 6}, None), ("", None), ("9" * 5000, None), ("-1", None),
    ],
)  # fmt: skip
def test_whole_numbers(value, number):
    assert whole_number(value, Scale((0, 10))) == number


@pytest.mark.parametrize(
    ("year", "value", "rating"),
    [
        (2017, "10: Top 5% of accepted papers, seminal paper", 10),
        (2020, "8: Accept", 8),
        (2020, "Weak Accept", 6),
        (2022, "3: reject, not good enough", 3),
        (2024, "6: marginally above the acceptance threshold", 6),
        (2025, 8, 8),
        (2026, 0, 0),
        (2026, "0: strong reject", 0),
    ],
)
def test_ratings_of_the_years(year, value, rating):
    (row,) = read(year, review(year, content={form(year).rating.field: value}))["reviews"]
    assert (row["rating"], row["rating_text"]) == (rating, str(value))


@pytest.mark.parametrize(
    ("year", "value", "reason"),
    [
        (2020, "7: Good", "off the scale"), (2026, 1, "off the scale"), (2019, 11, "off the scale"),
        (2026, True, "not a score"), (2024, "excellent", "not a score"), (2023, ["6"], "not a score"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_missing_and_a_problem(year, value, reason):
    field = form(year).rating.field
    rows = read(year, review(year, content={field: value}))
    assert rows["reviews"][0]["rating"] is None
    told = value if isinstance(value, str) else json.dumps(value)
    assert problems(year, review(year, content={field: value})) == [(field, told, reason)]


def test_a_problem_tells_little_and_names_nobody():
    ((_, value, _),) = problems(2020, review(2020, content={"rating": "ask ada@example.org " + "x" * 99}))
    assert value.startswith("ask (e-mail) xxx") and len(value) == 80


def test_a_review_without_a_rating_is_a_problem_and_without_another_answer_is_not():
    assert problems(2019, review(2019, content={"review": "Fine."})) == [("rating", None, "no rating")]
    assert problems(2024, review(2024, content={"rating": "6", "confidence": None})) == []


@pytest.mark.parametrize("value", ["Not applicable", "N/A", "not applicable.", ""])
def test_no_answer_is_missing_and_no_problem(value):
    content = {"recommendation": "6", "empirical_novelty_and_significance": value}
    rows = read(2023, review(2023, content=content))
    assert not rows["problems"] and rows["reviews"][0]["scores"] == {}
    assert rows["reviews"][0]["score_texts"] == {"empirical_novelty": value}


def test_sentences_are_levels():
    content = {
        "rating": "8: Accept",
        "experience_assessment": "I have published in this field for several years.",
        "review_assessment:_thoroughness_in_paper_reading": "I made a quick assessment of this paper",
        "review_assessment:_checking_correctness_of_experiments": "N/A",
    }
    (row,) = read(2020, review(2020, content=content))["reviews"]
    assert (row["experience"], row["experience_text"]) == (4, content["experience_assessment"])
    assert row["scores"] == {"thoroughness": 1}
    assert row["score_texts"] == {"thoroughness": "I made a quick assessment of this paper", "experiments": "N/A"}
    assert row["confidence"] is None and row["confidence_text"] is None


def test_scores_of_2024_have_no_colon():
    content = {"rating": "6", "soundness": "3 good", "presentation": "4 excellent", "contribution": "1 poor"}
    (row,) = read(2024, review(2024, content=content))["reviews"]
    assert row["scores"] == {"soundness": 3, "presentation": 4, "contribution": 1}
    assert row["score_texts"]["soundness"] == "3 good"


def test_fields_of_api_2_without_a_value_are_missing():
    made = review(2024)
    made["content"] |= {"confidence": {"readers": ["x"]}, "soundness": {}}
    rows = read(2024, made)
    assert (rows["reviews"][0]["confidence"], rows["reviews"][0]["scores"], rows["problems"]) == (None, {}, [])


def test_an_undescribed_form_keeps_every_level():
    for value, rating in ((7, 7), (127, 127), ("9: new", 9)):
        assert read(2027, review(2027, content={"rating": value}))["reviews"][0]["rating"] == rating
    assert problems(2027, review(2027, content={"rating": 128})) == [("rating", "128", "off the scale")]


def test_an_undescribed_form_keeps_scored_fields_that_no_table_knows():
    content = {"rating": 6, "soundness": 3, "originality": 5, "excitement": "2: some", "flag": True}
    content |= {"summary": "3: no score", "remarks": "4 figures lack units", "code_of_conduct": "Yes"}
    (row,) = read(2027, review(2027, content=content))["reviews"]
    assert row["scores"] == {"soundness": 3, "originality": 5, "excitement": 2}
    assert row["score_texts"] == {"soundness": "3", "originality": "5", "excitement": "2: some"}
    (row,) = read(2026, review(2026, content=content))["reviews"]
    assert row["scores"] == {"soundness": 3}


@pytest.mark.parametrize(
    ("year", "venue", "tier"),
    [
        (2027, "ICLR 2027 Highlight", "highlight"),
        (2027, "ICLR 2027 notable top 5%", "notable-top-5%"),
        (2027, "ICLR 2027 ConditionalPoster", "poster"),
        (2026, "ICLR 2026 Highlight", "highlight"),
        (2026, "ICLR 2026", None),
    ],
)
def test_a_tier_that_is_not_listed_is_kept_in_the_venues_own_word(year, venue, tier):
    assert outcome(year, submission(year, venue=venue, venueid=form(year).group)) == ("accepted", tier)


def test_words_are_those_of_the_texts_of_the_form():
    texts = {"summary_of_the_paper": "one two", "clarity,_quality,_novelty_and_reproducibility": "three"}
    content = {"recommendation": "6", "correctness": "3: ok ok", **texts}
    assert read(2023, review(2023, content=content))["reviews"][0]["words"] == 3


def test_times_are_utc():
    (row,) = read(2024, review(2024, tmdate=NOON + 61_000))["reviews"]
    assert (row["created_at"], row["modified_at"]) == ("2023-11-10T12:00:00", "2023-11-10T12:01:01")
    assert paper(2024, submission(2024))["submitted_at"] == "2023-11-10T12:00:00"
    assert read(2024, review(2024, tcdate=None, cdate=NOON + 1000))["reviews"][0]["created_at"] == "2023-11-10T12:00:01"
    assert read(2024, review(2024, tcdate=10**18, tmdate=True))["reviews"][0]["created_at"] is None


# Submissions --------------------------------------------------------------------------------------------------------


@given(st.lists(st.text(st.one_of(st.characters(), st.sampled_from(" \n\t\x1c\x85\xa0\u2003\u3000\ud800😀a")))))
def test_words_are_counted_as_split_has_them(texts):
    assert _words(texts) == [len(text.split()) for text in texts]


def test_a_submission_has_title_keywords_area_and_number():
    row = paper(2024, submission(2024, keywords=["a; b", "c"], primary_area="optimization"))
    assert (row["forum"], row["number"], row["title"], row["area"]) == ("paper", 12, "On notes", "optimization")
    assert row["keywords"] == ["a; b", "c"]
    assert paper(2023, submission(2023, **{form(2023).area: "Theory"}))["area"] == "Theory"


@pytest.mark.parametrize(
    ("keywords", "words"),
    [("a, b;c", ["a", "b", "c"]), (["a; b"], ["a", "b"]), ([" a "], ["a"]), ([], None), (None, None), (3, None)],
)
def test_keywords(keywords, words):
    assert paper(2020, submission(2020, keywords=keywords))["keywords"] == words


def test_the_submission_is_the_note_with_the_forums_id_wherever_it_stands():
    notes = [review(2020), submission(2020), decision(2020, "Reject")]
    rows = [read(2020, *random.Random(seed).sample(notes, 3)) for seed in range(6)]
    assert all(one == rows[0] for one in rows)


def test_reviews_without_their_submission_make_a_paper():
    row = paper(2024, review(2024))
    assert (row["forum"], row["number"], row["outcome"], row["title"]) == ("paper", 12, "undecided", None)
    assert outcome(2020, review(2020), decision(2020, "Accept (Talk)")) == ("accepted", "talk")


def test_no_notes_make_no_paper():
    assert read(2024) == {table: [] for table in TABLES}


# Outcomes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("year", "text", "told"),
    [
        (2017, "Accept (Oral)", ("accepted", "oral")),
        (2017, "Invite to Workshop Track", ("workshop", None)),
        (2018, "Accept (Poster)", ("accepted", "poster")),
        (2018, "Invite to Workshop Track", ("workshop", None)),
        (2019, "Reject", ("rejected", None)),
        (2019, "Accept (Oral)", ("accepted", "oral")),
        (2020, "Accept (Talk)", ("accepted", "talk")),
        (2021, "Accept (Spotlight)", ("accepted", "spotlight")),
        (2022, "Accept (Poster)", ("accepted", "poster")),
        (2023, "Accept: notable-top-5%", ("accepted", "notable-top-5%")),
        (2023, "Accept: notable-top-25%", ("accepted", "notable-top-25%")),
        (2023, "Accept: poster", ("accepted", "poster")),
        (2024, "Accept (oral)", ("accepted", "oral")),
        (2025, "Accept (conditional spotlight)", ("accepted", "spotlight")),
        (2026, "Conditional Accept (Poster)", ("accepted", "poster")),
    ],
)
def test_decision_notes(year, text, told):
    assert outcome(year, submission(year), decision(year, text)) == told
    assert paper(year, submission(year), decision(year, text))["decision"] == text
    (row,) = read(year, submission(year), decision(year, text))["decisions"]
    assert (row["note_id"], row["place"], row["decision"], row["outcome"], row["tier"]) == (
        "decision", "decision", text, *told,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("year", "content", "told"),
    [
        (2017, {"venue": "ICLR 2017 Invite to Workshop", "venueid": "ICLR.cc/2017/conference"}, ("workshop", None)),
        (2017, {"venue": "Submitted to ICLR 2017", "venueid": "ICLR.cc/2017/conference"}, ("undecided", None)),
        (2017, {"withdrawal": "Confirmed"}, ("withdrawn", None)),
        (2021, {"venue": "ICLR 2021 Spotlight"}, ("accepted", "spotlight")),
        (2022, {"venue": "ICLR 2022 Submitted", "venueid": "ICLR.cc/2022/Conference"}, ("undecided", None)),
        (2023, {"venue": "ICLR 2023 notable top 25%"}, ("accepted", "notable-top-25%")),
        (2023, {"venue": "Submitted to ICLR 2023", "venueid": "ICLR.cc/2023/Conference"}, ("undecided", None)),
        (2024, {"venue": "ICLR 2024 oral", "venueid": "ICLR.cc/2024/Conference"}, ("accepted", "oral")),
        (2024, {"venueid": "ICLR.cc/2024/Conference"}, ("accepted", None)),
        (2025, {"venueid": "ICLR.cc/2025/Conference/Rejected_Submission"}, ("rejected", None)),
        (2025, {"venueid": "ICLR.cc/2025/Conference/Withdrawn_Submission"}, ("withdrawn", None)),
        (2026, {"venueid": "ICLR.cc/2026/Conference/Desk_Rejected_Submission"}, ("desk_rejected", None)),
        (2026, {"venue": "ICLR 2026 ConditionalPoster", "venueid": "ICLR.cc/2026/Conference"}, ("accepted", "poster")),
        (2027, {"venueid": "ICLR.cc/2027/Conference/Submission"}, ("undecided", None)),
    ],
)
def test_fields_of_the_submission(year, content, told):
    rows = read(year, submission(year, **content))
    assert (rows["submissions"][0]["outcome"], rows["submissions"][0]["tier"]) == told
    assert not rows["problems"] and len(rows["decisions"]) == (told[0] != "undecided")


@pytest.mark.parametrize("year", range(2018, 2024))
def test_lists_of_withdrawn_and_desk_rejected(year):
    assert outcome(year, submission(year, listing=0)) == ("undecided", None)
    assert outcome(year, submission(year, listing=1)) == ("withdrawn", None)
    if year >= 2020:
        assert outcome(year, submission(year, listing=2)) == ("desk_rejected", None)


def test_the_status_of_api_2_is_never_an_invitation():
    made = submission(2025, venue="Submitted to ICLR 2025", venueid="ICLR.cc/2025/Conference/Rejected_Submission")
    made["invitations"].append("ICLR.cc/2025/Conference/-/Withdrawn_Submission")  # a withdrawal taken back
    assert outcome(2025, made) == ("rejected", None)


def test_a_status_that_is_unknown_is_a_problem():
    made = submission(2025, venueid="ICLR.cc/2025/Workshop")
    assert problems(2025, made) == [("venueid", "ICLR.cc/2025/Workshop", "not a status of ICLR.cc/2025/Conference")]


def test_without_a_status_the_decision_note_counts():
    assert outcome(2024, submission(2024), decision(2024, "Accept (spotlight)")) == ("accepted", "spotlight")
    assert outcome(2024, submission(2024), decision(2024, "Reject")) == ("rejected", None)


def test_a_withdrawal_after_the_decision_counts_by_the_status_and_is_recorded():
    gone = submission(2026, venueid="ICLR.cc/2026/Conference/Withdrawn_Submission")
    notes = gone, decision(2026, "Reject")
    assert outcome(2026, *notes) == ("withdrawn", None)
    reason = "says rejected, but venueid says withdrawn, which counts"
    assert problems(2026, *notes) == [("decision", "Reject", reason)]


def test_a_poster_of_2021_that_is_listed_as_withdrawn_is_a_poster():
    made = submission(2021, listing=1, venue="ICLR 2021 Poster", venueid="ICLR.cc/2021/Conference")  # xGZG2kS5bFk
    assert outcome(2021, made) == ("accepted", "poster")
    reason = "says withdrawn, but venue says accepted, which counts"
    assert problems(2021, made) == [("invitation", "Withdrawn_Submission", reason)]


def test_both_forums_of_the_twin_of_2018_say_their_own():
    """S1p31z-Ab was accepted, and withdrawn as SJTCsqMUf, to which its reviews moved: see the loads in test_notes."""
    assert outcome(2018, submission(2018), decision(2018, "Accept (Poster)")) == ("accepted", "poster")
    assert outcome(2018, submission(2018, listing=1), review(2018)) == ("withdrawn", None)


def test_notes_with_a_decision_that_is_none():
    content = {"decision": "Significant concerns (Do not publish)"}
    for ending in ("Paper12/-/Ethics_Meta_Review", "Paper12/-/Ethics_Decision", "Paper12/-/Decision_Appeal"):
        rows = read(2022, submission(2022), note(2022, ending, content, "Paper12/Ethics1"))
        assert not rows["decisions"] and rows["submissions"][0]["outcome"] == "undecided"
    assert problems(2022, submission(2022), decision(2022, "Ask the chairs")) == [
        ("decision", "Ask the chairs", "not a decision")
    ]


def test_the_newest_of_several_decisions_counts():
    first, second = decision(2020, "Reject", id="a"), decision(2020, "Accept (Poster)", id="b", tcdate=NOON + 1)
    for order in ((first, second), (second, first)):
        assert outcome(2020, submission(2020), *order) == ("accepted", "poster")
        assert len(problems(2020, submission(2020), *order)) == 1


def test_meta_reviews_of_the_years():
    """In 2019 the meta-review is the decision; from 2020 to 2023 the decision holds the area chair's words."""
    content = {"recommendation": "Accept (Oral)", "metareview": "two words", "confidence": "5: The area chair is sure"}
    (row,) = read(2019, note(2019, "-/Paper12/Meta_Review", content, "Paper12/Area_Chair1"))["meta_reviews"]
    assert (row["recommendation"], row["confidence"], row["words"]) == ("Accept (Oral)", 5, 2)
    assert [row["recommendation"] for row in read(2021, decision(2021, "Reject"))["meta_reviews"]] == ["Reject"]
    content = {"summary": "s", "reviewer_scores": "r r"}
    meta = note(2026, "Submission12/-/Meta_Review", content, "Submission12/Area_Chair_x")
    rows = read(2026, meta, decision(2026, "Reject"))
    assert [row["words"] for row in rows["meta_reviews"]] == [3] and len(rows["decisions"]) == 1


# A year and trap at a time, on notes that are made up ---------------------------------------------------------------


@pytest.mark.parametrize("year", RATED)
def test_made_up_years(year):
    """Outcomes are those that were decided before the notes were made; each public reply is one thing and no other."""
    outcomes, found, made = Counter(), Counter(), openreview_notes.VenueYear(year, 120)
    for index in range(len(made)):
        raw = list(flatten(made.document(index)))
        rows = read_forum([scrub(one) for one in raw], form(year))
        outcomes[made.paper(index).outcome] += 1
        found[rows["submissions"][0]["outcome"]] += 1
        assert {row["reason"] for row in rows["problems"]} <= {"not public"}
        assert {row["rating"] for row in rows["reviews"]} <= set(form(year).rating_scale.levels)
        reviews = {one["id"] for one in raw if re.search("[Oo]fficial[_/][Rr]eview", str(one))}
        assert {row["review_id"] for row in rows["reviews"]} == reviews
        told = {row["note_id"] for table in ("decisions", "meta_reviews", "comments") for row in rows[table]}
        assert told | reviews | {raw[0]["id"]} == {one["id"] for one in raw if is_public(one)}
        assert not LEAK.search(json.dumps([scrub(one) for one in raw], ensure_ascii=False))
    assert found == outcomes


# Anything at all ----------------------------------------------------------------------------------------------------

FIELDS = ["id", "forum", "number", "invitation", "signatures", "readers", "content", "tcdate", "tmdate", "ddate"]


@given(data=st.data(), year=st.sampled_from(RATED))
@settings(max_examples=100)
def test_any_value_in_any_field_is_read_without_a_number_off_the_scale(data, year):
    said = form(year)
    questions = {"rating": said.rating, "confidence": said.confidence, "experience": said.experience, **said.scores}
    fields = [question.field for question in questions.values() if question]
    fields += ["title", "keywords", "decision", "venue", "venueid"]
    made = [submission(year), review(year, id="r"), decision(year, "Reject")]
    for one in made:
        names = data.draw(st.lists(st.sampled_from(fields), max_size=4))
        one["content"] |= {name: data.draw(JSON | st.integers(-2, 12)) for name in names}
        one |= {name: data.draw(JSON) for name in data.draw(st.lists(st.sampled_from(FIELDS), max_size=2))}
    rows = read_forum([scrub(one) for one in made], said)
    for row in rows["reviews"]:
        for name, question in questions.items():
            number = row["scores"].get(name) if name in said.scores else row[name]
            levels = question.scale.levels if question and question.scale.declared else range(128)
            assert number is None or (type(number) is int and number in levels)
    assert not LEAK.search(json.dumps(rows, ensure_ascii=False))


def test_columns_are_those_of_the_schema(tmp_path):
    with store.loading(tmp_path / "a.duckdb"), store.rebuilding(tmp_path / "a.duckdb") as con:
        described = {
            table: [row[0] for row in con.execute(f"select column_name from (describe {table})").fetchall()]
            for table in TABLES
        }
    made = openreview_notes.VenueYear(2026, 60)
    for index in range(60):
        rows = read_forum([scrub(one) for one in flatten(made.document(index))], form(2026))
        for table, found in rows.items():
            columns = {name for name in described[table] if name not in ("snapshot_id", "paper")}
            assert all(set(row) == columns for row in found), table


# Real notes ---------------------------------------------------------------------------------------------------------


def counted(path, year: int, shape=crawler_shapes.answer) -> tuple[Counter, dict[int, int], Counter, Counter]:
    """Rows by table, reviews by rating, papers by tier or outcome, problems by reason."""
    rows, ratings, outcomes, reasons = Counter(), Counter(), Counter(), Counter()
    for line in crawler_shapes.lines(path):
        forum = read_forum([scrub(one) for whole in shape(line) for one in flatten(whole)], form(year))
        rows.update({table: len(found) for table, found in forum.items()})
        ratings.update(row["rating"] for row in forum["reviews"])
        outcomes.update(row["tier"] or row["outcome"] for row in forum["submissions"])
        reasons.update(row["reason"] for row in forum["problems"])
    return rows, dict(ratings), outcomes, reasons


def test_real_2017(review_data):
    rows, ratings, outcomes, reasons = counted(review_data / "iclr-api1" / "iclr2017_forums.jsonl.gz", 2017)
    assert (rows["submissions"], rows["reviews"], sum(rows.values())) == (490, 1489, 490 + 1489 + 490 * 2 + 5006)
    assert ratings == {1: 1, 2: 14, 3: 125, 4: 252, 5: 255, 6: 338, 7: 330, 8: 137, 9: 33, 10: 4}
    assert outcomes == {"oral": 15, "poster": 183, "workshop": 47, "rejected": 245} and not reasons


def test_real_2019(review_data):
    rows, ratings, outcomes, reasons = counted(review_data / "iclr-api1" / "iclr2019_forums.jsonl.gz", 2019)
    assert (rows["submissions"], rows["reviews"]) == (1419, 4332)
    assert ratings == {1: 10, 2: 74, 3: 323, 4: 825, 5: 950, 6: 1035, 7: 823, 8: 220, 9: 66, 10: 6}
    assert outcomes == {"oral": 24, "poster": 478, "rejected": 917} and not reasons


def test_real_2020(review_data):
    rows, ratings, outcomes, reasons = counted(review_data / "iclr-api1" / "iclr2020_forums.jsonl.gz", 2020)
    assert (rows["submissions"], rows["reviews"]) == (2213, 6721)
    assert ratings == {1: 924, 3: 2562, 6: 2393, 8: 842}
    assert outcomes == {"talk": 48, "spotlight": 108, "poster": 531, "rejected": 1526} and not reasons


def test_real_2023(review_data):
    rows, ratings, outcomes, reasons = counted(review_data / "iclr-api1" / "iclr2023_reviews.jsonl.gz", 2023)
    assert (rows["submissions"], rows["reviews"]) == (3804, 14380)
    assert ratings == {1: 268, 3: 2818, 5: 3646, 6: 4804, 8: 2745, 10: 99}
    assert outcomes == {"undecided": 3804} and not reasons


def test_real_2024(review_data):
    rows, ratings, outcomes, reasons = counted(review_data / "iclr-api2" / "iclr2024_reviews.jsonl.gz", 2024)
    assert (rows["submissions"], rows["reviews"]) == (7262, 27993)
    assert ratings == {1: 627, 3: 7171, 5: 8264, 6: 8036, 8: 3790, 10: 105}
    assert outcomes == {"undecided": 7262} and not reasons


def test_real_2026_in_all_its_versions(review_data):
    files = [review_data / "iclr-api2" / f"iclr2026_reviews_{part}.jsonl.gz" for part in "ab"]
    found = [counted(file, 2026, crawler_shapes.tracker_2026) for file in files]
    rows, outcomes, reasons = (found[0][place] + found[1][place] for place in (0, 2, 3))
    assert (rows["submissions"], rows["reviews"]) == (19_630, 75_848)
    ratings = Counter(found[0][1]) + Counter(found[1][1])
    assert ratings == {0: 1319, 2: 19_760, 4: 29_598, 6: 19_792, 8: 5178, 10: 201}
    assert outcomes == {"withdrawn": 2351, "undecided": 17_279} and not reasons


def test_real_2026_after_its_decisions(review_data):
    path = review_data / "iclr-api2" / "iclr2026_submission_notes_1000.jsonl.gz"
    _, _, outcomes, reasons = counted(path, 2026, lambda line: [line])
    assert outcomes == {"rejected": 460, "withdrawn": 287, "desk_rejected": 67, "poster": 178, "oral": 8}
    assert not reasons
    path = review_data / "iclr-api2" / "iclr2026_100_final_papers.jsonl.gz"
    rows, _, outcomes, reasons = counted(path, 2026, crawler_shapes.final_2026)
    assert (rows["submissions"], rows["reviews"], outcomes["poster"]) == (100, 375, 13)
    assert outcomes["rejected"] + sum(reasons.values()) == 57  # two were withdrawn after their rejection


def test_real_experience_of_2020(review_data):
    levels = Counter()
    for line in crawler_shapes.lines(review_data / "iclr2020" / "content_20191201.jsonl.gz"):
        (row,) = read_forum(crawler_shapes.content_2020(line), form(2020))["reviews"]
        levels[row["experience"]] += 1
    assert levels == {1: 1108, 2: 2553, 3: 2660, 4: 1449}


def test_real_threads_of_2024(review_data):
    path = review_data / "iclr-api2" / "iclr2024_threads_fulltext_sample.jsonl.gz"
    rows, *_ = counted(path, 2024, crawler_shapes.threads_2024)
    assert (rows["reviews"], rows["comments"]) == (39, 75)


@pytest.mark.parametrize("year", [2017, 2019, 2020])
def test_real_notes_name_nobody(review_data, year):
    for line in crawler_shapes.lines(review_data / "iclr-api1" / f"iclr{year}_forums_fulltext_sample.jsonl.gz"):
        notes = [scrub(one) for whole in line["notes"] for one in flatten(whole)]
        assert not LEAK.search(json.dumps(notes, ensure_ascii=False))


@given(
    deep=st.recursive(
        st.one_of(st.none(), st.integers(), st.sampled_from(["", "a@b.org", "~Ada_B1", "5 % of x", "a%40b.org", "%7EAda_B1"])),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(st.sampled_from(["value", "readers", "authors", "x", "number_of_authors"]), inner, max_size=3),
        ),
    ),
    place=st.sampled_from(["content", "field", "beside"]),
)  # fmt: skip
def test_what_is_let_through_quickly_has_nothing_to_hide(deep, place):
    """The quick way and the thorough one give the same note."""
    from analysis import forms

    note = {"id": "a", "readers": ["everyone"], "content": {"title": {"value": "A title"}}}
    if place == "content":
        note["content"] = deep
    elif place == "field":
        note["content"]["field"] = deep
    else:
        note["beside"] = deep
    text = forms._json(note)
    if text is not None and forms._has_nothing_to_hide(note, text):
        quick, forms._has_nothing_to_hide = forms._has_nothing_to_hide, lambda note, text: False
        try:
            assert scrub(note) == note
        finally:
            forms._has_nothing_to_hide = quick
