"""Notes in the shapes of OpenReview's two APIs: made up for any ICLR from 2017 to 2027, or read from files.

    for submission in generate(2026, 100):           # replies are in submission["details"]["replies"]
        reviews = submission["details"]["replies"]
    notes1, notes2 = read_notes("notes.jsonl.gz")    # flat lists, one for each API version

What is made up depends only on its arguments. Stages share papers, ids and reviews, so that generate(...,
stage="release") and generate(..., stage="final") are two snapshots of one conference: in between some ratings move, a
few reviews come late or go, papers are withdrawn and the rest is decided. The forms follow the year: where the score is
and its type, invitations, signatures, decisions, statuses. Some notes are there to be left out: restricted ones, public
reviews with a rating, ethics notes with a decision, ratings of reviews.
"""

from __future__ import annotations

import gzip
import zlib
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache, lru_cache
from itertools import accumulate
from pathlib import Path
from random import Random
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

import orjson

Note = dict[str, Any]
Options = dict[Any, int]  # answer -> its weight when one is drawn, worst answer first
Stage = Literal["release", "discussed", "final"]

# ---------------------------------------------------------------- forms

# Weights of ratings are real counts: 2019, 2020 (1 December 2019), 2023, 2025 and 2026.
TEN_POINTS: Options = {
    "1: Trivial or wrong": 10,
    "2: Strong rejection": 74,
    "3: Clear rejection": 323,
    "4: Ok but not good enough - rejection": 825,
    "5: Marginally below acceptance threshold": 950,
    "6: Marginally above acceptance threshold": 1035,
    "7: Good paper, accept": 823,
    "8: Top 50% of accepted papers, clear accept": 220,
    "9: Top 15% of accepted papers, strong accept": 66,
    "10: Top 5% of accepted papers, seminal paper": 6,
}
FOUR_POINTS: Options = {"1: Reject": 1260, "3: Weak Reject": 3177, "6: Weak Accept": 2484, "8: Accept": 849}
SIX_POINTS: Options = {
    "1: strong reject": 268,
    "3: reject, not good enough": 2818,
    "5: marginally below the acceptance threshold": 3646,
    "6: marginally above the acceptance threshold": 4804,
    "8: accept, good paper": 2745,
    "10: strong accept, should be highlighted at the conference": 99,
}
RATINGS_2025: Options = {1: 1029, 3: 11539, 5: 13102, 6: 14695, 8: 6214, 10: 172}
RATINGS_2026: Options = {0: 1319, 2: 19865, 4: 29765, 6: 19712, 8: 5010, 10: 188}

OLD_CONFIDENCE: Options = {
    "1: The reviewer's evaluation is an educated guess": 2,
    "2: The reviewer is willing to defend the evaluation, but it is quite likely that the reviewer did not understand"
    " central parts of the paper": 11,
    "3: The reviewer is fairly confident that the evaluation is correct": 34,
    "4: The reviewer is confident but not absolutely certain that the evaluation is correct": 40,
    "5: The reviewer is absolutely certain that the evaluation is correct and very familiar with the relevant"
    " literature": 13,
}
UNFAMILIAR = "or that you are unfamiliar with some pieces of related work."
NEW_CONFIDENCE: Options = {
    "1: You are unable to assess this paper and have alerted the ACs to seek an opinion from different reviewers.": 2,
    "2: You are willing to defend your assessment, but it is quite likely that you did not understand the central parts"
    f" of the submission {UNFAMILIAR} Math/other details were not carefully checked.": 11,
    "3: You are fairly confident in your assessment. It is possible that you did not understand some parts of the"
    f" submission {UNFAMILIAR} Math/other details were not carefully checked.": 34,
    "4: You are confident in your assessment, but not absolutely certain. It is unlikely, but not impossible, that you"
    f" did not understand some parts of the submission {UNFAMILIAR}": 40,
    "5: You are absolutely certain about your assessment. You are very familiar with the related work and checked the"
    " math/other details carefully.": 13,
}
EXPERIENCE: Options = {
    "I do not know much about this area.": 1108,
    "I have read many papers in this area.": 2553,
    "I have published one or two papers in this area.": 2660,
    "I have published in this field for several years.": 1449,
}
THOROUGHNESS: Options = {
    "N/A": 2,
    "I made a quick assessment of this paper.": 8,
    "I read the paper at least twice and used my best judgement in assessing the paper.": 54,
    "I read the paper thoroughly.": 36,
}
DERIVATIONS: Options = {
    "N/A": 10,
    "I did not assess the derivations or theory.": 15,
    "I assessed the sensibility of the derivations and theory.": 50,
    "I carefully checked the derivations and theory.": 25,
}
EXPERIMENTS: Options = {
    "N/A": 5,
    "I did not assess the experiments.": 5,
    "I assessed the sensibility of the experiments.": 50,
    "I carefully checked the experiments.": 40,
}
CORRECTNESS: Options = {
    "1: The main claims of the paper are incorrect or not at all supported by theory or empirical results.": 3,
    "2: Several of the paper\N{RIGHT SINGLE QUOTATION MARK}s claims are incorrect or not well-supported.": 20,
    "3: Some of the paper\N{RIGHT SINGLE QUOTATION MARK}s claims have minor issues. A few statements are not"
    " well-supported, or require small changes to be made correct.": 50,
    "4: All of the claims and statements are well-supported and correct.": 27,
}
NOVELTY: Options = {
    "1: The contributions are neither significant nor novel.": 5,
    "2: The contributions are only marginally significant or novel.": 40,
    "3: The contributions are significant and somewhat new. Aspects of the contributions exist in prior work.": 45,
    "4: The contributions are significant, and do not exist in prior works.": 10,
}
QUALITY_2024: Options = {"1 poor": 6, "2 fair": 35, "3 good": 47, "4 excellent": 12}
FIXED_2024 = {"flag_for_ethics_review": ["No ethics review needed."], "code_of_conduct": "Yes"}


