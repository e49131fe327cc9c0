"""Rules added in Python."""

import pytest

from brasstag.policy.globs import RuleError
from brasstag.policy.profiles import ToolFacts
from brasstag.policy.rule import Rule
from brasstag.policy.rule_engine import RuleEngine, SafetyRule
from brasstag.policy.shipped import shipped_rules
from brasstag.words.calls import Call
from brasstag.words.previews import Preview
from brasstag.words.verdicts import Verdict
from tests.policy.calls import call, reads

AUTO = ToolFacts("any", approval="auto", effects="none")
NOTHING = Preview()


class TestSafetyRule:
    engine = RuleEngine()
    engine.add_rule(SafetyRule(name="no_network_access", forbidden_patterns=["curl", "wget", "nc"]))

    @pytest.mark.parametrize(
        "command", ["nc -l 80", "x; curl y", "/usr/bin/wget z", "CURL x", "a && 'nc' b", "xargs curl <<< y"]
    )
    def test_whole_words_of_commands_are_blocked(self, command: str) -> None:
        for made in (call("shell", command=command), call("run_code", code=command)):
            verdict = self.engine.judge(made, NOTHING, AUTO)
            assert (verdict.decision, verdict.rule) == ("deny", "no_network_access")

    @pytest.mark.parametrize("command", ["sync", "rsync -a x y", "ncdu", "echo curling", "grep wgetrc x"])
    def test_words_that_only_hold_one_are_not(self, command: str) -> None:
        assert self.engine.judge(call("shell", command=command), NOTHING, AUTO).decision == "allow"

    def test_patterns_are_path_globs_too(self) -> None:
        engine = RuleEngine()
        engine.add_rule(SafetyRule("no_ledgers", ["ledger/**", "*.sqlite"], because="books are closed"))
        assert engine.judge(call("read_file", path="x/y.sqlite"), reads(), AUTO).because == "books are closed"
        assert engine.judge(call("list_files"), reads("ledger/2024"), AUTO).decision == "deny"
        assert engine.judge(call("read_file", path="sqlite.md"), reads(), AUTO).decision == "allow"

    def test_several_words_stand_one_after_the_other(self) -> None:
        engine = RuleEngine()
        engine.add_rule(SafetyRule("no_push", ["git push"], tools=["shell"], decision="ask"))
        assert (
            engine.judge(call("shell", command="cd x && git push --force"), NOTHING, AUTO).decision == "ask"
        )
        assert engine.judge(call("shell", command="git stash push"), NOTHING, AUTO).decision == "allow"
        assert engine.judge(call("other", command="git push"), NOTHING, AUTO).decision == "allow"

    @pytest.mark.parametrize("patterns", [[], "curl", ["a | b"], [""]])
    def test_what_could_never_match_is_refused(self, patterns: list[str]) -> None:
        with pytest.raises(RuleError):
            RuleEngine().add_rule(SafetyRule("x", patterns))


class TestAddRule:
    def test_the_shipped_rules_are_there_from_the_start(self) -> None:
        assert RuleEngine().rules == shipped_rules()
        assert RuleEngine([]).rules == ()

    def test_a_rule_is_added_once(self) -> None:
        engine = RuleEngine([])
        for _ in range(2):
            engine.add_rule(Rule("deny", ("x",), "y"))
        assert len(engine.rules) == 1

    def test_a_callable_is_a_rule_under_its_own_name_or_the_given_one(self) -> None:
        def no_drafts(made: Call, _preview: Preview) -> Verdict | None:
            return Verdict("deny", "hands off", "") if made.arguments.get("path") == "draft" else None

        engine = RuleEngine()
        engine.add_rule(no_drafts)
        assert engine.judge(call("read_file", path="draft"), NOTHING, AUTO).rule == "no_drafts"
        assert engine.judge(call("read_file", path="other"), NOTHING, AUTO).decision == "allow"
        engine = RuleEngine()
        engine.add_rule(no_drafts, name="drafts")
        assert engine.judge(call("read_file", path="draft"), NOTHING, AUTO).rule == "drafts"

    def test_a_rule_added_later_counts(self) -> None:
        engine = RuleEngine()
        assert engine.judge(call("read_file", path="a"), NOTHING, AUTO).decision == "allow"
        engine.add_rule(Rule("deny", ("read_file",), "closed"))
        assert engine.judge(call("read_file", path="a"), NOTHING, AUTO).decision == "deny"

    def test_what_is_no_rule_is_refused(self) -> None:
        async def later(_call: Call, _preview: Preview) -> Verdict | None:
            return None

        for wrong in (later, "deny everything", None):
            with pytest.raises(TypeError, match="is no rule"):
                RuleEngine().add_rule(wrong)  # type: ignore[arg-type]

    def test_the_profile_is_the_engines_own(self) -> None:
        facts = ToolFacts("run_code", approval="auto", effects="files")
        running = Preview(runs=("x",))
        assert RuleEngine(profile="careful").judge(call("run_code"), running, facts).decision == "allow"
        assert RuleEngine(profile="locked").judge(call("run_code"), running, facts).decision == "ask"
