"""Scans: what is noticed, how it is told apart, and who is said to have done it."""

import os
import resource
import signal
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from brasstag import Room
from brasstag.documents.formats.kinds import LINK
from brasstag.documents.formats.limits import Sizes
from brasstag.documents.scan.scanner import Scanner
from brasstag.store.contents.blobs import Batch, Blobs
from brasstag.store.contents.versions import OUTSIDE, history, lineage
from brasstag.store.documents.annotations import describe, retag
from brasstag.store.documents.rows import Pending
from brasstag.store.documents.select import Selection, list_documents
from brasstag.store.events.sequence import START, events_since
from brasstag.words.calls import Done
from brasstag.words.errors import Code, ToolError
from brasstag.words.previews import ABSENT, Change, file_state
from tests.conftest import MakeProject
from tests.documents.scans import all_rows, all_versions, bodies, live_rows, require_law, scanner_of
from tests.store.conftest import call_at

LONG = "x" * 100_000


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[Room]:
    (tmp_path / "workspace").mkdir()
    async with Room.in_memory(tmp_path / "workspace", profile="trusted") as opened:
        yield opened


@pytest.fixture
def scanner(room: Room) -> Scanner:
    return scanner_of(room)


async def act(room: Room, tool: str, **arguments: object) -> None:
    assert isinstance(await room.call(tool, arguments), Done)


def fill(room: Room, files: dict[str, str | bytes]) -> None:
    for path, content in files.items():
        place = room.workspace / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())


def events(room: Room) -> list[dict[str, object]]:
    with room.store.database.read() as view:
        return [
            change
            for event in events_since(view, START, 10_000)
            for change in event.payload.get("changes", ())
        ]


class TestNoticing:
    def test_what_was_there_before_becomes_documents_made_outside(self, room: Room, scanner: Scanner) -> None:
        fill(room, {"a.md": "# A", "d/b.csv": "x,y\n1,2\n"})
        os.symlink("a.md", room.workspace / "link")
        report = scanner.scan_all()
        assert (report.added, report.problems) == (3, [])
        rows = live_rows(room)
        assert {path: row.media_type for path, row in rows.items()} == {
            "a.md": "text/markdown",
            "d/b.csv": "text/csv",
            "link": LINK,
        }
        assert {row.created_by for row in rows.values()} == {OUTSIDE}
        assert room.store.blobs.get(rows["link"].state.partition(":")[2]) == b"a.md"
        assert bodies(room)[rows["d/b.csv"].id] == "x,y\n1,2\n"
        require_law(room)

    def test_a_second_scan_finds_nothing_new(self, room: Room, scanner: Scanner) -> None:
        fill(room, {"a": "a", "d/e/f": "f", "d.txt": "between d and what is in it"})
        scanner.scan_all()
        report = scanner.scan_all()
        assert (report.differences, report.unchanged) == (0, 3)

    def test_an_edit_outside_is_a_version_made_outside(self, room: Room, scanner: Scanner) -> None:
        fill(room, {"a": "one"})
        scanner.scan_all()
        fill(room, {"a": "two"})
        assert scanner.scan_all().changed == 1
        told = all_versions(room)["a"]
        assert [(one.version, one.by, one.call_id) for one in told] == [(1, OUTSIDE, ""), (2, OUTSIDE, "")]
        assert list(bodies(room).values()) == ["two"]

    def test_an_edit_of_the_same_size_within_one_tick_is_noticed(self, room: Room, scanner: Scanner) -> None:
        fill(room, {"a": "one"})
        times = ((room.workspace / "a").stat().st_atime_ns, (room.workspace / "a").stat().st_mtime_ns)
        scanner.scan_all()
        with (room.workspace / "a").open("r+") as file:
            file.write("two")
        os.utime(room.workspace / "a", ns=times)
        scanner.scan_all()
        require_law(room)

    def test_what_went_keeps_its_row_and_leaves_the_index(self, room: Room, scanner: Scanner) -> None:
        fill(room, {"a": "one"})
        scanner.scan_all()
        (room.workspace / "a").unlink()
        assert scanner.scan_all().removed == 1
        assert all_rows(room)["a"].state == ABSENT
        assert bodies(room) == {}
        assert [one.state for one in all_versions(room)["a"]][-1] == ABSENT

    def test_a_directory_in_the_place_of_a_file_is_told_from_nothing(
        self, room: Room, scanner: Scanner
    ) -> None:
        fill(room, {"a": "one"})
        scanner.scan_all()
        (room.workspace / "a").unlink()
        fill(room, {"a/b": "two"})
        report = scanner.scan_all()
        assert (report.added, report.removed) == (1, 1)
        require_law(room)

    def test_some_paths_are_looked_at_and_no_others(self, room: Room, scanner: Scanner) -> None:
        fill(room, {"a": "a", "d/b": "b", "d/c": "c", "e": "e"})
        assert scanner.scan(["d", "d/b", "missing"]).added == 2
        assert sorted(live_rows(room)) == ["d/b", "d/c"]
        fill(room, {"d/b": "new"})
        (room.workspace / "d/c").unlink()
        report = scanner.scan(["d"])
        assert (report.changed, report.removed) == (1, 1)

    def test_a_path_that_leads_out_is_a_problem_and_the_others_are_scanned(
        self, room: Room, scanner: Scanner
    ) -> None:
        fill(room, {"a": "a"})
        report = scanner.scan(["../b", "a"])
        assert [(one.path, one.code) for one in report.problems] == [("../b", Code.INVALID_PATH)]
        assert report.added == 1

    def test_each_batch_is_told_as_an_event(self, room: Room, scanner: Scanner) -> None:
        fill(room, {"a": "a"})
        scanner.scan_all()
        (room.workspace / "a").rename(room.workspace / "b")
        scanner.scan_all()
        (room.workspace / "b").unlink()
        scanner.scan_all()
        assert [(one["path"], one["change"], one.get("source")) for one in events(room)] == [
            ("a", "added", None),
            ("b", "moved", "a"),
            ("b", "removed", None),
        ]

    def test_a_scan_that_is_told_to_stop_does(self, room: Room, scanner: Scanner) -> None:
        fill(room, {"a": "a"})
        report = scanner.scan_all(lambda: True)
        assert not report.is_whole


