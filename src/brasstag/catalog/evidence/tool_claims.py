"""Find where a text claims the use of a tool without the tag of the call.

The sentences it knows are English; a claim in another language is found only where it names a tool.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import re2

from brasstag.catalog.evidence.read_items import TAGS

_QUOTED = re2.compile('"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|『[^』]*』')
_FENCE = re2.compile(r"^\s*(?:```|~~~)")
_BLOCK_QUOTE = re2.compile(r"^\s*>")

_WE = (
    r"\b(?:I|[Ww]e)(?:['’]ve|\s+have)?(?:\s+(?:also|then|just|first|already|now|next|again|even|both|since|only|"
    r"[a-z]+ly))*\s+"
)
_LOOKED = r"(?:searched|scanned|grepped|queried|fetched|browsed)\b"
_USED = (
    r"(?:read|re-?read|checked|double-checked|cross-checked|reviewed|examined|inspected|looked (?:at|into|through|up|in)|"
    r"loaded|consulted|listed|ran|executed|used|called|opened|verified|compared)\b"
)
_THINGS = (
    r"(?:files?|documents?|scenes?|chapters?|manuscripts?|outline|workspace|folders?|director(?:y|ies)|bible|canon|cards?|"
    r"tools?|search(?:es)?|quer(?:y|ies)|commands?|scripts?|code|pages?|websites?|web|lines?|versions?|timeline)\b"
)
_SEARCH = (
    r"(?i)\b(?:a|an|my|our|the)\s+(?:[\w-]+\s+)?search(?:es)?\s+(?:of|for|in|through|across|over)\b[^.!?\n]{0,80}"
    r"\b(?:found|finds|returned|returns|shows?|showed|turned up|yielded|gave|came back)\b"
)
_FOUND = (
    r"(?:found|finds|returned|returns|shows?|showed|says|said|reports?|reported|gave|gives|lists|listed|confirms|confirmed|"
    r"turned up|came back)\b"
)
_NO_TOOL = r"[^\x00-\x{10FFFF}]"
"""Matches nothing."""


@dataclass(frozen=True, slots=True)
class ToolClaim:
    """A claim that a tool was used."""

    line: int
    """Counted from 1."""
    words: str


def claimed_tool_use(text: str, tools: Collection[str]) -> list[ToolClaim]:
    """Return each line that claims the use of a tool and has no tag; what a text only quotes is no claim of its own."""
    in_words, in_calls = _patterns(tuple(sorted(tools)))
    found: list[ToolClaim] = []
    for number, line, is_prose in _lines(text):
        if TAGS.search(line):
            continue
        claim = in_calls.search(line) or (in_words.search(_QUOTED.sub(" ", line)) if is_prose else None)
        if claim is not None:
            found.append(ToolClaim(number, claim.group(0).strip()))
    return found


def _lines(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield each line with its number, and whether it is prose: code and block quotes have other people's words."""
    is_code = False
    for number, line in enumerate(text.split("\n"), start=1):
        if _FENCE.search(line):
            is_code = not is_code
        else:
            yield number, line, not (is_code or _BLOCK_QUOTE.search(line))


@lru_cache(maxsize=16)
def _patterns(tools: tuple[str, ...]) -> tuple[Any, Any]:
    """Return what a claim in words looks like, and what a call written out looks like."""
    every = _one_of(tools)
    # A name that is also a plain word, such as recall, is a name only where it is written as a call.
    clear = _one_of(tuple(name for name in tools if "_" in name))
    things = rf"(?:{_THINGS}|\S+\.[a-z]{{2,5}}\b|`?{clear}`?)"
    words = "|".join(
        (
            f"{_WE}{_LOOKED}",
            rf"{_WE}{_USED}[^.!?\n]{{0,80}}?\b{things}",
            f"{_SEARCH}",
            rf"\b{clear}\b`?\s+{_FOUND}",
            rf"\b(?:ran|called|used|invoked|executed|queried)\s+(?:the\s+)?`?{clear}\b",
        )
    )
    calls = rf"\b{every}\(|[\"'](?:tool|name|function|tool_name)[\"']\s*:\s*[\"']{every}[\"']"
    return re2.compile(words), re2.compile(calls)


def _one_of(names: tuple[str, ...]) -> str:
    return f"(?:{'|'.join(map(re2.escape, names))})" if names else _NO_TOOL
