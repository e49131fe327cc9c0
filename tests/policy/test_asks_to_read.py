"""What a rule asks about before it is read, so that code which names nothing must not see it."""

import pytest

from brasstag.policy.python_rules import PythonRule
from brasstag.policy.rule import Rule
from brasstag.policy.shipped import shipped_rules
from brasstag.policy.verdict import Rules
from brasstag.words.calls import Call
from brasstag.words.previews import Fact, Preview
from brasstag.words.verdicts import Verdict

VAULT = Rules([Rule("ask", ("*(vault/**)",), "it is private")])


def test_what_a_rule_asks_about_was_heard_once_the_preview_of_that_tool_says_it_is_read() -> None:
    assert VAULT.asks_to_read("vault/a", "shell")
    assert not VAULT.asks_to_read("open/a", "shell")
    assert not VAULT.asks_to_read("vault/a", "shell", read={"vault/a"})
    assert VAULT.asks_to_read("vault/b", "shell", read={"vault/a"})


def test_a_directory_is_open_for_the_one_file_in_it_that_was_asked_about() -> None:
    rules = Rules([Rule("ask", ("*(vault)",), "it is private")])
    assert rules.asks_to_read("vault", "shell")
    assert not rules.asks_to_read("vault", "shell", read={"vault/a"})
    assert rules.asks_to_read("vault", "shell", read={"vaults/a"})


def test_a_rule_that_leaves_a_tool_alone_was_not_heard_by_naming_the_file_there() -> None:
    rules = Rules(shipped_rules())
    assert rules.asks_to_read("server.key", "run_code", read={"server.key"})
    assert not rules.asks_to_read("server.key", "shell", read={"server.key"})


@pytest.mark.parametrize(
    "rule",
    [
        Rule("ask", ("read_file",), "every read is asked about"),
        Rule("ask", ("*(vault/**)",), "only deletions", when={Fact.DELETES: None}),
        Rule("allow", ("*(vault/**)",), "it is open"),
        PythonRule("mine", lambda _call, _preview: Verdict("ask", "everything is asked about", "mine")),
    ],
)
def test_a_rule_about_a_tool_as_a_whole_or_about_something_else_keeps_nothing_from_code(
    rule: Rule | PythonRule,
) -> None:
    assert not Rules([rule]).asks_to_read("vault/a", "shell")


def test_a_python_rule_about_a_path_is_heard() -> None:
    def judge(_call: Call, preview: Preview) -> Verdict | None:
        return Verdict("ask", "it is private", "mine") if "vault/a" in preview.paths else None

    rules = Rules([PythonRule("mine", judge)])
    assert rules.asks_to_read("vault/a", "shell")
    assert not rules.asks_to_read("b", "shell")


def test_names_that_are_not_utf8_are_asked_about_as_any_other() -> None:
    rules = Rules(shipped_rules())
    assert rules.is_silent_about(["caf\udce9", "b"])
    assert not rules.is_silent_about(["caf\udce9/.env"])
    assert rules.hides("caf\udce9/.env") is not None
    assert rules.asks_to_read("caf\udce9/a.key", "shell")
