import os
from pathlib import Path

import pytest

from brasstag.store.blobs import Blobs
from brasstag.words.canonical import sha256
from brasstag.words.errors import StoreError


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "blobs")


def test_what_is_put_comes_back(blobs: Blobs) -> None:
    digest = blobs.put(b"once upon a time")
    assert digest == sha256(b"once upon a time")
    assert blobs.get(digest) == b"once upon a time"
    assert blobs.put(b"once upon a time") == digest


def test_a_descriptor_is_kept_from_its_start(blobs: Blobs, tmp_path: Path) -> None:
    file = tmp_path / "big"
    file.write_bytes(os.urandom(3 << 20))
    with file.open("rb") as stream:
        stream.seek(100)
        digest = blobs.put_from(stream.fileno())
        assert blobs.put_from(stream.fileno()) == digest
    assert blobs.get(digest) == file.read_bytes()
    assert list((blobs.root / "incoming").iterdir()) == []


def test_an_altered_blob_is_not_given_out(blobs: Blobs) -> None:
    digest = blobs.put(b"true")
    (blobs.root / digest[:2] / digest).write_bytes(b"false")
    with pytest.raises(StoreError, match="altered"):
        blobs.get(digest)


def test_a_missing_blob_says_so(blobs: Blobs) -> None:
    with pytest.raises(StoreError, match="gone"):
        blobs.get("0" * 64)
    with pytest.raises(StoreError, match="gone"):
        blobs.open("0" * 64)


def test_collection_spares_what_is_named_and_what_is_young(blobs: Blobs) -> None:
    named, old, young = blobs.put(b"named"), blobs.put(b"old"), blobs.put(b"young")
    for digest in (named, old):
        os.utime(blobs.root / digest[:2] / digest, (0, 0))
    assert blobs.collect(frozenset({named}), grace_seconds=3600) == (1, 3)
    assert [blobs.has(digest) for digest in (named, old, young)] == [True, False, True]
