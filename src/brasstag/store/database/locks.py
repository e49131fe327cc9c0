"""The locks of a room, and the one order in which a transaction takes them."""

from enum import IntEnum, auto


class Lock(IntEnum):
    """What a transaction may hold; later ones are taken after earlier ones, never before."""

    REBUILD = auto()
    """The tables themselves."""
    FACTS = auto()
    DESK = auto()
    """The first entry of one desk, by its id."""
    RUN = auto()
    """Who of one run goes on, by the id of its first task."""
    LEASES = auto()
    """Who may claim paths."""
    DOCUMENTS = auto()
    """Rows of documents, their ids, and the index."""
    TASKS = auto()
    """Rows of tasks, child before parent, each of them before those of its approvals; taken by touching them."""
    SEALS = auto()
    """The room's chain: last of all, as every writer may need it."""

    def name_of(self, which: str = "") -> str:
        """Return the name a database knows it by; ``which`` tells apart those of which there are many."""
        return which or self.name.lower()


_FIRST = min(Lock)


class Keyring:
    """The locks of one transaction."""

    def __init__(self) -> None:
        self._taken: set[tuple[Lock, str]] = set()
        self._last = _FIRST

    def take(self, lock: Lock, which: str = "") -> bool:
        """Say whether this one is to be waited for, or held already; one that is out of order is a bug."""
        if (lock, which) in self._taken:
            return False
        if lock < self._last:
            raise AssertionError(
                f"{lock.name} is locked after {self._last.name}; two that do so may wait for each other"
            )
        self._last = lock
        self._taken.add((lock, which))
        return True
