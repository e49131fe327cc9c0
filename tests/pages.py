"""The documentation as data: its pages, their blocks, links and headings."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"

_FENCE = re.compile(r"^(?P<ticks>```+)(?P<language>\w*)(?: title=\"(?P<title>[^\"]+)\")?\s*$")
_LINK = re.compile(r"(?<!!)\[[^\]]+\]\((?P<target>[^)\s]+)\)")
_HEADING = re.compile(r"^#+ (?P<text>.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block of a page."""

    page: Path
    line: int
    """Of its first line of content, counted from 1."""
    language: str
    title: str
    """The file this block stands for; empty for a block that is shown or run as it is."""
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def all_pages() -> list[Path]:
    """Every page a reader may come to."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]


def named(page: Path) -> str:
    """The page as pytest shows it."""
    return page.relative_to(ROOT).as_posix()


def blocks_of(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found: list[Block] = []
    lines = page.read_text(encoding="utf-8").splitlines()
    at = 0
    while at < len(lines):
        fence = _FENCE.match(lines[at])
        at += 1
        if fence:
            end = lines.index(fence["ticks"], at)
            text = "\n".join(lines[at:end]) + "\n"
            found.append(Block(page, at + 1, fence["language"], fence["title"] or "", text))
            at = end + 1
    return found


def links_of(page: Path) -> Iterator[str]:
    """Every link of a page that is not an address elsewhere."""
    for link in _LINK.finditer(_prose(page)):
        if "://" not in link["target"] and not link["target"].startswith("mailto:"):
            yield link["target"]


def anchors_of(page: Path) -> set[str]:
    """What may stand behind # in a link to a page, as code hosts derive it from headings."""
    headings = (found["text"] for found in _HEADING.finditer(_prose(page)))
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


def _prose(page: Path) -> str:
    """The page without its blocks."""
    kept: list[str] = []
    ticks = ""
    for line in page.read_text(encoding="utf-8").splitlines():
        fence = _FENCE.match(line)
        if ticks:
            ticks = "" if line == ticks else ticks
        elif fence:
            ticks = fence["ticks"]
        else:
            kept.append(line)
    return "\n".join(kept)
