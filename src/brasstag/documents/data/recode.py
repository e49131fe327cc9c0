"""Texts in other encodings, rewritten in UTF-8 for DuckDB."""

import codecs
import gzip
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

from brasstag.documents.data.sources import Shelved, not_a_table
from brasstag.documents.formats.encodings import OLD
from brasstag.documents.formats.text import BEGINNING, GUESSED, MARKS, encoding_of
from brasstag.words.errors import Code, ToolError

MOST_RECODED = 256 << 20
"""Bytes of the largest text that is rewritten: the whole text is held in memory."""
_CHUNK = 1 << 20


class NotUtf8(Exception):
    """A file is a text, but not in plain UTF-8."""


def tells_of_encoding(error: Exception) -> bool:
    """Say whether what DuckDB raised is about what it came upon, perhaps far behind the beginning, that is not UTF-8."""
    return "utf-8 encod" in str(error).lower()


def beginning_of(shelved: Shelved) -> bytes:
    """Return the first bytes of a file, unpacked."""
    try:
        with _opened(shelved) as file:
            return file.read(BEGINNING)
    except (gzip.BadGzipFile, EOFError) as error:
        raise not_a_table(shelved, f"it cannot be unpacked ({error})") from None


def recoded(shelved: Shelved, scratch: Path) -> Shelved:
    """Return a file that says the same in UTF-8, unpacked."""
    beginning = beginning_of(shelved)
    place = scratch / shelved.path.name
    if beginning.startswith(tuple(MARKS)):
        # Whole or not, it says itself what it is.
        encoding = encoding_of(beginning) or "utf-8-sig"
        _write(shelved, place, encoding, "replace")
        return replace(shelved, path=place, recoded=encoding)
    known = encoding_of(beginning)
    for encoding in (known,) if known is not None and known in OLD else GUESSED:
        try:
            _write(shelved, place, encoding, "strict")
        except UnicodeDecodeError:
            continue
        return replace(shelved, path=place, recoded=encoding)
    raise not_a_table(shelved, "its encoding is not known; save it as UTF-8")


def _write(shelved: Shelved, place: Path, encoding: str, errors: str) -> None:
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    written = 0
    with place.open("wb") as file:
        for chunk in _chunks(shelved):
            data = decoder.decode(chunk, not chunk).encode(errors="replace")
            written += len(data)
            if written > MOST_RECODED:
                raise ToolError(
                    Code.TOO_LARGE,
                    f"{shelved.document} is not UTF-8, and more than {MOST_RECODED:,} bytes; save it as UTF-8, and ask that",
                )
            file.write(data)


def _chunks(shelved: Shelved) -> Iterator[bytes]:
    """Yield all of a file, and nothing at its end."""
    with _opened(shelved) as file:
        while chunk := file.read(_CHUNK):
            yield chunk
    yield b""


def _opened(shelved: Shelved) -> BinaryIO:
    return cast("BinaryIO", gzip.open(shelved.path)) if shelved.is_packed else shelved.path.open("rb")
