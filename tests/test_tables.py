"""Tables: one frame in every format, readable for people and exact for programs, and text that stays text."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis import tables
from analysis.errors import Trouble
from analysis.statistics.thresholds import top

EVIL = "=cmd|' /C calc'!A0"
NONE = "\N{EN DASH}"  # a value that is missing
IMAGE = "<img src=x onerror=alert(1)>"
SHARES = ("value", "low", "high")


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "year": [2020, 2026],
            "label": ["I do not know & 50% of_it", NONE],
            "papers": pd.array([2594, None], dtype="Int64"),
            "value": [0.4700376966, np.nan],
            "mean": [4.1836656, -0.175],
            "kept": [True, False],
        }
    )


def printed(frame: pd.DataFrame, format: str, **options) -> str:
    return tables.text(frame, format, shares=SHARES, **options)


# For readers --------------------------------------------------------------------------------------------------------


def test_a_table_on_the_terminal_is_aligned_and_in_percent(frame):
    assert printed(frame, "table", caption="ICLR").splitlines() == [
        "ICLR",
        "year  label                      papers   value    mean  kept",
        "----  -------------------------  ------  ------  ------  ----",
        "2020  I do not know & 50% of_it   2,594  47.0 %   4.184  yes",
        f"2026  {NONE}                               {NONE}       {NONE}  -0.175  no",
    ]


@pytest.mark.parametrize("format", ["table", "markdown", "latex", "html"])
def test_years_have_no_thousands_separator_and_names_no_underscore(format):
    text = tables.text(pd.DataFrame({"year": [2020], "at_or_above": [20200]}), format)
    assert "2020" in text and "20,200" in text and "2,020" not in text
    assert "at or above" in text


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([4.0, 6.0], ["4", "6"]),
        ([4.5, 6.0], ["4.5", "6.0"]),
        ([14 / 3, 6.0], ["4.67", "6.00"]),
        ([-0.1749, 237.04], ["-0.175", "237.040"]),
        ([1234567.0], ["1,234,567"]),
        ([np.nan, np.inf], [NONE, "inf"]),
        ([], []),
    ],
)
def test_numbers_have_as_few_digits_as_show_the_point(values, expected):
    lines = tables.text(pd.DataFrame({"x": pd.Series(values, dtype=float)}), "table").splitlines()[2:]
    assert [line.strip() for line in lines] == expected


def test_markdown_is_a_table_whatever_the_cells_hold(frame):
    marked = frame.assign(label=[f"a|b *c* `d` [e](f) {IMAGE}", "x\ny"])
    lines = printed(marked, "markdown", caption="by_year").splitlines()
    assert lines[0] == r"by\_year"
    assert lines[3] == "| ---: | :--- | ---: | ---: | ---: | :--- |"
    assert r"a\|b \*c\* \`d\` \[e\](f) &lt;img src=x onerror=alert(1)&gt;" in lines[4]
    assert "| x y |" in lines[5]


def test_latex_is_escaped_and_has_the_rules_of_booktabs(frame):
    text = printed(frame.assign(label=['a & b_c % $x^2$ {#} ~ \\ < > | [x] * "', ""]), "latex", caption="50 % of it")
    assert r"a \& b\_c\,\% \$x\textasciicircum{}2\$ \{\#\} \textasciitilde{} \textbackslash{}" in text
    assert r"\textless{} \textgreater{} \textbar{} {[}x{]} {*} ''" in text
    assert r"\begin{tabular}{@{}rp{0.35\linewidth}rrrl@{}}" in text
    assert r"\caption{50\,\% of it}" in text
    assert all(rule in text for rule in (r"\toprule", r"\midrule", r"\bottomrule"))
    assert r"47.0\,\%" in text
    assert NONE not in text


def test_latex_without_a_caption_is_a_tabular_alone(frame):
    assert printed(frame, "latex").startswith(r"\begin{tabular}")


@pytest.mark.parametrize(
    ("columns", "begin"), [(2, "\\begin{table}[t]"), (6, "\\begin{table*}[t]"), (12, "\\resizebox{\\linewidth}{!}{%")]
)
def test_latex_goes_across_both_columns_where_it_is_wide(columns, begin):
    frame = pd.DataFrame({f"some column {number}": [0.25] for number in range(columns)})
    made = tables.text(frame, "latex", caption="Wide", note="From 50% & more")
    assert begin in made and made.count("table}") + made.count("table*}") == 2
    assert r"From 50\% \& more" in made.split(r"\end{tabular}")[1]


@pytest.mark.parametrize("format", ["table", "markdown", "html"])
def test_a_note_stands_below(frame, format):
    made = tables.text(frame, format, caption="Above", note="Below <b>")
    assert made.index("Above") < made.index("5") < made.index("Below")
    assert format == "table" or "<b>" not in made


def test_html_is_escaped_and_numbers_stand_to_the_right(frame):
    text = printed(frame.assign(label=[IMAGE, '"&"']).rename(columns={"kept": "<b>"}), "html", caption=IMAGE)
    assert "<img" not in text and "<b>" not in text
    assert text.count("&lt;img src=x onerror=alert(1)&gt;") == 2
    assert '<td class="number">47.0 %</td>' in text
    assert '<th scope="col" class="number">papers</th>' in text


def test_a_terminal_is_not_told_what_to_do():
    text = tables.text(pd.DataFrame({"title": ["\x1b[2Jhidden\r\nline \u202eturned"]}), "table")
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", text)
    assert "[2Jhidden line turned" in text


def test_wide_characters_keep_the_columns():
    text = tables.text(pd.DataFrame({"title": ["多样性", "x"], "n": [1, 2]}), "table")
    assert text.splitlines()[2:] == ["多样性  1", "x       2"]


# For programs -------------------------------------------------------------------------------------------------------


def test_csv_holds_fractions_and_empty_cells(frame):
    assert printed(frame, "csv").split("\n") == [
        "year,label,papers,value,mean,kept",
        "2020,I do not know & 50% of_it,2594,0.4700376966,4.1836656,True",
        f"2026,{NONE},,,-0.175,False",
    ]


def test_no_text_runs_in_a_spreadsheet_and_numbers_stay_numbers():
    cells = [EVIL, "+1", "-x", "@y", "\t=1", "fine = 1"]
    frame = pd.DataFrame({"=title": cells, "n": [-1, 2, 3, 4, 5, 6], "x": [-0.5] * 6})
    head, *rows = csv.reader(io.StringIO(tables.text(frame, "csv")))
    assert head == ["'=title", "n", "x"]
    assert [row[0] for row in rows] == [*(f"'{cell}" for cell in cells[:5]), "fine = 1"]
    assert rows[0][1:] == ["-1", "-0.5"]


@given(st.lists(st.text(max_size=8), min_size=1, max_size=4))
def test_csv_gives_back_every_text(texts):
    written = tables.text(pd.DataFrame({"t": texts, "n": 1}), "csv")
    _, *rows = csv.reader(io.StringIO(written, newline=""))
    assert [row[0].removeprefix("'") for row in rows] == [text.removeprefix("'") for text in texts]


def test_json_is_a_list_of_records_with_nulls(frame):
    first, second = json.loads(printed(frame.drop(columns="label"), "json"))
    assert first == {"year": 2020, "papers": 2594, "value": 0.4700376966, "mean": 4.1836656, "kept": True}
    assert second == {"year": 2026, "papers": None, "value": None, "mean": -0.175, "kept": False}
    assert json.loads(tables.text(frame.iloc[:0], "json")) == []


def test_json_and_csv_agree_on_the_digits(bundled_sample):
    frame = top(bundled_sample(2020))
    records = json.loads(tables.text(frame, "json"))
    read = pd.read_csv(io.StringIO(tables.text(frame, "csv")))
    assert [record["value"] for record in records] == read["value"].tolist()


@pytest.mark.parametrize("format", list(tables.FORMATS))
def test_every_format_takes_odd_frames_and_leaves_them_alone(format):
    times = [pd.NaT, pd.Timestamp("2020-01-02")]
    odd = pd.DataFrame({"a": [[1, 2], None], "b": times, "c": [None, None]}, index=[7, 7])
    odd.columns = ["a", "a", "c"]
    before = odd.copy()
    tables.text(odd, format)
    tables.text(odd.iloc[:0], format)
    tables.text(pd.DataFrame(), format)
    pd.testing.assert_frame_equal(odd, before)


def test_an_unknown_format_is_told_with_the_known_ones():
    with pytest.raises(Trouble, match="no table format `xlsx`; there are table, csv, json, markdown, latex or html"):
        tables.text(pd.DataFrame(), "xlsx")


def test_importing_tables_loads_nothing_that_draws():
    heavy = ("matplotlib", "jinja2", "scipy", "seaborn")
    code = f"import sys, analysis.tables; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
