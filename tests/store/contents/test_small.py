"""Small contents live in the database; whoever asks for bytes does not notice."""

from pathlib import Path

import pytest

from brasstag.store.contents.blobs import Blobs
from brasstag.store.contents.small import Contents, add_contents
from brasstag.store.database.base import Database
from brasstag.words.canonical import sha256
from brasstag.words.errors import StoreError
from brasstag.words.times import stamp, utc_now

SAID = b"once upon a time \x00\xff"


@pytest.fixture
def blobs(database: Database, tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "blobs", Contents(database))


def keep(database: Database, *contents: bytes) -> list[str]:
    with database.write() as transaction:
        add_contents(transaction, {sha256(data): data for data in contents}, stamp(utc_now()))
    return [sha256(data) for data in contents]


def test_bytes_kept_in_the_database_are_found_like_files(database: Database, blobs: Blobs) -> None:
    (digest,) = keep(database, SAID)
    assert blobs.has(digest)
    assert blobs.get(digest) == SAID
    assert blobs.file(digest) is None
    with blobs.open(digest) as stream:
        assert stream.read() == SAID


def test_the_same_bytes_may_be_kept_twice(database: Database, blobs: Blobs) -> None:
    many = [b"%d" % number for number in range(1200)]
    keep(database, *many)
    keep(database, *many, SAID)
    assert [blobs.get(sha256(data)) for data in (*many, SAID)] == [*many, SAID]


def test_what_was_altered_in_the_database_is_not_given_out(database: Database, blobs: Blobs) -> None:
    with database.write() as transaction:
        add_contents(transaction, {sha256(SAID): b"something else"}, stamp(utc_now()))
    with pytest.raises(StoreError, match="altered"):
        blobs.get(sha256(SAID))


def test_what_is_dropped_is_gone(database: Database, blobs: Blobs) -> None:
    (digest,) = keep(database, SAID)
    assert blobs.drop(digest)
    assert not blobs.drop(digest)
    assert not blobs.has(digest)
    with pytest.raises(StoreError, match="gone"):
        blobs.get(digest)


def test_collecting_removes_what_nobody_names_and_counts_it(database: Database, blobs: Blobs) -> None:
    named, unnamed = keep(database, b"named", b"unnamed")
    assert blobs.collect(frozenset({named}), grace_seconds=3600) == (0, 0)
    assert blobs.collect(frozenset({named}), grace_seconds=-1) == (1, len(b"unnamed"))
    assert blobs.has(named)
    assert not blobs.has(unnamed)
