"""Long lists in parts: how many values one statement names."""

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import TypeVar

AT_ONCE = 500

_Item = TypeVar("_Item")


def in_parts(items: Collection[_Item]) -> Iterator[Sequence[_Item]]:
    """Yield all items in order, as many at a time as one statement takes."""
    rest = iter(items)
    while some := list(islice(rest, AT_ONCE)):
        yield some
