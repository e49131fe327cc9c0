"""Tokens of programs: with one, a program uses the HTTP API in one role. No token decides anything."""

import secrets
from dataclasses import asdict, dataclass, fields

from brasstag.app.people.approvers import require_name
from brasstag.app.people.json_file import AccountFile
from brasstag.words.canonical import sha256
from brasstag.words.errors import Code, ToolError
from brasstag.words.times import stamp, utc_now

_FILE = AccountFile("tokens.json", "tokens of programs", "Remove the file, then make new tokens.")


@dataclass(frozen=True, slots=True)
class ProgramToken:
    """What is kept of a token."""

    name: str
    """The program, as the timeline shows it."""
    role: str
    """The role in which it makes calls and starts runs."""
    issued_by: str
    issued_at: str


_FIELDS = {one.name for one in fields(ProgramToken)}


def new_token(name: str, role: str, issued_by: str) -> str:
    """Give a program a token, and return it; only its digest is kept."""
    require_name(name)
    secret = secrets.token_urlsafe(32)
    with _FILE.changing() as stored:
        if any(_token(one).name == name for one in stored.values()):
            raise ToolError(
                Code.ALREADY_EXISTS,
                f"{name} already has a token; remove it first",
                hint=f"`brasstag tokens remove {name}` does that",
            )
        stored[_digest(secret)] = asdict(ProgramToken(name, role, issued_by, stamp(utc_now())))
    return secret


def remove_token(name: str) -> None:
    """Take a program's token away."""
    with _FILE.changing() as stored:
        mine = [digest for digest, one in stored.items() if _token(one).name == name]
        if not mine:
            raise ToolError(
                Code.INVALID_ARGUMENTS, f"{name} has no token", hint="`brasstag tokens` lists the programs"
            )
        for digest in mine:
            del stored[digest]


def program_tokens() -> list[ProgramToken]:
    """Return every token, by the names of the programs."""
    return sorted(map(_token, _FILE.read().values()), key=lambda one: one.name)


def program_with(secret: str) -> ProgramToken | None:
    """Return the program that has this token; None where no program has it."""
    found = _FILE.read().get(_digest(secret))
    return None if found is None else _token(found)


def _token(entry: object) -> ProgramToken:
    """Return a token as the file holds it; a file that anything else stands in lets no program in."""
    if (
        not isinstance(entry, dict)
        or set(entry) != _FIELDS
        or not all(isinstance(one, str) for one in entry.values())
    ):
        raise _FILE.damaged()
    return ProgramToken(**entry)


def _digest(secret: str) -> str:
    return sha256(secret.encode(errors="surrogateescape"))
