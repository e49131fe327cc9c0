"""Documents that take forever to convert, or are as large as anything that is read: whoever asks is answered in time."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brasstag import Room
from brasstag.documents.formats import convert as converting
from brasstag.sandbox.process.job import Ran
from brasstag.sandbox.process.module_job import ModuleJob
from brasstag.sandbox.process.run.job_run import Stop
from brasstag.sandbox.process.sandbox import Sandbox
from tests.documents.formats.test_convert import endless
from tests.tools.asking import value

ENDLESS = 3


@pytest.fixture
async def room(tmp_path: Path) -> Any:
    (tmp_path / "w").mkdir()
    async with Room.in_memory(tmp_path / "w", profile="trusted") as opened:
        yield opened


@pytest.fixture
def module_jobs(monkeypatch: pytest.MonkeyPatch) -> list[ModuleJob]:
    """Every module job that was run."""
    run = Sandbox.run_module
    found: list[ModuleJob] = []

    def counted(sandbox: Sandbox, job: ModuleJob, stop: Stop | None = None) -> Ran:
        found.append(job)
        return run(sandbox, job, stop)

    monkeypatch.setattr(Sandbox, "run_module", counted)
    return found


async def test_endless_documents_keep_a_search_neither_from_the_others_nor_busy_for_good(
    room: Room, monkeypatch: pytest.MonkeyPatch, module_jobs: list[ModuleJob]
) -> None:
    monkeypatch.setattr(converting, "LIMITS", replace(converting.LIMITS, cpu_seconds=1.0))
    for number in range(ENDLESS):
        content = endless(number).content
        assert isinstance(content, bytes)
        (room.workspace / f"a{number}.pdf").write_bytes(content)
    (room.workspace / "plain.md").write_text("walnut\n")
    (room.workspace / "z.html").write_text("<html><p>walnut</p></html>")
    asked: list[Any] = []
    # On a busy machine, one search may not be enough for all; each is for one of them at least.
    while len(asked) <= ENDLESS and not (asked and len(asked[-1]["hits"]) == 2):
        asked.append(await value(room, "search_documents", query="walnut"))
        assert "plain.md" in {hit["path"] for hit in asked[-1]["hits"]}
    assert {hit["path"] for hit in asked[-1]["hits"]} == {"plain.md", "z.html"}
    assert f"{ENDLESS} documents are not in the index yet" in asked[-1]["incomplete"]
    while module_jobs:
        module_jobs.clear()
        await value(room, "search_documents", query="walnut")
        assert len(asked) <= 2 * ENDLESS
        asked.append(None)
    listed = await value(room, "list_documents", glob="*.pdf")
    assert [one["indexed"] for one in listed["documents"]] == ["pending"] * ENDLESS
    assert not module_jobs


LARGEST = 9_000_000
LOADED = """
import asyncio, re, sys
from brasstag import Done, Room
from pathlib import Path

async def main():
    async with Room.in_memory(Path(sys.argv[1]), profile="trusted") as room:
        await room.call("load_to_context", {"path": "small.txt"})
        for most in (1_000_000, 1_000):
            outcome = await room.call("load_to_context", {"path": "large.txt", "max_tokens": most})
            assert isinstance(outcome, Done), outcome
            assert 0 < outcome.value["tokens"] <= most, outcome.value["tokens"]
            assert outcome.value["next"] is not None
    # Not what getrusage says: that begins with what the process it came from had.
    print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

asyncio.run(main())
"""
MOST_KILOBYTES = 700_000
"""A room that counts tokens takes 200 MB; the rest is a few times what is loaded."""


PATTERNS = [" ", "\n", "a", "\r\n", " " * 60 + "\n", "_", "\U0001f600"]


@pytest.mark.parametrize(
    "pattern",
    [pytest.param(one, marks=() if one == "a" else pytest.mark.slow) for one in PATTERNS],
    ids=repr,
)
def test_as_much_as_fits_of_a_large_text_is_loaded_in_bounded_memory_whatever_it_is_made_of(
    tmp_path: Path, pattern: str
) -> None:
    (tmp_path / "small.txt").write_text("a\n")
    text = pattern.encode()
    (tmp_path / "large.txt").write_bytes(text * (LARGEST // len(text)))
    # The peak of a process is its own only in one of its own.
    ran = subprocess.run(
        [sys.executable, "-c", LOADED, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) < MOST_KILOBYTES
