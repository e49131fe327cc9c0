"""The runs of a text: pieces that are set alike, such as bold words or a link.

The words of a block pass through the block writer as one text. Marks in it say where a run begins and ends; they are
noncharacters, of which a text that is rendered has none of its own.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NotRequired, TypedDict, cast

from markdown_it.token import Token

from brasstag.documents.converters.markdown import BREAK, inline_text

MARKS = "\ufdd0-\ufdef"
"""The range of noncharacters from which marks are taken."""
_STARTS: Mapping[str, str] = {"strong_open": "\ufdd0", "em_open": "\ufdd1", "s_open": "\ufdd2"}
_ENDS: Mapping[str, str] = {"strong_close": "\ufdd3", "em_close": "\ufdd4", "s_close": "\ufdd5"}
_CODE, _CODE_END = "\ufdd6", "\ufdd7"
_LINK, _LINK_WORDS, _LINK_END = "\ufdd8", "\ufdd9", "\ufdda"
_LOOKS: Mapping[str, tuple[str, bool]] = {
    "\ufdd0": ("bold", True), "\ufdd3": ("bold", False),
    "\ufdd1": ("italic", True), "\ufdd4": ("italic", False),
    "\ufdd2": ("strike", True), "\ufdd5": ("strike", False),
    _CODE: ("code", True), _CODE_END: ("code", False),
}  # fmt: skip
_PIECES = re.compile(f"({_LINK}[^{_LINK_WORDS}]*{_LINK_WORDS}|[{MARKS}])")
_FOLLOWED = re.compile(r"(?:https?://|mailto:)\S{1,2000}", re.IGNORECASE)
"""Addresses that a reader may follow with a click; any other stands behind its words."""


class StyledRun(TypedDict):
    """A piece of a text that is set alike; what it is not is left out."""

    text: str
    bold: NotRequired[bool]
    italic: NotRequired[bool]
    strike: NotRequired[bool]
    code: NotRequired[bool]
    link: NotRequired[str]


def marked_text(token: Token | None) -> str:
    """Return the words of a line of Markdown with marks where runs begin and end; only hard breaks end a line."""
    parts: list[str] = []
    links: list[tuple[int, str]] = []
    for one in (token.children or ()) if token is not None else ():
        if one.type == "softbreak":
            parts.append(" ")
        elif one.type == "hardbreak" or (one.type == "html_inline" and BREAK.fullmatch(one.content)):
            parts.append("\n")
        elif one.type == "code_inline":
            parts.append(f"{_CODE}{one.content}{_CODE_END}")
        elif one.type == "image":
            parts.append(inline_text(one))
        elif one.type == "link_open":
            links.append((len(parts), str(one.attrs.get("href", ""))))
        elif one.type == "link_close":
            begin, target = links.pop()
            parts[begin:] = _link(target, "".join(parts[begin:]))
        elif one.type == "text":
            parts.append(one.content)
        else:
            parts.append(_STARTS.get(one.type) or _ENDS.get(one.type, ""))
    return "".join(parts)


def _link(target: str, words: str) -> list[str]:
    """Return the words of a link with marks, or with the address behind them where no click may follow it."""
    if _FOLLOWED.fullmatch(target):
        return [_LINK, target, _LINK_WORDS, words or target, _LINK_END]
    return [words, f" ({target})" if target and not target.startswith("#") else ""]


def runs(text: str) -> Iterator[StyledRun]:
    """Yield the runs of a text with marks."""
    look: StyledRun = {"text": ""}
    for piece in _PIECES.split(text):
        if piece in _LOOKS:
            name, is_on = _LOOKS[piece]
            look = _with(look, name) if is_on else _without(look, name)
        elif piece.startswith(_LINK):
            look = {**look, "link": piece[1:-1]}
        elif piece == _LINK_END:
            look = _without(look, "link")
        elif piece:
            yield {**look, "text": piece}


def _with(look: StyledRun, name: str) -> StyledRun:
    return cast("StyledRun", {**look, name: True})


def _without(look: StyledRun, name: str) -> StyledRun:
    return cast("StyledRun", {key: value for key, value in look.items() if key != name})
