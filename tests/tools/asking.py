"""Calls that a test expects to end well, or not to."""

from typing import Any

from brasstag import Done, Failed, Room


async def value(room: Room, name: str, **arguments: Any) -> Any:
    outcome = await room.call(name, arguments)
    assert isinstance(outcome, Done), outcome
    return outcome.value


async def failure(room: Room, name: str, **arguments: Any) -> Failed:
    outcome = await room.call(name, arguments)
    assert isinstance(outcome, Failed), outcome
    return outcome
