"""How long a person waits for the command line."""

import statistics
import subprocess
import sys
import time

from measuring import title

ROUNDS = 9


def run() -> None:
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "import typer": [sys.executable, "-c", "import typer"],
        "brasstag --help": [sys.executable, "-P", "-m", "brasstag", "--help"],
        "brasstag --version": [sys.executable, "-P", "-m", "brasstag", "--version"],
        "import brasstag": [sys.executable, "-c", "import brasstag"],
        "from brasstag import Room": [sys.executable, "-c", "from brasstag import Room"],
    }
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            started = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            seconds[name].append(time.perf_counter() - started)
    title("Start-up, in milliseconds")
    bare = statistics.median(seconds["python -c pass"])
    for name, times in seconds.items():
        median = statistics.median(times)
        print(f"  {name:<44} {median * 1e3:>9.0f} ms   {median / bare:.1f}x bare python")
    wait = statistics.median(seconds["brasstag --help"])
    print(f"  brasstag --help: {wait:.2f} s (goal well under 0.5 s: {'met' if wait < 0.4 else 'MISSED'})")
