"""The files of prompt tools: names of snapshots, and files that are not what they should be."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from brasstag.catalog.prompt_files import PromptFiles
from brasstag.words.errors import StoreError

AT = "2026-11-18T08:09:24.123456Z"
FIRST = "20261118T080924.123456Z.json"


@pytest.fixture
def files(tmp_path: Path) -> PromptFiles:
    return PromptFiles(tmp_path / "prompts", "project", "prompts.json")


@pytest.mark.parametrize("at", [AT, "2026-11-18T08:09:24.000000Z", "1999-01-01T00:00:00.000000Z"])
def test_a_new_snapshot_sorts_last_whatever_the_clock_says(files: PromptFiles, at: str) -> None:
    written = []
    for moment in (AT, at, at, at, "2026-11-18T08:09:25.000000Z", at):
        written.append(files.free_name("tag_hunter", moment))
        files.write_snapshot("tag_hunter", written[-1], {"toolId": "tag_hunter"})
    assert written[0] == FIRST
    assert written == sorted(set(written))
    assert [snapshot.name for snapshot in files.snapshots("tag_hunter")] == written


@pytest.mark.parametrize("name", ["zzzz.json", "9999_b.json", "20261118T080924.123456Z-0001.json", "~.json"])
def test_a_file_with_another_name_is_no_snapshot(files: PromptFiles, name: str) -> None:
    files.write_snapshot("tag_hunter", name, {"toolId": "tag_hunter"})
    assert files.snapshots("tag_hunter") == []
    assert files.free_name("tag_hunter", AT) == FIRST


def test_a_name_that_none_can_follow_is_told(files: PromptFiles) -> None:
    last = "99991231T235959.999999Z_9999.json"
    files.write_snapshot("tag_hunter", last, {"toolId": "tag_hunter"})
    with pytest.raises(StoreError, match=f"{last}; move that file away"):
        files.free_name("tag_hunter", AT)


def _loop(place: Path) -> None:
    place.symlink_to(place.name)


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir, _loop, lambda place: place.symlink_to("/dev/zero")])
def test_what_is_no_ordinary_file_is_told_and_not_waited_for(
    files: PromptFiles, make: Callable[[Path], None]
) -> None:
    snapshot = files.folder / "history" / "tag_hunter" / FIRST
    snapshot.parent.mkdir(parents=True)
    make(snapshot)
    make(files.folder / "prompts.json")
    assert "prompts.json cannot be read" in files.live().problem
    assert [dict(found.body) for found in files.snapshots("tag_hunter")] == [{}]


@pytest.mark.parametrize("make", [Path.touch, _loop, os.mkfifo])
@pytest.mark.parametrize("name", ["history", "history/tag_hunter"])
def test_a_history_that_is_no_folder_holds_no_snapshots(
    files: PromptFiles, make: Callable[[Path], None], name: str
) -> None:
    place = files.folder / name
    place.parent.mkdir(parents=True)
    make(place)
    assert files.tool_ids() == []
    assert files.snapshots("tag_hunter") == []


def test_a_link_with_the_name_of_a_temporary_file_leads_nowhere(files: PromptFiles, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("precious")
    files.folder.mkdir()
    (files.folder / f".prompts.json.{os.getpid()}.tmp").symlink_to(precious)
    files.write_live([])
    assert precious.read_text() == "precious"
    assert not (files.folder / "prompts.json").is_symlink()
    assert (files.folder / "prompts.json").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("name", ["history", "history/tag_hunter"])
def test_no_snapshot_is_written_through_a_link(files: PromptFiles, tmp_path: Path, name: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (files.folder / name).parent.mkdir(parents=True)
    (files.folder / name).symlink_to(elsewhere)
    with pytest.raises(StoreError, match="is a link"):
        files.write_snapshot("tag_hunter", FIRST, {"toolId": "tag_hunter"})
    assert list(elsewhere.iterdir()) == []
