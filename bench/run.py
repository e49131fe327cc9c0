"""Benchmarks: ratios measured side by side in one run. Wall times on a shared machine mean little; ratios mean more.

make bench
.venv/bin/python bench/run.py turns blocked
"""

import asyncio
import importlib
import inspect
import logging
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

BENCHES = (
    "path_of_a_call",
    "judging",
    "commits",
    "growth",
    "start_up",
    "turns",
    "growth_of_a_task",
    "rendering",
    "blocked",
    "live",
    "workers",
    "writers",
    "confined",
    "searching",
    "scanning",
    "document_search",
    "converting",
    "asking_data",
    "prompts_screening",
    "prompts_catalog",
)


def main(names: list[str]) -> None:
    if unknown := set(names) - set(BENCHES):
        sys.exit(f"there is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHES)}")
    # One of the peers turns on logging for everybody; nobody here is measured while writing logs.
    logging.disable(logging.CRITICAL)
    for name in names or BENCHES:
        started = time.perf_counter()
        found = importlib.import_module(name).run()
        if inspect.iscoroutine(found):
            asyncio.run(found)
        print(f"  ({name} took {time.perf_counter() - started:.0f} s)", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
