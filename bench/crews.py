"""What the benchmarks of the task graph share: a crew of one, its project, its models, and a database to be in."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.conftest import accept
from tests.postgres import NOT_HERE, Server, find_binaries

from brasstag import Room
from brasstag.app.project.create import create_project
from brasstag.store.database.postgres_address import DATABASE_VARIABLE
from brasstag.words.messages import ToolUse
from brasstag.words.turns import OnText, Turn, TurnRequest, Usage

SETTINGS = """
[crew]
lead = "clerk"
model = "scripted:script.json"
[crew.budget]
max_steps = 1000000
[roles.clerk]
tools = ["*"]
[roles.clerk.budget]
max_steps = 1000000
"""
CHAPTER = "Call me Ishmael.\n"
READING = ToolUse("", "read_file", {"path": "chapter.md"})


class Reading:
    """A model that reads a file in each of so many turns, then says that it is done."""

    name = "reading"
    sees_images = False
    context_tokens = 10**9

    def __init__(self, turns: int, seconds: Callable[[TurnRequest], float] = lambda _request: 0.0) -> None:
        self.turns = turns
        self._seconds = seconds

    async def respond(self, request: TurnRequest, on_text: OnText) -> Turn:
        if seconds := self._seconds(request):
            await asyncio.sleep(seconds)
        usage = Usage(10, 10, 0, 0)
        if request.turn >= self.turns:
            return Turn("Done.", usage=usage, model=self.name)
        return Turn("", (READING,), usage=usage, model=self.name, stop="calls")


def make_project(folder: Path, name: str, url: str = "") -> Path:
    """Make a project whose state is in SQLite, or in the Postgres at ``url``."""
    project = folder / name
    with _database_at(url):
        create_project(project)
    (project / "brasstag.toml").write_text(SETTINGS)
    accept_as_it_is(project, url)
    (project / "data" / "chapter.md").write_text(CHAPTER)
    return project


def accept_as_it_is(project: Path, url: str = "") -> None:
    """Accept a project's settings and tools, as a person would."""
    with _database_at(url):
        accept(project)


@contextmanager
def postgres() -> Iterator[Server | None]:
    """A server of our own, or None, said plainly, where the machine has none."""
    binaries = find_binaries()
    if binaries is None:
        print(f"\nNothing is measured on Postgres: {NOT_HERE}")
        yield None
        return
    server = Server(binaries)
    try:
        yield server
    finally:
        server.remove()


@asynccontextmanager
async def open_room(project: Path, url: str = "") -> AsyncIterator[Room]:
    with _database_at(url):
        opening = Room.open(project)
        room = await opening.__aenter__()
    try:
        yield room
    finally:
        await opening.__aexit__(None, None, None)


class Works:
    """A room that works on its runs, and says when each is over."""

    def __init__(self, room: Room) -> None:
        self.room = room
        self._left: dict[str, asyncio.Event] = {}
        room.runs.tell(self._note)

    async def begin(self, model: Reading, request: str = "Read the chapter.") -> str:
        """Begin a run that this model answers."""
        self.room._runtime.agents.find_model = lambda _name, _fallback: model
        run = await self.room.start(request, serve=False)
        self._left.setdefault(run, asyncio.Event())
        return run

    async def finished(self, run: str) -> None:
        """Wait until a run has ended well; nobody looks meanwhile."""
        await self._left[run].wait()
        ended = await self.room.runs.ended(run)
        assert ended is not None and ended.ok, ended  # noqa: PT018

    def _note(self, task_id: str, begins: bool) -> None:
        if not begins:
            self._left.setdefault(task_id, asyncio.Event()).set()


@asynccontextmanager
async def working(project: Path, url: str = "", concurrency: int = 8) -> AsyncIterator[Works]:
    """Open a room and work on its runs, as a worker does."""
    async with open_room(project, url) as room:
        works = Works(room)
        serving = asyncio.create_task(room.serve(concurrency))
        try:
            yield works
        finally:
            serving.cancel()
            with suppress(asyncio.CancelledError):
                await serving


@contextmanager
def _database_at(url: str) -> Iterator[None]:
    if url:
        os.environ[DATABASE_VARIABLE] = url
    try:
        yield
    finally:
        os.environ.pop(DATABASE_VARIABLE, None)