class TestTools:
    async def test_a_write_is_by_the_role_and_the_task_that_made_it(
        self, room: Room, scanner: Scanner
    ) -> None:
        await act(room, "write_file", path="a", content="one")
        assert scanner.scan_touched().added == 1
        row = live_rows(room)["a"]
        assert (row.created_by, row.created_task) == ("operator", room.task_id)
        assert (row.version, len(all_versions(room)["a"])) == (1, 1)
        assert scanner.scan_touched().unchanged == 0
        assert scanner.scan_all().differences == 0

    async def test_who_edits_is_told_from_who_created(self, room: Room, scanner: Scanner) -> None:
        fill(room, {"a": "one"})
        scanner.scan_all()
        await act(room, "write_file", path="a", content="two")
        scanner.scan_touched()
        row = live_rows(room)["a"]
        assert (row.created_by, row.updated_by) == (OUTSIDE, "operator")

    async def test_a_move_keeps_the_document_with_all_that_was_said_of_it(
        self, room: Room, scanner: Scanner
    ) -> None:
        fill(room, {"a": "one"})
        scanner.scan_all()
        with room.store.database.write() as transaction:
            describe(transaction, "a", "the first", "now", "ada")
            retag(transaction, "a", ["draft", "old"], [], "now", "ada")
            retag(transaction, "a", [], ["old"], "now", "ada")
        before = live_rows(room)["a"]
        await act(room, "move_file", source="a", target="d/b")
        await act(room, "move_file", source="d/b", target="c")
        assert scanner.scan_touched().moved == 1
        after = live_rows(room)["c"]
        assert (after.id, after.description, after.tags) == (before.id, "the first", ("draft",))
        assert "a" not in all_rows(room)
        require_law(room)

    async def test_an_ignored_file_that_a_tool_wrote_is_a_document(
        self, room: Room, scanner: Scanner
    ) -> None:
        fill(room, {".gitignore": "*.log\nbuild/\n", "a.log": "outside", "build/x": "x"})
        await act(room, "write_file", path="b.log", content="tool")
        await act(room, "write_file", path="build/y", content="tool")
        scanner.scan_all()
        assert sorted(live_rows(room)) == [".gitignore", "b.log", "build/y"]
        assert scanner.scan_all().differences == 0
        (room.workspace / "b.log").write_text("edited")
        scanner.scan_all()
        assert all_versions(room)["b.log"][-1].by == OUTSIDE

    def test_what_a_call_holds_is_left_until_it_is_done(self, room: Room, scanner: Scanner) -> None:
        fill(room, {"a": "one", "b": "two"})
        room.store.expect_desk(room._desk)
        change = Change("a", file_state("0" * 64), ABSENT)
        claimed = room.store.claim(call_at(room.task_id), (change,), None, {"type": "tool"})
        report = scanner.scan_all()
        assert (report.added, report.left) == (1, 1)
        room.store.settle(claimed, {"type": "tool"}, (), "operator", "")
        assert scanner.scan_touched().added == 1


