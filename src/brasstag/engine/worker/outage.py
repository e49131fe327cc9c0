"""Wait while the database is away."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from brasstag.words.errors import StoreLost

log = logging.getLogger("brasstag")

_T = TypeVar("_T")

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
"""Seconds between tries while the database is away."""


async def until_database_is_back(act: Callable[[], Awaitable[_T]]) -> _T:
    """Act, and try again for as long as the database is away."""
    pause = FIRST_PAUSE
    while True:
        try:
            return await act()
        except StoreLost as error:
            log.warning("waiting for the database: %s", error)
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)
