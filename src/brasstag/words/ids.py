"""Ids: a word for the kind, then a UUIDv7, so that ids sort by time."""

from dataclasses import dataclass
from typing import Literal

from uuid_utils import uuid7

Kind = Literal["call", "task", "tag", "apr", "boot", "room", "key", "mem", "prp", "iss", "perm"]

SHORTEST_TAIL = 4
"""People may name a thing by the end of its id; fewer characters than this are not accepted."""


def new_id(kind: Kind) -> str:
    """Return a fresh id such as ``call_019a…``; later ids sort after earlier ones."""
    return f"{kind}_{uuid7().hex}"


@dataclass(frozen=True, slots=True)
class TurnCall:
    """The place of a call in an agent's turn; the id holds only that, so calls of a recorded turn keep their ids."""

    task_id: str
    turn: int
    index: int

    @property
    def id(self) -> str:
        """The id of the call, such as ``task_…:3.0``."""
        return f"{self.task_id}:{self.turn}.{self.index}"

    @classmethod
    def of(cls, call_id: str) -> "TurnCall | None":
        """Return the place that an id names; None for a call that no turn has made."""
        task, _, place = call_id.rpartition(":")
        turn, _, index = place.partition(".")
        return cls(task, int(turn), int(index)) if task and turn.isdigit() and index.isdigit() else None


def not_one(what: str, name: str, *, several: bool = False) -> str:
    """Say that a name fits none of a kind of things, or several, and how to give a better one."""
    if len(name.strip()) < SHORTEST_TAIL:
        return f"name the {what} by its id, or by {SHORTEST_TAIL} or more characters of its end"
    if several:
        return f"more than one {what} ends in {name}; give more of its id"
    return f"there is no {what} {name}"
