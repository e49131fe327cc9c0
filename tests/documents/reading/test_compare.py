"""Comparing: nothing that differs is left out."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brasstag.documents.formats.kinds import kind_of
from brasstag.documents.reading.compare import compare, diff_lines
from brasstag.words.canonical import sha256
from brasstag.words.documents import Content
from brasstag.words.errors import Code, ToolError


def diff(before: str, after: str) -> list[str]:
    return list(diff_lines(before.encode(), after.encode()))


texts = st.text(alphabet="ab-+@ \n\r\t\x0b\x0c\x1c\x85\u2028", max_size=30)


@given(texts, texts)
@settings(max_examples=300)
def test_whatever_differs_shows(before: str, after: str) -> None:
    assert bool([line for line in diff(before, after) if not line.startswith("@ lines end")]) == (
        before != after
    )


@given(st.lists(texts.map(lambda text: text.replace("\n", "").replace("\r", "")), max_size=8))
@settings(max_examples=100)
def test_a_new_file_is_shown_whole(lines: list[str]) -> None:
    text = "".join(f"{line}\n" for line in lines)
    assert [line[1:] for line in diff("", text)[1:]] == lines


def test_lines_that_look_like_a_header_are_not_taken_for_one() -> None:
    assert diff("-- a\n", "++ b\n") == ["@@ -1 +1 @@", "--- a", "+++ b"]


def test_a_changed_line_end_shows() -> None:
    assert diff("a\nb\n", "a\r\nb\n") == ["@@ -1,2 +1,2 @@", "-a", "+a\r", " b"]
    assert diff("a\r\nb\r\n", "a\r\nc\r\n") == [
        "@ lines end with CR LF, before and after",
        "@@ -1,2 +1,2 @@",
        " a",
        "-b",
        "+c",
    ]
    assert diff("a\n", "a")[-1] == "@ the last line no longer ends with a line break"


def test_bytes_that_are_not_text_are_told_by_size() -> None:
    assert list(diff_lines(b"\xff\xfe", b"abc")) == ["@ not text: 2 bytes become 3 bytes"]
    assert list(diff_lines(None, b"abc")) == ["@ the bytes are not kept here any more"]


def content(path: str, data: bytes) -> Content:
    return Content(path, 1, sha256(data), kind_of(path, data), data)


def read(one: Content) -> str:
    """Read a content as UTF-8; this is all these documents need."""
    return one.data.decode("utf-8-sig")


@given(st.binary(max_size=8), st.binary(max_size=8))
@settings(max_examples=200)
def test_two_contents_are_the_same_only_if_all_their_bytes_are(old: bytes, new: bytes) -> None:
    found = compare(
        content("a", old), content("b", new), lambda one: one.data.decode("latin-1").replace("\0", "?")
    )
    assert found.same == (old == new) == (not found.lines)


def test_what_is_gone_differs_in_all_of_it() -> None:
    gone = compare(content("a.md", b"one\ntwo\n"), None, read)
    assert (gone.same, gone.form, gone.lines) == (False, "text", ("@@ -1,2 +0,0 @@", "-one", "-two"))
    (told,) = compare(content("a.bin", b"\0"), None, read).lines
    assert told.startswith("@ not text: 1 byte (SHA-256 6e340b9cffb3…) become")
    assert compare(content("a.md", b""), None, read).same is False


@pytest.mark.parametrize("code", [Code.CANNOT_CONVERT, Code.TOO_LARGE])
def test_what_cannot_be_converted_is_compared_by_its_bytes(code: Code) -> None:
    def fail(_one: Content) -> str:
        raise ToolError(code, "there is no text")

    found = compare(content("a.html", b"<html>a"), content("b.html", b"<html>b"), fail)
    assert (found.same, found.form) == (False, "bytes")


@pytest.mark.parametrize("code", [Code.NOT_SUPPORTED, Code.TIMEOUT, Code.CANCELLED, Code.NOT_KEPT])
def test_what_may_be_read_another_time_is_not_compared_by_less(code: Code) -> None:
    def fail(_one: Content) -> str:
        raise ToolError(code, "not now")

    with pytest.raises(ToolError) as failed:
        compare(content("a.html", b"<html>a"), content("b.html", b"<html>b"), fail)
    assert failed.value.code is code


def test_a_small_change_of_a_long_text_is_a_small_diff() -> None:
    before = [f"{n}" for n in range(50_000)]
    after = [*before[:10], "new", *before[11:]]
    shown = diff("\n".join(before), "\n".join(after))
    assert shown == ["@@ -8,7 +8,7 @@", " 7", " 8", " 9", "-10", "+new", " 11", " 12", " 13"]


def applied(old: list[str], lines: list[str]) -> list[str]:
    """Apply a diff of whole lines as `patch` would, and nothing but it."""
    made: list[str] = []
    at = 0
    for line in lines:
        if line.startswith("@@ -"):
            start = int(line[4:].split()[0].split(",")[0])
            length = line[4:].split()[0].partition(",")[2]
            begin = start if length == "0" else start - 1
            made += old[at:begin]
            at = begin
        elif line.startswith("-"):
            assert old[at] == line[1:]
            at += 1
        elif line.startswith("+"):
            made.append(line[1:])
        elif line.startswith(" "):
            assert old[at] == line[1:]
            made.append(line[1:])
            at += 1
    return made + old[at:]


some_lines = st.lists(st.sampled_from("abcdefgh"), max_size=40)


@given(some_lines, some_lines)
@settings(max_examples=500)
def test_what_a_diff_says_makes_the_one_text_of_the_other(old: list[str], new: list[str]) -> None:
    lines = diff("".join(f"{line}\n" for line in old), "".join(f"{line}\n" for line in new))
    assert applied(old, lines) == new


def test_texts_made_to_take_long_do_not() -> None:
    # Every other line is one of many that stand again and again: what difflib alone takes minutes for.
    old = [f"common {n % 101}" if n % 2 else f"old {n}" for n in range(20_000)]
    new = [f"common {n * 7 % 101}" if n % 2 else f"new {n}" for n in range(20_000)]
    lines = diff("\n".join(old), "\n".join(new))
    assert applied(old, lines) == new
