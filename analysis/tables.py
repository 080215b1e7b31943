"""Tables: one frame as text, for the terminal, a spreadsheet, a program, a page or a paper.

CSV and JSON hold fractions and are meant for programs; all other formats are meant for readers and show percent.
Whatever the text cells hold (titles, keywords), it stays text in every format.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Callable, Collection
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from pandas.api import types

from analysis.errors import Trouble, choices

MISSING = "\N{EN DASH}"
NAMES_OF_TIME = ("year", "than")  # whole numbers that take no thousands separator
DIGITS = 10  # significant digits of a fraction in CSV and JSON: more change with the machine, fewer lose counts
WIDE = 34  # characters: a column with a longer text is set in lines where the format knows lines
COLUMN, PAGE = 40, 84  # letters of \\small that one column of a two-column paper holds, and both
FORMULA = re.compile(r"[=+\-@\t\r]")  # what makes a spreadsheet run a cell that begins with it


def text(frame: pd.DataFrame, format: str, shares: Collection[str] = (), caption: str = "", note: str = "") -> str:
    """The frame in one of the formats `table` (terminal), `csv`, `json`, `markdown`, `latex` and `html`.

    `shares` names the columns of fractions that readers see as percent. `caption` stands above, `note` (source, exclusions)
    small below; CSV and JSON have no place for them.
    """
    if format not in FORMATS:
        raise Trouble(f"There is no table format `{format}`; there are {choices(FORMATS)}.")
    return FORMATS[format](frame, shares, caption, note)


def parquet(frame: pd.DataFrame, path: Path) -> None:
    """Write the frame as Parquet: numbers keep their types and all digits, text stays text."""
    with _memory().cursor() as con:
        con.register("frame", frame)
        con.execute(
            f"copy (from frame) to '{str(path).replace(chr(39), chr(39) * 2)}' (format parquet, compression zstd)"
        )


@cache
def _memory():
    """A database without a file, one for the process: to open it takes ten times as long as to write a table."""
    import duckdb

    return duckdb.connect(config={"threads": "1"})


# For programs -------------------------------------------------------------------------------------------------------


def _csv(frame: pd.DataFrame, shares: Collection[str], caption: str, note: str) -> str:
    guarded = pd.DataFrame({place: _guarded(frame.iloc[:, place]) for place in range(frame.shape[1])})
    guarded.columns = [_guard(str(name)) for name in frame.columns]
    return guarded.to_csv(index=False, lineterminator="\n", float_format=f"%.{DIGITS}g").removesuffix("\n")


def _guarded(column: pd.Series) -> pd.Series:
    return column if _is_number(column) else column.map(_guard, na_action="ignore")


def _guard(cell: object) -> object:
    """A text that a spreadsheet would run (``=cmd|' /C calc'!A0``) gets a quote before it; numbers stay numbers."""
    return f"'{cell}" if isinstance(cell, str) and FORMULA.match(cell) else cell


def _json(frame: pd.DataFrame, shares: Collection[str], caption: str, note: str) -> str:
    names = [str(name) for name in frame.columns]
    rows = frame.astype(object).itertuples(index=False, name=None)
    lines = [json.dumps(dict(zip(names, map(plain, row), strict=True)), ensure_ascii=False) for row in rows]
    return "[\n" + ",\n".join(f"  {line}" for line in lines) + "\n]" if lines else "[]"


def plain(cell: object) -> object:
    """A cell as JSON knows it; NaN and NA are null, and so is infinity."""
    if isinstance(cell, list | tuple | set | np.ndarray):
        return [plain(one) for one in cell]
    if cell is None or pd.isna(cell):
        return None
    if isinstance(cell, bool | np.bool_):
        return bool(cell)
    if isinstance(cell, int | np.integer):
        return int(cell)
    if isinstance(cell, float | np.floating):
        return float(f"{cell:.{DIGITS}g}") if np.isfinite(cell) else None
    return str(cell)


# For readers --------------------------------------------------------------------------------------------------------


def _table(frame: pd.DataFrame, shares: Collection[str], caption: str, note: str) -> str:
    names, columns, right = _printed(frame, shares)
    laid = [_column(name, cells, to_right) for name, cells, to_right in zip(names, columns, right, strict=True)]
    lines = ["  ".join(row).rstrip() for row in zip(*laid, strict=True)]
    return "\n".join([*([_clean(caption)] if caption else []), *lines, *([_clean(note)] if note else [])])


def _column(name: str, cells: list[str], right: bool) -> list[str]:
    """A head, a rule and the cells, all of one width on the screen."""
    width = max(map(_screen_width, [name, *cells]))
    gaps = [" " * (width - _screen_width(cell)) for cell in (name, *cells)]
    head, *padded = [gap + cell if right else cell + gap for gap, cell in zip(gaps, (name, *cells), strict=True)]
    return [head, "-" * width, *padded]


def _screen_width(cell: str) -> int:
    """How many columns of a terminal a text takes: two for a Chinese character, none for an accent put over another."""
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in cell)


def _markdown(frame: pd.DataFrame, shares: Collection[str], caption: str, note: str) -> str:
    names, columns, right = _printed(frame, shares)
    rule = ["---:" if to_right else ":---" for to_right in right]
    rows = [list(map(markdown_escaped, row)) for row in [names, *zip(*columns, strict=True)]]
    lines = [f"| {' | '.join(row)} |" for row in [rows[0], rule, *rows[1:]]]
    above = [markdown_escaped(caption), ""] if caption else []
    return "\n".join([*above, *lines, *(["", markdown_escaped(note)] if note else [])])


def markdown_escaped(cell: str) -> str:
    return re.sub(r"([\\`*_\[\]|$#~])", r"\\\1", html.escape(cell, quote=False))


def _html(frame: pd.DataFrame, shares: Collection[str], caption: str, note: str) -> str:
    names, columns, right = _printed(frame, shares)
    kinds = [_html_kind(cells, to_right) for cells, to_right in zip(columns, right, strict=True)]
    head = "".join(f'<th scope="col"{kind}>{html.escape(name)}</th>' for name, kind in zip(names, kinds, strict=True))
    rows = [
        "".join(f"<td{kind}>{html.escape(cell)}</td>" for cell, kind in zip(row, kinds, strict=True))
        for row in zip(*columns, strict=True)
    ]
    title = [f"<caption>{html.escape(caption)}</caption>"] if caption else []
    body = [f"<tr>{row}</tr>" for row in rows]
    below = [f'<tfoot><tr><td colspan="{len(names)}">{html.escape(note)}</td></tr></tfoot>'] if note else []
    parts = ["<table>", *title, f"<thead><tr>{head}</tr></thead>", "<tbody>", *body, "</tbody>", *below, "</table>"]
    return "\n".join(parts)


def _html_kind(cells: list[str], right: bool) -> str:
    if right:
        return ' class="number"'
    return ' class="prose"' if _is_prose(cells) else ""


def _latex(frame: pd.DataFrame, shares: Collection[str], caption: str, note: str) -> str:
    """A `tabular` with the rules of booktabs, in a `table` where there is a caption; needs \\usepackage{booktabs,graphicx}.

    One that is wider than the column of a two-column paper goes across both, and one that is wider still is scaled down.
    """
    names, columns, right = _printed(frame, shares)
    kinds = [_latex_kind(cells, to_right) for cells, to_right in zip(columns, right, strict=True)]
    head, *rows = [" & ".join(map(latex_escaped, row)) + r" \\" for row in [names, *zip(*columns, strict=True)]]
    begin = rf"\begin{{tabular}}{{@{{}}{''.join(kinds)}@{{}}}}"
    tabular = [begin, r"\toprule", head, r"\midrule", *rows, r"\bottomrule", r"\end{tabular}"]
    if not caption:
        return "\n".join(tabular)
    width = _latex_width(names, columns)
    kind = "table" if width <= COLUMN else "table*"
    if width > PAGE:
        tabular = [r"\resizebox{\linewidth}{!}{%", *tabular[:-1], rf"{tabular[-1]}}}"]
    above = [rf"\begin{{{kind}}}[t]", r"\centering", r"\small", rf"\caption{{{latex_escaped(caption)}}}"]
    below = [rf"\par\smallskip{{\footnotesize {latex_escaped(note)}\par}}"] if note else []
    return "\n".join([*above, *tabular, *below, rf"\end{{{kind}}}"])


def _latex_width(names: list[str], columns: list[list[str]]) -> int:
    """About how many letters wide a table is, with two between columns; prose is set in lines."""
    widths = [min(max(map(len, [name, *cells])), WIDE) for name, cells in zip(names, columns, strict=True)]
    return sum(widths) + 2 * (len(widths) - 1)


def _latex_kind(cells: list[str], right: bool) -> str:
    if right:
        return "r"
    return r"p{0.35\linewidth}" if _is_prose(cells) else "l"


LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",  # the sign itself wants a font encoding that not every paper has
    "[": "{[}",  # after the end of a row, a bracket is its argument
    "]": "{]}",
    "*": "{*}",  # and so is a star
    MISSING: "--",
}


def latex_escaped(cell: str) -> str:
    return "".join(LATEX.get(sign, sign) for sign in cell).replace(r" \%", r"\,\%")


# Cells as readers see them ------------------------------------------------------------------------------------------


def _printed(frame: pd.DataFrame, shares: Collection[str]) -> tuple[list[str], list[list[str]], list[bool]]:
    """The names, the cells column by column, and which columns are numbers (set to the right)."""
    series = [frame.iloc[:, place] for place in range(frame.shape[1])]
    names = [_clean(str(name)).replace("_", " ") for name in frame.columns]
    columns = [_cells(column, name in shares, name) for column, name in zip(series, frame.columns, strict=True)]
    return names, columns, [_is_number(column) for column in series]


def _cells(column: pd.Series, is_share: bool, name: object) -> list[str]:
    show = _shower(column, is_share, name)
    return [MISSING if _is_missing(cell) else show(cell) for cell in column.astype(object)]


def _is_missing(cell: object) -> bool:
    return cell is None or (not isinstance(cell, list | tuple | set | np.ndarray) and bool(pd.isna(cell)))


def _shower(column: pd.Series, is_share: bool, name: object) -> Callable[[object], str]:
    """How a column's cells are written: one way for all of them."""
    if is_share:
        return lambda cell: f"{100 * cell:.1f} %"
    if types.is_bool_dtype(column):
        return lambda cell: "yes" if cell else "no"
    if not _is_number(column):
        return lambda cell: _clean(str(cell))
    if name in NAMES_OF_TIME:
        return lambda cell: f"{cell:.0f}"
    digits = _digits(column)
    return lambda cell: f"{cell:,.{digits}f}"


def _digits(column: pd.Series) -> int:
    """Decimals that show the point: two, three where there are values between -1 and 1, and none that are all zero."""
    values = column.dropna().to_numpy(dtype=float)
    values = values[np.isfinite(values)]
    most = 3 if ((values != 0) & (np.abs(values) < 1)).any() else 2
    exact = (np.allclose(values, values.round(digits), rtol=0, atol=1e-9) for digits in range(most))
    return next((digits for digits, all_zero_after in enumerate(exact) if all_zero_after), most)


def _is_prose(cells: list[str]) -> bool:
    return max(map(len, cells), default=0) > WIDE


def _is_number(column: pd.Series) -> bool:
    return types.is_numeric_dtype(column) and not types.is_bool_dtype(column)


def _clean(cell: str) -> str:
    """One line without characters that move a terminal's cursor or turn the writing around."""
    return " ".join("".join(" " if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") else c for c in cell).split())


FORMATS: dict[str, Callable[[pd.DataFrame, Collection[str], str, str], str]] = {
    "table": _table,
    "csv": _csv,
    "json": _json,
    "markdown": _markdown,
    "latex": _latex,
    "html": _html,
}
