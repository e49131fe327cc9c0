"""Decoders: runs of encoded text, and what they say; each takes linear time and gives no more than it was given."""

import base64
import binascii
import html
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

from brasstag.catalog.screen.automaton import occurs

_FEWEST_LETTERS = 12
_WORDLIKE = 0.7
_READABLE = 0.9
_LONG_RUN = 120
_LONG_WORD = re.compile(r"[a-z]{10}")

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_MAY_BE_ESCAPED = r"%[0-9a-fA-F]{2}|=[0-9A-F]{2}|&#?[0-9a-zA-Z]+;|&#[0-9xX]|\\[ux0-3][0-9a-fA-F{]"
_MAY_BE_BASE64 = r"[A-Za-z0-9+/_-]{16}"
_BASE64_REST = re.compile(r"\s{1,2}[A-Za-z0-9+/_-]{2,15}={0,2}(?![A-Za-z0-9])")
_PAIR = re.compile(r"[0-9a-fA-F]{2}")
_HEX_PREFIX = re.compile(r"0x|\\x", re.IGNORECASE)

_ESCAPE = re.compile(
    r"(?P<percent>(?:%[0-9a-fA-F]{2})+)"
    r"|(?P<quoted>(?:=[0-9A-F]{2})+)"
    r"|(?P<entity>&#[0-9]{1,7};?|&#[xX][0-9a-fA-F]{1,6};?|&[a-zA-Z]{2,8};)"
    r"|(?P<code>\\u[0-9a-fA-F]{4}|\\u\{[0-9a-fA-F]{1,6}\}|\\x[0-9a-fA-F]{2}|\\[0-3][0-7]{2})"
)
_LAST_CODE = 0x10FFFF


@dataclass(frozen=True, slots=True)
class EncodedRun:
    """A piece of a text that may be encoded, and what it says; nothing where that cannot be read."""

    pattern: str
    start: int
    end: int
    says: str | None

    @property
    def is_words(self) -> bool:
        """Whether it says something that looks like words."""
        said = self.says or ""
        letters = sum(letter.isalpha() or letter == " " for letter in said)
        return len(said) >= _FEWEST_LETTERS and letters >= _WORDLIKE * len(said)


def encoded_runs(text: str) -> Iterator[EncodedRun]:
    """Yield the runs that can be decoded, and the long ones that cannot."""
    data = text.encode(errors="replace")
    if occurs(_MAY_BE_BASE64, data):
        yield from _base64_runs(text)
    for pattern, before, expression, decode in _DECODERS:
        if not occurs(expression, data):
            continue
        for found in re.finditer(f"(?<!{before}){expression}", text):
            said = _read(decode, found[0])
            if said is not None:
                yield EncodedRun(pattern, found.start(), found.end(), said)


@dataclass(frozen=True, slots=True)
class UnescapedText:
    """A text without its escapes, and where in the escaped one its characters stand."""

    text: str
    starts: Sequence[int]
    """Where in ``text`` that which each escape says begins."""
    escapes: Sequence[tuple[int, int, int]]
    """Of each escape its start, its end, and the length of what it says."""

    def origin(self, place: int) -> tuple[int, int]:
        """Return the start and the end of what stands for one character."""
        number = bisect_right(self.starts, place) - 1
        if number < 0:
            return place, place + 1
        start, end, length = self.escapes[number]
        beyond = place - self.starts[number] - length
        return (start, end) if beyond < 0 else (end + beyond, end + beyond + 1)


def unescaped(text: str) -> UnescapedText | None:
    """Return the text without escapes; nothing where there are none."""
    if not occurs(_MAY_BE_ESCAPED, text.encode(errors="replace")):
        return None
    pieces: list[str] = []
    starts: list[int] = []
    escapes: list[tuple[int, int, int]] = []
    last = shrunk = 0
    for found in _ESCAPE.finditer(text):
        start, end = found.span()
        says = _unescape(found[0], found.lastgroup)
        pieces += (text[last:start], says)
        starts.append(start - shrunk)
        escapes.append((start, end, len(says)))
        shrunk += end - start - len(says)
        last = end
    plain = "".join([*pieces, text[last:]])
    return UnescapedText(plain, starts, escapes) if plain != text else None


