"""Pair functions with their JSON; all that does not fit is collected, so that it can be corrected at once."""

import inspect
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, TypeVar

from brasstag.toolkit.config.config import ToolConfig
from brasstag.toolkit.config.load import read_config
from brasstag.toolkit.declare.classes import ToolClass
from brasstag.toolkit.declare.declare import Declaration, declaration_of
from brasstag.toolkit.declare.functions import replay_problem, source_of
from brasstag.toolkit.declare.signatures import disagreements, injected_into
from brasstag.toolkit.registry import ToolRegistry
from brasstag.toolkit.tool import Tool
from brasstag.words.errors import ConfigError, Problem

_T = TypeVar("_T")


@dataclass(slots=True)
class Pairing:
    """What one search has met so far."""

    problems: list[Problem] = field(default_factory=list)
    configs: dict[str, tuple[ToolConfig, str]] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    """Ids whose JSON was met but cannot be used; their functions are not complained about again."""
    functions: dict[str, tuple[Callable[..., Any], str]] = field(default_factory=dict)
    whole: list[Any] = field(default_factory=list)
    """Declarations that need no JSON."""

    def add_config(self, name: str, read: Callable[[], bytes], file: str) -> None:
        """Read one JSON file; ``name`` is its file name, ``file`` what people call it."""
        stem = name.removesuffix(".json")
        try:
            config = read_config(read(), file)
        except (ConfigError, OSError) as error:
            self.broken.add(stem)
            unreadable = Problem(file, "", f"cannot be read: {error}", "Make it a readable file.")
            self.problems += error.problems if isinstance(error, ConfigError) else [unreadable]
            return
        if config.tool_id != stem:
            what, mend = f"is {config.tool_id!r}, but the file is {name}", "Give both the same name."
            self.problems.append(Problem(file, "tool_id", what, mend))
        if config.tool_id in self.configs:
            what = f"{config.tool_id!r} is also in {self.configs[config.tool_id][1]}"
            self.problems.append(Problem(file, "tool_id", what, "Remove one of the two."))
        self.configs.setdefault(config.tool_id, (config, file))

    def add_module(self, load: Callable[[], ModuleType], file: str) -> None:
        """Load one module and take what it declares."""
        module = self.load(load, file)
        if module is not None:
            self.add_declared(module, file)

    def load(self, load: Callable[[], _T], file: str) -> _T | None:
        """Load or compile one module, or note why that fails."""
        try:
            return load()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a tool's file may do anything while it loads
            what = f"cannot be loaded: {_said(error, file)}"
            mend = "Correct it; such a file may import installed packages, but not the files beside it."
            self.problems.append(Problem(file, "", what, mend))
            return None

    def add_declared(self, module: ModuleType, file: str) -> None:
        """Take what a loaded module declares."""
        for thing in _declared(module):
            declaration = declaration_of(thing)
            if declaration is None or not declaration.has_json:
                self.whole.append(thing)
            elif thing.__name__ in self.functions:
                what = f"is also in {self.functions[thing.__name__][1]}"
                self.problems.append(Problem(file, thing.__name__, what, "Remove one of the two."))
            else:
                self.functions[thing.__name__] = (thing, file)

    def tools(self) -> list[Tool]:
        """Return every tool, paired; raises ConfigError with every problem of every file."""
        registry = ToolRegistry()
        for thing in [*self._paired(), *self.whole]:
            try:
                registry.register(thing)
            except ConfigError as error:
                self.problems += error.problems
        if self.problems:
            raise ConfigError(self.problems)
        return registry.list()

    def _paired(self) -> Iterator[Tool]:
        for tool_id, (config, file) in sorted(self.configs.items()):
            function, python_file = self.functions.get(tool_id, (None, ""))
            if function is None:
                if config.behaviour.executes_code:
                    mend = f'Write `@tool(execution_type="function")` above `def {tool_id}(…)`.'
                    self.problems.append(Problem(file, "", f"no function is named {tool_id}", mend))
                else:
                    yield Tool(config, origin=file)
            elif wrong := _misfits(config, function, python_file):
                self.problems += wrong
            else:
                yield _pair(config, function, python_file)
        for name in sorted(self.functions.keys() - self.configs.keys() - self.broken):
            mend = f"Write {name}.json, or declare the function with @tool alone."
            self.problems.append(Problem(self.functions[name][1], name, "has no JSON", mend))


def _declared(module: ModuleType) -> Iterator[Any]:
    """Yield what a module itself declares, once each, and not what it imported."""
    for thing in {id(thing): thing for thing in vars(module).values()}.values():
        if getattr(thing, "__module__", None) != module.__name__:
            continue
        if isinstance(thing, type):
            if issubclass(thing, ToolClass) and not inspect.isabstract(thing):
                yield thing
        elif declaration_of(thing):
            yield thing


def _misfits(config: ToolConfig, function: Callable[..., Any], file: str) -> list[Problem]:
    if not config.behaviour.executes_code:
        what = f"is a function, but a {config.type} runs no code"
        return [Problem(file, config.tool_id, what, "Remove the function.")]
    found = disagreements(function, config, file)
    if (inspect.getdoc(function) or "").strip() != config.tool_id:
        mend = f'Write """{config.tool_id}"""; the words are in the JSON.'
        found.append(Problem(file, config.tool_id, "the docstring is not the tool_id", mend))
    declaration = declaration_of(function) or Declaration()
    if declaration.words:
        what = f"the decorator gives {', '.join(sorted(declaration.words))}, which the JSON owns"
        found.append(Problem(file, config.tool_id, what, "Move it into the JSON."))
    if wrong := replay_problem(config.replay, config.effects, declaration.check):
        found.append(Problem(file, config.tool_id, *wrong))
    return found


def _pair(config: ToolConfig, function: Callable[..., Any], file: str) -> Tool:
    declaration = declaration_of(function) or Declaration()
    return Tool(
        config=config,
        function=function,
        is_async=inspect.iscoroutinefunction(function),
        injected=injected_into(function, config.python_names.values()),
        requires_approval=declaration.requires_approval,
        check=declaration.check,
        preview=declaration.preview,
        origin=file,
        source=source_of(function),
    )


def _said(error: BaseException, file: str) -> str:
    """Return the error, and the line of the tool's own file where it arose."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f"{type(error).__name__}: {error}" + (f" (line {lines[-1]})" if lines else "")
