"""Compare contents with their names, and what was found out about them with its signature."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, select

from brasstag.store.contents.blobs import Blobs
from brasstag.store.database.schema import contents, versions
from brasstag.store.documents.conversions import changed_conversions
from brasstag.store.maintenance.fold_versions import Difference
from brasstag.store.timeline.seals import Key
from brasstag.words.canonical import sha256
from brasstag.words.previews import digest_in


@dataclass(slots=True)
class VerifiedContents:
    """Goes through the contents of a room; with ``reads_files``, through every byte of them."""

    blobs: Blobs | None
    reads_files: bool = False
    missing: int = 0
    """How many contents that versions name are not kept; known once they were compared."""

    def differences(self, connection: Connection, keys: Mapping[str, Key]) -> Iterator[Difference]:
        """Yield which contents are not what they are called."""
        small = set[str]()
        rows = connection.execution_options(yield_per=200).execute(select(contents.c.digest, contents.c.data))
        for digest, data in rows:
            small.add(digest)
            # SQLite keeps a text in a column of bytes, if one is written there.
            if isinstance(data, str) or sha256(bytes(data)) != digest:
                yield _named(digest), "its bytes were changed; it is not read any more"
        for known in changed_conversions(connection, keys):
            yield (
                _named(known.digest),
                f"what is known of it as {known.media_type} was changed; it is found out again before it is shown",
            )
        if self.blobs is not None:
            yield from self._files(connection, self.blobs, small)

    def _files(self, connection: Connection, blobs: Blobs, small: set[str]) -> Iterator[Difference]:
        query = select(versions.c.state, versions.c.size).distinct().order_by(versions.c.state)
        for state, size in connection.execute(query):
            digest = digest_in(state)
            if digest is None or digest in small:
                continue
            held = blobs.size(digest)
            if held is None:
                self.missing += 1
            elif held != size:
                yield _named(digest), f"its file has {held} bytes, not the {size} of its version"
        if self.reads_files:
            for digest in blobs.altered():
                yield _named(digest), "the bytes of its file were changed; it is not read any more"


def _named(digest: str) -> str:
    return f"content {digest[:12]}"
