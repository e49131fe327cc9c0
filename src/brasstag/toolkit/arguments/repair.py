"""JSON that a model wrote badly, read where nothing can be lost.

A call cut off in the middle is never completed: a truncated write_file would write a truncated file.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any, NoReturn

from brasstag.toolkit.arguments.arguments import MOST_BYTES
from brasstag.words.errors import Code, ToolError

MOST_MENDED = 1024 * 1024
"""How many characters may be mended; longer texts have to be right."""

_FENCE = re.compile(r"```[A-Za-z0-9]*[ \t]*\n(.*)\n[ \t]*```", re.DOTALL)
# The quantifiers are possessive, so that a hostile input is read only once.
_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]++)
    |(?P<double>"(?:[^"\\]++|\\.)*+")
    |(?P<single>'(?:[^'\\]++|\\.)*+')
    |(?P<mark>[{}\[\]:,])
    |(?P<word>[^ \t\r\n{}\[\]:,"']++)""",
    re.DOTALL | re.VERBOSE,
)
_PYTHON_WORDS = {"True": "true", "False": "false", "None": "null"}
_BEFORE_A_VALUE = ("", ",", ":", "{", "[")
_IN_STRING = re.compile(r'\\.|[\x00-\x1f"]', re.DOTALL)


def read_arguments(text: str) -> tuple[dict[str, Any], str]:
    """Return the arguments in a model's text and a note of what was mended, empty when nothing was.

    Raises INVALID_ARGUMENTS with what is wrong and where.
    """
    if len(text) > MOST_BYTES:
        _refuse(f"they are longer than {MOST_BYTES} characters", "Put large content into files")
    notes: list[str] = []
    bare = text.lstrip("\ufeff").strip()
    if len(bare) < len(text) and text.startswith("\ufeff"):
        notes.append("dropped a byte order mark")
    if fenced := _FENCE.fullmatch(bare):
        bare = fenced[1].strip()
        notes.append("removed a Markdown fence")
    value = _read(bare, notes)
    if isinstance(value, str):
        notes.append("read a JSON text inside a JSON string")
        value = _read(value.strip(), notes)
    if not isinstance(value, dict):
        _refuse("they are not an object", "Send one JSON object, {} where there are no arguments")
    return value, "; ".join(dict.fromkeys(notes))


def _read(text: str, notes: list[str]) -> Any:
    if not text:
        _refuse("they are empty", "Send one JSON object, {} where there are no arguments")
    try:
        return _loads(text)
    except json.JSONDecodeError as error:
        if len(text) > MOST_MENDED:
            _refuse(
                f"{error.msg} at character {error.pos}", "Send strict JSON; a text this long is not repaired"
            )
    mended = _Mended(text)
    try:
        value = _loads(mended.text)
    except json.JSONDecodeError as error:
        _refuse(
            f"{error.msg} at character {mended.original(error.pos)}",
            "Send the whole call again as strict JSON",
        )
    notes += mended.notes
    return value


def _loads(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_once_each, parse_constant=_no_constant)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        _refuse("they are nested too deeply", "Send a flatter object")
    except ValueError:
        _refuse("a number has too many digits", "Send it as a string")


@dataclass(slots=True)
class _Mended:
    """A text read token by token, and the few places where it has to be written differently."""

    source: str
    edits: list[tuple[int, int, str]] = field(default_factory=list)
    """From where to where in the source, and what stands there instead; in order."""
    notes: dict[str, None] = field(default_factory=dict)
    """What was done, once each, in order."""

    def __post_init__(self) -> None:
        at, before, comma = 0, "", None
        while at < len(self.source):
            token = _TOKEN.match(self.source, at)
            if token is None:
                _refuse(f"a string that begins at character {at} never ends", "Send the whole call again")
            kind, piece = token.lastgroup, token[0]
            if piece in ("}", "]") and comma is not None:
                self._write(comma, comma + 1, "", "dropped a trailing comma")
            if kind in ("single", "double"):
                self._mend_string(token)
            elif piece in _PYTHON_WORDS:
                self._write(at, token.end(), _PYTHON_WORDS[piece], "read Python's True, False and None")
            if kind != "space":
                comma = at if piece == "," and before not in _BEFORE_A_VALUE else None
                before = piece
            at = token.end()

    @property
    def text(self) -> str:
        pieces, at = [], 0
        for start, end, written in self.edits:
            pieces += [self.source[at:start], written]
            at = end
        return "".join([*pieces, self.source[at:]])

    def original(self, position: int) -> int:
        """Return where in the source the character at ``position`` of the mended text came from."""
        for start, end, written in self.edits:
            if position < start:
                break
            position += (end - start) - len(written)
        return max(0, min(position, len(self.source)))

    def _mend_string(self, token: re.Match[str]) -> None:
        content = token[0][1:-1]
        mended = f'"{_IN_STRING.sub(self._mend_character, content)}"'
        if token.lastgroup == "single":
            self.notes["read single-quoted strings"] = None
        if mended != token[0]:
            self.edits.append((token.start(), token.end(), mended))

    def _mend_character(self, found: re.Match[str]) -> str:
        character = found[0]
        if character == "\\'":
            self.notes["read escaped apostrophes"] = None
            return "'"
        if character == '"':
            return '\\"'
        if character.startswith("\\"):
            return character
        self.notes["escaped line breaks and tabs inside strings"] = None
        return f"\\u{ord(character):04x}"

    def _write(self, start: int, end: int, written: str, note: str) -> None:
        self.edits.append((start, end, written))
        self.notes[note] = None


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            _refuse(f"the name {name[:60]!r} stands there twice in one object", "Keep the one that is meant")
        found[name] = value
    return found


def _no_constant(word: str) -> NoReturn:
    _refuse(f"{word} is not a JSON number", "Send a finite number")


def _refuse(what: str, mend: str) -> NoReturn:
    raise ToolError(Code.INVALID_ARGUMENTS, f"the arguments cannot be read: {what}. {mend}.")
