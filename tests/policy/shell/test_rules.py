"""The shipped rules about commands, the law they keep, and how they are shown."""

import subprocess
import sys
from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from brasstag.policy.explain import explain
from brasstag.policy.profiles import ToolFacts
from brasstag.policy.rule import Rule
from brasstag.policy.shell.commands import CommandReading
from brasstag.policy.shell.explain import command_lines
from brasstag.policy.shell.named_files import named_paths
from brasstag.policy.shell.read import read_code, read_commands
from brasstag.policy.shell.rules import CommandFinding, CommandRule, command_rules
from brasstag.policy.shipped import shipped_rules
from brasstag.policy.verdict import Rules
from brasstag.words.previews import Preview
from brasstag.words.verdicts import STRICTNESS
from tests.policy import strategies as make
from tests.policy.calls import call
from tests.policy.shell import corpus, innocent

SHELL = ToolFacts("shell", approval="auto", effects="files")
RULES = command_rules("here")
short = [text for text in (*corpus.DENIED, *corpus.ASKED, *innocent.SILENT) if len(text) < 200]
commands = st.sampled_from(short)
allows = make.rules.map(
    lambda rule: Rule("allow", rule.patterns, rule.because, "new", rule.unless, when=rule.when)
)
some_rules = st.lists(st.one_of(make.any_rules, st.sampled_from(RULES)), max_size=4)


def judged(rules: list[Rule | CommandRule], command: str, profile: str = "careful") -> str:
    made, preview = call("shell", command=command), Preview(runs=(command,))
    return Rules(rules, profile).judge(made, preview, SHELL).decision  # type: ignore[arg-type]


class TestLaws:
    @given(some_rules, st.sampled_from(RULES), commands, make.profiles)
    @settings(max_examples=200, deadline=None)
    def test_adding_a_rule_about_commands_never_loosens(
        self, rules: list[Rule | CommandRule], added: CommandRule, command: str, profile: str
    ) -> None:
        before, after = judged(rules, command, profile), judged([*rules, added], command, profile)
        assert STRICTNESS[after] >= STRICTNESS[before]  # type: ignore[index]

    @given(some_rules, allows, commands, make.profiles)
    @settings(max_examples=200, deadline=None)
    def test_adding_an_allow_changes_only_commands_on_which_no_stricter_rule_spoke(
        self, rules: list[Rule | CommandRule], added: Rule, command: str, profile: str
    ) -> None:
        made, preview = call("shell", command=command), Preview(runs=(command,))
        before = Rules(rules, profile).judge(made, preview, SHELL)  # type: ignore[arg-type]
        after = Rules([*rules, added], profile).judge(made, preview, SHELL)  # type: ignore[arg-type]
        if before.by_rule and before.decision != "allow":
            assert after == before
        else:
            assert after == before or after.decision == "allow"

    @given(commands, commands, st.sampled_from([" ; ", " && ", " | "]))
    @settings(max_examples=200, deadline=None)
    def test_a_second_command_never_loosens_the_first(self, one: str, two: str, operator: str) -> None:
        shipped = list(shipped_rules())
        first = judged(shipped, one)
        # What follows a comment, a here-document or an open quote is part of it.
        if first == "deny" and not set("#<\n'\"") & set(one):
            assert judged(shipped, f"{one}{operator}{two}") != "allow"

    @given(commands)
    @settings(max_examples=100, deadline=None)
    def test_what_is_denied_unseen_is_denied_whatever_is_seen(self, command: str) -> None:
        rules = Rules(shipped_rules())
        if rules.denies_unseen(call("shell", command=command)) is not None:
            assert rules.judge(call("shell", command=command), Preview(), SHELL).decision == "deny"


class TestShowing:
    def test_every_command_has_a_line_with_its_place_and_the_strictest_word_on_it(self) -> None:
        lines = command_lines([read_commands("ls | sudo rm -rf /; $X")], RULES)
        assert [(line.words, line.place, line.verdict and line.verdict.rule) for line in lines] == [
            (("ls",), (), None),
            (("sudo", "rm", "-rf", "/"), ("pipe",), "changes-the-system"),
            (("rm", "-rf", "/"), ("pipe", "sudo"), "destroys-the-machine"),
            (("$X",), (), None),
            (("$X",), (), "cannot-be-read"),
        ]

    def test_an_explanation_holds_the_commands_and_who_spoke(self) -> None:
        made, preview = call("shell", command="cd x && rm -r y"), Preview(runs=("cd x && rm -r y",))
        explanation = explain(Rules(shipped_rules()), made, preview, SHELL)
        assert (explanation.lines[0].verdict.rule, explanation.lines[0].on) == ("destroys-files", "rm -r y")
        assert explanation.as_json()["commands"] == [
            {"words": ["cd", "x"], "place": []},
            {
                "words": ["rm", "-r", "y"],
                "place": [],
                "decision": "ask",
                "because": "it deletes or overwrites many files in one go",
                "rule": "destroys-files",
            },
        ]

    def test_a_call_that_runs_nothing_has_no_commands(self) -> None:
        assert explain(Rules([]), call("read_file", path="a"), Preview(), SHELL).commands == ()


class TestNaming:
    def test_words_that_may_be_files_of_the_workspace_are_named_once(self) -> None:
        reading = read_commands(
            "bash ./a/run.sh --in=data/x.csv -v b.txt < c.txt > d.txt; cat ./b.txt; sub/tool"
        )
        assert named_paths(reading) == ("a/run.sh", "data/x.csv", "b.txt", "c.txt", "d.txt", "sub/tool")

    def test_what_lies_elsewhere_or_is_computed_is_not(self) -> None:
        assert named_paths(read_commands("cat /etc/hosts ~/x ../y $Z *.md https://x.org/a . ''")) == ()

    def test_strings_of_python_are_named(self) -> None:
        assert named_paths(read_code("open('data/x.csv'); open('/etc/hosts')", "python")) == ("data/x.csv",)


def test_every_rule_bears_out_its_examples_and_would_notice_wrong_ones() -> None:
    for rule in RULES:
        assert rule.match
        assert rule.not_match
        assert list(rule.failing_examples()) == []
        swapped = CommandRule(rule.name, rule.decision, "x", rule.finds, rule.not_match, rule.match)
        assert len(list(swapped.failing_examples())) == len(rule.match) + len(rule.not_match)


def test_judging_a_call_that_runs_nothing_loads_neither_parser_nor_tables() -> None:
    code = (
        "import sys\n"
        "from brasstag.policy.verdict import Rules\n"
        "from brasstag.policy.shipped import shipped_rules\n"
        "from tests.policy.calls import QUIET, call, reads\n"
        "Rules(shipped_rules()).judge(call('read_file', path='a'), reads('a'), QUIET)\n"
        "print([name for name in sys.modules if name.startswith('tree_sitter') or name.endswith('.dangers')])\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_what_a_rule_finds_in_a_reading_is_looked_for_once() -> None:
    looked = []

    def finds(reading: CommandReading) -> Iterator[CommandFinding]:
        looked.append(reading)
        yield from (CommandFinding(command.text, "") for command in reading.commands)

    rule = CommandRule("mine", "ask", "because", finds)
    rules = Rules([rule, Rule("deny", ("*(command: ls -z)",), "no", "other")])
    for _ in range(2):
        made = call("shell", command="ls -y")
        assert rules.judge(made, Preview(runs=("ls -y",)), SHELL).rule == "mine"
    assert len(looked) == 1
