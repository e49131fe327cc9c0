"""Tables in which not every line fits: every column and every value is there, and the lines are told."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from brasstag.documents.data import ragged
from brasstag.documents.data.query import answer
from brasstag.words.errors import Code, ToolError
from tests.documents.data.test_tables import refusal, tables

HEADER = ["id,name,price"]
ROWS = [f"{number},name{number},{number * 1.5}" for number in range(100)]
MANY = [f"{number},name{number},{number * 1.5}" for number in range(30_000)]
FEWER = "1 line has fewer than 3 values, and the others are NULL (line {})"
MORE = "1 line has more than 3 values, and the others stand in column3 (line {})"


def lines(*parts: str) -> str:
    return "\n".join(parts) + "\n"


def opened(folder: Path, content: bytes | str, name: str = "a.csv") -> tuple[list[str], list[list[Any]], str]:
    """Return columns and rows of a file, and what is told of it once it was read."""
    found = tables(folder, {name: content})
    read = found.query("FROM a", 100_000)
    return [column for column, _ in read.columns], read.rows, found.shown[0].source.note


@pytest.mark.parametrize(("place", "line"), [(0, 2), (50, 52), (100, 102)])
def test_a_line_with_too_few_values_is_filled_up_and_told(tmp_path: Path, place: int, line: int) -> None:
    columns, rows, note = opened(tmp_path, lines(*HEADER, *ROWS[:place], "999,short", *ROWS[place:]))
    assert columns == ["id", "name", "price"]
    assert rows[place] == [999, "short", None]
    assert (len(rows), note) == (101, FEWER.format(line))


@pytest.mark.parametrize(("place", "line"), [(0, 2), (50, 52), (100, 102)])
def test_a_line_with_too_many_values_loses_none_and_is_told(tmp_path: Path, place: int, line: int) -> None:
    columns, rows, note = opened(tmp_path, lines(*HEADER, *ROWS[:place], "999,long,1,extra", *ROWS[place:]))
    assert columns == ["id", "name", "price", "column3"]
    assert rows[place] == [999, "long", 1.0, "extra"]
    assert (len(rows), note) == (101, MORE.format(line))


@pytest.mark.parametrize(
    ("odd", "told"), [("9,short", FEWER.format("30,002")), ("9,long,1,extra", MORE.format("30,002"))]
)
def test_a_line_far_behind_the_beginning_is_told_with_the_answer(tmp_path: Path, odd: str, told: str) -> None:
    place = tmp_path / "file"
    place.write_text(lines(*HEADER, *MANY, odd))
    request = {"documents": [{"path": "a.csv", "file": str(place)}], "seconds": 20, "memory_mb": 300}
    found = answer({**request, "sql": "SELECT count(*) FROM a", "most_rows": 9, "most_bytes": 999})
    assert found["rows"] == [[30_001]]
    assert found["tables"][0]["note"] == told


def test_rows_of_many_lengths_keep_all_their_values(tmp_path: Path) -> None:
    columns, rows, note = opened(tmp_path, lines("a,b", "1,2", "3", "4,5,6", "7,8,9,10,"))
    assert columns == ["a", "b", "column2", "column3"]
    assert rows == [[1, 2, None, None], [3, None, None, None], [4, 5, 6, None], [7, 8, 9, 10]]
    assert "1 line has fewer than 2 values" in note
    assert "2 lines have more than 2 values, and the others stand in column2 to column3 (line 4, 5)" in note


def test_values_without_end_stand_in_the_last_of_a_few_columns(tmp_path: Path) -> None:
    columns, rows, _ = opened(tmp_path, lines(*HEADER, "1,x,2" + ",y" * 500, *ROWS))
    assert len(columns) == 23
    assert rows[0][-1] == ",".join("y" * 481)


def test_a_header_that_names_only_some_columns_is_not_left_out(tmp_path: Path) -> None:
    columns, rows, note = opened(tmp_path, lines("id,name", *ROWS))
    assert columns == ["id", "name", "column2"]
    assert (len(rows), rows[2]) == (100, [2, "name2", 3.0])
    assert "(line 2, 3, 4, 5, 6 and 95 more)" in note


def test_what_stands_above_such_a_table_is_told(tmp_path: Path) -> None:
    columns, rows, note = opened(tmp_path, lines("Report of May", "", *HEADER, *ROWS, "9,short"))
    assert (columns, len(rows)) == (["id", "name", "price"], 101)
    assert note == f"its first 2 lines stand above the table and are left out; {FEWER.format(104)}"


@pytest.mark.parametrize(
    "content",
    [
        'id,v\r\n1,é\n2,"b\nc"\r\n3,c\n'.encode(),
        '\ufeffid,v\r\n1,é\n2,"b\nc"\r\n3,c\n'.encode(),
        'id,v\r\n1,é\n2,"b\nc"\r\n3,c\n'.encode("cp1252"),
        'id\tv\r\n1\té\n2\t"b\nc"\r\n3\tc\n'.encode(),
    ],
)
def test_lines_may_end_in_different_ways(tmp_path: Path, content: bytes) -> None:
    columns, rows, note = opened(tmp_path, content)
    assert (columns, rows) == (["id", "v"], [[1, "é"], [2, "b\nc"], [3, "c"]])
    assert note.startswith("its lines do not all end alike")


def test_so_may_those_of_one_column(tmp_path: Path) -> None:
    columns, rows, _ = opened(tmp_path, b"name\r\nDoe, Jo\nAda\r\nJane\n")
    assert (columns, rows) == (["name"], [["Doe, Jo"], ["Ada"], ["Jane"]])


def test_what_is_packed_is_evened_too(tmp_path: Path) -> None:
    columns, rows, note = opened(tmp_path, gzip.compress(lines(*HEADER, *ROWS, "9,x").encode()), "a.csv.gz")
    assert (columns, len(rows), note) == (["id", "name", "price"], 101, FEWER.format(102))


def test_a_quote_that_is_never_closed_is_told_with_its_line(tmp_path: Path) -> None:
    found = tables(tmp_path, {"a.csv": lines(*HEADER, *ROWS[:50], '77,"open,5', *ROWS[50:])})
    with pytest.raises(ToolError, match="line 52 cannot be read") as caught:
        found.query("FROM a", 1000)
    assert caught.value.code is Code.NOT_A_TABLE
    assert len(caught.value.message) < 200


def test_prose_does_not_become_a_table_by_its_commas(tmp_path: Path) -> None:
    text = lines("Dear Ada, dear Jo,", "all is well.", "Come soon, come often, and bring cake.", "Yours, me")
    assert refusal(tmp_path, "notes.txt", text).code is Code.NOT_A_TABLE


def test_what_is_too_large_to_be_written_anew_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ragged, "MOST_RECODED", 1000)
    error = refusal(tmp_path, "a.csv", lines(*HEADER, *ROWS, "9,short"))
    assert error.code is Code.TOO_LARGE
    assert "give every line as many" in error.message
