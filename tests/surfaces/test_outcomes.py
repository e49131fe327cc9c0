"""Results for people."""

from typing import Any

import pytest

from brasstag.surfaces.cli.outcomes import print_value


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
