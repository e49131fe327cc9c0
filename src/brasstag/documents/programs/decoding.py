"""Bytes as text, with a word to the reader on how that was found out."""

from brasstag.documents.decoding import decoded_with_note, read_as
from brasstag.documents.programs.paper import Paper


def decoded(data: bytes, paper: Paper) -> str:
    """Return the text that bytes are; how that was found out is noted where it is not UTF-8."""
    # Whoever sent it here says that it is a text.
    text, note = decoded_with_note(data) or read_as(data, "utf-8")
    if note:
        paper.note(note)
    return text
