"""venues.toml: every year of ICLR is described as the reference has it, and a wrong entry is told in one sentence."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import date

import pytest

from analysis import ROOT
from analysis.errors import Trouble
from analysis.snapshots import OUTCOMES
from analysis.venues import Scale, known_years, parse_years, venue_year

RATED = (2017, 2018, 2019, 2020, 2021, 2022, 2023, 2024, 2025, 2026, 2027)


# ICLR ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("years", "levels"),
    [
        ((2017, 2018, 2019, 2021), (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)),
        ((2020,), (1, 3, 6, 8)),
        ((2022, 2023, 2024, 2025), (1, 3, 5, 6, 8, 10)),
        ((2026, 2027), (0, 2, 4, 6, 8, 10)),
    ],
)
def test_scales_of_the_years(years, levels):
    scales = [venue_year("ICLR", year).rating_scale for year in years]
    assert all(scale.levels == levels == tuple(scale.labels) and scale.accept_from == 6 for scale in scales)


def test_the_score_is_called_recommendation_in_2022_and_2023():
    assert [year for year in RATED if venue_year("ICLR", year).rating.field != "rating"] == [2022, 2023]
    assert venue_year("ICLR", 2022).rating.field == venue_year("ICLR", 2023).rating.field == "recommendation"


def test_2020_asked_for_experience_and_not_for_confidence():
    form = venue_year("ICLR", 2020)
    assert form.confidence_scale is None
    assert form.experience_scale.levels == (1, 2, 3, 4)
    assert [year for year in RATED if venue_year("ICLR", year).experience_scale] == [2020]
    assert all(venue_year("ICLR", year).confidence_scale.levels == (1, 2, 3, 4, 5) for year in RATED if year != 2020)


@pytest.mark.parametrize(
    ("year", "names"),
    [
        (2020, ["thoroughness", "derivations", "experiments"]),
        (2023, ["correctness", "technical_novelty", "empirical_novelty"]),
        (2025, ["soundness", "presentation", "contribution"]),
    ],
)
def test_other_scored_fields(year, names):
    assert list(venue_year("ICLR", year).scores) == names


def test_the_api_changed_in_2024():
    apis = {year: venue_year("ICLR", year).api for year in known_years("ICLR")}
    assert apis == {year: None if year == 2015 else 1 if year < 2024 else 2 for year in range(2013, 2028)}


def test_listings_have_their_casing_and_number():
    assert venue_year("ICLR", 2017).listings == ("ICLR.cc/2017/conference/-/submission",)
    assert [len(venue_year("ICLR", year).listings) for year in RATED] == [1, 2, 2, 3, 3, 3, 3, 1, 1, 1, 1]


def test_tiers_are_the_venues_own_words_in_order():
    tiers = {year: venue_year("ICLR", year).tiers for year in RATED}
    assert tiers[2020] == ("talk", "spotlight", "poster")
    assert tiers[2023] == ("notable-top-5%", "notable-top-25%", "poster")
    assert tiers[2017] == tiers[2026] == ("oral", "poster")


@pytest.mark.parametrize("year", [2013, 2014, 2015, 2016])
def test_a_year_without_ratings_says_why(year):
    form = venue_year("ICLR", year)
    assert form.rating_scale is None
    assert f"ICLR {year}" in form.absent and "2017" in form.absent
    assert (form.api is None) == (year == 2015)


def test_2027_is_read_like_2026_with_the_levels_seen():
    form, newest = venue_year("ICLR", 2027), venue_year("ICLR", 2026)
    assert not form.described and newest.described
    assert (form.rating.field, form.texts, form.review) == (newest.rating.field, newest.texts, newest.review)
    asked = [form.rating, form.confidence, *form.scores.values()]
    assert not any(question.scale.declared for question in asked)
    assert "2027" in form.remarks[0]


def test_2026_was_decided_on_its_release_scores():
    snapshots = {year: venue_year("ICLR", year).decision_snapshot for year in known_years("ICLR")}
    assert [year for year, name in snapshots.items() if name == "release"] == [2026]
    assert "before the discussion" in venue_year("ICLR", 2026).remarks[0]


def test_official_counts_are_those_of_the_listings():
    accepted = {year: venue_year("ICLR", year).official["accepted"] for year in range(2017, 2027)}
    assert list(accepted.values()) == [198, 337, 502, 687, 860, 1095, 1574, 2260, 3703, 5355]
    submitted = [venue_year("ICLR", year).official["submitted"] for year in range(2017, 2027)]
    assert submitted == [490, 1018, 1579, 2594, 3014, 3422, 4955, 7404, 11672, 19814]
    for year in range(2017, 2027):
        form = venue_year("ICLR", year)
        assert form.official_source
        assert set(form.official) <= {"submitted", *OUTCOMES, *form.tiers}


def test_labels_are_said_whatever_their_case_and_full_stop():
    scale = venue_year("ICLR", 2020).experience_scale
    assert scale.level_said("i have read many papers in this area") == 2
    assert scale.level_said("N/A") is None
    assert Scale((1, 2)).level_said("1") is None


# Years asked for ----------------------------------------------------------------------------------------------------


def test_years_are_single_ranges_or_all():
    assert parse_years("2020") == [2020]
    assert parse_years(" 2020, 2023-2025 ,2020") == [2020, 2023, 2024, 2025]
    assert parse_years("all") == known_years("ICLR") == list(range(2013, 2028))


@pytest.mark.parametrize("text", ["twenty", "", "2020,", "2025-2020", "20", "2020-", "-2020", "٢٠٢٠", "all,2020"])
def test_what_is_no_year_is_told(text):
    with pytest.raises(Trouble, match="give years as 2020"):
        parse_years(text)


@pytest.mark.parametrize("text", ["2031", "2026-2031", "2012"])
def test_a_year_that_is_not_known_names_those_that_are(text):
    with pytest.raises(Trouble, match=r"ICLR 20\d\d is not known; known are 2013 to 2027"):
        parse_years(text)


def test_an_unknown_venue_names_those_that_are():
    for ask in (lambda: venue_year("ICML", 2025), lambda: known_years("ICML"), lambda: parse_years("2020", "ICML")):
        with pytest.raises(Trouble, match="no venue `ICML`; there is ICLR"):
            ask()


def test_importing_is_light():
    code = "import sys, analysis.venues; print({'duckdb', 'numpy', 'pandas'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout == "set()\n"


# A file of one's own ------------------------------------------------------------------------------------------------

OWN = """
[scales.hub]
levels = [1, 2, 4]
accept_from = 4
labels.1 = "no"

