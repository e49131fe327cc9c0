"""Help in plain words: it says TEXT, N or PATH where typer would say a Python type."""

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand
from typer.models import CommandFunctionType

PLAIN = {
    "<str>": "TEXT",
    "<list[str]>": "TEXT",
    "<int>": "N",
    "<int range>": "N",
    "<float>": "N",
    "<float range>": "N",
    "<path>": "PATH",
}


class CliCommand(TyperCommand):
    """A command whose help says what a value is. The name of an argument says that already."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options."""
        for title, kind in (("Arguments", "argument"), ("Options", "option")):
            given = [one for one in self.get_params(ctx) if one.param_type_name == kind]
            rows = [_plain(*row, kind) for one in given if (row := one.get_help_record(ctx)) is not None]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def _plain(name: str, text: str, kind: str) -> tuple[str, str]:
    before, opening, rest = name.rpartition(" <")
    value = f"<{rest}"
    if not opening or value not in PLAIN:
        return name, text
    return (f"{before} {PLAIN[value]}" if kind == "option" else before), text


class CommandGroup(typer.Typer):
    """A group of commands with plain help."""

    def command(
        self, name: str | None = None, *, cls: type[TyperCommand] | None = CliCommand, **more: Any
    ) -> Callable[[CommandFunctionType], CommandFunctionType]:
        """Register a command."""
        return super().command(name, cls=cls, **more)
