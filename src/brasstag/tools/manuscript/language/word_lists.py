"""Lists of words, written as one text."""


def word_list(text: str) -> list[str]:
    """Return the words of a text, in order."""
    return text.split()


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())
