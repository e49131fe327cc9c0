"""Media types that callers named for what they wrote: a document keeps one while its content may be called so."""

import json
from collections.abc import Iterable

from sqlalchemy import Connection, select

from brasstag.store.contents.versions import Version, lineage
from brasstag.store.database.schema import calls
from brasstag.store.database.statements import in_parts

_KEY = "media_type"

SaidTypes = dict[tuple[str, str], str]
"""Media types by the call that named them and the path it wrote."""


def types_said_by(view: Connection, found: Iterable[Version]) -> SaidTypes:
    """Return the media types that the calls which made these versions named."""
    names = list(dict.fromkeys(one.call_id for one in found if one.call_id))
    said: SaidTypes = {}
    for some in in_parts(names):
        # Most calls name none, and may have changed thousands of paths.
        query = select(calls.c.id, calls.c.changes).where(
            calls.c.id.in_(some), calls.c.changes.contains(f'"{_KEY}"')
        )
        for call_id, changes in view.execute(query):
            told = ((change["path"], change.get(_KEY)) for change in json.loads(changes))
            said |= {(call_id, path): named for path, named in told if named}
    return said


def was_said(view: Connection, media_type: str, path: str, version: int) -> bool:
    """Say whether the writer of a document named this type, in any of its versions up to one."""
    return media_type in types_said_by(view, lineage(view, path, version)).values()
