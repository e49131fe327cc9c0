"""Say whether a text is in a language whose sentences the analysers know."""

import re

from brasstag.tools.manuscript.language.word_lists import word_set

_LOOKED_AT = 60_000
_FEWEST_WORDS = 30
_LATIN_SHARE = 0.6
_ENGLISH_SHARE = 0.08
_WORD = re.compile(r"[^\W\d_]+")
_ENGLISH = word_set("the and of was with had that she he it to from they were is you not his her")


def why_not_judged(text: str) -> str | None:
    """Return why sentences of a text cannot be judged, or None where they are English, or too few to tell."""
    words = _WORD.findall(text[:_LOOKED_AT])
    letters = sum(map(len, words))
    if not letters:
        return None if not text.strip() or text.isascii() else "it has no words"
    latin = sum(len(word) for word in words if _is_latin(word))
    if latin < letters * _LATIN_SHARE:
        return "its script is not Latin; only English sentences are judged"
    known = sum(word.lower() in _ENGLISH for word in words)
    if len(words) >= _FEWEST_WORDS and known < len(words) * _ENGLISH_SHARE:
        return "its language is not English; only English sentences are judged"
    return None


def _is_latin(word: str) -> bool:
    """Say whether a word is written in Latin letters: these lie below U+0250, but for a few with two accents."""
    return all(letter < "\u0250" or "\u1e00" <= letter < "\u1f00" for letter in word)
