"""Comparing two contents: the lines of a unified diff, within reason for texts of any length."""

import difflib
from collections.abc import Iterator

MOST_DIFFED_LINES = 20_000
"""Beyond this a diff takes minutes; then only what the two sides share at their ends is left out."""
CONTEXT = 3


def diff_lines(before: bytes | None, after: bytes | None) -> Iterator[str]:
    """Yield the lines of a unified diff between two contents; bytes that are not text are told by their size."""
    if before is None or after is None:
        yield "@ the bytes are not kept here any more"
        return
    try:
        old, new = before.decode(), after.decode()
    except UnicodeDecodeError:
        yield f"@ not text: {len(before)} bytes become {len(after)} bytes"
        return
    yield from diff_texts(old, new)


def diff_texts(old: str, new: str, context: int = CONTEXT) -> Iterator[str]:
    """Yield the lines of a unified diff between two texts, and what of line ends does not show in them."""
    if "\r\n" in old + new and not _bare_ends(old) and not _bare_ends(new):
        yield "@ lines end with CR LF, before and after"
        old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    yield from _compared(_lines(old), _lines(new), context)
    if old and new and old.endswith("\n") != new.endswith("\n"):
        yield f"@ the last line {'now ends' if new.endswith(chr(10)) else 'no longer ends'} with a line break"


def _lines(text: str) -> list[str]:
    # Not splitlines: it also breaks at characters that are part of a line here, and then they would not show.
    return text.removesuffix("\n").split("\n") if text else []


def _bare_ends(text: str) -> bool:
    return text.count("\n") != text.count("\r\n")


def _compared(old: list[str], new: list[str], context: int) -> Iterator[str]:
    if len(old) + len(new) > MOST_DIFFED_LINES:
        yield from _ends_stripped(old, new)
        return
    lines = difflib.unified_diff(old, new, lineterm="", n=context)
    for _header in range(2):
        next(lines, None)
    yield from lines


def _ends_stripped(old: list[str], new: list[str]) -> Iterator[str]:
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    yield f"@@ from line {start + 1} @@"
    yield from (f"-{line}" for line in old[start : len(old) - end])
    yield from (f"+{line}" for line in new[start : len(new) - end])
