"""Who decides at the command line: a person at a terminal, or a person with an approver's token, and no other."""

import os

from brasstag.surfaces.cli.terminal.console import at_terminal
from brasstag.words.approvals import Approver
from brasstag.words.errors import Code, ToolError

TOKEN_VARIABLE = "BRASSTAG_APPROVER_TOKEN"  # noqa: S105 - the name of a variable


def require_approver() -> Approver:
    """Return who is deciding, or refuse: agents run commands too."""
    if os.environ.get(TOKEN_VARIABLE):
        if registered := registered_approver():
            return registered
        raise ToolError(
            Code.NOT_AN_APPROVER,
            f"the token in {TOKEN_VARIABLE} is not known; `brasstag approvers add NAME` makes a new one",
        )
    if at_terminal():
        from brasstag.app import user_name

        return Approver(user_name(), "terminal")
    raise ToolError(
        Code.NOT_AN_APPROVER,
        "a decision needs a person: run this in a terminal, or set "
        f"{TOKEN_VARIABLE} to a token from `brasstag approvers add NAME`",
    )


def registered_approver() -> Approver | None:
    """Return the person whose token the environment holds; None where it holds none that is known."""
    from brasstag.app import approver_with

    token = os.environ.get(TOKEN_VARIABLE)
    return approver_with(token) if token else None


def actor_name() -> str:
    """Return who runs this command: a registered approver by their token, else the system's user."""
    from brasstag.app import user_name

    registered = registered_approver()
    return f"cli:{user_name()}" if registered is None else f"token:{registered.name}"
