from dataclasses import replace

import pytest

from brasstag.toolkit.docs import tools_page
from tests.toolkit.samples import a_tool

READ = a_tool(
    {
        "path": {
            "type": "string",
            "description": "Path | of\nthe file.",
            "required": True,
            "aliases": ["file"],
        },
        "encoding": {
            "type": "string",
            "description": "How.",
            "enum": ["utf-8", "base64"],
            "default": "utf-8",
        },
        "lines": {"type": "integer", "description": "How many.", "minimum": 1},
    },
    tool_id="read_file",
    description="Read a file.",
    returns={"content": "string"},
    approval="auto",
    effects="none",
    replay="safe",
    limits={"timeout_seconds": 2.5, "numbers": {"max_bytes": 10}},
    aliases=["cat"],
    examples=[{"arguments": {"path": "a.md"}, "note": "Read a note"}],
)
THINK = a_tool(tool_id="think", description="Think.", type="non_function_tool")

PAGE = """# Tools

This page is generated from the tools' configs by `brasstag tools docs`; do not edit it.

- [`read_file`](#read_file): Read a file.
- [`think`](#think): Think.

## read_file

Read a file.

- **Kind:** `function_tool`
- **Also called:** `cat`
- **Approval:** not needed, unless a rule asks
- **Effects:** none; it only reads the workspace
- **After a crash:** an interrupted call runs again
- **Limits:** 2.5 s, results up to 2000000 bytes, max_bytes 10
- **Fails with:** `INVALID_ARGUMENTS`, `NOT_ALLOWED`, `BLOCKED_BY_RULE`, `DENIED`, `TIMEOUT`, `INVALID_PATH`, \
`FILE_NOT_FOUND`, `PERMISSION_DENIED`, `CONTROL_FILE`, and others

| parameter | type | given | meaning |
|---|---|---|---|
| `path` (or `file`) | string | required | Path \\| of the file. |
| `encoding` | one of "utf-8", "base64" | default `"utf-8"` | How. |
| `lines` | integer (at least 1) | optional | How many. |

Returns:

| field | type | meaning |
|---|---|---|
| `content` | string |  |

Read a note:

```json
{
  "name": "read_file",
  "arguments": {
    "path": "a.md"
  }
}
```

## think

Think.

- **Kind:** `non_function_tool`
- **Approval:** as the profile says
"""


def test_the_page_says_everything_a_config_says() -> None:
    assert tools_page([READ, THINK]) == PAGE


def test_the_page_does_not_depend_on_the_order_of_the_tools() -> None:
    assert tools_page([THINK, READ]) == PAGE


def test_approval_is_told_in_words() -> None:
    assert "- **Approval:** always asked\n" in tools_page([a_tool(approval="confirm")])
    page = tools_page([a_tool(approval="when_overwriting")])
    assert "- **Approval:** asked when the call overwrites something\n" in page


@pytest.mark.parametrize(
    ("injected", "said"),
    [
        ({"workspace", "limits"}, "none; it only reads the workspace"),
        (
            {"annotate"},
            "changes no file; it tags or describes documents, which rules and profiles know as `annotates`",
        ),
        (
            {"workspace", "adviser"},
            "changes no file; where it asks the task's model, which is shown what it read, that is judged as `external`",
        ),
    ],
)
def test_what_a_tool_does_beside_reading_is_told(injected: set[str], said: str) -> None:
    page = tools_page([replace(READ, injected=frozenset(injected))])
    assert f"- **Effects:** {said}\n" in page


def test_a_result_without_named_fields_is_still_told() -> None:
    assert "Returns an object.\n" in tools_page([a_tool(returns={"type": "object"})])
