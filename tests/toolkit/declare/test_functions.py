import inspect
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, BaseModel, Field
from typing_extensions import TypedDict

from brasstag.toolkit.declare.declare import as_tool, tool
from brasstag.words.errors import Code
from tests.toolkit.samples import problems_of, refusal_of


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    x: int
    y: int = 0


class Report(BaseModel):
    title: str = Field(alias="reportTitle")
    corners: list[Point] = []


class Tree(BaseModel):
    kids: "list[Tree]"


class Counted(TypedDict):
    words: int


def even(value: int) -> int:
    if value % 2:
        raise ValueError("must be even")
    return value


def draw(
    corners: list[Point],
    colour: Colour = Colour.RED,
    scale: Annotated[float, Field(gt=0, description="How large.")] = 1.0,
    style: Literal["thin", "thick"] | None = None,
    labels: dict[str, str] | None = None,
    day: date | None = None,
    pairs: Annotated[int, AfterValidator(even)] = 2,
) -> Report:
    """Draw a figure
    on paper.

    Never on walls.

    Args:
        corners: Its corners.
        colour: Of the line.
        style: Of the line, too.
        labels: Texts by corner.
        day: When it was drawn.
        pairs: How many, in pairs.
    """
    return Report(reportTitle=colour.name, corners=corners)


def test_annotations_and_docstring_become_the_config() -> None:
    config = as_tool(draw).config
    assert (config.tool_id, config.description) == ("draw", "Draw a figure on paper.")
    schema = config.input_schema()
    assert schema["required"] == ["corners"]
    properties = schema["properties"]
    assert properties["corners"] == {
        "type": "array",
        "description": "Its corners.",
        "items": {
            "type": "object",
            "properties": {"x": {"type": "integer"}, "y": {"type": "integer", "default": 0}},
            "required": ["x"],
            "additionalProperties": False,
        },
    }
    assert properties["colour"] == {
        "type": "string",
        "description": "Of the line.",
        "enum": ["red", "blue"],
        "default": "red",
    }
    assert properties["scale"]["description"] == "How large."
    assert properties["style"] == {
        "type": "string",
        "description": "Of the line, too.",
        "enum": ["thin", "thick"],
    }
    assert properties["labels"]["additionalProperties"] == {"type": "string"}


def test_arguments_arrive_as_the_annotations_say() -> None:
    made = as_tool(draw)
    valid = made.validate({"corners": [{"x": 1}], "colour": "blue", "day": "2024-02-29", "style": None})
    assert valid["corners"] == [{"x": 1, "y": 0}]
    assert "style" not in valid
    ready = made.python_arguments(valid)
    assert ready["corners"] == [Point(1, 0)]
    assert ready["colour"] is Colour.BLUE
    assert ready["day"] == date(2024, 2, 29)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"corners": [{"x": 1, "z": 2}]}, "corners[0].z"),
        ({"corners": [], "scale": 0}, "scale"),
        ({"corners": [], "day": "2023-02-29"}, "day"),
        ({"corners": [], "pairs": 3}, "pairs"),
    ],
)
def test_a_value_the_types_refuse_is_refused_before_anybody_is_asked(
    arguments: dict[str, Any], field: str
) -> None:
    error = refusal_of(lambda: as_tool(draw).validate(arguments))
    assert [entry["field"] for entry in error.details["errors"]] == [field]


def test_results_leave_as_json_under_the_names_of_their_schema() -> None:
    made = as_tool(draw)
    assert made.check_result(draw([Point(1)])) == {"reportTitle": "RED", "corners": [{"x": 1, "y": 0}]}
    schema = made.config.output_schema()
    assert schema is not None
    assert set(schema["properties"]) == {"reportTitle", "corners"}


@pytest.mark.parametrize(
    ("annotation", "good", "bad"),
    [
        (int, 3, "3"),
        (str, "a", 3),
        (list[str], ["a"], [1]),
        (Point, Point(1), {"x": 1}),
        (Counted, {"words": 1}, {"words": "1"}),
        (None, None, 1),
    ],
)
def test_a_result_has_to_be_what_the_annotation_says(annotation: Any, good: Any, bad: Any) -> None:
    def give() -> None:
        """Give."""

    give.__annotations__["return"] = annotation
    made = as_tool(give)
    made.check_result(good)
    assert refusal_of(lambda: made.check_result(bad)).code is Code.INVALID_RESULT


def test_none_as_a_default_takes_null_out_of_the_schema() -> None:
    def act(one: str | None = None, both: int | str | None = None, kept: str | None = "x") -> None:
        """Act."""

    properties = as_tool(act).config.input_schema()["properties"]
    assert properties["one"]["type"] == "string"
    assert properties["both"]["anyOf"] == [{"type": "integer"}, {"type": "string"}]
    assert properties["kept"]["anyOf"] == [{"type": "string"}, {"type": "null"}]


def test_only_object_results_are_exported_as_schemas() -> None:
    def count(path: str) -> int:
        """Count."""
        return len(path)

    assert as_tool(count).config.output_schema() is None


def test_without_an_args_section_the_names_speak_for_themselves() -> None:
    def count(file_path: str) -> int:
        """Count the words of a workspace file."""
        return len(file_path)

    assert as_tool(count).config.parameters["file_path"].description == "The file path."


