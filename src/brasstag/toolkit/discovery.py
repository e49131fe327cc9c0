"""Discover tools in a folder, a package or installed packages; all problems of all files are named at once."""

import importlib
import pkgutil
import sys
from collections.abc import Iterable
from dataclasses import replace
from functools import cache, partial
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint, entry_points
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import module_from_spec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Protocol

from brasstag import __version__
from brasstag.settings.crew import ROUTE
from brasstag.toolkit.declare.functions import SOURCE
from brasstag.toolkit.kinds import ToolType
from brasstag.toolkit.pair import Pairing
from brasstag.toolkit.registry import ToolRegistry
from brasstag.toolkit.tool import Tool
from brasstag.words.canonical import sha256
from brasstag.words.errors import Code, ConfigError, Problem, ToolError

_NOT_TOOLS = ("_", "test_", "conftest")
_RELEASE = f"brasstag {__version__}"


def discover_folder(folder: Path) -> list[Tool]:
    """Return the tools of a folder: ``name.py`` beside ``name.json``, or ``*.py`` beside ``configs/*.json``.

    Raises ConfigError. Nothing is added to ``sys.path``, so no file here can take the place of another module.
    """
    pairing = Pairing()
    for path in [*sorted(folder.glob("*.json")), *sorted((folder / "configs").glob("*.json"))]:
        pairing.add_config(path.name, path.read_bytes, str(path))
    for path in tool_files(folder):
        pairing.add_module(partial(load_file, path), str(path))
    return pairing.tools()


def tool_files(folder: Path) -> list[Path]:
    """Return the Python files of a folder that are loaded for their tools."""
    return [path for path in sorted(folder.glob("*.py")) if not path.name.startswith(_NOT_TOOLS)]


def unparsed_files(files: Iterable[Path]) -> list[Problem]:
    """Return a problem for each file that is no Python; none of them is run."""
    pairing = Pairing()
    for path in files:
        pairing.load(partial(_compiled, path, path.read_bytes()), str(path))
    return pairing.problems


def discover_package(package: str, configs: Traversable | None = None) -> list[Tool]:
    """Return the tools of an importable package or module: what it declares, and the JSON in its ``configs`` folder."""
    root = importlib.import_module(package)
    names = [package]
    if hasattr(root, "__path__"):
        configs = configs or files(package) / "configs"
        names += [
            found.name for found in pkgutil.iter_modules(root.__path__, f"{package}.") if not found.ispkg
        ]
    pairing = Pairing()
    for resource in _json_files(configs):
        pairing.add_config(resource.name, resource.read_bytes, f"{package}/configs/{resource.name}")
    for name in names:
        pairing.add_module(partial(importlib.import_module, name), name)
    return pairing.tools()


@cache
def shipped_tools() -> tuple[Tool, ...]:
    """Return the tools that come with Brasstag; they are read once, because they do not change while a program runs.

    The code of a shipped tool is the code of its release, so an approval outlives a file that only moved.
    """
    return tuple(replace(tool, source=_RELEASE) for tool in discover_package("brasstag.tools"))


class NamedTools(Protocol):
    """Anything that finds a tool by its name, such as ``room.tools``."""

    def get(self, name: str) -> Tool | None:
        """Return the tool that answers to a name or an alias."""


def get_tool_type(tool_name: str, tools: NamedTools | None = None) -> ToolType:
    """Return the kind of a tool by its name or alias; raise ToolError where there is no such tool.

    Without ``tools`` the shipped tools are asked, and a ``route_to_…`` counts as a tool that delegates. Give
    ``room.tools`` to ask the tools of a room.
    """
    found = (tools or _shipped_registry()).get(tool_name)
    if found is not None:
        return found.config.type
    if tools is None and tool_name.startswith(ROUTE) and tool_name != ROUTE:
        return ToolType.AGENT_AS_TOOL
    raise ToolError(
        Code.UNKNOWN_TOOL, f"there is no tool {tool_name!r}", hint="`brasstag tools` lists them all"
    )


@cache
def _shipped_registry() -> ToolRegistry:
    return ToolRegistry(shipped_tools())


def _json_files(folder: Traversable | None) -> list[Traversable]:
    if folder is None or not folder.is_dir():
        return []
    found = (resource for resource in folder.iterdir() if resource.name.endswith(".json"))
    return sorted(found, key=lambda resource: resource.name)


def discover_entry_points(group: str = "brasstag.tools") -> list[Tool]:
    """Return the tools that installed packages offer; an entry point names a tool, a list of them, or a module."""
    registry = ToolRegistry()
    problems: list[Problem] = []
    for point in _entry_points(group, tuple(sys.path)):
        try:
            offered = _offered(point)
        except ConfigError as error:
            problems += error.problems
            continue
        except (Exception, SystemExit) as error:  # noqa: BLE001 - foreign code may do anything while it loads
            what = f"cannot be loaded: {type(error).__name__}: {error}"
            mend = "Correct or uninstall the package that offers it."
            problems.append(Problem(f"entry point {point.name}", point.value, what, mend))
            continue
        for thing in offered:
            try:
                registry.register(thing)
            except ConfigError as error:
                problems += error.problems
    if problems:
        raise ConfigError(problems)
    return registry.list()


@cache
def _entry_points(group: str, path: tuple[str, ...]) -> tuple[EntryPoint, ...]:  # noqa: ARG001 - where they are looked for
    """Return the entry points; packages are asked only once, because that takes longer than to open a room."""
    return tuple(sorted(entry_points(group=group), key=lambda found: (found.name, found.value)))


def _offered(point: EntryPoint) -> Iterable[Any]:
    found = point.load()
    if isinstance(found, ModuleType):
        return discover_package(found.__name__)
    return found if isinstance(found, list | tuple) else [found]


def load_file(path: Path) -> ModuleType:
    """Run one file as a module of its own, from exactly the text that becomes part of its tools' version."""
    data = path.read_bytes()
    name = f"_brasstag_tools_{sha256(str(path.resolve()).encode() + data)[:16]}_{path.stem}"
    if name in sys.modules:
        return sys.modules[name]
    code, text = _compiled(path, data)
    module = module_from_spec(ModuleSpec(name, loader=None, origin=str(path)))
    module.__file__ = str(path)
    setattr(module, SOURCE, text)
    # Dataclasses and pydantic look a class's module up while it is being defined.
    sys.modules[name] = module
    try:
        exec(code, module.__dict__)  # noqa: S102 - loading a tool is running it; a person trusted this folder
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _compiled(path: Path, data: bytes) -> tuple[CodeType, str]:
    return compile(data, str(path), "exec", dont_inherit=True), data.decode()
