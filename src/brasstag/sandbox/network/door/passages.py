"""Passages: which hosts were reached through a door, how many bytes went each way, and which were refused."""

from dataclasses import dataclass
from typing import Any

from brasstag.sandbox.network.door.request import TurnedAway

MOST_REFUSALS = 50
"""How many different refusals are listed; the others are counted together."""
_LONGEST_NAME = 260


@dataclass(frozen=True, slots=True)
class TrafficLimit:
    """How much may go through a door in one run."""

    connections: int = 32
    """At a time; others wait."""
    sent_bytes: int = 10_000_000
    received_bytes: int = 100_000_000


@dataclass(slots=True)
class Passage:
    """What went between a run and one server."""

    host: str
    port: int
    sent: int = 0
    received: int = 0


class DoorTraffic:
    """All that went through one door."""

    def __init__(self, allowance: TrafficLimit) -> None:
        self._allowance = allowance
        self._passages: dict[tuple[str, int], Passage] = {}
        self._refusals: dict[tuple[str, str], int] = {}

    def reach(self, host: str, port: int) -> Passage:
        """Write down that a server was reached."""
        return self._passages.setdefault((host, port), Passage(host, port))

    def send(self, passage: Passage, size: int) -> None:
        """Count bytes that are about to be sent; raise TurnedAway where they may not."""
        most = self._allowance.sent_bytes
        if sum(one.sent for one in self._passages.values()) + size > most:
            raise self._spent(passage, f"all of its connections together may send {most} bytes")
        passage.sent += size

    def receive(self, passage: Passage, size: int) -> None:
        """Count bytes that are about to be let in; raise TurnedAway where they may not."""
        most = self._allowance.received_bytes
        if sum(one.received for one in self._passages.values()) + size > most:
            raise self._spent(passage, f"all of its connections together may receive {most} bytes")
        passage.received += size

    def turn_away(self, turned: TurnedAway) -> None:
        """Write down that a connection was refused."""
        refusal = (turned.asked[:_LONGEST_NAME], turned.why)
        if refusal not in self._refusals and len(self._refusals) >= MOST_REFUSALS:
            refusal = ("", "and others")
        self._refusals[refusal] = self._refusals.get(refusal, 0) + 1

    def as_json(self) -> dict[str, Any]:
        """Return ``{reached, refused}``, as results contain it."""
        return {
            "reached": [
                {"host": one.host, "port": one.port, "sent": one.sent, "received": one.received}
                for one in self._passages.values()
            ],
            "refused": [
                {"asked": asked, "why": why, "count": count} for (asked, why), count in self._refusals.items()
            ],
        }

    @staticmethod
    def _spent(passage: Passage, why: str) -> TurnedAway:
        return TurnedAway(403, f"the run has had its share: {why}", f"{passage.host}:{passage.port}")
