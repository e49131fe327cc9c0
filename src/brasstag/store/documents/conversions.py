"""Conversions: what was found out about contents, kept by digest."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select

from brasstag.store.database.base import Transaction
from brasstag.store.database.schema import conversions
from brasstag.store.database.statements import Prepared, in_parts
from brasstag.words.errors import Code

_COLUMNS = tuple(column.name for column in conversions.columns)
_get = Prepared(
    select(*conversions.columns).where(
        conversions.c.digest == bindparam("of"), conversions.c.media_type == bindparam("as_type")
    )
)
_insert = Prepared(insert(conversions).values({name: bindparam(name) for name in _COLUMNS}))
_delete = Prepared(
    delete(conversions).where(
        conversions.c.digest == bindparam("of"), conversions.c.media_type == bindparam("as_type")
    )
)


@dataclass(frozen=True, slots=True)
class Conversion:
    """What is known of one content, read as one type."""

    digest: str
    media_type: str
    converter: str = ""
    """The converter that tried to make blocks of it; what another one made is not used. Empty where none has tried."""
    blocks: str = ""
    """The digest of the blocks, where there are any."""
    code: str = ""
    reason: str = ""
    """Why there are none."""
    tokens: int | None = None
    tokenizer: str = ""
    summary: str = ""
    summary_by: str = ""

    @property
    def failure(self) -> tuple[Code, str] | None:
        """Why it could not be converted, if that was so."""
        return (Code(self.code), self.reason) if self.code else None


def conversion_of(connection: Connection, digest: str, media_type: str) -> Conversion:
    """Return what is known of a content; an empty one where nothing is."""
    found = _get.rows(connection, of=digest, as_type=media_type)
    return _conversion(found[0]) if found else Conversion(digest, media_type)


def conversions_of(connection: Connection, digests: Sequence[str]) -> dict[tuple[str, str], Conversion]:
    """Return what is known of many contents, by digest and type."""
    found: dict[tuple[str, str], Conversion] = {}
    for some in in_parts(digests):
        for row in connection.execute(select(*conversions.columns).where(conversions.c.digest.in_(some))):
            known = _conversion(row)
            found[known.digest, known.media_type] = known
    return found


def learn(transaction: Transaction, known: Conversion, **more: Any) -> Conversion:
    """Write down what was found out about a content beside what is known; return both."""
    found = transaction.run(_get, of=known.digest, as_type=known.media_type).fetchone()
    learned = replace(_conversion(found) if found else known, **more)
    transaction.run(_delete, of=known.digest, as_type=known.media_type)
    transaction.run(_insert, **{name: getattr(learned, name) for name in _COLUMNS})
    return learned


def kept_blocks(connection: Connection, named: Iterable[str]) -> frozenset[str]:
    """Return the digests of the blocks of contents that are still named."""
    wanted = frozenset(named)
    query = select(conversions.c.digest, conversions.c.blocks).where(conversions.c.blocks != "")
    return frozenset(blocks for digest, blocks in connection.execute(query) if digest in wanted)


def _conversion(row: Any) -> Conversion:
    return Conversion(**dict(zip(_COLUMNS, row, strict=True)))
