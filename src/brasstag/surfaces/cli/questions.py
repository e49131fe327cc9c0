"""Questions to the person at the terminal. Silence, Ctrl-C and the end of input are never a yes."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from brasstag.surfaces.cli import streams


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
    return (ask(f"{question} [y/N]") or "").lower() in ("y", "yes")


@contextmanager
def _interruptible() -> Iterator[None]:
    # The event loop takes the first Ctrl-C for itself, and would only hear of it once a line has come.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
