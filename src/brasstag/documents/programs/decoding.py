"""Bytes as text: what they say of themselves first, then UTF-8, then a guess that the reader is told of."""

from brasstag.documents.decoding import MARKS
from brasstag.documents.programs.paper import Paper


def decoded(data: bytes, paper: Paper) -> str:
    """Return the text that bytes are; how that was found out is noted where it is not UTF-8."""
    for mark, encoding in MARKS.items():
        if data.startswith(mark):
            if encoding != "utf-8-sig":
                paper.note(f"encoding: {encoding}, by its byte order mark")
            return _tried(data, encoding, paper)
    try:
        return data.decode()
    except UnicodeDecodeError:
        pass
    try:
        text = data.decode("cp1252")
        paper.note("encoding: cp1252, a guess, as it is not UTF-8")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
        paper.note("encoding: latin-1, a guess, as it is not UTF-8")
    return text


def _tried(data: bytes, encoding: str, paper: Paper) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        paper.note(f"some of it is not {encoding}, and stands as \ufffd")
        return data.decode(encoding, "replace")
