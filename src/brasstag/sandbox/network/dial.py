"""Connect to the first judged address that answers."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from brasstag.sandbox.network.addresses import Address

MOST_ADDRESSES = 4
SECONDS_PER_ADDRESS = 8.0

Connection = TypeVar("Connection")


async def first_to_answer(
    addresses: Sequence[Address],
    connect: Callable[[str], Awaitable[Connection]],
    failures: tuple[type[Exception], ...],
) -> Connection:
    """Connect to the first address that answers, or raise what the last one met; nothing is looked up again."""
    *others, last = addresses[:MOST_ADDRESSES]
    for address in others:
        try:
            return await connect(str(address))
        except failures:
            continue
    return await connect(str(last))
