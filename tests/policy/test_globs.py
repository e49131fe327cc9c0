"""Globs, held against a plain matcher that backtracks."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brasstag.policy.globs import (
    LONGEST_GLOB,
    Reading,
    RuleError,
    escaped,
    literal_text,
    name_expression,
    path_expression,
    text_expression,
    words_expression,
)

LETTERS = "abAé.-\n"
SETS = ["[ab]", "[!a]", "[a-z]", "[!A-Z]", "[*]", "[]]", "[!]]", "[+-9]", "[a-]"]


def inside(members: str, letter: str) -> bool:
    negated = members[0] in "!^"
    listed = members[1:] if negated else members
    found = letter in ("ab" if listed == "ab" else listed)
    if len(listed) == 3 and listed[1] == "-":
        found = listed[0] <= letter <= listed[2]
    return letter != "/" and found != negated


def matches_name(glob: str, name: str, *, stars_cross: bool = False) -> bool:
    """The plain matcher for one name, or for a text in which ``**`` crosses slashes."""
    if not glob:
        return not name
    if glob[0] == "[":
        end = glob.index("]", 3 if glob[1] in "!^" else 2)
        return (
            bool(name)
            and inside(glob[1:end], name[0])
            and matches_name(glob[end + 1 :], name[1:], stars_cross=stars_cross)
        )
    if glob[0] == "*":
        crosses = stars_cross and glob[:2] == "**"
        rest = glob.lstrip("*") if crosses else glob[1:]
        reach = len(name) if crosses else len(name.split("/", maxsplit=1)[0])
        return any(matches_name(rest, name[cut:], stars_cross=stars_cross) for cut in range(reach + 1))
    if not name:
        return False
    same = name[0] != "/" if glob[0] == "?" else name[0] == glob[0]
    return same and matches_name(glob[1:], name[1:], stars_cross=stars_cross)


def matches_steps(steps: list[str], names: list[str]) -> bool:
    if not steps:
        return not names
    if steps[0] == "**":
        return any(matches_steps(steps[1:], names[cut:]) for cut in range(len(names) + 1))
    return bool(names) and matches_name(steps[0], names[0]) and matches_steps(steps[1:], names[1:])


def matches_path(glob: str, path: str) -> bool:
    """The plain matcher for paths, read literally: the table on top of the module, line by line."""
    names = path.split("/") if path else []
    if glob == ".":
        return not names
    anchored = "/" in glob.rstrip("/")
    steps = glob.strip("/").split("/") if glob.strip("/") else []
    only_below = steps[-1:] == ["**"]
    while steps[-1:] == ["**"]:
        steps.pop()
    if not steps:
        return only_below or glob.endswith("/")
    if not anchored:
        steps = ["**", *steps]
    if glob.endswith("/"):
        return any(matches_steps(steps, names[:cut]) for cut in range(len(names) + 1))
    if only_below:
        return any(matches_steps(steps, names[:cut]) for cut in range(len(names)))
    return matches_steps(steps, names)


names = st.text(LETTERS, min_size=1, max_size=4).filter(lambda name: name not in (".", ".."))
paths = st.lists(names, max_size=4).map("/".join)
tokens = st.one_of(st.sampled_from(LETTERS), st.sampled_from(["*", "?"]), st.sampled_from(SETS))
steps = st.one_of(
    st.just("**"),
    st.lists(tokens, min_size=1, max_size=4)
    .map("".join)
    .filter(lambda step: step not in (".", "..") and "**" not in step),
)
path_globs = st.builds(
    lambda start, middle, end: f"{start}{'/'.join(middle)}{end}",
    st.sampled_from(["", "/"]),
    st.lists(steps, min_size=1, max_size=4),
    st.sampled_from(["", "/"]),
)
text_globs = st.lists(st.one_of(tokens, st.sampled_from(["/", "**"])), max_size=6).map("".join)
texts = st.text(LETTERS + "/", max_size=8)


class TestPaths:
    @given(path_globs, paths)
    @settings(max_examples=400)
    def test_a_literal_reading_is_that_of_the_plain_matcher(self, glob: str, path: str) -> None:
        assert path_expression(glob, "literal").matches(path) == matches_path(glob, path)

    @given(path_globs, paths, paths)
    @settings(max_examples=300)
    def test_a_generous_reading_matches_all_that_a_literal_one_does_in_any_case_and_below(
        self, glob: str, path: str, below: str
    ) -> None:
        if path_expression(glob, "literal").matches(path):
            generous = path_expression(glob, "generous")
            assert generous.matches(path)
            assert generous.matches(f"{path}/{below}".strip("/"))

    @pytest.mark.parametrize(
        ("glob", "literal", "generous"),
        [
            ("drafts/x", ["drafts/x"], ["drafts/x", "drafts/x/y", "Drafts/X"]),
            ("drafts/", ["drafts", "drafts/x", "a/drafts/x"], ["drafts", "drafts/x", "a/drafts/x"]),
            ("drafts/**", ["drafts/x", "drafts/x/y"], ["drafts", "drafts/x", "drafts/x/y"]),
            ("x.md", ["x.md", "a/b/x.md"], ["x.md", "a/x.md", "a/x.md/y", "X.MD"]),
            ("/x.md", ["x.md"], ["x.md", "x.md/y"]),
            ("./x.md", ["x.md"], ["x.md", "x.md/y"]),
            (".", [""], ["", "a", "a/b"]),
            ("**", ["", "a", "a/b"], ["", "a", "a/b"]),
            ("a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["a/b/c"]),
            ("*", ["a", "a/b"], ["a"]),
            ("/*", ["a"], ["a", "a/b"]),
            ("*.md", ["x.md", "a/.md"], ["x.MD"]),
        ],
    )
    def test_the_table_of_readings_holds(self, glob: str, literal: list[str], generous: list[str]) -> None:
        assert all(path_expression(glob, "literal").matches(path) for path in literal)
        assert all(path_expression(glob, "generous").matches(path) for path in generous)

    @pytest.mark.parametrize(
        ("glob", "path"),
        [
            ("drafts/x", "drafts/x/y"),
            ("drafts/x", "a/drafts/x"),
            ("drafts/**", "drafts"),
            ("x.md", "X.md"),
            ("x.md", "ax.md"),
            ("/x.md", "a/x.md"),
            ("/*", "a/b"),
            ("*", ""),
            ("a?b", "a/b"),
            ("a[!x]b", "a/b"),
            ("a[+-9]b", "a/b"),
        ],
    )
    def test_what_a_literal_reading_leaves_out(self, glob: str, path: str) -> None:
        assert not path_expression(glob, "literal").matches(path)

    @pytest.mark.parametrize(
        "glob",
        [
            "",
            "a//b",
            "../x",
            "a/../b",
            "a/./b",
            "~/x",
            "~",
            "a**/b",
            "a[b",
            "a[]",
            "[z-a]",
            "[/]",
            "x" * (LONGEST_GLOB + 1),
            "a\ud800",
        ],
    )
    @pytest.mark.parametrize("reading", ["literal", "generous"])
    def test_a_glob_that_could_never_be_meant_is_refused_with_a_mend(
        self, glob: str, reading: Reading
    ) -> None:
        with pytest.raises(RuleError) as caught:
            path_expression(glob, reading)
        assert caught.value.mend.endswith(".")

    @pytest.mark.parametrize("glob", ["a*" * 60 + "b", "**/a/" * 30 + "b", "[a-z]*" * 60 + "!"])
    def test_no_pattern_can_stall_a_verdict(self, glob: str) -> None:
        for reading in ("literal", "generous"):
            assert not path_expression(glob, reading).matches("a" * 4000 + "/a" * 2000)

    def test_half_a_surrogate_pair_in_a_path_is_no_way_around_a_rule(self) -> None:
        assert path_expression("secrets/**", "generous").matches("secrets/\udcff")
        assert not path_expression("a", "literal").matches("\udcff")


class TestTexts:
    @given(text_globs, texts)
    @settings(max_examples=400)
    def test_a_text_glob_is_that_of_the_plain_matcher(self, glob: str, text: str) -> None:
        assert text_expression(glob, "literal").matches(text) == matches_name(glob, text, stars_cross=True)

    @given(text_globs, texts)
    def test_a_generous_reading_matches_all_that_a_literal_one_does(self, glob: str, text: str) -> None:
        if text_expression(glob, "literal").matches(text):
            assert text_expression(glob, "generous").matches(text)

    def test_a_star_stops_at_a_slash_so_that_a_host_cannot_be_feigned(self) -> None:
        address = text_expression("https://*.example.org/**", "literal")
        assert address.matches("https://api.example.org/v1/x")
        assert not address.matches("https://evil.org/.example.org/x")

    @pytest.mark.parametrize(
        ("glob", "text"),
        [
            ("https://example.com/*", "https://example.com/a/b"),
            ("https://*.example.com*", "https://a.example.com/b"),
            ("*password*", "old/password/list"),
        ],
    )
    def test_a_star_of_a_deny_or_ask_goes_on_behind_a_slash(self, glob: str, text: str) -> None:
        assert text_expression(glob, "generous").matches(text)
        assert not text_expression(glob, "literal").matches(text)

    @given(st.text(max_size=12).filter(lambda text: text.isprintable()))
    def test_an_escaped_text_matches_itself_alone(self, text: str) -> None:
        assert literal_text(escaped(text)) == text
        assert text_expression(escaped(text), "literal").matches(text)
        assert not text_expression(escaped(text), "literal").matches(f"{text}x")

    @pytest.mark.parametrize("glob", ["a*", "a?", "[ab]", "[!a]", "**"])
    def test_a_glob_with_wildcards_has_no_one_text(self, glob: str) -> None:
        assert literal_text(glob) is None


class TestNames:
    def test_a_star_in_the_name_of_a_tool_matches_any_letters(self) -> None:
        assert name_expression("mcp*", "literal").matches("mcp/files.read")
        assert not name_expression("write_*", "literal").matches("rewrite_file")


class TestWords:
    @pytest.mark.parametrize(
        ("glob", "words"),
        [
            ("nc", ["nc"]),
            ("nc", ["sudo", "/usr/bin/nc", "-l"]),
            ("NC", ["nc"]),
            ("rm -rf /", ["cd", "x", "rm", "-rf", "/"]),
            ("rm ** /", ["rm", "-r", "-f", "/"]),
            ("rm ** /", ["rm", "/"]),
            ("of=/dev/**", ["dd", "of=/dev/disk/by-id/x"]),
        ],
    )
    def test_words_are_found_anywhere_in_a_command(self, glob: str, words: list[str]) -> None:
        assert words_expression(glob, "generous").matches("".join(f"{word}\n" for word in words))

    @pytest.mark.parametrize(
        ("glob", "words"),
        [
            ("nc", ["sync"]),
            ("nc", ["nc-openbsd"]),
            ("nc", ["nc/x"]),
            ("rm -rf /", ["rm", "-rf", "/tmp"]),
            ("rm -rf /", ["rm", "-v", "-rf", "/"]),
            ("git ?", ["git", "ab"]),
            ("rm ** /", ["rm", "x", "", "ls", "/"]),
        ],
    )
    def test_only_whole_words_are_found(self, glob: str, words: list[str]) -> None:
        assert not words_expression(glob, "generous").matches("".join(f"{word}\n" for word in words))

    def test_literally_the_words_are_the_whole_command(self) -> None:
        status = words_expression("git status", "literal")
        assert status.matches("git\nstatus\n")
        assert not status.matches("git\nstatus\n-s\n")
        assert not status.matches("/tmp/git\nstatus\n")
        assert words_expression("git **", "literal").matches("git\nlog\n-p\n")

    @pytest.mark.parametrize("glob", [" ", "a && b", "> /dev/sda", ":(){ :|:& };:", "x'y", "a\\b", "$(id)"])
    def test_words_that_no_command_is_ever_cut_into_are_refused(self, glob: str) -> None:
        with pytest.raises(RuleError):
            words_expression(glob, "generous")
