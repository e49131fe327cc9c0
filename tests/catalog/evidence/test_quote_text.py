"""Quotes are compared word for word: marks and white space may differ, letters may not."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from brasstag.catalog.evidence.quote_text import FoldedLines, folded, lines_with, stands_in_line

TEXT = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), min_size=1)
LINES = st.lists(TEXT.filter(folded), min_size=1, max_size=6)


def numbered(*lines: str) -> FoldedLines:
    return FoldedLines(dict(enumerate(lines, start=1)))


@given(LINES, st.data())
def test_whole_words_of_any_line_of_any_text_stand_there(lines: list[str], data: st.DataObject) -> None:
    number = data.draw(st.integers(1, len(lines)))
    words = lines[number - 1].split()
    begin = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(begin + 1, len(words)))
    quote = data.draw(st.sampled_from([" ", "  ", "\n", "\u00a0"])).join(words[begin:end])
    assume(folded(quote))
    assert stands_in_line(quote, numbered(*lines), number)
    assert lines_with(quote, numbered(*lines), most=len(lines)).count(number) == 1


@given(LINES, st.data())
def test_a_quote_may_go_on_in_the_next_lines(lines: list[str], data: st.DataObject) -> None:
    first = data.draw(st.integers(1, len(lines)))
    last = data.draw(st.integers(first, len(lines)))
    assert stands_in_line("\n".join(lines[first - 1 : last]), numbered(*lines), first)


LETTERS = st.characters(categories=["Ll", "Lu", "Lo"])


@given(st.text(LETTERS, min_size=1), st.data())
def test_a_changed_letter_never_stands_there(word: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(word) - 1))
    other = data.draw(LETTERS)
    changed = word[:place] + other + word[place + 1 :]
    # A letter may be written in two ways that are one letter; a shorter form could be a part of the whole.
    assume(folded(changed) != folded(word) and len(folded(changed)) >= len(folded(word)))
    for before, after in (("", ""), ("1 ", " 2"), ("", "\n3")):
        text = f"{before}{word}{after}"
        assert not stands_in_line(text.replace(word, changed), numbered(*text.split("\n")), 1)


@pytest.mark.parametrize(
    ("line", "quote"),
    [
        ("“Don’t,” she said—softly.", '"Don\'t," she said-softly.'),
        ("„Komm“, sagte er … leise", '"Komm", sagte er ... leise'),
        ("Il a dit «\u00a0non\u00a0».", 'Il a dit " non ".'),
        ("cafe\u0301 de nuit", "caf\u00e9 de nuit"),
        ("Ｆｕｌｌ　ｗｉｄｔｈ", "Full width"),
        ("a\u00adb soft\u200bly", "ab softly"),
        ("彼女は「行かない」と言った。", "「行かない」"),
        ("Она не пришла домой", "не пришла"),
        ("لم تأتِ إلى البيت", "إلى البيت"),
        ("ไม่มีใครมา", "มีใครมา"),
        ("नहीं आई", "नहीं आई"),
    ],
)
def test_marks_forms_and_spaces_count_alike_in_every_script(line: str, quote: str) -> None:
    assert stands_in_line(quote, numbered(line), 1)


@pytest.mark.parametrize(
    ("line", "quote"),
    [
        ("He was unable to leave.", "able to leave"),
        ("She is 15 years old.", "5 years old"),
        ("He never came.", "He never cam"),
        ("résumé", "resume"),
        ("cafe\u0301", "cafe"),
        ("Anna came.", "anna came."),
        ("He did not go.", "He did go."),
        ("x\u0301y", "x"),
        ("नहीं", "नह"),
        ("", "anything"),
        ("anything", " "),
    ],
)
def test_what_says_something_else_does_not_stand_there(line: str, quote: str) -> None:
    assert not stands_in_line(quote, numbered(line), 1)


def test_a_quote_has_to_begin_in_the_named_line() -> None:
    lines = numbered("one two", "", "three four", "five")
    assert stands_in_line("two three", lines, 1)
    assert not stands_in_line("three four", lines, 1)
    assert not stands_in_line("three four", lines, 2)
    assert lines_with("three four", lines) == [3]
    assert lines_with("four\nfive", lines) == [3]
