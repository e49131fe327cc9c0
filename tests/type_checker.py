"""The type checker as the project runs it: with its settings, and the cache of `make check`."""

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from tests.pages import ROOT


def type_check(sources: Iterable[Path]) -> tuple[bool, str]:
    """Say whether sources pass, and what the checker said."""
    # A process of its own: what it has read of a library's types would stay in this one for good.
    settings = ("--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(ROOT / ".mypy_cache"))
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *settings, *map(str, sorted(sources))],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return checked.returncode == 0, checked.stdout + checked.stderr
