"""What became of paths since somebody saw them: read-only questions to the table of versions."""

from collections.abc import Mapping

from sqlalchemy import Connection, func, select

from brasstag.store.parts import in_parts
from brasstag.store.schema import versions


def last_versions_with(connection: Connection, states: Mapping[str, str]) -> dict[str, int]:
    """Return, by path, the number of the last version in which it had this state; nothing where it never had."""
    found: dict[str, int] = {}
    for some in in_parts(states):
        rows = connection.execute(
            select(versions.c.path, versions.c.state, func.max(versions.c.version))
            .where(versions.c.path.in_(some), versions.c.state.in_({states[path] for path in some}))
            .group_by(versions.c.path, versions.c.state)
        )
        found |= {path: version for path, state, version in rows if states[path] == state}
    return found
