"""Tool: a config and a function, with checks of arguments and results; every declaration becomes one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from brasstag.toolkit.arguments.arguments import (
    MOST_BYTES,
    Completion,
    Validator,
    ValueTooLarge,
    compiled,
    completion,
    own,
)
from brasstag.toolkit.arguments.sentences import ArgumentError, errors_in
from brasstag.toolkit.config.config import ToolConfig
from brasstag.words.canonical import sha256, stored_json, why_not_json
from brasstag.words.errors import Code, ToolError
from brasstag.words.previews import Preview

INJECTABLE = frozenset(
    {
        "workspace",
        "task_id",
        "call_id",
        "role",
        "limits",
        "history",
        "models",
        "web",
        "judge",
        "confined",
        "ripgrep",
        "module_jobs",
        "adviser",
        "annotate",
        "library",
        "prompts",
    }
)
"""What the engine hands to a function beside its arguments; never part of a schema."""

Reader = Callable[[Any], Any]
"""Turns a JSON value into what the function's annotation says, or back; raises where it cannot."""

RequiresApproval = bool | Callable[[Mapping[str, Any]], bool]

Looks = Callable[[Mapping[str, Any]], Preview]
"""Says from validated arguments alone what a call would do outside the workspace; raises ToolError where it would fail."""

_LONGEST_REASON = 300


def runs_no_code() -> None:
    """Stand for the function of a tool that has none."""