class TestMoves:
    def test_an_outside_move_keeps_the_document_and_its_history(self, room: Room, scanner: Scanner) -> None:
        fill(room, {"a": "one"})
        scanner.scan_all()
        before = live_rows(room)["a"]
        (room.workspace / "d").mkdir()
        (room.workspace / "a").rename(room.workspace / "d/b")
        assert scanner.scan_all().moved == 1
        assert live_rows(room)["d/b"].id == before.id
        with room.store.database.read() as view:
            assert [one.path for one in lineage(view, "d/b")] == ["a", "d/b"]
            assert [one.state for one in history(view, "a")] == [before.state, ABSENT]
            assert (history(view, "d/b")[0].source, history(view, "d/b")[0].source_version) == ("a", 1)

    @pytest.mark.parametrize("order", [["a", "b"], ["b", "a"]])
    def test_a_move_that_is_noticed_in_two_halves_is_one(
        self, room: Room, scanner: Scanner, order: list[str]
    ) -> None:
        fill(room, {"a": "one"})
        scanner.scan_all()
        before = live_rows(room)["a"]
        (room.workspace / "a").rename(room.workspace / "b")
        for path in order:
            scanner.scan([path])
        assert live_rows(room)["b"].id == before.id
        with room.store.database.read() as view:
            assert [one.path for one in lineage(view, "b")] == ["a", "b"]
        require_law(room)

    def test_a_copy_is_no_move(self, room: Room, scanner: Scanner) -> None:
        fill(room, {"a": "one"})
        scanner.scan_all()
        fill(room, {"b": "one"})
        report = scanner.scan_all()
        assert (report.added, report.moved) == (1, 0)

    @pytest.mark.parametrize("by_call", [True, False])
    async def test_words_about_one_document_never_go_to_another_that_came_by_its_former_path(
        self, room: Room, scanner: Scanner, by_call: bool
    ) -> None:
        fill(room, {"plan": "an old note"})
        scanner.scan_all()
        (room.workspace / "plan").rename(room.workspace / "note")
        scanner.scan_all()
        (room.workspace / "note").unlink()
        fill(room, {"plan": "another document"})
        scanner.scan_all()
        with room.store.database.write() as transaction:
            describe(transaction, "plan", "secret", "now", "ada")
        (room.workspace / "plan").unlink()
        scanner.scan_all()
        if by_call:
            await room.call("write_file", {"path": "note", "content": "milk"})
        else:
            fill(room, {"note": "milk"})
        report = scanner.scan_all()
        assert (report.added, report.moved) == (1, 0)
        assert live_rows(room)["note"].description == ""
        assert all_rows(room)["plan"].description == "secret"

    def test_the_same_name_tells_which_of_two_was_moved(self, room: Room, scanner: Scanner) -> None:
        fill(room, {"x/one": "same", "x/two": "same"})
        scanner.scan_all()
        rows = live_rows(room)
        # Written before the others go: a file system may give their inodes to new files at once.
        fill(room, {"y/two": "same", "y/one": "same"})
        for name in ("one", "two"):
            (room.workspace / "x" / name).unlink()
        assert scanner.scan_all().moved == 2
        now = live_rows(room)
        assert (now["y/one"].id, now["y/two"].id) == (rows["x/one"].id, rows["x/two"].id)

    def test_empty_files_are_moved_only_where_the_inode_says_so(self, room: Room, scanner: Scanner) -> None:
        fill(room, {"a": "", "b": ""})
        scanner.scan_all()
        (room.workspace / "a").rename(room.workspace / "moved")
        assert scanner.scan_all().moved == 1
        fill(room, {"new": ""})
        (room.workspace / "b").unlink()
        report = scanner.scan_all()
        assert (report.moved, report.added, report.removed) == (0, 1, 1)

    def test_what_is_saved_over_a_document_leaves_it_its_row(self, room: Room, scanner: Scanner) -> None:
        fill(room, {"a": "one", "a.tmp": "two"})
        scanner.scan_all()
        before = live_rows(room)["a"]
        (room.workspace / "a.tmp").replace(room.workspace / "a")
        report = scanner.scan_all()
        assert (report.changed, report.removed, report.moved) == (1, 1, 0)
        assert live_rows(room)["a"].id == before.id

    def test_many_moves_at_once_are_all_noticed(self, room: Room, scanner: Scanner) -> None:
        fill(room, {f"x/{number}": f"{number}" for number in range(1200)})
        scanner.scan_all()
        (room.workspace / "x").rename(room.workspace / "y")
        report = scanner.scan_all()
        assert (report.moved, report.added, report.removed) == (1200, 0, 0)
        require_law(room)


