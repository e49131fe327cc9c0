"""Drafts that look: module draft, view and reader."""

import os
import socket
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from brasstag.sandbox.workspace.draft import Draft
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.words.canonical import sha256
from brasstag.words.errors import Code
from brasstag.words.previews import Seen, file_state
from tests.sandbox.support import Hiding, fails


@pytest.fixture
def draft(workspace: Workspace) -> Draft:
    return Draft(workspace, writable=False)


@pytest.fixture
def special(data: Path) -> Iterator[None]:
    os.mkfifo(data / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(data)
        server.bind("socket")
        os.chdir(here)
        if os.geteuid() == 0:
            os.mknod(data / "device", 0o600 | stat.S_IFCHR, os.makedev(1, 3))
        yield


def test_a_file_is_read_and_what_was_seen_is_recorded(draft: Draft, data: Path) -> None:
    (data / "a").mkdir()
    (data / "a" / "b.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\n")
    assert draft.read_text("./a//b.txt") == "\ufeffone\r\ntwo\n"
    assert draft.preview().reads == (Seen("a/b.txt", file_state(sha256(b"\xef\xbb\xbfone\r\ntwo\n"))),)


def test_an_empty_and_a_large_file_are_read_whole(draft: Draft, data: Path) -> None:
    large = os.urandom(3_500_000)
    (data / "empty").write_bytes(b"")
    (data / "large").write_bytes(large)
    assert draft.read_bytes("empty") == b""
    assert draft.read_bytes("large") == large
    assert draft.read_bytes("large", limit=len(large)) == large


def test_a_file_over_the_limit_is_refused_with_both_numbers(draft: Draft, data: Path) -> None:
    (data / "big").write_bytes(b"x" * 11)
    with fails(Code.TOO_LARGE) as caught:
        draft.read_bytes("big", limit=10)
    assert caught.value.details == {"size": 11, "limit": 10}
    assert "11" in caught.value.message
    assert "10" in caught.value.message


def test_bytes_that_are_no_text_are_refused_with_a_way_out(draft: Draft, data: Path) -> None:
    (data / "image").write_bytes(b"ab\xff")
    with fails(Code.NOT_TEXT) as caught:
        draft.read_text("image")
    assert "base64" in caught.value.message
    assert draft.read_bytes("image") == b"ab\xff"


def test_what_is_not_there_is_not_found_and_that_is_recorded(draft: Draft, data: Path) -> None:
    (data / "file").write_text("x")
    for path in ("none", "no/such/file"):
        with fails(Code.FILE_NOT_FOUND):
            draft.read_bytes(path)
        assert not draft.exists(path)
        with fails(Code.FILE_NOT_FOUND):
            draft.look(path)
    with fails(Code.NOT_A_DIRECTORY):
        draft.read_bytes("file/below")
    assert not draft.exists("file/below")
    assert Seen("none", "absent") in draft.preview().reads


def test_looking_tells_kind_size_time_and_mode(draft: Draft, data: Path) -> None:
    (data / "f").write_text("abc")
    (data / "f").chmod(0o640)
    os.utime(data / "f", (1000, 1000))
    (data / "l").symlink_to("f")
    look = draft.look("f")
    assert (look.kind, look.size, look.mode) == ("file", 3, 0o640)
    assert look.modified == datetime.fromtimestamp(1000, UTC)
    assert draft.look("l") == look
    assert draft.look("l", follow=False).kind == "symlink"
    assert draft.look("").kind == "directory"
    assert draft.preview().reads == (Seen("f", "file"), Seen("l", "symlink"), Seen(".", "directory"))


def test_a_time_no_calendar_has_does_not_break_a_listing(draft: Draft, data: Path) -> None:
    (data / "f").write_text("")
    os.utime(data / "f", ns=(2**62, 2**62))
    assert next(draft.entries()).modified.tzinfo is UTC


def test_links_are_followed_inside_the_workspace_and_recorded_where_they_lead(
    draft: Draft, data: Path
) -> None:
    (data / "real" / "deep").mkdir(parents=True)
    (data / "real" / "deep" / "f").write_text("found")
    (data / "dir").symlink_to("real/deep")
    (data / "up").symlink_to("dir/../../real/./deep/f")
    (data / "real" / "twice").symlink_to("../dir")
    for path in ("dir/f", "up", "real/twice/f"):
        if path == "up":
            with fails(Code.INVALID_PATH):
                Draft(draft._workspace, writable=False).read_text("x/../../up")
        assert draft.read_text(path) == "found"
    assert [seen.path for seen in draft.preview().reads] == ["real/deep/f"]


@pytest.mark.parametrize(
    "target", ["../outside/secret.txt", "{project}/outside/secret.txt", "loop", "/proc/self/root"]
)
def test_links_out_of_the_workspace_are_refused_without_naming_the_host(
    draft: Draft, project: Path, data: Path, target: str
) -> None:
    (data / "loop").symlink_to("loop")
    (data / "link").symlink_to(target.format(project=project))
    for use in (draft.read_bytes, draft.look, draft.exists, draft.entries):
        with fails(Code.INVALID_PATH) as caught:
            use("link")
        assert str(project) not in caught.value.message
    with fails(Code.INVALID_PATH):
        draft.read_bytes("link/below")


@pytest.mark.usefixtures("special")
def test_pipes_sockets_and_devices_are_named_and_nothing_hangs(draft: Draft, data: Path) -> None:
    (data / "to_pipe").symlink_to("pipe")
    names = {"pipe", "socket", "device"} & set(os.listdir(data))
    for name in names | {"to_pipe"}:
        with fails(Code.NOT_A_FILE):
            draft.read_bytes(name)
        assert draft.look(name).kind == "other"
    assert {entry.name: entry.type for entry in draft.entries()} == dict.fromkeys(names, "other") | {
        "to_pipe": "symlink"
    }
    assert list(draft.open_files()) == []


def test_a_directory_is_not_read_as_a_file(draft: Draft, data: Path) -> None:
    (data / "d").mkdir()
    for path in ("d", ".", ""):
        with fails(Code.NOT_A_FILE):
            draft.read_bytes(path)


def test_what_may_not_be_read_says_so(draft: Draft, project: Path, data: Path) -> None:
    for place in (project, *project.parents[:4]):
        place.chmod(0o755)
    (data / "locked").write_text("x")
    (data / "locked").chmod(0)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)  # root may read everything
    try:
        with fails(Code.PERMISSION_DENIED):
            draft.read_bytes("locked")
    finally:
        os.seteuid(user)


