"""Errors of the driver and the server, as sentences a person can act on."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from brasstag.store.database.postgres_address import DATABASE_VARIABLE, Address
from brasstag.words.errors import StoreError, StoreLost

_LOST = ("08", "40001", "40P01", "53", "55P03", "57P01", "57P02", "57P03", "57P05", "25P03", "25P04")
"""States, or their beginnings, that pass: the connection, a deadlock, a lock that took too long, no room left."""

_HUNG_UP = ("08", "57P01", "57P02", "57P03", "57P05")
"""Those of a connection that was lost, or that the server ended: it shuts down, or it waited too long for a message."""

_MEND = {
    "28": f"Check the user and the password in {DATABASE_VARIABLE}.",
    "3D000": f"Create that database, or name another one in {DATABASE_VARIABLE}.",
    "42501": "Give that user the right to create schemas in the database: GRANT CREATE ON DATABASE … TO ….",
    "53100": "Free some disk space on the server and try again; nothing was half written.",
    "42P01": "The room's tables are gone from this database; restore them from a backup.",
}


@contextmanager
def readable_errors(address: Address) -> Iterator[None]:
    """Turn what the driver raises into StoreLost or StoreError; a broken constraint passes as it is."""
    try:
        yield
    except (IntegrityError, psycopg.IntegrityError):
        raise
    except (DBAPIError, psycopg.Error) as error:
        raise _as_store_error(address, getattr(error, "orig", error)) from error
    except PoolTimeout as error:
        raise StoreLost(
            "the room's database cannot be used: every connection is in use. Try again"
        ) from error


def is_of_a_dead_connection(error: BaseException) -> bool:
    """Say whether an error only tells that a connection lives no longer; one without a state never came from the server."""
    if not isinstance(error, psycopg.OperationalError):
        return False
    return error.sqlstate is None or error.sqlstate.startswith(_HUNG_UP)


def _as_store_error(address: Address, error: Any) -> StoreError:
    state = getattr(error, "sqlstate", None)
    said = address.without_password(" ".join(str(error).split()))
    if state is None:
        # Without a state it never came from the server: no connection, or none any more.
        if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
            return _lost(f"{said}. Check that the server runs, and the address in {DATABASE_VARIABLE}.")
        return StoreError(f"the room's database cannot take this: {said}")
    mend = next((what for start, what in _MEND.items() if state.startswith(start)), "")
    if state.startswith(_LOST):
        return _lost(f"{said}. {mend or 'Try again.'}")
    return StoreError(f"the room's database cannot be used: {said}. {mend}".rstrip())


def _lost(what: str) -> StoreLost:
    return StoreLost(f"the room's database cannot be reached: {what}")
