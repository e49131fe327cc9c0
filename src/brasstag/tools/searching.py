"""Searching: text or RE2 expressions, line by line, over a descriptor walk of the workspace.

RE2 never backtracks, so no expression can make it take longer than the bytes it reads deserve.
"""

import time
from dataclasses import dataclass, field
from typing import Any

import re2

from brasstag.sandbox.workspace.draft import Draft
from brasstag.toolkit.config import Limits
from brasstag.toolkit.declare import tool
from brasstag.words.errors import Code, ToolError

_SNIFFED_BYTES = 8000
_SHARE_OF_TIME = 0.8
"""A search stops by itself a little before its tool would be stopped, and hands over what it has."""


@dataclass(slots=True)
class _Search:
    """One search on its way."""

    expression: Any
    context: int
    most: int
    longest_line: int
    matches: list[dict[str, Any]] = field(default_factory=list)

    def look_into(self, path: str, data: bytes) -> bool:
        """Note the matching lines of a file; return False once there are enough."""
        start_of_line, line = 0, 1
        seen = -1
        for match in self.expression.finditer(data):
            begin = match.start()
            if begin < seen:
                continue
            line += data.count(b"\n", start_of_line, begin)
            start_of_line = data.rfind(b"\n", 0, begin) + 1
            end_of_line = data.find(b"\n", begin)
            end_of_line = len(data) if end_of_line < 0 else end_of_line
            seen = end_of_line + (end_of_line == begin == match.end())
            if len(self.matches) == self.most:
                return False
            self.matches.append(self._shown(path, data, line, start_of_line, begin, end_of_line))
        return True

    def _shown(self, path: str, data: bytes, line: int, start: int, begin: int, end: int) -> dict[str, Any]:
        found: dict[str, Any] = {
            "path": path,
            "line": line,
            "column": len(data[start:begin].decode(errors="replace")) + 1,
            "text": self._text(data[start:end]),
        }
        if self.context:
            before = data[:start].split(b"\n")[:-1] if start else []
            after = data[end + 1 :].split(b"\n", self.context)[: self.context] if end < len(data) - 1 else []
            found["before"] = [self._text(text) for text in before[-self.context :]]
            found["after"] = [self._text(text) for text in after]
        return found

    def _text(self, line: bytes) -> str:
        text = line.decode(errors="replace").rstrip("\r")
        return text if len(text) <= self.longest_line else f"{text[: self.longest_line]}…"


@tool(execution_type="function")
def search_code(
    workspace: Draft,
    limits: Limits,
    query: str,
    directory: str = ".",
    regex: bool = False,
    case_sensitive: bool = True,
    include: list[str] | None = None,
    exclude: list[str] | None = None,
    include_hidden: bool = False,
    context: int = 0,
    max_results: int = 200,
) -> dict[str, Any]:
    """search_code"""
    search = _Search(
        _compiled(query, regex, case_sensitive), context, max_results, limits.numbers["max_line_characters"]
    )
    most = limits.numbers["max_file_bytes"]
    deadline = time.monotonic() + limits.timeout_seconds * _SHARE_OF_TIME
    globs = [*(include or ()), *(f"!{glob}" for glob in exclude or ())]
    searched = binary = too_large = 0
    truncated: str | None = None
    for path, file in workspace.open_files(directory, globs, include_hidden):
        data = file.read(most + 1)
        if len(data) > most:
            too_large += 1
        elif b"\0" in data[:_SNIFFED_BYTES]:
            binary += 1
        else:
            searched += 1
            if not search.look_into(path, data):
                truncated = "results"
                break
        if time.monotonic() > deadline:
            truncated = "time"
            break
    skipped = {
        "binary": binary,
        "too_large": too_large,
        "unreadable": workspace.skipped_count,
        "forbidden": workspace.hidden_count,
    }
    return {"matches": search.matches, "files_searched": searched, "skipped": skipped, "truncated": truncated}


def _compiled(query: str, regex: bool, case_sensitive: bool) -> Any:
    if "\n" in query:
        raise ToolError(
            Code.INVALID_ARGUMENTS, "a match lies within one line; search for one line of the text"
        )
    options = re2.Options()
    options.log_errors = False
    options.never_nl = True
    options.max_mem = 32 << 20
    options.literal = not regex
    options.case_sensitive = case_sensitive
    try:
        return re2.compile((f"(?m){query}" if regex else query).encode(), options)
    except re2.error as error:
        reason = error.args[0].decode(errors="replace") if isinstance(error.args[0], bytes) else str(error)
        raise ToolError(
            Code.INVALID_ARGUMENTS,
            f"query is not an RE2 regular expression: {reason}. Look-around and back-references are not supported",
        ) from None
