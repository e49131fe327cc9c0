"""Rows of documents: read page by page, and written by several processes at once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import select

from brasstag.documents.scan.scanner import Scanner
from brasstag.sandbox.workspace.control import ControlFiles
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.store.contents.touched import forget_touched, touch, touched_paths
from brasstag.store.database.schema import documents, versions
from brasstag.store.documents import rows as module
from brasstag.store.documents.rows import known_rows, rows_at
from brasstag.store.documents.select import Selection, list_documents
from brasstag.store.store import Store
from tests.store.conftest import OpenBooks

ODD = ["a", "a-b", "a/b", "a.b", "a0", "Z", "z", "é", "𐐀", "\uffff", "A B", "_", "%"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "workspace").mkdir()
    return tmp_path / "workspace"


def scan_all(store: Store, folder: Path) -> None:
    with Workspace(folder, ControlFiles(folder.parent, folder), store.blobs) as workspace:
        Scanner(workspace, store).scan_all()


def write(folder: Path, paths: list[str], content: str = "") -> None:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content or path)


def test_rows_come_in_the_order_of_code_points_whatever_the_page(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [path for path in ODD if path != "a"]
    write(folder, paths)
    scan_all(store, folder)
    for page in (1, 3, 1000):
        monkeypatch.setattr(module, "PAGE", page)
        assert [known.path for known in known_rows(store.database)] == sorted(paths)
        assert [known.path for known in known_rows(store.database, "a")] == ["a/b"]


def test_more_paths_than_fit_one_statement_are_read(store: Store, folder: Path) -> None:
    paths = [f"{number:04}" for number in range(1100)]
    write(folder, paths)
    scan_all(store, folder)
    with store.database.read() as view:
        assert sorted(rows_at(view, [*paths, "missing"])) == paths


@pytest.mark.parametrize("name", ["media_type", "by", "task", "since", "until", "prefix"])
@pytest.mark.parametrize("asked", ["a\0", "\0", "\ud800"])
def test_what_no_database_takes_as_text_is_asked_for_without_harm(
    store: Store, folder: Path, name: str, asked: str
) -> None:
    write(folder, ["a", "b"])
    scan_all(store, folder)
    wanted = Selection(**{name: asked})  # type: ignore[arg-type]
    found = store.read(lambda view: list_documents(view, wanted))
    # Every moment comes before such a character.
    assert [row.path for row in found] == (["a", "b"] if name == "until" else [])


def test_a_prefix_is_asked_for_as_it_is_written(store: Store, folder: Path) -> None:
    write(folder, ["zero\u200bwidth/a", "zero/b"])
    scan_all(store, folder)
    wanted = Selection(prefix="zero\u200bwidth/")
    assert [row.path for row in store.read(lambda view: list_documents(view, wanted))] == [
        "zero\u200bwidth/a"
    ]


def test_what_was_touched_stays_so_until_somebody_has_looked(store: Store) -> None:
    with store.database.write() as transaction:
        touch(transaction, ["a", "b", "a", "c"])
    for expected in (["a", "b", "a"], ["c"], []):
        noted = store.read(lambda view: touched_paths(view, 3))
        assert list(noted.values()) == expected
        assert store.read(lambda view: touched_paths(view, 3)) == noted
        with store.database.write() as transaction:
            forget_touched(transaction, noted)


def test_processes_that_scan_at_once_write_everything_once(open_store: OpenBooks, folder: Path) -> None:
    opened = [open_store() for _ in range(3)]
    names = [f"d{number % 7}/{number}" for number in range(700)]
    for content in ("first", "second"):
        write(folder, names, content)
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(scan_all, opened, [folder] * 3))
    (folder / "d0").rename(folder / "moved")
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(scan_all, opened, [folder] * 3))
    with opened[0].database.read() as view:
        told = view.execute(select(versions.c.path, versions.c.version, versions.c.source)).all()
        known = view.execute(select(documents.c.id, documents.c.path)).all()
    moved = [name for name in names if name.startswith("d0/")]
    assert len(known) == 700
    assert len(told) == 1400 + 2 * len(moved)
    assert {source for _, _, source in told if source} == set(moved)