[forms.hub]
extends = "second-api"
rating = { field = "overall", scale = "hub" }
confidence = {}

[venues.Hub.2026]
form = "hub"
group = "hub.org/2026/Conference"
listings = ["hub.org/2026/conference/-/Submission"]
tiers = ["long", "short"]
decided = 2026-05-01
official = { submitted = 30, accepted = 10, long = 4, short = 6, rejected = 15, withdrawn = 5 }
"""


def own(tmp_path, text: str):
    """The path of a database with such a file beside it."""
    (tmp_path / "venues.toml").write_text(text, encoding="utf-8")
    return tmp_path / "reviews.duckdb"


def test_a_file_beside_the_database_adds_a_venue(tmp_path):
    database = own(tmp_path, OWN)
    form = venue_year("Hub", 2026, database)
    assert (form.rating.field, form.rating_scale) == ("overall", Scale((1, 2, 4), {1: "no"}, 4))
    assert form.confidence_scale is None
    assert form.scores == venue_year("ICLR", 2025).scores
    assert (form.decided, form.tiers) == (date(2026, 5, 1), ("long", "short"))
    assert known_years("ICLR", database) == known_years("ICLR")


def test_it_is_read_again_when_it_changes(tmp_path):
    database = own(tmp_path, OWN)
    assert known_years("Hub", database) == [2026]
    own(tmp_path, OWN + OWN.replace("2026", "2027").split("confidence = {}")[1])
    assert known_years("Hub", database) == [2026, 2027]


def test_it_can_describe_a_year_that_ships_undescribed(tmp_path):
    scale = "[scales.new]\nlevels = [1, 2]\naccept_from = 2\n"
    year = '[venues.ICLR.2027]\ndescribed = true\nrating = { field = "score", scale = "new" }\n'
    database = own(tmp_path, scale + year)
    form = venue_year("ICLR", 2027, database)
    assert (form.described, form.rating_scale, form.rating.field) == (True, Scale((1, 2), {}, 2), "score")
    assert form.group == venue_year("ICLR", 2027).group


def without(key: str) -> str:
    return "\n".join(line for line in OWN.splitlines() if not line.startswith(key))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (OWN + "colour = 1", "Hub 2026: `colour` is not a key of a year; there are api, group"),
        (OWN.replace("[1, 2, 4]", "[2, 1, 4]"), r"scales.hub.levels: `\[2, 1, 4\]` is not a list of whole numbers"),
        (OWN.replace("[1, 2, 4]", "[1.5]"), r"scales.hub.levels: `\[1.5\]` is not"),
        (OWN.replace("accept_from = 4", "accept_from = 3"), "accept_from: `3` is not one of its levels, which are 1"),
        (OWN.replace("accept_from = 4", ""), "Hub 2026: rating.scale.accept_from: `None` is not one of its levels"),
        (OWN.replace("accept_from = 4", "steps = 4"), "`steps` is not a key of a scale; it has levels, labels and acc"),
        (OWN.replace("labels.1", "labels.3"), "scales.hub.labels: `3` is not one of its levels, which are 1, 2 or 4"),
        (OWN.replace('scale = "hub"', 'scale = "hob"'), "rating.scale: `hob` is not one of the scales, which are ten"),
        (OWN.replace('form = "hub"', 'form = "hob"'), "Hub 2026: form: `hob` is not one of the forms, which are base"),
        (OWN.replace('"second-api"', '"hub"'), "hub.extends: form: `hub` is not one of the forms"),
        (OWN.replace("Hub.2026", "Hub.26"), "Hub: `26` is not a year such as 2020"),
        (OWN.replace('["hub.org', '["hob.org'), "listings: `hob.org/.*` is not an invitation of the group `hub.org"),
        (OWN.replace('["long", "short"]', '["Long", "short"]'), "tiers: .* is not a list of different texts"),
        (OWN.replace('["long", "short"]', '["workshop"]'), "tiers: `workshop` is not clear of the words that say"),
        (OWN.replace("2026-05-01", '"May"'), "decided: `May` is not a date such as 2019-12-19"),
        (OWN.replace("2026-05-01", "2026-05-01T00:00:00"), "decided: .* is not a date such as 2019-12-19"),
        (OWN.replace("short = 6", "short = -6"), "official: .* is not a table of counts"),
        (OWN.replace("short = 6", "short = 60"), "official.accepted: `10` is not what long, short add up to, 64"),
        (OWN.replace("rejected = 15", "rejected = 9"), "official.submitted: `30` is not what .* add up to, 24"),
        (OWN.replace("rejected = 15", "lost = 15"), "official: `lost` is not something to count; there are sub"),
        (OWN + "api = 3", "Hub 2026: api: `3` is not 1 or 2"),
        (OWN + "api = true", "Hub 2026: api: `True` is not 1 or 2"),
        (OWN + "described = 1", "Hub 2026: described: `1` is not true or false"),
        (OWN + "reviewer = '('", r"Hub 2026: reviewer: `\(` is not a regular expression"),
        (OWN + 'review = "Official_Review"', "review: `Official_Review` is not how invitations of such notes end"),
        (OWN + 'words = { yes = "in" }', "words: .* is not a table of lower-case words, each with accepted, rejected"),
        (OWN + 'decision_snapshot = "first"', "decision_snapshot: `first` is not final or release"),
        (OWN + "remarks = [3]", r"remarks: `\[3\]` is not a list of texts"),
        (OWN.replace('{ field = "overall", scale = "hub" }', '{ field = "overall" }'), "rating: .* is not a question"),
        (without("listings"), r"listings: `\(\)` is not given \(a year that is not on OpenReview"),
        (without("form"), "Hub 2026: api: `None` is not given"),
        ("venus = 1", "`venus` is not a table called scales, corresponds, forms or venues"),
        ("forms = 1", "forms: `1` is not a table"),
        ("venues.Hub = 1", "Hub: `1` is not a table with a table for each year"),
        ("scales.hub = 1", "scales.hub: `1` is not a table with levels"),
        ("forms.hub = 1\n[venues.Hub.2026]\nform = 'hub'", "Hub 2026: form: `hub` is not one of the forms"),
        ("[venues", "cannot be read as TOML"),
    ],
)
def test_a_wrong_entry_is_told_with_file_key_value_and_what_is_allowed(tmp_path, text, said):
    with pytest.raises(Trouble, match=said) as told:
        venue_year("Hub", 2026, own(tmp_path, text))
    assert str(tmp_path / "venues.toml") in str(told.value)
    assert "\n" not in str(told.value)


def test_levels_correspond_by_their_words():
    six, even = (venue_year("ICLR", year).rating_scale for year in (2024, 2026))
    assert six.corresponds["even"] == {1: (0,), 3: (2,), 5: (4,), 6: (6,), 8: (8,), 10: (10,)}
    for level, (other,) in six.corresponds["even"].items():
        assert even.labels[other].startswith(six.labels[level])
    assert venue_year("ICLR", 2019).rating_scale.corresponds["four"][7] == (6, 8)
    assert even.corresponds == {}


def test_accept_sides_correspond():
    """A level on the accept side of one scale never means one on the reject side of another."""
    for year in (2019, 2024):
        scale = venue_year("ICLR", year).rating_scale
        for other in scale.corresponds.values():
            assert all((level >= 6) == (one >= 6) for level, meant in other.items() for one in meant)


CORRESPONDING = """
[scales.few]
levels = [1, 2]
accept_from = 2

[corresponds.few.four]
1 = [1, 3]
2 = [6]
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("corresponds.none.four = {}", "corresponds: `none` is not one of the scales"),
        ("corresponds.four.none = {}", "corresponds.four: `none` is not one of the scales"),
        ("corresponds.four = 3", "corresponds.four: `3` is not a table of scales"),
        (CORRESPONDING.replace("2 = [6]", ""), "a table with all its levels in order, which are 1 or 2"),
        (CORRESPONDING.replace("[6]", "[7]"), "corresponds.few.four.2: `[7]` is not a list of levels in order"),
        (CORRESPONDING.replace("[6]", "[]"), "corresponds.few.four.2: `[]` is not a list of levels in order"),
        (CORRESPONDING.replace("[6]", "[1]"), "corresponds.few.four: `[3, 1]` is not in ascending order"),
    ],
)
def test_a_wrong_correspondence_is_named(tmp_path, text, said):
    with pytest.raises(Trouble, match=re.escape(said)):
        venue_year("ICLR", 2020, own(tmp_path, text))


def test_correspondences_of_ones_own(tmp_path):
    database = own(tmp_path, CORRESPONDING)
    assert venue_year("ICLR", 2019, database).rating_scale.corresponds["four"][4] == (1, 3)
