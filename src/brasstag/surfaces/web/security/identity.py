"""Who asks: a person who is logged in, or a program with a token."""

from dataclasses import dataclass

from starlette.requests import Request

from brasstag.app import Level, Login, ProgramToken, login_of, program_with

COOKIE = "brasstag"


@dataclass(frozen=True, slots=True)
class Person:
    """A person who is logged in."""

    login: Login

    @property
    def name(self) -> str:
        """The name, as the timeline shows it."""
        return self.login.name

    def may(self, level: Level) -> bool:
        """Say whether this person may do what needs a level."""
        return self.login.may(level)


@dataclass(frozen=True, slots=True)
class ProgramIdentity:
    """A program with a token; it looks, calls and starts runs in its role, and never decides."""

    token: ProgramToken

    @property
    def name(self) -> str:
        """The name, as the timeline shows it."""
        return self.token.name

    def may(self, level: Level) -> bool:
        """Say whether a program may do what needs a level: never what only an approver does."""
        return level != "approver"


Identity = Person | ProgramIdentity


def identify(request: Request, *, by_cookie: bool) -> Identity | None:
    """Return who sends a request; cookies count only where a browser holds them for this control room alone."""
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and secret:
        token = program_with(secret.strip())
        return None if token is None else ProgramIdentity(token)
    cookie = request.cookies.get(COOKIE, "") if by_cookie else ""
    login = login_of(cookie) if cookie else None
    return None if login is None else Person(login)
