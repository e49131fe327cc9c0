"""A scripted model that cites: in its words and arguments <0> is the first tag it was shown, <1> the second."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from brasstag import Room
from brasstag.models.scripted import ScriptedModel
from brasstag.words.messages import Result, Text, ToolUse
from brasstag.words.turns import OnText, Turn, TurnRequest
from tests.engine.crews import Script

CREW = """
[crew]
lead = "editor"
model = "scripted:script.json"

[roles.editor]
instructions = "Edit."
tools = ["*"]
delegates_to = ["editor", "narrator"]
evidence = true

[roles.narrator]
instructions = "Write."
tools = ["*"]
"""

_TAG = re.compile(r"\btag_[0-9a-f]{32}\b")


class CitingModel(ScriptedModel):
    """Plays a script, with real tags in it; ``told`` is what it was shown last."""

    told: TurnRequest | None = None

    async def respond(self, request: TurnRequest, on_text: OnText) -> Turn:
        self.told = request
        turn = await super().respond(request, on_text)
        tags = tags_shown(request)
        calls = tuple(ToolUse(call.id, call.tool, _cited(call.arguments, tags)) for call in turn.calls)
        return replace(turn, text=_cited(turn.text, tags), calls=calls)


def tags_shown(request: TurnRequest) -> list[str]:
    """Return the tags that results have named so far, in order."""
    texts = [
        block.text
        for message in request.messages
        if isinstance(message, Result)
        for block in message.blocks
        if isinstance(block, Text)
    ]
    return list(dict.fromkeys(_TAG.findall("\n".join(texts))))


def _cited(value: Any, tags: Sequence[str]) -> Any:
    written = json.dumps(value)
    for number, tag in enumerate(tags):
        written = written.replace(f"<{number}>", tag)
    return json.loads(written)


def let_cite(room: Room, script: Script) -> CitingModel:
    """Let the agents of a room follow a script."""
    model = CitingModel(script)
    room._runtime.agents.find_model = lambda _name, _fallback: model
    return model


def write_files(project: Path, files: Mapping[str, str]) -> None:
    """Put files into the workspace of a project."""
    for name, text in files.items():
        (project / "data" / name).write_text(text)
