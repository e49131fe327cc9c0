"""A tool as a class, for tools that keep state or are built at run time."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

from pydantic import ValidationError

from brasstag.toolkit.config.complaints import problems_in
from brasstag.toolkit.config.config import SCHEMA_WORDS, ToolConfig
from brasstag.toolkit.config.parameters import JSON_TYPES, parameter_fields
from brasstag.toolkit.declare.functions import class_source, origin_of, source_of
from brasstag.toolkit.plain_schema import plain_schema
from brasstag.toolkit.tool import RequiresApproval, Tool
from brasstag.words.calls import ToolResult
from brasstag.words.errors import Code, ConfigError, Problem, ToolError

_ROOT_WORDS = SCHEMA_WORDS | {"type", "definitions", "$schema"}


class ToolClass(ABC):
    """A tool with a name, a description, a parameter schema and one method that does the work."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The tool's id."""

    @property
    @abstractmethod
    def description(self) -> str:
        """What the tool does, for a model to read."""

    @property
    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """The schema of the arguments; ``create_json_schema`` makes one."""

    @abstractmethod
    def execute(self, arguments: dict[str, Any]) -> Awaitable[Any] | Any:
        """Do the work and return a ToolResult or any JSON value; define it with ``async def`` or ``def``."""

    @property
    def returns(self) -> dict[str, Any] | None:
        """The schema of a result, where the tool promises one."""
        return None

    @property
    def effects(self) -> Literal["none", "files", "external"]:
        """Where the tool acts; outside the workspace, unless a subclass says otherwise."""
        return "external"

    @property
    def requires_approval(self) -> RequiresApproval | None:
        """Whether a person has to approve a call: a fact, or a function of the arguments; None does not say."""
        return None

    @property
    def replay(self) -> Literal["safe", "ask"]:
        """Whether a call that a crash interrupted may simply run again."""
        return "ask"

    @property
    def aliases(self) -> tuple[str, ...]:
        """Other names the tool answers to."""
        return ()

    @property
    def limits(self) -> Mapping[str, Any]:
        """Fields of Limits that differ from the usual, such as ``timeout_seconds``."""
        return {}


def create_json_schema(properties: Mapping[str, Any], required: Iterable[str] = ()) -> dict[str, Any]:
    """Return an object schema for a tool's parameters; raises ConfigError where model servers would refuse it."""
    schema = {"type": "object", "properties": dict(properties), "required": list(required)}
    if problems := schema_problems(schema, "create_json_schema"):
        raise ConfigError(problems)
    return schema


def schema_problems(schema: Any, file: str) -> list[Problem]:
    """Return which of S3's rules a parameter schema breaks."""
    if not isinstance(schema, Mapping) or schema.get("type") != "object":
        mend = 'Use create_json_schema, or write {"type": "object", "properties": {…}}.'
        return [Problem(file, "parameters.type", 'the root is not "object"', mend)]
    mend = "Describe each property instead."
    found = [
        Problem(file, f"parameters.{word}", "is not supported at the root", mend)
        for word in sorted(schema.keys() - _ROOT_WORDS)
    ]
    if schema.get("additionalProperties", False) is not False:
        what = "would let unknown arguments through"
        found.append(Problem(file, "parameters.additionalProperties", what, "Remove it."))
    properties = schema.get("properties", {})
    for name, part in properties.items():
        place = f"parameters.properties.{name}"
        if (
            not isinstance(part, Mapping)
            or not {"type", "anyOf", "oneOf", "enum", "const", "$ref"} & part.keys()
        ):
            found.append(Problem(file, place, "has no type", 'Add "type", such as "string".'))
        elif not str(part.get("description", "")).strip():
            found.append(
                Problem(file, place, "has no description", 'Add "description" for the model to read.')
            )
        found += _wrong_types(part, place, file)
    found += [
        Problem(file, "parameters.required", f"names {name}, which is not a property", "Correct it.")
        for name in schema.get("required", ())
        if name not in properties
    ]
    return found


def _wrong_types(schema: Any, place: str, file: str) -> Iterator[Problem]:
    """Yield each type word, here and below, that is none of JSON's."""
    if not isinstance(schema, Mapping):
        return
    given = schema.get("type", [])
    words = given if isinstance(given, list | tuple) else [given]
    if any(word not in JSON_TYPES for word in words):
        mend = f"Use {', '.join(JSON_TYPES)}, or a list of these."
        yield Problem(file, f"{place}.type", f"{given!r} is not a JSON type", mend)
    for word in ("items", "additionalProperties"):
        yield from _wrong_types(schema.get(word), f"{place}.{word}", file)
    for word in ("anyOf", "oneOf", "allOf"):
        for index, part in enumerate(schema.get(word, ())):
            yield from _wrong_types(part, f"{place}.{word}[{index}]", file)
    for name, part in schema.get("properties", {}).items():
        yield from _wrong_types(part, f"{place}.properties.{name}", file)


def class_tool(instance: ToolClass) -> Tool:
    """Return the Tool an instance declares; raises ConfigError with everything wrong with it."""
    origin = origin_of(instance)
    if problems := schema_problems(instance.parameters, origin):
        raise ConfigError(problems)
    try:
        config = ToolConfig.model_validate(
            {
                "tool_id": instance.name,
                "description": instance.description,
                "parameters": _parameters(instance.parameters),
                "returns": instance.returns,
                "replay": instance.replay,
                "aliases": instance.aliases,
                "limits": instance.limits,
                **({} if _is_silent(instance) else {"effects": instance.effects}),
            }
        )
    except ValidationError as error:
        raise ConfigError(problems_in(error, origin)) from None
    is_async = inspect.iscoroutinefunction(instance.execute)
    return Tool(
        config=config,
        function=_async_run(instance) if is_async else _run(instance),
        is_async=is_async,
        requires_approval=instance.requires_approval,
        origin=origin,
        source=_sources(instance),
    )


def _sources(instance: ToolClass) -> str:
    """Return the texts of the files that a tool is made of: that of ``execute``, and those of its classes."""
    classes = (one for one in type(instance).__mro__ if issubclass(one, ToolClass))
    own = (one for one in classes if not one.__module__.startswith("brasstag."))
    return "\n".join(dict.fromkeys([source_of(instance.execute), *filter(None, map(class_source, own))]))


def _is_silent(instance: ToolClass) -> bool:
    """Say whether a class says nothing about where it acts."""
    return inspect.getattr_static(instance, "effects") is inspect.getattr_static(ToolClass, "effects")


def _parameters(schema: Mapping[str, Any]) -> dict[str, Any]:
    plain = plain_schema(schema)
    required = plain.get("required", ())
    found = {}
    for name, part in plain.get("properties", {}).items():
        fields = parameter_fields(part)
        if name in required:
            # A default beside "required" is only a hint there; a call must still give the argument.
            fields.pop("default", None)
        found[name] = {**fields, "required": name in required}
    return found


def _async_run(instance: ToolClass) -> Callable[..., Any]:
    async def run(**arguments: Any) -> Any:
        return output_of(await instance.execute(arguments))

    return run


def _run(instance: ToolClass) -> Callable[..., Any]:
    def run(**arguments: Any) -> Any:
        return output_of(instance.execute(arguments))

    return run


def output_of(returned: Any) -> Any:
    """Return the value in what ``execute`` gave back; a ToolResult without success becomes EXECUTION_ERROR."""
    if not isinstance(returned, ToolResult):
        return returned
    if returned.success:
        return returned.output
    message = returned.error or "the tool failed and did not say why"
    raise ToolError(Code.EXECUTION_ERROR, message, {"output": returned.output} if returned.output else None)
