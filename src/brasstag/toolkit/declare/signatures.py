"""A function's signature, compared with the JSON that describes it."""

import inspect
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from keyword import iskeyword
from typing import Annotated, Any, Literal, NewType, Union, get_args, get_origin, is_typeddict

from brasstag.toolkit.config.config import ToolConfig
from brasstag.toolkit.config.parameters import Parameter, Shape
from brasstag.toolkit.tool import INJECTABLE
from brasstag.words.canonical import stored_json
from brasstag.words.errors import Problem

NOTHING = inspect.Parameter.empty
"""Stands for an annotation or a default that is not there."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One parameter of a Python function."""

    name: str
    annotation: Any
    default: Any


def slots(
    function: Callable[..., Any], file: str, skip: Collection[str] = ()
) -> tuple[list[Slot], list[Problem]]:
    """Read a signature, except the parameters to ``skip``; also return the parameters that no call can fill."""
    found: list[Slot] = []
    problems: list[Problem] = []
    for name, parameter in inspect.signature(function).parameters.items():
        place = f"{function.__name__}({name})"
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            what = "is not a parameter that can be given by name"
            problems.append(
                Problem(file, place, what, "Name every parameter of a tool; use no *args, **kwargs or /.")
            )
        elif name not in skip:
            annotation = _resolved(function, parameter.annotation)
            if annotation is NOTHING:
                what, mend = "has no annotation that can be read", f"Annotate it, as in `{name}: str`."
                problems.append(Problem(file, place, what, mend))
            found.append(Slot(name, annotation, parameter.default))
    return found, problems


def return_annotation(function: Callable[..., Any]) -> Any:
    """Return what a function says it returns, or NOTHING."""
    return _resolved(function, inspect.signature(function).return_annotation)


def injected_into(function: Callable[..., Any], arguments: Collection[str]) -> frozenset[str]:
    """Return which injectable things a function asks for, where the name is not one of its arguments."""
    return frozenset(INJECTABLE & inspect.signature(function).parameters.keys() - set(arguments))


def _internal(function: Callable[..., Any], arguments: Collection[str]) -> frozenset[str]:
    """Return the parameters that the JSON does not name and a call does not need: each keeps its own default."""
    parameters = inspect.signature(function).parameters.items()
    return frozenset(name for name, one in parameters if one.default is not NOTHING and name not in arguments)


def _resolved(function: Callable[..., Any], annotation: Any) -> Any:
    """Evaluate one annotation alone, so that a faulty one does not affect the others."""
    holder = types.SimpleNamespace(__annotations__={"it": annotation})
    namespace = getattr(inspect.unwrap(function), "__globals__", {})
    if annotation is NOTHING:
        return NOTHING
    try:
        return typing.get_type_hints(holder, namespace, include_extras=True)["it"]
    except (NameError, SyntaxError, TypeError, AttributeError):
        return NOTHING


def disagreements(function: Callable[..., Any], config: ToolConfig, file: str) -> list[Problem]:
    """Return every way in which a function and its JSON do not say the same; ``file`` is the Python file."""
    python = {spelled: name for name, spelled in config.python_names.items()}
    found, problems = slots(
        function, file, skip=injected_into(function, python) | _internal(function, python)
    )
    by_name = {slot.name: slot for slot in found}
    for spelled, name in python.items():
        if spelled not in by_name:
            mend = (
                f'Give it another name with "python_name" in the JSON; {spelled} is a word of Python.'
                if iskeyword(spelled)
                else f"Add `{spelled}` to the signature, or remove {name} from the JSON."
            )
            problems.append(
                Problem(file, f"{config.tool_id}({spelled})", "is in the JSON but not in the signature", mend)
            )
    for slot in found:
        place = f"{config.tool_id}({slot.name})"
        if slot.name not in python:
            mend = "Describe it under parameters in the JSON, give it a default, or remove it."
            problems.append(Problem(file, place, "is in the signature but not in the JSON", mend))
        elif slot.annotation is not NOTHING:
            parameter = config.parameters[python[slot.name]]
            reasons = [_wrong_type(parameter, slot.annotation), _wrong_default(parameter, slot.default)]
            problems += [Problem(file, place, *reason) for reason in reasons if reason]
    return problems


_Reason = tuple[str, str]


