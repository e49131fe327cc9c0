"""The history of documents on the command line: through moves, deletions, and what was at a path before."""

from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.conftest import OpenTerminal, Pipe


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
    assert (new["created_by"], new["created_role"]) == ("outside", "")
    found = pipe("documents", "history", "a.md").lines
    assert (named(found, line=True), named(found, line=False)) == (["a.md@3"], ["a.md@1", "a.md@2"])
    assert named(pipe("documents", "history", "b.md").lines, line=True) == ["a.md@1", "b.md@1"]
    assert [one["path"] for one in pipe("documents", "list", "--by", "operator").lines] == ["b.md"]
    for command in ("diff", "restore"):
        refused = pipe("documents", command, "a.md")
        assert refused.code == 1
        assert "no earlier version" in refused.out + refused.err
    assert pipe("documents", "show", "a.md", "-v", "1").out == "hers"


def test_a_version_names_the_tag_of_the_call_that_made_it(pipe: Pipe, ada: str, data: Path) -> None:
    tag = pipe("call", "write_file", "path=a.md", "content=hers").json["tag"]["id"]
    written(pipe, data / "a.md", "theirs\n")
    assert [one["tag"] for one in pipe("documents", "history", "a.md").lines] == [tag, None]
    assert [one["tag"] for one in pipe("documents", "show", "a.md").json["versions"]] == [tag, None]
    assert pipe("timeline", "show", tag).code == 0


def test_what_was_deleted_and_written_again_goes_on(pipe: Pipe, ada: str, data: Path) -> None:
    assert pipe("call", "write_file", "path=a.md", "content=hers").code == 0
    (data / "a.md").unlink()
    pipe("documents")
    written(pipe, data / "a.md", "theirs\n")
    assert named(pipe("documents", "history", "a.md").lines, line=True) == ["a.md@1", "a.md@2", "a.md@3"]
    assert pipe("documents", "show", "a.md").json["created_role"] == "operator"


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


@pytest.mark.parametrize("columns", [60, 80, 160])
def test_every_version_is_one_line(terminal: OpenTerminal, pipe: Pipe, data: Path, columns: int) -> None:
    written(pipe, data / "notes.md", "one\n", "two\n", "three\n")
    restored = terminal("documents", "restore", "notes.md", "-v", "1", "--yes")
    assert restored.ends() == 0
    shown = terminal("documents", "history", "notes.md", columns=columns)
    assert shown.ends() == 0
    heading, *lines = shown.text.splitlines()
    tag = [] if columns < 100 else ["TAG"]
    assert heading.split() == ["VERSION", "WHEN", "BY", "SIZE", "DIGEST", *tag, "WHY"]
    assert [line.split()[0] for line in lines] == [f"notes.md@{number}" for number in (4, 3, 2, 1)]
    assert max(map(len, lines)) <= columns
    assert lines[0].endswith("restore_document") or columns < 80


def test_what_differs_only_in_its_bytes_is_not_called_the_same(pipe: Pipe, data: Path) -> None:
    (data / "a.bin").write_bytes(b"\0\1\2AAAA")
    (data / "b.bin").write_bytes(b"\0\1\2BBBBB")
    (data / "old.txt").write_bytes("Käse\n".encode("cp1252"))
    (data / "new.txt").write_text("Käse\n")
    (data / "mark.txt").write_text("Käse\n", encoding="utf-8-sig")
    (data / "copy.txt").write_text("Käse\n")
    (data / "broken.pdf").write_bytes(b"%PDF-1.7\n" + bytes(200))
    for old, new, said in (
        ("a.bin", "b.bin", "@ not text: 7 bytes (SHA-256 "),
        ("old.txt", "new.txt", "@ as texts they are the same, as bytes not: 5 bytes (SHA-256 "),
        ("new.txt", "mark.txt", "@ as texts they are the same, as bytes not: 6 bytes (SHA-256 "),
        ("broken.pdf", "new.txt", "@ not text: 209 bytes (SHA-256 "),
    ):
        told = pipe("documents", "diff", old, new).json
        assert (told["same"], told["form"], len(told["diff"])) == (False, "bytes", 1)
        assert told["diff"][0].startswith(said)
        people = pipe("documents", "diff", old, new, "-o", "people").out
        assert said in people
        assert "They are the same." not in people
        # A tool says of it what the command says.
        called = pipe("call", "compare_documents", f"path={old}", f"other={new}").json["value"]
        assert (called["same"], called["form"], called["diff"]) == (False, "bytes", told["diff"][0])
    alike = pipe("documents", "diff", "new.txt", "copy.txt").json
    assert (alike["same"], alike["form"], alike["diff"]) == (True, "text", [])
    assert "They are the same." in pipe("documents", "diff", "new.txt", "copy.txt", "-o", "people").out


def test_where_a_link_leads_is_compared(pipe: Pipe, data: Path) -> None:
    for target in ("one.md", "two.md"):
        (data / "link").unlink(missing_ok=True)
        (data / "link").symlink_to(target)
        pipe("documents")
    told = pipe("documents", "diff", "link").json
    assert (told["form"], told["diff"][-2:]) == ("text", ["-one.md", "+two.md"])
