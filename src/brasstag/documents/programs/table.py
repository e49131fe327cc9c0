"""Which module converts which media type, and how much of a document it takes; only the one needed is imported."""

import sys
from collections.abc import Callable, Mapping

from brasstag.documents.programs.paper import Paper
from brasstag.documents.programs.texts import LANGUAGES

Convert = Callable[[bytes, str, Paper], None]

_WORKBOOKS = (
    "application/vnd.ms-excel",
    "application/vnd.oasis.opendocument.spreadsheet",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
)
_FALLBACKS = (("text/", ("texts", "plain")), ("", ("others", "anything")))

CONVERTERS: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(LANGUAGES, ("texts", "code")),
    **dict.fromkeys(_WORKBOOKS, ("sheets", "workbook")),
    **dict.fromkeys(("image/png", "image/jpeg", "image/gif", "image/webp"), ("others", "picture")),
    "inode/symlink": ("others", "link"),
    "text/plain": ("texts", "plain"),
    "text/markdown": ("markdown", "markdown"),
    "text/html": ("html", "html"),
    "application/xhtml+xml": ("html", "html"),
    "text/csv": ("records", "separated"),
    "text/tab-separated-values": ("records", "separated"),
    "application/json": ("records", "json_text"),
    "application/jsonl": ("records", "json_lines"),
    "application/x-ipynb+json": ("records", "json_text"),
    "application/rtf": ("rtf", "rtf"),
    "application/pdf": ("pdf", "pdf"),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ("word", "word"),
}
"""Module and function for each media type; other texts are plain, and of anything else only the type is told."""

TAKES: Mapping[str, tuple[int, bool]] = {
    "texts": (32_000_000, False),
    "markdown": (32_000_000, False),
    "html": (32_000_000, False),
    "rtf": (32_000_000, False),
    "records": (64_000_000, False),
    "others": (4_000_000, False),
    "sheets": (128_000_000, True),
    "word": (128_000_000, True),
    "pdf": (256_000_000, True),
}
"""How many bytes each module takes, and whether it has to have all of a document."""


def family_of(media_type: str) -> tuple[str, str]:
    """Return module and function for a media type."""
    found = (family for start, family in _FALLBACKS if media_type.startswith(start))
    return CONVERTERS.get(media_type) or next(found)


def converter_for(media_type: str) -> Convert:
    """Return what converts documents of a type."""
    module, name = family_of(media_type)
    whole = f"brasstag.documents.programs.{module}"
    __import__(whole)
    found: Convert = getattr(sys.modules[whole], name)
    return found
