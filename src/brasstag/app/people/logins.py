"""Logins at the control room: a link that works once, and the session it opens. Only digests of both are kept."""

import secrets
from dataclasses import asdict, dataclass, fields
from datetime import timedelta
from typing import Any, Literal, get_args

from brasstag.app.people.approvers import approver_names, issuers_of, require_name
from brasstag.app.people.json_file import AccountFile
from brasstag.words.approvals import Approver
from brasstag.words.canonical import sha256
from brasstag.words.errors import Code, ToolError
from brasstag.words.times import Clock, stamp, utc_now

Level = Literal["viewer", "operator", "approver"]
"""What a person may do at the control room: look; also start and steer runs; also decide."""

LEVELS: tuple[Level, ...] = get_args(Level)

LINK_SECONDS = 15 * 60
"""How long a link works."""

SESSION_DAYS = 30

_FILE = AccountFile("logins.json", "logins", "Remove the file; every person needs a new link then.")


@dataclass(frozen=True, slots=True)
class Login:
    """A person who is logged in."""

    name: str
    level: Level
    issued_by: str
    expires_at: str

    def may(self, level: Level) -> bool:
        """Say whether this person may do what needs a level."""
        return LEVELS.index(self.level) >= LEVELS.index(level)

    @property
    def approver(self) -> Approver:
        """The person who decides; raises ToolError for one who only looks or operates."""
        if not self.may("approver"):
            raise ToolError(
                Code.NOT_AN_APPROVER, f"{self.name} is {_article(self.level)} here; an approver decides"
            )
        return Approver(self.name, "login", issuers_of(self.name, self.issued_by))


_FIELDS = {one.name for one in fields(Login)}


def link_for(name: str, level: Level, issued_by: str, clock: Clock = utc_now) -> str:
    """Return a secret that logs a person in; raise ToolError where one who is no approver should log in as one."""
    require_name(name)
    if level == "approver" and name not in approver_names():
        raise ToolError(
            Code.NOT_AN_APPROVER,
            f"{name} is not an approver",
            hint=f"`brasstag approvers add {name}` makes one; `--level operator` or `--level viewer` lets another person in",
        )
    return new_link(name, level, issued_by, clock)


def new_link(name: str, level: Level, issued_by: str, clock: Clock = utc_now) -> str:
    """Return a secret that logs a person in, once, within a quarter of an hour."""
    secret = secrets.token_urlsafe(32)
    ends = stamp(clock() + timedelta(seconds=LINK_SECONDS))
    with _FILE.changing() as stored:
        _drop_ended(stored, clock)
        _table(stored, "links")[_digest(secret)] = asdict(Login(name, level, issued_by, ends))
    return secret


def log_in(secret: str, clock: Clock = utc_now) -> str:
    """Use a link up, and return the secret of the session it opens; raise ToolError where it does not work."""
    session = secrets.token_urlsafe(32)
    with _FILE.changing() as stored:
        _drop_ended(stored, clock)
        found = _table(stored, "links").pop(_digest(secret), None)
        if found is not None:
            ends = stamp(clock() + timedelta(days=SESSION_DAYS))
            _table(stored, "sessions")[_digest(session)] = found | {"expires_at": ends}
    if found is None:
        raise ToolError(
            Code.NOT_ALLOWED,
            "this link was used before, or is older than a quarter of an hour",
            hint="`brasstag serve` at a terminal, or `brasstag approvers link NAME`, makes a new one",
        )
    return session


def login_of(session: str, clock: Clock = utc_now) -> Login | None:
    """Return who is logged in with the secret of a session; None where it has ended, or never was."""
    found = _table(_FILE.read(), "sessions").get(_digest(session))
    login = None if found is None else _login(found)
    return login if login is not None and login.expires_at > stamp(clock()) else None


def end_session(session: str) -> None:
    """End one session of a person; others of theirs go on."""
    with _FILE.changing() as stored:
        _table(stored, "sessions").pop(_digest(session), None)


def log_out(name: str) -> int:
    """End all sessions and links of a person; return how many there were."""
    count = 0
    with _FILE.changing() as stored:
        for kind in ("links", "sessions"):
            table = _table(stored, kind)
            mine = [digest for digest, login in table.items() if _login(login).name == name]
            for digest in mine:
                del table[digest]
            count += len(mine)
    return count


def _drop_ended(stored: dict[str, Any], clock: Clock) -> None:
    now = stamp(clock())
    for kind in ("links", "sessions"):
        table = _table(stored, kind)
        ended = [digest for digest, login in table.items() if _login(login).expires_at <= now]
        for digest in ended:
            del table[digest]


def _table(stored: dict[str, Any], kind: str) -> dict[str, Any]:
    found = stored.setdefault(kind, {})
    if not isinstance(found, dict):
        raise _FILE.damaged()
    return found


def _login(entry: object) -> Login:
    """Return a login as the file holds it; a file that anything else stands in lets no person in."""
    if (
        not isinstance(entry, dict)
        or set(entry) != _FIELDS
        or not all(isinstance(one, str) for one in entry.values())
    ):
        raise _FILE.damaged()
    if entry["level"] not in LEVELS:
        raise _FILE.damaged()
    return Login(**entry)


def _digest(secret: str) -> str:
    return sha256(secret.encode(errors="surrogateescape"))


def _article(level: Level) -> str:
    return f"{'an' if level[0] in 'aeiou' else 'a'} {level}"


def label() -> str:
    """Return the random name under which this account's control room is reached, made once: ``NAME.localhost``."""
    known = _FILE.read().get("label")
    if known is None:
        with _FILE.changing() as stored:
            known = stored.setdefault("label", f"room-{secrets.token_hex(6)}")
    return str(known)
