"""ToolConfig: a tool's words, limits and approval, as its JSON file says them."""

from collections.abc import Mapping
from copy import deepcopy
from functools import cached_property
from keyword import iskeyword
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictInt,
    StringConstraints,
    model_validator,
)

from brasstag.toolkit.arguments.arguments import Validator, compiled
from brasstag.toolkit.arguments.sentences import errors_in
from brasstag.toolkit.config.complaints import Complaint, refusal, refuse
from brasstag.toolkit.config.parameters import JSON_TYPES, ArgumentName, Parameter, Sentence, object_schema
from brasstag.toolkit.kinds import BEHAVIOUR, Behaviour, ToolType
from brasstag.toolkit.plain_schema import plain_schema
from brasstag.words.calls import ResultForm
from brasstag.words.canonical import why_not_json
from brasstag.words.verdicts import Condition

ToolName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
Effects = Literal["none", "files", "code", "external"]
Replay = Literal["safe", "check", "ask"]
Approval = Literal["auto", "confirm", Condition]

_SHARE_TO_WORK = 0.8
SCHEMA_WORDS = frozenset({"properties", "required", "additionalProperties", "description", "title", "$defs"})
"""What the schema of an object may say beside its type."""


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Limits(_Frozen):
    """How long a tool may run and how much it may answer."""

    timeout_seconds: Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)] = 30
    max_result_bytes: Annotated[StrictInt, Field(gt=0)] = 2_000_000
    numbers: dict[ArgumentName, StrictInt] = {}
    """The tool's own limits, by name; it gets them as the injected ``limits``."""

    @property
    def working_seconds(self) -> float:
        """The time a tool may use: so it ends itself shortly before it would be stopped, and says how far it came."""
        return self.timeout_seconds * _SHARE_TO_WORK


class Example(_Frozen):
    """A call that shows how the tool is meant."""

    arguments: dict[str, Any]
    note: str = ""


def _returns(given: dict[str, Any]) -> dict[str, Any]:
    """Read S1's shorthand ``{"path": "string"}``, or take a JSON schema whose root is an object."""
    if given.get("type") == "object" and given.keys() - {"type"} <= SCHEMA_WORDS:
        schema = plain_schema(given)
    elif given and all(isinstance(kind, str) and kind in JSON_TYPES for kind in given.values()):
        schema = {
            "type": "object",
            "properties": {name: {"type": kind} for name, kind in given.items()},
            "required": list(given),
            "additionalProperties": False,
        }
    else:
        mend = 'Write {"field": "string", …}, or a JSON schema with "type": "object".'
        raise refusal(Complaint("", "is neither names with their types nor the schema of an object", mend))
    compiled(schema)
    return schema


def _one_or_many(given: Any) -> Any:
    return [given] if isinstance(given, str) else given


