"""Carbon copies: what this process adds to a task, for the worker that follows it and need not read its own words back."""

from collections import deque
from weakref import WeakValueDictionary

from brasstag.words.events import Entry


class Carbon:
    """The entries this process has added to one task since they were last taken."""

    def __init__(self) -> None:
        self._laid: deque[Entry] = deque()

    def lay(self, entry: Entry) -> None:
        """Add an entry whose commit is on disk."""
        self._laid.append(entry)

    def take(self) -> list[Entry]:
        """Return the entries in order, each of them once; what others wrote in between is not among them."""
        # As many as there are now: calls that still run may add to them meanwhile, and not in order.
        taken = [self._laid.popleft() for _ in range(len(self._laid))]
        return sorted(taken, key=lambda entry: entry.seq)


class Carbons:
    """Who follows which task; a carbon nobody holds any more is written to no longer."""

    def __init__(self) -> None:
        self._followed: WeakValueDictionary[str, Carbon] = WeakValueDictionary()

    def follow(self, task_id: str) -> Carbon:
        """Return a carbon of what is added from now on; an earlier one of the same task gets nothing more."""
        carbon = Carbon()
        self._followed[task_id] = carbon
        return carbon

    def of(self, task_id: str) -> Carbon | None:
        """Return the carbon of a task that is followed."""
        return self._followed.get(task_id)
