"""Whether a long timeline slows a call down: call 10,000 against call 10."""

import statistics
import time

from measuring import goal, line, title
from places import scratch

from brasstag import Room
from brasstag.app.project.create import create_project

CALLS = 10_000
WINDOW = 200


async def run() -> None:
    with scratch() as folder:
        old, fresh = folder / "old", folder / "fresh"
        for project in (old, fresh):
            create_project(project)
            (project / "data" / "chapter.md").write_text("Call me Ishmael.\n" * 60)
        async with Room.open(old) as long, Room.open(fresh) as short:
            for _ in range(CALLS - WINDOW):
                await long.call("read_file", {"path": "chapter.md"})
            for _ in range(10):
                await short.call("read_file", {"path": "chapter.md"})
            late, early = [], []
            # The two timelines take turns, so that both see the same machine.
            for _ in range(WINDOW):
                for room, seconds in ((long, late), (short, early)):
                    started = time.perf_counter()
                    await room.call("read_file", {"path": "chapter.md"})
                    seconds.append(time.perf_counter() - started)
    title(f"read_file: call {CALLS:,} of a timeline against call 10 of another")
    line("call 10 and on", early)
    line(f"call {CALLS:,} and before", late)
    goal("late / early", statistics.median(late) / statistics.median(early), 1.1)
