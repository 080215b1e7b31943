"""The words that go with a figure: its title, caption and alt text, made from the frame that is drawn.

A title states the finding, a caption says what is plotted, from how much, and what the interval is; an alt text gives the main
numbers to someone who cannot see the picture. No number is typed by hand.
"""

from analysis.words.acceptance import ledger, sixes, sixes_by_year
from analysis.words.agreement import agreement_years, reliability, unanimity, uncertain_order
from analysis.words.arbitrariness import again, panels_again
from analysis.words.common import NOTHING_YET, Words, percent
from analysis.words.fates import near, rivals
from analysis.words.growth import funnel, growth
from analysis.words.harshness import decisions, within_paper
from analysis.words.line import auc, curve, line
from analysis.words.movement import average_movement, conformity, fates, movement_by, transitions
from analysis.words.paper import alike, panel, standing
from analysis.words.reviewers import confidence, experience, panels, rating_counts, ratings_by_level
from analysis.words.scales import preference, rank_map, scale_change, sides
from analysis.words.scores import averages, deciles, ratings, top
from analysis.words.texts import arrivals, discussion, hours, length_curves, thread_lengths
from analysis.words.topics import topic_funnel, topics
from analysis.words.years import years

__all__ = [
    "NOTHING_YET",
    "Words",
    "again",
    "agreement_years",
    "alike",
    "arrivals",
    "auc",
    "average_movement",
    "averages",
    "confidence",
    "conformity",
    "curve",
    "deciles",
    "decisions",
    "discussion",
    "experience",
    "fates",
    "funnel",
    "growth",
    "hours",
    "ledger",
    "length_curves",
    "line",
    "movement_by",
    "near",
    "panel",
    "panels",
    "panels_again",
    "percent",
    "preference",
    "rank_map",
    "rating_counts",
    "ratings",
    "ratings_by_level",
    "reliability",
    "rivals",
    "scale_change",
    "sides",
    "sixes",
    "sixes_by_year",
    "standing",
    "thread_lengths",
    "top",
    "topic_funnel",
    "topics",
    "transitions",
    "unanimity",
    "uncertain_order",
    "within_paper",
    "years",
]
