"""The type of a file: by its bytes, and by its name only among texts and among containers of one format."""

from codecs import BOM_UTF8
from types import MappingProxyType

from brasstag.documents.formats.containers import CONTAINED, OLE, ZIP_ENTRY, kind_in_ole, kind_in_zip
from brasstag.documents.formats.text import BEGINNING, is_text

PLAIN = "text/plain"
BINARY = "application/octet-stream"
LINK = "inode/symlink"
"""A link, whose content is where it leads."""
MARKDOWN = "text/markdown"
TABLES = frozenset({"text/csv", "text/tab-separated-values"})
"""Texts whose first line names columns."""

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""What models that see can be shown."""

CONVERTED = frozenset(
    {
        "application/pdf",
        "application/rtf",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "application/vnd.ms-excel",
        "application/vnd.oasis.opendocument.spreadsheet",
        "application/xhtml+xml",
        "text/html",
    }
)
"""Documents whose words show only once they are converted; every other text is its own."""

_PDF = b"%PDF-"
_RTF = b"{\\rtf"
_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (_PDF, "application/pdf"),
    (_RTF, "application/rtf"),
    (b"\x1f\x8b", "application/gzip"),
    (b"PAR1", "application/vnd.apache.parquet"),
)
SIGNED = frozenset({kind for _, kind in _BEGINNINGS} | {"image/webp"} | CONTAINED)
"""Types whose bytes tell them: what begins otherwise is none of these."""
_NEVER_TEXT = (_PDF, _RTF, ZIP_ENTRY, OLE)
"""How files begin that are no texts, even where all of their signs could be those of one."""

_MAKEFILE = "text/x-makefile"
_DOCKERFILE = "text/x-dockerfile"
_TEXTS = MappingProxyType(
    {
        "bash": "application/x-sh",
        "c": "text/x-c",
        "cc": "text/x-c++",
        "cfg": "text/x-ini",
        "cpp": "text/x-c++",
        "cs": "text/x-csharp",
        "css": "text/css",
        "csv": "text/csv",
        "dockerfile": _DOCKERFILE,
        "go": "text/x-go",
        "h": "text/x-c",
        "hpp": "text/x-c++",
        "htm": "text/html",
        "html": "text/html",
        "ini": "text/x-ini",
        "ipynb": "application/x-ipynb+json",
        "java": "text/x-java",
        "js": "text/javascript",
        "json": "application/json",
        "jsonl": "application/jsonl",
        "jsx": "text/javascript",
        "kt": "text/x-kotlin",
        "lua": "text/x-lua",
        "markdown": MARKDOWN,
        "md": MARKDOWN,
        "mjs": "text/javascript",
        "mk": _MAKEFILE,
        "ndjson": "application/jsonl",
        "php": "text/x-php",
        "pl": "text/x-perl",
        "py": "text/x-python",
        "pyi": "text/x-python",
        "r": "text/x-r",
        "rb": "text/x-ruby",
        "rs": "text/x-rust",
        "scala": "text/x-scala",
        "sh": "application/x-sh",
        "sql": "application/sql",
        "svg": "image/svg+xml",
        "swift": "text/x-swift",
        "tex": "text/x-tex",
        "toml": "application/toml",
        "ts": "text/x-typescript",
        "tsv": "text/tab-separated-values",
        "tsx": "text/x-typescript",
        "xhtml": "application/xhtml+xml",
        "xml": "application/xml",
        "yaml": "application/yaml",
        "yml": "application/yaml",
        "zsh": "application/x-sh",
    }
)
_NAMED = MappingProxyType(
    {
        "containerfile": _DOCKERFILE,
        "dockerfile": _DOCKERFILE,
        "gnumakefile": _MAKEFILE,
        "makefile": _MAKEFILE,
    }
)
"""Texts that are known by their name, whatever it ends with."""
_TEXT_KINDS = frozenset(_TEXTS.values())
_FIRST_WORDS = (
    (b"<!doctype html", "text/html"),
    (b"<html", "text/html"),
    (b"<?xml", "application/xml"),
    (b"#!/bin/sh", "application/x-sh"),
    (b"#!/bin/bash", "application/x-sh"),
    (b"#!/usr/bin/env python", "text/x-python"),
    (b"#!/usr/bin/env bash", "application/x-sh"),
)
_MARKS = tuple(mark for mark, _ in _FIRST_WORDS)


def kind_of(path: str, beginning: bytes) -> str:
    """Return the media type of a file, of which BEGINNING bytes are enough."""
    return kind_among(path, beginning, can_be_read=is_text(beginning))


def kind_among(path: str, beginning: bytes, *, can_be_read: bool) -> str:
    """Return the media type of a file of which it is known whether it can be read as a text."""
    beginning = beginning[:BEGINNING]
    if beginning.startswith(_NEVER_TEXT) or not can_be_read:
        return kind_of_bytes(beginning, path) or BINARY
    known = kind_of_text(path)
    return known if known != PLAIN else _by_first_words(beginning)


def is_text_kind(media_type: str) -> bool:
    """Say whether files of a type are texts; whatever else could be read as one is never shown as such."""
    return media_type.startswith("text/") or media_type in _TEXT_KINDS


def is_own_text(media_type: str) -> bool:
    """Say whether files of a type are read as they are, and need no conversion to be."""
    return is_text_kind(media_type) and media_type not in CONVERTED


def kind_of_bytes(beginning: bytes, path: str = "") -> str | None:
    """Return the media type that the first bytes of a file that is not text tell, or None where they tell nothing."""
    if beginning[:4] == b"RIFF" and beginning[8:12] == b"WEBP":
        return "image/webp"
    told = next((kind for mark, kind in _BEGINNINGS if beginning.startswith(mark)), None)
    return told or kind_in_zip(beginning) or kind_in_ole(beginning, _ending(path)) or _by_library(beginning)


def kind_of_text(path: str) -> str:
    """Return the media type that the name of a text tells."""
    name = path.rpartition("/")[2].lower()
    return _TEXTS.get(_ending(path)) or _NAMED.get(name.partition(".")[0], PLAIN)


def _by_first_words(beginning: bytes) -> str:
    words = beginning[:200].removeprefix(BOM_UTF8).lstrip().lower()
    if not words.startswith(_MARKS):
        return PLAIN
    return next(kind for mark, kind in _FIRST_WORDS if words.startswith(mark))


def _by_library(beginning: bytes) -> str | None:
    try:
        import filetype  # noqa: PLC0415 - few files get this far
    except ImportError:
        return None
    found: str | None = filetype.guess_mime(beginning)
    return found


def _ending(path: str) -> str:
    _, dot, ending = path.rpartition("/")[2].rpartition(".")
    return ending.lower() if dot else ""
