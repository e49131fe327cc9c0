"""Who decides: somebody at a terminal, or somebody with an approver's token. Nobody else."""

import getpass
import hmac
import json
import os
import secrets
from pathlib import Path

from brasstag.settings import user_directory
from brasstag.surfaces.cli.console import at_terminal
from brasstag.words.approvals import Approver
from brasstag.words.canonical import sha256
from brasstag.words.errors import Code, ToolError

TOKEN_VARIABLE = "BRASSTAG_APPROVER_TOKEN"  # noqa: S105 - the name of a variable


def user_name() -> str:
    """Return the name of the person this process belongs to."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"


def require_approver() -> Approver:
    """Return who is deciding, or refuse: agents run commands too."""
    token = os.environ.get(TOKEN_VARIABLE)
    if token:
        for name, digest in _known().items():
            if hmac.compare_digest(digest, sha256(token.encode())):
                return Approver(name, "token")
        raise ToolError(
            Code.NOT_AN_APPROVER,
            f"the token in {TOKEN_VARIABLE} is nobody's; `brasstag approvers` lists them",
        )
    if at_terminal():
        return Approver(user_name(), "terminal")
    raise ToolError(
        Code.NOT_AN_APPROVER,
        f"a decision needs a terminal, or an approver's token in {TOKEN_VARIABLE} (see `brasstag approvers add --help`)",
    )


def add_approver(name: str) -> str:
    """Give somebody a token, and return it; only its digest is kept."""
    known = _known()
    if name in known:
        raise ToolError(Code.ALREADY_EXISTS, f"{name} already has a token; remove it first to give a new one")
    token = secrets.token_urlsafe(32)
    _write(known | {name: sha256(token.encode())})
    return token


def remove_approver(name: str) -> None:
    """Take somebody's token away."""
    known = _known()
    if known.pop(name, None) is None:
        raise ToolError(Code.INVALID_ARGUMENTS, f"{name} has no token; `brasstag approvers` lists who has")
    _write(known)


def approver_names() -> list[str]:
    """Return everybody who has a token."""
    return sorted(_known())


def _file() -> Path:
    return user_directory() / "approvers.json"


def _known() -> dict[str, str]:
    try:
        known: dict[str, str] = json.loads(_file().read_text())
    except FileNotFoundError:
        return {}
    return known


def _write(known: dict[str, str]) -> None:
    file = _file()
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = file.with_suffix(".tmp")
    temporary.write_text(json.dumps(known, indent=1))
    temporary.chmod(0o600)
    temporary.replace(file)
