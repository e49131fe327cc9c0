"""One rule: when it speaks, and when it is silent."""

from dataclasses import replace
from typing import Any

import pytest

from brasstag.policy.examples import ExampleCall
from brasstag.policy.globs import RuleError
from brasstag.policy.match.subjects import Subject
from brasstag.policy.rule import Rule
from brasstag.policy.verdict import Rules
from brasstag.words.calls import Call
from brasstag.words.previews import ABSENT, DIRECTORY, Change, Fact, Preview
from brasstag.words.verdicts import Decision, Verdict
from tests.policy.calls import NEW, call, call_with, creates, deletes, moves, overwrites, reads

NOTHING = Preview()


def speaks(rule: Rule, made: Call, preview: Preview = NOTHING) -> bool:
    bound = rule.bound_to(made.tool)
    return bound is not None and bound.speaks(Subject(made, preview)) is not None


def rule(decision: Decision, *patterns: str, **more: Any) -> Rule:
    return Rule(decision, patterns, "it is a test", **more)


class TestMaking:
    def test_a_rule_says_who_it_is_and_why(self) -> None:
        made = rule("deny", "read_file(a)", name="mine")
        assert made.verdict == Verdict("deny", "it is a test", "mine", by_rule=True)

    def test_a_rule_without_a_name_is_called_by_its_patterns(self) -> None:
        assert rule("ask", "a", "b(c)").name == "ask a, b(c)"

    @pytest.mark.parametrize(
        "wrong",
        [
            {"decision": "block"},
            {"patterns": ()},
            {"patterns": "read_file"},
            {"patterns": ("read_file(",)},
            {"because": "  "},
            {"unless": "read_file"},
            {"unless": ("read_file(a//b)",)},
            {"arguments": {"path": ("../x",)}},
            {"arguments": {"path": "x"}},
            {"when": {"burns": 1}},
        ],
    )
    def test_what_cannot_be_read_is_refused_when_the_rule_is_made(self, wrong: dict[str, Any]) -> None:
        fields: dict[str, Any] = {"decision": "deny", "patterns": ("read_file",), "because": "x"}
        with pytest.raises(RuleError):
            Rule(**(fields | wrong))


class TestDenyAndAsk:
    @pytest.mark.parametrize("decision", ["deny", "ask"])
    def test_one_path_is_enough(self, decision: Decision) -> None:
        secret = rule(decision, "*(secrets/**)")
        assert speaks(secret, call("read_file", path="secrets/a"))
        assert speaks(secret, call("move_file", **{"from": "notes.md", "to": "secrets/a"}))
        assert speaks(secret, call("walk"), reads("a", "b", "secrets/c"))
        assert speaks(secret, call("delete_file", path="."), deletes("a", "secrets/b"))
        assert not speaks(secret, call("read_file", path="notes.md"), reads("notes.md"))

    @pytest.mark.parametrize(
        "path", ["./secrets/a", "x/../secrets/a", "secrets//a", "SECRETS/a", "/secrets/a", "secrets"]
    )
    def test_no_spelling_of_a_path_gets_around_it(self, path: str) -> None:
        assert speaks(rule("deny", "*(secrets/**)"), call("read_file", path=path))

    def test_a_path_in_a_command_is_a_path(self) -> None:
        assert speaks(rule("deny", "*(.env)"), call("shell", command="cat ./app/.env | head"))
        assert speaks(rule("deny", "*(.env)"), call("run_code", code='open(".env")'))

    def test_text_that_is_no_path_is_left_alone(self) -> None:
        assert not speaks(rule("deny", "*(.env)"), call("write_file", path=".gitignore", content=".env"))

    def test_any_listed_fact_is_enough_and_a_number_is_a_least(self) -> None:
        either = rule("ask", "*", when={Fact.DELETES: 2, Fact.OVERWRITES: None})
        assert speaks(either, call("x"), deletes("a", "b"))
        assert speaks(either, call("x"), overwrites("a"))
        assert not speaks(either, call("x"), deletes("a"))
        assert not speaks(either, call("x"), creates("a", "b", "c"))

    def test_every_listed_argument_has_to_match(self) -> None:
        both = rule("deny", "fetch", arguments={"method": ("POST", "PUT"), "url": ("http://**",)})
        assert speaks(both, call("fetch", method="post", url="HTTP://x.org/y"))
        assert not speaks(both, call("fetch", method="GET", url="http://x.org"))
        assert not speaks(both, call("fetch", url="http://x.org"))

    def test_an_argument_that_holds_a_path_is_read_as_one(self) -> None:
        assert speaks(
            rule("deny", "shell", arguments={"cwd": ("secrets",)}), call("shell", cwd="./secrets/x/")
        )

    def test_keys_and_values_inside_an_argument_count(self) -> None:
        preload = rule("deny", "run_code(env: LD_*)")
        assert speaks(preload, call("run_code", env={"LD_PRELOAD": "x.so"}))
        assert not speaks(preload, call("run_code", env={"LANG": "C"}))

    def test_a_rule_about_one_tool_is_silent_about_others(self) -> None:
        assert not speaks(rule("deny", "delete_*(a)"), call("read_file", path="a"))


