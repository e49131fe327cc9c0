"""A Tool from a typed function: types from its annotations, words from its docstring."""

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from types import CodeType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo

from brasstag.toolkit.config.complaints import problems_in
from brasstag.toolkit.config.config import ToolConfig
from brasstag.toolkit.config.parameters import parameter_fields
from brasstag.toolkit.declare.declare import Declaration
from brasstag.toolkit.declare.docstrings import Docstring, read_docstring
from brasstag.toolkit.declare.signatures import NOTHING, Slot, return_annotation, slots
from brasstag.toolkit.plain_schema import plain_schema
from brasstag.toolkit.tool import INJECTABLE, Reader, Tool
from brasstag.words.errors import ConfigError, Problem

SOURCE = "__brasstag_source__"
"""Where a module loaded from a folder keeps its own text: the file may have changed since it was loaded."""


def function_tool(function: Any, declaration: Declaration) -> Tool:
    """Return the Tool a function declares; raises ConfigError with everything missing."""
    origin = origin_of(function)
    if not (inspect.isfunction(function) or inspect.ismethod(function)) or _yields(function):
        what = "is not a function that returns one result"
        raise ConfigError([Problem(origin, "", what, "Give a function, a ToolClass or a Tool.")])
    if declaration.has_json:
        what = 'is declared with execution_type="function", so its words are in a JSON file'
        mend = "Let a folder with both files be discovered, or declare it with @tool alone."
        raise ConfigError([Problem(origin, "", what, mend)])
    return _SignatureReading(function, origin, declaration, read_docstring(function.__doc__)).tool()


def _yields(function: Callable[..., Any]) -> bool:
    return inspect.isasyncgenfunction(function) or inspect.isgeneratorfunction(function)


def replay_problem(replay: str, effects: str, check: object) -> tuple[str, str] | None:
    """Say what is wrong, and how to correct it, where ``replay`` and the check function do not fit together."""
    if check is not None and replay != "check":
        mend = 'Set replay to "check", or remove the function.'
        return "a check function is given, but replay is not check", mend
    # A file effect needs no function: its digests before and after say whether it happened.
    if check is None and replay == "check" and effects != "files":
        return "replay is check, but no check function is given", "Give check=… to the decorator."
    return None


def source_of(function: Callable[..., Any]) -> str:
    """Return the text of the file a function comes from, or where there is none, its compiled code as text."""
    plain = inspect.unwrap(function)
    if loaded := getattr(plain, "__globals__", {}).get(SOURCE):
        return str(loaded)
    try:
        return "".join(inspect.findsource(plain)[0])
    except (OSError, TypeError):
        code = getattr(plain, "__code__", None)
        return _code_text(code) if code else repr(plain)


def class_source(declared: type) -> str:
    """Return the text of the file a class comes from, empty where there is none."""
    loaded = getattr(sys.modules.get(declared.__module__), SOURCE, None)
    try:
        return str(loaded) if loaded else "".join(inspect.findsource(declared)[0])
    except (OSError, TypeError):
        return ""


def _code_text(code: CodeType) -> str:
    constants = [_code_text(part) if isinstance(part, CodeType) else repr(part) for part in code.co_consts]
    return f"{code.co_name} {code.co_names} {code.co_code.hex()} {constants}"


def origin_of(thing: Any) -> str:
    """Return where a function or class was declared: its file where it came from a folder, else its dotted name."""
    named = thing if hasattr(thing, "__qualname__") else type(thing)
    module = sys.modules.get(named.__module__)
    if hasattr(module, SOURCE):
        return f"{getattr(module, '__file__', '')}: {named.__qualname__}"
    return f"{named.__module__}.{named.__qualname__}"


