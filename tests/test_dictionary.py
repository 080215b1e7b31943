"""The data dictionary says what the database holds, no more and no less."""

import re

import duckdb

from analysis import ROOT, store


def described() -> list[tuple[str, str, str]]:
    rows, table = [], ""
    for line in (ROOT / "data" / "README.md").read_text(encoding="utf-8").splitlines():
        if heading := re.fullmatch(r"## (\w+)", line):
            table = heading[1]
        if row := re.fullmatch(r"\| (\w+) \| ([A-Z][^|]*) \| ([^|]+) \| [^|]+ \| \d{4} \|", line):
            rows.append((table, row[1], row[2]))
    return rows


def test_every_column_is_described_with_its_type_in_order():
    with duckdb.connect() as con:
        con.execute(store.SCHEMA.read_text())
        columns = con.execute(
            "select table_name, column_name, data_type from information_schema.columns where table_name in "
            "(select unnest(?)) order by list_position(?, table_name), ordinal_position",
            [list(store.TABLES), list(store.TABLES)],
        ).fetchall()
    assert described() == columns
