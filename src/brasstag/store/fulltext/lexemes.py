"""Lexemes: the words of a text as every index has them, on both databases.

What is a letter, what a mark on one and what stands between words is what SQLite's tokenizer ``unicode61`` says, so that a
text has the same words on every database. The tokenizer is asked about a range of characters when one of
them first occurs.

Some scripts are written without spaces. There, every character is a word of its own, and a word that is asked for is a
phrase of them.
"""

import re
import sqlite3
from contextlib import closing

TOKENIZER = "unicode61 remove_diacritics 2"

NO_LETTER = "\0"
"""What stands in a folded text for a mark that is no part of a word's spelling."""

_SPACELESS = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Chinese characters
)
INSIDE_A_WORD = f"[^ {_SPACELESS}]"
"""A regular expression for a character of a folded text that belongs to the same word as the letter beside it."""

_ALONE = re.compile(f"[{_SPACELESS}]")
_RUN = re.compile(f"[{_SPACELESS}]+")
_SEPARATOR = "\u200b"
_UNUSUAL = re.compile("[^\x01-\u0dff\u2010-\u2fff]")
"""All characters that may have to be changed before storing, and more; only two ranges, for a quick test."""
_STAND_INS = {0: "\ufffd", ord(_SEPARATOR): "\u2060"} | dict.fromkeys(range(0xD800, 0xE000), "\ufffd")

_STRETCH = 256
_SURROGATES = range(0xD800, 0xE000)


class _Folds(dict[int, str]):
    """What each character is in a folded text; filled as characters are met."""

    def __missing__(self, code: int) -> str:
        start = code - code % _STRETCH
        self.update(_learnt(range(start, start + _STRETCH)))
        return self[code]


def _learnt(codes: range) -> dict[int, str]:
    known = dict.fromkeys(codes, " ")
    asked = [code for code in codes if code and code not in _SURROGATES]
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE VIRTUAL TABLE told USING fts5(said, tokenize = '{TOKENIZER}')")
        connection.execute("CREATE VIRTUAL TABLE heard USING fts5vocab(told, instance)")
        # Between two letters, a character shows which it is: "xéx" is one word with it, "x-x" two, "x\u0301x" one without.
        said = "\n".join(f"x{chr(code)}x" for code in asked)
        connection.execute("INSERT INTO told VALUES (?)", (said,))
        words = (word for (word,) in connection.execute('SELECT term FROM heard ORDER BY "offset"'))
        for code, word in zip(asked, words, strict=False):
            if word == "x":
                next(words)
            else:
                known[code] = word[1:-1] or NO_LETTER
    return known


_FOLDS = _Folds()


def fold(text: str) -> str:
    """Return a text of the same length with small letters without marks, and a space for all that is in no word."""
    return text.translate(_FOLDS)


def lexemes_of(text: str) -> list[str]:
    """Return the words of a text, in order."""
    folded = fold(text)
    if not folded.isascii():
        folded = _ALONE.sub(r" \g<0> ", folded)
    return folded.replace(NO_LETTER, "").split()


def stands_alone(lexeme: str) -> bool:
    """Say whether a lexeme is a character of a script without spaces."""
    return len(lexeme) == 1 and _ALONE.match(lexeme) is not None


def storable(text: str) -> str:
    """Return a text of the same length that every database takes."""
    return text if _is_usual(text) else text.translate(_STAND_INS)


def set_apart(text: str) -> str:
    """Return a text that every database takes, with a mark between the characters of scripts without spaces."""
    if _is_usual(text):
        return text
    return _RUN.sub(lambda run: _SEPARATOR + _SEPARATOR.join(run[0]) + _SEPARATOR, storable(text))


def joined(text: str) -> str:
    """Return a text without the marks that ``set_apart`` put into it."""
    return text if text.isascii() else text.replace(_SEPARATOR, "")


def _is_usual(text: str) -> bool:
    return "\0" not in text if text.isascii() else _UNUSUAL.search(text) is None
