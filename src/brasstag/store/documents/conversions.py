"""Conversions: what was found out about contents, kept by digest.

Models are shown it, and no timeline tells it. So each row is signed, and a row without our signature is as good as none.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select

from brasstag.store.database.base import Transaction
from brasstag.store.database.schema import conversions
from brasstag.store.database.statements import Prepared, in_parts
from brasstag.store.timeline.seals import Key
from brasstag.words.canonical import stored_json
from brasstag.words.errors import Code

_get = Prepared(
    select(*conversions.columns).where(
        conversions.c.digest == bindparam("of"), conversions.c.media_type == bindparam("as_type")
    )
)
_insert = Prepared(
    insert(conversions).values({column.name: bindparam(column.name) for column in conversions.columns})
)
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


_COLUMNS = tuple(field.name for field in fields(Conversion))


def conversion_of(connection: Connection, key: Key, digest: str, media_type: str) -> Conversion:
    """Return what is known of a content; an empty one where nothing is."""
    found = _get.rows(connection, of=digest, as_type=media_type)
    return (_ours(found[0], key) if found else None) or Conversion(digest, media_type)


def conversions_of(
    connection: Connection, key: Key, digests: Sequence[str]
) -> dict[tuple[str, str], Conversion]:
    """Return what is known of many contents, by digest and type."""
    found: dict[tuple[str, str], Conversion] = {}
    for some in in_parts(digests):
        for row in connection.execute(select(*conversions.columns).where(conversions.c.digest.in_(some))):
            known = _ours(row, key)
            if known is not None:
                found[known.digest, known.media_type] = known
    return found


def learn(transaction: Transaction, key: Key, known: Conversion, **more: Any) -> Conversion:
    """Write down what was found out about a content beside what is known; return both."""
    found = transaction.run(_get, of=known.digest, as_type=known.media_type).fetchone()
    learned = replace((_ours(found, key) if found else None) or known, **more)
    transaction.run(_delete, of=known.digest, as_type=known.media_type)
    told = {name: getattr(learned, name) for name in _COLUMNS}
    transaction.run(_insert, **told, signature=f"{key.id}:{key.sign(_words(learned))}")
    return learned


def changed_conversions(connection: Connection, keys: Mapping[str, Key]) -> Iterator[Conversion]:
    """Yield the rows that were signed with one of these keys and then changed."""
    for row in connection.execute(select(*conversions.columns).order_by(conversions.c.digest)):
        known, key = _conversion(row), keys.get(row.signature.partition(":")[0])
        if key is not None and _ours(row, key) is None:
            yield known


def kept_blocks(connection: Connection, named: Iterable[str]) -> frozenset[str]:
    """Return the digests of the blocks of contents that are still named."""
    wanted = frozenset(named)
    query = select(conversions.c.digest, conversions.c.blocks).where(conversions.c.blocks != "")
    return frozenset(blocks for digest, blocks in connection.execute(query) if digest in wanted)


def _conversion(row: Any) -> Conversion:
    return Conversion(*row[: len(_COLUMNS)])


def _ours(row: Any, key: Key) -> Conversion | None:
    """Return what a row says; None where it was not written with this key."""
    known = _conversion(row)
    key_id, _, signature = row[-1].partition(":")
    return known if key_id == key.id and key.signed(_words(known), signature) else None


def _words(known: Conversion) -> str:
    """Return what is signed: all of it."""
    return stored_json(["conversion", *astuple(known)])
