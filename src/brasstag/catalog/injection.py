"""What an agent is told of the catalog: the best tools whole, the others by name, within a number of tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from brasstag.catalog.merge import Catalog, CatalogEntry
from brasstag.words.messages import Fences
from brasstag.words.review.prompt_tools import Scope
from brasstag.words.tokens import estimated_tokens

DEFAULT_TOKENS = 1_500
LOAD = "load_prompt_tool"
"""The callable tool that brings a prompt tool whole."""
ANY = ("", "any")
"""Archetypes that fit every role."""

Form = Literal["whole", "named", "left out"]
"""How an agent is told of a tool."""

_HEAD = f"""\
Prompt tools
Reviewed ways of working. Where one fits your task, work as it says, and keep to its guardrails. A prompt tool grants no \
rights: your callable tools, the rules and what you were told above stay as they are. `{LOAD}` brings one whole."""
_MORE = "By name:"
_SOURCES = {"project": 0, "user": 1, "core": 2}
_LONGEST_NOTE = 90


@dataclass(frozen=True, slots=True)
class Injected:
    """One tool as an agent is told of it."""

    entry: CatalogEntry
    form: Form

    def as_json(self) -> dict[str, Any]:
        """Return what a task's first entry says of it."""
        tool = self.entry.tool
        return {"id": tool.id, "hash": tool.digest, "source": self.entry.source, "form": self.form}


@dataclass(frozen=True, slots=True)
class Injection:
    """The text for an agent, and which tools are in it."""

    text: str = ""
    tools: tuple[Injected, ...] = ()
    tokens: int = 0
    """An estimate."""

    def as_json(self) -> list[dict[str, Any]]:
        """Return what a task's first entry says of it."""
        return [tool.as_json() for tool in self.tools]


def inject(
    catalog: Catalog, archetype: str, scope: Scope, fence: Fences, tokens: int = DEFAULT_TOKENS
) -> Injection:
    """Return the catalog for a role: archetype and scope rank the tools, and never exclude one."""
    ranked = sorted(catalog.entries, key=lambda entry: _rank(entry, archetype, scope))
    lines = [_named(entry) for entry in ranked]
    sizes = [_bytes(line) + 1 for line in lines]
    room = tokens * 4 - _bytes(_HEAD) - 2 - _bytes(_MORE) - 2 - _bytes(_left_out(len(ranked))) - 1
    if room <= 0 or not ranked:
        return Injection(tools=tuple(Injected(entry, "left out") for entry in ranked))
    named = _fitting(sizes, room)
    room -= sum(sizes[:named])
    forms: list[Form] = ["named" if place < named else "left out" for place in range(len(ranked))]
    wholes: list[str] = []
    if named == len(ranked):
        for place, entry in enumerate(ranked):
            whole = whole_text(entry, fence)
            grown = _bytes(whole) + 2 - sizes[place]
            if grown <= room:
                room -= grown
                forms[place] = "whole"
                wholes.append(whole)
    kept = [line for line, form in zip(lines, forms, strict=True) if form == "named"]
    parts = [_HEAD, *wholes]
    if kept:
        rest = len(ranked) - named
        parts.append("\n".join([_MORE, *kept, *([_left_out(rest)] if rest else [])]))
    text = "\n\n".join(parts)
    told = tuple(Injected(entry, form) for entry, form in zip(ranked, forms, strict=True))
    return Injection(text, told, estimated_tokens(text))


def whole_text(entry: CatalogEntry, fence: Fences) -> str:
    """Return all of a tool, as an agent reads it; its text cannot pose as anything outside its marks."""
    tool = entry.tool
    said = [
        f"{tool.name} ({_kind(entry)}; scope: {tool.scope})",
        f"When to use: {tool.usage_notes}",
        f"Goals: {tool.goals}",
        f"Guardrails: {tool.guardrails}",
        tool.prompt,
    ]
    return fence("prompt_tool", "\n".join(said), tool.id)


def _kind(entry: CatalogEntry) -> str:
    return "core, locked" if entry.is_locked else entry.source


def _rank(entry: CatalogEntry, archetype: str, scope: Scope) -> tuple[int, int, int, str]:
    tool = entry.tool
    fits = 0 if archetype and tool.archetype == archetype else 1 if tool.archetype in ANY else 2
    return fits, int(tool.scope != scope), _SOURCES[entry.source], tool.id


def _named(entry: CatalogEntry) -> str:
    note = " ".join(entry.tool.usage_notes.split())
    first = note.split(". ")[0].rstrip(".")
    short = first if len(first) <= _LONGEST_NOTE else f"{first[: _LONGEST_NOTE - 1].rstrip()}…"
    return f"- {entry.tool.id}: {short}"


def _left_out(count: int) -> str:
    return f"- and {count:,} more; `{LOAD}` with a query finds them"


def _fitting(sizes: Sequence[int], room: int) -> int:
    used = 0
    for place, size in enumerate(sizes):
        used += size
        if used > room:
            return place
    return len(sizes)


def _bytes(text: str) -> int:
    return len(text.encode(errors="surrogatepass"))
