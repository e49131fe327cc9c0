"""Annotate a document: its row, the index and the event are written together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from brasstag.store.database.base import Transaction
from brasstag.store.database.locks import Lock
from brasstag.store.documents.rows import DocumentRow, row_at, update_rows
from brasstag.store.events.sequence import announce
from brasstag.store.fulltext.index import Labels, put_words
from brasstag.words.errors import Code, ToolError


def retag(
    transaction: Transaction, path: str, add: Sequence[str], remove: Sequence[str], at: str, by: str
) -> None:
    """Give a document more tags, and take some away."""

    def tagged(row: DocumentRow) -> DocumentRow:
        tags = dict.fromkeys((*row.tags, *add))
        return replace(row, tags=tuple(name for name in tags if name not in remove))

    _reword(transaction, path, tagged, _Notice("tagged", at, by))


def describe(transaction: Transaction, path: str, description: str, at: str, by: str) -> None:
    """Say in words what a document is; an empty text takes that back."""
    said = storable(description)
    _reword(transaction, path, lambda row: replace(row, description=said), _Notice("described", at, by))


def storable(description: str) -> str:
    """Return a description as rows have it, with only what a database takes: no NUL, no half of a surrogate pair."""
    return description.encode("utf-8", "replace").decode().replace("\0", " ")


@dataclass(frozen=True, slots=True)
class _Notice:
    """What listeners are told."""

    change: str
    at: str
    by: str


def _reword(
    transaction: Transaction, path: str, reworded: Callable[[DocumentRow], DocumentRow], told: _Notice
) -> None:
    # A scan writes whole rows, so it must not read a row before this write and write it after.
    transaction.lock(Lock.DOCUMENTS)
    found = row_at(transaction.connection, path)
    if found is None:
        raise ToolError(
            Code.FILE_NOT_FOUND, f"{path} is no document any more; list_documents names those there are"
        )
    row = reworded(found)
    update_rows(transaction, [row])
    put_words(transaction, [Labels(row.id, row.path, row.words)])
    change = {"path": path, "change": told.change, "by": told.by}
    announce(transaction, "documents", told.at, payload={"changes": [change]})
