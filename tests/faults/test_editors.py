"""Many calls at one file and in one new directory, all of them ours: each of them comes to its turn, and none is CHANGED."""

import asyncio
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from brasstag import Failed, Room
from brasstag.words.events import EntryKind
from tests.conftest import MakeProject
from tests.faults.harness import until
from tests.faults.workers import Fate, Reaper
from tests.processes import KILLED, _context, end, start
from tests.runtimes import put_in

Outcomes = Counter[str]


@pytest.mark.parametrize(("processes", "lanes"), [(3, 1), (1, 8)], ids=["processes", "threads"])
@pytest.mark.parametrize("calls", [48, 504], ids=["some", "a thousand"])
async def test_every_call_of_many_editors_of_one_file_and_one_new_directory_is_done(
    make_project: MakeProject, tmp_path: Path, url: str, calls: int, processes: int, lanes: int
) -> None:
    project = make_project(profile="trusted")
    shares = [list(range(calls))[lane :: processes * lanes] for lane in range(processes * lanes)]
    (project / "data" / "a.md").write_text(_text(range(calls), "-"))
    results = _context.Queue()
    editors = [
        start(edit_shares, project, tmp_path / "user", shares[number * lanes : (number + 1) * lanes], results)
        for number in range(processes)
    ]
    outcomes = sum((results.get(timeout=600) for _ in editors), Counter())
    assert [end(editor) for editor in editors] == [0] * processes
    assert outcomes == {"Done": 2 * calls}
    assert (project / "data" / "a.md").read_text() == _text(range(calls), "+")
    async with Room.open(project) as room:
        assert (await room.verify()).ok


def _text(numbers: range, mark: str) -> str:
    return "".join(f"<{number}{mark}>\n" for number in numbers)


def edit_shares(project: Path, user: Path, shares: list[list[int]], results: Any) -> None:
    """Do several shares of the work at the same time."""
    os.environ["BRASSTAG_USER_DIR"] = str(user)
    results.put(asyncio.run(_edit_shares(project, shares)))


async def _edit_shares(project: Path, shares: list[list[int]]) -> Outcomes:
    async with Room.open(project) as room:
        done = await asyncio.gather(*(_edit(room, share) for share in shares))
        return sum(done, Counter())


async def _edit(room: Room, share: list[int]) -> Outcomes:
    """Change one line of the file that all edit, and write a file into a directory that others make, too."""
    outcomes: Outcomes = Counter()
    for number in share:
        edit = {"path": "a.md", "search_text": f"<{number}->", "replace_text": f"<{number}+>"}
        write = {"path": f"d{number // 24}/{number}.md", "content": "new"}
        for tool, arguments in (("edit_file", edit), ("write_file", write)):
            outcome = await room.call(tool, arguments)
            named = f"{tool}: {outcome.code} {outcome.message}" if isinstance(outcome, Failed) else ""
            outcomes[named or type(outcome).__name__] += 1
    return outcomes


@pytest.mark.parametrize("calls", [12, 150], ids=["some", "many"])
async def test_editors_that_are_killed_leave_no_edit_unknown_and_none_changed(
    make_project: MakeProject, tmp_path: Path, url: str, calls: int
) -> None:
    project = make_project(profile="trusted")
    file = project / "data" / "a.md"
    file.write_text(_text(range(3 * calls), "-"))
    ended: list[int] = []

    async def see_through(share: list[int], seed: int) -> None:
        """Let one editor after the other work on a share, until one comes to the end of it."""
        while any(f"<{number}->" in file.read_text() for number in share):
            fate = Fate(share=0.02, seed=seed)
            editor = start(edit_until_killed, project, tmp_path / "user", share, fate)
            await until(lambda editor=editor: not editor.is_alive(), "the end of an editor")  # type: ignore[misc]
            ended.append(end(editor))
            seed += 100

    await asyncio.gather(*(see_through(list(range(3 * calls))[lane::3], lane) for lane in range(3)))
    assert KILLED in ended
    assert set(ended) <= {KILLED, 0}
    assert file.read_text() == _text(range(3 * calls), "+")
    async with Room.open(project) as room:
        settled = [entry.payload or {} for entry in await room.timeline() if entry.kind is EntryKind.SETTLED]
        assert Counter(one["outcome"] for one in settled) == {"done": 3 * calls}
        assert (await room.verify()).ok


def edit_until_killed(project: Path, user: Path, share: list[int], fate: Fate) -> None:
    """Make the edits of a share that were not made yet, and be killed at one of them."""
    os.environ["BRASSTAG_USER_DIR"] = str(user)
    asyncio.run(_edit_until_killed(project, share, fate))


async def _edit_until_killed(project: Path, share: list[int], fate: Fate) -> None:
    async with Room.open(project) as room:
        put_in(room, at=Reaper(fate, room.store.database))
        for number in share:
            edit = {"path": "a.md", "search_text": f"<{number}->", "replace_text": f"<{number}+>"}
            await room.call("edit_file", edit)
