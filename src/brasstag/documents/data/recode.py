"""Texts in other encodings, rewritten in UTF-8 for DuckDB."""

import codecs
import gzip
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

from brasstag.documents.data.sources import TableFile, not_a_table
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


def beginning_of(table_file: TableFile) -> bytes:
    """Return the first bytes of a file, unpacked."""
    try:
        with _opened(table_file) as file:
            return file.read(BEGINNING)
    except (gzip.BadGzipFile, EOFError) as error:
        raise not_a_table(table_file, f"it cannot be unpacked ({error})") from None


def recoded(table_file: TableFile, scratch: Path) -> TableFile:
    """Return a file that says the same in UTF-8, unpacked."""
    beginning = beginning_of(table_file)
    place = scratch / table_file.path.name
    if beginning.startswith(tuple(MARKS)):
        # Whole or not, it says itself what it is.
        encoding = encoding_of(beginning) or "utf-8-sig"
        _write(table_file, place, encoding, "replace")
        return replace(table_file, path=place, recoded=encoding)
    known = encoding_of(beginning)
    for encoding in (known,) if known is not None and known in OLD else GUESSED:
        try:
            _write(table_file, place, encoding, "strict")
        except UnicodeDecodeError:
            continue
        return replace(table_file, path=place, recoded=encoding)
    raise not_a_table(table_file, "its encoding is not known; save it as UTF-8")


def _write(table_file: TableFile, place: Path, encoding: str, errors: str) -> None:
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    written = 0
    with place.open("wb") as file:
        for chunk in _chunks(table_file):
            data = decoder.decode(chunk, not chunk).encode(errors="replace")
            written += len(data)
            if written > MOST_RECODED:
                raise ToolError(
                    Code.TOO_LARGE,
                    f"{table_file.document} is not UTF-8, and has more than {MOST_RECODED:,} bytes; save it as UTF-8",
                )
            file.write(data)


def _chunks(table_file: TableFile) -> Iterator[bytes]:
    """Yield all of a file, and nothing at its end."""
    with _opened(table_file) as file:
        while chunk := file.read(_CHUNK):
            yield chunk
    yield b""


def _opened(table_file: TableFile) -> BinaryIO:
    return (
        cast("BinaryIO", gzip.open(table_file.path)) if table_file.is_packed else table_file.path.open("rb")
    )
