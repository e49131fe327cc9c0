"""Recorded: turns a live model gave earlier, kept and played again."""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from brasstag.models.failures import HOW_TO_SET_UP, not_configured
from brasstag.models.windows import HOSTED_TOKENS
from brasstag.models.wrapper import ModelWrapper
from brasstag.words.canonical import sha256, stored_json
from brasstag.words.messages import Thinking, ToolUse
from brasstag.words.turns import Model, ModelError, OnText, Turn, TurnRequest, Usage

NOTE = "recorded, not a live model"

_ID = re.compile(r"\b(call|task|tag|apr|boot|room|key|mem)_[0-9a-f]{32}\b")

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)")
_MARK = re.compile(r"(</?\w[^<>]*) (?:[0-9a-f]{8}|[0-9a-f]{32})>")


def request_digest(request: TurnRequest) -> str:
    """Return the digest of what a model is shown, without the parts that differ from run to run.

    Ids count by their order only; times, and the marks of fences, which follow from both, do not count.
    """
    shown = {
        "messages": [message.as_json() for message in request.messages],
        "offers": [
            {"name": offer.name, "description": offer.description, "schema": dict(offer.schema)}
            for offer in request.offers
        ],
    }
    seen: dict[str, str] = {}
    text = _MARK.sub(r"\1>", _TIME.sub("", stored_json(shown)))
    text = _ID.sub(lambda found: seen.setdefault(found[0], f"{found[1]}_{len(seen)}"), text)
    return sha256(text.encode())


class RecordingModel(ModelWrapper):
    """A Model around a Model, which appends every turn to a file of JSON lines."""

    def __init__(self, model: Model, file: Path) -> None:
        super().__init__(model)
        self._file = file
        # The file is tried now: a turn that cannot be kept later would already be paid for.
        try:
            os.close(self._open())
        except OSError as error:
            raise not_configured(f"the recording {file} cannot be written: {error}") from None

    async def respond(self, request: TurnRequest, on_text: OnText) -> Turn:
        """Ask the model, keep its turn, and return it."""
        turn = await self._model.respond(request, on_text)
        line = stored_json(
            {
                "request": request_digest(request),
                "turn": _turn_json(turn),
                "sees_images": self.sees_images,
                "context_tokens": self.context_tokens,
            }
        )
        place = self._open()
        try:
            os.write(place, f"{line}\n".encode())
        finally:
            os.close(place)
        return turn

    def _open(self) -> int:
        # A run shows whatever its agents read, so its recording is for its owner's eyes.
        return os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


class RecordedModel:
    """Plays a recording: a caller that shows it what the live model was shown gets the same turn."""

    def __init__(self, file: Path, context_tokens: int | None = None) -> None:
        self.name = f"recorded:{file}"
        lines = _read(file)
        self._turns = {line["request"]: _turn_from(line["turn"]) for line in lines}
        # These decide what an agent is shown; they are the live model's, unless the caller says otherwise.
        self.sees_images: bool = lines[-1]["sees_images"] if lines else False
        known: int = lines[-1]["context_tokens"] if lines else HOSTED_TOKENS
        self.context_tokens = context_tokens or known

    async def respond(self, request: TurnRequest, on_text: OnText) -> Turn:
        """Play the turn recorded for this request; raises ModelError where there is none."""
        turn = self._turns.get(request_digest(request))
        if turn is None:
            who = f"{request.role}, turn {request.turn + 1}" if request.role else f"turn {request.turn + 1}"
            raise ModelError(
                f"{self.name} has no turn for what is asked now ({who}): the run has left the recorded path, "
                "and only a live model can go on",
                hint=HOW_TO_SET_UP,
            )
        if turn.text:
            on_text(turn.text)
        return turn


def _read(file: Path) -> list[dict[str, Any]]:
    """Read every line; of two turns for one request the later one counts, because the run went on from it."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise not_configured(f"the recording {file} cannot be read: {error}") from None
    return [_line(line, f"line {number} of {file}") for number, line in enumerate(lines, start=1)]


def _line(text: str, place: str) -> dict[str, Any]:
    try:
        line = json.loads(text)
        _turn_from(line["turn"])
        return {name: line[name] for name in ("request", "turn", "sees_images", "context_tokens")}
    except (ValueError, TypeError, LookupError):
        raise not_configured(f"{place} is not a recorded turn; remove it") from None


def _turn_json(turn: Turn) -> dict[str, Any]:
    return {
        "text": turn.text,
        "calls": [call.as_json() for call in turn.calls],
        "thinking": [thought.as_json() for thought in turn.thinking],
        "usage": turn.usage.as_json(),
        "model": turn.model,
        "stop": turn.stop,
    }


def _turn_from(kept: Mapping[str, Any]) -> Turn:
    return Turn(
        text=kept["text"],
        calls=tuple(ToolUse.from_json(call) for call in kept["calls"]),
        thinking=tuple(Thinking.from_json(thought) for thought in kept["thinking"]),
        usage=replace(Usage.from_json(kept["usage"]), cost=0),  # it was paid for when it was recorded
        model=kept["model"],
        stop=kept["stop"],
        note=NOTE,
    )
