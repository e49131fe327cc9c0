"""Annotating: what is said of a document beside its content, written into its row, the index and the outbox at once."""

from collections.abc import Sequence
from typing import Any

from brasstag.store.catalogue import describe as describe_row
from brasstag.store.catalogue import tag as tag_row
from brasstag.store.database import Transaction
from brasstag.store.documents import DocumentRow
from brasstag.store.fulltext import Labels, put_words
from brasstag.store.outbox import announce
from brasstag.words.errors import Code, ToolError


def retag(
    transaction: Transaction, path: str, add: Sequence[str], remove: Sequence[str], at: str, by: str
) -> None:
    """Give a document more tags, and take some away."""
    _told(transaction, tag_row(transaction, path, add, remove), path, _change(path, "tagged", by), at)


def describe(transaction: Transaction, path: str, description: str, at: str, by: str) -> None:
    """Say in words what a document is; an empty text takes that back."""
    # Of what a database takes as text: no NUL, no half of a surrogate pair.
    said = description.encode("utf-8", "replace").decode().replace("\0", " ")
    _told(transaction, describe_row(transaction, path, said), path, _change(path, "described", by), at)


def _told(
    transaction: Transaction, row: DocumentRow | None, path: str, change: dict[str, Any], at: str
) -> None:
    if row is None:
        raise ToolError(
            Code.FILE_NOT_FOUND, f"{path} is no document any more; list_documents names those there are"
        )
    put_words(transaction, [Labels(row.id, row.path, row.words)])
    announce(transaction, "documents", {"changes": [change]}, at)


def _change(path: str, change: str, by: str) -> dict[str, Any]:
    return {"path": path, "change": change, "by": by}
