"""Prompts for the person at the terminal; silence, Ctrl-C and end of input never mean yes."""

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from brasstag.surfaces.cli.terminal import streams
from brasstag.surfaces.cli.terminal.interrupts import heard_by, pass_on


def ask(question: str) -> str | None:
    """Return what was typed, trimmed; None when the person left by Ctrl-C or Ctrl-D."""
    streams.output().flush()
    try:
        with _interruptible():
            sys.stderr.write(f"{question}: ")
            sys.stderr.flush()
            answer = sys.stdin.readline()
    except KeyboardInterrupt:
        answer = ""
    if answer:
        return answer.strip()
    sys.stderr.write("\n")
    return None


def confirm(question: str) -> bool:
    """Say whether the person typed yes; everything else is a no."""
    return _is_yes(ask(_yes_or_no(question)))


async def ask_meanwhile(question: str) -> str | None:
    """Ask, while the event loop goes on with its work; a user who leaves by Ctrl-C leaves the command, too."""
    streams.output().flush()
    loop = asyncio.get_running_loop()
    came: asyncio.Future[bool] = loop.create_future()

    def hear(something: bool) -> None:
        if not came.done():
            came.set_result(something)

    left = False

    def leave() -> None:
        nonlocal left
        left = True
        hear(False)

    answer = ""
    with _typing(hear), heard_by(leave):
        # The question is written only now, so that a user who answers or leaves at once is heard.
        sys.stderr.write(f"{question}: ")
        sys.stderr.flush()
        try:
            answer = sys.stdin.readline() if await came else ""
        finally:
            if not answer:
                sys.stderr.write("\n")
    if left:
        pass_on()
    return answer.strip() if answer else None


async def confirm_meanwhile(question: str) -> bool:
    """Say whether the person typed yes, while the event loop goes on with its work."""
    return _is_yes(await ask_meanwhile(_yes_or_no(question)))


@contextmanager
def _typing(hear: Callable[[bool], None]) -> Iterator[None]:
    """Tell when a line can be read: a terminal hands over whole ones."""
    loop = asyncio.get_running_loop()
    try:
        keyboard = sys.stdin.fileno()
    except OSError:
        # No file behind it, so nothing to wait on.
        loop.call_soon(hear, True)
        yield
        return
    loop.add_reader(keyboard, hear, True)
    try:
        yield
    finally:
        loop.remove_reader(keyboard)


def _yes_or_no(question: str) -> str:
    return f"{question} [y/N]"


def _is_yes(answer: str | None) -> bool:
    return (answer or "").lower() in ("y", "yes")


@contextmanager
def _interruptible() -> Iterator[None]:
    # The event loop takes the first Ctrl-C for itself, and would only hear of it once a line has come.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
