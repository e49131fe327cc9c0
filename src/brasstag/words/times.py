"""Times as stored: UTC, ISO 8601, microseconds, so that text order is time order."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the time, in UTC."""
    return datetime.now(UTC)


def stamp(moment: datetime) -> str:
    """Return ``2026-03-01T09:30:00.000000Z``."""
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def read_moment(given: str, *, local: bool = False) -> str:
    """Return a time that a user typed, in the form that is stored; raises ValueError, which says how to write one.

    Times without a zone are those of this machine where they are local, else UTC.
    """
    try:
        moment = datetime.fromisoformat(given)
        if moment.tzinfo is None:
            moment = moment.astimezone() if local else moment.replace(tzinfo=UTC)
        return stamp(moment)
    except (ValueError, OverflowError):
        # A time on the first or the last possible day may be out of range in another zone.
        raise ValueError(f"{given!r} is no time; write 2026-03-01 or 2026-03-01T09:30:00Z") from None
