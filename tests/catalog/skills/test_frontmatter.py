"""The frontmatter is read as the reference reader reads it, and what could expand or act is refused."""

import textwrap

import pytest
import strictyaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from brasstag.catalog.skills.frontmatter import (
    MOST_FRONTMATTER,
    read_frontmatter,
    split_skill,
    write_frontmatter,
)
from brasstag.words.errors import Code, ToolError
from tests.catalog.skills.samples import texts


def read(text: str) -> object:
    return read_frontmatter(textwrap.dedent(text))


# Keys are Brasstag's own: words with single hyphens between them.
KEYS = st.from_regex(r"[a-z]{1,4}(-[a-z]{1,4}){0,2}", fullmatch=True)


@given(st.dictionaries(KEYS, texts(fewest=0), max_size=4))
def test_what_is_written_is_read_again(values: dict[str, str]) -> None:
    whole = write_frontmatter({**values, "inner map": values} if values else {})
    front, body = split_skill(whole + "the body")
    assert read_frontmatter(front) == ({**values, "inner map": values} if values else {})
    assert body == "the body"
    assert whole.count("---") == 2


WORDS = (
    "a",
    "plain words",
    "it's",
    '"quoted"',
    "'it''s'",
    r'"tab\there"',
    "two # comment",
    "x:y",
    "12",
    "true",
    "~",
    "",
)
LINES = (
    *(f"k: {word}" for word in WORDS),
    "k: >-", "k: |", "k: >", "k: |+", "k: |2", "k:", "  more", "   deeper", "", "  - item", "- item", "  in: side",
    "  in: 'x'", "  other: >-", "    text", "# comment", "  # comment", '  end"', 'k: "open', "k: 'open", "  end'",
)  # fmt: skip


@given(st.lists(st.sampled_from(LINES), max_size=7))
@settings(max_examples=1_000)
@example(["k: >", "  more", "   deeper", "  more", "", "  more"])
@example(["k: |+", "  more", "", ""])
@example(["k:", "  more", "", "   deeper"])
@example(["k:", "- item", "  more", "- item"])
@example(["k:", "  in: side", "# comment", "  other: >-", "    text"])
def test_what_the_reference_reader_understands_is_understood_alike(lines: list[str]) -> None:
    numbered = [f"k{place}{line[1:]}" if line.startswith("k:") else line for place, line in enumerate(lines)]
    text = "\n".join((*numbered, ""))
    try:
        theirs = strictyaml.load(text).data
        ours = read_frontmatter(text)
    except (strictyaml.YAMLError, ToolError):
        return
    if isinstance(theirs, dict) and all(_is_flat(value) for value in theirs.values()):
        assert ours == theirs


def _is_flat(value: object) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return all(isinstance(one, str) for one in inner)


def test_the_forms_that_skills_use_are_read() -> None:
    assert read(
        """\
        name: pdf-tools   # the folder has this name
        description: >-
          Use when a file is a PDF.
          Not for images.

          Second paragraph.
        license: 'Apache-2.0, it''s free'
        compatibility: Needs git,
          and nothing else
        allowed-tools:
          - Read
          - "Bash(git:*)"
        metadata:
          author: someone
          version: "1.0"
        """
    ) == {
        "name": "pdf-tools",
        "description": "Use when a file is a PDF. Not for images.\nSecond paragraph.",
        "license": "Apache-2.0, it's free",
        "compatibility": "Needs git, and nothing else",
        "allowed-tools": ["Read", "Bash(git:*)"],
        "metadata": {"author": "someone", "version": "1.0"},
    }


def test_a_colon_inside_a_plain_text_is_read_although_yaml_wants_quotes() -> None:
    assert read("description: Use it when: a file is long") == {"description": "Use it when: a file is long"}


def test_what_nests_deeper_is_kept_as_it_is_written() -> None:
    assert read(
        """\
        metadata:
          tool:
            emoji: x
            needs: [a, b]
        hooks: {"before": ["x"]}
        """
    ) == {"metadata": {"tool": "emoji: x\nneeds: [a, b]"}, "hooks": '{"before": ["x"]}'}


@pytest.mark.parametrize(
    "text",
    [
        "a: &anchor x",
        "a: *anchor",
        "a: !!python/object/apply:os.system [x]",
        "a: !tag x",
        "a: [*b, *b]",
        "a: {x: &b y}",
        "a:\n  - *b",
        "a:\n  b:\n    c: *d",
        "a:\n  - !!x y",
        "<<: *a",
        "%YAML 1.2",
        "? key\n: value",
        "- a\n- b",
        "only words",
        "a: 1\na: 2",
        "m:\n  a: 1\n  a: 2",
        "\ta: 1",
        '"a": 1',
        'a: "open',
        "a: 'open",
        'a: "x" y',
        r'a: "\q"',
        r'a: "\ud800"',
        r'a: "\UFFFFFFFF"',
        "a: |x\n  y",
        "a: |\n    y\n  x",
        "  a: 1",
        "a: - b",
    ],
)
def test_what_could_expand_or_cannot_be_understood_is_refused(text: str) -> None:
    with pytest.raises(ToolError) as caught:
        read_frontmatter(text)
    assert caught.value.code is Code.INVALID_PROPOSAL
    assert "line" in caught.value.message


def test_a_frontmatter_without_end_is_refused() -> None:
    for text in ("", "no frontmatter", "---\nname: x\n", "--- name: x ---", "x\n---\nname: x\n---\n"):
        with pytest.raises(ToolError) as caught:
            split_skill(text)
        assert caught.value.code is Code.INVALID_PROPOSAL


def test_a_frontmatter_that_is_too_long_is_refused() -> None:
    with pytest.raises(ToolError) as caught:
        read_frontmatter("a: " + "x" * MOST_FRONTMATTER)
    assert caught.value.code is Code.TOO_LARGE


@pytest.mark.parametrize(
    "text",
    [
        'a: "' + "\\" * 120_000,
        'a: "' + " " * 120_000 + 'x"',
        "a: " + " \t" * 60_000 + "x",
        "a: '" + "''" * 60_000,
        "a:\n" + "  - x\n" * 20_000,
        "a:\n" + "  b:\n" * 20_000,
        "a: [" + "[" * 120_000,
        "a" * 120_000,
        "a " * 60_000,
        "a: x " + "#" * 120_000,
        "a: >\n" + "  x\n\n" * 20_000,
        "a: " + "\n " * 60_000,
    ],
)
def test_hostile_text_is_read_or_refused_in_one_pass(text: str) -> None:
    """A quadratic reader would need minutes here, more than the limit of a test."""
    try:
        read_frontmatter(text)
    except ToolError as error:
        assert error.code is Code.INVALID_PROPOSAL  # noqa: PT017 - to be read is as good
