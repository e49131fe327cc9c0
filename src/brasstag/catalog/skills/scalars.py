"""Texts in YAML: write one in quotes, and read the plain, quoted and block forms."""

import re
from collections.abc import Sequence

_WHITE = re.compile(r"[ \t]++(\n[ \t\n]*+)?|\n[ \t\n]*+")
_DOUBLE = re.compile(r'"((?:[^"\\]++|\\.)*+)"', re.DOTALL)
_SINGLE = re.compile(r"'((?:[^']++|'')*+)'")
_ESCAPE = re.compile(
    r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(\n[ \t]*+)|(.))|"
    r"[ \t]++(\n[ \t\n]*+)?|\n[ \t\n]*+",
    re.DOTALL,
)
_COMMENT = re.compile(r"(?:^|[ \t])#.*")
_HEADER = re.compile(r"([|>])([+-]?)([1-9]?)([+-]?)[ \t]*(?:[ \t]#.*)?")
_ESCAPES = dict(zip('0abt\tnvfre "/\\N_LP', '\0\a\b\t\t\n\v\f\r\x1b "/\\\x85\xa0\u2028\u2029', strict=True))
_WRITTEN = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
_RESERVED = "&*!%@`"
_LAST_CHARACTER = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)


def quoted(text: str) -> str:
    """Return a text in double quotes on one line, without ``---``, which ends the frontmatter for some readers."""
    return '"' + "".join(map(_written, text)).replace("--", "-\\x2d") + '"'


def _written(letter: str) -> str:
    if letter in _WRITTEN:
        return _WRITTEN[letter]
    if letter.isprintable():
        return letter
    number = ord(letter)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def read_text(first: str, more: Sequence[str]) -> str:
    """Return the text that begins behind a key and goes on in the lines below; raise ValueError where it is none."""
    if first[:1] in ("|", ">"):
        return _block(first, more)
    if first[:1] in ('"', "'"):
        return _in_quotes("\n".join((first, *more)))
    if first[:1] and first[0] in _RESERVED:
        raise ValueError(
            f"begins with {first[0]}; aliases, anchors and tags are not read, so put the text in quotes"
        )
    if first[:2] in ("- ", "? "):
        raise ValueError("holds a list or a key where a text is expected")
    lines = (without_comment(line) for line in (first, *more))
    return _folded("\n".join(lines).strip(" \t\n"))


def without_comment(line: str) -> str:
    """Return a line of plain text without its comment."""
    return _COMMENT.sub("", line, count=1) if "#" in line else line


def _folded(text: str) -> str:
    return _WHITE.sub(lambda found: _break(found[0]), text)


def _break(white: str) -> str:
    """Return what white space means in a text that is folded: one line break is a blank, each further one stays."""
    breaks = white.count("\n")
    return white if not breaks else " " if breaks == 1 else "\n" * (breaks - 1)


def _in_quotes(text: str) -> str:
    found = (_DOUBLE if text[0] == '"' else _SINGLE).match(text)
    if found is None:
        raise ValueError("opens a quotation that is not closed")
    rest = text[found.end() :]
    if without_comment(rest).strip():
        raise ValueError("has something behind the closing quotation mark")
    if text[0] == "'":
        return _folded(found[1]).replace("''", "'")
    return _ESCAPE.sub(_unescaped, found[1])


def _unescaped(found: re.Match[str]) -> str:
    digits = found[1] or found[2] or found[3]
    if digits:
        number = int(digits, 16)
        if number > _LAST_CHARACTER or number in _SURROGATES:
            raise ValueError(f"holds {found[0]}, which is no character")
        return chr(number)
    if found[4]:
        return ""
    if found[5]:
        if found[5] not in _ESCAPES:
            raise ValueError(f"holds {found[0]}, which is no escape; write the backslash twice")
        return _ESCAPES[found[5]]
    return _break(found[0])


def _block(first: str, more: Sequence[str]) -> str:
    header = _HEADER.fullmatch(first)
    if header is None or (header[2] and header[4]):
        raise ValueError(f"begins with {first[0]}; put the text in quotes")
    filled = [line for line in more if line.strip(" ")]
    indent = int(header[3] or 0) or min((_indent(line) for line in filled[:1]), default=0)
    if any(_indent(line) < indent for line in filled):
        raise ValueError("has a line that is less indented than the first line of its text")
    lines = [line[indent:] for line in more]
    last = max((place for place, line in enumerate(lines, 1) if line), default=0)
    if not last:
        return "\n" * len(lines) if "+" in header.groups() else ""
    text = "\n".join(lines[:last]) if header[1] == "|" else _fold_block(lines[:last])
    if "-" in header.groups():
        return text
    return text + "\n" * (len(lines) - last + 1 if "+" in header.groups() else 1)


def _fold_block(lines: Sequence[str]) -> str:
    """Join lines by blanks; what stands deeper, or apart by empty lines, keeps its line breaks."""
    found: list[str] = []
    empty, before = 0, ""
    for line in lines:
        if not line:
            empty += 1
            continue
        if before:
            folds = before[0] not in " \t" and line[0] not in " \t"
            found.append(" " if folds and not empty else "\n" * (empty + (not folds)))
        else:
            found.append("\n" * empty)
        found.append(line)
        empty, before = 0, line
    return "".join(found)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