def test_reserved_names_are_injected_and_stay_outside_the_schema() -> None:
    def look(workspace: Any, task_id: str, path: str) -> str:
        """Look."""
        return path

    made = as_tool(look)
    assert made.injected == {"workspace", "task_id"}
    assert set(made.config.parameters) == {"path"}


def test_a_reserved_name_that_the_docstring_describes_is_an_argument() -> None:
    def invite(name: str, role: str) -> str:
        """Invite somebody.

        Args:
            name: Who.
            role: As what.
        """
        return name + role

    made = as_tool(invite)
    assert made.injected == frozenset()
    assert set(made.config.parameters) == {"name", "role"}


def test_an_injected_annotation_need_not_be_known() -> None:
    def look(workspace: "NotImportedHere", path: str) -> str:  # type: ignore[name-defined] # noqa: F821
        """Look."""
        return path

    assert as_tool(look).injected == {"workspace"}


def test_a_bound_method_can_be_a_tool() -> None:
    class Runtime:
        def greet(self, name: str) -> str:
            """Greet somebody."""
            return f"hello {name}"

    made = as_tool(Runtime().greet)
    assert made.function is not None
    assert made.function(**made.python_arguments(made.validate({"name": "Ada"}))) == "hello Ada"


def no_words(path: str) -> str:
    return path


def no_annotation(path) -> str:  # type: ignore[no-untyped-def]
    """Do it."""
    return str(path)


def not_described(path: str, count: int) -> str:
    """Do it.

    Args:
        path: Where.
    """
    return path * count


def described_in_vain(path: str) -> str:
    """Do it.

    Args:
        path: Where.
        pth: Where?
    """
    return path


def takes_anything(*args: str) -> str:
    """Do it."""
    return "".join(args)


def by_position(path: str, /) -> str:
    """Do it."""
    return path


def takes_a_function(callback: Callable[[], int]) -> int:
    """Do it."""
    return callback()


def takes_a_tree(tree: Tree) -> int:
    """Do it."""
    return len(tree.kids)


def wrong_default(count: int = "many") -> int:  # type: ignore[assignment]
    """Do it."""
    return count


def field_as_default(path: str = Field("x", description="Where.")) -> str:
    """Do it."""
    return path


def returns_a_function() -> Callable[[], int]:
    """Do it."""
    return lambda: 1


def unknown_type(path: "Nowhere") -> str:  # type: ignore[name-defined] # noqa: F821
    """Do it."""
    return str(path)


@pytest.mark.parametrize(
    ("function", "field", "what"),
    [
        (no_words, "", "has no description"),
        (no_annotation, "no_annotation(path)", "has no annotation"),
        (unknown_type, "unknown_type(path)", "has no annotation that can be read"),
        (not_described, "not_described(count)", "has no description"),
        (described_in_vain, "", "the docstring describes pth"),
        (takes_anything, "takes_anything(args)", "given by name"),
        (by_position, "by_position(path)", "given by name"),
        (takes_a_function, "takes_a_function(callback)", "cannot be described to a model"),
        (takes_a_tree, "takes_a_tree(tree)", "Tree contains itself"),
        (wrong_default, "parameters.count.default", "'many' is not a valid value"),
        (field_as_default, "field_as_default(path)", "has a Field as its default"),
        (returns_a_function, "return", "returns a type that JSON cannot carry"),
    ],
)
def test_what_is_missing_is_named_with_its_place(function: Any, field: str, what: str) -> None:
    (problem,) = problems_of(lambda: as_tool(function))
    assert problem.file == f"{__name__}.{function.__name__}"
    assert problem.field == field
    assert what in problem.what


def test_every_problem_of_a_function_comes_at_once() -> None:
    def Wrong(a, *b: int):  # type: ignore[no-untyped-def] # noqa: N802
        return a, b

    assert len(problems_of(lambda: as_tool(Wrong))) == 4


def test_generators_give_no_single_result() -> None:
    async def stream(path: str) -> AsyncIterator[str]:
        """Stream."""
        yield path

    (problem,) = problems_of(lambda: as_tool(stream))
    assert "returns one result" in problem.what


def test_a_check_function_and_replay_belong_together() -> None:
    def had_happened(call_id: str, arguments: dict[str, Any]) -> None:
        """Say so."""

    def act(path: str) -> None:
        """Act."""

    assert as_tool(tool(replay="check", check=had_happened)(act)).check is had_happened
    assert problems_of(lambda: as_tool(tool(replay="check")(act)))
    assert problems_of(lambda: as_tool(tool(check=had_happened)(act)))
    assert as_tool(tool(replay="check", effects="files")(act)).config.replay == "check"


def test_the_source_is_the_whole_file_and_code_without_a_file_still_has_one() -> None:
    assert as_tool(draw).source == inspect.getsource(inspect.getmodule(draw))  # type: ignore[arg-type]

    def typed_in(text: str) -> Any:
        spelled: dict[str, Any] = {}
        exec(f"def act(path: str) -> str:\n    '''Act.'''\n    return {text!r}", spelled)
        return as_tool(spelled["act"])

    assert typed_in("a").version == typed_in("a").version
    assert typed_in("a").version != typed_in("b").version
