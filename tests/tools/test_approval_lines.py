"""S2's approval line of every tool, under the profile that is S2's: careful."""

from typing import Any

import pytest

from brasstag import Done, Room, Waiting
from brasstag.app.room import Room as OpenRoom

LINES: list[tuple[str, dict[str, Any], type]] = [
    ("list_directory", {"path": "."}, Done),
    ("read_file", {"path": "a.md"}, Done),
    ("write_file", {"path": "new.md", "content": "x"}, Done),
    ("write_file", {"path": "a.md", "content": "x"}, Waiting),
    ("write_file", {"path": "link.md", "content": "x"}, Waiting),
    ("delete_file", {"path": "a.md"}, Waiting),
    ("delete_file", {"path": "d", "recursive": True}, Waiting),
    ("delete_file", {"path": "empty"}, Waiting),
    ("move_file", {"from": "a.md", "to": "moved.md"}, Done),
    ("move_file", {"from": "d", "to": "moved"}, Done),
    ("move_file", {"from": "a.md", "to": "d/b.md", "overwrite": True}, Waiting),
    ("edit_file", {"path": "a.md", "search_text": "a", "replace_text": "b"}, Waiting),
    ("search_code", {"query": "a"}, Done),
    ("stop_and_think", {"thoughts": "hm"}, Done),
]


async def fill(room: OpenRoom) -> None:
    root = room.workspace
    (root / "d").mkdir()
    (root / "empty").mkdir()
    (root / "a.md").write_text("a")
    (root / "d" / "b.md").write_text("b")
    (root / "link.md").symlink_to("a.md")


@pytest.mark.parametrize(("name", "arguments", "expected"), LINES)
async def test_under_careful(room: Room, name: str, arguments: dict[str, Any], expected: type) -> None:
    await fill(room)
    assert isinstance(await room.call(name, arguments), expected)


@pytest.mark.parametrize(("name", "arguments", "expected"), LINES)
async def test_under_trusted_everything_that_can_be_undone_is_allowed(
    name: str, arguments: dict[str, Any], expected: type
) -> None:
    async with Room.in_memory(profile="trusted") as room:
        await fill(room)
        assert isinstance(await room.call(name, arguments), Done)


@pytest.mark.parametrize(("name", "arguments", "expected"), LINES)
async def test_under_locked_every_effect_asks(name: str, arguments: dict[str, Any], expected: type) -> None:
    reads = name in ("list_directory", "read_file", "search_code", "stop_and_think")
    async with Room.in_memory(profile="locked") as room:
        await fill(room)
        assert isinstance(await room.call(name, arguments), Done if reads else Waiting)
