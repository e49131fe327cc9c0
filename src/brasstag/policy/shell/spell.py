"""One word of bash: quotes and escapes resolved, computed parts marked."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from brasstag.policy.shell.braces import Piece, expand
from brasstag.policy.shell.commands import Word

if TYPE_CHECKING:
    from tree_sitter import Node

_HOME = re.compile(r"\$\{HOME\}|\$HOME(?![A-Za-z0-9_])")
_ESCAPE = re.compile(r"\\(\n|.)", re.DOTALL)
_ESCAPE_IN_QUOTES = re.compile(r"\\([\n\"\\$`])")
_ANSI_ESCAPE = re.compile(
    r"\\(?:x(?P<hex>[0-9A-Fa-f]{1,2})|u(?P<short>[0-9A-Fa-f]{1,4})|U(?P<long>[0-9A-Fa-f]{1,8})"
    r"|(?P<octal>[0-7]{1,3})|c(?P<control>.)|(?P<letter>.))",
    re.DOTALL,
)
_ANSI_LETTERS = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}
_WILDCARD = re.compile(r"(?<!\\)[*?\[]")
_LETTER = re.compile(r"(?P<bare>[^\\])|\\(?:.|$)", re.DOTALL)
_SEVERAL = re.compile(r"\$@|\$\{@|\[@\]|\$\{!\w+@")
"""Expansions that become several words in quotes, too."""
_JOINED_LINES = re.compile(rb"(?:\\\n)+")


def text_of(node: "Node") -> str:
    """Return a node as it is written."""
    return (node.text or b"").decode()


def spelled(node: "Node") -> Word:
    """Return the word a node stands for."""
    return _SPELLINGS.get(node.type, _computed if node.is_named else _plain)(node)


def spelled_words(nodes: Iterable["Node"], source: bytes, start: int = 0) -> tuple[Word, ...]:
    """Return words, braces expanded; two that only a continued line parts are one, which the parser does not see."""
    words: list[Word] = []
    end = -1
    for node in nodes:
        gap = source[end - start : node.start_byte - start] if end >= 0 else b" "
        if words and (not gap or _JOINED_LINES.fullmatch(gap)):
            words.append(_together([words.pop(), spelled(node)]))
        else:
            words += _expanded(node)
        end = node.end_byte
    return tuple(words)


def _expanded(node: "Node") -> Iterator[Word]:
    """Yield the words that a node becomes by brace expansion: most often itself."""
    word = spelled(node)
    pieces = tuple(_pieces(node)) if word.pattern and "{" in word.text else ()
    # The parser skips some letters silently; then the pieces are not the word.
    several = expand(pieces) if pieces and _of_pieces(pieces).text == word.text else None
    if several is None:
        yield word
    else:
        yield from (_of_pieces(one) for one in several if one)  # a choice of nothing is no word


def _of_pieces(pieces: Iterable[Piece]) -> Word:
    return _together(Word(one, pattern=one in "*?[") if isinstance(one, str) else one for one in pieces)


def _pieces(node: "Node") -> Iterator[Piece]:
    """Yield the bare letters of a word, and whole what is quoted or computed in it."""
    if node.type in ("command_name", "concatenation"):
        for child in node.children:
            yield from _pieces(child)
    elif node.type in ("word", "number", "brace_expression"):
        for found in _LETTER.finditer(text_of(node)):
            yield found[0] if found["bare"] else Word(_ESCAPE.sub(_unescaped, found[0]))
    else:
        yield spelled(node)


def _plain(node: "Node") -> Word:
    written = text_of(node)
    pattern = _WILDCARD.search(written) is not None or _has_choice(written)
    return Word(_ESCAPE.sub(_unescaped, written), pattern=pattern)


def _raw(node: "Node") -> Word:
    return Word(text_of(node)[1:-1])


def _ansi(node: "Node") -> Word:
    return Word(_ANSI_ESCAPE.sub(_ansi_letter, text_of(node)[2:-1]).partition("\0")[0])  # a zero byte ends it


def _quoted(node: "Node") -> Word:
    text = _ESCAPE_IN_QUOTES.sub(_unescaped, text_of(node)[1:-1])
    computed = any(child.type not in ('"', "string_content") for child in node.children)
    return Word(
        _home(text) if computed else text, computed, splits=computed and _SEVERAL.search(text) is not None
    )


def _joined(node: "Node") -> Word:
    word = _together(_parts(node))
    return replace(word, pattern=word.pattern or _has_braces(node))


def _parts(node: "Node") -> Iterator[Word]:
    end = node.start_byte
    written = node.text or b""
    for child in node.children:
        gap = written[end - node.start_byte : child.start_byte - node.start_byte]
        if gap.strip(b"\\\n"):
            yield Word(gap.decode(errors="replace"))
        yield spelled(child)
        end = child.end_byte


def _has_braces(node: "Node") -> bool:
    """Say whether braces stand outside of quotes."""
    bare = "".join(text_of(child) if child.type in ("word", "number") else "x" for child in node.children)
    return _has_choice(bare)


def _has_choice(written: str) -> bool:
    """Say whether braces may hold several words, as in ``{a,b}`` and ``{1..3}``; whether they do is for the expansion."""
    inside = written[written.find("{") : written.rfind("}")] if "{" in written else ""
    return "," in inside or ".." in inside


def _pattern(node: "Node") -> Word:
    return Word(text_of(node), pattern=True)


def _computed(node: "Node") -> Word:
    return Word(_home(text_of(node)), computed=True, splits=node.type != "process_substitution")


def _inner(node: "Node") -> Word:
    return _together(spelled(child) for child in node.children if child.type != "$")


def _together(words: Iterable[Word]) -> Word:
    several = tuple(words)
    return Word(
        "".join(word.text for word in several),
        any(word.computed for word in several),
        any(word.pattern for word in several),
        any(word.splits for word in several),
    )


def _home(text: str) -> str:
    return _HOME.sub("~", text)


def _unescaped(escape: re.Match[str]) -> str:
    return "" if escape[1] == "\n" else escape[1]


def _ansi_letter(escape: re.Match[str]) -> str:
    digits = escape["hex"] or escape["short"] or escape["long"]
    if digits or escape["octal"]:
        number = int(digits, 16) if digits else int(escape["octal"], 8) & 0xFF
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
    if escape["control"]:
        return chr(ord(escape["control"]) & 0x1F)
    return _ANSI_LETTERS.get(escape["letter"], escape["letter"])


_SPELLINGS: Mapping[str, Callable[["Node"], Word]] = {
    "word": _plain,
    "number": _plain,
    "variable_name": _plain,
    "special_character": _plain,
    "raw_string": _raw,
    "ansi_c_string": _ansi,
    "string": _quoted,
    "translated_string": _inner,
    "concatenation": _joined,
    "command_name": _inner,
    "variable_assignment": _inner,
    "brace_expression": _pattern,
    "extglob_pattern": _pattern,
    "regex": _pattern,
    "test_operator": _plain,
}

WORDS = frozenset(
    {*_SPELLINGS, "simple_expansion", "expansion", "command_substitution", "arithmetic_expansion"}
)
"""Nodes that are words of a command."""
