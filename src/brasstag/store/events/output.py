"""What programs print, among the events of a room: a few lines for watchers in other processes, gone soon after."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, select

from brasstag.store.database.base import Database
from brasstag.store.database.schema import entries, events
from brasstag.store.events.sequence import announce
from brasstag.words.events import EntryKind

MOST_ROWS = 500
"""How many pieces of output are kept, of all programs together."""

LONGEST = 8192
"""How many characters one piece has at most; of more, the last ones are kept."""

_ENDINGS = (EntryKind.CALLED, EntryKind.SETTLED, EntryKind.REFUSED)


@dataclass(frozen=True, slots=True)
class PrintedPiece:
    """What one stream of a call's programs printed since the piece before."""

    task_id: str
    call_id: str
    tool: str
    stream: str
    text: str
    left_out: int = 0
    """How many characters are missing before it."""

    def payload(self) -> dict[str, Any]:
        """Return what its event says."""
        cut = max(len(self.text) - LONGEST, 0)
        return {
            "call": self.call_id,
            "tool": self.tool,
            "stream": self.stream,
            "text": self.text[cut:],
            "left_out": self.left_out + cut,
        }


def record_output(database: Database, printed: Sequence[PrintedPiece], at: str) -> None:
    """Write down what calls printed that have not ended; the outcome of an ended call says it all."""
    with database.read() as view:
        ended = _ended_calls(view, {(piece.task_id, piece.call_id) for piece in printed})
    going_on = [piece for piece in printed if piece.call_id not in ended]
    if not going_on:
        return
    with database.write() as transaction:
        for piece in going_on:
            announce(transaction, "output", at, piece.task_id, piece.payload())
        is_output = events.c.topic == "output"
        newest = select(events.c.seq).where(is_output).order_by(events.c.seq.desc())
        old = newest.offset(MOST_ROWS).limit(1).scalar_subquery()
        transaction.execute(delete(events).where(is_output, events.c.seq <= old))


def _ended_calls(connection: Connection, calls: Collection[tuple[str, str]]) -> set[str]:
    found: set[str] = set()
    for task_id, call_id in calls:
        mine = (entries.c.task_id == task_id, entries.c.call_id == call_id, entries.c.kind.in_(_ENDINGS))
        if connection.execute(select(entries.c.seq).where(*mine).limit(1)).first():
            found.add(call_id)
    return found
