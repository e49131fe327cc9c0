import errno
import os
from pathlib import Path

import pytest

from brasstag.store.contents.blobs import Blobs
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


def test_a_batch_is_kept_whole_or_not_at_all(blobs: Blobs, tmp_path: Path) -> None:
    digests = []

    def take_in(count: int) -> None:
        with blobs.batch() as batch:
            for number in [*range(count), 0]:
                (tmp_path / "file").write_text(f"{number}")
                with (tmp_path / "file").open("rb") as stream:
                    digests.append(batch.put_from(stream.fileno()))
                assert not blobs.has(digests[-1])
            if count < 40:
                raise InterruptedError

    with pytest.raises(InterruptedError):
        take_in(3)
    assert not any(blobs.has(digest) for digest in digests)
    take_in(40)
    assert {blobs.get(digest).decode() for digest in digests} == {f"{number}" for number in range(40)}
    assert list((tmp_path / "blobs" / "incoming").iterdir()) == []


def test_bytes_are_on_disk_before_they_have_their_name(
    blobs: Blobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    (tmp_path / "file").write_text("text")
    monkeypatch.setattr(os, "fsync", full)
    with (tmp_path / "file").open("rb") as stream, pytest.raises(OSError, match="Input/output"):
        blobs.put_from(stream.fileno())
    with pytest.raises(OSError, match="Input/output"):
        blobs.put(b"text")
    assert not blobs.has(sha256(b"text"))
