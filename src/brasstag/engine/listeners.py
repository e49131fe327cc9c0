"""Listeners: who is told what happens in a room while it happens; they cannot affect the engine."""

from collections.abc import Callable
from dataclasses import dataclass

from brasstag.sandbox.process.output import OnOutput, Stream
from brasstag.words.approvals import Approval
from brasstag.words.calls import Call
from brasstag.words.turns import Retrying

Notify = Callable[[Approval], None]
NotifyQuestion = Callable[[str, Call, str], None]
"""Takes the question's id, the call that asks, and its words."""


def _untold(*_told: object) -> None:
    """Do nothing: no listener is set for this event."""


def _unheard(_call: Call) -> OnOutput:
    def tell(_stream: Stream, _data: bytes) -> None:
        """What programs print is in the result."""

    return tell


@dataclass(frozen=True, slots=True)
class Listeners:
    """All listeners of one room."""

    asked: Notify = _untold
    """Told of each approval that waits."""
    questioned: NotifyQuestion = _untold
    """Told of each question that waits for a person."""
    proposed: Callable[[str], None] = _untold
    """Told of each proposal that an agent made, by its id."""
    said: Callable[[str, str], None] = _untold
    """Told each piece of text a model says, with the task it says it in."""
    retrying: Callable[[str, Retrying], None] = _untold
    """Told, with the task, of each try at an answer that failed."""
    heard: Callable[[Call], OnOutput] = _unheard
    """Asked, for a call that runs programs, whom to tell what they print as it comes."""