class ToolConfig(_Frozen):
    """Everything about a tool but its code."""

    tool_id: ToolName
    description: Sentence
    type: ToolType = ToolType.FUNCTION_TOOL
    parameters: dict[ArgumentName, Parameter] = {}
    returns: Annotated[dict[str, Any], AfterValidator(_returns)] | None = None
    approval: Approval | None = None
    """Whether the tool itself wants a person's approval for its calls; rules may say more."""
    effects: Effects = "external"
    """``none`` only reads the workspace, ``files`` changes it only through the injected draft, ``code`` runs programs
    confined on a layer over it, ``external`` acts where a preview cannot see."""
    replay: Replay = "ask"
    """Whether a call that a crash interrupted may simply run again."""
    text: Annotated[tuple[ArgumentName, ...], BeforeValidator(_one_or_many)] = ()
    """The fields of a result that are its text, for views that show a text; the whole result stays beside it."""
    limits: Limits = Limits()
    aliases: tuple[ToolName, ...] = ()
    examples: tuple[Example, ...] = ()

    @cached_property
    def behaviour(self) -> Behaviour:
        """The row of the behaviour table for this tool's kind."""
        return BEHAVIOUR[self.type]

    @property
    def says_effects(self) -> bool:
        """Whether it says where the tool acts, or leaves that open."""
        return "effects" in self.model_fields_set

    @property
    def title(self) -> str:
        """The name as people read it."""
        return self.tool_id.replace("_", " ").capitalize()

    def input_schema(self) -> dict[str, Any]:
        """Return the schema of a call's arguments: what is exported is what is checked."""
        return object_schema(self.parameters)

    def output_schema(self) -> dict[str, Any] | None:
        """Return the schema of a result, or None where the config promises nothing."""
        return deepcopy(self.returns)

    @cached_property
    def result_form(self) -> ResultForm:
        """How its results are shown."""
        return ResultForm(self.text, self.returns)

    @cached_property
    def argument_names(self) -> Mapping[str, str]:
        """Every alias of an argument, with the name it stands for."""
        return {alias: name for name, parameter in self.parameters.items() for alias in parameter.aliases}

    @cached_property
    def python_names(self) -> Mapping[str, str]:
        """Every argument's name in the Python signature."""
        return {name: parameter.python_name or name for name, parameter in self.parameters.items()}

    @model_validator(mode="before")
    @classmethod
    def _no_code_no_effects(cls, given: Any) -> Any:
        # Only code can act; a kind without code cannot have effects, so it need not say so.
        if isinstance(given, dict) and "effects" not in given and given.get("type") in _WITHOUT_CODE:
            return {**given, "effects": "none"}
        return given

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        refuse([*self._double_names(), *self._wrong_for_kind(), *self._wrong_text()])
        refuse(self._wrong_examples(compiled(self.input_schema())))
        return self

    def _double_names(self) -> list[Complaint]:
        found = []
        if self.tool_id in self.aliases or len(set(self.aliases)) < len(self.aliases):
            found.append(Complaint("aliases", "holds a name twice", "Keep each name once."))
        owners: dict[str, str] = {name: name for name in self.parameters}
        for name, parameter in self.parameters.items():
            for alias in parameter.aliases:
                if alias in owners:
                    what = f"{alias!r} already stands for {owners[alias]}"
                    found.append(Complaint(f"parameters.{name}.aliases", what, "Choose another alias."))
                owners[alias] = name
        python: dict[str, str] = {}
        for name, spelled in self.python_names.items():
            if spelled in python:
                what = f"{spelled!r} is also the Python name of {python[spelled]}"
                found.append(Complaint(f"parameters.{name}.python_name", what, "Choose another name."))
            python[spelled] = name
            if self.parameters[name].python_name and iskeyword(spelled):
                what = f"{spelled!r} is a word of Python"
                found.append(Complaint(f"parameters.{name}.python_name", what, "Choose another name."))
        return found

    def _wrong_text(self) -> list[Complaint]:
        promised = (self.returns or {}).get("properties", {})
        return [
            Complaint("text", f"{name!r} is not a field of returns", "Name a field that a result has.")
            for name in self.text
            if name not in promised
        ]

    def _wrong_for_kind(self) -> list[Complaint]:
        found = []
        if not self.behaviour.executes_code and self.effects != "none":
            what = f"a {self.type} runs no code, so it has no effects of its own"
            found.append(Complaint("effects", what, 'Remove it, or write "none".'))
        documents = self.parameters.get("documents")
        if self.behaviour.passes_documents and documents:
            texts = documents.items and documents.items.types == ("string",)
            if documents.types != ("array",) or not texts or documents.required:
                what = "must be an optional array of workspace paths"
                mend = 'Write "type": "array", "items": {"type": "string"}, without "required".'
                found.append(Complaint("parameters.documents", what, mend))
        return found

    def _wrong_examples(self, validator: Validator) -> list[Complaint]:
        found: list[Complaint] = []
        for index, example in enumerate(self.examples):
            reason = why_not_json(example.arguments)
            wrong = [reason] if reason else errors_in(validator, self.input_schema(), example.arguments)
            place, mend = f"examples[{index}].arguments", "Correct the example, or the parameters."
            found += [Complaint(place, str(what), mend) for what in wrong]
        return found


_WITHOUT_CODE = frozenset(kind.value for kind in ToolType if not BEHAVIOUR[kind].executes_code)
