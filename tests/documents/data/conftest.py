"""The programs of data are called here without a sandbox, so each test gets a place of its own for their files."""

from pathlib import Path

import pytest

from brasstag.documents.data import tables


@pytest.fixture(autouse=True)
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_INLINE", tmp_path / "documents")
