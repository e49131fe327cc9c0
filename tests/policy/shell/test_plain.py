"""What an allow rule may cover word by word."""

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brasstag.policy.profiles import ToolFacts
from brasstag.policy.rule import Rule
from brasstag.policy.shell.plain import plain_commands
from brasstag.policy.shipped import shipped_rules
from brasstag.policy.verdict import Rules
from brasstag.words.previews import Preview
from tests.policy.calls import call

SHELL = ToolFacts("shell", approval="confirm", effects="files")
GIT = Rule(
    "allow",
    ("shell(command: git status **)", "shell(command: git log **)", "shell(command: head **)"),
    "looking",
)


def decision(command: str, *rules: Rule) -> str:
    judging = Rules([*shipped_rules(), *rules])
    return judging.judge(call("shell", command=command), Preview(runs=(command,)), SHELL).decision


@pytest.mark.parametrize(
    "command",
    [
        "git status",
        "git status -s src",
        "git log --format='%h %s'",
        'git log --grep="a b" | head -n 3',
        "git status && git log; git status || head x",
    ],
)
def test_each_command_of_a_line_that_matches_is_allowed(command: str) -> None:
    assert decision(command) == "ask"
    assert decision(command, GIT) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "git status; ls",
        "ls && git status",
        "git log | tee x",
        "git log > x",
        "git log $X",
        "git log $(ls)",
        "git log `ls`",
        "git log *",
        "git log {a,b}",
        "git log ~/x",
        "git log &",
        "A=1 git log",
        "env git log",
        "(git log)",
        "! git log",
        "git log <<< x",
        "git log\nls",
        "git log # x",
        "git log 'a\nb'",
        "git log \\\nx",
        "git 'log' '",
        "git log (",
        "gitlog",
    ],
)
def test_whatever_is_more_than_words_that_match_is_not(command: str) -> None:
    assert decision(command, GIT) == "ask"


def test_an_allow_never_outranks_what_a_shipped_rule_says() -> None:
    everything = Rule("allow", ("shell",), "all")
    assert decision("ls", everything) == "allow"
    assert decision("rm -r build", everything) == "ask"
    assert decision("rm -rf build", everything) == "deny"
    assert decision("$X", everything) == "ask"
    assert decision("rm -rf /", everything) == "deny"


def test_a_text_given_whole_is_allowed_whatever_it_holds() -> None:
    assert (
        decision("git log > x && ls", Rule("allow", ("shell(command: git log > x && ls)",), "this one"))
        == "allow"
    )


def test_one_rule_has_to_cover_every_command() -> None:
    first, second = (Rule("allow", (f"shell(command: {name} **)",), name) for name in ("ls", "pwd"))
    assert decision("ls && pwd", first, second) == "ask"


def test_a_deny_finds_words_that_were_hidden_by_escapes_and_wrappers() -> None:
    no_push = Rule("deny", ("shell(command: git push)",), "a person pushes")
    for command in ("git push", "$'\\x67it' push", "bash -c 'git push'", "g''it pu\\sh", "sudo git push"):
        assert decision(command, no_push) == "deny", command
    assert decision("git pull; echo push", no_push) != "deny"


words = st.lists(st.text(alphabet="abc-./ '\"$*", min_size=1, max_size=5), min_size=1, max_size=3)


@settings(deadline=None)
@given(st.lists(words, min_size=1, max_size=3), st.sampled_from([" && ", " ; ", " | ", " || "]))
def test_quoted_words_are_plain_and_come_back_as_they_were(commands: list[list[str]], operator: str) -> None:
    named = [["x", *command] for command in commands]
    found = plain_commands(operator.join(map(shlex.join, named)))
    assert found in ((), tuple(map(tuple, named)))
    if not any("~" in word for command in named for word in command):
        assert found


@settings(deadline=None)
@given(st.text(alphabet="ab |&;<>(){}$`\"'=\n#\\!~*?", max_size=20))
def test_two_readers_agree_on_whatever_is_plain(text: str) -> None:
    for command in plain_commands(text):
        assert all(command)
        assert plain_commands(shlex.join(command)) in ((command,), ())
