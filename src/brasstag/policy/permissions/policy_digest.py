"""The digest of a policy: it changes with the profile, and with any rule; a rule in Python counts by its code."""

from collections.abc import Iterable
from types import CodeType
from typing import Any

from brasstag.policy.python_rules import PythonRule
from brasstag.policy.rule import Rule
from brasstag.policy.shell.rules import CommandRule
from brasstag.words.canonical import stored_digest

_PLAIN = (str, bytes, int, float, bool, type(None))


def digest_of(rules: Iterable[Rule | PythonRule | CommandRule], profile: str) -> str:
    """Return the same digest for the same policy, in every process."""
    return stored_digest([profile, [_said(rule) for rule in rules]])


def _said(rule: Rule | PythonRule | CommandRule) -> list[Any]:
    match rule:
        case PythonRule():
            return [rule.name, *_function(rule.judge)]
        case CommandRule():
            return [rule.name, rule.decision, rule.because]
        case Rule():
            arguments = sorted((name, list(globs)) for name, globs in rule.arguments.items())
            when = sorted(rule.when.items())
            texts = [list(several) for several in (rule.patterns, rule.unless, rule.roles)]
            return [rule.name, rule.decision, rule.because, *texts, arguments, when]


def _function(function: Any) -> list[Any]:
    """Return what tells a function from another: its name, its code, and the plain values that it holds."""
    function = getattr(function, "__func__", function)
    if not hasattr(function, "__code__"):
        # An object that is called: its class says what it does.
        function = type(function).__call__
    name = [getattr(function, "__module__", ""), getattr(function, "__qualname__", "")]
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        return name
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return [*name, _code(code), [_value(one) for one in (*cells, *(function.__defaults__ or ()))]]


def _code(code: CodeType) -> list[Any]:
    return [code.co_name, code.co_code.hex(), list(code.co_names), [_value(one) for one in code.co_consts]]


def _value(value: Any) -> Any:
    """Return a value as text that is the same in every process; of what is no plain value, its type."""
    match value:
        case CodeType():
            return _code(value)
        case tuple():
            return [_value(one) for one in value]
        case frozenset():
            return sorted(map(repr, value))
        case _:
            return repr(value) if isinstance(value, _PLAIN) else type(value).__qualname__
