"""What became of paths since somebody saw them: read-only questions to the table of versions."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from brasstag.store.schema import versions

_ASKED_AT_ONCE = 500
"""How many paths one statement names."""


@dataclass(frozen=True, slots=True)
class Newest:
    """The newest version of a path."""

    path: str
    version: int
    state: str
    by: str
    at: str


def newest_versions(connection: Connection, paths: Collection[str]) -> dict[str, Newest]:
    """Return the newest version of each of these paths that has any."""
    found: dict[str, Newest] = {}
    for some in _shares(list(paths)):
        last = (
            select(versions.c.path, func.max(versions.c.version).label("version"))
            .where(versions.c.path.in_(some))
            .group_by(versions.c.path)
            .subquery()
        )
        rows = connection.execute(
            select(versions.c.path, versions.c.version, versions.c.state, versions.c.by, versions.c.at).join(
                last, (versions.c.path == last.c.path) & (versions.c.version == last.c.version)
            )
        )
        found |= {row.path: Newest(*row) for row in rows}
    return found


def last_versions_with(connection: Connection, states: Mapping[str, str]) -> dict[str, int]:
    """Return, by path, the number of the last version in which it had this state; nothing where it never had."""
    found: dict[str, int] = {}
    for some in _shares(list(states)):
        rows = connection.execute(
            select(versions.c.path, versions.c.state, func.max(versions.c.version))
            .where(versions.c.path.in_(some), versions.c.state.in_({states[path] for path in some}))
            .group_by(versions.c.path, versions.c.state)
        )
        found |= {path: version for path, state, version in rows if states[path] == state}
    return found


def _shares(paths: Sequence[str]) -> list[Sequence[str]]:
    return [paths[start : start + _ASKED_AT_ONCE] for start in range(0, len(paths), _ASKED_AT_ONCE)]
