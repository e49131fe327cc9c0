"""What has no sentences of its own is summed up by what it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag.documents.blocks.render import as_markdown
from brasstag.documents.study.describe import describe_blocks, describe_text
from brasstag.documents.study.summarize import LONGEST
from brasstag.words.blocks import Block, Blocks, Place

ROWS = "month,region,revenue\n" + "July,north,7\n" * 30_000


@pytest.mark.parametrize(
    ("media_type", "text", "summary"),
    [
        ("text/csv", ROWS, "A table of 30,000 rows: month, region, revenue."),
        ("text/csv", "1,2\n3,4\n", "A table of 2 rows."),
        ("text/csv", 'name;town\n"a\nb";Oslo\n', "A table of 1 row: name, town."),
        ("text/csv", "", ""),
        ("text/csv", "Report of May\r\n\r\nid,price\r\n1,2\r\n", "A table of 1 row: id, price."),
        ("text/csv", "# made by x\nid,price\n1,2\n\n3,4\n", "A table of 2 rows: id, price."),
        ("text/csv", "a,a,b\n1,2,3\n", "A table of 1 row: a, a, b."),
        (
            "text/csv",
            ",".join(f"c{n}" for n in range(25)) + "\n",
            f"A table of 0 rows: {', '.join(f'c{n}' for n in range(20))}, and 5 more.",
        ),
        ("text/tab-separated-values", "a\tb,c\n1\t2\n", "A table of 1 row: a, b,c."),
        ("application/json", '[{"a": 1}, {"a": 2, "b": 3}]', "A table of 2 rows: a, b."),
        ("application/json", '{"name": "x", "jobs": []}', "JSON with name, jobs."),
        ("application/json", "[1, 2, 3]", "A JSON list of 3."),
        ("application/json", '"word"', 'The JSON value "word".'),
        ("application/json", "{", "JSON that cannot be read."),
        ("application/json", "[" * 100_000, "JSON that cannot be read."),
        ("application/jsonl", '{"a": 1}\n{"a": 2}\n', "JSON lines, a table of 2 rows: a."),
        (
            "text/x-python",
            '#!/usr/bin/env python\n\n"""Counts sheep.\n\nAt night."""\nimport os\n',
            "Python, 6 lines: Counts sheep.",
        ),
        ("text/x-python", "import os\n", "Python, 1 line."),
        ("text/x-c", "/* Copyright by me. */\n\n// Opens the door.\nint x;\n", "C, 4 lines: Opens the door."),
        ("text/x-c", "#include <a.h>\n", "C, 1 line."),
        ("application/x-sh", "#!/bin/sh\n# Starts it.\n\nexec it\n", "Shell, 4 lines: Starts it."),
        (
            "application/xml",
            '<?xml version="1.0"?>\n<!-- The map of it. -->\n<a/>\n',
            "XML, 3 lines: The map of it.",
        ),
        (
            "image/svg+xml",
            '<?xml version="1.0"?>\n<svg width="120" height="80px"><title>Sales\n by month</title></svg>',
            "A drawing of 120 x 80 (SVG): Sales by month.",
        ),
        ("image/svg+xml", "<svg/>", "A drawing (SVG)."),
        ("text/plain", "The shop opened in July.", "The shop opened in July."),
        ("text/x-unknown", "The shop opened in July.", "The shop opened in July."),
    ],
)
def test_a_text_is_summed_up_by_what_it_is(media_type: str, text: str, summary: str) -> None:
    assert describe_text(text, media_type) == summary


@given(
    st.sampled_from(["text/csv", "application/json", "application/jsonl", "text/x-python", "image/svg+xml"]),
    st.text(max_size=200)
    | st.lists(st.sampled_from(['"""', "#", "\n", ",", "/*", "<!--", "a ", "{"])).map("".join),
)
def test_any_text_can_be_summed_up_as_anything(media_type: str, text: str) -> None:
    assert len(describe_text(text, media_type)) <= LONGEST


def test_a_workbook_is_summed_up_by_its_sheets() -> None:
    table = Block(
        "table", Place(sheet="Q3", row=1), header=("month", "revenue"), rows=(("July", "7"),) * 1200
    )
    sheets = [Block("heading", Place(sheet=name), text=name, level=2) for name in ("Q3", "Notes")]
    blocks = Blocks((sheets[0], table, sheets[1]))
    said = "A workbook of 2 sheets: Q3 (a table of 1,200 rows: month, revenue), Notes (empty)."
    assert describe_blocks(blocks, as_markdown(blocks)) == said


def test_a_document_of_tables_alone_is_summed_up_by_the_first() -> None:
    table = Block("table", header=("month", "revenue"), rows=(("July", "7"),))
    blocks = Blocks((Block("heading", text="Sales", level=1), table))
    said = "Sales: A table of 1 row: month, revenue."
    assert describe_blocks(blocks, as_markdown(blocks)) == said
    prose = Blocks((*blocks.blocks, Block("paragraph", text="The web shop opened in July.")))
    assert describe_blocks(prose, as_markdown(prose)) == "The web shop opened in July."
