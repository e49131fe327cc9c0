"""What a timed permission covers, and when the policy that it counts with is another one."""

from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings

from brasstag.policy.globs import RuleError
from brasstag.policy.match.subjects import Subject
from brasstag.policy.permissions.permission_rule import (
    covers,
    permission_rule,
    policy_digest,
    read_rule,
    stored_rule,
)
from brasstag.policy.profiles import ToolFacts
from brasstag.policy.python_rules import PythonRule
from brasstag.policy.rule import Rule
from brasstag.policy.rule_engine import OneRule, RuleEngine
from brasstag.policy.shipped import shipped_rules
from brasstag.policy.verdict import Rules
from brasstag.settings import ProfileName
from brasstag.words.calls import Call
from brasstag.words.previews import Fact, Preview
from brasstag.words.verdicts import Verdict
from tests.policy import strategies as make
from tests.policy.calls import call, creates, deletes, overwrites

FILES = ToolFacts("any", approval="confirm", effects="files")
BASE = [*shipped_rules()]


def permitted(made: Call, preview: Preview, pattern: str = "") -> Callable[[Call, Preview], bool]:
    """Return what says whether the permission of an approved call covers another, after it was stored and read."""
    rule = read_rule(stored_rule(permission_rule(Subject(made, preview), (), pattern, "x")), "x")
    assert covers(rule, Subject(made, preview)), "it does not cover the approved call itself"
    return lambda other, seen: covers(rule, Subject(other, seen))


def write(path: str) -> Call:
    return call("write_file", path=path, content="x")


def test_without_a_pattern_it_is_for_the_same_paths_and_effects_only() -> None:
    again = permitted(write("a.md"), overwrites("a.md"))
    assert again(call("write_file", path="a.md", content="other"), overwrites("a.md"))
    assert not again(write("b.md"), overwrites("b.md"))
    assert not again(write("a.md"), deletes("a.md"))
    assert not again(call("edit_file", path="a.md"), overwrites("a.md"))


def test_a_pattern_covers_every_path_of_a_call_or_nothing() -> None:
    below = permitted(write("reports/a.md"), overwrites("reports/a.md"), "reports/**")
    assert below(write("reports/b/c.md"), overwrites("reports/b/c.md"))
    assert not below(write("reports/b.md"), overwrites("reports/b.md", "c.md"))
    assert not below(write("reports/../c.md"), overwrites("c.md"))
    assert not below(write("Reports/b.md"), overwrites("Reports/b.md"))
    assert not below(write("reports/new.md"), creates("reports/new.md"))


def test_a_pattern_of_one_argument_leaves_all_other_paths_as_they_were() -> None:
    named = permitted(write("reports/a.md"), overwrites("reports/a.md"), "path: reports/**")
    assert named(write("reports/b.md"), overwrites("reports/b.md"))
    # A link below reports leads elsewhere.
    assert not named(write("reports/link.md"), overwrites("secrets/a.md"))
    same_text = permitted(write("a.md"), overwrites("a.md"), "content: x")
    assert not same_text(write("b.md"), overwrites("b.md"))


def test_paths_never_cover_what_a_call_runs_or_sends() -> None:
    sent = Preview(fetches=("https://example.org/x",))
    fetch = call("fetch_page", url="https://example.org/x")
    to_host = permitted(fetch, sent, "example.org/**")
    assert to_host(
        call("fetch_page", url="https://example.org/y"), Preview(fetches=("https://example.org/y",))
    )
    evil = call("fetch_page", url="https://evil.org/", path="example.org/x")
    assert not to_host(evil, Preview(fetches=("https://evil.org/",)))
    git = call("shell", command="git status")
    runs = Preview(runs=("git status",))
    word = permitted(git, runs, "command: git *")
    assert word(call("shell", command="git log"), Preview(runs=("git log",)))
    assert not word(call("shell", command="git log; rm x"), Preview(runs=("git log; rm x",)))
    assert not word(call("shell", command="git push"), Preview(runs=("git push",), external=True))
    with pytest.raises(AssertionError, match="itself"):
        permitted(call("shell", command="cat reports/a.md", cwd="reports"), runs, "reports/**")


@given(make.calls, make.previews, make.calls, make.previews)
@settings(max_examples=100)
def test_it_never_covers_more_than_the_rule_it_is_written_as(
    made: Call, preview: Preview, other: Call, seen: Preview
) -> None:
    try:
        rule = permission_rule(Subject(made, preview), (), "", "x")
    except RuleError:
        assume(False)
    bound = rule.bound_to(other.tool)
    if covers(rule, Subject(other, seen)):
        assert bound is not None
        assert bound.speaks(Subject(other, seen)) is not None
        assert other.role == made.role


@pytest.mark.parametrize("pattern", ["url://x", "[", "a" * 5000])
def test_a_pattern_that_cannot_be_read_is_refused(pattern: str) -> None:
    with pytest.raises(RuleError):
        permission_rule(Subject(write("a.md"), overwrites("a.md")), (), pattern, "x")


def limit(most: int) -> Callable[[Call, Preview], Verdict | None]:
    def too_many(_call: Call, preview: Preview) -> Verdict | None:
        return Verdict("deny", "too many", "limit") if len(preview.changes) > most else None

    return too_many


class Counted:
    """A rule that is an object."""

    def __call__(self, _call: Call, _preview: Preview) -> Verdict | None:
        return None


def digest(*more: OneRule, profile: ProfileName = "careful", version: str = "1", alias: str = "save") -> str:
    rules = Rules(RuleEngine([*BASE, *more]).rules, profile, {alias: "write_file", "other": "tool"})
    return policy_digest(rules, "write_file", version)


def test_each_change_of_the_policy_changes_its_digest_and_nothing_else_does() -> None:
    deny = Rule("deny", ("*(x)",), "no")
    digests = [
        digest(),
        digest(profile="locked"),
        digest(version="2"),
        digest(alias="put"),
        digest(deny),
        digest(Rule("deny", ("*(x)",), "no", roles=("a",))),
        digest(Rule("deny", ("*(x)",), "no", when={Fact.READS: 1})),
        digest(PythonRule("limit", limit(1))),
        digest(PythonRule("limit", limit(2))),
        digest(PythonRule("limit", Counted())),
        digest(PythonRule("limit", lambda _call, _preview: None)),
        digest(PythonRule("limit", lambda call, _preview: Verdict("ask", "a", call.tool))),
    ]
    assert len(set(digests)) == len(digests)
    assert digest(PythonRule("limit", limit(1))) == digest(PythonRule("limit", limit(1)))
    assert digest(deny, PythonRule("a", Counted())) == digest(PythonRule("a", Counted()), deny)
