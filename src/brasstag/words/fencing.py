"""Fences: what came from files and tools is shown between marks that nothing inside them can repeat."""

import hashlib
from itertools import count

MARK_LENGTH = 8


def fenced(name: str, text: str, *facts: str) -> str:
    """Return a text between ``<name facts mark>`` and ``</name mark>``; the mark stands nowhere inside.

    The same text and facts always get the same mark, so what a model was shown once is shown the same again.
    """
    mark = _mark("\n".join((*facts, text)))
    return f"<{' '.join((name, *facts, mark))}>\n{text}\n</{name} {mark}>"


def _mark(inside: str) -> str:
    # Counted on for as long as a text holds its own mark, which takes somebody who wants it to.
    marks = (_digest(f"{attempt}\n{inside}") for attempt in count())
    return next(mark for mark in marks if mark not in inside)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:MARK_LENGTH]
