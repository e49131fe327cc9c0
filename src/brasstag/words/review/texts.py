"""Texts that people write in reviews: long enough to say something, short enough to read, and fit for a database."""

import unicodedata

from brasstag.words.canonical import why_not_json
from brasstag.words.errors import Code, ToolError

MOST_IN_LINE = 200
"""Characters of a title, a name, a tag or a link."""


def require_text(what: str, text: str, most: int, *, needed: bool = True) -> None:
    """Raise ToolError where a text is empty and should not be, is too long, or cannot be written down."""
    if needed and not text.strip():
        raise _wrong(f"{what} needs words")
    if len(text) > most:
        raise _wrong(f"{what} has {len(text):,} characters; at most {most:,} are allowed")
    reason = "it holds the character NUL" if "\0" in text else why_not_json(text)
    if reason:
        raise _wrong(f"{what} cannot be written down: {reason}")


def require_line(what: str, text: str, *, needed: bool = True) -> None:
    """Raise ToolError where a text is not one line that people can read."""
    require_text(what, text, MOST_IN_LINE, needed=needed)
    if any(unicodedata.category(letter) in ("Cc", "Zl", "Zp") for letter in text):
        raise _wrong(f"{what} is one line without control characters")


def _wrong(why: str) -> ToolError:
    return ToolError(Code.INVALID_ARGUMENTS, why)
