"""A control room over real rooms, and a real Chromium that looks at it.

One Chromium runs for all tests of a process. Each test has a browser context of its own, and fails where a page reports an
error to the console, throws, or asks anything but this machine.
"""

import asyncio
import shutil
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import uvicorn
from playwright.async_api import BrowserContext, Page, async_playwright

from brasstag import Room
from brasstag.app import Level, label, new_link
from brasstag.surfaces.web.rooms import ServedRooms, open_rooms
from brasstag.surfaces.web.security.doors import Doors
from brasstag.surfaces.web.server import web_app

CHROMIUM = shutil.which("chromium")

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")

PATIENCE = 60_000
"""Milliseconds; a busy machine is slow."""

_SWITCHES = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-default-apps", "--remote-debugging-port=0",
)  # fmt: skip


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start Chromium once, and return the address under which it is driven."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    home = tmp_path_factory.mktemp("chromium")
    process = subprocess.Popen(
        [CHROMIUM, *_SWITCHES, f"--user-data-dir={home}", "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    told = home / "DevToolsActivePort"
    until = time.monotonic() + PATIENCE / 1000
    while not (told.exists() and told.read_text().strip()) and time.monotonic() < until:
        time.sleep(0.05)
    yield f"http://127.0.0.1:{told.read_text().splitlines()[0]}"
    process.send_signal(signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(20)
    process.kill()


@dataclass
class ControlRoom:
    """A server in this process, its rooms, and the pages that look at it."""

    rooms: ServedRooms
    doors: Doors
    contexts: list[BrowserContext]
    new_context: Callable[[dict[str, object]], Awaitable[BrowserContext]]
    problems: list[str] = field(default_factory=list)

    @property
    def origin(self) -> str:
        return self.doors.origin

    def room(self, name: str = "project") -> Room:
        return self.rooms.rooms[name].room

    async def context(
        self, level: Level = "approver", name: str = "ada", **options: object
    ) -> BrowserContext:
        """Return a browser of its own, logged in as a person."""
        context = await self.new_context(options)
        context.set_default_timeout(PATIENCE)
        self.contexts.append(context)
        context.on("page", self._watch)
        page = await context.new_page()
        await page.goto(f"{self.origin}/login/{new_link(name, level, 'root')}")
        await page.close()
        return context

    async def page(
        self, path: str = "/inbox", level: Level = "approver", name: str = "ada", **options: object
    ) -> Page:
        """Return a page, logged in as a person, once it is connected to the stream."""
        page = await (await self.context(level, name, **options)).new_page()
        await self.open(page, path)
        return page

    async def open(self, page: Page, path: str) -> None:
        await page.goto(f"{self.origin}{path}")
        await page.wait_for_selector("#live.on", state="attached")

    def _watch(self, page: Page) -> None:
        page.on(
            "console", lambda said: said.type == "error" and self.problems.append(f"console: {said.text}")
        )
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        page.on("request", lambda request: self._check(request.url))

    def _check(self, address: str) -> None:
        host = urlsplit(address).hostname or ""
        if urlsplit(address).scheme in ("http", "https", "ws") and not host.endswith("localhost"):
            self.problems.append(f"asked {address}")


Serve = Callable[..., "asyncio.Future[ControlRoom]"]


@asynccontextmanager
async def serving(projects: list[Path], port: int = 0) -> AsyncIterator[tuple[ServedRooms, Doors]]:
    """Serve rooms in this process."""
    async with open_rooms(projects, "web:test") as rooms:
        config = uvicorn.Config(
            lambda *_: None, host="127.0.0.1", port=port, log_config=None, access_log=False, lifespan="off",
            timeout_graceful_shutdown=1,
        )  # fmt: skip
        server = uvicorn.Server(config)
        server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
        socket = config.bind_socket()
        bound = socket.getsockname()[1]
        doors = Doors(f"{label()}.localhost:{bound}", f"127.0.0.1:{bound}")
        config.app = web_app(rooms, doors)
        running = asyncio.create_task(server.serve(sockets=[socket]))
        try:
            yield rooms, doors
        finally:
            server.should_exit = True
            await asyncio.wait([running], timeout=30)


@asynccontextmanager
async def until(serve: Callable[..., Awaitable[None]], *arguments: object) -> AsyncIterator[Doors]:
    """Let a real `serve` run, and end it as a signal would; give its doors."""
    ready: asyncio.Future[Doors] = asyncio.get_running_loop().create_future()
    running = asyncio.ensure_future(serve(*arguments, ready.set_result))
    try:
        await asyncio.wait([running, ready], return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            running.result()
        yield ready.result()
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


@pytest.fixture
async def control_room(chromium: str) -> AsyncIterator[Callable[..., Awaitable[ControlRoom]]]:
    """Open control rooms over projects; at the end every page must have been quiet."""
    async with AsyncExitStack() as stack:
        driver = await stack.enter_async_context(async_playwright())
        browser = await driver.chromium.connect_over_cdp(chromium)
        opened: list[ControlRoom] = []

        async def open_over(*projects: Path) -> ControlRoom:
            rooms, doors = await stack.enter_async_context(serving(list(projects)))

            async def new_context(options: dict[str, object]) -> BrowserContext:
                return await browser.new_context(**options)  # type: ignore[arg-type]

            found = ControlRoom(rooms, doors, [], new_context)
            opened.append(found)
            return found

        yield open_over
        for one in opened:
            for context in one.contexts:
                await context.close()
        problems = [problem for one in opened for problem in one.problems]
    assert problems == []
