"""Prompt tools: S4's form, camelCase on disk and in APIs."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

from brasstag.words.canonical import stored_digest
from brasstag.words.errors import Code, ToolError

Scope = Literal["selection", "file", "project"]
Target = Literal["project", "user"]
Source = Literal["core", "project", "user"]

SCOPES: tuple[Scope, ...] = get_args(Scope)
TARGETS: tuple[Target, ...] = get_args(Target)

FIELDS = ("id", "name", "archetype", "scope", "usageNotes", "goals", "guardrails", "prompt")
"""The eight fields of a prompt tool, in S4's order."""
MOST_IN_PROMPT = 20_000
MOST_IN_FIELD = 2_000
"""Characters."""

_PROMPT = "prompt"
_OPTIONAL = frozenset({"archetype"})
_ID = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(frozen=True)
class PromptTool:
    """A structured prompt that agents find in their catalog."""

    id: str
    name: str
    archetype: str
    """For whom it is meant first; it ranks, and never excludes."""
    scope: Scope
    usage_notes: str
    goals: str
    guardrails: str
    prompt: str

    @classmethod
    def from_json(cls, value: Any, file: str = "") -> "PromptTool":
        """Read S4's form; raise ToolError with everything that is wrong."""
        wrong = list(problems_in(value))
        if wrong:
            place = f"{file}: " if file else ""
            raise ToolError(Code.INVALID_PROPOSAL, f"{place}{'; '.join(wrong)}", {"problems": wrong})
        return cls(*(value.get(name, "") for name in FIELDS))

    def as_json(self) -> dict[str, str]:
        """Return S4's form."""
        values = (
            self.id,
            self.name,
            self.archetype,
            self.scope,
            self.usage_notes,
            self.goals,
            self.guardrails,
            self.prompt,
        )
        return dict(zip(FIELDS, values, strict=True))

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of its content, which approvals and runs name."""
        return stored_digest(self.as_json())


def problems_in(value: Any) -> Iterator[str]:
    """Yield everything that keeps a value from being a prompt tool."""
    if not isinstance(value, Mapping):
        yield "a prompt tool is an object with the fields " + ", ".join(FIELDS)
        return
    for name in FIELDS:
        given = value.get(name, "")
        if not isinstance(given, str):
            yield f"{name} is not text"
        elif not given.strip() and name not in _OPTIONAL:
            yield f"{name} is missing"
        elif len(given) > most_in(name):
            yield f"{name} has {len(given):,} characters; at most {most_in(name):,} are allowed"
    tool_id = value.get("id")
    if isinstance(tool_id, str) and tool_id.strip() and not _ID.fullmatch(tool_id):
        yield "id may hold lower-case letters, digits and _, begins with a letter, and has 64 characters at most"
    scope = value.get("scope")
    if isinstance(scope, str) and scope.strip() and scope not in SCOPES:
        yield f"scope is {scope!r}; it is one of {', '.join(SCOPES)}"
    for name in value:
        if name not in FIELDS:
            yield f"{name} is not a field of a prompt tool"


def most_in(field_name: str) -> int:
    """Return how many characters a field may have."""
    return MOST_IN_PROMPT if field_name == _PROMPT else MOST_IN_FIELD
