"""Find documents in the full-text index by BM25; a word in a path or a tag counts four times."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import starmap
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, bindparam, column, select, table, text

from brasstag.store.database.index_damage import of_the_index
from brasstag.store.database.schema import documents
from brasstag.store.database.statements import Prepared
from brasstag.store.documents.rows import COLUMNS, DocumentRow, document_of, document_row
from brasstag.store.documents.select import Selection, narrowed
from brasstag.store.fulltext.index import shown_body
from brasstag.store.fulltext.postgres_bm25 import best_on_postgres
from brasstag.store.fulltext.query import Sought, fts5_match, postgres_match

_ANY = Selection()
_MATCH = "fulltext MATCH :sought AND rank MATCH 'bm25(4.0, 4.0, 1.0)'"
_fts5 = table("fulltext", column("rowid"), column("rank"))
# No join, so that only the rows to be shown are read; whether they are wanted is checked then.
_best_of_all = Prepared(
    text(f"SELECT rowid, rank FROM fulltext WHERE {_MATCH} ORDER BY rank, rowid LIMIT :most")  # noqa: S608
)
_some_pending = Prepared(text("SELECT 1 FROM documents WHERE pending <> '' AND state <> 'absent' LIMIT 1"))
_row = Prepared(
    text(
        f"SELECT {', '.join(COLUMNS)} FROM documents WHERE id = :id AND pending = '' AND state <> 'absent'"  # noqa: S608
    )
)
_BODIES = {
    "sqlite": Prepared(text("SELECT body FROM fulltext WHERE rowid = :id")),
    "postgresql": Prepared(text("SELECT body FROM fulltext WHERE id = :id")),
}


class Ranked(NamedTuple):
    """A document and how well it matches; a higher score is better."""

    id: int
    score: float


def best(view: Connection, sought: Sought, wanted: Selection, limit: int) -> list[Ranked]:
    """Return the best matches, best first; ``rows_wanted`` says which of them can be shown."""
    with of_the_index():
        if view.dialect.name == "postgresql":
            up_to_date = _up_to_date(wanted)
            scored = best_on_postgres(view, sought, up_to_date, limit, are_all_wanted=wanted == _ANY)
            return list(starmap(Ranked, scored))
        asked = {"sought": fts5_match(sought), "most": limit}
        found: Iterable[Any] = (
            _best_of_all.rows(view, **asked) if wanted == _ANY else view.execute(_best_wanted(wanted), asked)
        )
        # The best rank of FTS5 is the lowest.
        return [Ranked(number, -rank) for number, rank in found]


def matching(view: Connection, sought: Sought, wanted: Selection) -> Iterator[DocumentRow]:
    """Yield every match that can be shown, the newest first, whatever else the index holds."""
    found: Select[Any] = select(column("id")).select_from(table("fulltext")).where(postgres_match(sought))
    if view.dialect.name == "sqlite":
        found = select(_fts5.c.rowid).where(
            text("fulltext MATCH :sought").bindparams(sought=fts5_match(sought))
        )
    query = _up_to_date(wanted).where(documents.c.id.in_(found.correlate(None)))
    with of_the_index():
        for row in view.execute(query.order_by(documents.c.updated_at.desc(), documents.c.id)):
            yield document_row(row)


def rows_wanted(view: Connection, ids: Sequence[int], wanted: Selection) -> dict[int, DocumentRow]:
    """Return those of these documents that are wanted and whose index is up to date."""
    if wanted == _ANY and view.dialect.name == "sqlite":
        # This is the usual case. On SQLite, one query for each row costs less than one complex statement.
        rows = (one for number in ids for one in _row.rows(view, id=number))
        return {row[0]: document_of(row) for row in rows}
    found = view.execute(_up_to_date(wanted).where(documents.c.id.in_(ids)))
    return {row.id: document_row(row) for row in found}


def pending_of(view: Connection, wanted: Selection) -> Iterator[DocumentRow]:
    """Yield those wanted documents that cannot be found yet, as their index still needs something."""
    if _some_pending.rows(view):
        # Written exactly like this, as the database then uses its index of pending rows.
        query = narrowed(wanted).where(text("documents.pending <> ''"))
        yield from map(document_row, view.execute(query))


def body_of(view: Connection, number: int) -> str:
    """Return the text a document is indexed with; empty where it has none."""
    with of_the_index():
        found = _BODIES[view.dialect.name].rows(view, id=number)
    return shown_body(found[0][0]) if found else ""


def _up_to_date(wanted: Selection) -> Select[Any]:
    return narrowed(wanted).where(documents.c.pending == "")


def _best_wanted(wanted: Selection) -> Select[Any]:
    return (
        _up_to_date(wanted)
        .with_only_columns(_fts5.c.rowid, _fts5.c.rank, maintain_column_froms=False)
        .select_from(_fts5.join(documents, documents.c.id == _fts5.c.rowid))
        .where(text(_MATCH))
        .order_by(_fts5.c.rank, _fts5.c.rowid)
        .limit(bindparam("most"))
    )
