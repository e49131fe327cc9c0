"""The narrowest rule that allows an approved call again."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from brasstag.policy.load import rules_from
from brasstag.policy.match.subjects import Subject
from brasstag.policy.narrow import MOST_PATHS, NoRule, narrow_rule
from brasstag.policy.profiles import ToolFacts
from brasstag.policy.rule import Rule
from brasstag.policy.shipped import shipped_rules
from brasstag.policy.verdict import Rules
from brasstag.settings import parse_settings
from brasstag.words.calls import Call
from brasstag.words.previews import Preview
from tests.policy import strategies as make
from tests.policy.calls import OLD, call, call_with, creates, deletes, moves, overwrites, reads

FILES = ToolFacts("any", approval="confirm", effects="files")
WHY = "approved by ada on 2026-01-01"
SHIPPED = Rules(shipped_rules(), "locked")

names = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="/\0"), min_size=1, max_size=6
).filter(lambda name: name not in (".", ".."))
paths = st.lists(names, min_size=1, max_size=3).map("/".join)


def narrowed(made: Call, preview: Preview, parameters: tuple[str, ...] = ()) -> Rules:
    """Return the rules after the narrow rule was written into the settings and read again."""
    text = narrow_rule(SHIPPED, made, preview, FILES, parameters, WHY)
    assert isinstance(text, str), text
    return Rules([*shipped_rules(), *rules_from(parse_settings(text).rules)], "locked")


def allowed(rules: Rules, made: Call, preview: Preview) -> bool:
    return rules.judge(made, preview, FILES).decision == "allow"


@given(paths, paths)
@settings(max_examples=150)
def test_it_allows_the_same_path_again_and_no_other(path: str, other: str) -> None:
    made, preview = call("write_file", path=path, content="x"), overwrites(path)
    assume(not SHIPPED.spoken(made, preview, FILES))
    rules = narrowed(made, preview)
    assert allowed(rules, made, preview)
    assert allowed(rules, call("write_file", path=f"./{path}", content="anew"), preview)
    for different in (other, f"{path}/{other}", f"{other}/{path}", path.swapcase()):
        if different != path:
            assert not allowed(rules, call("write_file", path=different), overwrites(different))
            assert not allowed(rules, call("write_file", path=path), overwrites(path, different))


@given(make.calls, make.previews, make.calls, make.previews)
@settings(max_examples=200)
def test_it_allows_the_call_again_and_never_another_tool_path_or_effect(
    made: Call, preview: Preview, other: Call, seen: Preview
) -> None:
    text = narrow_rule(SHIPPED, made, preview, FILES, ("path", "command", "mode"), WHY)
    if isinstance(text, NoRule):
        return
    rules = Rules(rules_from(parse_settings(text).rules), "locked")
    assert rules.judge(made, preview, FILES).by_rule
    if rules.judge(other, seen, FILES).by_rule:
        assert other.tool == made.tool
        changed = {path for change in seen.changes for path in change.paths}
        assert changed <= {*preview.paths, made.arguments.get("path")}
        assert seen.facts <= preview.facts | {"reads"} | Subject(made, preview).beyond_paths
        assert other.arguments.get("command") == made.arguments.get("command")


def test_what_it_does_is_part_of_it() -> None:
    made = call("delete_file", path="a")
    rules = narrowed(made, overwrites("a"))
    assert not allowed(rules, made, deletes("a"))


def test_a_move_is_not_allowed_the_other_way_round() -> None:
    made = call_with("move_file", {"from": "a", "to": "b"})
    rules = narrowed(made, moves("a", "b"))
    assert allowed(rules, made, moves("a", "b"))
    assert not allowed(rules, call_with("move_file", {"from": "b", "to": "a"}), moves("b", "a"))
    assert not allowed(rules, made, moves("a", "b", onto=OLD))


def test_a_call_that_runs_is_held_to_every_argument() -> None:
    running = Preview(runs=("python",))
    made = call("run_code", language="python", code='print("a *")\nx = [1]')
    rules = narrowed(made, running, parameters=("language", "code", "env", "cwd"))
    assert allowed(rules, made, running)
    for changed in (
        {"code": 'print("a b")\nx = [1]'},
        {"env": {"A": "b"}},
        {"cwd": "x"},
        {"language": "bash"},
    ):
        assert not allowed(rules, call_with("run_code", {**made.arguments, **changed}), running)


def test_a_call_that_runs_is_held_to_what_it_changed_too() -> None:
    made = call("run_code", code="tidy()")
    rules = narrowed(made, Preview(runs=("tidy()",), changes=overwrites("a").changes))
    assert allowed(rules, made, Preview(runs=("tidy()",), changes=overwrites("a").changes))
    assert not allowed(rules, made, Preview(runs=("tidy()",), changes=overwrites("b").changes))


def test_every_kind_of_argument_can_be_held() -> None:
    arguments: dict[str, Any] = {
        "empty": "",
        "none": None,
        "flag": True,
        "tags": ["a", "b"],
        "deep": {"x": [1]},
        "documents": ["a.md", "b.md"],
        "files": [],
        "odd name": '"\\\x7f\n',
    }
    outside = Preview(external=True)
    rules = narrowed(call_with("send", arguments), outside, parameters=("files",))
    assert allowed(rules, call_with("send", arguments), outside)
    for name, other in (
        ("empty", "x"),
        ("none", 0),
        ("flag", False),
        ("tags", ["b", "a"]),
        ("documents", ["c.md"]),
    ):
        assert not allowed(rules, call_with("send", {**arguments, name: other}), outside)
    assert not allowed(rules, call_with("send", {**arguments, "files": ["x"]}), outside)


def test_a_denied_call_gets_no_rule() -> None:
    answer = narrow_rule(SHIPPED, call("read_file", path=".env"), reads(".env"), FILES, (), WHY)
    assert isinstance(answer, NoRule)
    assert "environment-files" in answer.because


def test_a_call_that_a_rule_asks_about_gets_no_rule_since_an_allow_would_not_help() -> None:
    rules = Rules([Rule("ask", ("write_file(a)",), "look", "mine", source="brasstag.toml: rules[3]")])
    answer = narrow_rule(rules, call("write_file", path="a"), creates("a"), FILES, (), WHY)
    assert isinstance(answer, NoRule)
    assert "brasstag.toml: rules[3]" in answer.because


def test_a_call_at_very_many_paths_gets_no_rule() -> None:
    preview = deletes(*(f"a/{number}" for number in range(MOST_PATHS + 1)))
    answer = narrow_rule(SHIPPED, call("delete_file", path="a"), preview, FILES, (), WHY)
    assert isinstance(answer, NoRule)


def test_code_too_long_for_a_rule_gets_none() -> None:
    answer = narrow_rule(SHIPPED, call("run_code", code="x" * 5000), Preview(runs=("x",)), FILES, (), WHY)
    assert isinstance(answer, NoRule)


def test_the_rule_reads_well() -> None:
    text = narrow_rule(
        SHIPPED, call("write_file", path="drafts/a.md"), overwrites("drafts/a.md"), FILES, (), WHY
    )
    assert text == (
        "\n[[rules]]\n"
        'allow = "write_file(/drafts/a.md)"\n'
        'roles = "operator"\n'
        'arguments = { path = "/drafts/a.md" }\n'
        "when = { overwrites = 1 }\n"
        'because = "approved by ada on 2026-01-01"\n'
    )


@pytest.mark.parametrize("path", ["", "."])
def test_the_root_can_be_held_too(path: str) -> None:
    made = call("list_files", directory=path)
    rules = narrowed(made, reads("."))
    assert rules.judge(made, reads("."), FILES).by_rule
    assert not rules.judge(call("list_files", directory="x"), reads("x"), FILES).by_rule


def test_the_rule_is_for_the_role_that_asked() -> None:
    asked = call("write_file", path="drafts/a.md")
    text = narrow_rule(SHIPPED, asked, overwrites("drafts/a.md"), FILES, (), WHY)
    assert isinstance(text, str)
    rules = Rules(rules_from(parse_settings(text).rules))
    assert rules.judge(asked, overwrites("drafts/a.md"), FILES).decision == "allow"
    other = replace(asked, role="narrator")
    assert rules.judge(other, overwrites("drafts/a.md"), FILES).decision == "ask"
