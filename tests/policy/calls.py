"""Calls and previews, as short as tests like them."""

from collections.abc import Mapping
from typing import Any

from brasstag.policy.profiles import ToolFacts
from brasstag.words.calls import Call
from brasstag.words.previews import ABSENT, Change, Preview, Seen, file_state

OLD = file_state("0" * 64)
NEW = file_state("1" * 64)

QUIET = ToolFacts("tool", effects="files")
"""A tool that says nothing of itself."""


def call(tool: str, /, **arguments: Any) -> Call:
    return call_with(tool, arguments)


def call_with(tool: str, arguments: Mapping[str, Any]) -> Call:
    return Call(
        id="call_1", tool=tool, arguments=dict(arguments), actor="library", role="operator", task_id="task_1"
    )


def reads(*paths: str) -> Preview:
    return Preview(reads=tuple(Seen(path, OLD) for path in paths))


def creates(*paths: str) -> Preview:
    return Preview(changes=tuple(Change(path, ABSENT, NEW) for path in paths))


def overwrites(*paths: str, undoable: bool = True) -> Preview:
    return Preview(changes=tuple(Change(path, OLD, NEW, undoable=undoable) for path in paths))


def deletes(*paths: str, undoable: bool = True) -> Preview:
    return Preview(changes=tuple(Change(path, OLD, ABSENT, undoable=undoable) for path in paths))


def moves(source: str, path: str, *, onto: str = ABSENT) -> Preview:
    return Preview(changes=(Change(path, onto, OLD, source=source),))
