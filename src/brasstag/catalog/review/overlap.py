"""How alike two prompt tools are, by the words they use."""

import math
import re
from collections import Counter
from collections.abc import Iterable

from brasstag.catalog.merge import CatalogEntry
from brasstag.words.prompts import PromptTool

LIKE = 0.6
"""From here on two tools are said to overlap."""
_WORD = re.compile(r"[^\W\d_]{3,}")
_COMMON = frozenset(
    {
        "the", "and", "for", "with", "that", "this", "from", "are", "was", "not", "you", "your", "its", "use", "one",
        "has", "have", "each", "all", "any", "into", "only", "when", "where", "which", "what", "who", "how", "than",
        "then", "them", "they", "their", "will", "can", "may", "must", "shall", "should", "would", "does", "did",
        "done", "been", "being", "but", "out", "our", "tool", "tools", "agent", "text", "prompt", "output",
    }
)  # fmt: skip


def closest(tool: PromptTool, entries: Iterable[CatalogEntry]) -> list[tuple[float, CatalogEntry]]:
    """Return the tools of a catalog that are most like one, the most alike first, but not the tool itself."""
    mine = _words(tool)
    others = [(_likeness(mine, _words(entry.tool)), entry) for entry in entries if entry.tool.id != tool.id]
    return sorted(others, key=lambda found: (-found[0], found[1].tool.id))


def _words(tool: PromptTool) -> Counter[str]:
    text = f"{tool.name} {tool.usage_notes} {tool.goals} {tool.prompt}".casefold()
    return Counter(word for word in _WORD.findall(text) if word not in _COMMON)


def _likeness(one: Counter[str], other: Counter[str]) -> float:
    """Return the cosine between two counts of words."""
    shared = sum(count * other[word] for word, count in one.items())
    lengths = math.sqrt(sum(n * n for n in one.values())) * math.sqrt(sum(n * n for n in other.values()))
    return round(shared / lengths, 3) if lengths else 0.0
