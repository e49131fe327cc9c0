"""The corpora: every command gets the verdict it must get."""

from collections.abc import Iterable

import pytest

from brasstag.policy.profiles import PROFILES, ToolFacts
from brasstag.policy.shipped import shipped_rules
from brasstag.policy.verdict import Rules
from brasstag.settings.model import ProfileName
from brasstag.words.previews import Preview
from brasstag.words.verdicts import Decision
from tests.policy.calls import call
from tests.policy.shell import corpus, innocent

SHELL = ToolFacts("shell", approval="auto", effects="files")


def others(
    commands: Iterable[str], wanted: str, profile: ProfileName = "careful", dangerous: Decision = "deny"
) -> dict[str, str]:
    """Return the commands that get another verdict; ``silent`` where no rule speaks."""
    rules = Rules(shipped_rules(dangerous), profile)
    found = {}
    for command in commands:
        verdict = rules.judge(call("shell", command=command), Preview(runs=(command,)), SHELL)
        decision = verdict.decision if verdict.by_rule else "silent"
        if decision != wanted:
            found[command[:200]] = f"{decision}: {verdict.because}"
    return found


def test_the_corpora_are_large_enough_and_repeat_nothing() -> None:
    dangerous = [*corpus.DENIED, *corpus.ASKED]
    harmless = [*innocent.SILENT, *innocent.INNOCENT_BUT_ASKED]
    assert len(set(dangerous)) == len(dangerous) >= 150
    assert len(set(harmless)) == len(harmless) >= 150
    assert not set(dangerous) & set(harmless)
    assert not set(corpus.RM_RF_AND_DD) & {*dangerous, *harmless}


@pytest.mark.parametrize("profile", PROFILES)
def test_what_destroys_a_machine_or_reads_secrets_is_denied_in_every_profile(profile: ProfileName) -> None:
    assert others(corpus.DENIED, "deny", profile) == {}


@pytest.mark.parametrize("profile", PROFILES)
def test_rm_rf_and_dd_are_denied_in_every_profile_whatever_their_target(profile: ProfileName) -> None:
    assert others(corpus.RM_RF_AND_DD, "deny", profile) == {}


def test_the_denial_names_the_tool_that_deletes() -> None:
    rules = Rules(shipped_rules())
    for command in ("rm -rf build", "dd if=a of=b"):
        verdict = rules.judge(call("shell", command=command), Preview(runs=(command,)), SHELL)
        assert (verdict.rule, "delete_file" in verdict.because) == ("dangerous-commands", True)


def test_the_setting_loosens_rm_rf_and_dd_to_ask_and_nothing_that_destroys_the_machine() -> None:
    assert others(corpus.RM_RF_AND_DD, "ask", dangerous="ask") == {}
    assert others(corpus.DENIED, "deny", dangerous="ask") == {}


def test_what_is_dangerous_or_cannot_be_known_is_asked_about() -> None:
    assert others(corpus.ASKED, "ask") == {}


def test_about_everyday_commands_no_rule_speaks() -> None:
    assert others(innocent.SILENT, "silent") == {}


def test_innocent_commands_that_look_dangerous_are_asked_about_and_not_denied() -> None:
    assert others(innocent.INNOCENT_BUT_ASKED, "ask") == {}


def test_what_is_not_caught_is_listed_honestly() -> None:
    assert others([command for command, _ in corpus.NOT_CAUGHT], "silent") == {}


@pytest.mark.parametrize("tool", ["run_code", "deploy"])
def test_bash_is_judged_alike_whichever_tool_runs_it(tool: str) -> None:
    rules = Rules(shipped_rules())
    made = call("run_code", language="bash", code="ls; sudo rm -rf /") if tool == "run_code" else call(tool)
    assert rules.judge(made, Preview(runs=("ls; sudo rm -rf /",)), SHELL).rule == "destroys-the-machine"


def test_text_of_a_tool_that_runs_nothing_is_not_taken_for_a_command() -> None:
    rules = Rules(shipped_rules())
    files = ToolFacts("write_file", approval="auto", effects="files")
    assert not rules.judge(call("write_file", content="rm -rf /", code="rm -rf /"), Preview(), files).by_rule