class TestIgnoring:
    def test_what_is_ignored_later_is_forgotten_unless_somebody_cared(
        self, room: Room, scanner: Scanner
    ) -> None:
        fill(room, {"a.log": "a", "b.log": "b", "d/c.log": "c"})
        scanner.scan_all()
        with room.store.database.write() as transaction:
            retag(transaction, "b.log", ["evidence"], [], "now", "ada")
        fill(room, {".gitignore": "*.log"})
        scanner.scan([".gitignore"])
        assert sorted(live_rows(room)) == [".gitignore", "b.log"]
        assert len(bodies(room)) == 2
        assert [one.state for one in all_versions(room)["a.log"]][-1] != ABSENT
        fill(room, {".gitignore": "", "new": "to be sure it is read again"})
        scanner.scan_all()
        assert len(live_rows(room)) == 5

    def test_settings_speak_before_every_file(self, room: Room) -> None:
        fill(
            room,
            {".gitignore": "*.log", "a.log": "a", "b.tmp": "b", "d/.gitignore": "!*.tmp", "d/c.tmp": "c"},
        )
        scanner_of(room, ignore=["*.tmp", "!a.log"]).scan_all()
        assert sorted(live_rows(room)) == [".gitignore", "a.log", "d/.gitignore"]

    def test_hidden_paths_and_control_files_are_never_met(self, room: Room) -> None:
        fill(
            room,
            {
                "a": "a",
                "secret/b": "b",
                ".git/config": "c",
                "brasstag.toml": "d",
                ".venv/lib/e": "e",
                "odd/pyvenv.cfg": "",
                "odd/lib/f": "f",
            },
        )
        scanner_of(room).scan_all()
        assert sorted(live_rows(room)) == ["a", "secret/b"]
        hiding = scanner_of(room, hidden=lambda paths: {path for path in paths if path == "secret"})
        hiding.scan_all()
        assert sorted(live_rows(room)) == ["a"]
        assert hiding.scan(["secret/b", ".git/config", "odd/lib/f"]).differences == 0
        assert sorted(live_rows(room)) == ["a"]


class TestContents:
    def test_a_text_is_indexed_up_to_a_size_and_says_so(self, room: Room) -> None:
        fill(room, {"a": LONG, "b": "é" * 50_000})
        scanner_of(room, sizes=Sizes(indexed=70_001)).scan_all()
        rows, index = live_rows(room), bodies(room)
        assert len(index[rows["a"].id]) == 70_001
        assert index[rows["b"].id] == "é" * 35_000
        assert "first 70,001 bytes" in rows["a"].note

    def test_what_is_too_large_to_keep_says_so_and_has_a_version(self, room: Room) -> None:
        fill(room, {"a": LONG})
        scanner_of(room, sizes=Sizes(kept=99_999)).scan_all()
        row = live_rows(room)["a"]
        assert "99,999" in row.note
        assert not room.store.blobs.has(row.state.partition(":")[2])

    def test_what_needs_conversion_waits_for_it(self, room: Room, scanner: Scanner) -> None:
        fill(room, {"a.pdf": b"%PDF-1.4\n%\xe2\xe3", "b.html": "<p>hi</p>", "c.bin": bytes(range(256))})
        scanner.scan_all()
        rows = live_rows(room)
        assert [rows[path].pending for path in ("a.pdf", "b.html", "c.bin")] == [
            Pending.CONVERT,
            Pending.CONVERT,
            "",
        ]
        assert rows["c.bin"].note == "it is no text"

    def test_a_full_disk_costs_the_files_that_do_not_fit_and_nothing_else(
        self, room: Room, scanner: Scanner
    ) -> None:
        fill(room, {"a": "fits", "b": LONG})
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (90_000, hard))
        try:
            reports = [scanner.scan_all(), scanner.scan_all()]
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            signal.signal(signal.SIGXFSZ, ignored)
        assert [[(one.path, one.code) for one in report.problems] for report in reports] == [
            [("b", Code.TOO_LARGE)]
        ] * 2
        assert list(live_rows(room)) == ["a"]
        assert not list((room.store.blobs.root / "incoming").iterdir())
        assert scanner.scan_all().added == 1

    async def test_what_keeps_changing_is_a_problem_until_it_stops(self, room: Room, tmp_path: Path) -> None:
        fill(room, {"a": LONG, "b": "still"})
        place = room.workspace / "a"
        blobs = room.store.blobs

        class Restless(Batch):
            def put_from(self, descriptor: int) -> str:
                with place.open("a") as file:
                    file.write("more")
                return super().put_from(descriptor)

        restless = Blobs(blobs.root)
        restless.batch = lambda: nullcontext(Restless(blobs))  # type: ignore[method-assign]
        scanner = scanner_of(room)
        room.store.blobs = restless
        report = scanner.scan_all()
        room.store.blobs = blobs
        assert [(one.path, one.code) for one in report.problems] == [("a", Code.CHANGED)]
        assert list(live_rows(room)) == ["b"]
        assert scanner.scan_all().added == 1
        require_law(room)


