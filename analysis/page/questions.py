"""The questions that people ask, and which figures and tables answer which: the one place that says so."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """A heading of the page. `answers` are notebooks, or figures and tables of notebooks, the most telling first."""

    id: str
    title: str
    lead: str
    answers: tuple[str, ...]


QUESTIONS = (
    Question(
        "what-gets-in",
        "What gets in?",
        "Count the ratings on the accept side, then look at what was decided for such papers.",
        (
            "07-acceptance/sixes",
            "05-years/sixes",
            "07-acceptance",
            "03-deciles/deciles",
            "03-deciles/deciles-table",
        ),
    ),
    Question(
        "where-do-i-stand",
        "Where do I stand?",
        "All papers of the year by their average, and what it takes to be among the top.",
        ("02-scores/averages", "03-deciles", "12-paper"),
    ),
    Question(
        "do-scores-move",
        "Do scores move?",
        "The same reviews and papers before and after the discussion.",
        ("08-movement/averages", "08-movement"),
    ),
    Question(
        "are-scores-lower",
        "Are scores lower this year?",
        "Scales change from year to year, so means are not compared; the accept side and ranks are.",
        ("05-years/years", "02-scores/ratings", "05-years"),
    ),
    Question(
        "do-reviewers-agree",
        "Do reviewers agree?",
        "How much two reviews of one paper have in common, and what that leaves to chance.",
        ("06-agreement/agreement-years", "06-agreement", "09-arbitrariness"),
    ),
    Question(
        "who-reviews",
        "Who reviews?",
        "What reviewers say of their experience and confidence. People are counted, never ranked or named.",
        ("04-experience", "11-reviews/lengths"),
    ),
    Question(
        "acceptance-rate",
        "What is the real acceptance rate?",
        "It depends on what one divides by: everything submitted, everything reviewed, or what was decided.",
        (
            "01-fetch/rates",
            "05-years/funnel",
            "01-fetch/ledger",
            "01-fetch/ledger-table",
            "05-years/funnel-table",
            "05-years/growth",
        ),
    ),
)
MORE = Question("more", "More", "What else the notebooks publish.", ())
ALL = (*QUESTIONS, MORE)


def question_of(notebook: str, name: str) -> tuple[Question, int]:
    """The question that a figure or table answers, and its place among the answers; what nobody declared is `MORE`.

    One that is named itself goes before its notebook's.
    """
    for wanted in (f"{notebook}/{name}", notebook):
        for question in QUESTIONS:
            if wanted in question.answers:
                return question, question.answers.index(wanted)
    return MORE, 0
