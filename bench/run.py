"""Benchmarks: ratios measured side by side in one run. Wall times on a shared machine mean little; ratios mean more.

make bench
"""

import asyncio
import logging
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import commits
import growth
import path_of_a_call
import start_up


async def main() -> None:
    await path_of_a_call.run()
    await commits.run()
    await growth.run()
    start_up.run()


if __name__ == "__main__":
    # One of the peers turns on logging for everybody; nobody here is measured while writing logs.
    logging.disable(logging.CRITICAL)
    asyncio.run(main())
