"""The law of history: whatever is done to a workspace, and by whom, its versions replay to what is on disk."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from brasstag import Room
from brasstag.app.project.create import create_project
from brasstag.documents.formats.text import decoded
from brasstag.documents.scan.scanner import Scanner
from brasstag.store.contents.versions import OUTSIDE
from brasstag.words.calls import Done
from brasstag.words.previews import digest_in
from tests.conftest import examples
from tests.documents.scans import all_versions, on_disk, require_law, scanner_of
from tests.postgres import Server

PATHS = st.sampled_from(["a.txt", "b.txt", "c", "d/a.txt", "d/b.txt", "d/e/f", "g"])
DIRECTORIES = st.sampled_from(["d", "d/e", "h"])
TEXTS = {"empty": "", "one": "one", "two": "two\r\n", "long": "x" * 70_000, "дом": "дом"}
BYTES = {name: text.encode() for name, text in TEXTS.items()} | {
    "binary": b"\0\1\2",
    "utf-16": b"\xff\xfea\0",
    "latin": b"\xe9t\xe9 pour tous",
}
TARGETS = st.sampled_from(["a.txt", "../outside", "d", "missing"])
WHICH = st.integers(0, 99)
PHASES = [Phase.generate, Phase.shrink]


class Workshop(RuleBasedStateMachine):
    """People and tools at work in one workspace, and a scanner beside them."""

    url = ""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="law-"))
        self.runner = asyncio.Runner()
        self.opened: Any = self._opened()
        self.room: Room = self.run(self.opened.__aenter__())
        self.scanner: Scanner = scanner_of(self.room)
        self.made: set[str] = set()

    def _opened(self) -> Any:
        if not self.url:
            (self.folder / "data").mkdir()
            return Room.in_memory(self.folder / "data", profile="trusted")
        create_project(self.folder / "project", profile="trusted")
        return Room.open(self.folder / "project")

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(coroutine)

    def call(self, tool: str, **arguments: Any) -> None:
        outcome = self.run(self.room.call(tool, arguments))
        if isinstance(outcome, Done) and outcome.tag is not None:
            self.made.add(outcome.tag.id)

    @rule(path=PATHS, content=st.sampled_from(sorted(TEXTS)))
    def a_tool_writes(self, path: str, content: str) -> None:
        self.call("write_file", path=path, content=TEXTS[content])

    @rule(path=PATHS)
    def a_tool_edits(self, path: str) -> None:
        self.call("edit_file", path=path, old="o", new="0")

    @rule(source=st.one_of(PATHS, DIRECTORIES), to=PATHS, overwrite=st.booleans())
    def a_tool_moves(self, source: str, to: str, overwrite: bool) -> None:
        self.call("move_file", source=source, target=to, overwrite=overwrite)

    @rule(path=st.one_of(PATHS, DIRECTORIES))
    def a_tool_deletes(self, path: str) -> None:
        self.call("delete_file", path=path, recursive=True)

    @rule(which=WHICH, number=WHICH)
    def a_tool_restores(self, which: int, number: int) -> None:
        told = all_versions(self.room)
        kept = [one for states in told.values() for one in states if one.state.startswith("file:")]
        if kept:
            version = kept[(which * 100 + number) % len(kept)]
            digest = digest_in(version.state) or ""
            if self.room.store.blobs.has(digest):
                content = decoded(self.room.store.blobs.get(digest))
                self.call("write_file", path=version.path, content=content or "not a text")

    @rule(path=PATHS, data=st.sampled_from(sorted(BYTES)), in_place=st.booleans())
    def somebody_writes(self, path: str, data: str, in_place: bool) -> None:
        place = self.room.workspace / path
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            if in_place:
                place.write_bytes(BYTES[data])
            else:
                (self.folder / "new").write_bytes(BYTES[data])
                (self.folder / "new").replace(place)
        except OSError:
            return

    @rule(path=PATHS, to=TARGETS)
    def somebody_links(self, path: str, to: str) -> None:
        try:
            os.symlink(to, self.room.workspace / path)
        except OSError:
            return

    @rule(which=WHICH, path=PATHS)
    def somebody_moves(self, which: int, path: str) -> None:
        there = sorted(on_disk(self.room.workspace))
        if there:
            place = self.room.workspace / path
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
                (self.room.workspace / there[which % len(there)]).rename(place)
            except OSError:
                return

    @rule(source=DIRECTORIES, to=DIRECTORIES)
    def somebody_moves_a_directory(self, source: str, to: str) -> None:
        try:
            (self.room.workspace / source).rename(self.room.workspace / to)
        except OSError:
            return

    @rule(path=st.one_of(PATHS, DIRECTORIES))
    def somebody_deletes(self, path: str) -> None:
        place = self.room.workspace / path
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True) if place.parent.is_dir() else None

    @rule(path=PATHS)
    def somebody_changes_the_mode(self, path: str) -> None:
        place = self.room.workspace / path
        if place.is_file() and not place.is_symlink():
            place.chmod(0o640)

    @rule(paths=st.lists(st.one_of(PATHS, DIRECTORIES), max_size=3))
    def some_paths_are_scanned(self, paths: list[str]) -> None:
        self.scanner.scan(paths)

    @rule()
    def what_was_touched_is_scanned(self) -> None:
        self.scanner.scan_touched()

    @rule()
    def all_is_scanned(self) -> None:
        report = self.scanner.scan_all()
        assert report.problems == []
        require_law(self.room)
        assert self.scanner.scan_all().differences == 0

    def teardown(self) -> None:
        try:
            self.all_is_scanned()
            told = [one for states in all_versions(self.room).values() for one in states]
            assert len({one.call_id for one in told if one.call_id}) <= len(self.made)
            assert all((one.by == OUTSIDE) == (one.call_id == "") for one in told)
        finally:
            self.run(self.opened.__aexit__(None, None, None))
            self.runner.close()
            shutil.rmtree(self.folder)


@pytest.mark.hypothesis
def test_versions_replay_to_what_is_on_disk_whatever_happens() -> None:
    run_state_machine_as_test(Workshop, settings=_settings(40, 30))


@pytest.mark.hypothesis
def test_it_is_the_same_on_postgres(postgres: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    class OnPostgres(Workshop):
        url = postgres.url

    monkeypatch.setenv("BRASSTAG_DATABASE_URL", postgres.url)
    run_state_machine_as_test(OnPostgres, settings=_settings(8, 20))


def _settings(tries: int, steps: int) -> settings:
    return settings(
        max_examples=examples(tries),
        stateful_step_count=steps,
        deadline=None,
        phases=PHASES,
        suppress_health_check=list(HealthCheck),
        derandomize=False,
        database=None,
    )
