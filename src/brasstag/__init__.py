"""Brasstag: the counter where agents take their tools.

Packages, from the lowest up; imports only point down:

words      frozen types, no I/O                  policy     rules, roles, grants: pure
settings   brasstag.toml, read once              documents  what files say, found and compared
store      timeline, ledger, approvals, blobs    tools      the shipped tools and their configs
sandbox    workspace, processes, network         engine     the path of one call
toolkit    tool configs, registry, schemas       app        the composition root: Room
models     what answers for agents               surfaces   the command line

What is public, ``__init__.pyi`` names; each is imported when it is first used.
"""

import ast
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any

__version__ = "0.1.0"


@cache
def _homes() -> dict[str, str]:
    """Return the module of every public name: the stub that type checkers read is the one list of them."""
    stub = files(__name__).joinpath("__init__.pyi").read_text(encoding="utf-8")
    imports = [line for line in ast.parse(stub).body if isinstance(line, ast.ImportFrom)]
    return {name.name: str(line.module) for line in imports for name in line.names}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted(_homes())
    if name.startswith("_") or name not in _homes():
        raise AttributeError(f"brasstag has no {name}")
    return getattr(import_module(_homes()[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_homes()})
