"""A clock that only moves when told to; hand it to ``Room.in_memory(clock=…)``."""

from datetime import UTC, datetime, timedelta


class FakeClock:
    """Returns the same moment until it is moved on."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._now = start

    def __call__(self) -> datetime:
        """Return the moment it stands at."""
        return self._now

    def move(self, by: timedelta) -> None:
        """Go forward."""
        self._now += by
