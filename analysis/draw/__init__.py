"""Drawing: pure functions, a frame and Axes in, the Axes out; `publish` writes what they drew.

Every function draws one idea from the frame of one statistic and changes neither. Titles, captions and the line of
provenance are not drawn here: `publish.Book.figure` adds them.
"""

from analysis.draw.acceptance import draw_ledger, draw_sixes, draw_sixes_by_year
from analysis.draw.agreement import (
    draw_agreement_years,
    draw_reliability,
    draw_unanimity,
    draw_uncertain_order,
)
from analysis.draw.arbitrariness import draw_again, draw_panels_again
from analysis.draw.canvas import WIDTHS, new_figure, rows_ratio, style
from analysis.draw.fates import draw_near, draw_rivals, rivals_ratio
from analysis.draw.growth import draw_funnel, draw_growth
from analysis.draw.harshness import draw_decisions, draw_within_paper
from analysis.draw.line import draw_auc, draw_curve, draw_line
from analysis.draw.movement import (
    draw_average_movement,
    draw_conformity,
    draw_fates,
    draw_movement_by,
    draw_transitions,
)
from analysis.draw.paper import draw_alike, draw_panel
from analysis.draw.reviewers import (
    draw_confidence,
    draw_experience,
    draw_panels,
    draw_rating_counts,
    draw_ratings_by_level,
)
from analysis.draw.scales import draw_preference, draw_rank_map, draw_scale_change, draw_sides
from analysis.draw.scores import draw_averages, draw_deciles, draw_ratings, draw_top
from analysis.draw.texts import draw_arrivals, draw_discussion, draw_hours, draw_length_curves, draw_thread_lengths
from analysis.draw.topics import draw_topic_funnel, draw_topics
from analysis.draw.years import draw_years

__all__ = [
    "WIDTHS",
    "draw_again",
    "draw_agreement_years",
    "draw_alike",
    "draw_arrivals",
    "draw_auc",
    "draw_average_movement",
    "draw_averages",
    "draw_confidence",
    "draw_conformity",
    "draw_curve",
    "draw_deciles",
    "draw_decisions",
    "draw_discussion",
    "draw_experience",
    "draw_fates",
    "draw_funnel",
    "draw_growth",
    "draw_hours",
    "draw_ledger",
    "draw_length_curves",
    "draw_line",
    "draw_movement_by",
    "draw_near",
    "draw_panel",
    "draw_panels",
    "draw_panels_again",
    "draw_preference",
    "draw_rank_map",
    "draw_rating_counts",
    "draw_ratings",
    "draw_ratings_by_level",
    "draw_reliability",
    "draw_rivals",
    "draw_scale_change",
    "draw_sides",
    "draw_sixes",
    "draw_sixes_by_year",
    "draw_thread_lengths",
    "draw_top",
    "draw_topic_funnel",
    "draw_topics",
    "draw_transitions",
    "draw_unanimity",
    "draw_uncertain_order",
    "draw_within_paper",
    "draw_years",
    "new_figure",
    "rivals_ratio",
    "rows_ratio",
    "style",
]
