"""Documents on their way: what a receiver finds of them."""

import hashlib
import json
import os
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brasstag.documents.formats.kinds import kind_of_bytes
from brasstag.documents.formats.pictures import picture_size
from brasstag.documents.reading.carry import LEAST_SUMMARY, MOST_SUMMARY, Receiver, carry
from brasstag.documents.reading.examine import HEAD, READ_AT_ONCE
from brasstag.sandbox.workspace.draft import Draft
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.store.contents.blobs import Blobs
from brasstag.words.canonical import sha256
from brasstag.words.documents import Carried
from brasstag.words.errors import Code, ToolError
from brasstag.words.tokens import IMAGE_TOKENS, estimated_tokens
from tests.sandbox.support import fails, open_workspace

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes([0, 0, 0, 2, 0, 0, 0, 3, 8, 6, 0, 0, 0, 1, 2, 3, 4])
JPEG = b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc2\0\x0b\x08\0\x03\0\x02\x01\x01\x11\0"
GIF = b"GIF89a\x02\0\x03\0\0\0\0;"
WEBP = b"RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x01\0\0\x02\0\0"
LOSSY = b"RIFF\x16\0\0\0WEBPVP8 \x0a\0\0\0\0\0\0\x9d\x01\x2a\x02\0\x03\0"
LOSSLESS = b"RIFF\x16\0\0\0WEBPVP8L\x0a\0\0\0\x2f" + (1 | 2 << 14).to_bytes(4, "little") + b"\0" * 5
PLENTY = 20_000


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "outside.txt").write_text("SECRET")
    return tmp_path / "data"


@pytest.fixture
def workspace(data: Path) -> Iterator[Workspace]:
    with open_workspace(data.parent) as workspace:
        yield workspace


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "blobs")


Carry = Callable[..., tuple[Carried, ...]]


@pytest.fixture
def carried(workspace: Workspace, blobs: Blobs) -> Carry:
    def carried(*paths: str, budget: int = PLENTY, loads: bool = False) -> tuple[Carried, ...]:
        return carry(Draft(workspace, writable=False), paths, Receiver(budget, loads=loads), blobs.put)

    return carried


class TestWhole:
    def test_a_small_text_travels_whole(self, data: Path, carried: Carry) -> None:
        (data / "a.csv").write_bytes(b"x,y\r\n1,2\r\n")
        (one,) = carried("a.csv")
        assert one == Carried(
            "a.csv",
            "text/csv",
            10,
            sha256(b"x,y\r\n1,2\r\n"),
            7,
            "x,y\r\n1,2\r\n",
            tokenizer="o200k_base",
        )

    def test_an_empty_file_travels_whole_whatever_the_budget(self, data: Path, carried: Carry) -> None:
        (data / "a.md").touch()
        (one,) = carried("a.md", budget=0)
        assert (one.media_type, one.tokens, one.text, one.complete) == ("text/markdown", 0, "", True)

    def test_a_byte_order_mark_is_not_part_of_the_text(self, data: Path, carried: Carry) -> None:
        (data / "a.txt").write_bytes("\ufeffÜber".encode())
        (one,) = carried("a.txt")
        assert one.text == "Über"
        assert one.size_bytes == 8

    def test_a_picture_is_kept_and_named_by_its_digest(
        self, data: Path, carried: Carry, blobs: Blobs
    ) -> None:
        (data / "chart.txt").write_bytes(PNG)
        (one,) = carried("chart.txt")
        assert (one.media_type, one.image, one.complete) == ("image/png", True, True)
        assert one.tokens == IMAGE_TOKENS
        assert blobs.get(one.digest) == PNG

    @pytest.mark.parametrize(
        ("beginning", "expected"),
        [
            (JPEG, "image/jpeg"),
            (GIF, "image/gif"),
            (WEBP, "image/webp"),
            (LOSSY, "image/webp"),
            (LOSSLESS, "image/webp"),
            (b"%PDF-1.7\n\xe2\xe3", "application/pdf"),
            (b"\x7fELF\0", "application/octet-stream"),
            (b"PK\x03\x04garbage", "application/zip"),
            (b"PAR1\x15\x04\x15\x10", "application/vnd.apache.parquet"),
            (b"t\0e\0x\0t\0", "application/octet-stream"),
        ],
    )
    def test_what_is_not_text_is_told_by_its_first_bytes(
        self, data: Path, carried: Carry, beginning: bytes, expected: str
    ) -> None:
        (data / "thing.md").write_bytes(beginning)
        (one,) = carried("thing.md")
        assert one.media_type == expected
        assert one.image == expected.startswith("image/")

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("a.MD", "text/markdown"),
            ("a.json", "application/json"),
            ("a.svg", "image/svg+xml"),
            ("d.csv/notes", "text/plain"),
            (".csv", "text/csv"),
            ("Makefile", "text/x-makefile"),
        ],
    )
    def test_a_text_is_told_by_its_name(self, data: Path, carried: Carry, name: str, expected: str) -> None:
        (data / name).parent.mkdir(exist_ok=True)
        (data / name).write_text("GIF89a and other words")
        (one,) = carried(name)
        assert (one.media_type, one.image, one.text) == (expected, False, "GIF89a and other words")

    def test_each_document_comes_once_in_the_order_given(self, data: Path, carried: Carry) -> None:
        for name in "abc":
            (data / name).write_text(name * 9)
        found = carried("c", "./a", "b", "x/../a", "c")
        assert [one.path for one in found] == ["c", "a", "b"]

    def test_links_inside_the_workspace_are_followed(self, data: Path, carried: Carry) -> None:
        (data / "a.md").write_text("text")
        (data / "link.md").symlink_to("a.md")
        assert carried("link.md")[0].text == "text"


