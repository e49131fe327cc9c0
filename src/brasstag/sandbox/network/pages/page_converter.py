"""A program: reads HTML, writes Markdown, within limits it sets for itself first."""

import resource
import sys

MOST_CPU_SECONDS = 8
MOST_MEMORY = 1 << 30
DEEPEST = 300
"""Nested elements beyond which nothing is converted; without a bound the converter would use up its stack."""


def main() -> None:
    """Convert standard input to standard output."""
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_SECONDS, MOST_CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    from html_to_markdown import ConversionOptions, convert  # noqa: PLC0415 - under the limits, too

    html = sys.stdin.buffer.read().decode()
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    made = convert(html, ConversionOptions(max_depth=DEEPEST, extract_metadata=False))
    sys.stdout.buffer.write((made.content or "").strip().encode())


if __name__ == "__main__":
    main()
