"""Decoding: the text that bytes hold, if they hold any, whatever it was written with."""

import codecs
from collections.abc import Mapping

MARKS: Mapping[bytes, str] = {
    # The longer ones first: the mark of UTF-32 begins like that of UTF-16.
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""How texts begin that say what they are written in, and what that is."""

_SAMPLE = 65_536
_MOST_CONTROLS = 0.005
_MOST_FOREIGN = 0.3
"""How much of a text in an old western encoding may be other than ASCII."""

_CONTROLS = bytes(set(range(0x20)) - set(b"\t\n\r\f\b\x1b")) + b"\x7f"
_FOREIGN = bytes(range(0x80, 0x100))


def decoded(data: bytes, *, is_whole: bool = True) -> str | None:
    """Return the text that bytes hold, or None where they are no text; they may end amid a character unless ``is_whole``.

    What names its encoding by a mark is read in that, all else as UTF-8, or as Windows-1252 where it cannot be UTF-8
    but looks like a text.
    """
    encoding = next((name for mark, name in MARKS.items() if data.startswith(mark)), "utf-8")
    if encoding in ("utf-8", "utf-8-sig") and b"\0" in data:
        return None
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(data, is_whole)
    except UnicodeDecodeError:
        return _guessed(data) if encoding == "utf-8" else None
    # A text with NULs in it is none that a database would keep.
    return None if "\0" in text else text


def _guessed(data: bytes) -> str | None:
    sample = data[:_SAMPLE]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    foreign = len(sample) - len(sample.translate(None, _FOREIGN))
    if controls > _MOST_CONTROLS * len(sample) or foreign > _MOST_FOREIGN * len(sample):
        return None
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return data.decode("latin-1")
