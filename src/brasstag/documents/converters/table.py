"""Which module converts which media type, and how many bytes it takes; only the one needed is imported."""

import sys
from collections.abc import Callable, Mapping

from brasstag.documents.converters.text import LANGUAGES
from brasstag.documents.converters.writer import BlockWriter

Convert = Callable[[bytes, str, BlockWriter], None]

_WORKBOOKS = (
    "application/vnd.ms-excel",
    "application/vnd.oasis.opendocument.spreadsheet",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
)
_FALLBACKS = (("text/", ("text", "plain")), ("", ("other", "anything")))

CONVERTERS: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(LANGUAGES, ("text", "code")),
    **dict.fromkeys(_WORKBOOKS, ("workbook", "workbook")),
    **dict.fromkeys(("image/png", "image/jpeg", "image/gif", "image/webp"), ("other", "picture")),
    "inode/symlink": ("other", "link"),
    "text/plain": ("text", "plain"),
    "text/markdown": ("markdown", "markdown"),
    "text/html": ("html.html", "html"),
    "application/xhtml+xml": ("html.html", "html"),
    "text/csv": ("separated", "separated"),
    "text/tab-separated-values": ("separated", "separated"),
    "application/json": ("separated", "json_text"),
    "application/jsonl": ("separated", "json_lines"),
    "application/x-ipynb+json": ("separated", "json_text"),
    "application/rtf": ("rtf", "rtf"),
    "application/pdf": ("pdf.pdf", "pdf"),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ("word.word", "word"),
}
"""Module and function for each media type; other texts are plain, and of anything else only the type is told."""

TAKES: Mapping[str, tuple[int, bool]] = {
    "text": (32_000_000, False),
    "markdown": (32_000_000, False),
    "html.html": (32_000_000, False),
    "rtf": (32_000_000, False),
    "separated": (64_000_000, False),
    "other": (4_000_000, False),
    "workbook": (128_000_000, True),
    "word.word": (128_000_000, True),
    "pdf.pdf": (256_000_000, True),
}
"""How many bytes each module takes, and whether it has to have all of a document."""


def family_of(media_type: str) -> tuple[str, str]:
    """Return module and function for a media type."""
    found = (family for start, family in _FALLBACKS if media_type.startswith(start))
    return CONVERTERS.get(media_type) or next(found)


def converter_for(media_type: str) -> Convert:
    """Return what converts documents of a type."""
    module, name = family_of(media_type)
    whole = f"brasstag.documents.converters.{module}"
    __import__(whole)
    found: Convert = getattr(sys.modules[whole], name)
    return found
