"""Routes: one tool for each role that somebody delegates to."""

import pytest

from brasstag.settings import parse_settings
from brasstag.toolkit.kinds import ToolType
from brasstag.toolkit.registry import ToolRegistry
from brasstag.toolkit.routes import route_tools
from brasstag.words.errors import Code, ConfigError, ToolError

CREW = """
[roles.lead]
delegates_to = ["analyst"]
[roles.analyst]
description = '''
Finds out what
the data says.'''
delegates_to = ["visualizer", "analyst"]
[roles.visualizer]
[roles.editor]
"""
ROUTES = {tool.name: tool for tool in route_tools(parse_settings(CREW).roles)}


def test_there_is_one_for_each_role_somebody_delegates_to() -> None:
    assert [*ROUTES] == ["route_to_analyst", "route_to_visualizer"]
    assert all(tool.config.type is ToolType.AGENT_AS_TOOL for tool in ROUTES.values())


def test_it_says_who_is_reached() -> None:
    said = ROUTES["route_to_analyst"].config.description
    assert said == "Give a task to analyst, and wait for what comes of it. Finds out what the data says."
    assert ROUTES["route_to_visualizer"].config.description.endswith("what comes of it.")


def test_it_takes_a_request_and_documents() -> None:
    given = {"request": "Analyze Q3 sales", "documents": ["sales_raw.csv"]}
    assert ROUTES["route_to_analyst"].validate(given) == given
    assert ROUTES["route_to_analyst"].validate({"request": "x"}) == {"request": "x"}


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"request": ""},
        {"request": 3},
        {"request": "x", "documents": "a.md"},
        {"request": "x", "documents": [1]},
        {"request": "x", "task": "y"},
        [],
    ],
)
def test_wrong_arguments_are_refused(given: object) -> None:
    with pytest.raises(ToolError) as caught:
        ROUTES["route_to_analyst"].validate(given)
    assert caught.value.code is Code.INVALID_ARGUMENTS


def test_a_tool_that_has_the_name_already_is_told_with_the_role() -> None:
    registry = ToolRegistry([*ROUTES.values()])
    with pytest.raises(ConfigError, match=r"\[roles.analyst\].*route_to_analyst.*Rename one of the two"):
        registry.register(ROUTES["route_to_analyst"])
