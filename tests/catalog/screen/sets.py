"""Attacks and innocent texts, written for this project, and what becomes of each."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from brasstag.catalog.screen.screen import screen

_FOLDER = Path(__file__).parent


@cache
def attacks() -> list[dict[str, str]]:
    return _read("attacks.json")


@cache
def innocent() -> list[dict[str, str]]:
    return _read("innocent.json")


def verdict_of(text: str) -> str:
    screening = screen({"prompt": text})
    return "block" if screening.blocked else "warn" if screening.findings else "pass"


def table(entries: Iterable[Mapping[str, str]], key: str) -> dict[str, Counter[str]]:
    """Return how many texts are blocked, warned of and passed, by what they are an example of."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for entry in entries:
        counts[entry[key]][verdict_of(entry["text"])] += 1
    return counts


def show(counts: Mapping[str, Counter[str]]) -> None:
    print(f"\n{'':<24}{'block':>6}{'warn':>6}{'pass':>6}")
    for name, found in counts.items():
        print(f"{name:<24}{found['block']:>6}{found['warn']:>6}{found['pass']:>6}")


def _read(name: str) -> Any:
    return json.loads((_FOLDER / name).read_text(encoding="utf-8"))
