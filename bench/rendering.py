"""Whether a long timeline makes a turn dearer to render: at 10,000 entries against at 100."""

import statistics
import time

from measuring import goal, title

from brasstag.engine.transcript.compact import fits, plan_compaction
from brasstag.engine.transcript.render import Transcript
from brasstag.words.events import Entry, EntryKind
from brasstag.words.messages import Fences

FEW, MANY = 100, 10_000
TURNS = 20
ROUNDS = 50
WINDOW = 10**9
"""Tokens; so large that nothing is ever shortened."""


class Telling:
    """A timeline that grows by turns of one call each, and its transcript."""

    def __init__(self, entries: int) -> None:
        self.transcript = Transcript(Fences(b"the key of a room"))
        self._seq = 0
        self._turn = 0
        opened = {"type": "root", "input": {"request": "Read the chapter."}, "system": "You read."}
        self.transcript.add(self._entry(EntryKind.OPENED, "", opened))
        while self._seq < entries:
            for entry in self.next_turn():
                self.transcript.add(entry)

    def next_turn(self) -> tuple[Entry, Entry]:
        call = {"id": f"c{self._turn}_0", "tool": "read_file", "arguments": {"path": "chapter.md"}}
        turn = {"type": "turn", "text": "", "thinking": [], "calls": [call], "usage": {}, "stop": "calls"}
        result = {"content": "Call me Ishmael.\n" * 6, "size": 102, "modified": "2026-03-01T09:30:00Z"}
        called = {
            "type": "function_tool",
            "tool": "read_file",
            "outcome": "done",
            "result": result,
            "meta": {},
        }
        name = f"task_bench:{self._turn}.0"
        self._turn += 1
        return self._entry(EntryKind.TURN, "", turn), self._entry(EntryKind.CALLED, name, called)

    def _entry(self, kind: EntryKind, call_id: str, payload: dict) -> Entry:
        self._seq += 1
        return Entry("task_bench", self._seq - 1, kind, f"tag_{self._seq}", call_id, "", payload, "")


def run() -> None:
    tellings = {entries: Telling(entries) for entries in (FEW, MANY)}
    adding: dict[int, list[float]] = {entries: [] for entries in tellings}
    handing: dict[int, list[float]] = {entries: [] for entries in tellings}
    # The short one is begun anew each time, so that it stays short.
    for _ in range(ROUNDS):
        tellings[FEW] = Telling(FEW)
        for entries, telling in tellings.items():
            adding[entries].append(_render_turns(telling))
            started = time.perf_counter()
            telling.transcript.messages()
            handing[entries].append(time.perf_counter() - started)
    title(f"Rendering a turn of one call: at {MANY:,} entries against at {FEW}")
    for entries in tellings:
        cost, copy = statistics.median(adding[entries]), statistics.median(handing[entries])
        print(
            f"  {f'at {entries:,} entries':<44} {cost * 1e6:>9.1f} µs a turn   "
            f"and {copy * 1e6:.1f} µs to copy the tuple of messages"
        )
    goal(f"{MANY:,} / {FEW}", statistics.median(adding[MANY]) / statistics.median(adding[FEW]), 1.2)


def _render_turns(telling: Telling) -> float:
    """Return the seconds a turn takes: both of its entries added, and whether all of it still fits looked up."""
    turns = [telling.next_turn() for _ in range(TURNS)]
    transcript = telling.transcript
    started = time.perf_counter()
    for entries in turns:
        for entry in entries:
            transcript.add(entry)
        assert plan_compaction(transcript, WINDOW) is None
        assert fits(transcript, WINDOW)
    return (time.perf_counter() - started) / TURNS
