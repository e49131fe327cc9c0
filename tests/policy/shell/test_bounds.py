"""However commands are wrapped into each other, the work of reading them is bounded: steps are counted, not seconds."""

import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from brasstag.policy.match.command_words import CommandWords
from brasstag.policy.shell.commands import Command, CommandReading, Doubt, Word
from brasstag.policy.shell.programs import wrappers
from brasstag.policy.shell.python_code import LONGEST_CODE
from brasstag.policy.shell.read import MOST_WORK, read_code
from brasstag.policy.shell.rules import command_rules
from brasstag.policy.shell.wildcards import fits_secret

DEEP = 600
MOST_STEPS = 5 * MOST_WORK
TOO_NESTED = {Doubt.TOO_DEEP, Doubt.TOO_LARGE}


class TooManySteps(Exception):
    """More was done than any text deserves."""


class Steps:
    """Counts the calls that are made inside it, and ends them when there are too many."""

    def __init__(self, most: int) -> None:
        self.left = most

    def __enter__(self) -> None:
        sys.setprofile(self._count)

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _count(self, _frame: FrameType, event: str, _argument: Any) -> None:
        self.left -= event in ("call", "c_call")
        if self.left < 0:
            sys.setprofile(None)
            raise TooManySteps


def prefixes() -> Iterator[str]:
    """Yield every wrapper of the tables, written so that a command may follow."""
    for name, wrapper in wrappers.WRAPPERS.items():
        yield f"{name} {'x ' * wrapper.operands}"
        if wrapper.valued:
            yield f"{name} {wrapper.valued.split()[0]} v {'x ' * wrapper.operands}"
    for name, options in wrappers.TEXT_OPTIONS.items():
        yield from (f"{name} {option} " for option in options.split())
    yield from (f"{name} . {flag} " for name in ("find", "fd") for flag in sorted(wrappers._FIND_RUNS))
    yield from ("eval ", "watch ", "ssh h ", "trap ", "parallel ", "python3 -c ")
    yield from (f"{name} -c " for name in sorted(wrappers.SHELLS))


PREFIXES = sorted(prefixes())


def read_in_bounds(text: str, language: Any = "bash") -> CommandReading:
    read_code.cache_clear()
    with Steps(MOST_STEPS):
        reading = read_code(text, language)
        for rule in (*command_rules(""), fits_secret([".ssh/id_rsa", "etc/shadow"])):
            list(rule.finds(reading) if not callable(rule) else rule(reading))
    return reading


@pytest.mark.parametrize(
    "prefix",
    [pytest.param(one, marks=pytest.mark.slow if number % 6 else ()) for number, one in enumerate(PREFIXES)],
)
def test_any_wrapper_inside_itself_is_read_in_bounded_work(prefix: str) -> None:
    read_in_bounds(prefix * DEEP + "ls")


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(PREFIXES), min_size=1, max_size=6), st.randoms(use_true_random=False))
@example(["find . -exec ", "xargs "], None)
@example(["env ", "find . -ok "], None)
def test_any_nesting_of_any_wrappers_is_read_in_bounded_work(several: list[str], chance: Any) -> None:
    nested = [chance.choice(several) if chance else several[at % len(several)] for at in range(DEEP)]
    read_in_bounds("".join(nested) + "ls")


@pytest.mark.parametrize("prefix", ["find . -exec ", "find . -ok ", "fd -x ", "nohup ", "env -S ", "eval "])
def test_what_is_nested_too_deeply_to_be_read_is_doubted(prefix: str) -> None:
    reading = read_in_bounds(prefix * DEEP + "ls")
    assert TOO_NESTED & {one.doubt for one in reading.doubts}


def test_words_with_wildcards_are_judged_once_however_deep_they_stand() -> None:
    read_in_bounds("nohup " * 11 + "ls " + ("aa*/" * 60 + " ") * 100)


@pytest.mark.parametrize(
    "text",
    [
        "x " + "{" * 2_900 + "," * 40_000,
        "x " + "{a,b}" * 500,
        "x " + "{a," * 900,
        ("x " + "{a,b}" * 40 + "\n") * 12,
        "x {1..999999}{1..999999}",
        "{a,b" + "\n" * 45_000 + "(",
        "sed '" + "1\n" * 900 + "' x",
        "sed " + "'s/a/b/gw" + " " * 1_900 + "' ",
        "awk '" + '>"' * 900 + "'",
        "vim -c '" + "%,." * 5_000 + "'",
        "ed x <<'E'\n" + " " * 40_000 + "\nE",
        "test -v 'a[" + "$(" * 900 + "'",
        "git " + "-c a.b=c " * 5_000 + "push",
    ],
    ids=range(13),
)
def test_odd_words_are_read_and_compared_in_bounded_work(text: str) -> None:
    reading = read_in_bounds(text)
    for pattern in ("git push --force", "x ** a ** b ** c", "vim q"):
        with Steps(MOST_STEPS):
            for command in reading.commands:
                CommandWords(pattern).likeness(command)


def test_a_pattern_with_gaps_is_compared_in_bounded_work() -> None:
    command = Command(tuple(Word(text) for text in ["x", *["a"] * 20_000]))
    with Steps(MOST_STEPS):
        CommandWords("x ** a ** a ** b").likeness(command)


@pytest.mark.parametrize(
    "line", ["a" + ".a" * 900, "f" + "()" * 900, "f" + "().a" * 400, "f(" + "'a'+" * 900 + "'a')"]
)
def test_long_chains_in_python_are_read_in_bounded_work(line: str) -> None:
    read_in_bounds(f"{line}\n" * (LONGEST_CODE // 4 // len(line)), "python")


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("find . -exec a + b \\;", [["a", "+", "b"]]),
        ("find . -exec a {} + -exec b \\;", [["a", "{}"], ["b"]]),
        ("find . -exec find . -exec a \\; -exec b \\;", [["find", ".", "-exec", "a"], ["a"], ["b"]]),
        ("env -S'a b' c", [["a", "b", "c"]]),
        ("env --split-string='a b' c", [["a", "b", "c"]]),
    ],
)
def test_a_command_inside_ends_where_the_program_ends_it(text: str, inside: list[list[str]]) -> None:
    commands = read_code(text, "bash").commands
    found = [[word.text for word in one.words] for one in commands if one.place]
    assert all(one in found for one in inside)
