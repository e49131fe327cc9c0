"""Compare the types of documents with their contents, and with what their writers named."""

from collections.abc import Iterator

from brasstag.documents.formats.kinds import LINK
from brasstag.documents.formats.text import BEGINNING
from brasstag.documents.scan.intake import described
from brasstag.store.contents.blobs import Blobs
from brasstag.store.contents.small import LARGEST
from brasstag.store.database.base import View
from brasstag.store.documents.rows import DocumentRow, all_rows
from brasstag.store.documents.said_types import was_said
from brasstag.words.errors import StoreError
from brasstag.words.previews import ABSENT, digest_in, is_link


def wrong_types(view: View, blobs: Blobs) -> Iterator[tuple[str, str]]:
    """Yield documents whose type is neither that of their content nor one that a call named; what is gone has no content."""
    for row in all_rows(view):
        found = "" if row.state == ABSENT else _found(row, blobs)
        if found in ("", row.media_type) or was_said(view, row.media_type, row.path, row.version):
            continue
        yield row.path, f"its row calls it {row.media_type}, its content is {found}"


def _found(row: DocumentRow, blobs: Blobs) -> str:
    """Return the type of what a document holds; nothing where that is not kept."""
    digest = digest_in(row.state)
    if digest is None or is_link(row.state):
        return LINK
    try:
        with blobs.open(digest) as file:
            return described(row.path, file.read(BEGINNING), is_whole=row.size <= LARGEST)[0]
    except StoreError:
        return ""