def _numbers(options: Options) -> Options:
    """The same options as the integers that replaced their strings in 2025."""
    return {int(answer[0]): weight for answer, weight in options.items()}


def _qualities(options: Options) -> dict[str, Options]:
    return dict.fromkeys(("soundness", "presentation", "contribution"), options)


@dataclass(frozen=True)
class Layout:
    """Where one year of ICLR keeps its notes, and what its forms ask."""

    year: int
    reply: str  # invitation of a reply
    decisions: dict[str, tuple[int, str]]  # worst first: text -> how many papers had it, and their content.venue
    withdrawn: int
    ratings: Options
    scores: dict[str, Options]  # the other answers chosen from a list
    texts: tuple[str, ...]  # the answers in free text
    fixed: dict[str, Any] = field(default_factory=dict)  # the answers that all reviews share here
    desk_rejected: int = 0
    rating: str = "rating"
    names: dict[str, str] = field(default_factory=dict)  # of invitations, where not the usual ones
    decision: str = ""  # invitation of the decision, where it is not a reply like the others
    decision_title: str = "Paper Decision"
    decision_texts: tuple[str, ...] = ("comment",)
    meta_review: tuple[str, ...] = ()  # its fields, where it is another note than the decision

    @property
    def api(self) -> Literal[1, 2]:
        return 1 if self.year <= 2023 else 2

    @property
    def venue(self) -> str:
        return f"ICLR.cc/{self.year}/{'conference' if self.year == 2017 else 'Conference'}"

    def group(self, number: int) -> str:
        """The group of one paper, under which its people sign."""
        word = "paper" if self.year == 2017 else "Paper" if self.api == 1 else "Submission"
        return f"{self.venue}/{word}{number}"

    def reviewer(self, number: int, place: int, code: str) -> str:
        return f"{self.group(number)}/" + (f"Reviewer_{code}" if self.year >= 2022 else f"AnonReviewer{place}")

    def invitation(self, name: str, number: int) -> str:
        """The invitation of a reply to one paper, by the name that most years have for it."""
        form = self.decision if name == "Decision" and self.decision else self.reply
        return form.format(venue=self.venue, n=number, name=self.names.get(name, name))

    def listing(self, outcome: str) -> str:
        """The invitation under which submissions of this outcome are listed."""
        if self.year == 2017 or self.api == 2:
            return f"{self.venue}/-/{'submission' if self.year == 2017 else 'Submission'}"
        names = {"withdrawn": "Withdrawn_Submission", "desk_rejected": "Desk_Rejected_Submission"}
        return f"{self.venue}/-/{names.get(outcome, 'Blind_Submission')}"


