"""What would replace something its task has not seen is asked about, whoever allows it."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from brasstag.policy.conflicts import CHANGED_MEANWHILE
from brasstag.policy.explain import explain
from brasstag.policy.narrow import NoRule, narrow_rule
from brasstag.policy.profiles import ToolFacts
from brasstag.policy.rule import Rule
from brasstag.policy.verdict import Rules
from brasstag.settings.model import ProfileName
from brasstag.words.calls import Call
from brasstag.words.previews import Change, Conflict, Preview
from tests.policy import strategies as make
from tests.policy.calls import NEW, OLD, call_with

MEANWHILE = Conflict("a", "file:base", "2026-11-16T09:00:00.000Z", "outside")
OVERWRITES = Preview(changes=(Change("a", OLD, NEW),), conflicts=(MEANWHILE,))
WRITES = ToolFacts("write_file", effects="files")


@given(st.lists(make.any_rules, max_size=4), make.calls, make.previews, make.tools, make.profiles)
@settings(max_examples=300)
def test_a_conflict_only_tightens_and_is_an_ask_at_least(
    rules: list[Rule], made: Call, preview: Preview, tool: ToolFacts, profile: ProfileName
) -> None:
    judging = Rules(rules, profile)
    before = judging.judge(made, preview, tool)
    clashing = replace(preview, conflicts=(MEANWHILE,))
    after = judging.judge(made, clashing, tool)
    if before.decision == "deny":
        assert after == before
    else:
        assert (after.decision, after.rule) == ("ask", CHANGED_MEANWHILE)
        assert before.decision == "allow" or after.because.endswith(f"; besides, {before.because}")
    explained = explain(judging, made, clashing, tool)
    assert [line.verdict for line in explained.lines if line.decided] == [after]


def test_the_reason_names_one_and_counts_the_rest() -> None:
    call = call_with("write_file", {"path": "a"})
    rules = Rules([], "trusted")
    for others, said in (
        (0, ", and this would"),
        (1, ", and so was 1 more; this"),
        (2, ", and so were 2 more; this"),
    ):
        preview = replace(OVERWRITES, conflicts=(MEANWHILE,) * (others + 1))
        assert said in rules.judge(call, preview, WRITES).because


def test_no_rule_can_be_written_that_allows_it() -> None:
    call = call_with("write_file", {"path": "a"})
    rules = Rules([], "careful")
    assert isinstance(narrow_rule(rules, call, OVERWRITES, WRITES, (), "again"), NoRule)
    plain = replace(OVERWRITES, conflicts=())
    assert isinstance(narrow_rule(rules, call, plain, WRITES, (), "again"), str)
