"""Standard streams that are open and can encode everything we print."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from typing import Literal, TextIO

_ours: ContextVar[TextIO | None] = ContextVar("_ours", default=None)


def prepare() -> None:
    """Open what the caller closed, and make the encodings fit; done before any other file is opened."""
    # If a database were opened on descriptor 1, the next line we print would overwrite part of it.
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdin = _usable(sys.stdin, 0, "r", "replace")
    sys.stdout = _usable(sys.stdout, 1, "w", "backslashreplace")
    sys.stderr = _usable(sys.stderr, 2, "w", "backslashreplace")


def output() -> TextIO:
    """Return standard output, as the command itself writes to it."""
    return _ours.get() or sys.stdout


@contextmanager
def ours_alone() -> Iterator[None]:
    """Send whatever tools print to standard error: what reads our output reads JSON, line by line."""
    token = _ours.set(output())
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _ours.reset(token)


def finish() -> OSError | None:
    """Write out what is still held back; return why that failed, unless the reader only closed the pipe."""
    try:
        sys.stdout.flush()
    except OSError as error:
        # Python would try once more when it ends, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return None if isinstance(error, BrokenPipeError) else error
    return None


def is_utf8(stream: TextIO) -> bool:
    """Say whether a stream can hold every character; one without an encoding is not made of bytes at all."""
    return (stream.encoding or "utf8").lower().replace("-", "").replace("_", "") == "utf8"


def _usable(stream: TextIO | None, descriptor: int, mode: Literal["r", "w"], errors: str) -> TextIO:
    if stream is None:
        return os.fdopen(descriptor, mode, encoding="utf-8", errors=errors, closefd=False)
    if isinstance(stream, io.TextIOWrapper):
        # A terminal shows what its locale says; programs read UTF-8, as JSON is UTF-8 everywhere.
        stream.reconfigure(encoding=stream.encoding if stream.isatty() else "utf-8", errors=errors)
    return stream
