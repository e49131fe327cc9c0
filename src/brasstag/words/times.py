"""Times as they are written down: UTC, ISO 8601, microseconds, so that text order is time order."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the time, in UTC."""
    return datetime.now(UTC)


def stamp(moment: datetime) -> str:
    """Return ``2026-03-01T09:30:00.000000Z``."""
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"
