"""A command whose arguments are words, some of which begin with a dash."""

import re
from typing import Any

from typer.core import TyperOption

from brasstag.surfaces.cli.commands.help import CliCommand

_SHORT = re.compile(r"-(?P<letter>[A-Za-z])\d*")
"""An option of one letter, a number behind it or not."""


class WordsCommand(CliCommand):
    """Takes ``-nails`` as a word, where options of one letter stand alone."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read options wherever they stand, and all else as words, in order."""
        options: list[str] = []
        words: list[str] = []
        rest = iter(args)
        for one in rest:
            if one == "--":
                words += rest
            elif not self._is_option(one):
                words.append(one)
            else:
                value = next(rest, None) if self._takes_value(one) else ""
                if value is None:
                    # The parser itself reports what is missing.
                    return super().parse_args(ctx, args)
                options += [one, value] if self._takes_value(one) else [one]
        return super().parse_args(ctx, [*options, "--", *words])

    def _is_option(self, given: str) -> bool:
        short = _SHORT.fullmatch(given)
        return given.startswith("--") or (short is not None and f"-{short['letter']}" in self._named())

    def _takes_value(self, given: str) -> bool:
        return given in self._named() and not self._named()[given].is_flag

    def _named(self) -> dict[str, TyperOption]:
        options = [one for one in self.params if isinstance(one, TyperOption)]
        return {name: one for one in options for name in (*one.opts, *one.secondary_opts)}
