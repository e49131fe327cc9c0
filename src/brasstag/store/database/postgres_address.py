"""The address of a Postgres server as a person writes it; its password is never shown."""

from typing import Any

from brasstag.words.errors import ConfigError, Problem

DATABASE_VARIABLE = "BRASSTAG_DATABASE_URL"
SCHEMES = ("postgresql://", "postgres://")

_DEFAULTS = {
    "application_name": "brasstag",
    "connect_timeout": 10,
    # A server that vanished without closing the connection is noticed within half a minute.
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}


class Address:
    """Where a server is, and how to sign in."""

    def __init__(self, url: str) -> None:
        from psycopg import Error  # noqa: PLC0415 - the driver is an extra, and may not be there
        from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415

        if not url.startswith(SCHEMES) or not _is_unmistakable(url):
            raise _not_an_address()
        try:
            found = conninfo_to_dict(url)
        except Error:
            # What the driver says may quote the password.
            raise _not_an_address() from None
        self._parameters: dict[str, Any] = {**_DEFAULTS, **found}
        self._password = str(found.get("password") or "")

    @property
    def place(self) -> str:
        """Where the server is, who signs in, and to which database, as far as the address says."""
        user, host, port, name = (self._parameters.get(one) for one in ("user", "host", "port", "dbname"))
        server = f"{host or 'a local socket'}{f':{port}' if port else ''}"
        return f"{server}{f', database {name}' if name else ''}{f', as {user}' if user else ''}"

    def parameters(self, settings: dict[str, str]) -> dict[str, Any]:
        """Return what the driver connects with; every session then runs with these settings of the server's."""
        options = " ".join(f"-c {name}={value}" for name, value in settings.items())
        # Last wins: what the address itself asks for may not move the room to another schema.
        return {**self._parameters, "options": f"{self._parameters.get('options') or ''} {options}".strip()}

    def without_password(self, said: str) -> str:
        """Return what a driver or server said, fit to be shown."""
        return said.replace(self._password, "***") if self._password else said


def _is_unmistakable(url: str) -> bool:
    """Say whether all parsers read the same password in it; else one may take part of it for the host, and show it."""
    before, at, after = url.partition("://")[2].partition("@")
    return not at or not (set(before) & set("/?#") or "@" in after.partition("?")[0])


def address_error(what: str, mend: str) -> ConfigError:
    """Say what is wrong with the variable that holds the address, and how to mend it."""
    return ConfigError([Problem(DATABASE_VARIABLE, "", what, mend)])


def _not_an_address() -> ConfigError:
    return address_error(
        "is not the address of a Postgres database",
        "Write postgresql://user:password@host:port/database, with any of @ : / ? # % in the password "
        "percent-encoded (@ is %40).",
    )
