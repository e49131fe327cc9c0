"""Lines: what an entry of a timeline says, and how it joins the chain."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from brasstag.store.timeline.seals import GENESIS, Key, head_signature
from brasstag.store.timeline.spending import worked
from brasstag.words.canonical import stored_json
from brasstag.words.events import Entry, EntryKind
from brasstag.words.ids import new_id


@dataclass(frozen=True, slots=True)
class Position:
    """Where a task's chain stands."""

    next_seq: int
    head: str


START = Position(0, GENESIS)
"""Where every chain begins."""


def payload_digest(salt: str, payload: str) -> str:
    """Return the salted digest that stands in the chain for a payload."""
    return hashlib.sha256(f"{salt}{payload}".encode()).hexdigest()


def entry_hash(
    previous: str, task_id: str, seq: int, kind: str, tag: str, call_id: str, at: str, digest: str
) -> str:
    """Return the hash of an entry, over everything it says and the hash before it."""
    said = "\n".join((previous, task_id, str(seq), kind, tag, call_id, at, digest))
    return hashlib.sha256(said.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class EntryLine:
    """An entry about to be written; its content does not depend on where the chain stands by then."""

    task_id: str
    kind: EntryKind
    call_id: str
    at: str
    text: str
    milliseconds: int
    epoch: int
    """The epoch under which the writer holds the task; 0 for a writer that need not hold it."""
    spent: Mapping[str, int]
    """What a turn used."""
    tag: str = field(default_factory=lambda: new_id("tag"))
    salt: str = field(default_factory=lambda: os.urandom(16).hex())
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        """Take the digest once."""
        object.__setattr__(self, "digest", payload_digest(self.salt, self.text))

    def after(self, position: Position) -> Position:
        """Return where the chain stands once this line is its newest."""
        seq = position.next_seq
        said = (self.kind, self.tag, self.call_id, self.at, self.digest)
        return Position(seq + 1, entry_hash(position.head, self.task_id, seq, *said))

    def values(self, before: Position, after: Position, key: Key) -> dict[str, Any]:
        """Return its row, and what its task's row must say before and says after."""
        fence = {"held": self.epoch} if self.epoch else {}
        return {
            "task_id": self.task_id,
            "seq": before.next_seq,
            "kind": self.kind.value,
            "tag": self.tag,
            "call_id": self.call_id,
            "at": self.at,
            "payload": self.text,
            "salt": self.salt,
            "digest": self.digest,
            "hash": after.head,
            "old_head": before.head,
            "after": after.next_seq,
            "signed": head_signature(key, self.task_id, after.next_seq, after.head),
            "worked": self.milliseconds,
            **fence,
            **self.spent,
        }

    def entry(self, after: Position) -> Entry:
        """Return the entry it became, read from its text: so it holds no more than a later reader will see."""
        said = json.loads(self.text)
        return Entry(
            self.task_id, after.next_seq - 1, self.kind, self.tag, self.call_id, self.at, said, after.head
        )


def line_of(
    task_id: str,
    kind: EntryKind,
    call_id: str,
    payload: dict[str, Any],
    at: str,
    epoch: int,
    spent: Mapping[str, int],
) -> EntryLine:
    """Write a payload down as a line."""
    text = stored_json(payload | {"timestamp": at})
    return EntryLine(task_id, kind, call_id, at, text, worked(kind, payload), epoch, spent)