Y2018 = Layout(
    2018,
    "{venue}/-/Paper{n}/{name}",
    decision="{venue}/-/Acceptance_Decision",
    decisions={
        "Reject": (508, ""),
        "Invite to Workshop Track": (90, ""),
        "Accept (Poster)": (314, ""),
        "Accept (Oral)": (23, ""),
    },
    withdrawn=83,
    ratings=TEN_POINTS,
    scores={"confidence": OLD_CONFIDENCE},
    texts=("review",),
    fixed={"title": "Review"},
    decision_title="ICLR 2018 Conference Acceptance Decision",
)
Y2017 = replace(
    Y2018,
    year=2017,
    reply="{venue}/-/paper{n}/{name}",
    decision="{venue}/-/paper{n}/acceptance",
    decisions={
        "Reject": (245, "Submitted to ICLR 2017"),
        "Invite to Workshop Track": (47, "ICLR 2017 Invite to Workshop"),
        "Accept (Poster)": (183, "ICLR 2017 Poster"),
        "Accept (Oral)": (15, "ICLR 2017 Oral"),
    },
    names={
        "Official_Review": "official/review",
        "Official_Comment": "official/comment",
        "Public_Comment": "public/comment",
    },
    withdrawn=10,
    decision_title="ICLR committee final decision",
)
Y2019 = replace(
    Y2018,
    year=2019,
    decision="{venue}/-/Paper{n}/Meta_Review",
    decision_texts=("metareview",),
    withdrawn=160,
    decisions={"Reject": (917, ""), "Accept (Poster)": (478, ""), "Accept (Oral)": (24, "")},
)
Y2020 = Layout(
    2020,
    "{venue}/Paper{n}/-/{name}",
    decisions={
        "Reject": (1526, ""),
        "Accept (Poster)": (531, ""),
        "Accept (Spotlight)": (108, ""),
        "Accept (Talk)": (48, ""),
    },
    withdrawn=369,
    desk_rejected=12,
    ratings=FOUR_POINTS,
    scores={
        "experience_assessment": EXPERIENCE,
        "review_assessment:_thoroughness_in_paper_reading": THOROUGHNESS,
        "review_assessment:_checking_correctness_of_derivations_and_theory": DERIVATIONS,
        "review_assessment:_checking_correctness_of_experiments": EXPERIMENTS,
    },
    texts=("review",),
    fixed={"title": "Official Blind Review"},
)
Y2021 = replace(
    Y2020,
    year=2021,
    ratings=TEN_POINTS,
    scores={"confidence": OLD_CONFIDENCE},
    withdrawn=403,
    desk_rejected=17,
    decisions={
        "Reject": (1735, ""),
        "Accept (Poster)": (693, "ICLR 2021 Poster"),
        "Accept (Spotlight)": (114, "ICLR 2021 Spotlight"),
        "Accept (Oral)": (53, "ICLR 2021 Oral"),
    },
    decision_title="Final Decision",
)
Y2022 = replace(
    Y2020,
    year=2022,
    rating="recommendation",
    ratings=SIX_POINTS,
    withdrawn=779,
    desk_rejected=26,
    decisions={
        "Reject": (1523, "ICLR 2022 Submitted"),
        "Accept (Poster)": (865, "ICLR 2022 Poster"),
        "Accept (Spotlight)": (176, "ICLR 2022 Spotlight"),
        "Accept (Oral)": (54, "ICLR 2022 Oral"),
    },
    scores={
        "correctness": CORRECTNESS,
        "technical_novelty_and_significance": NOVELTY,
        "empirical_novelty_and_significance": NOVELTY | {"Not applicable": 4},
        "confidence": NEW_CONFIDENCE,
    },
    texts=("summary_of_the_paper", "main_review", "summary_of_the_review"),
    fixed={"flag_for_ethics_review": ["NO."]},
)
Y2023 = replace(
    Y2022,
    year=2023,
    withdrawn=1145,
    desk_rejected=18,
    decisions={
        "Reject": (2219, "Submitted to ICLR 2023"),
        "Accept: poster": (1202, "ICLR 2023 poster"),
        "Accept: notable-top-25%": (281, "ICLR 2023 notable top 25%"),
        "Accept: notable-top-5%": (90, "ICLR 2023 notable top 5%"),
    },
    texts=(
        "summary_of_the_paper",
        "strength_and_weaknesses",
        "clarity,_quality,_novelty_and_reproducibility",
        "summary_of_the_review",
    ),
    decision_texts=(
        "metareview:_summary,_strengths_and_weaknesses",
        "justification_for_why_not_higher_score",
        "justification_for_why_not_lower_score",
    ),
)
Y2024 = Layout(
    2024,
    "{venue}/Submission{n}/-/{name}",
    decisions={
        "Reject": (3440, "Submitted to ICLR 2024"),
        "Accept (poster)": (1807, "ICLR 2024 poster"),
        "Accept (spotlight)": (367, "ICLR 2024 spotlight"),
        "Accept (oral)": (86, "ICLR 2024 oral"),
    },
    withdrawn=1651,
    desk_rejected=53,
    ratings=SIX_POINTS,
    scores=_qualities(QUALITY_2024) | {"confidence": NEW_CONFIDENCE},
    texts=("summary", "strengths", "weaknesses", "questions"),
    fixed=FIXED_2024 | {"first_time_reviewer": {"readers": ["ICLR.cc/2024/Conference/Program_Chairs"]}},
    meta_review=("metareview", "justification_for_why_not_higher_score", "justification_for_why_not_lower_score"),
)
Y2025 = replace(
    Y2024,
    year=2025,
    withdrawn=2991,
    desk_rejected=70,
    ratings=RATINGS_2025,
    fixed=FIXED_2024,
    decisions={
        "Reject": (4908, "Submitted to ICLR 2025"),
        "Accept (Poster)": (3110, "ICLR 2025 Poster"),
        "Accept (Spotlight)": (380, "ICLR 2025 Spotlight"),
        "Accept (Oral)": (213, "ICLR 2025 Oral"),
    },
    scores=_qualities(_numbers(QUALITY_2024)) | {"confidence": _numbers(NEW_CONFIDENCE)},
    meta_review=("metareview", "additional_comments_on_reviewer_discussion"),
)
Y2026 = replace(
    Y2025,
    year=2026,
    withdrawn=5136,
    desk_rejected=907,
    ratings=RATINGS_2026,
    decisions={
        "Reject": (8400, "Submitted to ICLR 2026"),
        "Conditional Accept (Poster)": (14, "ICLR 2026 ConditionalPoster"),
        "Accept (Poster)": (5117, "ICLR 2026 Poster"),
        "Accept (Oral)": (224, "ICLR 2026 Oral"),
    },
    meta_review=("summary", "reviewer_concerns", "reviewer_scores"),
)
# What 2027 will ask is not known: the forms of 2026, and the counts of nobody.
Y2027 = replace(
    Y2026,
    year=2027,
    decisions={text: (papers, venue.replace("2026", "2027")) for text, (papers, venue) in Y2026.decisions.items()},
)
YEARS = (Y2017, Y2018, Y2019, Y2020, Y2021, Y2022, Y2023, Y2024, Y2025, Y2026, Y2027)
LAYOUTS = {layout.year: layout for layout in YEARS}


