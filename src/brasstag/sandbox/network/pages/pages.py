"""HTML as Markdown, converted in a process of its own.

The converter is native code. It reads text that strangers wrote, and it holds the interpreter while it runs. In its own
process it can be stopped, and if it crashes, only that process ends.
"""

import asyncio
import subprocess
import sys
from pathlib import Path

LONGEST_PAGE = 3_000_000
"""Characters of HTML up to which a page is converted."""
MOST_SECONDS = 10.0

_CONVERTER = Path(__file__).with_name("page_converter.py")


async def markdown_of(html: str, seconds: float = MOST_SECONDS) -> str | None:
    """Return a page as Markdown, or None where nothing comes of it in reasonable time and space."""
    if len(html) > LONGEST_PAGE:
        return None
    return await asyncio.to_thread(_convert, html, seconds)


def _convert(html: str, seconds: float) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603 - our own file, by our own interpreter
            [sys.executable, "-I", str(_CONVERTER)],
            input=html.encode(errors="replace"),
            capture_output=True,
            timeout=seconds,
            env={},
            cwd="/",
            check=False,
        )
    except (subprocess.TimeoutExpired, OSError):
        return None
    made = done.stdout.decode(errors="replace") if done.returncode == 0 else ""
    return made or None
