"""Which process continues a run after a person has answered."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from brasstag.app import RoomState


def is_served(room_state: "RoomState", run: str) -> bool:
    """Say whether a live process works on a run."""
    from brasstag.app import WorkerMarks

    return WorkerMarks(room_state).serves(run)


def who_continues(run: str, served: bool) -> str:
    """Say that a process continues a run, or how to continue it."""
    if served:
        return "The process that works on this run continues it."
    return (
        "No process works on this run now.\n"
        f"  brasstag resume {run}   continues it here\n"
        "  brasstag worker   continues every run"
    )