class Sizes(NamedTuple):
    """Characters of a review and of a comment, and comments a paper."""

    review: int
    comment: int
    comments: int


SIZES = {"small": Sizes(80, 40, 2), "real": Sizes(3500, 1500, 12)}


class Trap(NamedTuple):
    """A note that a careless reader takes for a review or a decision, or that is not for everyone."""

    name: str
    content: dict[str, Any]
    signature: str
    public: bool = True


CHAIR = "{group}/Area_Chair1"
TRAPS: dict[int, list[Trap]] = {
    2017: [
        Trap("public/review", {"title": "Mine", "rating": "9: Top 15% of accepted papers, strong accept"}, "~Reader1"),
        Trap("meta/review", {"metareview": "Borderline."}, CHAIR, public=False),
    ],
    2018: [Trap("Meta_Review", {"metareview": "Borderline.", "recommendation": "Reject"}, CHAIR, public=False)],
    2019: [Trap("Review_Rating", {"rating": "4: useful"}, CHAIR, public=False)],
    2021: [Trap("Ethics_Meta_Review", {"decision": "No judgement (proceed with normal process)"}, "{group}/Ethics1")],
    2022: [Trap("Ethics_Meta_Review", {"decision": "Significant concerns (Do not publish)"}, "{group}/Ethics_x1Yz")],
    2027: [Trap("Automated_Feedback", {"feedback": "Figure 2 lacks units."}, "{venue}/Automated_Feedback_Agent")],
}
CONFIDENTIAL = Trap("Official_Comment", {"title": "To the chairs", "comment": "I know them."}, CHAIR, public=False)

# ---------------------------------------------------------------- made-up notes

NORMAL = NormalDist()
DAY = 24 * 3600 * 1000
SPREAD = 400_000  # keeps ids of ten characters apart and in the order of papers
ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # in the order in which strings sort
REVIEWS, META_REVIEW, DECISION, FAREWELL, COMMENTS, OTHERS = 1, 100, 101, 102, 200, 300  # places of replies in a forum
REVIEWS_A_PAPER: Options = {0: 1, 1: 1, 2: 5, 3: 35, 4: 48, 5: 9, 6: 1}
WITHDRAWN_BY: dict[Stage, float] = {"release": 0, "discussed": 0.5, "final": 1}
VOCABULARY = """the the the of of and and to a in is that we this for are with as on it by paper authors method model
data results proposed training learning network experiments baseline baselines however although novelty unclear
convincing ablation theorem proof assumption bound gradient loss representation attention transformer sampling graph
policy reward benchmark ImageNet state-of-the-art significant improvement limited missing comparison related work
notation Figure Table Section appendix rebuttal score question could please clarify why not would appreciate
interesting well-written motivation contribution incremental strong weak clear evaluation generalization robustness
$O(n^2)$ $\\alpha$-divergence **Strengths** **Weaknesses** “end-to-end” naïve β-VAE → ≥ e.g., i.e., etc. 3.2 0.5% [1]
[2] (1)"""


@cache
def _corpus() -> str:
    return " ".join(Random(0).choices([*VOCABULARY.split(), "\n\n-"], k=60_000))


def prose(rng: Random, size: int) -> str:
    """So many characters of text that reads like reviews from afar, and is no easier to compress."""
    start = int(rng.random() * (len(_corpus()) - size))
    return _corpus()[start : start + size]


def choose(options: Options, position: float, step: int = 0) -> Any:
    """The answer at a position from 0 (worst) to 1 of the cumulated weights, or some steps better."""
    answers, sums = list(options), list(accumulate(options.values()))
    place = bisect_right(sums, position * sums[-1]) + step
    return answers[min(max(place, 0), len(answers) - 1)]


