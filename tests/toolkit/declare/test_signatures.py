from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, NewType, Optional, TypedDict

import pytest

from brasstag.toolkit.declare.signatures import disagreements, injected_into, json_types
from brasstag.words.errors import Problem
from tests.toolkit.samples import config

WorkspacePath = NewType("WorkspacePath", str)


class Row(TypedDict):
    id: int


def compare(function: Callable[..., Any], **parameters: dict[str, Any]) -> list[Problem]:
    words = {name: {"description": "A value.", **shape} for name, shape in parameters.items()}
    return disagreements(function, config(parameters=words), "sample.py")


def agreeing(
    workspace: Any,
    task_id: str,
    path: WorkspacePath,
    source: str,
    count: int = 3,
    ratio: float = 0.5,
    mode: Literal["r", "w"] = "r",
    tags: Sequence[str] | None = None,
    rows: list[Row] | None = None,
    env: Annotated[Mapping[str, str] | None, "variables"] = None,
    anything: Any = None,
    note: Optional[str] = None,  # noqa: UP045
) -> None:
    """sample"""


def test_a_signature_that_says_what_the_json_says_is_left_alone() -> None:
    assert (
        compare(
            agreeing,
            path={"type": "string", "required": True},
            **{"from": {"type": "string", "required": True, "python_name": "source"}},
            count={"type": "integer", "default": 3},
            ratio={"type": "number", "default": 0.5},
            mode={"type": "string", "enum": ["r", "w"], "default": "r"},
            tags={"type": "array", "items": {"type": "string"}, "default": []},
            rows={"type": "array", "items": {"type": "object"}},
            env={"type": "object", "values": {"type": "string"}},
            anything={"json_schema": {}},
            note={"type": ["string", "null"]},
        )
        == []
    )


def one(value: str) -> None:
    """sample"""


def optional(value: int = 3) -> None:
    """sample"""


def choice(value: Literal["a", "b"]) -> None:
    """sample"""


def numbers(value: list[int]) -> None:
    """sample"""


def pair(value: tuple[int, int]) -> None:
    """sample"""


def bare(value) -> None:  # type: ignore[no-untyped-def]
    """sample"""


def variadic(value: str, **more: str) -> None:
    """sample"""


TEXT = {"type": "string", "required": True}


@pytest.mark.parametrize(
    ("function", "shape", "what"),
    [
        (one, {"type": "integer", "required": True}, "is annotated str, but is integer in the JSON"),
        (one, {"type": ["string", "null"], "required": True}, "but is string or null in the JSON"),
        (one, {"json_schema": {"type": "array", "items": {}}, "required": True}, "but is array in the JSON"),
        (one, {"type": "string"}, "has no default, but the JSON makes it optional"),
        (optional, {"type": "integer", "required": True}, "has a default, but the JSON requires it"),
        (optional, {"type": "integer", "default": 4}, "defaults to 3, but to 4 in the JSON"),
        (optional, {"type": "integer"}, "defaults to 3, which the JSON does not say"),
        (choice, {"type": "string", "enum": ["a"], "required": True}, "does not allow the same values"),
        (choice, TEXT, "does not allow the same values"),
        (
            numbers,
            {"type": "array", "items": {"type": "string"}, "required": True},
            "but holds string in the JSON",
        ),
        (pair, {"type": "array", "items": {"type": "integer"}, "required": True}, "but is array in the JSON"),
        (bare, TEXT, "has no annotation"),
        (variadic, TEXT, "given by name"),
    ],
)
def test_a_disagreement_is_named(function: Callable[..., Any], shape: dict[str, Any], what: str) -> None:
    (problem,) = compare(function, value=shape)
    assert problem.file == "sample.py"
    assert what in problem.what


def test_a_json_default_always_arrives_so_python_needs_none() -> None:
    assert compare(one, value={"type": "string", "default": "x"}) == []


def test_true_is_not_one() -> None:
    def flag(value: int = True) -> None:
        """sample"""

    assert compare(flag, value={"type": "integer", "default": 1})


def test_a_default_json_cannot_carry_is_told_apart() -> None:
    def act(value: int = object()) -> None:  # type: ignore[assignment]
        """sample"""

    assert compare(act, value={"type": "integer", "default": 1})


def test_missing_and_extra_parameters_are_named() -> None:
    found = compare(one, other=TEXT)
    assert [(problem.field, problem.what) for problem in found] == [
        ("sample(other)", "is in the JSON but not in the signature"),
        ("sample(value)", "is in the signature but not in the JSON"),
    ]


def test_a_word_of_python_is_answered_with_python_name() -> None:
    found = compare(one, value=TEXT, **{"from": TEXT})
    assert "python_name" in found[0].mend


def test_a_reserved_name_is_injected_unless_it_is_an_argument() -> None:
    def act(workspace: Any, role: str) -> None:
        """sample"""

    assert injected_into(act, ["role"]) == {"workspace"}
    assert injected_into(act, []) == {"workspace", "role"}
    assert compare(act, role=TEXT) == []


@pytest.mark.parametrize(
    ("annotation", "types"),
    [
        (bool, {"boolean"}),
        (int, {"integer"}),
        (float, {"integer", "number"}),
        (None, {"null"}),
        (str | None, {"string", "null"}),
        (str | Any, None),
        (Literal["a", 1], {"string", "integer"}),
        (dict[str, int], {"object"}),
        (Row, {"object"}),
        (set[int], set()),
        (object, None),
    ],
)
def test_an_annotation_takes_these_json_types(annotation: Any, types: set[str] | None) -> None:
    assert json_types(annotation) == types


def test_a_parameter_with_a_default_that_the_json_does_not_name_is_internal() -> None:
    def write(value: str, why_created: str = "", seen=None) -> None:  # type: ignore[no-untyped-def]
        """sample"""

    assert compare(write, value=TEXT) == []
