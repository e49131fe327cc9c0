"""Load ``wires.py``: the rules and tools that a project adds in Python, each time its room opens."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from brasstag.policy.load import failing_examples, strange_tools
from brasstag.policy.rule import Rule
from brasstag.policy.rule_engine import AnyRule, RuleEngine, SafetyRule
from brasstag.settings import WIRES_FILE, ProfileName
from brasstag.toolkit.declare.classes import ToolClass
from brasstag.toolkit.declare.functions import SOURCE
from brasstag.toolkit.discovery import load_file
from brasstag.toolkit.pair import Pairing
from brasstag.toolkit.registry import ToolRegistry
from brasstag.toolkit.tool import Tool
from brasstag.words.errors import ConfigError, Problem

_MEND = (
    "Make a RuleEngine or a ToolRegistry at its top level, and add rules or tools to it; or delete the file."
)


@dataclass(frozen=True, slots=True)
class Additions:
    """What the file adds to the room."""

    rules: tuple[AnyRule, ...] = ()
    """Engines, and single rules."""
    tools: tuple[Tool, ...] = ()

    def problems(
        self, profile: ProfileName, registry: ToolRegistry, aliases: Mapping[str, str]
    ) -> Iterator[Problem]:
        """Yield a problem for each rule that names a tool which the room does not have, or whose examples fail.

        Raises ConfigError for an engine with another profile.
        """
        every = RuleEngine(self.rules, profile).own_rules
        own = [rule for rule in every if isinstance(rule, Rule)]
        yield from strange_tools(own, lambda name: registry.get(name) is not None, WIRES_FILE)
        for rule in own:
            yield from failing_examples(rule, rule.name, WIRES_FILE, aliases)


def load_wires(project: Path) -> Additions:
    """Run the file, if there is one, and take what stands at its top level; raise ConfigError where that fails.

    Rules are every RuleEngine, SafetyRule and Rule. Tools are those of every ToolRegistry; where it makes none, they are
    what it declares, as in a file of ``tools/``, and every instance of a tool class.
    """
    file = project / WIRES_FILE
    if not file.is_file():
        return Additions()
    module = _run(file)
    things = list({id(thing): thing for thing in vars(module).values()}.values())
    rules = tuple(thing for thing in things if isinstance(thing, RuleEngine | SafetyRule | Rule))
    registries = [thing for thing in things if isinstance(thing, ToolRegistry)]
    tools = [tool for registry in registries for tool in registry.list()]
    if not registries:
        tools = _declared(module, things)
    if not rules and not tools:
        raise ConfigError([Problem(WIRES_FILE, "", "adds neither rules nor tools to the room", _MEND)])
    return Additions(rules, tuple(_of_file(tool, module) for tool in tools))


def _of_file(tool: Tool, module: ModuleType) -> Tool:
    """Make the file part of the tool's version: it says how a tool is made whose code comes from elsewhere."""
    text = getattr(module, SOURCE)
    return tool if text in tool.source else replace(tool, source=f"{tool.source}\n{text}")


def _run(file: Path) -> ModuleType:
    pairing = Pairing()
    module = pairing.load(lambda: load_file(file), str(file))
    if module is None:
        raise ConfigError(pairing.problems)
    return module


def _declared(module: ModuleType, things: list[Any]) -> list[Tool]:
    pairing = Pairing()
    pairing.add_declared(module, WIRES_FILE)
    made = [thing for thing in things if isinstance(thing, ToolClass)]
    classes = {type(thing) for thing in made}
    # A class of which the file makes an instance is that instance's tool, and no second one.
    pairing.whole = [thing for thing in pairing.whole if thing not in classes] + made
    return pairing.tools()
