"""A door as a test describes it: to whom it leads, what names mean, and which addresses play the open internet."""

from ipaddress import ip_address
from typing import Any

from brasstag.sandbox.network.addresses import Address
from brasstag.sandbox.network.door.door import GuardedDoor
from brasstag.sandbox.network.door.passages import TrafficLimit
from brasstag.sandbox.network.guard import WebGuard

OUTSIDE = "127.0.0.2"


class Names:
    """Gives each name its answers in turn; the last stays. Names it was not told of lead outside."""

    def __init__(self, told: dict[str, list[list[str]]]) -> None:
        self.told = told

    async def resolve(self, host: str, port: int) -> list[Address]:
        answers = self.told.get(host, [[OUTSIDE]])
        return [ip_address(text) for text in (answers.pop(0) if len(answers) > 1 else answers[0])]


def door_for(asked: dict[str, Any]) -> GuardedDoor:
    guard = WebGuard(
        Names(asked.get("names", {})),
        ports=asked.get("ports", []),
        public=lambda address: str(address) == OUTSIDE,
    )
    return GuardedDoor(guard, asked["hosts"], TrafficLimit(**asked.get("allowance", {})))
