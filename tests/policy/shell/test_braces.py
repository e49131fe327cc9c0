"""Brace expansion is bash's."""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brasstag.policy.shell.braces import MOST_WORDS
from brasstag.policy.shell.read import read_commands


def read(word: str) -> list[str]:
    return [one.text for one in read_commands(f"x {word}").commands[0].words[1:]]


def run(word: str) -> list[str]:
    told = subprocess.run(
        ["bash", "-fc", f"printf '%s\\n' {word}"], capture_output=True, text=True, check=True
    )
    return told.stdout.split("\n")[:-1]


@pytest.mark.parametrize(
    "word",
    [
        "{git,push}", "pu{s,}h", "r{m..m}", "{a,{b,c}}d", "{a,b}{c,d}", "{1..4}x", "{01..03}", "{5..1..2}", "{a..e..2}",
        "{a}", "{}", "{a,b", "a\\{b,c}", "'{a,b}'{c,d}", '{"a b",c}', "{,x}y", "{a,b{c}", "{x,{y}", "{-1..1}", "{a,'}',b}",
    ],
)  # fmt: skip
def test_a_word_becomes_what_bash_makes_of_it(word: str) -> None:
    assert read(word) == run(word)


@given(
    st.lists(
        st.sampled_from(["{", "}", ",", "a", "1", "..", "'b'", "{c,d}", "{1..3}"]), min_size=1, max_size=9
    )
)
@settings(max_examples=60, deadline=None)
def test_any_word_becomes_what_bash_makes_of_it_or_is_not_known(parts: list[str]) -> None:
    word = f"x{''.join(parts)}"
    reading = read_commands(f"x {word}")
    if not reading.doubts and all(one.literal for one in reading.commands[0].words):
        assert read(word) == run(word)


@pytest.mark.parametrize("word", ["x{..{c,d}}", "x{a..{1..3}}", "x{'b'},a}", "x..{},}1"])
def test_a_word_that_bash_reads_in_its_own_way_is_not_known(word: str) -> None:
    assert read_commands(f"x {word}").commands[0].words[1].pattern


def test_a_word_that_becomes_very_many_is_not_known() -> None:
    word = read_commands(f"x {{1..{MOST_WORDS + 1}}}").commands[0].words[1]
    assert word.pattern


def test_the_name_of_a_command_may_be_made_of_braces() -> None:
    assert [word.text for word in read_commands("r{m..m} x").commands[0].words] == ["rm", "x"]
    assert ["rm", "-r", "x"] in [
        [word.text for word in one.words] for one in read_commands("ls; {rm,-r,x}").commands
    ]