@dataclass(frozen=True, eq=False)
class Tool:
    """A tool as the engine knows it, however it was declared."""

    config: ToolConfig
    function: Callable[..., Any] = runs_no_code
    """For kinds that run no code, one that is never called."""
    is_async: bool = False
    injected: frozenset[str] = frozenset()
    requires_approval: RequiresApproval | None = None
    """S2's own setting for approval; a callable gets the validated arguments."""
    check: Callable[..., Any] | None = None
    """Says after a crash whether the call had happened; only with ``replay="check"``."""
    preview: Looks | None = None
    """For a tool that acts outside: what a call would do there; without it a preview cannot see that."""
    origin: str = ""
    """Where the tool was declared, for people."""
    source: str = field(default="", repr=False)
    """The text of the file the function came from, or for a shipped tool its release; it is part of the version."""
    readers: Mapping[str, Reader] = field(default_factory=dict, repr=False)
    """By argument: how to make the Python value a function's annotation asks for."""
    write_result: Reader | None = field(default=None, repr=False)
    """How to turn what the function returns into JSON."""

    @property
    def name(self) -> str:
        """The tool's id."""
        return self.config.tool_id

    @cached_property
    def version(self) -> str:
        """A digest of the config and the code; an approval given to one version is void for another."""
        said = self.config.model_dump(mode="json")
        if not said["text"]:
            # A config of an earlier release could not say it; its approvals go on counting.
            del said["text"]
        config = stored_json(said)
        return sha256(f"{config}\n{self.source}".encode(errors="surrogatepass"))

    @property
    def runs_code(self) -> bool:
        """Whether it runs code that a caller wrote."""
        return self.config.effects == "code"

    @property
    def may_run_again(self) -> bool:
        """Whether a call cut off while it acted may simply run again; for code, ``replay`` is about drafts only."""
        return self.config.replay == "safe" and not self.runs_code

    def foresee(self, arguments: Mapping[str, Any]) -> Preview:
        """Return what the tool says a call would do, without running it; raises whatever its author's code raises.

        A tool without a preview counts as acting outside, unseen. Code runs something, and reaches the web only if it
        says so.
        """
        said = Preview(external=not self.runs_code) if self.preview is None else self.preview(arguments)
        return replace(said, runs=(self.name,)) if self.runs_code and not said.runs else said

    def only_drafts(self, foreseen: Preview) -> bool:
        """Say whether a call runs only on a draft: what it changes is known, and judged, once it has run.

        Code that reaches the web acts there, so it is no draft; what is saved comes by a way that is safe to repeat.
        """
        return not foreseen.external if self.runs_code else bool(foreseen.saves)

    def validate(self, arguments: Any) -> dict[str, Any]:
        """Return the arguments of a call as the tool takes them, or raise INVALID_ARGUMENTS with all that is wrong.

        Aliases become names, defaults are filled in, and null for an optional argument that cannot be null counts
        as not given, because strict exports leave a model no other way to say so.
        """
        given = self._own_arguments(arguments)
        completed = self._completion.of(given) if self._completion else given
        if not self._input.is_valid(completed):
            self._refuse(errors_in(self._input, self._input_schema, completed))
        if self.readers:
            self._refuse(self._unreadable(completed))
        return completed

    def python_arguments(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return validated arguments under their Python names, as the values the annotations ask for."""
        names = self.config.python_names
        return {
            names[name]: self.readers[name](value) if name in self.readers else value
            for name, value in arguments.items()
        }

    def check_result(self, value: Any) -> Any:
        """Return what a function gave back as plain JSON, or raise INVALID_RESULT where it is not what was promised."""
        most = self.config.limits.max_result_bytes
        try:
            written = own(self.write_result(value) if self.write_result else value, most)
        except ValueTooLarge:
            raise self._bad_result(f"is larger than {most} bytes") from None
        except Exception as error:  # noqa: BLE001 - the types of a tool's author may raise anything
            said = str(error)[:_LONGEST_REASON]
            raise self._bad_result(f"is not what its annotation says: {said}") from None
        if reason := why_not_json(written):
            raise self._bad_result(f"is not JSON: {reason}")
        if self._output and not self._output.is_valid(written):
            wrong = errors_in(self._output, self.config.output_schema() or {}, written)
            raise self._bad_result(f"is not what its config promises: {_sentence(wrong)}", wrong)
        return written

    @cached_property
    def _input_schema(self) -> dict[str, Any]:
        return self.config.input_schema()

    @cached_property
    def _input(self) -> Validator:
        return compiled(self._input_schema)

    @cached_property
    def _completion(self) -> Completion | None:
        return completion(self._input_schema)

    @cached_property
    def _output(self) -> Validator | None:
        schema = self.config.output_schema()
        return compiled(schema) if schema else None

    def _own_arguments(self, arguments: Any) -> dict[str, Any]:
        if not isinstance(arguments, Mapping):
            wanted = 'an object such as {"name": "value"}'
            self._refuse([ArgumentError("the arguments", f"are a {type(arguments).__name__}", wanted)])
        try:
            given = own(arguments)
        except ValueTooLarge:
            problem = f"are larger than {MOST_BYTES // (1024 * 1024)} MiB"
            self._refuse([ArgumentError("the arguments", problem, "less; put large content into files")])
        if reason := why_not_json(given):
            self._refuse([ArgumentError("the arguments", f"are not JSON: {reason}")])
        return self._named(given) if self.config.argument_names else given

    def _named(self, given: dict[str, Any]) -> dict[str, Any]:
        named: dict[str, Any] = {}
        spelled: dict[str, str] = {}
        for key, value in given.items():
            name = self.config.argument_names.get(key, key)
            if name in named:
                problem = f"is given twice, as {spelled[name]} and {key}"
                self._refuse([ArgumentError(name, problem, "one of the two")])
            named[name], spelled[name] = value, key
        return named

    def _unreadable(self, arguments: Mapping[str, Any]) -> list[ArgumentError]:
        found = []
        for name, read in self.readers.items():
            if name in arguments:
                try:
                    read(arguments[name])
                except Exception as error:  # noqa: BLE001 - the types of a tool's author may raise anything
                    found.append(ArgumentError(name, f"cannot be used: {str(error)[:_LONGEST_REASON]}"))
        return found

    def _refuse(self, errors: list[ArgumentError]) -> None:
        if errors:
            message = f"{self.name}: {_sentence(errors)}"
            raise ToolError(
                Code.INVALID_ARGUMENTS, message, {"errors": [error.as_json() for error in errors]}
            )

    def _bad_result(self, what: str, errors: list[ArgumentError] | None = None) -> ToolError:
        details = {"errors": [error.as_json() for error in errors]} if errors else None
        return ToolError(Code.INVALID_RESULT, f"the result of {self.name} {what}", details)


def _sentence(errors: list[ArgumentError]) -> str:
    return ". ".join(str(error).rstrip(".") for error in errors)
