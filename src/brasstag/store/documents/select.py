"""Select documents by what is known of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from sqlalchemy import Connection, Select, or_, select

from brasstag.store.database.schema import documents
from brasstag.store.documents.rows import DocumentRow, document_row
from brasstag.words.canonical import stored_json
from brasstag.words.previews import ABSENT

Order = Literal["path", "newest", "oldest", "largest", "smallest"]
Shows = Callable[[str], bool]
"""Says whether a path is among those that are wanted."""

_ORDERS: dict[Order, tuple[Any, ...]] = {
    "path": (documents.c.path,),
    "newest": (documents.c.updated_at.desc(), documents.c.path),
    "oldest": (documents.c.updated_at, documents.c.path),
    "largest": (documents.c.size.desc(), documents.c.path),
    "smallest": (documents.c.size, documents.c.path),
}

_TEXTS = ("media_type", "by", "task", "since", "until", "prefix")
"""What is asked for as it is written in the rows."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which documents are asked for; an empty field sets no condition."""

    media_type: str = ""
    """One such as ``text/csv``, or all of a family: ``image/``, or ``image/*``."""
    tags: tuple[str, ...] = ()
    """All of these."""
    by: str = ""
    """Who created it, or made its newest version: a role, a task, or ``outside``."""
    task: str = ""
    """The task that created it, or made its newest version."""
    since: str = ""
    """Changed at this moment or later, as the store writes it."""
    until: str = ""
    """Changed before this moment."""
    prefix: str = ""
    """What its path begins with."""

    @property
    def family(self) -> str | None:
        """What every media type that is wanted begins with, where a family of them is wanted."""
        begins, star, _ = self.media_type.partition("*")
        return begins if star or begins.endswith("/") else None


def list_documents(
    view: Connection,
    wanted: Selection,
    *,
    order: Order = "path",
    limit: int | None = None,
    shows: Shows | None = None,
) -> list[DocumentRow]:
    """Return the documents that are wanted, in order; ``shows`` is asked of the path of each."""
    found: list[DocumentRow] = []
    for row in _rows(view, narrowed(wanted).order_by(*_ORDERS[order])):
        if limit is not None and len(found) >= limit:
            break
        if set(wanted.tags) <= set(row.tags) and (shows is None or shows(row.path)):
            found.append(row)
    return found


def narrowed(wanted: Selection) -> Select[Any]:
    """Return the query for documents that may be wanted; the reader has to check tags and prefixes again."""
    column = documents.c
    texts: dict[str, Any] = {name: _storable(getattr(wanted, name)) for name in _TEXTS}
    wanted = replace(wanted, **texts)
    query = select(documents).where(column.state != ABSENT)
    if wanted.family is not None:
        query = query.where(column.media_type.startswith(wanted.family, autoescape=True))
    elif wanted.media_type:
        query = query.where(column.media_type == wanted.media_type)
    for name in wanted.tags:
        query = query.where(column.tags.contains(stored_json(name), autoescape=True))
    if wanted.by:
        who = (column.created_by, column.created_task, column.updated_by, column.updated_task)
        query = query.where(or_(*(one == wanted.by for one in who)))
    if wanted.task:
        query = query.where((column.created_task == wanted.task) | (column.updated_task == wanted.task))
    for moment, holds in ((wanted.since, column.updated_at.__ge__), (wanted.until, column.updated_at.__lt__)):
        if moment:
            query = query.where(holds(moment))
    if wanted.prefix:
        query = query.where(column.path.startswith(wanted.prefix, autoescape=True))
    return query


def _storable(text: str) -> str:
    """Return a text that every database takes; what none takes is in no row either."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def _rows(view: Connection, query: Select[Any]) -> Iterator[DocumentRow]:
    for row in view.execute(query):
        yield document_row(row)
