"""Who decides: a person at a terminal, or a person with an approver's token, and no other."""

import getpass
import hmac
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from brasstag.settings import user_directory
from brasstag.surfaces.cli.terminal.console import at_terminal
from brasstag.surfaces.cli.terminal.visible import visible
from brasstag.words.approvals import Approver
from brasstag.words.canonical import sha256
from brasstag.words.errors import Code, ConfigError, Problem, ToolError

TOKEN_VARIABLE = "BRASSTAG_APPROVER_TOKEN"  # noqa: S105 - the name of a variable

LONGEST_NAME = 100


def user_name() -> str:
    """Return the system's name for the user who runs this; the environment could claim any name."""
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_name
    except ImportError:  # only Unix has it
        return getpass.getuser()
    except KeyError:
        return f"uid {os.getuid()}"


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
        return Approver(user_name(), "terminal")
    raise ToolError(
        Code.NOT_AN_APPROVER,
        "a decision needs a person: run this in a terminal, or set "
        f"{TOKEN_VARIABLE} to a token from `brasstag approvers add NAME`",
    )


def registered_approver() -> Approver | None:
    """Return the person whose token the environment holds; None where it holds none that is known."""
    token = os.environ.get(TOKEN_VARIABLE)
    if not token:
        return None
    known = _known()
    for name, entry in known.items():
        if hmac.compare_digest(entry["digest"], _digest(token)):
            return Approver(name, "token", tuple(_issuers(known, name)))
    return None


def actor_name() -> str:
    """Return who runs this command: a registered approver by their token, else the system's user."""
    registered = registered_approver()
    return f"cli:{user_name()}" if registered is None else f"token:{registered.name}"


def _issuers(known: dict[str, dict[str, str]], name: str) -> Iterator[str]:
    """Yield who issued a person's token, who issued theirs, and so on."""
    seen = {name}
    issuer = known[name].get("issuedBy", "")
    while issuer and issuer not in seen:
        yield issuer
        seen.add(issuer)
        issuer = known.get(issuer, {}).get("issuedBy", "")


def add_approver(name: str, issued_by: str = "") -> str:
    """Give a person a token, and return it; only its digest is kept, and who issued it."""
    if not name.strip() or visible(name) != name or "\n" in name or len(name) > LONGEST_NAME:
        raise ToolError(
            Code.INVALID_ARGUMENTS,
            f"{name!r} cannot be a name; use one line of at most {LONGEST_NAME} characters",
        )
    token = secrets.token_urlsafe(32)
    with _changing() as known:
        if name in known:
            raise ToolError(
                Code.ALREADY_EXISTS,
                f"{name} already has a token; remove it first with `brasstag approvers remove`",
            )
        known[name] = {"digest": _digest(token), "issuedBy": issued_by}
    return token


def remove_approver(name: str) -> None:
    """Take a person's token away."""
    with _changing() as known:
        if known.pop(name, None) is None:
            raise ToolError(
                Code.INVALID_ARGUMENTS,
                f"{name} has no token; `brasstag approvers` lists the people who have one",
            )


def approver_names() -> list[str]:
    """Return the names of all people who have a token."""
    return sorted(_known())


def _digest(token: str) -> str:
    return sha256(token.encode(errors="surrogateescape"))


def _file() -> Path:
    return user_directory() / "approvers.json"


def _known() -> dict[str, dict[str, str]]:
    file = _file()
    try:
        known = json.loads(file.read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError:
        known = None
    if not isinstance(known, dict) or not all(map(_is_entry, known.values())):
        mend = "Remove the file, then give new tokens with `brasstag approvers add`."
        raise ConfigError([Problem(str(file), "", "does not hold names and digests", mend)])
    # Earlier releases kept the digest alone.
    return {name: {"digest": entry} if isinstance(entry, str) else entry for name, entry in known.items()}


def _is_entry(entry: object) -> bool:
    if isinstance(entry, str):
        return True
    return isinstance(entry, dict) and isinstance(entry.get("digest"), str)


@contextmanager
def _changing() -> Iterator[dict[str, dict[str, str]]]:
    from filelock import FileLock

    file = _file()
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with FileLock(f"{file}.lock"):
        known = _known()
        yield known
        temporary = file.with_suffix(".tmp")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            json.dump(known, stream, indent=1)
        temporary.replace(file)
