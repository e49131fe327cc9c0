"""Prompt tools of every kind, and skills as others write them."""

from pathlib import Path

from hypothesis import strategies as st

from brasstag.words.review.prompt_tools import SCOPES, PromptTool
from brasstag.words.review.proposals import TestCase

HARD = (
    "\n\n## Goals\n\n", "\n## Prompt\n", "\n\n## Usage notes\n\n", "---", "\n---\n", "```\n", "~~~", "\r\n", "\r", "\t",
    "\x00", "\x85", "\u2028", "\ufeff", "\U0001f9ed", "\\", '"', "'", ": ", " #", "- ", "&a", "*a", "!!b", "{", "  ", "…",
)  # fmt: skip
"""What could be taken for a part of the file that it stands in."""


def texts(most: int = 2_000, *, fewest: int = 1) -> st.SearchStrategy[str]:
    parts = st.one_of(
        st.sampled_from(HARD), st.text(st.characters(codec="utf-8"), max_size=40), st.just("word " * 300)
    )
    return (
        st.lists(parts, min_size=fewest, max_size=8)
        .map(lambda found: "".join(found)[:most])
        .filter(lambda text: bool(text.strip()) or not fewest)
    )


tools = st.builds(
    PromptTool,
    st.from_regex(r"[a-z][a-z0-9_]{0,63}", fullmatch=True),
    texts(),
    texts(fewest=0),
    st.sampled_from(SCOPES),
    texts(),
    texts(),
    texts(),
    texts(20_000),
)

checks = st.one_of(
    st.sampled_from(["json_only", "no_fences"]), st.builds(lambda text: {"contains": text}, texts())
)
cases = st.builds(
    TestCase,
    texts(),
    texts(),
    st.sampled_from(["pass", "fail"]),
    st.lists(checks, min_size=1, max_size=3).map(tuple),
    st.none() | texts(fewest=0),
)


def write_skill(folder: Path, files: dict[str, bytes]) -> Path:
    for path, data in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return folder
