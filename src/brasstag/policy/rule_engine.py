"""RuleEngine and SafetyRule: rules added in Python."""

import inspect
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from weakref import WeakMethod

from brasstag.policy.globs import RuleError
from brasstag.policy.profiles import ToolFacts
from brasstag.policy.python_rules import Judge, PythonRule
from brasstag.policy.rule import Rule
from brasstag.policy.shell.rules import CommandRule
from brasstag.policy.shipped import SOURCE as SHIPPED
from brasstag.policy.shipped import shipped_rules
from brasstag.policy.verdict import Rules
from brasstag.settings.model import ProfileName
from brasstag.words.calls import Call
from brasstag.words.errors import ConfigError, Problem
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


OneRule = Rule | PythonRule | CommandRule | SafetyRule | Judge
ReadRule = Rule | PythonRule | CommandRule
"""A rule in the form in which calls are judged."""


class RuleEngine:
    """Rules as they are collected; it begins with those that are shipped.

    A room, or another engine, that takes an engine has its rules from then on, and those that are added to it later.
    Any thread may add rules.
    """

    def __init__(
        self, rules: "Iterable[OneRule | RuleEngine] | None" = None, profile: ProfileName | None = None
    ) -> None:
        """Take the rules to begin with; None stands for the shipped ones.

        ``profile`` decides calls on which no rule speaks: ``careful`` where it is left out. A room has a profile of its
        own, so it takes only engines that leave it out or name the same one.
        """
        self.profile: ProfileName | None = profile
        self._rules: tuple[ReadRule, ...] = ()
        self._judging: Rules | None = None
        self._lock = threading.RLock()
        self._followed: tuple[RuleEngine, ...] = ()
        self._told: tuple[WeakMethod[Callable[[], None]], ...] = ()
        for rule in shipped_rules() if rules is None else rules:
            self.add_rule(rule)

    @property
    def rules(self) -> tuple[ReadRule, ...]:
        """Every rule added so far."""
        return self._rules

    @property
    def own_rules(self) -> tuple[ReadRule, ...]:
        """The rules that are not shipped; those of a room are chosen by its settings."""
        return tuple(rule for rule in self._rules if isinstance(rule, PythonRule) or rule.source != SHIPPED)

    def add_rule(self, rule: "OneRule | RuleEngine", name: str = "") -> None:
        """Add a rule, or the rules of another engine that are not shipped; one that is there already is kept once.

        A rule is a SafetyRule, a Rule, or a callable of call and preview. A callable returns a Verdict, or None to stay
        silent; ``name`` is what its verdicts are known by. Raises ConfigError for an engine with another profile.
        """
        if isinstance(rule, RuleEngine):
            self._follow(rule)
        else:
            self._add((_as_rule(rule, name),))

    def judge(self, call: Call, preview: Preview, tool: ToolFacts) -> Verdict:
        """Return the verdict on a call."""
        with self._lock:
            if self._judging is None:
                self._judging = Rules(self._rules, self.profile or "careful")
            judging = self._judging
        return judging.judge(call, preview, tool)

    def when_added(self, told: Callable[[], None]) -> None:
        """Call this method, in the thread that adds, each time there are new rules.

        The method does not keep its object alive: an engine may outlive many rooms that took it.
        """
        with self._lock:
            self._told = (*(one for one in self._told if one() is not None), WeakMethod(told))

    def follows(self, other: "RuleEngine") -> bool:
        """Say whether rules that are added to another engine become rules of this one."""
        return other is self or any(one.follows(other) for one in self._followed)

    def _follow(self, other: "RuleEngine") -> None:
        if other.profile not in (None, self.profile):
            what = f"is {other.profile!r}, but here the profile is {self.profile or 'careful'!r}"
            mend = "Leave it out: an engine adds rules, and the room's profile stays as it is."
            raise ConfigError([Problem("RuleEngine", "profile", what, mend)])
        if other.follows(self):
            what, mend = "takes its rules from the one that would take it", "Let only one take the other."
            raise ConfigError([Problem("RuleEngine", "", what, mend)])
        with self._lock:
            self._followed += (other,)
        other.when_added(self._catch_up)
        self._catch_up()

    def _catch_up(self) -> None:
        self._add([rule for other in self._followed for rule in other.own_rules])

    def _add(self, rules: Sequence[ReadRule]) -> None:
        # Held while others are told: when a thread has added a rule, every room that follows has it.
        with self._lock:
            added = [rule for rule in rules if rule not in self._rules]
            self._rules = (*self._rules, *added)
            self._judging = None
            told = [method for one in self._told if (method := one()) is not None]
            for tell in told if added else ():
                tell()


AnyRule = OneRule | RuleEngine
GivenRule = SafetyRule | Rule | Judge | RuleEngine
"""What a program may add to a room."""


def _as_rule(rule: OneRule, name: str) -> ReadRule:
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
    return callable(rule) and not isinstance(rule, type) and not inspect.iscoroutinefunction(rule)


def _forms(tool: str, pattern: str) -> list[str]:
    forms = [f"{tool}({argument}: {pattern})" for argument in _COMMANDS]
    return forms if len(pattern.split()) > 1 else [*forms, f"{tool}({pattern})"]
