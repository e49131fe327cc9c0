"""Front doors: a package offers the names of its ``__init__.pyi``, and each is imported when it is first used.

So type checkers and readers have one list of what a package offers, and a command that prints its help loads none of it.
"""

import ast
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any


def front_door(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package."""

    @cache
    def homes() -> dict[str, str]:
        stub = files(package).joinpath("__init__.pyi").read_text(encoding="utf-8")
        imports = [line for line in ast.parse(stub).body if isinstance(line, ast.ImportFrom)]
        return {name.name: str(line.module) for line in imports for name in line.names}

    def get(name: str) -> Any:
        if name == "__all__":
            return sorted(homes())
        if name.startswith("_") or name not in homes():
            raise AttributeError(f"{package} has no {name}")
        return getattr(import_module(homes()[name]), name)

    def names() -> list[str]:
        return sorted(homes())

    return get, names
