"""The verdict on a call: the laws, and the early look."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brasstag.policy.profiles import ToolFacts, reaches_web
from brasstag.policy.python_rules import PythonRule
from brasstag.policy.rule import Rule
from brasstag.policy.shipped import shipped_rules
from brasstag.policy.verdict import Rules
from brasstag.words.calls import Call
from brasstag.words.previews import Fact, Preview
from brasstag.words.verdicts import Verdict
from tests.policy import strategies as make
from tests.policy.calls import call, creates, deletes, overwrites, reads

AUTO = ToolFacts("read_file", approval="auto", effects="none")
FILES = ToolFacts("write_file", effects="files")

some_rules = st.lists(make.any_rules, max_size=4)
ODD_PATHS = [
    ".env",
    "a/.ENV.local",
    "x\n.env",
    "\n",
    "é/id_rsa",
    "private/key.pem",
    "a.key",
    "plain",
    "a b/c",
]


class TestLaws:
    @given(some_rules, make.strict_rules, make.calls, make.previews, make.tools, make.profiles)
    @settings(max_examples=300)
    def test_adding_a_deny_or_an_ask_never_loosens(
        self, rules: list[Rule], added: Rule, made: Call, preview: Preview, tool: ToolFacts, profile: str
    ) -> None:
        before = Rules(rules, profile).judge(made, preview, tool)  # type: ignore[arg-type]
        after = Rules([*rules, added], profile).judge(made, preview, tool)  # type: ignore[arg-type]
        assert after.strictness >= before.strictness

    @given(some_rules, make.rules, make.calls, make.previews, make.tools, make.profiles)
    @settings(max_examples=300)
    def test_adding_an_allow_changes_only_calls_on_which_no_stricter_rule_spoke(
        self, rules: list[Rule], added: Rule, made: Call, preview: Preview, tool: ToolFacts, profile: str
    ) -> None:
        before = Rules(rules, profile).judge(made, preview, tool)  # type: ignore[arg-type]
        allowed = Rule(
            "allow", added.patterns, added.because, "new", added.unless, added.arguments, added.when
        )
        after = Rules([*rules, allowed], profile).judge(made, preview, tool)  # type: ignore[arg-type]
        if before.by_rule and before.decision != "allow":
            assert after == before
            return
        # Where no rule spoke, the reason may say why the new one does not either.
        is_same = after == (before if before.by_rule else replace(before, because=after.because))
        if reaches_web(preview, tool) and not before.by_rule:
            # With the web open, a rule that asks about something else is heard again.
            assert is_same or after.by_rule
        else:
            assert is_same or after.decision == "allow"

    @given(some_rules, make.calls, make.previews, make.tools, st.randoms(use_true_random=False))
    @settings(max_examples=200)
    def test_the_order_of_rules_does_not_matter(
        self, rules: list[Rule], made: Call, preview: Preview, tool: ToolFacts, chance: random.Random
    ) -> None:
        shuffled = list(rules)
        chance.shuffle(shuffled)
        assert Rules(rules).judge(made, preview, tool) == Rules(shuffled).judge(made, preview, tool)

    @given(some_rules, make.calls, make.previews, make.tools, make.profiles)
    @settings(max_examples=200)
    def test_every_verdict_says_who_decided_and_why(
        self, rules: list[Rule], made: Call, preview: Preview, tool: ToolFacts, profile: str
    ) -> None:
        verdict = Rules(rules, profile).judge(made, preview, tool)  # type: ignore[arg-type]
        assert verdict.decision in ("allow", "ask", "deny")
        assert verdict.rule
        assert verdict.because

    @given(some_rules, make.calls, make.previews, make.tools)
    @settings(max_examples=300)
    def test_what_is_denied_unseen_is_denied_whatever_is_seen(
        self, rules: list[Rule], made: Call, preview: Preview, tool: ToolFacts
    ) -> None:
        judging = Rules(rules)
        if judging.denies_unseen(made) is not None:
            assert judging.judge(made, preview, tool).decision == "deny"

    @given(some_rules, make.calls, make.previews, make.tools)
    @settings(max_examples=200)
    def test_looking_first_at_all_paths_together_changes_no_verdict(
        self, rules: list[Rule], made: Call, preview: Preview, tool: ToolFacts
    ) -> None:
        judging = Rules(rules)
        spoken = judging.spoken(made, preview, tool)
        verdict = judging.judge(made, preview, tool)
        if reaches_web(preview, tool) and verdict.decision == "deny" and not verdict.by_rule:
            assert all(one.verdict.decision != "deny" for one in spoken)
        else:
            assert verdict == spoken[0].verdict if spoken else not verdict.by_rule


class TestVerdicts:
    def test_deny_beats_ask_beats_allow_however_narrow(self) -> None:
        rules = [
            Rule("allow", ("read_file(/a/b)",), "narrow"),
            Rule("ask", ("read_file(a/**)",), "wider"),
            Rule("deny", ("*",), "widest"),
        ]
        made, preview = call("read_file", path="a/b"), reads("a/b")
        assert Rules(rules).judge(made, preview, AUTO).because == "widest"
        assert Rules(rules[:2]).judge(made, preview, AUTO).because == "wider"
        assert Rules(rules[:1]).judge(made, preview, AUTO).because == "narrow"

    def test_an_allow_rule_comes_before_profile_and_tool(self) -> None:
        rules = Rules([Rule("allow", ("delete_file(tmp/**)",), "scratch")], "locked")
        confirm = ToolFacts("delete_file", approval="confirm", effects="files")
        assert rules.judge(call("delete_file", path="tmp/a"), deletes("tmp/a"), confirm).decision == "allow"
        assert rules.judge(call("delete_file", path="b"), deletes("b"), confirm).decision == "ask"

    def test_a_rule_about_an_alias_is_about_its_tool(self) -> None:
        rules = Rules([Rule("deny", ("web_fetch",), "no web")], aliases={"web_fetch": "fetch"})
        assert rules.judge(call("fetch", url="https://x.org"), Preview(), AUTO).decision == "deny"

    def test_a_tool_that_acts_outside_is_judged_so_even_if_its_preview_forgot(self) -> None:
        rules = Rules([Rule("deny", ("*",), "stay in", when={Fact.EXTERNAL: None})])
        assert rules.judge(call("mail"), Preview(), ToolFacts("mail", approval="auto")).decision == "deny"

    def test_many_rules_are_judged_as_one(self) -> None:
        rules = Rules([Rule("deny", (f"*(secret{number})",), "x") for number in range(500)])
        assert rules.judge(call("read_file", path="a/secret499"), reads(), AUTO).decision == "deny"
        assert rules.judge(call("read_file", path="a/secret500"), reads(), AUTO).decision == "allow"


class TestPythonRules:
    def judged(self, answer: object) -> Verdict:
        def rule(_call: Call, _preview: Preview) -> Verdict | None:
            if isinstance(answer, Exception):
                raise answer
            return answer  # type: ignore[return-value]

        return Rules([PythonRule("mine", rule)]).judge(call("read_file", path="a"), reads("a"), AUTO)

    def test_its_verdict_counts_under_its_own_name(self) -> None:
        assert self.judged(Verdict("deny", "so", "another")) == Verdict("deny", "so", "mine", by_rule=True)

    def test_none_is_silence(self) -> None:
        assert not self.judged(None).by_rule

    def test_one_that_fails_asks(self) -> None:
        verdict = self.judged(KeyError("path"))
        assert verdict.decision == "ask"
        assert "KeyError" in verdict.because

    @pytest.mark.parametrize("answer", [True, "deny", Verdict("block", "x", "y")])  # type: ignore[arg-type]
    def test_an_answer_that_is_no_verdict_asks(self, answer: object) -> None:
        assert self.judged(answer).decision == "ask"

    def test_one_that_fails_does_not_soften_a_deny(self) -> None:
        def broken(_call: Call, _preview: Preview) -> Verdict | None:
            raise RuntimeError

        rules = Rules([PythonRule("broken", broken), Rule("deny", ("read_file",), "no")])
        assert rules.judge(call("read_file", path="a"), reads("a"), AUTO).decision == "deny"


class TestEarlyLook:
    def test_a_path_in_the_arguments_is_enough(self) -> None:
        verdict = Rules(shipped_rules()).denies_unseen(call("read_file", path="app/.env"))
        assert verdict is not None
        assert verdict.rule == "environment-files"

    @pytest.mark.parametrize(
        "rule",
        [
            Rule("ask", ("*",), "an ask"),
            Rule("allow", ("*",), "an allow"),
            Rule("deny", ("*",), "needs facts", when={Fact.DELETES: None}),
            Rule("deny", ("write_file",), "a preview may excuse it", unless=("write_file(a)",)),
            PythonRule("python", lambda _call, _preview: Verdict("deny", "x", "y")),
        ],
    )
    def test_only_a_deny_that_needs_no_look_speaks_early(self, rule: Rule | PythonRule) -> None:
        assert Rules([rule]).denies_unseen(call("write_file", path="b")) is None


class TestHiding:
    rules = Rules(
        [
            *shipped_rules(),
            Rule("deny", ("read_file(private/**)", "grep(logs/**)"), "private"),
            Rule("ask", ("*(drafts/**)",), "drafts"),
            Rule("deny", ("edit_file(**)",), "no edits"),
            Rule("deny", ("delete_file",), "no deletes"),
            Rule("deny", ("read_file(big)",), "only when it deletes", when={Fact.DELETES: None}),
            Rule("deny", ("read_file(path: by-argument/**)",), "an argument is a path too"),
        ]
    )

    @pytest.mark.parametrize(
        "path", [".env", "a/.ssh", "a/.ssh/config", "private/x", "PRIVATE", "by-argument/x"]
    )
    def test_what_read_file_may_not_read_is_hidden_with_a_reason(self, path: str) -> None:
        assert self.rules.hides(path)

    @pytest.mark.parametrize("path", [".env.example", "notes.md", "drafts/a", "logs/a", "big", ""])
    def test_everything_else_is_shown(self, path: str) -> None:
        assert self.rules.hides(path) is None

    def test_a_walking_tool_has_denials_of_its_own(self) -> None:
        assert self.rules.hides("logs/a", "grep")
        assert self.rules.hides("private/a", "grep")

    def test_a_tool_denied_as_a_whole_hides_nothing(self) -> None:
        assert Rules([Rule("deny", ("read_file",), "use load_document")]).hides("a") is None

    def test_a_python_rule_hides_what_it_denies(self) -> None:
        def mine(made: Call, _preview: Preview) -> Verdict | None:
            return Verdict("deny", "mine", "x") if made.arguments["path"] == "diary" else None

        rules = Rules([PythonRule("mine", mine)])
        assert rules.hides("diary") == "mine"
        assert rules.hides("notes") is None

    @given(
        some_rules,
        st.lists(st.one_of(make.paths, st.sampled_from(ODD_PATHS)), max_size=4),
        st.sampled_from(make.TOOLS),
    )
    @settings(max_examples=300)
    def test_rules_that_are_silent_about_many_paths_neither_hide_nor_watch_any(
        self, rules: list[Rule], paths: list[str], tool: str
    ) -> None:
        for known in (Rules(rules), Rules([*rules, *shipped_rules()]), self.rules):
            if known.is_silent_about(paths, tool):
                assert all(known.hides(path, tool, "editor") is None for path in paths)
                assert not any(known.watches(path, tool, "editor") for path in paths)

    def test_rules_are_silent_about_what_none_of_them_minds(self) -> None:
        rules = Rules(shipped_rules())
        assert rules.is_silent_about(["notes.md", "src/a.py", "keys.txt"], "search_code")
        assert rules.is_silent_about([], "search_code")
        assert not rules.is_silent_about(["notes.md", "app/.env", "src/a.py"], "search_code")
        assert not rules.is_silent_about(["a\n.env"], "search_code")

    def test_a_path_that_is_asked_about_is_watched(self) -> None:
        assert self.rules.watches("drafts/a", "search_code")
        assert not self.rules.watches("notes.md", "search_code")


def test_the_profile_decides_where_no_rule_speaks() -> None:
    made = call("write_file", path="a")
    assert Rules([], "careful").judge(made, creates("a"), FILES).decision == "allow"
    assert Rules([], "locked").judge(made, creates("a"), FILES).decision == "ask"
    assert Rules([], "careful").judge(made, overwrites("a"), FILES).decision == "ask"
    assert Rules([], "trusted").judge(made, overwrites("a"), FILES).decision == "allow"
