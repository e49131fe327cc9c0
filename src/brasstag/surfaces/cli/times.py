"""Times as people read them: where they are, not in Greenwich."""

from datetime import datetime


def local(stored: str) -> datetime:
    """Return a time as the books write it, in the zone of this machine."""
    return datetime.fromisoformat(stored).astimezone()


def local_time(stored: str) -> str:
    """Return ``2026-03-01 10:30:00 CET``."""
    return f"{local(stored):%Y-%m-%d %H:%M:%S %Z}"
