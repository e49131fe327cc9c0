from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from brasstag.store.blobs import Blobs
from brasstag.store.books import Books, Desk
from brasstag.store.boots import Boot
from brasstag.store.database import Database
from brasstag.store.migrate import migrate
from brasstag.store.seals import Sealer, load_or_create_key
from brasstag.words.calls import Call
from brasstag.words.ids import new_id

OpenBooks = Callable[[], Books]


@pytest.fixture
def open_books(tmp_path: Path) -> Iterator[OpenBooks]:
    """Open the same room's books as often as wanted, each time as another process would."""
    opened: list[Books] = []
    (tmp_path / "state").mkdir()

    def open_again() -> Books:
        database = Database(tmp_path / "state" / "state.db")
        migrate(database, tmp_path / "state" / "migrate.lock")
        sealer = Sealer(load_or_create_key(tmp_path / "user"), tmp_path / "user" / "witness.json")
        boot = Boot(tmp_path / "state" / "boots")
        books = Books(database, Blobs(tmp_path / "state" / "blobs"), sealer, boot.id)
        opened.append(books)
        return books

    yield open_again
    for books in opened:
        books.database.close()


@pytest.fixture
def books(open_books: OpenBooks) -> Books:
    return open_books()


def open_desk(books: Books) -> str:
    desk = Desk(new_id("task"), "cli:ada", "operator", "test")
    books.expect_desk(desk)
    return desk.id


def call_at(task_id: str, tool: str = "read_file", **arguments: object) -> Call:
    return Call(new_id("call"), tool, arguments, "cli:ada", "operator", task_id)
