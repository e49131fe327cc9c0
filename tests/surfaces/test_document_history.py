"""The history of documents on the command line: through moves, deletions, and what was at a path before."""

from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.conftest import Pipe


@pytest.fixture
def data(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The workspace of a project, which the commands are typed in."""
    monkeypatch.chdir(project)
    return project / "data"


def named(found: list[Any], *, line: bool) -> list[str]:
    return [f"{one['path']}@{one['version']}" for one in found if one["line"] is line]


def written(pipe: Pipe, file: Path, *texts: str) -> None:
    for text in texts:
        file.write_text(text)
        pipe("documents")


def moved(pipe: Pipe, file: Path, to: Path) -> None:
    file.rename(to)
    pipe("documents")


def test_a_document_that_was_moved_away_and_back_keeps_its_history(pipe: Pipe, ada: str, data: Path) -> None:
    written(pipe, data / "n.md", "one\n", "two\n", "three\n")
    moved(pipe, data / "n.md", data / "n2.md")
    moved(pipe, data / "n2.md", data / "n.md")
    found = pipe("documents", "history", "n.md").lines
    assert named(found, line=True) == ["n.md@1", "n.md@2", "n.md@3", "n2.md@1", "n.md@5"]
    assert named(found, line=False) == ["n.md@4"]
    assert found[0]["moved_to"] == "n2.md"
    assert pipe("documents", "restore", "n.md", "-v", "1", "--yes").code == 0
    assert (data / "n.md").read_text() == "one\n"


def test_what_is_written_where_something_else_was_moved_from_is_another_document(
    pipe: Pipe, ada: str, data: Path
) -> None:
    assert pipe("call", "write_file", "path=a.md", "content=hers").code == 0
    moved(pipe, data / "a.md", data / "b.md")
    written(pipe, data / "a.md", "theirs\n")
    new = pipe("documents", "show", "a.md").json
    assert (new["created_by"], new["created_task"]) == ("outside", "")
    found = pipe("documents", "history", "a.md").lines
    assert (named(found, line=True), named(found, line=False)) == (["a.md@3"], ["a.md@1", "a.md@2"])
    assert named(pipe("documents", "history", "b.md").lines, line=True) == ["a.md@1", "b.md@1"]
    assert [one["path"] for one in pipe("documents", "list", "--by", "operator").lines] == ["b.md"]
    for command in ("diff", "restore"):
        refused = pipe("documents", command, "a.md")
        assert refused.code == 1
        assert "no earlier version" in refused.out + refused.err
    assert pipe("documents", "show", "a.md", "-v", "1").out == "hers"


def test_what_was_deleted_and_written_again_goes_on(pipe: Pipe, ada: str, data: Path) -> None:
    assert pipe("call", "write_file", "path=a.md", "content=hers").code == 0
    (data / "a.md").unlink()
    pipe("documents")
    written(pipe, data / "a.md", "theirs\n")
    assert named(pipe("documents", "history", "a.md").lines, line=True) == ["a.md@1", "a.md@2", "a.md@3"]
    assert pipe("documents", "show", "a.md").json["created_by"] == "operator"


def test_what_was_at_a_path_before_something_was_moved_there_comes_back(
    pipe: Pipe, ada: str, data: Path
) -> None:
    written(pipe, data / "f.md", "the first\n")
    written(pipe, data / "x.md", "the second\n")
    (data / "f.md").unlink()
    pipe("documents")
    moved(pipe, data / "x.md", data / "f.md")
    found = pipe("documents", "history", "f.md").lines
    assert (named(found, line=True), named(found, line=False)) == (["x.md@1", "f.md@3"], ["f.md@1", "f.md@2"])
    people = pipe("documents", "history", "f.md", "-o", "people").out
    assert people.index("f.md@3") < people.index("Earlier at this path:") < people.index("f.md@1")
    assert pipe("documents", "show", "f.md", "-v", "1").out == "the first\n"
    assert pipe("documents", "diff", "f.md", "--from", "1").json["diff"][-2:] == ["-the first", "+the second"]
    assert pipe("documents", "restore", "f.md", "-v", "1", "--yes").code == 0
    assert (data / "f.md").read_text() == "the first\n"


def test_what_a_call_wrote_over_by_moving_comes_back(pipe: Pipe, ada: str, data: Path) -> None:
    written(pipe, data / "f.md", "the first\n")
    written(pipe, data / "x.md", "the second\n")
    assert pipe("call", "move_file", "source=x.md", "target=f.md", "overwrite=true", "--yes").code == 0
    assert named(pipe("documents", "history", "f.md").lines, line=False) == ["f.md@1"]
    assert pipe("documents", "restore", "f.md", "--yes").code == 0
    assert (data / "f.md").read_text() == "the first\n"


def test_every_name_a_history_prints_is_understood_wherever_a_version_is_taken(
    pipe: Pipe, ada: str, data: Path
) -> None:
    written(pipe, data / "a.md", "one\n", "two\n")
    moved(pipe, data / "a.md", data / "b.md")
    written(pipe, data / "b.md", "three\n")
    assert pipe("documents", "show", "b.md", "-v", "a.md@1").out == "one\n"
    assert pipe("documents", "show", "b.md", "-v", "b.md@2").out == "three\n"
    changed = pipe("documents", "diff", "b.md", "--from", "a.md@1", "--to", "a.md@2").json
    assert (changed["old"], changed["new"], changed["diff"][-2:]) == ("a.md@1", "a.md@2", ["-one", "+two"])
    loaded = pipe("call", "load_to_context", "path=b.md", "version=a.md@1").json["value"]
    assert loaded["content"] == "one\n"
    compared = pipe("call", "compare_documents", "path=b.md", "version=a.md@1", "other_version=a.md@2").json
    assert (compared["value"]["old"], compared["value"]["new"]) == ("a.md@1", "a.md@2")
    assert pipe("documents", "restore", "b.md", "-v", "a.md@1", "--yes").code == 0
    assert (data / "b.md").read_text() == "one\n"


def test_a_deleted_document_is_told_as_deleted_when_and_by_whom(pipe: Pipe, data: Path) -> None:
    written(pipe, data / "b.md", "one\n", "two\n")
    (data / "b.md").unlink()
    changed = pipe("documents", "diff", "b.md").json
    assert (changed["old"], changed["new"], changed["diff"][-1]) == ("b.md@2", "b.md@3", "-two")
    assert changed["gone"].startswith("b.md was deleted at ")
    assert changed["gone"].endswith(" by outside")
    assert "b.md was deleted at " in pipe("documents", "diff", "b.md", "-o", "people").out
    for asked in (
        ("show", "b.md", "--as", "text"),
        ("diff", "b.md", "--from", "3"),
        ("diff", "b.md", "--to", "3"),
    ):
        failed = pipe("documents", *asked)
        assert (failed.code, failed.out) == (1, "")
        assert failed.err.startswith("NOT_A_FILE: version 3 of b.md is its deletion, by outside at ")


def test_the_place_something_was_moved_from_says_where_it_went(pipe: Pipe, data: Path) -> None:
    written(pipe, data / "a.md", "one\n")
    moved(pipe, data / "a.md", data / "b.md")
    shown = pipe("documents", "history", "a.md", "-o", "people").out
    assert "moved to b.md" in shown
    assert "deleted" not in shown
    assert " was moved to b.md at " in pipe("documents", "diff", "a.md").json["gone"]