@dataclass(slots=True)
class _SignatureReading:
    function: Callable[..., Any]
    origin: str
    declaration: Declaration
    said: Docstring

    def tool(self) -> Tool:
        described = self.said.arguments or {}
        # A reserved name is injected, unless the docstring describes it as an argument like any other.
        names = inspect.signature(self.function).parameters.keys()
        injected = frozenset(INJECTABLE & names - described.keys())
        found, problems = slots(self.function, self.origin, skip=injected)
        for name in described.keys() - names:
            what = f"the docstring describes {name}, which is not a parameter"
            problems.append(Problem(self.origin, "", what, "Remove it, or correct its name."))
        parameters: dict[str, Any] = {}
        readers: dict[str, Reader] = {}
        for slot in found:
            if slot.annotation is not NOTHING:
                parameters[slot.name] = self._parameter(slot, readers, problems)
        result, returns = self._result(problems)
        config = self._config(parameters, returns, problems)
        return Tool(
            config=config,
            function=self.function,
            is_async=inspect.iscoroutinefunction(self.function),
            injected=injected,
            requires_approval=self.declaration.requires_approval,
            check=self.declaration.check,
            preview=self.declaration.preview,
            origin=self.origin,
            source=source_of(self.function),
            readers=readers,
            write_result=result,
        )

    def _config(self, parameters: dict[str, Any], returns: Any, problems: list[Problem]) -> ToolConfig:
        words = {
            "tool_id": self.function.__name__,
            "description": self.said.description,
            "parameters": parameters,
            "returns": returns,
            **self.declaration.words,
        }
        if not self.said.description:
            mend = "Write a docstring; its first paragraph tells a model what the tool does."
            problems.append(Problem(self.origin, "", "has no description", mend))
            words["description"] = "missing"
        try:
            config = ToolConfig.model_validate(words)
        except ValidationError as error:
            raise ConfigError([*problems, *problems_in(error, self.origin)]) from None
        if wrong := replay_problem(config.replay, config.effects, self.declaration.check):
            problems.append(Problem(self.origin, "replay", *wrong))
        if problems:
            raise ConfigError(problems)
        return config

    def _parameter(self, slot: Slot, readers: dict[str, Reader], problems: list[Problem]) -> dict[str, Any]:
        place = f"{self.function.__name__}({slot.name})"
        placeholder = {"type": "string", "description": "missing"}
        if isinstance(slot.default, FieldInfo):
            mend = f"Write `{slot.name}: Annotated[{getattr(slot.annotation, '__name__', '…')}, Field(…)]`."
            problems.append(Problem(self.origin, place, "has a Field as its default", mend))
            return placeholder
        try:
            adapter: TypeAdapter[Any] = TypeAdapter(slot.annotation)
            fields = _fields(adapter, slot.default)
        except (PydanticUserError, ValueError, TypeError) as error:
            what = f"cannot be described to a model: {_first_line(error)}"
            problems.append(
                Problem(self.origin, place, what, "Use a type, and a default, that JSON can carry.")
            )
            return placeholder
        fields["description"] = fields.get("description") or self._description(slot.name, place, problems)
        if not _is_plain(slot.annotation):
            readers[slot.name] = partial(_read, adapter)
        return {**fields, "required": slot.default is NOTHING and "default" not in fields}

    def _description(self, name: str, place: str, problems: list[Problem]) -> str:
        if self.said.arguments is None:
            return f"The {name.replace('_', ' ').strip()}."
        if not self.said.arguments.get(name):
            problems.append(Problem(self.origin, place, "has no description", f"Add `{name}: …` under Args."))
        return self.said.arguments.get(name) or "missing"

    def _result(self, problems: list[Problem]) -> tuple[Reader | None, dict[str, Any] | None]:
        annotation = return_annotation(self.function)
        if annotation in (NOTHING, Any):
            return None, None
        try:
            adapter: TypeAdapter[Any] = TypeAdapter(annotation)
            schema = plain_schema(adapter.json_schema(mode="serialization"))
        except (PydanticUserError, ValueError, TypeError) as error:
            what = f"returns a type that JSON cannot carry: {_first_line(error)}"
            problems.append(
                Problem(self.origin, "return", what, "Return plain data, a dataclass or a model.")
            )
            return None, None
        return partial(_write, adapter), schema if schema.get("type") == "object" else None


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(".")


def _fields(adapter: TypeAdapter[Any], default: Any) -> dict[str, Any]:
    schema = plain_schema(adapter.json_schema())
    if default is NOTHING:
        return parameter_fields(schema)
    if default is None:
        return parameter_fields(_without_null(schema))
    written = adapter.dump_python(default, mode="json", by_alias=True, warnings=False)
    return {**parameter_fields(schema), "default": written}


def _read(adapter: TypeAdapter[Any], value: Any, *, strict: bool | None = None) -> Any:
    """Turn a JSON value into the type that an annotation asks for."""
    try:
        return adapter.validate_python(value, strict=strict)
    except ValidationError as error:
        raise ValueError("; ".join(detail["msg"] for detail in error.errors())) from None


def _write(adapter: TypeAdapter[Any], value: Any) -> Any:
    """Turn a returned value into JSON; strictly, so that a wrong type is not silently converted."""
    return adapter.dump_python(_read(adapter, value, strict=True), mode="json", by_alias=True)


_PLAIN_TYPES = (str, int, float, bool, type(None), list, dict, Any, object)
_PLAIN_ORIGINS = (list, dict, Sequence, Mapping, Union, UnionType)


def _is_plain(annotation: Any) -> bool:
    """Whether JSON values already are what the annotation asks for."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        described = all(isinstance(mark, FieldInfo) and not mark.metadata for mark in parts[1:])
        return described and _is_plain(parts[0])
    if origin is Literal:
        return not any(isinstance(option, Enum) for option in parts)
    if origin in _PLAIN_ORIGINS:
        return all(_is_plain(part) for part in parts)
    return annotation in _PLAIN_TYPES


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Take null out of a parameter whose default is None: leaving it out says the same."""
    if "anyOf" not in schema:
        return schema
    parts = [part for part in schema["anyOf"] if part != {"type": "null"}]
    others = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**parts[0], **others} if len(parts) == 1 else {**others, "anyOf": parts}
