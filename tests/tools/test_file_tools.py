"""The file tools, as their callers know them."""

import base64
import os
from pathlib import Path
from typing import Any

import pytest

from brasstag import Done, Failed, Room
from brasstag.words.errors import Code
from tests.tools.asking import failure, value


@pytest.fixture
async def room(tmp_path: Path) -> Any:
    (tmp_path / "w").mkdir()
    async with Room.in_memory(tmp_path / "w", profile="trusted") as opened:
        yield opened


# read_file


async def test_reading_keeps_byte_order_mark_and_line_ends(room: Room) -> None:
    (room.workspace / "a.txt").write_bytes("\ufeffone\r\ntwo\rthree\n".encode())
    read = await value(room, "read_file", path="a.txt")
    assert read["content"] == "\ufeffone\r\ntwo\rthree\n"
    assert read["size"] == 18
    assert read["modified"].endswith("Z")


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (1, 1, "one\r\n"),
        (2, 3, "two\nthree"),
        (3, None, "three"),
        (None, 2, "one\r\ntwo\n"),
        (9, 12, ""),
        (2, 99, "two\nthree"),
    ],
)
async def test_a_range_of_lines(room: Room, start: int | None, end: int | None, expected: str) -> None:
    (room.workspace / "a.txt").write_bytes(b"one\r\ntwo\nthree")
    arguments = {"start_line": start, "end_line": end}
    read = await value(room, "read_file", path="a.txt", **{k: v for k, v in arguments.items() if v})
    assert read["content"] == expected
    assert read["total_lines"] == 3


async def test_a_range_that_ends_before_it_starts_is_refused(room: Room) -> None:
    (room.workspace / "a.txt").write_text("one\n")
    assert (
        await failure(room, "read_file", path="a.txt", start_line=3, end_line=2)
    ).code is Code.INVALID_ARGUMENTS


async def test_bytes_that_are_not_text_can_be_read_as_base64(room: Room) -> None:
    (room.workspace / "a.bin").write_bytes(b"\xff\x00")
    failed = await failure(room, "read_file", path="a.bin")
    assert failed.code is Code.NOT_TEXT
    assert "base64" in failed.message
    read = await value(room, "read_file", path="a.bin", encoding="base64")
    assert base64.b64decode(read["content"]) == b"\xff\x00"


async def test_more_than_a_megabyte_is_refused_with_its_size_but_its_lines_can_be_read(room: Room) -> None:
    (room.workspace / "big.txt").write_text("line\n" * 300_000)
    failed = await failure(room, "read_file", path="big.txt")
    assert failed.code is Code.TOO_LARGE
    assert "1500000" in failed.message
    read = await value(room, "read_file", path="big.txt", start_line=299_999)
    assert read["content"] == "line\nline\n"


async def test_json_is_returned_as_text(room: Room) -> None:
    (room.workspace / "a.json").write_text('{"a": 1}')
    assert (await value(room, "read_file", path="a.json"))["content"] == '{"a": 1}'


