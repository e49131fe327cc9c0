"""Patterns: tool(specifier)."""

import pytest

from brasstag.policy.globs import RuleError
from brasstag.policy.match.patterns import Pattern, parts
from brasstag.policy.match.topics import PATHS, WHOLE_CALL, CommandArgument, PathArgument, TextArgument


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("delete_file", ("delete_file", "", None)),
        ("read_file(a(1).md)", ("read_file", "", "a(1).md")),
        ("shell(command: rm -rf /)", ("shell", "command", "rm -rf /")),
        ("shell(command:ls)", ("shell", "command", "ls")),
        ("read_file(/odd: name)", ("read_file", "", "/odd: name")),
        ("read_file(two\nlines)", ("read_file", "", "two\nlines")),
    ],
)
def test_a_pattern_is_a_tool_and_what_it_is_about(text: str, expected: tuple[str, str, str | None]) -> None:
    assert parts(text) == expected


@pytest.mark.parametrize("text", ["", "read file", "(x)", "read_file(x", "read_file)x(", "read_file(x) y"])
def test_what_is_not_a_pattern_is_refused(text: str) -> None:
    with pytest.raises(RuleError, match="is not a pattern"):
        parts(text)


def test_an_address_in_the_place_of_a_path_is_told_to_name_its_argument() -> None:
    with pytest.raises(RuleError, match=r"url: https://x\.org"):
        Pattern.parse("fetch(https://x.org)", "generous")


def test_empty_parentheses_are_refused() -> None:
    with pytest.raises(RuleError, match="Leave out the parentheses"):
        Pattern.parse("read_file()", "generous")


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("x", WHOLE_CALL),
        ("x(a/b)", PATHS),
        ("x(cwd: a/b)", PathArgument("cwd")),
        ("x(command: ls)", CommandArgument("command")),
        ("x(url: y)", TextArgument("url")),
    ],
)
def test_the_name_of_an_argument_decides_how_it_is_read(text: str, topic: object) -> None:
    assert Pattern.parse(text, "literal").topic == topic


@pytest.mark.parametrize(
    ("tool", "name"), [("*", "anything"), ("write_*", "write_file"), ("read_file", "read_file")]
)
def test_a_pattern_is_about_the_tools_its_name_matches(tool: str, name: str) -> None:
    assert Pattern.parse(tool, "literal").is_about([name])


def test_a_pattern_is_about_a_tool_by_any_of_its_names() -> None:
    pattern = Pattern.parse("list_directory", "literal")
    assert pattern.is_about(["list_files", "list_directory"])
    assert not pattern.is_about(["list_files"])


def test_only_deny_and_ask_overlook_the_case_of_a_tool() -> None:
    assert Pattern.parse("Read_File", "generous").is_about(["read_file"])
    assert not Pattern.parse("Read_File", "literal").is_about(["read_file"])


def test_a_pattern_knows_whether_it_spells_out_its_tool() -> None:
    assert Pattern.parse("read_file(x)", "literal").names_one_tool
    assert not Pattern.parse("read_*(x)", "literal").names_one_tool
