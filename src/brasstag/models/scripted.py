"""Scripted: turns written in advance, for demos and tests.

A script is JSON, TOML or a Python mapping: for each role the turns its tasks take, in order.

    {"lead": [{"calls": [{"tool": "route_to_analyst", "arguments": {"request": "Analyse Q3"}}]},
              {"text": "Done."}]}

Where tasks of one role differ, its entries are scripts of their own; the first whose ``when`` is part of what the task was
asked, or that has none, is played:

    {"analyst": [{"when": "Q3", "turns": […]}, {"turns": […]}]}
"""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from brasstag.models.estimate import estimated
from brasstag.models.failures import not_configured
from brasstag.words.messages import Assistant, Text, ToolUse, User
from brasstag.words.turns import ModelError, OnText, Turn, TurnRequest

NOTE = "scripted, not a live model"

PLENTY = 128_000
"""How many tokens fit into a script where no size is given."""


class _WrittenTurn(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ScriptedCall(_WrittenTurn):
    """One call; arguments given as text stand for what a model wrote badly."""

    tool: str
    arguments: dict[str, Any] | str = {}


class ScriptedTurn(_WrittenTurn):
    """What is said and called in one turn."""

    text: str = ""
    calls: tuple[ScriptedCall, ...] = ()


class Script(_WrittenTurn):
    """The turns of the tasks whose request has ``when`` in it."""

    turns: tuple[ScriptedTurn, ...]
    when: str = ""


_SCRIPTS = TypeAdapter(dict[str, tuple[Script, ...]])


class ScriptedModel:
    """Plays turn n of the script to each caller that asks for turn n; the same request always gets the same turn."""

    sees_images = False

    def __init__(
        self, script: Mapping[str, Any], name: str = "scripted", context_tokens: int | None = None
    ) -> None:
        self.name = name
        self.context_tokens = context_tokens or PLENTY
        try:
            self._scripts = _SCRIPTS.validate_python(
                {role: _scripts(given) for role, given in script.items()}
            )
        except ValidationError as error:
            problem = error.errors()[0]
            place = ".".join(str(step) for step in problem["loc"])
            raise not_configured(f"{name}: {place}: {problem['msg']}") from None

    @classmethod
    def from_file(cls, path: Path, context_tokens: int | None = None) -> "ScriptedModel":
        """Read a script; the file's ending says whether it is TOML or JSON."""
        try:
            text = path.read_text(encoding="utf-8")
            script = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
        except (OSError, ValueError) as error:
            raise not_configured(f"the script {path} cannot be read: {error}") from None
        if not isinstance(script, dict):
            raise not_configured(
                f"the script {path} is not an object; write the turns of each role under its name"
            )
        return cls(script, f"scripted:{path}", context_tokens)

    async def respond(self, request: TurnRequest, on_text: OnText) -> Turn:
        """Play the turn that the script has for this request; raises ModelError where it has none."""
        turns = self._script_for(request).turns
        if request.turn >= len(turns):
            raise ModelError(
                f"{self.name} has {len(turns)} turns for {request.role}, and turn {request.turn + 1} was asked for; "
                "write it, or end the script with a handoff or a turn that only says something"
            )
        written = turns[request.turn]
        if written.text:
            on_text(written.text)
        calls = tuple(
            ToolUse(f"s{request.turn}_{index}", call.tool, call.arguments)
            for index, call in enumerate(written.calls)
        )
        usage = estimated(request, written.text, calls, cost=0)
        return Turn(written.text, calls, (), usage, self.name, "calls" if calls else "end_turn", NOTE)

    def _script_for(self, request: TurnRequest) -> Script:
        asked = _asked(request)
        for script in self._scripts.get(request.role, ()):
            if script.when in asked:
                return script
        known = ", ".join(sorted(self._scripts)) or "no role"
        raise ModelError(
            f"{self.name} has no turns for {request.role} with this request; it has turns for {known}"
        )


def _scripts(given: Any) -> Any:
    """Read a plain list of turns as the one script of its role."""
    if isinstance(given, list) and not any(isinstance(entry, dict) and "turns" in entry for entry in given):
        return [{"turns": given}]
    return given


def _asked(request: TurnRequest) -> str:
    """Return what the task was told before its first turn; a question is asked within its asker's conversation."""
    answered = [place for place, message in enumerate(request.messages) if isinstance(message, Assistant)]
    own = answered[-request.turn] if 0 < request.turn <= len(answered) else len(request.messages)
    told = (message for message in request.messages[:own] if isinstance(message, User))
    return "\n".join(block.text for message in told for block in message.blocks if isinstance(block, Text))
