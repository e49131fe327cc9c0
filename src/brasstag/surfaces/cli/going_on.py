"""Who goes on with a run after a person has answered."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from brasstag.app.vault import Vault


def is_served(vault: "Vault", run: str) -> bool:
    """Say whether a process that lives works on a run."""
    from brasstag.app.serving import Serving

    return Serving(vault).serves(run)


def who_goes_on(run: str, served: bool) -> str:
    """Say who goes on, or how to."""
    if served:
        return "Whoever works on this run goes on with it."
    return (
        "Nobody works on this run now.\n"
        f"  brasstag resume {run}   goes on with it here\n"
        "  brasstag worker   goes on with every run"
    )