class TestCatalogue:
    def test_documents_are_listed_by_what_is_known_of_them(self, room: Room, scanner: Scanner) -> None:
        fill(room, {"a.md": "a", "b.csv": "bb", "d/c.md": "ccc", "gone": "gone"})
        scanner.scan_all()
        (room.workspace / "gone").unlink()
        scanner.scan_all()
        with room.store.database.write() as transaction:
            retag(transaction, "a.md", ["Draft", "ü_%"], [], "now", "ada")
            with pytest.raises(ToolError, match="is no document any more"):
                describe(transaction, "missing", "nothing", "now", "ada")

        def paths(wanted: Selection, **options: Any) -> list[str]:
            with room.store.database.read() as view:
                return [row.path for row in list_documents(view, wanted, **options)]

        assert paths(Selection()) == ["a.md", "b.csv", "d/c.md"]
        assert paths(Selection(media_type="text/markdown")) == ["a.md", "d/c.md"]
        for family in ("text/*", "text/"):
            assert paths(Selection(media_type=family), order="largest", limit=2) == ["d/c.md", "b.csv"]
        assert paths(Selection(tags=("ü_%",))) == ["a.md"]
        assert paths(Selection(tags=("draft",))) == []
        assert paths(Selection(prefix="d/")) == ["d/c.md"]
        assert paths(Selection(by=OUTSIDE), shows=lambda path: path.endswith(".csv")) == ["b.csv"]
        assert paths(Selection(since="2999")) == []
        assert paths(Selection(until="2999"), order="newest", limit=0) == []


class TestAtOnce:
    @pytest.mark.parametrize("writes", [12, pytest.param(40, marks=pytest.mark.slow)])
    @pytest.mark.parametrize("kind", ["sqlite", "postgres"])
    async def test_scanners_and_tools_at_once_make_each_version_once(
        self,
        kind: str,
        writes: int,
        make_project: MakeProject,
        request: pytest.FixtureRequest,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        if kind == "postgres":
            monkeypatch.setenv("BRASSTAG_DATABASE_URL", request.getfixturevalue("postgres").url)
        async with Room.open(make_project(profile="trusted")) as room:
            scanners = [scanner_of(room) for _ in range(3)]
            done = threading.Event()

            def scan(scanner: Scanner, number: int) -> None:
                while not done.is_set():
                    scanner.scan_all() if number else scanner.scan_touched()

            def meddle() -> None:
                number = 0
                while not done.is_set():
                    number += 1
                    fill(room, {f"outside{number % 5}": f"outside {number}"})

            with ThreadPoolExecutor(4) as pool:
                running = [pool.submit(scan, one, number) for number, one in enumerate(scanners)]
                running.append(pool.submit(meddle))
                try:
                    for number in range(writes):
                        path = f"d/{number % 4}"
                        await act(room, "write_file", path=path, content=f"tool {number}")
                finally:
                    done.set()
                for future in running:
                    future.result()
            scanners[0].scan_all()
            require_law(room)
            told = all_versions(room)
            made = [one for number in range(4) for one in told[f"d/{number}"]]
            assert len(made) == writes
            assert {one.by for one in made} == {"operator"}
