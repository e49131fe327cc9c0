"""One word of a sentence."""

from typing import NamedTuple


class TextWord(NamedTuple):
    """One word of a sentence, and where in the sentence it stands."""

    text: str
    lower: str
    start: int
    end: int
