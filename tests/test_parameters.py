"""A notebook's parameters: read from its cell, held against what is passed."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from analysis import ROOT, parameters
from analysis.errors import Trouble

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def notebook(tmp_path, *cells: str):
    made = [new_code_cell(source, metadata={"tags": ["parameters"]}) for source in cells]
    path = tmp_path / "02-made.ipynb"
    nbformat.write(new_notebook(cells=made), path)
    return path


CELL = (
    'year: int = 2020  # conference year\nshare: float = 0.5\nname: str = "a # b"\nfull: bool = False\nyears: list = []'
)


def test_a_cell_is_read_without_running_it(tmp_path):
    read = parameters.read(notebook(tmp_path, CELL))
    assert [(one.name, one.type, one.default) for one in read.values()] == [
        ("year", "int", 2020), ("share", "float", 0.5), ("name", "str", "a # b"), ("full", "bool", False), ("years", "list", []),
    ]  # fmt: skip
    assert read["year"].help == "conference year"


def test_a_text_may_hold_what_looks_like_a_comment(tmp_path):
    read = parameters.read(notebook(tmp_path, 'name: str = "é # b"  # said # so'))
    assert read["name"].help == "said # so"


def test_no_code_comes_before_the_cell(tmp_path):
    path = notebook(tmp_path, CELL)
    made = nbformat.read(path, 4)
    made.cells.insert(0, new_code_cell("print(year)"))
    nbformat.write(made, path)
    with pytest.raises(Trouble, match="before all other code"):
        parameters.read(path)


@pytest.mark.parametrize(
    "cell",
    [
        "year = 2020",
        "year: int",
        "year: int = now()",
        'year: int = "2020"',
        "year: int = True",
        "year: dict = {}",
        "import os",
        "year:",
    ],
)
def test_anything_but_typed_plain_literals_is_refused(tmp_path, cell):
    with pytest.raises(Trouble, match=r"02-made\.ipynb"):
        parameters.read(notebook(tmp_path, cell))


@pytest.mark.parametrize("cells", [(), (CELL, CELL)])
def test_there_is_exactly_one_cell(tmp_path, cells):
    with pytest.raises(Trouble, match=f"has {len(cells)}"):
        parameters.read(notebook(tmp_path, *cells))


def test_what_is_no_notebook_is_told(tmp_path):
    path = tmp_path / "02-made.ipynb"
    path.write_text("not JSON")
    with pytest.raises(Trouble, match="not a notebook"):
        parameters.read(path)


@pytest.mark.parametrize(
    ("name", "value", "meant"),
    [("year", "2021", 2021), ("year", 2021, 2021), ("share", "1e3", 1000.0), ("share", 1, 1), ("full", "true", True), ("full", "False", False),
     ("name", "2020", "2020"), ("years", "[2020, 2021]", [2020, 2021])],
)  # fmt: skip
def test_values_are_read_as_their_type(tmp_path, name, value, meant):
    path = notebook(tmp_path, CELL)
    assert parameters.checked(path, parameters.read(path), {name: value}) == {name: meant}


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [("yaer", 2021, "no parameter `yaer`; it has year"), ("year", "twenty", "takes a whole number, not 'twenty'"), ("year", "2020.0", "a whole number"),
     ("full", "maybe", "true or false"), ("full", 1, "true or false"), ("years", "2020", "a list"), ("name", 3, "a text"), ("share", "nan", "a number")],
)  # fmt: skip
def test_a_wrong_name_or_type_is_one_sentence(tmp_path, name, value, said):
    path = notebook(tmp_path, CELL)
    with pytest.raises(Trouble, match=said.replace("(", r"\(")):
        parameters.checked(path, parameters.read(path), {name: value})


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_shipped_notebooks(path):
    read = parameters.read(path)
    assert all(one.help for one in read.values())
    cells = nbformat.read(path, 4).cells
    assert "parameters" in cells[1].metadata.get("tags", []), "the parameters cell comes right after the title"
    assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in cells)


def test_there_are_notebooks():
    assert [path.name[:2] for path in NOTEBOOKS] == sorted(path.name[:2] for path in NOTEBOOKS) and NOTEBOOKS
