"""search_code against ripgrep itself, and against the reference filesystem server, over the same 5,000 files of 50 MB.

The reference server has no search for text: its search_files looks at names only. What is compared is what a client has to
do there to find text: search_files for every file, read_multiple_files in batches, and a match in the client, which is not
charged to the server beyond Python's own `in`. Its search for names alone is shown beside it.
"""

import asyncio
import gc
import json
import random
import subprocess
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from measuring import goal, goal_at_least, line, ratio, title
from node_peers import node_peer
from places import scratch

from brasstag import Room
from brasstag.app.project.create import create_project
from brasstag.sandbox.process.ripgrep import find_ripgrep
from brasstag.words.calls import Done

_FILES = 5000
_EVERY = 250
_NEEDLE = "Queequeg's harpoon"
_BATCH = 250


async def run() -> None:
    with scratch() as folder:
        project = folder / "project"
        create_project(project)
        data = (project / "data").resolve()
        _fill(data)
        async with Room.open(project) as room:
            await _measure(room, data)


async def _measure(room: Room, data: Path) -> None:
    sandbox = room._runtime.sandbox
    assert sandbox is not None
    program = find_ripgrep(sandbox)
    assert program is not None, "there is no ripgrep here"
    # The same files as search_code: all of them, whatever a .gitignore says.
    raw = [
        str(program.path),
        "--no-config",
        "--no-ignore",
        "--line-number",
        "--fixed-strings",
        _NEEDLE,
        str(data),
    ]

    async def ours(query: str = _NEEDLE, **arguments: Any) -> None:
        outcome = await room.call("search_code", {"query": query, **arguments})
        assert isinstance(outcome, Done), outcome
        assert outcome.value["engine"] == "ripgrep"
        assert len(outcome.value["matches"]) == _FILES // _EVERY

    async def theirs(*words: str) -> None:
        done = await asyncio.to_thread(subprocess.run, [*raw, *words], capture_output=True, check=True)
        assert done.stdout.count(b"\n") == _FILES // _EVERY

    found = await _side_by_side(
        {
            "ripgrep": theirs,
            "search_code": ours,
            "ripgrep, any case": lambda: theirs("--ignore-case"),
            "search_code, any case": lambda: ours(case_sensitive=False),
        },
        rounds=31,
    )
    title(f"Searching {_FILES} files for a rare text")
    for name, seconds in found.items():
        line(name, seconds)
    goal("search_code / ripgrep", ratio(found["search_code"], found["ripgrep"]), 1.5)
    anyhow = ratio(found["search_code, any case"], found["ripgrep, any case"])
    print(f"  search_code / ripgrep, where case does not matter: {anyhow:.2f}x")
    peer = node_peer("mcp-server-filesystem")
    if peer is None:
        return
    with _server(peer, data) as server:
        found = await _side_by_side(
            {
                "search_code": ours,
                "reference server, names only": lambda: asyncio.to_thread(server.names, data),
                "reference server, text": lambda: asyncio.to_thread(server.search, data),
            },
            rounds=5,
        )
    for name in ("reference server, names only", "reference server, text"):
        line(name, found[name])
    goal_at_least(
        "reference server, text / search_code",
        ratio(found["reference server, text"], found["search_code"]),
        20,
    )
    names = ratio(found["reference server, names only"], found["search_code"])
    print(f"  reference server, names only / search_code: {names:.2f}x")


async def _side_by_side(
    contenders: Mapping[str, Callable[[], Awaitable[None]]], *, rounds: int
) -> dict[str, list[float]]:
    """Return the seconds of each contender in each round, after one that does not count."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for counts in [False] + [True] * rounds:
        for name, act in contenders.items():
            started = time.perf_counter()
            await act()
            if counts:
                seconds[name].append(time.perf_counter() - started)
        gc.collect()
    return seconds


def _fill(data: Path) -> None:
    chance = random.Random(1)
    words = [
        "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 10))) for _ in range(3000)
    ]
    for number in range(_FILES):
        lines = [" ".join(chance.choices(words, k=10)) for _ in range(chance.randint(60, 250))]
        if number % _EVERY == 0:
            lines.insert(len(lines) // 2, f"and {_NEEDLE} stood in the corner")
        place = data / f"part{number % 10}" / f"chapter{number // 10 % 10}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"page{number}.txt").write_text("\n".join(lines) + "\n")


class _Server:
    """A client of the reference server that speaks plain lines of JSON, so that no library's time is measured."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._count = 0
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        }
        self._ask("initialize", hello)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def names(self, data: Path) -> list[str]:
        """Return every file the server finds by its name."""
        return self._call("search_files", {"path": str(data), "pattern": "**/*.txt"}).splitlines()

    def search(self, data: Path) -> None:
        """Find a text by reading all there is."""
        paths = self.names(data)
        assert len(paths) == _FILES, paths[:3]
        found = 0
        for start in range(0, len(paths), _BATCH):
            texts = self._call("read_multiple_files", {"paths": paths[start : start + _BATCH]})
            found += texts.count(_NEEDLE)
        assert found == _FILES // _EVERY, found

    def _call(self, tool: str, arguments: dict[str, Any]) -> str:
        answer = self._ask("tools/call", {"name": tool, "arguments": arguments})
        return "\n".join(part["text"] for part in answer["content"])

    def _ask(self, method: str, parameters: dict[str, Any]) -> Any:
        self._count += 1
        self._send({"jsonrpc": "2.0", "id": self._count, "method": method, "params": parameters})
        assert self._process.stdout is not None
        while said := self._process.stdout.readline():
            told = json.loads(said)
            if told.get("id") == self._count and "method" not in told:
                return told["result"]
            if "id" in told:
                self._send({"jsonrpc": "2.0", "id": told["id"], "result": {"roots": []}})
        raise ConnectionError("the reference server has gone")

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()


@contextmanager
def _server(program: Path, data: Path) -> Iterator[_Server]:
    with subprocess.Popen(
        [program, str(data)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield _Server(process)
        finally:
            process.terminate()