class TestExceptions:
    sample = rule("deny", "*(.env.*)", unless=("*(.env.example)",))

    def test_an_excused_path_is_left_alone(self) -> None:
        assert speaks(self.sample, call("read_file", path=".env.local"))
        assert not speaks(self.sample, call("read_file", path="app/.env.example"))

    def test_an_excused_path_does_not_excuse_another(self) -> None:
        assert speaks(self.sample, call("move_file", **{"from": ".env.example", "to": ".env.local"}))
        assert not speaks(self.sample, call("move_file", **{"from": ".env.example", "to": "env.md"}))

    @pytest.mark.parametrize("path", [".env.EXAMPLE", ".env.example/key"])
    def test_an_exception_is_read_by_its_letters(self, path: str) -> None:
        assert speaks(self.sample, call("read_file", path=path))

    def test_a_whole_tool_can_be_denied_but_for_some_paths(self) -> None:
        only_drafts = rule("deny", "write_file", unless=("write_file(drafts/**)",))
        assert not speaks(only_drafts, call("write_file", path="drafts/a"), creates("drafts/a"))
        assert speaks(only_drafts, call("write_file", path="drafts/a"), creates("drafts/a", "b"))
        assert speaks(only_drafts, call("write_file"))

    def test_a_path_that_is_excused_does_not_excuse_a_command(self) -> None:
        denied = rule("deny", "shell", unless=("shell(docs/**)",))
        assert speaks(denied, call("shell", cwd="docs/x", command="rm y"))

    def test_a_value_can_be_excused(self) -> None:
        outside = rule("deny", "fetch(url: **)", unless=("fetch(url: https://api.example.org/**)",))
        assert not speaks(outside, call("fetch", url="https://api.example.org/v1"))
        assert speaks(outside, call("fetch", url="https://evil.org/api.example.org/"))

    def test_an_exception_to_an_allow_reaches_far(self) -> None:
        drafts = rule("allow", "write_file(drafts/**)", unless=("write_file(final)",))
        assert speaks(drafts, call("write_file", path="drafts/a"))
        assert not speaks(drafts, call("write_file", path="drafts/FINAL/a"))