@pytest.mark.parametrize("name", ["fifo", "socket", "device"])
async def test_what_is_no_file_is_told_and_nothing_hangs(room: Room, name: str) -> None:
    import socket

    path = room.workspace / name
    if name == "fifo":
        os.mkfifo(path)
    elif name == "socket":
        where = os.open(room.workspace, os.O_RDONLY)
        server = socket.socket(socket.AF_UNIX)
        server.bind(f"/proc/self/fd/{where}/socket")
        server.close()
        os.close(where)
    else:
        try:
            os.mknod(path, 0o600 | 0o020000, os.makedev(1, 5))
        except PermissionError:
            pytest.skip("making a device needs root")
    for tool, more in (
        ("read_file", {}),
        ("write_file", {"content": "x"}),
        ("edit_file", {"search_text": "a", "replace_text": "b"}),
    ):
        failed = await failure(room, tool, path=name, **more)
        assert failed.code is Code.NOT_A_FILE


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("../x", Code.INVALID_PATH),
        ("/etc/passwd", Code.BLOCKED_BY_RULE),
        ("/etc/hostname", Code.INVALID_PATH),
        ("a/../../x", Code.INVALID_PATH),
        ("a\0b", Code.INVALID_PATH),
        ("x" * 300, Code.INVALID_PATH),
        ("a/" * 2500, Code.INVALID_PATH),
        ("missing.md", Code.FILE_NOT_FOUND),
        ("missing/deep.md", Code.FILE_NOT_FOUND),
        ("d", Code.NOT_A_FILE),
        ("a.md/x", Code.NOT_A_DIRECTORY),
        (".git/config", Code.CONTROL_FILE),
        ("d/.GIT/config", Code.CONTROL_FILE),
        ("brasstag.toml", Code.CONTROL_FILE),
        (".brasstag/state.db", Code.CONTROL_FILE),
        (".venv/bin/python", Code.CONTROL_FILE),
        ("outside", Code.INVALID_PATH),
        (".env", Code.BLOCKED_BY_RULE),
        ("deep/.ssh/id_rsa", Code.BLOCKED_BY_RULE),
    ],
)
async def test_a_path_that_cannot_be_read_has_its_code_and_no_host_path(
    room: Room, path: str, code: Code
) -> None:
    (room.workspace / "a.md").write_text("a")
    (room.workspace / "d").mkdir()
    (room.workspace / "outside").symlink_to("/etc/hostname")
    failed = await failure(room, "read_file", path=path)
    assert failed.code is code, failed
    assert str(room.workspace.parent) not in failed.message


# list_files


async def test_listing_tells_name_type_size_and_time(room: Room) -> None:
    (room.workspace / "b.md").write_text("12345")
    (room.workspace / "a").mkdir()
    (room.workspace / "a" / "deep.md").write_text("x")
    (room.workspace / "link").symlink_to("b.md")
    (room.workspace / ".hidden").write_text("h")
    listed = await value(room, "list_files")
    assert [(e["name"], e["type"]) for e in listed["entries"]] == [
        ("a", "directory"),
        ("b.md", "file"),
        ("link", "symlink"),
    ]
    assert listed["entries"][1]["size"] == 5
    assert listed["entries"][1]["modified"].endswith("Z")
    deep = await value(room, "list_directory", path=".", recursive=True, includeHidden=True)
    assert [e["name"] for e in deep["entries"]] == [".hidden", "a", "a/deep.md", "b.md", "link"]


async def test_listing_leaves_control_files_out(room: Room) -> None:
    for name in (".git", ".brasstag", ".venv", "src"):
        (room.workspace / name).mkdir()
        (room.workspace / name / "x").write_text("x")
    (room.workspace / "brasstag.toml").write_text("")
    listed = await value(room, "list_files", recursive=True, include_hidden=True)
    assert [e["name"] for e in listed["entries"]] == ["src", "src/x"]


async def test_names_that_are_not_text_are_counted_and_nothing_breaks(room: Room) -> None:
    os.close(os.open(os.fsencode(room.workspace) + b"/\xff\xfe", os.O_CREAT))
    (room.workspace / "emoji 🦫\n.md").write_text("x")
    listed = await value(room, "list_files")
    assert [e["name"] for e in listed["entries"]] == ["emoji 🦫\n.md"]
    assert listed["left_out"] == 1
    assert (await value(room, "search_code", query="x"))["matches"][0]["path"] == "emoji 🦫\n.md"


async def test_a_file_cannot_be_listed(room: Room) -> None:
    (room.workspace / "a.md").write_text("a")
    assert (await failure(room, "list_files", path="a.md")).code is Code.NOT_A_DIRECTORY


# write_file


