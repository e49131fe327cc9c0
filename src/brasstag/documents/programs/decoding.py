"""Bytes as text: what they say of themselves first, then UTF-8, then a guess that the reader is told of."""

from brasstag.documents.programs.paper import Paper

# The longer ones first: a mark of UTF-32 begins like one of UTF-16.
_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)


def decoded(data: bytes, paper: Paper) -> str:
    """Return the text that bytes are; how that was found out is noted where it is not UTF-8."""
    for mark, encoding in _MARKS:
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