def test_a_listing_is_ordered_and_follows_no_link(draft: Draft, data: Path) -> None:
    (data / "b" / "c").mkdir(parents=True)
    (data / "a").write_text("aa")
    (data / "b" / "c" / "z").write_text("")
    (data / "b" / "b.txt").write_text("")
    (data / "b" / "loop").symlink_to("..")
    (data / ".dot" / "x").mkdir(parents=True)
    assert [(entry.path, entry.type) for entry in draft.entries(recursive=True)] == [
        ("a", "file"),
        ("b", "directory"),
        ("b/b.txt", "file"),
        ("b/c", "directory"),
        ("b/c/z", "file"),
        ("b/loop", "symlink"),
    ]
    assert [entry.name for entry in draft.entries(hidden=True)] == [".dot", "a", "b"]
    assert [(entry.path, entry.name) for entry in draft.entries("b", recursive=True)][1:3] == [
        ("b/c", "c"),
        ("b/c/z", "c/z"),
    ]
    assert next(draft.entries()).size == 2
    with fails(Code.NOT_A_DIRECTORY):
        draft.entries("a")
    with fails(Code.FILE_NOT_FOUND):
        draft.entries("none")


def test_very_deep_directories_are_walked_without_recursion(draft: Draft, data: Path) -> None:
    deep = "/".join(["d"] * 400)
    os.makedirs(data / deep)
    assert sum(1 for _ in draft.entries(recursive=True)) == 400
    assert draft.look(deep).kind == "directory"


