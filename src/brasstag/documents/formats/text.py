"""Decide whether bytes are text, and decode them, whatever their encoding.

The beginning of a file decides, and every caller gets the same answer. A file whose beginning is text counts as text;
nothing that comes later in the file changes that.
"""

import codecs
from collections.abc import Mapping

from brasstag.documents.formats.encodings import old_encoding

MARKS: Mapping[bytes, str] = {
    # The longer ones first: the mark of UTF-32 begins like that of UTF-16.
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""How texts begin that say what they are written in, and what that is."""

BEGINNING = 65_536
"""How many bytes of a file are enough to say what it is."""

UNREADABLE = "\ufffd"
"""What stands for bytes that are no character."""

_UTF8 = frozenset({"utf-8", "utf-8-sig"})
GUESSED = ("cp1252", "latin-1")
"""What texts are taken for that are not UTF-8, do not say what they are, and are in no other old encoding for sure."""
_MOST_CONTROLS = 0.005
_MOST_FOREIGN = 0.3
"""How much of a text in an old western encoding may be other than ASCII."""

_CONTROLS = bytes(set(range(0x20)) - set(b"\t\n\x0b\r\f\b\x1b")) + b"\x7f"
_CONTROL_SIGNS = dict.fromkeys(_CONTROLS)
_FOREIGN = bytes(range(0x80, 0x100))


def encoding_of(beginning: bytes) -> str | None:
    """Return what a text is written in, None where bytes, which may end amid a character, begin no text.

    What names its encoding by a mark is read in that, all else as UTF-8, or, where it cannot be UTF-8 but looks like a
    text, in the old encoding it surely is in, else as Windows-1252.
    """
    beginning = beginning[:BEGINNING]
    if beginning.isascii():
        # No mark is.
        return "utf-8" if b"\0" not in beginning and _is_calm(beginning) else None
    encoding = next((name for mark, name in MARKS.items() if beginning.startswith(mark)), "utf-8")
    if encoding in _UTF8 and b"\0" in beginning:
        return None
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(beginning)
    except UnicodeDecodeError:
        return _guess(beginning) if encoding == "utf-8" else None
    if encoding in _UTF8:
        return encoding if _is_calm(beginning) else None
    controls = len(text) - len(text.translate(_CONTROL_SIGNS))
    return encoding if "\0" not in text and controls <= _MOST_CONTROLS * len(text) else None


def is_text(beginning: bytes) -> bool:
    """Say whether bytes, which may end amid a character, begin a text in some encoding."""
    return encoding_of(beginning) is not None


def decoded(data: bytes, *, is_whole: bool = True) -> str | None:
    """Return the text that bytes hold, or None where they are no text; they may end amid a character unless ``is_whole``."""
    found = decoded_with_note(data, is_whole=is_whole)
    return None if found is None else found[0]


def decoded_with_note(data: bytes, *, is_whole: bool = True) -> tuple[str, str] | None:
    """Return the text that bytes hold, and what a reader should know of how it was found out; None for what is no text."""
    encoding = encoding_of(data)
    return None if encoding is None else read_as(data, encoding, is_whole=is_whole)


def read_as(data: bytes, encoding: str, *, is_whole: bool = True) -> tuple[str, str]:
    """Return bytes as a text that begins in an encoding, and what a reader should know of that."""
    text = None if encoding in GUESSED else _strictly(data, encoding, is_whole=is_whole)
    if text is not None:
        return _storable(text), _told(encoding)
    if encoding in GUESSED or encoding == "utf-8":
        text, encoding = _guessed(data)
        return _storable(text), _told(encoding)
    some = f"some of it is not {encoding}, and stands as {UNREADABLE}"
    return _storable(data.decode(encoding, "replace")), "; ".join(filter(None, (_told(encoding), some)))


def _strictly(data: bytes, encoding: str, *, is_whole: bool) -> str | None:
    try:
        return data.decode(encoding) if is_whole else codecs.getincrementaldecoder(encoding)().decode(data)
    except UnicodeDecodeError:
        return None


def _told(encoding: str) -> str:
    if encoding in _UTF8:
        return ""
    by = "by its byte order mark" if encoding in MARKS.values() else "a guess, as it is not UTF-8"
    return f"encoding: {encoding}, {by}"


def _guess(beginning: bytes) -> str | None:
    foreign = len(beginning) - len(beginning.translate(None, _FOREIGN))
    if b"\0" in beginning or not _is_calm(beginning):
        return None
    old = old_encoding(beginning)
    return old or (_guessed(beginning)[1] if foreign <= _MOST_FOREIGN * len(beginning) else None)


def _guessed(data: bytes) -> tuple[str, str]:
    for encoding in GUESSED[:-1]:
        try:
            return data.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    return data.decode(GUESSED[-1]), GUESSED[-1]


def _is_calm(beginning: bytes) -> bool:
    return len(beginning) - len(beginning.translate(None, _CONTROLS)) <= _MOST_CONTROLS * len(beginning)


def _storable(text: str) -> str:
    # A text with NULs in it is none that a database would keep.
    return text.replace("\0", UNREADABLE)