@lru_cache(maxsize=4096)
def _unescape(run: str, kind: str | None) -> str:
    match kind:
        case "percent":
            return unquote(run, errors="replace")
        case "quoted":
            return unquote(run.replace("=", "%"), errors="replace")
        case "entity":
            return html.unescape(run)
    octal = run[1] in "0123"
    code = int(run[1:], 8) if octal else int(run[2:].strip("{}"), 16)
    return chr(code) if code <= _LAST_CODE else run


def _base64_runs(text: str) -> Iterator[EncodedRun]:
    start = end = 0
    pieces: list[str] = []
    for found in _BASE64.finditer(text):
        run = found[0]
        if run.islower() or run.isupper() or run.isdigit():
            continue  # a word, a rule of dashes or a number
        said = _read(_base64, run)
        if said is not None or _is_unreadable(run):
            yield EncodedRun("base64_payload", found.start(), found.end(), said)
        if pieces and (found.start() - end > 2 or not text[end : found.start()].isspace()):
            yield from _wrapped(text, pieces, start, end)
            pieces = []
        start = start if pieces else found.start()
        pieces.append(run)
        end = found.end()
    yield from _wrapped(text, pieces, start, end)


def _wrapped(text: str, pieces: list[str], start: int, end: int) -> Iterator[EncodedRun]:
    """Yield what the lines of a wrapped run say together."""
    rest = _BASE64_REST.match(text, end) if pieces else None
    if rest is not None:
        pieces, end = [*pieces, rest[0].strip()], rest.end()
    if len(pieces) > 1 and (said := _read(_base64, "".join(pieces))) is not None:
        yield EncodedRun("base64_payload", start, end, said)


def _is_unreadable(run: str) -> bool:
    return (
        len(run) >= _LONG_RUN and not _LONG_WORD.search(run) and any(letter in "0123456789" for letter in run)
    )


def _read(decode: Callable[[str], bytes], run: str) -> str | None:
    """Return what a run says, if that is text."""
    try:
        raw = decode(run)
    except (ValueError, binascii.Error):
        return None
    said = raw.decode(errors="ignore")
    if said.isprintable() and len(said) >= _READABLE * len(raw) // 1:
        return said or None
    readable = sum(len(letter.encode()) for letter in said if letter.isprintable() or letter in "\n\r\t")
    return said if said and readable >= _READABLE * len(raw) else None


def _base64(run: str) -> bytes:
    plain = run.rstrip("=").replace("-", "+").replace("_", "/")
    plain = plain[: len(plain) - (len(plain) % 4 == 1)]
    return base64.b64decode(plain + "=" * (-len(plain) % 4))


def _base32(run: str) -> bytes:
    plain = run.rstrip("=")
    plain = plain[: len(plain) - {1: 1, 3: 1, 6: 1}.get(len(plain) % 8, 0)]
    return base64.b32decode(plain + "=" * (-len(plain) % 8))


def _base85(run: str) -> bytes:
    return base64.a85decode(run, adobe=True)


def _hexadecimal(run: str) -> bytes:
    return bytes.fromhex("".join(_PAIR.findall(_HEX_PREFIX.sub(" ", run))))


def _binary(run: str) -> bytes:
    digits = "".join(letter for letter in run if letter in "01")
    return int(digits, 2).to_bytes(len(digits) // 8, "big")


def _numbers(run: str) -> bytes:
    return bytes(int(number) for number in re.findall(r"\d+", run))


_DECODERS: tuple[tuple[str, str, str, Callable[[str], bytes]], ...] = (
    ("base32_payload", "[A-Z2-7]", r"[A-Z2-7]{24,}={0,6}", _base32),
    ("base85_payload", "~", r"<~[!-u\s]{10,}~>", _base85),
    ("hex_payload", "[0-9a-fA-F]", r"(?:(?:0x|\\x)?[0-9a-fA-F]{2}[\s,:;-]{0,2}){10,}", _hexadecimal),
    ("binary_payload", "[01]", r"(?:[01]{8}[\s,]{0,2}){6,}", _binary),
    ("number_payload", "[0-9]", r"(?:\d{2,3}[\s,;]{1,3}){9,}\d{2,3}", _numbers),
)
"""Of each encoding what may not stand before a run, how a run looks, for RE2 and for Python alike, and how it is read."""
