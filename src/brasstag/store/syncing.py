"""Waiting for many files to be on disk: all at the same time, so that the file system writes once for many of them."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

_AT_ONCE = 16


def at_once(waits: Sequence[Callable[[], None]]) -> None:
    """Do work that only waits for the disk; raises what the first of it raised, after all of it has ended."""
    if len(waits) < 2:
        for wait in waits:
            wait()
        return
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for _ in pool.map(lambda wait: wait(), waits):
            pass
