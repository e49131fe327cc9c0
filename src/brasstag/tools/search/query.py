"""A query for RE2, which decides, and for ripgrep, which finds files worth asking RE2 about.

RE2 never backtracks, so its time grows with the bytes it reads and with the size of what it has compiled, which is
limited. For ripgrep a query becomes an expression over bytes that matches every line RE2 matches, and now and then one
more: more is harmless, less would be a wrong answer. So what the two may understand differently is not translated at all.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

import re2

from brasstag.words.errors import Code, ToolError

LARGEST_PROGRAM = 10_000
"""Instructions of a compiled expression: a letter is one, any letter of any language about 1,200."""

_LAST_ASCII = 0x7F
_LAST_CASED = 0x1FFFF
_SURROGATES = range(0xD800, 0xE000)
_NEWLINE = ord("\n")
# RE2 reads characters where ripgrep is given bytes: beyond ASCII, one of anything stands for any number of bytes.
_BEYOND_ASCII = r"[\x80-\xff]+"
_FOLDED_INTO_ASCII = {"k": "\u212a", "s": "\u017f"}
_IGNORE_CASE = "(?i)"

_CONTROLS = {r"\t": "\t", r"\f": "\f", r"\r": "\r", r"\v": "\v"}
_DIGITS = frozenset(range(ord("0"), ord("9") + 1))
_WORD = _DIGITS | {code for code in range(_LAST_ASCII + 1) if chr(code).isalpha() or chr(code) == "_"}
_SPACES = frozenset(map(ord, "\t\n\f\r "))
_KINDS = {"d": _DIGITS, "w": _WORD, "s": _SPACES}
_ALL = frozenset(range(_LAST_ASCII + 1))

_SIGNS = re.compile(r"[.*+?()\[\]{}|^$\\]")
"""What is more than itself in an expression."""
_ONE = r"\\[tfrv]|\\[^0-9A-Za-z]"
_COUNT = "(?:0|[1-9][0-9]*)"
_TOKEN = re.compile(
    rf"""(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])
    |(?P<kept>\{{{_COUNT}(?:,{_COUNT}?)?\}}|[*+?)|^$]|\\[bB])
    |(?P<group>\((?:\?:|(?!\?)))
    |(?P<kind>\\[dDwWsS])
    |(?P<any>\.)
    |(?P<letter>{_ONE}|(?!\{{[0-9])[^\\\[(])""",
    re.VERBOSE | re.DOTALL,
)
_MEMBER = re.compile(rf"\\(?P<kind>[dDwWsS])|(?P<first>{_ONE}|[^\\])(?:-(?P<last>{_ONE}|[^\\]))?", re.DOTALL)
_MEMBERS = re.compile(rf"(?:\\[dDwWsS]|{_ONE}|[^\\])+", re.DOTALL)


def compiled(query: str, regex: bool, case_sensitive: bool) -> Any:
    """Return the RE2 expression for a query; raises ToolError where there is none."""
    if "\n" in query:
        raise ToolError(
            Code.INVALID_ARGUMENTS, "a match lies within one line; search for one line of the text"
        )
    source = f"(?m){query}" if regex else query
    try:
        expression = _expression(source, regex, case_sensitive)
    except re2.error as error:
        said = error.args[0].decode(errors="replace") if isinstance(error.args[0], bytes) else str(error)
        # RE2 may quote the whole expression, whose beginning the caller did not write.
        reason = said.replace(source, query)
        raise ToolError(
            Code.INVALID_ARGUMENTS,
            f"query is not an RE2 regular expression: {reason}. Look-around and back-references are not supported",
        ) from None
    if regex and expression.programsize > LARGEST_PROGRAM:
        raise ToolError(
            Code.INVALID_ARGUMENTS,
            f"query repeats too much to be searched for in good time: it grows to {expression.programsize} steps, and"
            f" {LARGEST_PROGRAM} are the most; repeat less, or use smaller classes such as [a-z]",
        )
    return expression


def is_expression(query: str, case_sensitive: bool) -> bool:
    """Say whether a query can be meant as an expression: it has a sign that is no letter in one, and RE2 takes it."""
    if not _SIGNS.search(query):
        return False
    try:
        compiled(query, regex=True, case_sensitive=case_sensitive)
    except ToolError:
        return False
    return True


def translated(query: str, regex: bool, case_sensitive: bool) -> str | None:
    """Return a query RE2 has compiled as ripgrep takes it over bytes, or None where they might not agree."""
    if not regex:
        return "".join(_letter(letter, not case_sensitive) for letter in query)
    # What matches nothing at all matches on the line after the last one, which ripgrep does not have.
    if compiled(query, regex, case_sensitive).search(b"") is not None:
        return None
    if query.startswith(_IGNORE_CASE):
        query, case_sensitive = query[len(_IGNORE_CASE) :], False
    pieces: list[str] = []
    at = 0
    while at < len(query):
        token = _TOKEN.match(query, at)
        piece = token and _MEANING[token.lastgroup or ""](token.group(), not case_sensitive)
        if not token or piece is None:
            return None
        pieces.append(piece)
        at = token.end()
    return "".join(pieces)


def _expression(source: str, regex: bool, case_sensitive: bool) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.never_nl = True
    # Only the start of a match is needed; with groups, RE2 would use its slowest method.
    options.never_capture = True
    options.max_mem = 32 << 20
    options.literal = not regex
    options.case_sensitive = case_sensitive
    return re2.compile(source.encode(), options)


def _letter(text: str, any_case: bool) -> str:
    letter = _CONTROLS.get(text) or text[-1]
    ways = _same_letters(letter) if any_case else (letter,)
    written = ["".join(f"\\x{byte:02x}" for byte in way.encode()) for way in ways]
    return f"(?:{'|'.join(written)})"


@lru_cache(maxsize=1024)
def _same_letters(letter: str) -> tuple[str, ...]:
    """Return every character RE2 takes for this one where case does not matter."""
    if letter.isascii():
        others = _FOLDED_INTO_ASCII.get(letter.lower(), "")
        return tuple(dict.fromkeys((letter.lower(), letter.upper(), *others)))
    expression = _expression(letter, regex=False, case_sensitive=False)
    return tuple(found.decode() for found in expression.findall(_every_character()))


@cache
def _every_character() -> bytes:
    return "".join(chr(code) for code in range(_LAST_CASED + 1) if code not in _SURROGATES).encode()


def _set(text: str, any_case: bool) -> str | None:
    is_negated = text.startswith("[^")
    inside = text[2:-1] if is_negated else text[1:-1]
    if "[:" in inside or _MEMBERS.fullmatch(inside) is None:
        return None
    ascii_members: set[int] = set()
    has_beyond = False
    for members, beyond in _members(inside):
        ascii_members.update(members)
        has_beyond = has_beyond or beyond
    if any_case:
        ascii_members |= {ord(other) for code in ascii_members for other in chr(code).swapcase()}
    if is_negated:
        return _one_of(_ALL - ascii_members, beyond=True)
    if any_case and not ascii_members.isdisjoint(map(ord, _FOLDED_INTO_ASCII)):
        has_beyond = True
    elif any_case and has_beyond:
        ascii_members |= {ord(case) for letter in _FOLDED_INTO_ASCII for case in (letter, letter.upper())}
    return _one_of(ascii_members, has_beyond)


def _members(inside: str) -> Iterator[tuple[Iterable[int], bool]]:
    """Yield the members of a set: which of ASCII they are, and whether there are others."""
    for member in _MEMBER.finditer(inside):
        if kind := member["kind"]:
            yield (_KINDS[kind], False) if kind.islower() else (_ALL - _KINDS[kind.lower()], True)
        else:
            first = _code(member["first"])
            last = _code(member["last"]) if member["last"] else first
            yield range(first, min(last, _LAST_ASCII) + 1), last > _LAST_ASCII


def _code(text: str) -> int:
    return ord(_CONTROLS.get(text) or text[-1])


def _kind(text: str, any_case: bool) -> str | None:
    return _set(f"[{text}]", any_case)


def _one_of(members: Iterable[int], beyond: bool) -> str | None:
    # No match crosses a line.
    codes = set(members) - {_NEWLINE}
    if not codes:
        return f"(?:{_BEYOND_ASCII})" if beyond else None
    listed = "".join(f"\\x{code:02x}" for code in sorted(codes))
    return f"(?:[{listed}]|{_BEYOND_ASCII})" if beyond else f"[{listed}]"


_MEANING: Mapping[str, Callable[[str, bool], str | None]] = {
    "set": _set,
    "kept": lambda text, _any_case: text,
    "group": lambda _text, _any_case: "(?:",
    "kind": _kind,
    "any": lambda _text, _any_case: _one_of(_ALL, beyond=True),
    "letter": _letter,
}
