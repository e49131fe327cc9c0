"""Explain a verdict: every rule that spoke, and the one that decided. Data only; surfaces show it."""

from dataclasses import dataclass, replace
from typing import Any

from brasstag.policy.conflicts import CHANGED_MEANWHILE
from brasstag.policy.match.subjects import Subject
from brasstag.policy.profiles import ToolFacts, as_declared
from brasstag.policy.shell.explain import CommandLine, command_lines
from brasstag.policy.verdict import Rules
from brasstag.words.calls import Call
from brasstag.words.previews import Preview
from brasstag.words.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class VerdictLine:
    """One line of an explanation: what a rule, the profile, the tool itself or the default says."""

    verdict: Verdict
    decided: bool
    on: str = ""
    """What in the call the rule speaks about."""
    source: str = ""
    """Where a rule is written."""

    def as_json(self) -> dict[str, Any]:
        """Return the line as JSON."""
        return self.verdict.as_json() | {
            "by_rule": self.verdict.by_rule,
            "decided": self.decided,
            "on": self.on,
            "source": self.source,
        }


@dataclass(frozen=True, slots=True)
class Explanation:
    """A verdict, and what each rule says, the strictest first; then what would count without rules."""

    verdict: Verdict
    lines: tuple[VerdictLine, ...]
    commands: tuple[CommandLine, ...] = ()
    """Every command that was read in what the call would run."""

    def as_json(self) -> dict[str, Any]:
        """Return the explanation as JSON."""
        return {
            "verdict": self.verdict.as_json(),
            "lines": [line.as_json() for line in self.lines],
            "commands": [line.as_json() for line in self.commands],
        }


def explain(rules: Rules, call: Call, preview: Preview, tool: ToolFacts) -> Explanation:
    """Return why the rules say what they say about a call."""
    verdict = rules.judge(call, preview, tool)
    lines = [VerdictLine(verdict, decided=False)] if verdict.rule == CHANGED_MEANWHILE else []
    lines += [
        VerdictLine(one.verdict, decided=False, on=_shown(one.on), source=one.source)
        for one in rules.spoken(call, preview, tool)
    ]
    lines += [
        VerdictLine(one, decided=False)
        for one in rules.opinions(Subject(call, as_declared(preview, tool)), tool)
    ]
    decided = next(place for place, line in enumerate(lines) if line.verdict == verdict)
    lines = [replace(line, decided=place == decided) for place, line in enumerate(lines)]
    readings = Subject(call, preview).readings()
    return Explanation(verdict, tuple(lines), command_lines(readings, rules.command_rules))


def _shown(item: str) -> str:
    return " ".join(item.split("\n")).strip()  # the words of a command stand one on each line
