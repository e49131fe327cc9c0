import functools
from typing import Any

import pytest

from brasstag.toolkit.declare.classes import ToolClass
from brasstag.toolkit.declare.declare import as_tool, declaration_of, tool
from tests.toolkit.samples import a_tool, problems_of


@tool
def double(number: int) -> int:
    """Double a number."""
    return number * 2


@tool(name="triple", effects="none", approval="auto", aliases=["three_times"], limits={"timeout_seconds": 5})
async def thrice(number: int) -> int:
    """Triple a number."""
    return number * 3


async def test_a_declared_function_stays_a_plain_function() -> None:
    assert double(2) == 4
    assert await thrice(2) == 6
    assert double.__name__ == "double"


def test_the_decorator_s_words_are_in_the_config() -> None:
    config = as_tool(thrice).config
    assert (config.tool_id, config.effects, config.approval) == ("triple", "none", "auto")
    assert config.aliases == ("three_times",)
    assert config.limits.timeout_seconds == 5


def test_sync_and_async_are_told_apart() -> None:
    assert not as_tool(double).is_async
    assert as_tool(thrice).is_async


def test_what_the_decorator_says_on_approval_is_kept() -> None:
    def asks(arguments: Any) -> bool:
        return bool(arguments["path"])

    @tool(requires_approval=asks)
    def write(path: str) -> None:
        """Write."""

    assert as_tool(write).requires_approval is asks
    assert as_tool(double).requires_approval is None


def test_a_plain_typed_function_needs_no_decorator() -> None:
    def shout(text: str) -> str:
        """Say it louder."""
        return text.upper()

    made = as_tool(shout)
    assert made.name == "shout"
    assert made.function is shout


def test_a_tool_is_already_a_tool() -> None:
    made = a_tool()
    assert as_tool(made) is made


def test_a_wrapped_function_keeps_its_declaration() -> None:
    @functools.wraps(thrice)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        return await thrice(*args, **kwargs)

    made = as_tool(wrapper)
    assert (made.name, made.function) == ("triple", wrapper)


def test_a_function_whose_words_are_in_json_cannot_stand_alone() -> None:
    @tool(execution_type="function")
    def lonely(path: str) -> dict[str, Any]:
        """lonely"""
        return {"path": path}

    declaration = declaration_of(lonely)
    assert declaration is not None
    assert declaration.has_json
    (problem,) = problems_of(lambda: as_tool(lonely))
    assert "JSON file" in problem.what


@pytest.mark.parametrize("thing", [3, "name", len, int, object(), functools.partial(double, 2)])
def test_what_is_not_a_tool_is_refused(thing: Any) -> None:
    (problem,) = problems_of(lambda: as_tool(thing))
    assert "not a function" in problem.what


def test_a_class_that_needs_arguments_has_to_be_given_as_an_instance() -> None:
    class Needy(ToolClass):
        name = "needy"
        description = "Needs something."
        parameters = {"type": "object", "properties": {}}  # noqa: RUF012

        def __init__(self, thing: str) -> None:
            self.thing = thing

        async def execute(self, arguments: dict[str, Any]) -> str:
            return self.thing

    (problem,) = problems_of(lambda: as_tool(Needy))
    assert "Register an instance" in problem.mend
    assert as_tool(Needy("x")).name == "needy"


@pytest.mark.parametrize("word", ["blah", "function_tool", ""])
def test_an_unknown_execution_type_is_refused_where_it_is_written(word: str) -> None:
    (problem,) = problems_of(lambda: tool(execution_type=word))  # type: ignore[call-overload]
    assert repr(word) in problem.what
    assert 'execution_type="function"' in problem.mend
