"""What is said where no rule speaks: S2's approval lines, the three profiles, and the tool itself."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag.policy.profiles import PROFILES, ToolFacts, opinions
from brasstag.policy.shipped import shipped_rules
from brasstag.policy.verdict import Rules
from brasstag.settings.model import ProfileName
from brasstag.words.previews import Fact, Preview
from brasstag.words.verdicts import CONDITIONS
from tests.policy import strategies as make
from tests.policy.calls import OLD, call, creates, deletes, moves, overwrites, reads

NOTHING = Preview()


def tool(name: str = "tool", **facts: object) -> ToolFacts:
    return ToolFacts(name, **({"effects": "files"} | facts))  # type: ignore[arg-type]


def decision(profile: str, preview: Preview, facts: ToolFacts) -> str:
    return opinions(profile, preview, facts)[0].decision  # type: ignore[arg-type]


S2 = [
    ("list_directory", "none", "auto", reads(""), "allow"),
    ("list_directory", "none", "auto", Preview(untracked_reads=40), "allow"),
    ("read_file", "none", "auto", reads("a"), "allow"),
    ("write_file", "files", "when_overwriting", creates("a"), "allow"),
    ("write_file", "files", "when_overwriting", overwrites("a"), "ask"),
    ("delete_file", "files", "confirm", deletes("a"), "ask"),
    ("delete_file", "files", "confirm", deletes("a", "a/b", "a/c"), "ask"),
    ("move_file", "files", "when_overwriting", moves("a", "b"), "allow"),
    ("move_file", "files", "when_overwriting", moves("a", "b", onto=OLD), "ask"),
    ("run_code", "files", "auto", Preview(runs=("print(1)",)), "allow"),
    ("web_fetch", "external", None, Preview(fetches=("https://x.org",), external=True), "ask"),
    ("web_fetch", "external", "auto", Preview(fetches=("https://x.org",), external=True), "allow"),
    ("web_search", "external", "auto", Preview(external=True), "allow"),
]


@pytest.mark.parametrize(("name", "effects", "approval", "preview", "expected"), S2)
def test_under_careful_every_tool_of_s2_asks_as_s2_says(
    name: str, effects: str, approval: str | None, preview: Preview, expected: str
) -> None:
    facts = ToolFacts(name, approval=approval, effects=effects)
    verdict = Rules(shipped_rules(), "careful").judge(call(name, path="a"), preview, facts)
    assert verdict.decision == expected


def test_every_profile_has_a_word_on_every_fact() -> None:
    assert set(PROFILES) == set(get_args(ProfileName))
    assert all(set(stances) == set(Fact) for stances in PROFILES.values())


class TestAllowed:
    def test_an_allowed_call_names_everything_it_does_but_reading(self) -> None:
        both = Preview(reads=reads("a").reads, changes=(*creates("b").changes, *moves("c", "d").changes))
        verdict = opinions("careful", both, tool())[0]
        assert verdict.because == "profile careful allows creating and moving"
        assert opinions("careful", reads("a"), tool())[0].because == "profile careful allows reading"

    def test_where_the_profile_leaves_it_to_the_tool_the_tool_is_the_reason(self) -> None:
        preview = Preview(reads=reads("a").reads, external=True)
        verdict = opinions("careful", preview, tool(effects="external", approval="auto"))[0]
        assert (verdict.decision, verdict.rule) == ("allow", "tool tool")

    @given(make.profiles, make.previews, make.tools)
    def test_a_reason_never_names_reading_for_a_call_that_does_more(
        self, profile: ProfileName, preview: Preview, facts: ToolFacts
    ) -> None:
        verdict = opinions(profile, preview, facts)[0]
        if preview.facts - {Fact.READS}:
            assert not verdict.because.endswith("allows reading")


class TestLocked:
    @pytest.mark.parametrize(
        "preview",
        [
            *(creates("a"), overwrites("a"), deletes("a"), moves("a", "b")),
            *(Preview(runs=("x",)), Preview(annotates=("a",))),
        ],
    )
    def test_every_effect_asks_whatever_the_tool_says(self, preview: Preview) -> None:
        assert decision("locked", preview, tool(approval="auto")) == "ask"

    def test_reading_does_not_ask(self) -> None:
        assert decision("locked", reads("a"), tool()) == "allow"


class TestTrusted:
    @pytest.mark.parametrize(
        "preview", [creates("a"), overwrites("a"), deletes("a"), moves("a", "b", onto=OLD)]
    )
    @pytest.mark.parametrize("approval", [None, "auto", "confirm", "when_overwriting", "when_deleting"])
    def test_what_can_be_undone_is_allowed_over_the_tools_own_word(
        self, preview: Preview, approval: str | None
    ) -> None:
        assert decision("trusted", preview, tool(approval=approval)) == "allow"

    def test_reading_beside_it_changes_nothing(self) -> None:
        edit = Preview(reads=reads("a").reads, changes=overwrites("a").changes)
        assert decision("trusted", edit, tool(requires_approval=True)) == "allow"

    @pytest.mark.parametrize("preview", [overwrites("a", undoable=False), deletes("a", "b", undoable=False)])
    def test_what_cannot_be_undone_asks(self, preview: Preview) -> None:
        assert decision("trusted", preview, tool(approval="auto")) == "ask"

    def test_a_tool_that_only_reads_keeps_its_own_word(self) -> None:
        assert decision("trusted", reads("a"), tool(approval="confirm")) == "ask"

    def test_a_call_that_also_acts_elsewhere_keeps_the_tools_word(self) -> None:
        both = Preview(changes=creates("a").changes, runs=("make",))
        assert decision("trusted", both, tool(approval="confirm")) == "ask"
        assert decision("trusted", both, tool()) == "allow"

    def test_a_tool_that_could_not_answer_still_asks(self) -> None:
        assert decision("trusted", creates("a"), tool(error="KeyError: 'path'")) == "ask"


class TestToolsOwnWord:
    def test_effects_that_nobody_speaks_for_ask(self) -> None:
        for preview in (Preview(fetches=("https://x.org",)), Preview(external=True)):
            assert decision("careful", preview, tool()) == "ask"
            assert decision("careful", preview, tool(approval="auto")) == "allow"

    def test_an_allowed_effect_does_not_speak_for_another(self) -> None:
        assert decision("careful", Preview(changes=creates("a").changes, external=True), tool()) == "ask"

    def test_the_stricter_of_profile_and_tool_counts(self) -> None:
        assert decision("careful", overwrites("a"), tool(approval="auto")) == "ask"
        assert decision("careful", creates("a"), tool(approval="confirm")) == "ask"

    @pytest.mark.parametrize(("condition", "fact"), CONDITIONS.items())
    def test_a_condition_asks_when_its_fact_is_true_and_allows_when_it_is_not(
        self, condition: str, fact: Fact
    ) -> None:
        true = {
            Fact.CREATES: creates("a"),
            Fact.OVERWRITES: overwrites("a"),
            Fact.DELETES: deletes("a"),
            Fact.MOVES: moves("a", "b"),
            Fact.RUNS: Preview(runs=("x",)),
            Fact.FETCHES: Preview(fetches=("https://x.org",)),
        }[fact]
        own = [one for one in opinions("careful", true, tool(approval=condition)) if one.rule == "tool tool"]
        assert [one.decision for one in own] == ["ask"]
        assert decision("careful", reads("a"), tool(approval=condition)) == "allow"

    def test_what_a_function_of_the_arguments_answered_counts(self) -> None:
        assert decision("careful", creates("a"), tool(requires_approval=True)) == "ask"
        assert decision("careful", creates("a"), tool(requires_approval=False)) == "allow"
        assert decision("careful", creates("a"), tool(requires_approval=False, approval="confirm")) == "ask"
        assert decision("careful", creates("a"), tool(error="ValueError")) == "ask"

    def test_an_approval_nobody_knows_asks(self) -> None:
        assert decision("careful", reads("a"), tool(approval="when_raining")) == "ask"

    @pytest.mark.parametrize("effects", ["none", "files"])
    def test_a_tool_that_can_only_do_what_is_seen_reads_when_nothing_is_seen(self, effects: str) -> None:
        for profile in PROFILES:
            assert decision(profile, NOTHING, tool(effects=effects)) == "allow"

    def test_a_tool_that_acts_where_nobody_sees_asks_when_nothing_is_seen(self) -> None:
        for profile in PROFILES:
            assert decision(profile, NOTHING, tool(effects="external")) == "ask"


class TestReasons:
    def test_the_person_is_told_what_would_happen(self) -> None:
        (first, *_) = opinions("careful", deletes("a", "b", "c", "d", "e"), tool())
        assert first.because == "it deletes a, b, c and 2 more; profile careful asks first"

    def test_long_commands_are_cut_in_the_reason(self) -> None:
        (first, *_) = opinions("locked", Preview(runs=("print(1)\n" * 50,)), tool())
        assert len(first.because) < 150
        assert "\n" not in first.because

    @given(make.previews, make.tools, st.sampled_from(["careful", "locked"]))
    def test_no_profile_but_trusted_is_looser_than_the_tool(
        self, preview: Preview, facts: ToolFacts, profile: str
    ) -> None:
        said = opinions(profile, preview, facts)  # type: ignore[arg-type]
        own = [one for one in said if one.rule == "tool tool"]
        assert all(said[0].strictness >= one.strictness for one in own)

    @given(make.previews, make.tools)
    def test_locked_is_never_looser_than_careful(self, preview: Preview, facts: ToolFacts) -> None:
        locked, careful = opinions("locked", preview, facts)[0], opinions("careful", preview, facts)[0]
        assert locked.strictness >= careful.strictness
