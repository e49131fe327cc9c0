"""What a file is: by its bytes where they tell, and by its name only among texts, and among what is packed alike."""

from types import MappingProxyType

from brasstag.documents.containers import kind_in_ole, kind_in_zip
from brasstag.documents.decoding import MARKS

PLAIN = "text/plain"
BINARY = "application/octet-stream"
MARKDOWN = "text/markdown"
TABLES = frozenset({"text/csv", "text/tab-separated-values"})
"""Texts whose first line names columns."""

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""What models that see can be shown."""

CONVERTED = frozenset(
    {
        "application/pdf",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "application/vnd.ms-excel",
        "application/vnd.oasis.opendocument.spreadsheet",
        "application/xhtml+xml",
        "text/html",
    }
)
"""Documents whose words show only once they are converted; every other text is its own."""

BEGINNING = 65_536
"""How many bytes of a file are enough to say what it is."""

_PDF = b"%PDF-"
_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (_PDF, "application/pdf"),
    (b"\x1f\x8b", "application/gzip"),
)
_CONTROL = bytes(one for one in range(32) if one not in b"\t\n\r\x0b\x0c\x1b")

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
        "go": "text/x-go",
        "h": "text/x-c",
        "hpp": "text/x-c++",
        "htm": "text/html",
        "html": "text/html",
        "ini": "text/x-ini",
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
_FIRST_WORDS = (
    ("<!doctype html", "text/html"),
    ("<html", "text/html"),
    ("<?xml", "application/xml"),
    ("#!/bin/sh", "application/x-sh"),
    ("#!/bin/bash", "application/x-sh"),
    ("#!/usr/bin/env python", "text/x-python"),
    ("#!/usr/bin/env bash", "application/x-sh"),
)


def kind_of(path: str, beginning: bytes) -> str:
    """Return the media type of a file, of which BEGINNING bytes are enough."""
    beginning = beginning[:BEGINNING]
    if beginning.startswith(_PDF) or not is_text(beginning):
        return kind_of_bytes(beginning, path) or BINARY
    known = kind_of_text(path)
    return known if known != PLAIN else _by_first_words(beginning)


def kind_of_bytes(beginning: bytes, path: str = "") -> str | None:
    """Return the media type that the first bytes of a file that is not text tell, or None where they tell nothing."""
    if beginning[:4] == b"RIFF" and beginning[8:12] == b"WEBP":
        return "image/webp"
    told = next((kind for mark, kind in _BEGINNINGS if beginning.startswith(mark)), None)
    return told or kind_in_zip(beginning) or kind_in_ole(beginning, _ending(path)) or _by_library(beginning)


def kind_of_text(path: str) -> str:
    """Return the media type that the name of a text tells."""
    return _TEXTS.get(_ending(path), PLAIN)


def is_text(beginning: bytes) -> bool:
    """Say whether bytes, which may end in the middle of a character, are text in some encoding."""
    if beginning.startswith(tuple(MARKS)):
        return True
    return not any(map(beginning.__contains__, _CONTROL))


def _by_first_words(beginning: bytes) -> str:
    words = beginning[:200].decode("utf-8-sig", "replace").lstrip().lower()
    return next((kind for mark, kind in _FIRST_WORDS if words.startswith(mark)), PLAIN)


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
