"""Mutants: what would be wrong with the engine if one of its promises were left out. Worker processes wear them, by name."""

from collections.abc import Callable

MUTANTS: dict[str, Callable[[], None]] = {}


def mutate(name: str) -> None:
    """Break this process's engine in the way of that name; an empty one leaves it whole."""
    if name:
        MUTANTS[name]()
