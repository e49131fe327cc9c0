"""Calls of a timeline for people: one record each, with what was asked for and what came of it."""

import json
from collections.abc import Iterable
from typing import Any

from brasstag.surfaces.cli.terminal.console import quote, say
from brasstag.surfaces.cli.terminal.numbers import local_time
from brasstag.words.events import CallRecord

_LONGEST = 400
"""Characters of an input or a result that are shown; ``--output json`` has all of it."""


def print_records(records: Iterable[CallRecord]) -> None:
    """Print one record for each call."""
    for one in records:
        quote(f"{one.tool} ({one.type}): {one.status}", "bold", indent="")
        quote(f"input   {_shown(one.input)}", indent="  ")
        if one.said:
            quote(one.said, indent="  ")
        quote(f"result  {_shown(one.result)}", indent="  ")
        say(f"  {local_time(one.timestamp)} · {one.tag[-8:]}", "dim")


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    said = " ".join(text.split())
    return said if len(said) <= _LONGEST else f"{said[:_LONGEST]}…"
