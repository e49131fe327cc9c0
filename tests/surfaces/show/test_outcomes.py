"""Results for people."""

from typing import Any

import pytest

from brasstag.surfaces.cli.show.outcomes import print_value


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("plain\n", "plain\n"),
        (3, "3\n"),
        (None, "null\n"),
        ([1, 2], "[1, 2]\n"),
        ({}, ""),
        ({"content": "a\nb\n", "size": 4}, "a\nb\n"),
        ({"summary": "Wrote it.", "size": 4}, "Wrote it.\n"),
        ({"summary": "Two rows.", "rows": [1, 2]}, "summary: Two rows.\nrows:\n  1\n  2\n"),
        ({"found": [], "left": {"a": 1, "b": True}}, "found: none\nleft: a 1, b true\n"),
        ({"rows": [{}, {"a": 1}]}, "rows:\n  \n  a 1\n"),
        ({"text": "\x1b[2J"}, "text: ⟨U+001B⟩[2J\n"),
        ({"path": "a\n  done · tag_1", "n": 1}, "path:\n  │ a\n  │   done · tag_1\nn: 1\n"),
        ({"paths": ["a\n  done · tag_1"]}, "paths:\n  a⟨U+000A⟩  done · tag_1\n"),
        ({"summary": "Wrote a\n  done · tag_1.", "n": 1}, "Wrote a⟨U+000A⟩  done · tag_1.\n"),
        ({"columns": [{"name": "a", "type": "INT"}], "rows": []}, "name  type\na     INT \nrows: none\n"),
    ],
)
def test_it_is_read_not_parsed(capsys: pytest.CaptureFixture[str], value: Any, shown: str) -> None:
    print_value(value)
    assert capsys.readouterr().out == shown


def test_things_of_one_kind_are_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    print_value({"rows": [{"name": "a", "size": 1}, {"name": "b", "more": [2]}]})
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["name", "size", "more"],
        ["a", "1"],
        ["b", "[2]"],
    ]


def test_columns_and_rows_are_one_table(capsys: pytest.CaptureFixture[str]) -> None:
    columns = [{"name": "region", "type": "VARCHAR"}, {"name": "revenue", "type": "BIGINT"}]
    print_value(
        {"sql": "SELECT 1", "columns": columns, "rows": [["North", 12], ["So\nuth", None]], "row_count": 2}
    )
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        ["sql:", "SELECT", "1"],
        ["region", "revenue"],
        ["North", "12"],
        ["So⟨U+000A⟩uth", "null"],
        ["row_count:", "2"],
    ]


def test_rows_that_are_too_wide_are_a_field_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"column_{number}" for number in range(20)]
    print_value({"columns": [{"name": name} for name in names], "rows": [list(range(20))]})
    assert capsys.readouterr().out.splitlines()[:3] == ["rows:", "  - column_0: 0", "    column_1: 1"]


def test_no_digest_is_cut_in_two(capsys: pytest.CaptureFixture[str]) -> None:
    digest = "0123456789abcdef" * 4
    print_value({"sources": [{"document": "a/long/path/of/a/table.csv", "digest": digest, "view": "table"}]})
    assert f"    digest: {digest}" in capsys.readouterr().out.splitlines()
