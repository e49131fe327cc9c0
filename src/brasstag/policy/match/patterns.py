"""Patterns: ``tool(specifier)``, the way rules name calls.

    delete_file                     every call of the tool; ``*``, ``?`` and ``[…]`` may stand in its name
    write_file(drafts/**)           calls at these paths
    web_fetch(example.org/**)       calls that fetch these web addresses
    shell(command: rm -rf /)        calls whose ``command`` holds these words, one after the other
    fetch(url: https://*.org/**)    calls whose ``url`` matches

An argument whose name says that it holds a path, such as ``cwd``, is matched as one. A path whose first name holds a
colon is written with a leading slash or ``**/``.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from brasstag.policy.globs import Reading, RuleError, name_expression
from brasstag.policy.match.addresses import ADDRESSES
from brasstag.policy.match.topics import PATHS, WHOLE_CALL, Matcher, Topic, argument_topic

_FORM = re.compile(r"(?P<tool>[^()\s]+)(?:\((?P<specifier>.*)\))?", re.DOTALL)
_ARGUMENT = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_-]*):\s?(?P<rest>.*)", re.DOTALL)
_WILDCARDS = frozenset("*?[")


@dataclass(frozen=True)
class Pattern:
    """The calls of some tools that are about something."""

    tool: str
    topic: Topic
    matcher: Matcher
    """What is held against the items of the topic."""
    _tool_names: Matcher
    address: Matcher | None = None
    """What is held against the web addresses of the call; None where the pattern is not about places."""

    @classmethod
    def parse(cls, text: str, reading: Reading) -> Self:
        """Read ``tool`` or ``tool(specifier)``; raise RuleError with what to write instead."""
        tool, argument, glob = parts(text)
        tool_names = name_expression(tool, reading)
        if glob is None:
            return cls(tool, WHOLE_CALL, WHOLE_CALL.matcher("*", reading), tool_names)
        if argument:
            topic = argument_topic(argument)
            return cls(tool, topic, topic.matcher(glob, reading), tool_names)
        address = ADDRESSES.matcher(glob, reading)
        return cls(tool, PATHS, PATHS.matcher(glob, reading), tool_names, address)

    def is_about(self, names: Iterable[str]) -> bool:
        """Say whether this pattern is about a tool that answers to these names."""
        return self.tool == "*" or any(name == self.tool or self._tool_names.matches(name) for name in names)

    @property
    def names_one_tool(self) -> bool:
        """Whether the tool is spelt out, without wildcards."""
        return _WILDCARDS.isdisjoint(self.tool)


def parts(text: str) -> tuple[str, str, str | None]:
    """Split a pattern into the tool, the argument its specifier names, if any, and the rest of the specifier."""
    form = _FORM.fullmatch(text)
    if not form:
        raise RuleError(
            f"{text!r} is not a pattern", "Write a tool, or tool(specifier) as in read_file(notes/**)"
        )
    specifier = form["specifier"]
    argument = _ARGUMENT.fullmatch(specifier) if specifier else None
    if not argument:
        return form["tool"], "", specifier
    if argument["rest"].startswith("//"):
        raise RuleError(
            f"{specifier} is an address, not a path", f"Name its argument, as in url: {specifier}"
        )
    return form["tool"], argument["name"], argument["rest"]
