"""What is written about documents outside of calls, each in one commit."""

from dataclasses import replace
from pathlib import Path

import pytest

from brasstag.store.contents.blobs import Blobs
from brasstag.store.contents.small import LARGEST, Contents
from brasstag.store.documents import writer as module
from brasstag.store.documents.conversions import Conversion, conversion_of
from brasstag.store.documents.rows import DocumentRow, Pending, row_at
from brasstag.store.documents.writer import FoundText
from brasstag.store.fulltext.index import Indexed
from brasstag.store.store import Store
from tests.store.documents.test_rows import scan_all, write


@pytest.fixture
def row(store: Store, tmp_path: Path) -> DocumentRow:
    folder = tmp_path / "workspace"
    folder.mkdir()
    write(folder, ["a.md"])
    scan_all(store, folder)
    return read_row(store)


def read_row(store: Store) -> DocumentRow:
    row = store.read(lambda view: row_at(view, "a.md"))
    assert row is not None
    return row


def test_a_text_is_indexed_only_where_its_document_is_as_it_was(store: Store, row: DocumentRow) -> None:
    changed = replace(row, state=f"{row.state}0")
    assert store.documents.index_texts([FoundText(changed, "old", "old", Pending.NOTHING)]) == frozenset()
    assert read_row(store) == row
    assert store.documents.index_texts([FoundText(row, "new", "cut", Pending.NOTHING)]) == {row.id}
    assert read_row(store).note == "cut"


def test_a_text_that_still_needs_something_is_not_put_into_the_index(
    store: Store, row: DocumentRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    put: list[Indexed] = []

    def keep(_transaction: object, texts: list[Indexed]) -> dict[int, str]:
        put.extend(texts)
        return {}

    monkeypatch.setattr(module, "put_texts", keep)
    store.documents.index_texts([FoundText(row, "", "later", Pending.SLOW)])
    assert put == []
    assert (read_row(store).pending, read_row(store).note) == (Pending.SLOW, "later")


@pytest.mark.parametrize("size", [LARGEST, LARGEST + 1])
def test_blocks_are_kept_whatever_their_size(store: Store, size: int) -> None:
    blocks = b"b" * size
    store.documents.learn(Conversion("d" * 64, "text/x"), tokens=7, tokenizer="t", summary="s")
    store.documents.keep_blocks("d" * 64, "text/x", "c1", blocks)
    known = store.read(lambda view: conversion_of(view, store.sealer.key, "d" * 64, "text/x"))
    assert Blobs(store.blobs.root, Contents(store.database)).get(known.blocks) == blocks
    assert (known.converter, known.tokens, known.tokenizer, known.summary) == ("c1", None, "", "s")
