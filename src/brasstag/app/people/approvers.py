"""Approvers: people who have a token, with which they decide without a terminal; only digests of tokens are kept."""

import getpass
import hmac
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from brasstag.app.people.json_file import AccountFile
from brasstag.app.people.system_approvers import SYSTEM
from brasstag.words.approvals import Approver
from brasstag.words.canonical import sha256
from brasstag.words.errors import Code, ToolError

LONGEST_NAME = 100

_FILE = AccountFile("approvers.json", "names and digests", "Remove the file, then give new tokens.")


@dataclass(frozen=True, slots=True)
class _Registered:
    """What is kept of a person who has a token, or had one."""

    digest: str = ""
    """Of the token; empty where it was removed."""
    issued_by: tuple[str, ...] = ()
    """Who issued this token, and those before it; four eyes ask for that even after a removal."""


def user_name() -> str:
    """Return the system's name for the user who runs this; the environment could claim any name."""
    try:
        import pwd  # noqa: PLC0415 - only Unix has it

        return pwd.getpwuid(os.getuid()).pw_name
    except ImportError:
        return getpass.getuser()
    except KeyError:
        return f"uid {os.getuid()}"


def require_name(name: str) -> None:
    """Raise ToolError for a name that cannot be read on a timeline."""
    if not name.strip() or not name.isprintable() or len(name) > LONGEST_NAME:
        raise ToolError(
            Code.INVALID_ARGUMENTS,
            f"{name!r} cannot be a name; use one line of at most {LONGEST_NAME} characters",
        )


def approver_with(token: str) -> Approver | None:
    """Return the person who has this token; None where no person has it."""
    known = _known()
    for name, entry in known.items():
        if entry.digest and hmac.compare_digest(entry.digest, _digest(token)):
            issuers = _issuers(known, name)
            # A registered person who issued two tokens could use both; a terminal says no name.
            same = {name, *(issuer for issuer in issuers if issuer in known)}
            issued = tuple(other for other in known if other != name and same & set(_issuers(known, other)))
            return Approver(name, "token", issuers, issued)
    return None


def issuers_of(name: str, *more: str) -> tuple[str, ...]:
    """Return who issued a person's tokens, who issued theirs, and so on; ``more`` issued something else to the person."""
    known = _known()
    found = dict.fromkeys((*_issuers(known, name), *more))
    for issuer in more:
        found |= dict.fromkeys(_issuers(known, issuer))
    return tuple(issuer for issuer in found if issuer not in ("", name))


def _issuers(known: Mapping[str, _Registered], name: str) -> tuple[str, ...]:
    """Return who issued a person's tokens, who issued theirs, and so on."""
    found: list[str] = []
    wanted = [name]
    while wanted:
        issuers = known.get(wanted.pop(), _Registered()).issued_by
        new = [issuer for issuer in issuers if issuer and issuer not in (name, *found)]
        found += new
        wanted += new
    return tuple(found)


def add_approver(name: str, issued_by: str = "", *, before: Callable[[], None] = lambda: None) -> str:
    """Give a person a token, and return it; only its digest is kept, and who issued it.

    ``before`` is called when no other process can change the file; what it raises leaves everything as it was.
    """
    require_name(name)
    token = secrets.token_urlsafe(32)
    if name in SYSTEM.read():
        raise ToolError(Code.ALREADY_EXISTS, f"{name} already has a token, by {SYSTEM.file}")
    with _changing() as known:
        before()
        former = known.get(name, _Registered())
        if former.digest:
            raise ToolError(
                Code.ALREADY_EXISTS,
                f"{name} already has a token; remove it first",
                hint=f"`brasstag approvers remove {name}` does that",
            )
        issuers = dict.fromkeys((*former.issued_by, issued_by))
        known[name] = _Registered(_digest(token), tuple(filter(None, issuers)))
    return token


def remove_approver(name: str) -> None:
    """Take a person's token away; who issued it stays known, as four eyes ask for that."""
    if name in SYSTEM.read():
        raise ToolError(Code.NOT_ALLOWED, f"{name} has a token by {SYSTEM.file}; root removes it there")
    with _changing() as known:
        if not known.get(name, _Registered()).digest:
            raise ToolError(
                Code.INVALID_ARGUMENTS,
                f"{name} has no token",
                hint="`brasstag approvers` lists the people who have one",
            )
        known[name] = replace(known[name], digest="")


def approver_names() -> dict[str, str]:
    """Return the names of all people who have a token, each with the system's file that says so, if one does."""
    named = SYSTEM.read()
    known = sorted(name for name, entry in _known().items() if entry.digest)
    return {name: str(SYSTEM.file) if name in named else "" for name in known}


def has_approvers() -> bool:
    """Say whether any person has or had a token here."""
    return bool(_known())


def _digest(token: str) -> str:
    return sha256(token.encode(errors="surrogateescape"))


def _known() -> dict[str, _Registered]:
    """Return the people of this account and of the whole machine; of one name, what root says counts."""
    return _own() | {name: _Registered(digest) for name, digest in SYSTEM.read().items()}


def _own() -> dict[str, _Registered]:
    return _read(_FILE.read())


def _read(stored: Mapping[str, object]) -> dict[str, _Registered]:
    known = {name: _registered(entry) for name, entry in stored.items()}
    if None in known.values():
        raise _FILE.damaged()
    return {name: entry for name, entry in known.items() if entry is not None}


def _registered(entry: object) -> _Registered | None:
    """Return a person as the file holds them; None where it cannot be read. The first releases kept a digest alone."""
    if isinstance(entry, str):
        return _Registered(entry)
    if not isinstance(entry, dict) or not isinstance(entry.get("digest"), str):
        return None
    issuers = entry.get("issuedBy", [])
    issuers = [issuers] if isinstance(issuers, str) else issuers
    if not isinstance(issuers, list) or not all(isinstance(issuer, str) for issuer in issuers):
        return None
    return _Registered(entry["digest"], tuple(issuers))


@contextmanager
def _changing() -> Iterator[dict[str, _Registered]]:
    with _FILE.changing() as stored:
        known = _read(stored)
        yield known
        for name, entry in known.items():
            stored[name] = {"digest": entry.digest, "issuedBy": list(entry.issued_by)}
