from typing import Any

import pytest

from brasstag.toolkit.registry import ToolRegistry
from brasstag.toolkit.tool import Tool
from tests.toolkit.samples import PATH, config, problems_of


def named(tool_id: str, *aliases: str, origin: str = "here") -> Tool:
    return Tool(config(tool_id=tool_id, aliases=aliases, parameters={"path": PATH}), origin=origin)


@pytest.fixture
def registry() -> ToolRegistry:
    return ToolRegistry([named("read_file"), named("list_files", "list_directory")])


def test_a_tool_answers_to_its_name_and_its_aliases(registry: ToolRegistry) -> None:
    found = registry.get("list_directory")
    assert found is registry.get("list_files")
    assert registry.get("nothing") is None


def test_tools_keep_the_order_of_registration_and_aliases_are_not_listed(registry: ToolRegistry) -> None:
    assert registry.names() == ["read_file", "list_files"]
    assert [tool.name for tool in registry.list()] == registry.names()


@pytest.mark.parametrize(
    ("newcomer", "field"),
    [
        (named("read_file", origin="there"), "tool_id"),
        (named("list_directory", origin="there"), "tool_id"),
        (named("other", "read_file", origin="there"), "aliases"),
        (named("other", "list_directory", origin="there"), "aliases"),
    ],
)
def test_a_name_stands_for_one_tool_only_and_both_places_are_named(
    registry: ToolRegistry, newcomer: Tool, field: str
) -> None:
    (problem,) = problems_of(lambda: registry.register(newcomer))
    assert (problem.file, problem.field) == ("there", field)
    assert "here" in problem.what
    assert registry.get("other") is None


def test_anything_that_can_become_a_tool_can_be_registered(registry: ToolRegistry) -> None:
    def shout(text: str) -> str:
        """Say it louder."""
        return text.upper()

    assert registry.register(shout) is registry.get("shout")


@pytest.mark.parametrize(
    ("wrong", "meant"), [("readfile", "read_file"), ("list_directry", "list_files"), ("xyz", None)]
)
def test_a_wrong_name_is_answered_with_the_closest_tool(
    registry: ToolRegistry, wrong: str, meant: Any
) -> None:
    assert registry.closest(wrong) == meant


def test_exports_can_be_narrowed_to_some_tools(registry: ToolRegistry) -> None:
    for export in (registry.to_openai_functions, registry.to_anthropic, registry.to_mcp):
        assert [entry["name"] for entry in export(only=["list_directory", "unknown"])] == ["list_files"]
        assert [entry["name"] for entry in export()] == ["read_file", "list_files"]
        assert export(only=[]) == []
