"""What the content of a type has to be, where one look tells: a grammar that it parses by, or the bytes it begins with."""

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Never

from brasstag.documents.formats.text import decoded

_JSON = re.compile(r"(?:application|text)/json|.+\+json")
_JSON_LINES = frozenset(
    {"application/jsonl", "application/x-jsonlines", "application/x-ndjson", "application/ndjson"}
)
_XML = re.compile(r"(?:application|text)/xml|.+\+xml")
_GRAMMARS = re.compile(f"{_JSON.pattern}|{_XML.pattern}|application/toml")
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_FIRST_BYTES: Mapping[str, tuple[bytes, ...]] = {
    "application/java-archive": _ZIP,
    "application/vnd.android.package-archive": _ZIP,
    "application/vnd.sqlite3": (b"SQLite format 3\0",),
    "application/wasm": (b"\0asm",),
    "application/x-7z-compressed": (b"7z\xbc\xaf\x27\x1c",),
    "application/x-bzip2": (b"BZh",),
    "application/x-sqlite3": (b"SQLite format 3\0",),
    "application/x-xz": (b"\xfd7zXZ\0",),
    "application/zstd": (b"\x28\xb5\x2f\xfd",),
    "audio/flac": (b"fLaC",),
    "font/woff": (b"wOFF",),
    "font/woff2": (b"wOF2",),
    "image/bmp": (b"BM",),
    "image/tiff": (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"),
    "image/vnd.microsoft.icon": (b"\0\0\x01\0",),
    "image/x-icon": (b"\0\0\x01\0",),
    "video/webm": (b"\x1a\x45\xdf\xa3",),
}
"""Types that the bytes of a file do not always tell by themselves, and how each of them begins."""


def problem_of(media_type: str, data: bytes) -> str:
    """Return why bytes cannot be of a type, as far as that can be known; empty where nothing speaks against it."""
    begins = _FIRST_BYTES.get(media_type)
    if begins is not None:
        return "" if data.startswith(begins) else "it does not begin as such a file does"
    text = decoded(data) if media_type in _JSON_LINES or _GRAMMARS.fullmatch(media_type) else None
    if text is None:
        return ""
    text = text.removeprefix("\ufeff")
    try:
        _parse(media_type, text)
    except (json.JSONDecodeError, tomllib.TOMLDecodeError, _NotWellFormed) as error:
        return str(error)
    except (ValueError, RecursionError):
        pass  # It is too deep, or has too long a number, to be read here; that does not make it another type.
    return ""


class _NotWellFormed(ValueError):
    """A text that breaks a rule of its grammar."""


def _parse(media_type: str, text: str) -> None:
    if media_type in _JSON_LINES:
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                _parse_line(line, number)
    elif _JSON.fullmatch(media_type):
        json.loads(text, parse_constant=_refuse_constant)
    elif media_type == "application/toml":
        tomllib.loads(text)
    elif not text.lstrip().startswith("<"):
        raise _NotWellFormed("it does not begin with <")
    elif media_type == "image/svg+xml" and "<svg" not in text and ":svg" not in text:
        raise _NotWellFormed("it has no svg element")


def _parse_line(line: str, number: int) -> None:
    try:
        json.loads(line, parse_constant=_refuse_constant)
    except (json.JSONDecodeError, _NotWellFormed) as error:
        said = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise _NotWellFormed(f"line {number}: {said}") from None


def _refuse_constant(name: str) -> Never:
    raise _NotWellFormed(f"{name} is no value of JSON")
