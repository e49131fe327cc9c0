"""What the worker processes of these tests do: serve a room until they are killed, stopped, or told to go home."""

import asyncio
import logging
import os
import random
import resource
import signal
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from brasstag.app.room import Room
from brasstag.engine.recovery import reconcile
from brasstag.engine.worker import advance
from brasstag.engine.worker import worker as floor
from brasstag.store.database import sqlite
from brasstag.store.database.base import Database
from brasstag.words.errors import StoreLost
from tests.faults.mutants import mutate
from tests.runtimes import put_in


@dataclass(frozen=True, slots=True)
class Fate:
    """What happens to a worker: at the n-th passing of a point, or at any point by chance, it gets a signal."""

    point: str = ""
    passing: int = 0
    share: float = 0.0
    seed: int = 0
    signal: int = signal.SIGKILL
    mutant: str = ""
    """What is wrong with its code."""
    stopped_seconds: float = 30.0
    """After how long it takes tasks from workers that have stopped."""
    most_attempts: int = advance.MOST_ATTEMPTS
    """How many of a task's workers may die before it is given up."""
    largest_file: int = resource.RLIM_INFINITY
    """Where its disk is full, until it gets SIGUSR1."""
    patience: float = sqlite.PATIENCE_SECONDS
    """How long it waits for whoever holds the database."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a worker works."""

    project: Path
    user: Path
    url: str
    said: Path
    """Where it writes what it warns of."""
    trouble: Path
    """Where it writes what it could not cope with."""


class Reaper:
    """Passed at every step; gives its own process the signal when its time has come."""

    def __init__(self, fate: Fate, database: Database) -> None:
        self._fate = fate
        self._database = database
        self._dice = random.Random(fate.seed)
        self._passed = 0
        self._lock = threading.Lock()

    def __call__(self, step: str) -> None:
        """Let a step pass, or not."""
        with self._lock:
            due = self._dice.random() < self._fate.share
            if step == self._fate.point:
                due = due or self._passed == self._fate.passing
                self._passed += 1
        if due:
            with self._between_writes():
                # To this very thread: sent to the process, a stop would let it run on for a moment.
                signal.pthread_kill(threading.get_ident(), self._fate.signal)

    def _between_writes(self) -> AbstractContextManager[object]:
        """Wait until no thread of a process that is to stop writes to SQLite: it would keep all others from writing."""
        stops = self._fate.signal == signal.SIGSTOP and isinstance(self._database, sqlite.SqliteDatabase)
        return self._database._lock if stops else nullcontext()  # type: ignore[attr-defined]


def work(place: Place, fate: Fate) -> None:
    """Serve the room; the end of this process is 0 after SIGTERM, and else what killed it."""
    os.environ["BRASSTAG_USER_DIR"] = str(place.user)
    os.environ["BRASSTAG_DATABASE_URL"] = place.url
    said, trouble = logging.FileHandler(place.said), logging.FileHandler(place.trouble)
    trouble.setLevel(logging.ERROR)
    logging.basicConfig(level=logging.WARNING, handlers=[said, trouble], format="%(process)d %(message)s")
    hasten()
    advance.MOST_ATTEMPTS = fate.most_attempts
    sqlite.PATIENCE_SECONDS = fate.patience  # type: ignore[attr-defined]
    mutate(fate.mutant)
    asyncio.run(_serve(place, fate))


def hasten(put: Callable[[object, str, float], None] = setattr) -> None:
    """Look more often than in earnest, so that tests need not wait."""
    put(floor, "BEAT_SECONDS", 0.25)
    put(floor, "RECONCILE_SECONDS", 0.5)
    put(reconcile, "OVERLOOKED_SECONDS", 2.0)
    put(advance, "FIRST_PAUSE", 0.02)


async def _serve(place: Place, fate: Fate) -> None:
    going_home = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, going_home.set)
    loop.add_signal_handler(signal.SIGUSR1, _limit_files, resource.RLIM_INFINITY)
    while not going_home.is_set():
        try:
            async with Room.open(place.project) as room:
                put_in(room, at=Reaper(fate, room.store.database))
                put_in(room, stopped_seconds=fate.stopped_seconds)
                if fate.signal == signal.SIGSTOP:
                    # The same on Postgres, as far as it can be had: what watches the workspace writes at any time.
                    room.runs._watch_documents = lambda: None
                _limit_files(fate.largest_file)
                await _serve_until(going_home, room)
        except StoreLost:
            # The server is away while it opens; whoever runs a worker starts it again.
            await asyncio.sleep(0.1)


async def _serve_until(going_home: asyncio.Event, room: Room) -> None:
    serving = asyncio.create_task(room.serve())
    leaving = asyncio.create_task(going_home.wait())
    await asyncio.wait({serving, leaving}, return_when=asyncio.FIRST_COMPLETED)
    room.runs.drain()
    leaving.cancel()
    await serving


def _limit_files(size: int) -> None:
    # Python ignores SIGXFSZ, so whoever writes more gets an error, as on a full disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
