"""Rounds of several contenders, interleaved, so that a noisy neighbour hits all of them alike."""

import gc
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping

Act = Callable[[], Awaitable[object]]


async def interleaved(contenders: Mapping[str, Act], *, calls: int, rounds: int) -> dict[str, list[float]]:
    """Return, for each contender, its seconds per call in each round."""
    for act in contenders.values():
        for _ in range(20):
            await act()
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    gc.disable()
    try:
        for _ in range(rounds):
            for name, act in contenders.items():
                started = time.perf_counter()
                for _ in range(calls):
                    await act()
                seconds[name].append((time.perf_counter() - started) / calls)
            gc.collect()
    finally:
        gc.enable()
    return seconds


def ratio(ours: list[float], theirs: list[float]) -> float:
    """Return the median of the ratios of rounds measured side by side."""
    return statistics.median(one / other for one, other in zip(ours, theirs, strict=True))


def title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def line(name: str, seconds: list[float], note: str = "") -> None:
    print(f"  {name:<44} {statistics.median(seconds) * 1e6:>9.0f} µs a call   {note}")


def goal(what: str, value: float, limit: float, unit: str = "x") -> None:
    _verdict(what, value, unit, f"<= {limit:g}{unit}", value <= limit)


def goal_at_least(what: str, value: float, limit: float, unit: str = "x") -> None:
    _verdict(what, value, unit, f">= {limit:g}{unit}", value >= limit)


def _verdict(what: str, value: float, unit: str, wanted: str, is_met: bool) -> None:
    print(f"  {what}: {value:.2f}{unit} (goal {wanted}: {'met' if is_met else 'MISSED'})", flush=True)
