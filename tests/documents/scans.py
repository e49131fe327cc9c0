"""What tests of scans share: a scanner over a room, and the law that its books obey."""

import os
import stat
from itertools import pairwise
from pathlib import Path
from typing import Any

from sqlalchemy import select, text

from brasstag import Room
from brasstag.documents.formats.text import decoded
from brasstag.documents.scan.scanner import Scanner
from brasstag.store.contents.versions import OUTSIDE, Version
from brasstag.store.database.schema import documents, versions
from brasstag.store.documents.rows import DocumentRow, document_row
from brasstag.store.events.sequence import START, events_since
from brasstag.store.fulltext.index import LONGEST_BODY, shown_body
from brasstag.words.canonical import sha256
from brasstag.words.previews import ABSENT, DIRECTORY, digest_in, file_state, link_state


def scanner_of(room: Room, **options: Any) -> Scanner:
    """Return a scanner of a room's workspace; the room itself looks at nothing any more, so that tests say when."""
    assert room._runtime.library is not None
    room._runtime.library.refresher.close()
    return Scanner(room._runtime.workspace, room.store, **options)


def all_rows(room: Room) -> dict[str, DocumentRow]:
    """Return every row, by its path."""
    with room.store.database.read() as view:
        return {row.path: document_row(row) for row in view.execute(select(documents))}


def live_rows(room: Room) -> dict[str, DocumentRow]:
    """Return the rows of what is there."""
    return {path: row for path, row in all_rows(room).items() if row.is_there}


def all_versions(room: Room) -> dict[str, list[Version]]:
    """Return the versions of every path, oldest first."""
    found: dict[str, list[Version]] = {}
    with room.store.database.read() as view:
        for row in view.execute(select(versions).order_by(versions.c.path, versions.c.version)):
            found.setdefault(row.path, []).append(Version(**row._mapping))
    return found


def bodies(room: Room) -> dict[int, str]:
    """Return what the index holds, by the ids of documents."""
    with room.store.database.read() as view:
        number = "rowid" if view.dialect.name == "sqlite" else "id"
        found = view.execute(text(f"SELECT {number}, body FROM fulltext"))
        return {row[0]: shown_body(row[1]) for row in found}


def on_disk(workspace: Path) -> dict[str, tuple[str, bytes]]:
    """Return state and bytes of every file and link of a workspace."""
    found: dict[str, tuple[str, bytes]] = {}
    for place, names, files in os.walk(workspace):
        for name in [*names, *files]:
            path = Path(place, name)
            mode = path.lstat().st_mode
            data = os.readlink(os.fsencode(path)) if stat.S_ISLNK(mode) else b""
            if stat.S_ISREG(mode):
                data = path.read_bytes()
            if stat.S_ISREG(mode) or stat.S_ISLNK(mode):
                state = (file_state if stat.S_ISREG(mode) else link_state)(sha256(data))
                found[str(path.relative_to(workspace))] = (state, data)
    return found


def require_law(room: Room) -> None:
    """Hold the books against the disk: history replays to what is there, and everything derived agrees with it."""
    disk = on_disk(room.workspace)
    told = all_versions(room)
    # What a tool moves before anybody has looked at it is seen, but not kept until a scan finds it.
    unread = {one.state for states in told.values() for one in states if one.source and one.call_id}
    for path, states in told.items():
        assert [version.version for version in states] == list(range(1, len(states) + 1)), path
        for earlier, later in pairwise(states):
            assert later.by != OUTSIDE or later.state != earlier.state, (path, states)
        for version in states:
            if (digest := digest_in(version.state)) and version.state not in unread:
                assert sha256(room.store.blobs.get(digest)) == digest
        newest = states[-1].state
        if newest == DIRECTORY:
            assert (room.workspace / path).is_dir(), path
        else:
            assert newest == disk.get(path, (ABSENT, b""))[0], (path, states)
    for path, (state, data) in disk.items():
        assert room.store.blobs.get(digest_in(told[path][-1].state) or "") == data, (path, state)
    require_rows(room, disk, told)
    require_events(room)


def require_events(room: Room) -> None:
    """Hold what listeners were told, taken one after the other, against the rows."""
    heard: dict[str, int] = {}
    with room.store.database.read() as view:
        changes = [
            change
            for event in events_since(view, START, 10_000)
            for change in event.payload.get("changes", ())
        ]
    for change in changes:
        if change["change"] == "removed":
            del heard[change["path"]]
        elif "version" in change:
            heard.pop(change.get("source", ""), None)
            heard[change["path"]] = change["version"]
    assert heard == {path: row.version for path, row in live_rows(room).items()}


def require_rows(room: Room, disk: dict[str, tuple[str, bytes]], told: dict[str, list[Version]]) -> None:
    """Hold rows and index against disk and versions."""
    rows = live_rows(room)
    assert sorted(rows) == sorted(disk)
    index = bodies(room)
    assert index.keys() == {row.id for row in rows.values()}
    for path, row in rows.items():
        newest = told[path][-1]
        assert (row.version, row.state, row.updated_by, row.updated_task) == (
            newest.version,
            newest.state,
            newest.by,
            newest.task_id,
        )
        if row.media_type == "text/plain":
            text = decoded(disk[path][1])
            assert index[row.id] == (text and text[:LONGEST_BODY]), path