class TestRefusals:
    @pytest.mark.parametrize("picture", [PNG, JPEG, GIF, WEBP, LOSSY, LOSSLESS])
    def test_the_size_of_a_picture_is_read_from_its_header(self, picture: bytes) -> None:
        kind = kind_of_bytes(picture)
        assert kind is not None
        assert picture_size(picture, kind) == (2, 3)

    @pytest.mark.parametrize(
        "broken",
        [
            PNG[:8] + b"\0",
            PNG[:16] + b"\0\0\0\0" + PNG[20:],
            PNG[:16] + b"\xff" * 4 + PNG[20:],
            JPEG[:12],
            b"\xff\xd8\xff\xe0\0\0" + b"\0" * 50,
            GIF[:8],
            WEBP[:20],
            WEBP[:12] + b"ABCD" + WEBP[16:],
        ],
    )
    def test_a_picture_without_a_readable_header_is_not_carried(
        self, data: Path, blobs: Blobs, carried: Carry, broken: bytes
    ) -> None:
        (data / "broken.png").write_bytes(broken)
        with pytest.raises(ToolError, match=r"broken\.png begins like image/") as raised:
            carried("broken.png")
        assert raised.value.code is Code.INVALID_ARGUMENTS
        assert not blobs.has(sha256(broken))

    @pytest.mark.parametrize(
        ("path", "code"),
        [
            ("missing.md", Code.FILE_NOT_FOUND),
            ("folder", Code.NOT_A_FILE),
            (".", Code.NOT_A_FILE),
            ("../outside.txt", Code.INVALID_PATH),
            ("/etc/passwd", Code.INVALID_PATH),
            ("way-out", Code.INVALID_PATH),
            ("pipe", Code.NOT_A_FILE),
            ("a.md/b", Code.NOT_A_DIRECTORY),
            ("", Code.NOT_A_FILE),
            ("a\0b", Code.INVALID_PATH),
        ],
    )
    def test_what_cannot_be_carried_is_named_and_nothing_is_kept(
        self, data: Path, carried: Carry, blobs: Blobs, path: str, code: Code
    ) -> None:
        (data / "a.md").write_text("text")
        (data / "chart.png").write_bytes(PNG)
        (data / "folder").mkdir()
        (data / "way-out").symlink_to("../outside.txt")
        os.mkfifo(data / "pipe")
        with fails(code) as caught:
            carried("chart.png", path)
        assert "SECRET" not in caught.value.message
        assert path.isprintable() is False or path in caught.value.message or path in ("", ".")
        assert not blobs.has(sha256(PNG))

    def test_a_file_that_may_not_be_read_is_named(self, data: Path, carried: Carry) -> None:
        (data / "locked.md").write_text("text")
        (data / "locked.md").chmod(0)
        user = os.geteuid()
        if user == 0:
            os.seteuid(65534)  # root may read everything
        try:
            with fails(Code.PERMISSION_DENIED) as caught:
                carried("locked.md")
        finally:
            os.seteuid(user)
        assert "locked.md" in caught.value.message

    def test_a_file_that_changes_between_two_looks_is_not_carried_half_and_half(
        self, data: Path, workspace: Workspace
    ) -> None:
        (data / "a.png").write_bytes(PNG)
        (data / "b.md").write_text("before")

        def keep(_: bytes) -> str:
            (data / "b.md").write_text("after!")
            return ""

        with pytest.raises(ToolError) as caught:
            carry(Draft(workspace, writable=False), ["a.png", "b.md"], Receiver(PLENTY), keep)
        assert caught.value.code is Code.CHANGED


