"""Ctrl-C and SIGTERM on the event loop, handled by the innermost listener."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_listening: list[Callable[[], None]] = []


@contextmanager
def heard_by(hear: Callable[[], None]) -> Iterator[None]:
    """Let a function hear of every interrupt until the end of the block."""
    loop = asyncio.get_running_loop()
    before = [signal.getsignal(one) for one in _SIGNALS]
    _listening.append(hear)
    for one in _SIGNALS:
        loop.add_signal_handler(one, hear)
    try:
        yield
    finally:
        _listening.pop()
        for one, handler in zip(_SIGNALS, before, strict=True):
            if _listening:
                loop.add_signal_handler(one, _listening[-1])
            else:
                loop.remove_signal_handler(one)
                signal.signal(one, handler)


def pass_on() -> None:
    """Tell the present listener of an interrupt that came while a person was asked something."""
    if _listening:
        _listening[-1]()


class Leaving:
    """How a command that works on tasks is left: at the first interrupt in order, at the second at once."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        """Set once the user wants to leave."""
        self._drain: Callable[[], None] | None = None
        self._abandon: Callable[[], None] | None = None
        self._words = ""

    def gives_back(self, drain: Callable[[], None], abandon: Callable[[], None], words: str = "") -> None:
        """Set how tasks are given back, in order and at once, and what a person is told meanwhile."""
        self._drain, self._abandon, self._words = drain, abandon, words

    def hear(self) -> None:
        """Hear an interrupt."""
        from brasstag.surfaces.cli.terminal.console import say

        if self._drain is None or self._abandon is None:
            raise KeyboardInterrupt
        if self.asked.is_set():
            self._abandon()
            return
        self.asked.set()
        self._drain()
        if self._words:
            say(self._words, "yellow", stderr=True)
