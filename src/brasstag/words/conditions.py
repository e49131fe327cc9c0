"""Conditions: when a tool wants a person asked, named by what a call's preview shows."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from brasstag.words.previews import Fact

Condition = Literal[
    "when_creating", "when_overwriting", "when_deleting", "when_moving", "when_running", "when_fetching"
]

CONDITIONS: Mapping[Condition, Fact] = MappingProxyType(
    {
        "when_creating": Fact.CREATES,
        "when_overwriting": Fact.OVERWRITES,
        "when_deleting": Fact.DELETES,
        "when_moving": Fact.MOVES,
        "when_running": Fact.RUNS,
        "when_fetching": Fact.FETCHES,
    }
)
"""A tool that names a condition asks when its fact is true of the call, and allows when it is not."""
