"""The program behind ask_data: a request on standard input, rows of one SELECT or an error on standard output.

{"documents": [{path, file | content}], "seconds", "memory_mb", "sql", "most_rows", "most_bytes"}
{"documents": …, "sample_rows"}      what tables there are, with their columns and first rows
"""

import json
from collections.abc import Mapping
from typing import Any

from brasstag.documents.data.sources import identifier
from brasstag.documents.data.stdio import reply
from brasstag.documents.data.tables import QueryLimits, QueryResult, Tables, table_files
from brasstag.words.errors import Code, ToolError


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a request asks for; raise ToolError where that cannot be given."""
    tables = open_tables(request)
    if "sql" not in request:
        samples = [
            tables.query(f"FROM {identifier(one.view)}", request["sample_rows"]) for one in list(tables.shown)
        ]
        return {
            "tables": [
                one.as_json()
                | {"columns": as_columns(sample), "rows": fitting(sample.rows, request["most_bytes"])[0]}
                for one, sample in zip(tables.shown, samples, strict=True)
            ]
        }
    found = tables.query(request["sql"], request["most_rows"])
    rows, is_cut = fitting(found.rows, request["most_bytes"])
    truncated = "size" if is_cut else "rows" if found.is_cut else None
    shown = [one.as_json() for one in tables.shown]
    return {"tables": shown, "columns": as_columns(found), "rows": rows, "truncated": truncated}


def open_tables(request: Mapping[str, Any]) -> Tables:
    """Return the documents of a request, ready for SQL."""
    return Tables(table_files(request["documents"]), QueryLimits(request["seconds"], request["memory_mb"]))


def as_columns(found: QueryResult) -> list[dict[str, str]]:
    """Return ``{name, type}`` of each column."""
    return [{"name": name, "type": kind} for name, kind in found.columns]


def fitting(rows: list[list[Any]], most_bytes: int) -> tuple[list[list[Any]], bool]:
    """Return as many rows as weigh no more than that, and whether that left some out; raise where not even one fits."""
    left = most_bytes
    for place, row in enumerate(rows):
        left -= len(json.dumps(row))
        if left < 0:
            if place == 0:
                raise ToolError(
                    Code.TOO_LARGE,
                    f"a single row weighs more than {most_bytes:,} bytes; select fewer columns, or the beginning of "
                    "long ones, such as left(note, 100)",
                )
            return rows[:place], True
    return rows, False


if __name__ == "__main__":
    reply(answer)