def _wrong_default(parameter: Parameter, default: Any) -> _Reason | None:
    if parameter.required:
        if default is not NOTHING:
            return "has a default, but the JSON requires it", 'Remove the default, or "required" in the JSON.'
        return None
    if default is NOTHING:
        if parameter.has_default:
            return None  # the JSON's default always arrives
        return "has no default, but the JSON makes it optional", "Add a default, as in `= None`."
    if default is None and isinstance(parameter.default, list | dict):
        return None  # the usual Python form for a mutable default
    if parameter.has_default and _as_json(default) != _as_json(parameter.default):
        return (
            f"defaults to {default!r}, but to {parameter.default!r} in the JSON",
            "Make them equal, or keep only the JSON's.",
        )
    if not parameter.has_default and default is not None:
        return f"defaults to {default!r}, which the JSON does not say", 'Add "default" to the JSON.'
    return None


def _as_json(value: Any) -> str:
    try:
        return stored_json(value)
    except (TypeError, ValueError):
        return repr(value)


def _wrong_type(shape: Shape, annotation: Any) -> _Reason | None:
    allowed = json_types(annotation)
    declared = shape.types or _types_in(shape.as_schema())
    if allowed is not None and not set(declared) <= allowed:
        return (
            f"is annotated {_spelled(annotation)}, but is {' or '.join(declared)} in the JSON",
            "Make them agree; the function gets plain JSON values.",
        )
    options = literal_options(annotation)
    if options is not None and set(map(_as_json, options)) != set(map(_as_json, shape.enum or ())):
        mend = f'Write "enum": {list(options)!r} in the JSON, or change the Literal.'
        return "does not allow the same values as the JSON's enum", mend
    inner = _item_annotation(annotation)
    if shape.items and inner is not NOTHING and _wrong_type(shape.items, inner):
        return (
            f"is annotated {_spelled(annotation)}, but holds {' or '.join(shape.items.types)} in the JSON",
            "Make them agree.",
        )
    return None


def _types_in(schema: Mapping[str, Any]) -> tuple[str, ...]:
    named = schema.get("type", ())
    return (named,) if isinstance(named, str) else tuple(named)


_SCALARS: Mapping[Any, frozenset[str]] = {
    str: frozenset({"string"}),
    bool: frozenset({"boolean"}),
    int: frozenset({"integer"}),
    float: frozenset({"number", "integer"}),
    type(None): frozenset({"null"}),
    None: frozenset({"null"}),
}
_ARRAYS = (list, Sequence, Collection, Iterable)
_OBJECTS = (dict, Mapping)


def json_types(annotation: Any) -> frozenset[str] | None:
    """Return the JSON types a plain annotation takes; None for anything, empty for what JSON cannot give."""
    annotation = _bare(annotation)
    if annotation in (Any, object) or isinstance(annotation, typing.TypeVar):
        return None
    origin = get_origin(annotation) or annotation
    if origin in _SCALARS:
        return _SCALARS[origin]
    if origin in (Union, types.UnionType):
        parts = [json_types(part) for part in get_args(annotation)]
        known = [part for part in parts if part is not None]
        return frozenset().union(*known) if len(known) == len(parts) else None
    options = literal_options(annotation)
    if options is not None:
        return frozenset().union(*(_SCALARS.get(type(option), frozenset()) for option in options))
    if origin in _ARRAYS:
        return frozenset({"array"})
    return frozenset({"object"}) if origin in _OBJECTS or is_typeddict(origin) else frozenset()


def literal_options(annotation: Any) -> tuple[Any, ...] | None:
    """Return the values of a Literal, without None; None for any other annotation."""
    annotation = _without_none(annotation)
    if get_origin(annotation) is Literal:
        return tuple(option.value if isinstance(option, Enum) else option for option in get_args(annotation))
    return None


def _item_annotation(annotation: Any) -> Any:
    annotation = _without_none(annotation)
    arguments = get_args(annotation)
    return arguments[0] if get_origin(annotation) in _ARRAYS and arguments else NOTHING


def _without_none(annotation: Any) -> Any:
    """Return the one type that an annotation names beside None; an annotation with several stays as it is."""
    annotation = _bare(annotation)
    if get_origin(annotation) in (Union, types.UnionType):
        inner = [part for part in get_args(annotation) if part is not type(None)]
        return _without_none(inner[0]) if len(inner) == 1 else annotation
    return annotation


def _bare(annotation: Any) -> Any:
    while True:
        if get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
        elif isinstance(annotation, NewType):
            annotation = annotation.__supertype__
        else:
            return annotation


def _spelled(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation).replace("typing.", "")
