"""Watching: changes are noticed as they happen, and where nobody can watch, there is a reason."""

import asyncio
import builtins
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from brasstag import Room
from brasstag.documents.scan.scanner import ScanReport
from brasstag.documents.scan.watch import GONE, NOT_INSTALLED, WorkspaceWatch
from tests.documents.scans import live_rows, scanner_of

PATIENCE = 120.0


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[Room]:
    (tmp_path / "workspace").mkdir()
    async with Room.in_memory(tmp_path / "workspace", profile="trusted") as opened:
        yield opened


@asynccontextmanager
async def watched(room: Room, **options: Any) -> AsyncIterator[None]:
    """Watch a room's workspace for a while."""
    began = asyncio.Event()
    watch = WorkspaceWatch(room.workspace, room._runtime.workspace, scanner_of(room, **options), **options)
    task = asyncio.create_task(watch.run(began.set))
    await asyncio.wait_for(began.wait(), PATIENCE)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task], timeout=PATIENCE)
        assert task.cancelled()


async def until(holds: Callable[[], bool]) -> None:
    """Look again and again, until it holds or patience ends."""
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110 - nobody else tells
            await asyncio.sleep(0.01)


async def test_what_others_write_move_and_delete_is_noticed(room: Room) -> None:
    async with watched(room):
        (room.workspace / "a").write_text("one")
        await until(lambda: "a" in live_rows(room))
        before = live_rows(room)["a"].id
        (room.workspace / "a").rename(room.workspace / "b")
        await until(lambda: list(live_rows(room)) == ["b"])
        assert live_rows(room)["b"].id == before
        (room.workspace / "b").unlink()
        await until(lambda: not live_rows(room))


async def test_what_is_in_a_directory_that_is_moved_in_is_noticed(room: Room, tmp_path: Path) -> None:
    (tmp_path / "new/below").mkdir(parents=True)
    (tmp_path / "new/below/a").write_text("one")
    async with watched(room):
        (tmp_path / "new").rename(room.workspace / "new")
        await until(lambda: "new/below/a" in live_rows(room))
        (room.workspace / "new/below/b").write_text("two")
        await until(lambda: "new/below/b" in live_rows(room))


async def test_ignored_and_control_files_are_left_alone(room: Room) -> None:
    (room.workspace / ".gitignore").write_text("*.log\nbuild/\n")
    looked: list[str] = []
    scanner = scanner_of(room, ignore=["*.tmp"])
    scan = scanner.scan

    def listening(paths: Any, stop: Any) -> ScanReport:
        looked.extend(paths)
        return scan(paths, stop)

    scanner.scan = listening  # type: ignore[method-assign]
    watch = WorkspaceWatch(room.workspace, room._runtime.workspace, scanner, ["*.tmp"])
    began = asyncio.Event()
    task = asyncio.create_task(watch.run(began.set))
    await asyncio.wait_for(began.wait(), PATIENCE)
    (room.workspace / "build").mkdir()
    for name in ("a.log", "b.tmp", "build/c", ".brasstag-x", "brasstag.toml"):
        (room.workspace / name).write_text("")
    (room.workspace / "last").write_text("")
    await until(lambda: "last" in live_rows(room))
    task.cancel()
    await asyncio.wait([task])
    assert set(looked) <= {"last", "build"}


async def test_a_change_of_the_ignore_file_concerns_all_beside_it(room: Room) -> None:
    (room.workspace / "a.log").write_text("one")
    async with watched(room):
        (room.workspace / ".gitignore").write_text("")
        await until(lambda: "a.log" in live_rows(room))
        (room.workspace / ".gitignore").write_text("*.log\n")
        await until(lambda: "a.log" not in live_rows(room))


async def test_without_the_library_there_is_a_reason(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *rest: Any) -> Any:
        if name == "watchfiles":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    watch = WorkspaceWatch(room.workspace, room._runtime.workspace, scanner_of(room))
    assert await watch.run() == NOT_INSTALLED


async def test_a_workspace_that_goes_away_ends_its_watch(room: Room) -> None:
    began = asyncio.Event()
    watch = WorkspaceWatch(room.workspace, room._runtime.workspace, scanner_of(room))
    task = asyncio.create_task(watch.run(began.set))
    await asyncio.wait_for(began.wait(), PATIENCE)
    room.workspace.rename(room.workspace.with_name("elsewhere"))
    assert await asyncio.wait_for(task, PATIENCE) == GONE
    assert await watch.run() == GONE
