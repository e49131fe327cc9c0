"""A first scan against reading and hashing the same files and putting their texts into a bare FTS5 table, and a rescan.

Each contender is a process of its own, so that its peak of memory is its own. Sizes are set by the environment:
SCAN_FILES (20,000), SCAN_LARGE_MB (200); the goals speak of 100,000 files and one of 1,000 MB.
"""

import asyncio
import hashlib
import json
import os
import random
import resource
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from measuring import goal, goal_at_least, title
from places import scratch

from brasstag import Room
from brasstag.app.project.create import create_project
from brasstag.documents.formats.limits import Sizes
from brasstag.documents.scan.scan import MOST_FILES
from brasstag.documents.scan.scanner import Scanner

_FILES = int(os.environ.get("SCAN_FILES", "20000"))
_LARGE = int(os.environ.get("SCAN_LARGE_MB", "200"))
# Both commit alike, and index as much of a text: what is compared is what else a scan does.
_BATCH = MOST_FILES
_INDEXED = Sizes().indexed
_ROUNDS = 3


async def run() -> None:
    with scratch() as folder:
        data = folder / "data"
        _fill(data)
        ratios, rescans, peaks = [], [], []
        for number in range(_ROUNDS):
            theirs = _child("bare", data, folder / f"bare{number}")
            ours = _child("scan", data, folder / f"ours{number}")
            ratios.append(ours["first"] / theirs["first"])
            rescans.append(ours["first"] / ours["again"])
            peaks.append(ours["peak"])
    title(f"Scanning {_FILES} small files and one of {_LARGE} MB")
    print(
        f"  first scan {ours['first']:.1f} s, rescan {ours['again']:.2f} s, hash + FTS5 {theirs['first']:.1f} s"
    )
    goal("first scan / hash + bare FTS5", sorted(ratios)[_ROUNDS // 2], 1.5)
    goal_at_least("first scan / unchanged rescan", sorted(rescans)[_ROUNDS // 2], 20)
    goal("peak of memory", max(peaks), 300, " MB")


def _child(what: str, data: Path, folder: Path) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, __file__, what, str(data), str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, float] = json.loads(done.stdout)
    return told


def _bare(data: Path, folder: Path) -> dict[str, float]:
    folder.mkdir()
    with sqlite3.connect(folder / "bare.db", isolation_level=None) as database:
        for pragma in ("journal_mode = WAL", "synchronous = FULL"):
            database.execute(f"PRAGMA {pragma}")
        database.execute(
            "CREATE VIRTUAL TABLE texts USING fts5(path, body, tokenize = 'unicode61 remove_diacritics 2')"
        )
        started = time.perf_counter()
        rows: list[tuple[str, str]] = []
        for path in _walked(str(data)):
            rows.append((path, _hashed(path)))
            if len(rows) >= _BATCH:
                _insert(database, rows)
                rows.clear()
        _insert(database, rows)
        return {"first": time.perf_counter() - started, "peak": _peak()}


def _insert(database: sqlite3.Connection, rows: list[tuple[str, str]]) -> None:
    database.execute("BEGIN IMMEDIATE")
    database.executemany("INSERT INTO texts (path, body) VALUES (?, ?)", rows)
    database.execute("COMMIT")


def _walked(directory: str) -> Iterator[str]:
    for place, _, names in os.walk(directory):
        for name in names:
            yield os.path.join(place, name)


def _hashed(path: str) -> str:
    digest = hashlib.sha256()
    text = b""
    with Path(path).open("rb", buffering=0) as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
            if len(text) < _INDEXED:
                text += chunk
    digest.hexdigest()
    return text[:_INDEXED].decode()


async def _scan(data: Path, folder: Path) -> dict[str, float]:
    create_project(folder, str(data))
    async with Room.open(folder) as room:
        scanner = Scanner(room._runtime.workspace, room.store)
        started = time.perf_counter()
        report = scanner.scan_all()
        first = time.perf_counter() - started
        assert report.added == _FILES + 1, report
        again = []
        for _ in range(3):
            started = time.perf_counter()
            report = scanner.scan_all()
            again.append(time.perf_counter() - started)
            assert report.unchanged == _FILES + 1, report
    return {"first": first, "again": sorted(again)[1], "peak": _peak()}


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def _fill(data: Path) -> None:
    chance = random.Random(1)
    words = [
        "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 10))) for _ in range(3000)
    ]
    for number in range(_FILES):
        place = data / f"part{number % 10}" / f"chapter{number // 10 % 100}"
        place.mkdir(parents=True, exist_ok=True)
        lines = (" ".join(chance.choices(words, k=10)) for _ in range(chance.randint(5, 60)))
        (place / f"page{number}.txt").write_text(f"page {number}\n" + "\n".join(lines) + "\n")
    piece = " ".join(chance.choices(words, k=1_000_000 // 6)).encode()[:1_000_000]
    with (data / "large.log").open("wb") as file:
        for number in range(_LARGE):
            file.write(f"{number:08}\n".encode() + piece[9:])


if __name__ == "__main__":
    if len(sys.argv) == 1:
        asyncio.run(run())
    else:
        data, folder = map(Path, sys.argv[2:])
        told = _bare(data, folder) if sys.argv[1] == "bare" else asyncio.run(_scan(data, folder))
        print(json.dumps(told))
