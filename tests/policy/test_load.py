"""Rules from settings, with every problem in them named."""

import pytest

from brasstag.policy.load import rules_from, strange_tools
from brasstag.policy.profiles import ToolFacts
from brasstag.policy.verdict import Rules
from brasstag.settings import parse_settings
from brasstag.words.errors import ConfigError, Problem
from tests.policy.calls import call, overwrites, reads

AUTO = ToolFacts("any", approval="auto", effects="none")


def problems_of(text: str) -> tuple[Problem, ...]:
    with pytest.raises(ConfigError) as caught:
        rules_from(parse_settings(text).rules)
    return caught.value.problems


def test_rules_in_the_settings_judge_calls() -> None:
    rules = Rules(
        rules_from(
            parse_settings("""
            [[rules]]
            deny = "*(secrets/**)"
            unless = "*(secrets/README.md)"
            because = "secrets stay with people"
            match = ["read_file(secrets/key)", { tool = "delete_file", deletes = ["secrets/a"] }]
            not_match = ["read_file(secrets/README.md)"]

            [[rules]]
            ask = "*"
            when = { overwrites = 2 }
            because = "that is a lot"
            match = [{ tool = "x", overwrites = ["a", "b"] }]
            not_match = [{ tool = "x", overwrites = ["a"] }, "x"]

            [[rules]]
            allow = "fetch"
            arguments = { method = "GET", url = ["https://a.org/**", "https://b.org/**"] }
            because = "reading is fine"
            match = [{ tool = "fetch", arguments = { url = "https://b.org/x", method = "GET" } }]
            not_match = [
                { tool = "fetch", arguments = { url = "https://c.org/x", method = "GET" } },
                { tool = "fetch", arguments = { url = "https://a.org/x", method = "POST" } },
            ]
        """).rules
        )
    )
    assert (
        rules.judge(call("read_file", path="secrets/a"), reads("secrets/a"), AUTO).because
        == "secrets stay with people"
    )
    assert rules.judge(call("x"), overwrites("a", "b"), AUTO).because == "that is a lot"
    assert rules.rules[0].source == "brasstag.toml: rules[0]"


def test_every_unreadable_text_is_named_by_its_place() -> None:
    found = problems_of("""
        [[rules]]
        deny = ["read file", "read_file(a//b)"]
        unless = "read_file(../x)"
        arguments = { path = "~/x" }
        because = "x"
        match = ["fetch(https://x.org)"]

        [[rules]]
        ask = "shell(command: a | b)"
        because = "x"
    """)
    assert [problem.field for problem in found] == [
        "rules[0].deny",
        "rules[0].deny",
        "rules[0].unless",
        "rules[0].arguments.path",
        "rules[0].match",
        "rules[1].ask",
    ]
    assert all(problem.mend.endswith(".") for problem in found)


def test_an_example_that_does_not_hold_is_a_problem() -> None:
    (silent, loud) = problems_of("""
        [[rules]]
        deny = "read_file(a)"
        because = "x"
        match = ["read_file(b)"]
        not_match = [{ tool = "read_file", reads = ["a"] }]
    """)
    assert (silent.field, loud.field) == ("rules[0].match", "rules[0].not_match")
    assert "does not match read_file(b)" in silent.what
    assert "the rule matches" in loud.what


def test_an_example_without_facts_for_a_rule_with_when_is_told_to_give_them() -> None:
    (problem,) = problems_of("""
        [[rules]]
        ask = "write_file"
        when = ["overwrites"]
        because = "x"
        match = ["write_file(a)"]
    """)
    assert "overwrites" in problem.mend


def test_a_rule_about_a_tool_that_does_not_exist_is_found() -> None:
    rules = rules_from(
        parse_settings("""
        [[rules]]
        deny = ["raed_file(secrets/**)", "mcp_*", "*"]
        unless = "list_directory(x)"
        because = "x"
    """).rules
    )
    (problem,) = strange_tools(rules, {"list_directory", "read_file"}.__contains__)
    assert problem.field == "rules[0]"
    assert "raed_file" in problem.what