async def test_writing_makes_directories_and_says_what_it_wrote(room: Room) -> None:
    written = await value(room, "write_file", path="x/y/z.md", content="héllo\n", why_created="A start.")
    assert written == {
        "path": "x/y/z.md", "size": 7, "size_bytes": 7, "mime_type": "text/markdown",
        "summary": "héllo",
        "message": "Created x/y/z.md: 1 line, 7 bytes. A start.",
    }  # fmt: skip
    assert (room.workspace / "x/y/z.md").read_text() == "héllo\n"


async def test_without_create_dirs_a_missing_directory_is_an_error(room: Room) -> None:
    assert (
        await failure(room, "write_file", path="x/y.md", content="", createDirs=False)
    ).code is Code.FILE_NOT_FOUND
    assert not (room.workspace / "x").exists()


async def test_base64_writes_bytes_and_what_is_not_base64_is_refused(room: Room) -> None:
    await value(
        room, "write_file", path="a.bin", content=base64.b64encode(b"\xff\0").decode(), encoding="base64"
    )
    assert (room.workspace / "a.bin").read_bytes() == b"\xff\0"
    assert (
        await failure(room, "write_file", path="b.bin", content="***", encoding="base64")
    ).code is Code.INVALID_ARGUMENTS


async def test_an_overwritten_file_keeps_its_mode(room: Room) -> None:
    (room.workspace / "run.sh").write_text("old")
    (room.workspace / "run.sh").chmod(0o750)
    await value(room, "write_file", path="run.sh", content="new")
    assert (room.workspace / "run.sh").stat().st_mode & 0o777 == 0o750