class TestAllow:
    drafts = rule("allow", "write_file(drafts/**)", "write_file(/notes.md)")

    def test_every_path_has_to_be_covered_by_some_pattern(self) -> None:
        assert speaks(self.drafts, call("write_file", path="drafts/a"), overwrites("drafts/a"))
        assert speaks(self.drafts, call("write_file", path="drafts/a"), overwrites("drafts/a", "notes.md"))
        assert not speaks(self.drafts, call("write_file", path="drafts/a"), overwrites("drafts/a", "b"))
        assert not speaks(self.drafts, call("write_file", path="drafts/a", to="b"), overwrites("drafts/a"))

    @pytest.mark.parametrize(
        "path", ["Drafts/a", "drafts", "a/drafts/b", "drafts/../b", "notes.md/x", "x/notes.md"]
    )
    def test_it_says_no_more_than_its_letters(self, path: str) -> None:
        assert not speaks(self.drafts, call("write_file", path=path))

    def test_a_call_without_any_path_is_not_covered_by_a_path(self) -> None:
        assert not speaks(rule("allow", "write_file(**)"), call("write_file"))

    def test_directories_on_the_way_to_an_allowed_path_come_with_it(self) -> None:
        preview = Preview(changes=(Change("drafts", ABSENT, DIRECTORY), Change("drafts/a", ABSENT, NEW)))
        assert speaks(self.drafts, call("write_file", path="drafts/a"), preview)

    @pytest.mark.parametrize(
        "more",
        [
            Preview(runs=("make",)),
            Preview(fetches=("https://x.org",)),
            Preview(external=True),
            Preview(untracked_reads=1),
        ],
    )
    def test_a_path_says_nothing_about_what_else_a_call_does(self, more: Preview) -> None:
        assert not speaks(self.drafts, call("write_file", path="drafts/a"), more)

    def test_what_else_a_call_does_can_be_named_beside_its_paths(self) -> None:
        built = rule("allow", "build(out/**)", when={Fact.RUNS: None, Fact.CREATES: None})
        building = Preview(runs=("make",), changes=creates("out/a").changes)
        assert speaks(built, call("build"), building)
        assert not speaks(built, call("build"), Preview(runs=("make",), changes=creates("src/a").changes))
        assert not speaks(built, call("build"), Preview(runs=("make",), fetches=("https://x.org",)))

    def test_a_path_says_nothing_about_a_command(self) -> None:
        assert not speaks(rule("allow", "shell(src/**)"), call("shell", cwd="src/a", command="rm b"))

    def test_no_fact_but_the_listed_ones_and_no_more_of_them(self) -> None:
        few = rule("allow", "tidy", when={Fact.DELETES: 2, Fact.MOVES: None})
        assert speaks(few, call("tidy"), deletes("a", "b"))
        assert speaks(few, call("tidy"), moves("a", "b"))
        assert speaks(few, call("tidy"), reads("a", "b", "c"))
        assert not speaks(few, call("tidy"), deletes("a", "b", "c"))
        assert not speaks(few, call("tidy"), moves("a", "b", onto=NEW))

    def test_a_command_is_allowed_by_its_plain_words_only(self) -> None:
        git = rule("allow", "shell(command: git log **)", "shell(command: git status)")
        assert speaks(git, call("shell", command="git status"))
        assert speaks(git, call("shell", command="git log -n 3"))
        for command in (
            "git status; rm x",
            "git status -s",
            "git log $(rm x)",
            "git log\nrm x",
            "x git status",
        ):
            assert not speaks(git, call("shell", command=command))

    def test_a_command_is_allowed_by_its_exact_text(self) -> None:
        exact = rule("allow", "run_code(code: print(1 [*] 2))")
        assert speaks(exact, call("run_code", code="print(1 * 2)"))
        assert not speaks(exact, call("run_code", code="print(1 * 2); x()"))
        assert not speaks(exact, call("run_code", code="print"))

    def test_a_wildcard_in_code_never_reaches_past_plain_words(self) -> None:
        with pytest.raises(RuleError):
            rule("allow", "run_code(code: print(*))")

    def test_a_list_is_matched_as_the_whole_it_is(self) -> None:
        tagged = rule("allow", "tag(tags: a)")
        assert speaks(tagged, call("tag", tags="a"))
        assert not speaks(tagged, call("tag", tags=["a"]))

    def test_every_listed_argument_has_to_be_given_and_covered(self) -> None:
        both = rule("allow", "copy", arguments={"from": ("a/**",), "to": ("b/**",)})
        assert speaks(both, call_with("copy", {"from": "a/x", "to": "b/x"}))
        assert not speaks(both, call_with("copy", {"from": "b/x", "to": "a/x"}))
        assert not speaks(both, call_with("copy", {"from": "a/x"}))


class TestExamples:
    def test_an_example_is_a_call_with_nothing_previewed(self) -> None:
        example = ExampleCall.parse("shell(command: ls *)")
        assert dict(example.call.arguments) == {"command": "ls *"}
        assert ExampleCall.parse("read_file(a*)").call.arguments == {"path": "a*"}
        assert ExampleCall.parse("handoff").call.arguments == {}

    def test_examples_that_do_not_hold_are_named(self) -> None:
        wrong = rule(
            "deny",
            "read_file(a)",
            match=("read_file(a)", "read_file(b)"),
            not_match=("write_file(a)", "read_file(a)"),
        )
        assert [(kind, example.text) for kind, example in wrong.failing_examples()] == [
            ("match", "read_file(b)"),
            ("not_match", "read_file(a)"),
        ]

    def test_an_example_may_use_an_alias(self) -> None:
        aliased = rule("deny", "list_directory", match=("list_files", "list_directory"))
        assert list(aliased.failing_examples({"list_directory": "list_files"})) == []


def test_a_rule_for_a_role_is_silent_about_others() -> None:
    rule = Rule(
        "deny", ("read_file(private/**)",), "private", roles=("narrator",), match=("read_file(private/a)",)
    )
    assert list(rule.failing_examples()) == []
    rules = Rules([rule])
    for role, hidden in (("narrator", "private"), ("editor", None)):
        assert rules.hides("private/a", "search_code", role) == hidden
        said = rules.denies_unseen(replace(call("read_file", path="private/a"), role=role))
        assert (said is not None) == (hidden is not None)
