"""A tool that hangs: the room does not wait for it once its task was stopped."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from brasstag import Room, tool
from tests.engine.crews import call, turn, write_script
from tests.sandbox.test_threads import FOREVER, PATIENCE, hangs

__all__ = ["hangs"]


async def test_a_room_does_not_wait_for_a_hanging_tool_whose_task_was_stopped(
    crew: Path, hangs: tuple[Callable[[], str], threading.Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("brasstag.app.room.DRAIN_SECONDS", FOREVER)
    hang, begun = hangs

    @tool(effects="none")
    def hold() -> str:
        """Hold."""
        return hang()

    async def stop_while_it_hangs() -> None:
        async with Room.open(crew) as room:
            room.register(hold)
            run = await room.start("Hold")
            await asyncio.to_thread(begun.wait, PATIENCE)
            await room.stop(run)
            await room.finished(run)

    write_script(crew, {"boss": [turn(call("hold")), turn(text="Held.")]})
    await asyncio.wait_for(stop_while_it_hangs(), PATIENCE)
