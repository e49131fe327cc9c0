"""First looks at the watches of calls, made together: nearly every call is over before its first one is due."""

import asyncio

from brasstag.engine.watch import Watch

FIRST_LOOK = 0.02
"""Seconds before anybody looks at a call's watch; twice as many at most."""


class Rounds:
    """Looks at each watch of one event loop once, with one timer for all that began meanwhile."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._young: list[Watch] = []
        self._due: list[Watch] = []
        self._goes_on = False

    def add(self, watch: Watch) -> None:
        """Look at a watch the round after next, by when it is old enough."""
        self._young.append(watch)
        if not self._goes_on:
            self._wait()

    def _wait(self) -> None:
        self._goes_on = True
        self.loop.call_later(FIRST_LOOK, self._make)

    def _make(self) -> None:
        due, self._due, self._young = self._due, self._young, []
        self._goes_on = False
        if self._due:
            self._wait()
        for watch in due:
            # Apart from each other: where one look fails, the others are made.
            self.loop.call_soon(watch.look)
