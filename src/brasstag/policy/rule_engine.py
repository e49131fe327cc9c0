"""RuleEngine and SafetyRule: rules added in Python."""

import inspect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from brasstag.policy.globs import RuleError
from brasstag.policy.profiles import ToolFacts
from brasstag.policy.python_rules import Judge, PythonRule
from brasstag.policy.rule import Rule
from brasstag.policy.shell.rules import CommandRule
from brasstag.policy.shipped import shipped_rules
from brasstag.policy.verdict import Rules
from brasstag.settings.model import ProfileName
from brasstag.words.calls import Call
from brasstag.words.previews import Preview
from brasstag.words.verdicts import Decision, Verdict

_COMMANDS = ("command", "code")


@dataclass(frozen=True)
class SafetyRule:
    """Words and paths that calls must not hold.

    Each pattern is matched against the whole words of commands and code, and, unless it has a space, as a path glob:
    ``nc`` is ``nc`` and ``/usr/bin/nc``, never ``sync``.
    """

    name: str
    forbidden_patterns: Sequence[str]
    tools: Sequence[str] = ("*",)
    because: str = ""
    decision: Decision = "deny"

    def as_rule(self) -> Rule:
        """Return the rule it stands for; raise RuleError for what cannot be read."""
        if isinstance(self.forbidden_patterns, str) or isinstance(self.tools, str):
            raise RuleError(
                "forbidden_patterns and tools are lists of texts", "Put brackets around a single one"
            )
        return Rule(
            self.decision,
            tuple(
                text
                for tool in self.tools
                for pattern in self.forbidden_patterns
                for text in _forms(tool, pattern)
            ),
            self.because or f"the safety rule {self.name} forbids it",
            self.name,
            source="Python",
        )


AnyRule = Rule | PythonRule | CommandRule | SafetyRule | Judge


class RuleEngine:
    """Rules as they are collected; it begins with those that are shipped."""

    def __init__(self, rules: Iterable[AnyRule] | None = None, profile: ProfileName = "careful") -> None:
        """Take the rules to begin with; None stands for the shipped ones."""
        self._profile: ProfileName = profile
        self._rules: list[Rule | PythonRule | CommandRule] = []
        self._judging: Rules | None = None
        for rule in shipped_rules() if rules is None else rules:
            self.add_rule(rule)

    @property
    def rules(self) -> tuple[Rule | PythonRule | CommandRule, ...]:
        """Every rule added so far."""
        return tuple(self._rules)

    def add_rule(self, rule: AnyRule, name: str = "") -> None:
        """Add a rule: a SafetyRule, a Rule, or a callable of call and preview; one that is there already is kept once.

        A callable returns a Verdict, or None to stay silent; ``name`` is what its verdicts are known by.
        """
        added = _as_rule(rule, name)
        if added not in self._rules:
            self._rules.append(added)
            self._judging = None

    def judge(self, call: Call, preview: Preview, tool: ToolFacts) -> Verdict:
        """Return the verdict on a call."""
        if self._judging is None:
            self._judging = Rules(self._rules, self._profile)
        return self._judging.judge(call, preview, tool)


def _as_rule(rule: AnyRule, name: str) -> Rule | PythonRule | CommandRule:
    if isinstance(rule, Rule | PythonRule | CommandRule):
        return rule
    if isinstance(rule, SafetyRule):
        return rule.as_rule()
    if not _is_plain_function(rule):
        raise TypeError(
            f"{rule!r} is no rule; give a SafetyRule, a Rule, or a plain function of call and preview"
        )
    return PythonRule(name or getattr(rule, "__name__", type(rule).__name__), rule)


def _is_plain_function(rule: object) -> bool:
    return callable(rule) and not inspect.iscoroutinefunction(rule)


def _forms(tool: str, pattern: str) -> list[str]:
    forms = [f"{tool}({argument}: {pattern})" for argument in _COMMANDS]
    return forms if len(pattern.split()) > 1 else [*forms, f"{tool}({pattern})"]
