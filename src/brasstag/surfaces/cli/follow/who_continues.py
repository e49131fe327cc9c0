"""Which process continues a run after a person has answered."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from brasstag.app import RoomState


def is_served(room_state: "RoomState", run: str) -> bool:
    """Say whether a process that lives works on a run."""
    from brasstag.app import WorkerMarks

    return WorkerMarks(room_state).serves(run)


def who_goes_on(run: str, served: bool) -> str:
    """Say who continues a run, or how to continue it."""
    if served:
        return "Whoever works on this run goes on with it."
    return (
        "Nobody works on this run now.\n"
        f"  brasstag resume {run}   goes on with it here\n"
        "  brasstag worker   goes on with every run"
    )