class TestInPart:
    def test_a_reader_is_told_to_load_no_more_at_once_than_may_travel(
        self, data: Path, carried: Carry
    ) -> None:
        (data / "long.txt").write_text("0123456789012345678\n" * 10_000)
        (little,), (much,) = carried("long.txt", budget=500), carried("long.txt", budget=20_000)
        asked = [json.loads(one.how[one.how.index("{") : one.how.index("}") + 1]) for one in (little, much)]
        lines = [one["end_line"] - one["start_line"] + 1 for one in asked]
        assert lines == [100, 2000]

    def test_a_table_over_budget_shows_header_rows_and_how_many_there_are(
        self, data: Path, carried: Carry
    ) -> None:
        rows = "".join(f"{n},north,{n * 7}\n" for n in range(50_000))
        (data / "sales.csv").write_text(f"id,region,amount\n{rows}")
        (one,) = carried("sales.csv", budget=1000)
        assert not one.complete
        assert one.text.startswith(
            "A table with 50000 lines below its header.\nIt begins:\nid,region,amount\n0,north,0\n"
        )
        assert one.digest == sha256((data / "sales.csv").read_bytes())
        shown = one.text.count("\n") - 1
        assert one.how.startswith(
            f'call read_file with {{"path": "sales.csv", "start_line": {shown + 1}, "end_line": '
        )
        assert one.how.endswith("it has 50001 lines")
        assert estimated_tokens(one.text) <= 1000

    def test_a_long_page_shows_its_headings(self, data: Path, carried: Carry) -> None:
        body = "\n".join(["words " * 20] * 200)
        (data / "a.md").write_text(f"# One\n{body}\n```\n# no heading\n```\n## Two\n{body}\n")
        (one,) = carried("a.md", budget=500)
        assert "Its headings, or the first of them:\nline 1: # One\nline 205: ## Two\n" in one.text
        assert "no heading" not in one.text

    def test_a_line_without_end_is_cut(self, data: Path, carried: Carry) -> None:
        (data / "a.json").write_text("[" + "1," * 300_000 + "1]")
        (data / "b.json").write_text("[" + "1," * 900_000 + "1]")
        a, b = carried("a.json", "b.json", budget=2000)
        assert a.text.startswith("A text of 1 line.\nIt begins:\n[1,1,")
        assert a.text.endswith("… (line cut here)")
        assert a.how == 'call read_file with {"path": "a.json"}'
        assert "search_code" in b.how

    def test_a_line_the_head_holds_only_half_is_not_passed_off_as_whole(
        self, data: Path, carried: Carry
    ) -> None:
        line = "é" * 99 + "\n"
        (data / "a.txt").write_text(line * 1000 + "end\n")
        (one,) = carried("a.txt", budget=MOST_SUMMARY * 10)
        *quoted, last = one.text.split("\n")[2:]
        assert set(quoted) == {line[:-1]}
        assert last == line[:-1] or last.endswith("… (line cut here)")
        assert len(one.text.encode()) <= HEAD + 100

    def test_what_is_not_text_is_described_only(self, data: Path, carried: Carry) -> None:
        (data / "a.zip").write_bytes(b"PK\x03\x04\0\0")
        (one,) = carried("a.zip")
        assert (one.complete, one.tokens, one.image) == (False, 0, False)
        assert one.how == "use a tool that reads application/zip"

    def test_a_picture_that_is_too_large_is_described_only(
        self, data: Path, carried: Carry, blobs: Blobs
    ) -> None:
        large = PNG + b"\0" * READ_AT_ONCE
        (data / "a.png").write_bytes(large)
        (data / "b.txt").write_text("word " * 4000)
        one, beside = carried("a.png", "b.txt")
        assert (one.image, one.complete, one.media_type) == (False, False, "image/png")
        assert "too large" in one.text
        assert beside.complete
        assert not blobs.has(sha256(large))

    def test_pictures_count_against_the_budget(self, data: Path, carried: Carry) -> None:
        for name in "abc":
            (data / name).write_bytes(PNG + name.encode())
        assert [one.image for one in carried("a", "b", "c", budget=2 * IMAGE_TOKENS + 100)] == [
            True,
            True,
            False,
        ]

    def test_a_huge_file_is_never_in_memory(self, data: Path, carried: Carry) -> None:
        size = 200_000_000
        with (data / "huge.bin").open("wb") as file:
            file.truncate(size)
        tracemalloc.start()
        try:
            (one,) = carried("huge.bin", budget=10**9)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert one.size_bytes == size
        assert peak < 20_000_000

    def test_a_large_text_is_read_through_in_pieces(self, data: Path, carried: Carry) -> None:
        text = ("word " * 19 + "ende\n").encode() * 60_000
        (data / "large.txt").write_bytes(text)
        (one,) = carried("large.txt", budget=10**9)
        assert len(text) > READ_AT_ONCE
        assert (one.complete, one.digest) == (False, hashlib.sha256(text).hexdigest())
        assert one.text.startswith("A text of 60000 lines.\n")

    @pytest.mark.parametrize("strange", [b"\xff", b"\0"])
    def test_one_strange_byte_far_into_a_large_text_does_not_make_it_none(
        self, data: Path, carried: Carry, strange: bytes
    ) -> None:
        (data / "large.txt").write_bytes(b"word\n" * 1_100_000 + strange)
        (one,) = carried("large.txt")
        assert one.media_type == "text/plain"
        assert one.text.startswith("A text of 1100001 lines.\nIt begins:\nword\n")

    def test_more_than_read_file_takes_is_not_promised_by_it(self, data: Path, carried: Carry) -> None:
        (data / "large.txt").write_bytes(b"word word\n" * 6_500_000)
        assert "read_file reads" in carried("large.txt")[0].how


class TestSharing:
    def test_small_ones_travel_whole_beside_a_large_one(self, data: Path, carried: Carry) -> None:
        (data / "large.txt").write_text("word\n" * 50_000)
        (data / "small.txt").write_text("word\n" * 10)
        large, small = carried("large.txt", "small.txt", budget=500)
        assert small.complete
        assert not large.complete

    @given(st.lists(st.integers(0, 3000), min_size=1, max_size=8), st.integers(0, 4000))
    @settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_together_they_keep_to_the_budget(
        self, data: Path, carried: Carry, sizes: list[int], budget: int
    ) -> None:
        for number, size in enumerate(sizes):
            (data / f"{number}.txt").write_text("a line of text\n" * size)
        found = carried(*(f"{number}.txt" for number in range(len(sizes))), budget=budget)
        shown = sum(estimated_tokens(one.text) for one in found)
        assert shown <= max(budget, LEAST_SUMMARY * len(found))
        whole = [one.tokens for one in found if one.complete]
        partial = [one.tokens for one in found if not one.complete]
        assert not whole or not partial or max(whole) <= min(partial)
        if sum(one.tokens for one in found) <= budget:
            assert not partial
