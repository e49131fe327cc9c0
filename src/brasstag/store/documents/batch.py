"""RowBatch: everything one commit of a scan writes, so that each table is written once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from brasstag.store.contents.small import add_contents
from brasstag.store.contents.versions import Version, insert_versions
from brasstag.store.database.base import Transaction
from brasstag.store.documents.rows import DocumentRow, delete_rows, insert_rows, update_rows
from brasstag.store.fulltext.index import Indexed, drop_texts, put_texts

Told = dict[str, Any]
"""What one commit reports about one path."""

_SOURCE = "source"


@dataclass(slots=True)
class RowBatch:
    """What one commit writes."""

    next_id: int = 1
    versions: list[Version] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)
    inserted: list[DocumentRow] = field(default_factory=list)
    updated: list[DocumentRow] = field(default_factory=list)
    deleted: list[int] = field(default_factory=list)
    new_texts: list[Indexed] = field(default_factory=list)
    texts: list[Indexed] = field(default_factory=list)
    dropped_texts: list[int] = field(default_factory=list)
    changes: list[Told] = field(default_factory=list)

    def new_id(self) -> int:
        """Return the id of a new document."""
        self.next_id += 1
        return self.next_id - 1

    def move(self, row: DocumentRow, replaced: DocumentRow | None) -> None:
        """Give a document another path, in place of what was known of that path."""
        # Taken out and put in again: whatever else moves meanwhile, no two rows have one path at any moment.
        self.deleted.append(row.id)
        self.inserted.append(row)
        if replaced is not None and replaced.id != row.id:
            self.deleted.append(replaced.id)
            self.dropped_texts.append(replaced.id)

    def put(self, row: DocumentRow, text: str, *, is_new: bool) -> None:
        """Index a document."""
        (self.new_texts if is_new else self.texts).append(Indexed(row.id, row.path, row.words, text))

    def write(self, transaction: Transaction, at: str) -> None:
        """Write it all."""
        add_contents(transaction, self.contents, at)
        insert_versions(transaction, self.versions)
        drop_texts(transaction, self.dropped_texts)
        notes = {
            **put_texts(transaction, self.new_texts, are_new=True),
            **put_texts(transaction, self.texts),
        }
        delete_rows(transaction, self.deleted)
        insert_rows(transaction, [_noted(row, notes) for row in self.inserted])
        update_rows(transaction, [_noted(row, notes) for row in self.updated])


def in_order(changes: Sequence[Told]) -> list[Told]:
    """Return changes in an order in which a reader can apply them one by one and end with what is there.

    What leaves a path comes before what arrives there.
    """
    arrivals = [one for one in changes if one["change"] not in ("removed", "moved")]
    return [*(one for one in changes if one["change"] == "removed"), *_moves(changes), *arrivals]


def _moves(changes: Sequence[Told]) -> Iterator[Told]:
    leaving = {one[_SOURCE]: one for one in changes if _SOURCE in one}
    while leaving:
        chain = [leaving.pop(next(iter(leaving)))]
        while (after := leaving.pop(chain[-1]["path"], None)) is not None:
            chain.append(after)
        first, *others = chain
        yield from reversed(others)
        if chain[-1]["path"] == first[_SOURCE]:
            # In a circle no move can come first. All of these paths were found empty earlier, so this one is new to them.
            first = {name: value for name, value in first.items() if name != _SOURCE} | {"change": "added"}
        yield first


def _noted(row: DocumentRow, notes: Mapping[int, str]) -> DocumentRow:
    note = notes.get(row.id)
    return replace(row, note="; ".join(filter(None, (row.note, note)))) if note else row
