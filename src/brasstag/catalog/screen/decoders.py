"""Decoders: runs of encoded text, and what they say; each takes linear time and gives no more than it was given."""

import base64
import binascii
import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote

_FEWEST_LETTERS = 12
_WORDLIKE = 0.7
_READABLE = 0.9
_LONG_RUN = 120
_LONG_WORD = re.compile(r"[a-z]{10}")

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
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
    yield from _base64_runs(text)
    for pattern, expression, decode in _DECODERS:
        for found in expression.finditer(text):
            said = _read(decode, found[0])
            if said is not None:
                yield EncodedRun(pattern, found.start(), found.end(), said)


def unescaped(text: str) -> tuple[str, list[int]] | None:
    """Return the text without escapes, and where each of its characters came from; nothing where there are none."""
    pieces: list[str] = []
    places: list[int] = []
    start = 0
    for found in _ESCAPE.finditer(text):
        said = _unescape(found)
        if said == found[0]:
            continue
        pieces += (text[start : found.start()], said)
        places += range(start, found.start())
        places += [found.start()] * (len(said) - 1) + [found.end() - 1] * bool(said)
        start = found.end()
    if not pieces:
        return None
    return "".join([*pieces, text[start:]]), [*places, *range(start, len(text))]


def _unescape(found: re.Match[str]) -> str:
    run = found[0]
    match found.lastgroup:
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


_DECODERS: tuple[tuple[str, re.Pattern[str], Callable[[str], bytes]], ...] = (
    ("base32_payload", re.compile(r"(?<![A-Z2-7])[A-Z2-7]{24,}={0,6}"), _base32),
    ("base85_payload", re.compile(r"<~[!-u\s]{10,}~>"), _base85),
    ("hex_payload", re.compile(r"(?:(?:0x|\\x)?[0-9a-fA-F]{2}[\s,:;-]{0,2}){10,}"), _hexadecimal),
    ("binary_payload", re.compile(r"(?<![01])(?:[01]{8}[\s,]{0,2}){6,}"), _binary),
    ("number_payload", re.compile(r"(?<!\d)(?:\d{2,3}[\s,;]{1,3}){9,}\d{2,3}"), _numbers),
)
