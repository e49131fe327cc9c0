"""Seals: the room-wide chain of task heads, signed with a key outside the project.

A task's own chain shows every edit inside it. Its signed head shows that entries were added only with the key. Neither
shows that the tail of the chain, or all of it, is gone. So heads join this chain when a task opens, asks, ends, and
every few dozen entries. A signature binds each link to a key that agents and the project's files never hold. A witness
beside the key remembers the last link, so that a shortened chain shows too.
"""

import hashlib
import hmac
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock
from sqlalchemy import Connection, bindparam, insert, select

from brasstag.store.database.base import Transaction
from brasstag.store.database.locks import Lock
from brasstag.store.database.schema import checkpoints
from brasstag.store.database.statements import Prepared
from brasstag.words.errors import StoreError
from brasstag.words.ids import new_id

GENESIS = "0" * 64

_last = Prepared(select(checkpoints.c.seq, checkpoints.c.hash).order_by(checkpoints.c.seq.desc()).limit(1))
_link = Prepared(select(checkpoints.c.hash).where(checkpoints.c.seq == bindparam("at")))
_insert = Prepared(
    insert(checkpoints).values({column.name: bindparam(column.name) for column in checkpoints.columns})
)


@dataclass(frozen=True, slots=True)
class Witness:
    """The newest link this user's machine has seen."""

    seq: int
    hash: str


@dataclass(frozen=True, slots=True)
class Key:
    """What a room's seals are signed with."""

    id: str
    secret: bytes

    def sign(self, words: str) -> str:
        """Return the signature of a link's hash, or of a task's head."""
        return hmac.digest(self.secret, words.encode(), "sha256").hex()

    def derived(self, purpose: str) -> bytes:
        """Return a key for something else than signatures."""
        return hmac.digest(self.secret, f"derived\n{purpose}".encode(), "sha256")

    def signed(self, words: str, signature: str) -> bool:
        """Say whether a signature is ours."""
        return hmac.compare_digest(self.sign(words), signature)


def link_hash(previous: str, seq: int, task_id: str, task_seq: int, head: str, at: str, key_id: str) -> str:
    """Return the hash of one link, over everything it says."""
    said = "\n".join((previous, str(seq), task_id, str(task_seq), head, at, key_id))
    return hashlib.sha256(said.encode()).hexdigest()


def head_words(task_id: str, next_seq: int, head: str) -> str:
    """Return what is signed when a task's head moves: where its chain stands."""
    return "\n".join((task_id, str(next_seq), head))


def head_signature(key: Key, task_id: str, next_seq: int, head: str) -> str:
    """Return the signature of a task's head, with the name of the key that made it."""
    return f"{key.id}:{key.sign(head_words(task_id, next_seq, head))}"


def is_signed(key: Key, task_id: str, next_seq: int, head: str, signature: str) -> bool:
    """Say whether a task's head is signed with this key."""
    key_id, _, signed = signature.partition(":")
    return key_id == key.id and key.signed(head_words(task_id, next_seq, head), signed)


class Sealer:
    """Adds links to the chain of one room, and keeps its witness."""

    def __init__(self, key: Key, witness_file: Path | None) -> None:
        self.key = key
        self._witness_file = witness_file

    def seal(self, transaction: Transaction, task_id: str, task_seq: int, head: str, at: str) -> None:
        """Put a task's head on the room's chain, in the transaction that moved it."""
        transaction.lock(Lock.SEALS)
        if not self.knows_chain(lambda at: transaction.run(_link, at=at).fetchone()):
            raise StoreError(
                "the seals here are not those this machine remembers: the state was put back or replaced.",
                hint="`brasstag timeline verify` says what does not fit",
            )
        last = transaction.run(_last).fetchone()
        seq, previous = (last[0] + 1, last[1]) if last else (0, GENESIS)
        link = link_hash(previous, seq, task_id, task_seq, head, at, self.key.id)
        transaction.run(
            _insert,
            seq=seq,
            task_id=task_id,
            task_seq=task_seq,
            head=head,
            at=at,
            hash=link,
            key_id=self.key.id,
            signature=self.key.sign(link),
        )
        file = self._witness_file
        if file is not None:
            transaction.after_commit.append(lambda: self._remember(file, Witness(seq, link)))

    def knows_chain(self, link_at: Callable[[int], Any]) -> bool:
        """Say whether the chain holds the link the witness remembers; ``link_at`` returns a row with its hash."""
        witness = self.witness()
        if witness is None:
            return True
        row = link_at(witness.seq)
        return row is not None and bool(row[0] == witness.hash)

    def accept(self, newest: Witness | None) -> None:
        """Replace what the witness remembers by this link: a person has accepted the state as it is."""
        if self._witness_file is not None:
            self._witness_file.unlink(missing_ok=True)
            if newest is not None:
                self._remember(self._witness_file, newest)

    def witness(self) -> Witness | None:
        """Return the newest link this machine remembers, or None when it remembers none."""
        if self._witness_file is None or not self._witness_file.exists():
            return None
        try:
            stored = json.loads(self._witness_file.read_text())
            return Witness(int(stored["seq"]), str(stored["hash"]))
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(f"the witness file is unreadable: {error}") from error

    def _remember(self, file: Path, newest: Witness) -> None:
        # Two processes may arrive in either order; the witness only ever moves forward.
        with FileLock(f"{file}.lock"):
            known = self.witness()
            if known is not None and known.seq >= newest.seq:
                return
            temporary = file.with_suffix(".tmp")
            temporary.write_text(json.dumps({"seq": newest.seq, "hash": newest.hash}))
            temporary.replace(file)


def load_or_create_key(folder: Path) -> Key:
    """Return the key kept in ``folder``, making one, readable only by its owner, the first time."""
    file = folder / "seal.key"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with FileLock(f"{file}.lock"):
        if not file.exists():
            temporary = file.with_suffix(".tmp")
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w") as stream:
                stream.write(f"{new_id('key')} {os.urandom(32).hex()}\n")
                stream.flush()
                os.fsync(stream.fileno())
            temporary.replace(file)
    key_id, _, secret = file.read_text().strip().partition(" ")
    return Key(key_id, bytes.fromhex(secret))


def ephemeral_key() -> Key:
    """Return a key for a room that lives in memory."""
    return Key(new_id("key"), os.urandom(32))


def link_at(connection: Connection, seq: int) -> Any:
    """Return the row of one link, with its hash, or None where the chain is shorter."""
    return connection.execute(select(checkpoints.c.hash).where(checkpoints.c.seq == seq)).one_or_none()


def sealed_head(connection: Connection, task_id: str) -> tuple[int, str] | None:
    """Return the number and the hash of the newest entry of a task that was sealed."""
    query = select(checkpoints.c.task_seq, checkpoints.c.head).where(checkpoints.c.task_id == task_id)
    row = connection.execute(query.order_by(checkpoints.c.seq.desc()).limit(1)).one_or_none()
    return None if row is None else (row.task_seq, row.head)


def newest_witness(connection: Connection) -> Witness | None:
    """Return what a witness of the chain as it is would remember."""
    query = select(checkpoints.c.seq, checkpoints.c.hash).order_by(checkpoints.c.seq.desc()).limit(1)
    row = connection.execute(query).one_or_none()
    return None if row is None else Witness(row.seq, row.hash)
