"""Comparing: nothing that differs is left out."""

from hypothesis import given, settings
from hypothesis import strategies as st

from brasstag.documents.comparing import diff_lines


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