async def test_writing_a_hard_linked_file_never_changes_the_other_name(room: Room, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("keep me")
    os.link(outside, room.workspace / "inside.txt")
    await value(room, "write_file", path="inside.txt", content="changed")
    await value(room, "edit_file", path="inside.txt", search_text="changed", replace_text="again")
    assert outside.read_text() == "keep me"
    assert (room.workspace / "inside.txt").read_text() == "again"


async def test_writing_through_a_link_writes_where_it_leads(room: Room) -> None:
    (room.workspace / "real.md").write_text("old")
    (room.workspace / "link.md").symlink_to("real.md")
    await value(room, "write_file", path="link.md", content="new")
    assert (room.workspace / "link.md").is_symlink()
    assert (room.workspace / "real.md").read_text() == "new"


# edit_file


async def test_editing_replaces_the_first_and_tells_how_many_there_were(room: Room) -> None:
    (room.workspace / "a.md").write_bytes(b"one two one\r\n")
    edited = await value(room, "edit_file", path="a.md", search_text="one", replace_text="$1 \\1")
    assert edited == {"path": "a.md", "size": 15, "matches": 2}
    assert (room.workspace / "a.md").read_bytes() == b"$1 \\1 two one\r\n"


async def test_text_that_is_not_there_is_said_so(room: Room) -> None:
    (room.workspace / "a.md").write_text("one\r\ntwo  three")
    plain = await failure(room, "edit_file", path="a.md", search_text="four", replace_text="x")
    assert plain.code is Code.TEXT_NOT_FOUND
    assert plain.message == "Text not found in a.md"
    crlf = await failure(room, "edit_file", path="a.md", search_text="one\ntwo", replace_text="x")
    assert "CRLF" in crlf.message
    spaces = await failure(room, "edit_file", path="a.md", search_text="two three", replace_text="x")
    assert "white space" in spaces.message


async def test_expected_matches_makes_an_edit_strict(room: Room) -> None:
    (room.workspace / "a.md").write_text("one one")
    failed = await failure(
        room, "edit_file", path="a.md", search_text="one", replace_text="x", expected_matches=1
    )
    assert failed.code is Code.MATCH_COUNT
    assert failed.details == {"matches": 2, "expected": 1}
    assert (room.workspace / "a.md").read_text() == "one one"


# delete_file, move_file


async def test_deleting_tells_everything_that_is_gone(room: Room) -> None:
    (room.workspace / "d" / "e").mkdir(parents=True)
    (room.workspace / "d" / "a.md").write_text("a")
    (room.workspace / "d" / "link").symlink_to("../kept.md")
    (room.workspace / "kept.md").write_text("kept")
    failed = await failure(room, "delete_file", path="d")
    assert failed.code is Code.DIRECTORY_NOT_EMPTY
    gone = await value(room, "delete_file", path="d", recursive=True)
    assert sorted(gone["deleted"]) == ["d", "d/a.md", "d/e", "d/link"]
    assert [path.name for path in room.workspace.iterdir()] == ["kept.md"]


@pytest.mark.parametrize("path", [".", "", "./", "d/.."])
async def test_the_workspace_itself_cannot_be_deleted_or_moved(room: Room, path: str) -> None:
    (room.workspace / "d").mkdir()
    for failed in (
        await failure(room, "delete_file", path=path, recursive=True),
        await failure(room, "move_file", **{"from": path, "to": "x"}),
    ):
        assert failed.code in (Code.INVALID_PATH, Code.INVALID_ARGUMENTS)


async def test_a_directory_with_a_control_file_in_it_is_left_whole(room: Room) -> None:
    (room.workspace / "repo" / ".git").mkdir(parents=True)
    (room.workspace / "repo" / ".git" / "config").write_text("x")
    (room.workspace / "repo" / "a.md").write_text("a")
    for failed in (
        await failure(room, "delete_file", path="repo", recursive=True),
        await failure(room, "move_file", **{"from": "repo", "to": "elsewhere"}),
    ):
        assert failed.code is Code.CONTROL_FILE
    assert (room.workspace / "repo" / "a.md").exists()


async def test_moving_renames_and_does_not_replace_unless_told(room: Room) -> None:
    (room.workspace / "a.md").write_text("a")
    (room.workspace / "b.md").write_text("b")
    assert (await failure(room, "move_file", **{"from": "a.md", "to": "b.md"})).code is Code.ALREADY_EXISTS
    moved = await value(room, "move_file", **{"from": "a.md", "to": "b.md", "overwrite": True})
    assert moved == {"from": "a.md", "to": "b.md"}
    assert (room.workspace / "b.md").read_text() == "a"
    assert not (room.workspace / "a.md").exists()
    await value(room, "move_file", source="b.md", target="new/c.md")
    assert (room.workspace / "new" / "c.md").read_text() == "a"


# search_code


async def test_searching_finds_lines_in_files(room: Room) -> None:
    (room.workspace / "d").mkdir()
    (room.workspace / "a.md").write_text("zero\nThe whale.\nthree whale whale\nfour\n")
    (room.workspace / "d" / "b.txt").write_bytes(b"\xc3\xa9 whale\r\nend")
    found = await value(room, "search_code", query="whale")
    assert [(m["path"], m["line"], m["column"], m["text"]) for m in found["matches"]] == [
        ("a.md", 2, 5, "The whale."),
        ("a.md", 3, 7, "three whale whale"),
        ("d/b.txt", 1, 3, "é whale"),
    ]
    assert found["truncated"] is None
    assert found["files_searched"] == 2


async def test_context_globs_case_and_regex(room: Room) -> None:
    (room.workspace / "a.py").write_text("one\ndef f(x):\n    return 1\nDEF\n")
    (room.workspace / "a.md").write_text("def\n")
    found = await value(room, "search_code", query=r"^def \w+\(", regex=True, context=1)
    assert found["matches"] == [
        {
            "path": "a.py",
            "line": 2,
            "column": 1,
            "text": "def f(x):",
            "before": ["one"],
            "after": ["    return 1"],
        }
    ]
    only = await value(room, "search_code", query="def", case_sensitive=False, include=["*.py"])
    assert [(m["path"], m["line"]) for m in only["matches"]] == [("a.py", 2), ("a.py", 4)]
    without = await value(room, "search_code", query="def", exclude=["*.py"])
    assert [m["path"] for m in without["matches"]] == ["a.md"]


async def test_a_literal_query_means_its_letters(room: Room) -> None:
    (room.workspace / "a.md").write_text("a.b\naxb\n(a.b)*\n")
    found = await value(room, "search_code", query="(a.b)*")
    assert [m["line"] for m in found["matches"]] == [3]
    assert [m["line"] for m in (await value(room, "search_code", query="a.b"))["matches"]] == [1, 3]


async def test_a_truncated_search_says_so(room: Room) -> None:
    (room.workspace / "a.md").write_text("x\n" * 10)
    found = await value(room, "search_code", query="x", max_results=3)
    assert (len(found["matches"]), found["truncated"]) == (3, "results")
    assert (await value(room, "search_code", query="x", max_results=10))["truncated"] is None


@pytest.mark.parametrize("query", ["(a+)+$", "(a|a)*b", "(.*a){20}"])
async def test_a_pathological_expression_is_answered(room: Room, query: str) -> None:
    (room.workspace / "a.txt").write_text("a" * 50_000 + "!")
    assert isinstance((await value(room, "search_code", query=query, regex=True))["matches"], list)


@pytest.mark.parametrize("query", ["(", "a{1000}{1000}", "(?=x)", r"(a)\1", "[z-a]", "a\nb"])
async def test_an_expression_that_cannot_be_used_is_refused(room: Room, query: str) -> None:
    assert (await failure(room, "search_code", query=query, regex=True)).code is Code.INVALID_ARGUMENTS


async def test_binary_large_and_forbidden_files_are_skipped_and_counted(room: Room) -> None:
    (room.workspace / "a.bin").write_bytes(b"needle\0")
    (room.workspace / "big.txt").write_bytes(b"needle" + b" " * 16_000_000)
    (room.workspace / ".env").write_text("needle")
    (room.workspace / "a.md").write_text("needle")
    found = await value(room, "search_code", query="needle", include_hidden=True)
    assert [m["path"] for m in found["matches"]] == ["a.md"]
    assert found["skipped"] == {"binary": 1, "too_large": 1, "unreadable": 0, "forbidden": 1}


async def test_one_file_can_be_searched(room: Room) -> None:
    (room.workspace / "a.md").write_text("x\n")
    (room.workspace / "b.md").write_text("x\n")
    assert [m["path"] for m in (await value(room, "search_code", query="x", path="b.md"))["matches"]] == [
        "b.md"
    ]
    assert (await failure(room, "search_code", query="x", directory="missing")).code is Code.FILE_NOT_FOUND


async def test_very_long_lines_are_shown_in_part(room: Room) -> None:
    (room.workspace / "a.md").write_text("x" * 100_000)
    assert (await value(room, "search_code", query="x"))["matches"][0]["text"] == "x" * 500 + "…"


async def test_a_link_to_a_denied_file_does_not_tell_its_size(room: Room) -> None:
    (room.workspace / ".env.big").write_bytes(b"x" * 2_000_000)
    (room.workspace / "notes.md").symlink_to(".env.big")
    failed = await failure(room, "read_file", path="notes.md")
    assert failed.code is Code.BLOCKED_BY_RULE


async def test_a_glob_that_is_endless_is_refused(room: Room) -> None:
    failed = await failure(room, "search_code", query="x", include=["{" * 3000])
    assert failed.code is Code.INVALID_ARGUMENTS


async def test_a_file_of_one_mebibyte_is_read_and_one_byte_more_is_not(room: Room) -> None:
    for size, kind in ((1024 * 1024, Done), (1024 * 1024 + 1, Failed)):
        (room.workspace / "a.txt").write_bytes(b"x" * size)
        assert isinstance(await room.call("read_file", {"path": "a.txt"}), kind)
