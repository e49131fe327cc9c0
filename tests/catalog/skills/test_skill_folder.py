"""A skill is written beside what is there, never over it, and never through a link."""

from pathlib import Path

import pytest

from brasstag.catalog.skills.evals import EVALS
from brasstag.catalog.skills.skill_folder import MOST_OTHERS, SKILL, read_skill_folder, write_skill_folder
from brasstag.words.errors import Code, ToolError

FILES = {SKILL: b"skill", EVALS: b"{}"}


def refused(folder: Path, files: dict[str, bytes] = FILES) -> Code:
    with pytest.raises(ToolError) as caught:
        write_skill_folder(folder, "x", files)
    return caught.value.code


def test_what_is_written_is_read(tmp_path: Path) -> None:
    written = write_skill_folder(tmp_path / "new" / "folder", "x", FILES)
    assert written == [tmp_path / "new" / "folder" / "x" / path for path in FILES]
    found = read_skill_folder(written[0].parent)
    assert (found.folder, found.skill, found.evals, found.others) == ("x", b"skill", b"{}", ())


def test_the_same_skill_again_is_no_change(tmp_path: Path) -> None:
    written = write_skill_folder(tmp_path, "x", FILES)
    before = [file.stat().st_mtime_ns for file in written]
    assert write_skill_folder(tmp_path, "x", FILES) == written
    assert [file.stat().st_mtime_ns for file in written] == before


def test_another_file_is_never_replaced_and_nothing_is_written_beside_it(tmp_path: Path) -> None:
    write_skill_folder(tmp_path, "x", {SKILL: b"mine"})
    assert refused(tmp_path) is Code.ALREADY_EXISTS
    assert (tmp_path / "x" / SKILL).read_bytes() == b"mine"
    assert not (tmp_path / "x" / EVALS).exists()


def test_evals_of_an_older_skill_are_not_left_to_a_new_one(tmp_path: Path) -> None:
    write_skill_folder(tmp_path, "x", FILES)
    assert refused(tmp_path, {SKILL: b"skill"}) is Code.ALREADY_EXISTS


@pytest.mark.parametrize("path", ["x", "x/evals", "x/SKILL.md"])
def test_no_link_is_written_through(tmp_path: Path, path: str) -> None:
    target = tmp_path / "target"
    target.mkdir()
    place = tmp_path / "out" / path
    place.parent.mkdir(parents=True)
    place.symlink_to(target / "SKILL.md" if path.endswith("md") else target)
    assert refused(tmp_path / "out") is Code.INVALID_PATH
    assert list(target.iterdir()) == []


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert refused(tmp_path / "file") is Code.NOT_A_DIRECTORY
    (tmp_path / "x").touch()
    assert refused(tmp_path) is Code.NOT_A_DIRECTORY


def test_other_files_are_counted_up_to_a_limit(tmp_path: Path) -> None:
    write_skill_folder(tmp_path, "x", {SKILL: b"skill"})
    for number in range(MOST_OTHERS + 5):
        (tmp_path / "x" / f"{number}.txt").touch()
    (tmp_path / "x" / "loop").symlink_to(tmp_path)
    assert len(read_skill_folder(tmp_path / "x").others) <= MOST_OTHERS