def test_directories_below_the_longest_path_are_left_out_and_counted(draft: Draft, data: Path) -> None:
    here = os.open(data, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("n" * 250, dir_fd=here)
        below = os.open("n" * 250, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    assert 10 < sum(1 for _ in draft.entries(recursive=True)) < 20
    assert draft.skipped_count == 1


def test_names_that_are_not_utf8_are_left_out_and_counted(draft: Draft, data: Path) -> None:
    (data / "good").write_text("good")
    Path(os.fsdecode(os.fsencode(data) + b"/b\xff\xfed")).write_text("bad")
    (data / "link").symlink_to(os.fsdecode(b"b\xff\xfed"))
    (data / "odd\nname\x1b[31m").write_text("odd")
    assert [entry.name for entry in draft.entries()] == ["good", "link", "odd\nname\x1b[31m"]
    assert draft.skipped_count == 1
    assert [path for path, _ in draft.open_files()] == ["good", "odd\nname\x1b[31m"]
    assert draft.preview().notes == ("2 paths could not be read or named and were left out",)
    with fails(Code.INVALID_PATH):
        draft.read_bytes("link")
    with fails(Code.FILE_NOT_FOUND) as caught:
        draft.read_bytes("no\nsuch\x1b")
    assert caught.value.message.isprintable()


def test_paths_the_policy_hides_are_left_out_and_counted(workspace: Workspace, data: Path) -> None:
    for path in ("a.txt", "keys/one", "keys/two", "b.key"):
        (data / path).parent.mkdir(exist_ok=True)
        (data / path).write_text(path)
    hiding = Hiding(lambda path: path == "keys" or path.endswith(".key"))
    draft = Draft(workspace, writable=False, visibility=hiding)
    assert [entry.path for entry in draft.entries(recursive=True)] == ["a.txt"]
    assert [path for path, _ in draft.open_files()] == ["a.txt"]
    assert draft.hidden_count == 4
    assert draft.preview().notes == ("4 paths are hidden by the policy and were left out",)


def test_files_are_opened_one_by_one_and_counted(draft: Draft, data: Path) -> None:
    for path in ("a.md", "sub/b.md", "sub/c.txt"):
        (data / path).parent.mkdir(exist_ok=True)
        (data / path).write_text(path)
    (data / "link.md").symlink_to("a.md")
    opened = []
    for path, file in draft.open_files(globs=["*.md"]):
        assert file.read() == path.encode()
        opened.append((path, file))
    assert [path for path, _ in opened] == ["a.md", "sub/b.md"]
    assert all(file.closed for _, file in opened)
    assert [path for path, _ in draft.open_files("sub/c.txt")] == ["sub/c.txt"]
    assert draft.preview().untracked_reads == 3
    assert draft.preview().reads == (Seen(".", "directory"), Seen("sub/c.txt", "file"))


def test_a_file_that_changes_between_two_reads_is_noticed(draft: Draft, data: Path) -> None:
    (data / "f").write_text("one")
    draft.read_text("f")
    (data / "f").write_text("two")
    with fails(Code.CHANGED):
        draft.read_text("f")
    assert not draft.exists("g")
    (data / "g").write_text("now")
    with fails(Code.CHANGED):
        draft.read_text("g")


def test_a_closed_draft_does_nothing_any_more(draft: Draft, data: Path) -> None:
    (data / "a").write_text("a")
    (data / "b").write_text("b")
    listing, files = draft.entries(), draft.open_files()
    next(listing)
    next(files)
    draft.close()
    for use in (draft.read_bytes, draft.look, draft.exists, draft.entries, draft.open_files, draft.read_text):
        with fails(Code.CANCELLED):
            use("a")
    for iterator in (listing, files):
        with fails(Code.CANCELLED):
            next(iterator)
    assert draft.preview().untracked_reads == 1


def test_no_descriptor_is_left_open(draft: Draft, data: Path) -> None:
    (data / "d").mkdir()
    (data / "d" / "f").write_text("f")
    (data / "l").symlink_to("d/f")
    (data / "env").mkdir()
    (data / "env" / "pyvenv.cfg").write_text("")
    before = len(os.listdir("/proc/self/fd"))
    for path in ("d/f", "l", "d", "none/x", "d/f/x", "env/x", "l/x"):
        for use in (draft.read_bytes, draft.exists, lambda path: list(draft.entries(path))):
            try:
                use(path)
            except Exception:
                continue
    list(draft.open_files())
    next(draft.open_files())
    assert len(os.listdir("/proc/self/fd")) == before
