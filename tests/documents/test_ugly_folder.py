"""A folder of ugly files: a scan of it ends, and each becomes a document or has a coded reason why not."""

import io
import os
import pwd
import socket
import zipfile
from pathlib import Path

import pytest

from brasstag import Room
from brasstag.documents.formats.text import decoded
from brasstag.documents.scan.intake import LINK
from brasstag.documents.scan.scanner import ScanReport
from brasstag.store.fulltext.index import LONGEST_BODY
from brasstag.words.errors import Code
from tests.documents.scans import all_rows, all_versions, bodies, live_rows, require_law, scanner_of

WORDS = "Käse und Brötchen"
TEXTS = {
    "utf8.txt": WORDS.encode(),
    "utf8-bom.txt": WORDS.encode("utf-8-sig"),
    "utf16.txt": WORDS.encode("utf-16"),
    "utf16-be.txt": b"\xfe\xff" + WORDS.encode("utf-16-be"),
    "utf32.txt": WORDS.encode("utf-32"),
    "latin1.txt": WORDS.encode("latin-1"),
    "cp1252.txt": "„Käse“ kostet heute – 5 €".encode("cp1252"),
    "crlf.txt": b"one\r\ntwo\rthree\n",
    "empty.txt": b"",
    "only-bom.txt": b"\xef\xbb\xbf",
    "one-line.txt": b"word " * 2_000_000,
    "no-newline.json": b'{"a": [' + b"1," * 5_000_000 + b"1]}",
    "escape.txt": b"\x1b[31mred\x1b[0m\n",
}
BINARIES = {
    "nul.txt": b"text\0with nul",
    "random.bin": bytes(range(256)) * 40,
    "half-utf16.txt": b"\xff\xfea\0b",
    "broken.pdf": b"%PDF-1.7\n1 0 obj <<",
    "broken.docx": b"PK\x03\x04" + b"\0" * 26 + b"word/",
    "broken.xlsx": b"PK\x03\x04\x14",
    "truncated.png": b"\x89PNG\r\n\x1a\n",
    "deep.html": b"<div>" * 50_000,
}
NAMES = (
    "📚 emoji.txt",
    "new\nline.txt",
    "-rf",
    "--help",
    " leading and trailing ",
    "tab\there",
    "quote\"'`$(x).txt",
    "back\\slash",
    "e\u0301-decomposed.txt",
    "\u200emark.txt",
    "n" * 255,
    "…",
    "~",
    "*?[]",
    "#hash",
    "!bang",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Everything that has ever gone wrong somewhere."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    for name, data in (TEXTS | BINARIES).items():
        (folder / name).write_bytes(data)
    for name in NAMES:
        (folder / name).write_text(f"the file {name!r}")
    (folder / "nested.zip").write_bytes(zipped(zipped(zipped(b"0" * 1_000_000))))
    for name, target in {
        "dangling": "nowhere",
        "loop": "loop",
        "there": "back",
        "back": "there",
        "out": "../../etc/passwd",
        "absolute": "/etc/passwd",
        "to-directory": ".",
        "not-utf8-target": b"\xff\xfe",
    }.items():
        os.symlink(target, folder / name)
    deep = folder
    for _ in range(60):
        deep = deep / "deeper"
    deep.mkdir(parents=True)
    (deep / "bottom").write_text("down here")
    (folder / "future.txt").write_text("from the future")
    os.utime(folder / "future.txt", (4e9, 4e9))
    (folder / "past.txt").write_text("from the past")
    os.utime(folder / "past.txt", (-1e9, -1e9))
    return folder


def zipped(data: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inner.zip", data)
    return packed.getvalue()


def add_oddities(folder: Path) -> "socket.socket":
    os.mkfifo(folder / "pipe")
    (folder / os.fsdecode(b"bad-\xff-name")).write_text("unspeakable")
    (folder / os.fsdecode(b"bad-\xff-folder")).mkdir()
    (folder / os.fsdecode(b"bad-\xff-folder") / "inside").write_text("unreachable")
    listening = socket.socket(socket.AF_UNIX)
    place = os.open(folder, os.O_PATH)
    try:
        # The path of a socket has to be short.
        listening.bind(f"/proc/self/fd/{place}/socket")
    finally:
        os.close(place)
    return listening


def told(report: ScanReport) -> list[tuple[str, Code]]:
    return sorted((problem.path, problem.code) for problem in report.problems)


async def test_each_becomes_a_document_or_has_a_reason_and_twice_is_the_same(folder: Path) -> None:
    oddities = add_oddities(folder)
    async with Room.in_memory(folder) as room:
        scanner = scanner_of(room)
        first = scanner.scan_all()
        rows, versions = all_rows(room), all_versions(room)
        again = scanner.scan_all()
        assert (
            told(first)
            == told(again)
            == [
                ("bad-\\udcff-folder", Code.INVALID_PATH),
                ("bad-\\udcff-name", Code.INVALID_PATH),
                ("pipe", Code.NOT_A_FILE),
                ("socket", Code.NOT_A_FILE),
            ]
        )
        assert again.differences == 0
        assert all_versions(room) == versions
        assert {path: row.state for path, row in all_rows(room).items()} == {
            path: row.state for path, row in rows.items()
        }
        entries = {
            path for path in os.listdir(folder) if (folder / path).is_symlink() or (folder / path).is_file()
        }
        assert {path for path in rows if "/" not in path} == entries - {os.fsdecode(b"bad-\xff-name")}
    oddities.close()


async def test_every_text_is_found_in_the_index_as_it_reads(folder: Path) -> None:
    async with Room.in_memory(folder) as room:
        scanner_of(room).scan_all()
        rows, index = live_rows(room), bodies(room)
        for name in ("utf8.txt", "utf8-bom.txt", "utf16.txt", "utf16-be.txt", "utf32.txt", "latin1.txt"):
            assert index[rows[name].id] == WORDS, name
        assert index[rows["cp1252.txt"].id] == "„Käse“ kostet heute – 5 €"
        assert index[rows["crlf.txt"].id] == "one\r\ntwo\rthree\n"
        assert index[rows["one-line.txt"].id] == ("word " * 2_000_000)[:LONGEST_BODY]
        assert "only its first" in rows["one-line.txt"].note
        assert index[rows["half-utf16.txt"].id] == "a\ufffd"
        for name in ("nul.txt", "random.bin"):
            assert (index[rows[name].id], rows[name].note) == ("", "it is no text"), name
        assert {rows[name].media_type for name in ("dangling", "loop", "out", "absolute")} == {LINK}
        assert room.store.blobs.get(rows["not-utf8-target"].state.partition(":")[2]) == b"\xff\xfe"
        assert "deeper/" * 60 + "bottom" in rows


async def test_all_of_it_can_be_given_back(folder: Path) -> None:
    async with Room.in_memory(folder) as room:
        scanner_of(room).scan_all()
        require_law(room)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become somebody who may not read")
async def test_what_may_not_be_read_is_a_problem_and_stays_what_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    (folder / "closed").mkdir(parents=True)
    (folder / "closed/inside").write_text("was readable once")
    (folder / "locked").write_text("was readable once")
    async with Room.in_memory(folder) as room:
        scanner = scanner_of(room)
        scanner.scan_all()
        before = live_rows(room)
        (folder / "locked").write_text("is changed now")
        (folder / "locked").chmod(0)
        (folder / "closed").chmod(0)
        nobody = pwd.getpwnam("nobody").pw_uid
        for place in (tmp_path, *tmp_path.parents):
            if place.stat().st_uid == 0 and not place.stat().st_mode & 0o001:
                place.chmod(place.stat().st_mode | 0o011)
        os.seteuid(nobody)
        try:
            first, again = scanner.scan_all(), scanner.scan_all()
        finally:
            os.seteuid(0)
        assert (
            told(first)
            == told(again)
            == [
                ("closed", Code.PERMISSION_DENIED),
                ("locked", Code.PERMISSION_DENIED),
            ]
        )
        assert {path: row.state for path, row in live_rows(room).items()} == {
            path: row.state for path, row in before.items()
        }
        for name in ("closed", "locked"):
            (folder / name).chmod(0o700)
        assert scanner.scan_all().changed == 1


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b"\xef\xbb\xbf", ""),
        (b"plain", "plain"),
        (b"\xff\xfe\0\0a\0\0\0", "a"),
        (b"\xff\xfea\0\0\0", None),
        (b"\0", None),
        (b"caf\xe9 au lait", "café au lait"),
        (b"\x81\x8d and so on, for long enough to be text", "\x81\x8d and so on, for long enough to be text"),
        (b"\xe9\xe8\xe0", None),
        (b"\x01\x02\x03\xff", None),
    ],
)
def test_bytes_are_read_as_the_text_they_are_or_none(data: bytes, text: str | None) -> None:
    assert decoded(data) == text


def test_a_character_that_is_cut_is_left_out() -> None:
    assert decoded("né".encode()[:-1], is_whole=False) == "n"
    assert decoded("né".encode("utf-16")[:-1], is_whole=False) == "n"
