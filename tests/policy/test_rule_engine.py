"""Rules added in Python."""

import gc
import threading
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag.policy.globs import RuleError
from brasstag.policy.profiles import ToolFacts
from brasstag.policy.rule import Rule
from brasstag.policy.rule_engine import RuleEngine, SafetyRule
from brasstag.policy.shipped import shipped_rules
from brasstag.settings import ProfileName
from brasstag.words.calls import Call
from brasstag.words.errors import ConfigError
from brasstag.words.previews import Preview
from brasstag.words.verdicts import Verdict
from tests.policy import strategies as make
from tests.policy.calls import call, reads

some_rules = st.lists(make.rules, max_size=4)

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

    def test_a_rule_that_would_end_the_program_asks(self) -> None:
        def leave(_call: Call, _preview: Preview) -> Verdict | None:
            raise SystemExit(3)

        verdict = RuleEngine([leave]).judge(call("read_file", path="a"), NOTHING, AUTO)
        assert (verdict.decision, verdict.because) == ("ask", "the rule failed with SystemExit: 3")

    def test_what_is_no_rule_is_refused(self) -> None:
        async def later(_call: Call, _preview: Preview) -> Verdict | None:
            return None

        for wrong in (later, "deny everything", None, RuleEngine, SafetyRule):
            with pytest.raises(TypeError, match="is no rule"):
                RuleEngine().add_rule(wrong)  # type: ignore[arg-type]

    def test_the_profile_is_the_engines_own(self) -> None:
        facts = ToolFacts("run_code", approval="auto", effects="files")
        running = Preview(runs=("x",))
        assert RuleEngine(profile="careful").judge(call("run_code"), running, facts).decision == "allow"
        assert RuleEngine(profile="locked").judge(call("run_code"), running, facts).decision == "ask"


class TestFollowing:
    def test_an_engine_takes_the_rules_of_another_and_those_added_later(self) -> None:
        first, second, third = RuleEngine([]), RuleEngine([]), RuleEngine([])
        second.add_rule(first)
        third.add_rule(second)
        first.add_rule(SafetyRule("no_x", ["x/**"]))
        assert third.rules == first.rules
        assert third.judge(call("read_file", path="x/y"), reads("x/y"), AUTO).rule == "no_x"

    def test_what_both_have_is_kept_once(self) -> None:
        engine = RuleEngine()
        engine.add_rule(RuleEngine())
        assert engine.rules == shipped_rules()

    @pytest.mark.parametrize("profile", [None, "careful", "locked"])
    def test_one_with_another_profile_is_refused(self, profile: ProfileName | None) -> None:
        other = RuleEngine([SafetyRule("no_x", ["x"])], profile="trusted")
        engine = RuleEngine([], profile)
        with pytest.raises(ConfigError, match="profile"):
            engine.add_rule(other)
        other.add_rule(SafetyRule("no_y", ["y"]))
        assert engine.rules == ()

    def test_two_do_not_take_each_other(self) -> None:
        first, second = RuleEngine([]), RuleEngine([])
        second.add_rule(first)
        for engine, other in ((first, second), (first, first)):
            with pytest.raises(ConfigError, match="takes its rules"):
                engine.add_rule(other)

    def test_an_engine_does_not_keep_those_that_took_it_alive(self) -> None:
        engine, taker = RuleEngine([]), RuleEngine([])
        taker.add_rule(engine)
        gone = weakref.ref(taker)
        del taker
        gc.collect()
        assert gone() is None
        engine.add_rule(SafetyRule("no_x", ["x"]))

    def test_what_a_thread_has_added_counts_when_add_rule_returns(self) -> None:
        engine, room = RuleEngine([]), RuleEngine([])
        room.add_rule(engine)
        missing: list[str] = []

        def add(thread: int) -> None:
            for number in range(40):
                name = f"no_{thread}_{number}"
                engine.add_rule(SafetyRule(name, [f"{name}/**"]))
                verdict = room.judge(call("read_file", path=f"{name}/x"), reads(f"{name}/x"), AUTO)
                missing.extend([name] if verdict.rule != name else [])

        threads = [threading.Thread(target=add, args=(each,)) for each in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert missing == []
        assert len(room.rules) == len({rule.name for rule in room.rules}) == 160

    @given(some_rules, some_rules, make.calls, make.previews)
    def test_taking_an_engine_is_adding_its_rules(
        self, ours: list[Rule], theirs: list[Rule], made: Call, preview: Preview
    ) -> None:
        engine = RuleEngine(ours)
        engine.add_rule(RuleEngine(theirs))
        assert engine.judge(made, preview, AUTO) == RuleEngine([*ours, *theirs]).judge(made, preview, AUTO)
