"""A notebook's parameters cell: read without running it, and held against what somebody passes."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import Trouble, choices

TYPES = {"str": str, "int": int, "float": float, "bool": bool, "list": list}


@dataclass(frozen=True)
class Parameter:
    """One line of the cell: ``year: int = 2020  # conference year``."""

    name: str
    type: str
    default: object
    help: str


def read(notebook: Path) -> dict[str, Parameter]:
    """The parameters of a notebook, in order; Trouble where its cell is not plain typed literals."""
    lines = _cell(notebook).splitlines()
    found = {}
    for statement in _parsed(notebook, "\n".join(lines)):
        parameter = _parameter(notebook, statement, lines[statement.end_lineno - 1])
        found[parameter.name] = parameter
    return found


def _cell(notebook: Path) -> str:
    """The source of the one cell tagged `parameters`; papermill would go on silently without one."""
    try:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, KeyError, TypeError):
        raise Trouble(f"{notebook.name} is not a notebook.") from None
    tagged = [cell for cell in cells if "parameters" in cell.get("metadata", {}).get("tags", [])]
    if len(tagged) != 1:
        raise Trouble(f"{notebook.name} needs one cell with the tag `parameters`, and has {len(tagged)}.")
    first = next(cell for cell in cells if cell.get("cell_type") == "code" or cell is tagged[0])
    if first is not tagged[0]:
        raise Trouble(f"{notebook.name}: the parameters cell must come before all other code, or that misses them.")
    return "".join(tagged[0]["source"])


def _parsed(notebook: Path, source: str) -> list[ast.stmt]:
    try:
        return ast.parse(source).body
    except SyntaxError as error:
        raise Trouble(
            f"{notebook.name}: the parameters cell is not Python ({error.msg}, line {error.lineno})."
        ) from None


def _parameter(notebook: Path, statement: ast.stmt, line: str) -> Parameter:
    try:
        name, kind = statement.target.id, statement.annotation.id
        default = ast.literal_eval(statement.value)
    except (AttributeError, ValueError):
        raise Trouble(
            f"{notebook.name}: the parameter `{line.strip()}` must be a typed plain literal, as `year: int = 2020  # conference year`."
        ) from None
    if kind not in TYPES or not fits(default, kind):
        raise Trouble(
            f"{notebook.name}: the parameter `{name}` has type {kind} and default {default!r}; types are {choices(TYPES)}."
        )
    rest = line.encode()[statement.end_col_offset :].decode()  # a text may hold a # of its own
    return Parameter(name, kind, default, rest.partition("#")[2].strip())


def fits(value: object, kind: str) -> bool:
    """Whether a value is of the named type; True is no int, and an int will do for a float."""
    if kind == "float":
        return type(value) in (int, float)
    return type(value) is TYPES[kind]


def checked(notebook: Path, known: Mapping[str, Parameter], given: Mapping[str, object]) -> dict[str, object]:
    """The given values, text read as the type of its parameter; Trouble for a name or type that the notebook lacks.

    Papermill would pass on a misspelt name with a mere warning, and "false" as a text that is true.
    """
    values = {}
    for name, value in given.items():
        if name not in known:
            raise Trouble(f"{notebook.name} has no parameter `{name}`; it has {choices(known)}.")
        kind = known[name].type
        values[name] = _read_as(value, kind)
        if not fits(values[name], kind):
            raise Trouble(f"{notebook.name}: the parameter `{name}` takes {_named(kind)}, not {value!r}.")
    return values


def _read_as(value: object, kind: str) -> object:
    if not isinstance(value, str) or kind == "str":
        return value
    try:
        return ast.literal_eval({"true": "True", "false": "False"}.get(value, value))
    except (ValueError, SyntaxError):
        return value


def _named(kind: str) -> str:
    words = {"str": "a text", "int": "a whole number", "float": "a number", "bool": "true or false", "list": "a list"}
    return words[kind]