@dataclass(frozen=True)
class Paper:
    """What is decided about a made-up paper before any note is written."""

    index: int
    quality: float  # standard normal; ratings and the decision lean on it
    outcome: str
    decision: str = ""

    @property
    def number(self) -> int:
        return self.index + 1


class VenueYear:
    """A made-up year of ICLR, whose notes are made when they are asked for; their ids sort in the order of papers."""

    def __init__(
        self, year: int, papers: int, seed: int = 0, sizes: Literal["small", "real"] = "small", stage: Stage = "final"
    ) -> None:
        if year not in LAYOUTS:
            raise ValueError(f"No forms for ICLR {year}: choose a year from {min(LAYOUTS)} to {max(LAYOUTS)}.")
        self.layout, self.papers, self.seed, self.sizes, self.stage = LAYOUTS[year], papers, seed, SIZES[sizes], stage
        self.deadline = int(datetime(year - 1, 9, 25, tzinfo=UTC).timestamp() * 1000)

    def __len__(self) -> int:
        return self.papers

    def __iter__(self) -> Iterator[Note]:
        return (self.document(index) for index in range(self.papers))

    def document(self, index: int) -> Note:
        """A submission with its replies, as /notes gives it with details=replies."""
        return self.submission(index) | {"details": {"replies": self.replies(index)}}

    def submission(self, index: int) -> Note:
        paper, layout, rng = self.paper(index), self.layout, self._random(index, "submission")
        signature = layout.venue if layout.api == 1 else f"{layout.group(paper.number)}/Authors"
        modified = self.deadline + (120 if self.stage == "final" else 20) * DAY + index
        note = self._note(
            paper,
            0,
            layout.listing(paper.outcome),
            self._submission_content(paper, rng),
            signature,
            self.deadline + index,
            modified,
            number=paper.number,
        )
        if layout.api == 2:
            later = [f"{layout.venue}/-/Withdrawn_Submission"] if paper.outcome == "withdrawn" else []
            group = layout.group(paper.number)
            note["invitations"] += [f"{layout.venue}/-/Post_Submission", f"{group}/-/Full_Submission", *later]
            note |= {"odate": self.deadline + 10 * DAY} | ({"pdate": modified} if paper.outcome == "accepted" else {})
        return note

    def replies(self, index: int) -> list[Note]:
        """All replies to one submission, in order of time."""
        paper, rng = self.paper(index), self._random(index, "replies")
        reviews = self._reviews(paper, rng)
        # Comments come before the verdict, which not every stage has, so that they are the same in all stages.
        replies = [*reviews, *self._comments(paper, reviews, rng), *self._verdict(paper, rng), *self._traps(paper)]
        return sorted(replies, key=lambda note: note["tcdate"])

    def paper(self, index: int) -> Paper:
        rng = self._random(index, "paper")
        quality, hope, luck = (rng.gauss(0, 1) for _ in range(3))
        fate, rank = NORMAL.cdf(0.4 * quality + 0.92 * hope), NORMAL.cdf(0.85 * quality + 0.53 * luck)
        return Paper(index, quality, *self._fate(fate, rank))

    def note_id(self, index: int, place: int = 0) -> str:
        return _note_id(self.seed, (self.layout.year * 10**6 + index) * 1000 + place)

    def index_of(self, note_id: str) -> int | None:
        """The index of the paper to which a note belongs; None when the id was not made here."""
        value = 0
        for character in note_id:
            value = value * len(ALPHABET) + max(ALPHABET.find(character), 0)
        paper, place = divmod(value // SPREAD, 1000)
        index = paper - self.layout.year * 10**6
        return index if 0 <= index < self.papers and self.note_id(index, place) == note_id else None

    def _random(self, index: int, purpose: str) -> Random:
        return Random(f"{self.seed}/{self.layout.year}/{index}/{purpose}")

    def _fate(self, fate: float, rank: float) -> tuple[str, str]:
        """Outcome and decision of a paper; on the way to `final` papers are withdrawn, and then the rest is decided."""
        layout, votes = self.layout, {text: papers for text, (papers, _) in self.layout.decisions.items()}
        fate *= sum(votes.values()) + layout.withdrawn + layout.desk_rejected
        if fate < layout.desk_rejected:
            return "desk_rejected", ""
        if fate < layout.desk_rejected + layout.withdrawn * WITHDRAWN_BY[self.stage]:
            return "withdrawn", ""
        if self.stage != "final":
            return "undecided", ""
        decision = choose(votes, rank)
        return {"Reject": "rejected", "Invite to Workshop Track": "workshop"}.get(decision, "accepted"), decision

    def _note(
        self,
        paper: Paper,
        place: int,
        invitation: str,
        content: dict[str, Any],
        signature: str,
        created: int,
        modified: int | None = None,
        number: int = 1,
        replyto: str | None = None,
        public: bool = True,
    ) -> Note:
        """A note of either version; the second wraps values, lists invitations and knows its domain."""
        venue = self.layout.venue
        note = {
            "id": self.note_id(paper.index, place),
            "forum": self.note_id(paper.index),
            "replyto": replyto,
            "number": number,
            "signatures": [signature],
            "writers": [venue, signature],
            "nonreaders": [],
            "readers": ["everyone"] if public else [f"{venue}/Program_Chairs"],
            "cdate": created,
            "tcdate": created,
            "tmdate": modified or created,
            "ddate": None,
        }
        if self.layout.year == 2017:
            del note["cdate"]  # as in most notes of that year
        if self.layout.api == 1:
            return note | {"original": None, "tddate": None, "invitation": invitation, "content": content}
        content = {name: _wrapped(value) for name, value in content.items()}
        return note | {
            "invitations": [invitation],
            "domain": venue,
            "mdate": note["tmdate"],
            "license": "CC BY 4.0",
            "version": 2,
            "content": content,
        }

    def _reply(
        self, paper: Paper, place: int, name: str, content: dict[str, Any], signature: str, day: float, **more: Any
    ) -> Note:
        """A note under an invitation of the paper, by default to the submission itself."""
        created = self.deadline + int(day * DAY) + paper.index + place
        note = self._note(
            paper,
            place,
            self.layout.invitation(name, paper.number),
            content,
            signature,
            created,
            **({"replyto": self.note_id(paper.index)} | more),
        )
        return note if self.layout.api == 1 else note | {"parentInvitations": f"{self.layout.venue}/-/{name}"}

    def _submission_content(self, paper: Paper, rng: Random) -> dict[str, Any]:
        layout = self.layout
        title, abstract = prose(rng, 50).strip(), prose(rng, max(self.sizes.review // 3, 60))
        content = {
            "title": title,
            "abstract": abstract,
            "pdf": f"/pdf/{self.note_id(paper.index)}.pdf",
            "keywords": ["deep learning", rng.choice(["graphs", "vision", "theory"])],
            "TLDR" if layout.api == 2 else "TL;DR": "We do it better.",
        }
        if layout.year >= 2023:
            asked = "Please_choose_the_closest_area_that_your_submission_falls_into"
            area = rng.choice(["optimization", "generative models", "reinforcement learning"])
            content["primary_area" if layout.api == 2 else asked] = area
        return content | self._authors(paper, rng) | self._status(paper)

    def _authors(self, paper: Paper, rng: Random) -> dict[str, Any]:
        """Who wrote it: hidden until the decisions, except in 2017; with e-mail addresses up to 2021."""
        layout, team = self.layout, [f"Ada Author{paper.number}", f"Bo Writer{paper.number}", "Cy Third"]
        names = team[: 1 + int(rng.random() * 3)]
        if self.stage != "final" and layout.year != 2017:
            blind = {"authors": ["Anonymous"], "authorids": [f"{layout.group(paper.number)}/Authors"]}
            return {} if layout.api == 2 else blind
        tildes = [f"~{name.replace(' ', '_')}1" for name in names]
        ids = tildes if layout.year > 2021 else [f"{name.split()[0].lower()}@example.org" for name in names]
        return {
            "authors": names,
            "authorids": ids,
            "paperhash": f"{names[0].split()[-1].lower()}|made_up",
            "_bibtex": f"@misc{{made{paper.number}, author={{{' and '.join(names)}}}}}",
        }

    def _status(self, paper: Paper) -> dict[str, Any]:
        """`venue` and `venueid`, which are the status from 2024 on; before, what the year had of them."""
        layout, decided = self.layout, self.layout.decisions.get(paper.decision, (0, ""))[1]
        if layout.api == 2:
            tails = {"accepted": "", "undecided": "/Submission"}
            tail = tails.get(paper.outcome, f"/{paper.outcome.title()}_Submission")
            venue = decided or f"ICLR {layout.year} Conference{tail.replace('/', ' ').replace('_', ' ')}"
            return {"venue": venue, "venueid": layout.venue + tail}
        if paper.outcome == "withdrawn" and layout.year in (2017, 2022):
            gone = {"withdrawal": "Confirmed", "venueid": layout.venue}
            return gone if layout.year == 2017 else {"venue": "", "venueid": ""}
        return {"venue": decided, "venueid": layout.venue} if decided else {}

    def _reviews(self, paper: Paper, rng: Random) -> list[Note]:
        count = 0 if paper.outcome == "desk_rejected" else choose(REVIEWS_A_PAPER, rng.random())
        reviews = [self._review(paper, place, rng) for place in range(REVIEWS, REVIEWS + count)]
        return [review for review in reviews if review]

    def _review(self, paper: Paper, place: int, rng: Random) -> Note | None:
        """One review, or None where the stage does not have it: some come late, some are deleted later."""
        layout = self.layout
        opinion = NORMAL.cdf(0.6 * paper.quality + 0.8 * rng.gauss(0, 1))
        mind, fate, day, code = rng.random(), rng.random(), 30 + 10 * rng.random(), "".join(rng.choices(ALPHABET, k=4))
        step = self._step(mind)
        content = {name: prose(rng, self.sizes.review // len(layout.texts)) for name in layout.texts}
        content |= {name: choose(options, rng.random()) for name, options in layout.scores.items()}
        content |= {layout.rating: choose(layout.ratings, opinion, step)} | layout.fixed
        modified = self.deadline + (60 if step else 45) * DAY
        signature = layout.reviewer(paper.number, place, code)
        review = self._reply(paper, place, "Official_Review", content, signature, day, number=place, modified=modified)
        if layout.api == 2 and fate < 0.98:
            review["invitations"].append(f"{layout.venue}/-/Edit")  # by the release of reviews; a few lack it
        absent = 0.5 < fate < 0.51 if self.stage == "release" else 0.6 < fate < 0.603
        return None if absent else review

    def _step(self, mind: float) -> int:
        """How far the discussion moved a rating. Those of 2026 were put back in the end."""
        if self.stage == "release" or (self.layout.year == 2026 and self.stage == "final"):
            return 0
        return 1 if mind < 0.1 else -1 if mind > 0.98 else 0

    def _verdict(self, paper: Paper, rng: Random) -> Iterator[Note]:
        """Decision and meta-review, or the note that takes the paper out."""
        layout, group = self.layout, self.layout.group(paper.number)
        farewells = {
            "withdrawn": ("Withdrawal", "withdrawal_confirmation", "/Authors"),
            "desk_rejected": ("Desk_Rejection", "desk_reject_comments", "/Program_Chairs"),
        }
        if paper.outcome in farewells and layout.api == 2:
            name, said, who = farewells[paper.outcome]
            yield self._reply(paper, FAREWELL, name, {said: prose(rng, 60)}, group + who, day=50)
        if not paper.decision:
            return
        if layout.meta_review:
            texts = {name: prose(rng, self.sizes.comment) for name in layout.meta_review}
            yield self._reply(paper, META_REVIEW, "Meta_Review", texts, f"{group}/Area_Chair_a1Bc", day=100)
        content = self._decision(paper) | {name: prose(rng, self.sizes.comment) for name in layout.decision_texts}
        signatures = {2017: f"{layout.venue}/pcs", 2019: f"{group}/Area_Chair1"}
        signature = signatures.get(layout.year, f"{layout.venue}/Program_Chairs")
        yield self._reply(
            paper, DECISION, "Decision", content, signature, day=115, number=paper.number if layout.year == 2018 else 1
        )

    def _decision(self, paper: Paper) -> dict[str, Any]:
        if self.layout.year != 2019:
            return {"title": self.layout.decision_title, "decision": paper.decision}
        # In 2019 the meta-review was the decision.
        return {
            "title": "metareview",
            "recommendation": paper.decision,
            "confidence": "5: The area chair is absolutely certain",
        }

    def _comments(self, paper: Paper, reviews: list[Note], rng: Random) -> list[Note]:
        """The discussion: authors answer a review, its reviewer answers them; every sixth comment is from outside."""
        comments: list[Note] = []
        for k in range(self.sizes.comments if reviews and self.stage != "release" else 0):
            review = reviews[k // 2 % len(reviews)]
            name, signature, replyto = "Official_Comment", f"{self.layout.group(paper.number)}/Authors", review["id"]
            if k % 6 == 5:
                name, signature, replyto = "Public_Comment", "~Public_Reader1", review["forum"]
            elif k % 2:
                signature, replyto = review["signatures"][0], comments[-1]["id"]
            elif self.layout.year == 2017:  # not blind: authors wrote under their names
                name, signature = "Public_Comment", f"~Ada_Author{paper.number}1"
            content = {"title": "Response", "comment": prose(rng, self.sizes.comment)}
            comments.append(
                self._reply(
                    paper, COMMENTS + k, name, content, signature, day=48 + k / 4, number=k + 1, replyto=replyto
                )
            )
        return comments

    def _traps(self, paper: Paper) -> list[Note]:
        """Notes to leave out, on some papers: one in five has those of its year, one in ten a confidential comment."""
        traps = {3: TRAPS.get(self.layout.year, []), 5: [CONFIDENTIAL], 8: TRAPS.get(self.layout.year, [])}
        names = {"group": self.layout.group(paper.number), "venue": self.layout.venue}
        return [
            self._reply(
                paper, OTHERS + k, trap.name, trap.content, trap.signature.format(**names), day=52, public=trap.public
            )
            for k, trap in enumerate(traps.get(paper.index % 10, []))
        ]


@lru_cache(maxsize=64)
def _note_id(seed: int, number: int) -> str:
    """Ten characters that sort as the numbers do; the seed shows in the last three."""
    value = number * SPREAD + zlib.crc32(f"{seed}/{number}".encode()) % SPREAD
    digits = []
    while value:
        value, digit = divmod(value, len(ALPHABET))
        digits.append(ALPHABET[digit])
    return "".join(reversed(digits))


def _wrapped(value: Any) -> dict[str, Any]:
    """A value as API 2 has it; a field that only some may read comes without one."""
    return value if isinstance(value, dict) and "readers" in value else {"value": value}


def generate(
    year: int, papers: int, seed: int = 0, sizes: Literal["small", "real"] = "small", stage: Stage = "final"
) -> Iterator[Note]:
    """Made-up submissions of an ICLR year, with their replies under details.replies."""
    return iter(VenueYear(year, papers, seed, sizes, stage))


# ---------------------------------------------------------------- what goes with notes


def edits_of(note: Note) -> list[Note]:
    """The edits of API 2 behind a note: its creation, and the release that gave it its readers."""
    venue, created, released = note.get("domain"), note["tcdate"], note["tmdate"]
    shared = {"domain": venue, "readers": note["readers"], "nonreaders": [], "writers": note["writers"]}
    first = shared | {
        "id": f"{note['id']}e1",
        "invitation": note["invitations"][0],
        "signatures": note["signatures"],
        "cdate": created,
        "tcdate": created,
        "tmdate": created,
        "note": note,
    }
    second = shared | {
        "id": f"{note['id']}e2",
        "invitation": f"{venue}/-/Edit",
        "signatures": [venue],
        "cdate": released,
        "tcdate": released,
        "tmdate": released,
        "note": {"id": note["id"], "readers": note["readers"]},
    }
    return [first, second] if released != created else [first]


def references_of(note: Note) -> list[Note]:
    """The revisions of API 1 behind a note, newest first: full copies of it."""
    first = note | {"id": f"{note['id']}r1", "referent": note["id"], "tmdate": note["tcdate"]}
    second = first | {"id": f"{note['id']}r2", "tmdate": note["tmdate"]}
    return [second, first] if note["tmdate"] != note["tcdate"] else [first]


def group_of(venue: str, api: Literal[1, 2]) -> dict[str, Any]:
    """A venue as a group: both APIs know both kinds, and `domain` and `content` tell which one has the notes."""
    shared = {"id": venue, "readers": ["everyone"], "members": [], "signatures": [venue], "writers": [venue]}
    if api == 1:
        return shared | {"domain": None, "content": None, "web": "// the page of the venue"}
    statuses = {
        "submission": "Submission",
        "rejected": "Rejected_Submission",
        "withdrawn": "Withdrawn_Submission",
        "desk_rejected": "Desk_Rejected_Submission",
    }
    content = {"submission_id": f"{venue}/-/Submission", "decision_name": "Decision", "decision_field_name": "decision"}
    content |= {f"{status}_venue_id": f"{venue}/{name}" for status, name in statuses.items()}
    content |= {f"public_{kind}submissions": True for kind in ("", "withdrawn_", "desk_rejected_")}
    return shared | {"domain": venue, "content": {name: {"value": value} for name, value in content.items()}}


# ---------------------------------------------------------------- notes in files


def flatten(value: Note | list[Any]) -> Iterator[Note]:
    """Every note in a note, a list or an answer; a note is followed by the replies beside it or in its details."""
    if isinstance(value, list):
        for item in value:
            yield from flatten(item)
    elif isinstance(value.get("notes"), list):
        yield from flatten(value["notes"])
    else:
        yield {name: part for name, part in value.items() if name not in ("details", "replies", "directReplies")}
        for holder in (value, value.get("details") or {}):
            for name in ("replies", "directReplies"):
                yield from flatten(holder.get(name) or [])


def read_notes(path: str | Path) -> tuple[list[Note], list[Note]]:
    """The notes of a file (JSON or JSON lines, plain or gzip), flat, as those of API 1 and those of API 2.

    A note that the file holds twice, such as a direct reply among the replies, comes twice.
    """
    notes = [note for value in _values(Path(path)) for note in flatten(value)]
    for note in notes:
        if not {"id", "invitation"} <= note.keys() and not {"id", "invitations"} <= note.keys():
            raise ValueError(f"{path}: not a note of OpenReview, it lacks id or invitation(s): {str(note)[:100]}")
    return [note for note in notes if "invitation" in note], [note for note in notes if "invitation" not in note]


def _values(path: Path) -> list[Any]:
    """The JSON values of a file: one, or one a line."""
    text = path.read_bytes()
    if path.suffix == ".gz":
        text = gzip.decompress(text)
    try:
        return [orjson.loads(text)]
    except orjson.JSONDecodeError:
        return [orjson.loads(line) for line in text.splitlines() if line.strip()]
