"""read_file and list_files: the content of a file, the entries of a directory."""

import base64
from typing import Any

from brasstag.sandbox.workspace.draft import Draft
from brasstag.toolkit.config.config import Limits
from brasstag.toolkit.declare.declare import tool
from brasstag.words.errors import Code, ToolError
from brasstag.words.times import stamp


@tool(execution_type="function")
def read_file(
    workspace: Draft,
    limits: Limits,
    path: str,
    encoding: str = "utf-8",
    start_line: int | None = None,
    end_line: int | None = None,
) -> dict[str, Any]:
    """read_file"""
    limit = limits.numbers["max_bytes"]
    whole = start_line is None and end_line is None
    if encoding == "base64" and not whole:
        raise ToolError(
            Code.INVALID_ARGUMENTS, "bytes in base64 have no lines; leave start_line and end_line out"
        )
    read = workspace.read(path, limit if whole else limits.numbers["max_scanned_bytes"])
    facts = {"size": len(read.data), "modified": stamp(read.look.modified)}
    if encoding == "base64":
        return {"content": base64.b64encode(read.data).decode()} | facts
    if whole:
        return {"content": read.text} | facts
    lines = _lines(read.text)
    first, last = start_line or 1, end_line or len(lines)
    if last < first:
        raise ToolError(Code.INVALID_ARGUMENTS, f"end_line {last} is before start_line {first}")
    content = "".join(lines[first - 1 : last])
    if len(content.encode()) > limit:
        raise ToolError(
            Code.TOO_LARGE, f"lines {first} to {last} are over the limit of {limit} bytes; ask for fewer"
        )
    return {"content": content, "total_lines": len(lines)} | facts


@tool(execution_type="function")
def list_files(
    workspace: Draft, limits: Limits, path: str = ".", recursive: bool = False, include_hidden: bool = False
) -> dict[str, Any]:
    """list_files"""
    most = limits.numbers["max_entries"]
    entries: list[dict[str, Any]] = []
    truncated = False
    for entry in workspace.entries(path, recursive=recursive, hidden=include_hidden):
        if entry.type == "other":
            continue
        if len(entries) == most:
            truncated = True
            break
        entries.append(
            {"name": entry.name, "type": entry.type, "size": entry.size, "modified": stamp(entry.modified)}
        )
    return {
        "entries": entries,
        "truncated": truncated,
        "left_out": workspace.hidden_count + workspace.skipped_count,
    }


def _lines(text: str) -> list[str]:
    """Split at "\\n" only, so that CRLF, and whatever else a line holds, comes back as it is."""
    lines = text.split("\n")
    kept = [f"{line}\n" for line in lines[:-1]]
    return [*kept, lines[-1]] if lines[-1] else kept
