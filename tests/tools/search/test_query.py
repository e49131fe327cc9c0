"""Queries as ripgrep is asked them: whatever RE2 matches on a line, the translation has to match there too."""

import re
import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from brasstag.tools.search.query import compiled, translated
from brasstag.words.errors import Code, ToolError

LETTERS = "ab kKsS19_-.é ßſKжЖθ\t\r\0(["
LINES = st.lists(
    st.one_of(
        st.sampled_from([*LETTERS, "needle", "Needle"]).map(str.encode), st.binary(min_size=1, max_size=2)
    ),
    max_size=8,
).map(lambda pieces: b"".join(pieces).replace(b"\n", b""))


def agrees(query: str, regex: bool, case_sensitive: bool, line: bytes) -> bool:
    """Say whether the translation, if there is one, matches where RE2 does; Python's own engine reads it as ripgrep does."""
    bytewise = translated(query, regex, case_sensitive)
    if bytewise is None or compiled(query, regex, case_sensitive).search(line) is None:
        return True
    return re.search(bytewise.encode(), line) is not None


@given(st.text(LETTERS, min_size=1, max_size=6), st.booleans(), LINES)
@example("ſ", False, b"S")
@example("K", False, b"k")
@example("θ", False, "ϴ".encode())
def test_a_translated_text_matches_where_re2_does(query: str, case_sensitive: bool, line: bytes) -> None:
    line += query.swapcase().encode() if not case_sensitive else query.encode()
    assert agrees(query, False, case_sensitive, line)
    assert translated(query, False, case_sensitive) is not None


ATOMS = st.one_of(
    st.sampled_from(
        [
            ".",
            r"\d",
            r"\D",
            r"\w",
            r"\W",
            r"\s",
            r"\S",
            r"\b",
            r"\B",
            "^",
            "$",
            r"\.",
            r"\t",
            "a",
            "k",
            "S",
            "é",
            "-",
            "{",
            "]",
        ]
    ),
    st.builds(
        lambda negated, members: f"[{negated}{members}]",
        st.sampled_from(["", "^"]),
        st.lists(
            st.sampled_from(
                ["a", "k", "S", "a-z", "Z-a", "é", "s-é", r"\d", r"\W", r"\]", r"\t", "+--", "ſ", "."]
            ),
            min_size=1,
            max_size=3,
        ).map("".join),
    ),
)
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("".join),
        st.builds("({}|{})".format, inner, inner),
        st.builds(
            "(?:{}){}".format,
            inner,
            st.sampled_from(["*", "+", "?", "{2}", "{1,}", "{0,2}", "{,2}", "{02}", "+?"]),
        ),
    ),
    max_leaves=6,
)


@given(EXPRESSIONS, st.booleans(), LINES)
@example(r"[^é]", False, b"k")
@example(r"[^s]", False, "ſ".encode())
@example(r"a.b", True, b"a\xed\xa0\x80b")
def test_a_translated_expression_matches_where_re2_does(
    query: str, case_sensitive: bool, line: bytes
) -> None:
    try:
        compiled(query, True, case_sensitive)
    except ToolError:
        # What RE2 does not take never comes as far as being translated.
        return
    assert agrees(query, True, case_sensitive, line)


@pytest.mark.parametrize("letter", string.ascii_letters)
def test_letters_beyond_ascii_that_re2_takes_for_one_in_it_are_known(letter: str) -> None:
    every = "".join(chr(code) for code in range(0x80, 0x20000) if not 0xD800 <= code < 0xE000)
    same = {found.decode() for found in compiled(letter, False, False).findall(every.encode())}
    bytewise = translated(letter, False, False)
    assert bytewise is not None
    assert {found.decode() for found in re.findall(bytewise.encode(), every.encode())} == same


@pytest.mark.parametrize(
    "query",
    [
        r"\pL+", r"[[:alpha:]]", r"[\pL]", r"\x41", r"[\x41]", r"(?i:a)b", r"a(?i)b", r"(?P<name>a)", r"\Aa", r"a\z",
        r"\Qa.b\E",        r"a\Cb", r"\141", "a*", "^$", r"\B", "(a|)", "a{02}", r"\n", r"(?s)a.b", r"\a",
    ],
)  # fmt: skip
def test_what_the_two_may_understand_differently_is_not_translated(query: str) -> None:
    assert translated(query, True, True) is None


@pytest.mark.parametrize(
    "query",
    [
        r"def \w+\(", r"^class [A-Z]\w*:", r"TODO|FIXME", r"(foo|bar)\.baz", r"\bid\b", r"https?://\S+", r"x{2,3}y",
        r"[^\s,]+@example", r"(?i)error", r"import .* as np", r"[]a]b", r"a{,2}", r"naïve.*[ä-ü]",
        r"end;$", r"\[\d+\]",
    ],
)  # fmt: skip
def test_everyday_expressions_are_translated(query: str) -> None:
    assert translated(query, True, True) is not None
    assert translated(query, True, False) is not None


@pytest.mark.parametrize("query", ["(", "(?m)(", "a(?m)b)", "x**", r"[b-a]", "(?=x)"])
def test_what_is_wrong_with_an_expression_is_told_in_its_own_letters(query: str) -> None:
    with pytest.raises(ToolError) as refused:
        compiled(query, regex=True, case_sensitive=True)
    assert refused.value.code is Code.INVALID_ARGUMENTS
    assert refused.value.message.count("(?m)") == query.count("(?m)")
