"""The crew: who its agents are, what each may use, to whom it gives work, and the limits of all."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, PlainValidator, StrictBool, model_validator

from brasstag.settings.problems import refusal
from brasstag.settings.sections import Count, Section, Sentence
from brasstag.words.budgets import AMOUNT, COUNT, Bound, Budget
from brasstag.words.errors import Problem

OPERATOR = "operator"
"""The built-in role of the person who calls tools directly; it may use every tool."""

PERSON = "person"
"""The person who answers a question when no agent above the asker can answer it."""

ROUTE = "route_to_"
"""How the name of a tool begins that gives a task to a role."""

ROLE_BUDGET = Budget(max_steps=50, max_children=20)
"""How far one task of a role goes where its role does not say."""

RUN_BUDGET = Budget(max_steps=500, max_depth=6)
"""How far a whole run goes where the crew does not say."""

_NAME = re.compile(r"[a-z][a-z0-9_]{0,54}")
_SERVICE = re.compile(r"[A-Za-z]\w*:[A-Za-z_]\w*")
_RESERVED = {
    OPERATOR: "is built in and may use every tool",
    PERSON: "stands for the people whom agents ask",
}

_INSTEAD = {
    OPERATOR: "Name the role of an agent; the operator is you.",
    PERSON: "Remove it; every role can ask people, with ask_master.",
}


def route_name(role: str) -> str:
    """Return the name of the tool that gives a task to a role."""
    return f"{ROUTE}{role}"


def _role_name(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise refusal(
            f"{value!r} cannot name a role, as {route_name(value)} could not name a tool",
            "Use lower-case letters, digits and _, beginning with a letter, 55 at most.",
        )
    if value in _RESERVED:
        raise refusal(_RESERVED[value], "Choose another name for this role.")
    return value


def _within(bound: Bound) -> PlainValidator:
    def check(value: Any) -> Any:
        reason = bound.why_not(value)
        if reason is not None:
            raise refusal(reason, bound.mend)
        return value

    return PlainValidator(check)


def _service(value: str) -> str:
    if not _SERVICE.fullmatch(value):
        raise refusal(
            f"is {value!r}, which names no function",
            'Write "module:function" for async def function in tools/module.py.',
        )
    return value


RoleName = Annotated[str, AfterValidator(_role_name)]
_Count = Annotated[int, _within(COUNT)]
_Amount = Annotated[float, _within(AMOUNT)]


class BudgetSettings(Section):
    """How far a task, or a whole run, may go; a limit that is left out is the usual one."""

    home = "[crew.budget] or [roles.NAME.budget]"

    max_steps: _Count | None = None
    """Turns of the model."""
    max_tokens: _Count | None = None
    max_cost: _Amount | None = None
    """Dollars."""
    max_depth: _Count | None = None
    """How many tasks may stand above one another."""
    max_children: _Count | None = None
    """How many tasks one task may open."""
    max_seconds: _Amount | None = None
    """Time spent by models and tools; waiting is free."""

    def over(self, usual: Budget) -> Budget:
        """Return the usual limits with those given here in their place."""
        given = {
            name: value for name in type(self).model_fields if (value := getattr(self, name)) is not None
        }
        if self.max_cost is not None:
            given["max_dollars"] = given.pop("max_cost")
        return replace(usual, **given)


class RoleSettings(Section):
    """Who an agent is: its instructions, its model, its tools, whom it may give work to."""

    home = "[roles.NAME]"

    description: str = ""
    """One sentence for the roles that may give it work."""
    instructions: str = ""
    """What it is told before any task."""
    model: Sentence | None = None
    """Its own model; where it has none, the crew's model is used."""
    fallback_model: Sentence | None = None
    service: Annotated[str, AfterValidator(_service)] | None = None
    """Code in the project's ``tools/`` that works on its tasks in the place of a model: ``module:function``."""
    service_replay: Literal["safe", "ask"] = "ask"
    """Whether a service whose process died may simply begin again."""
    tools: tuple[Sentence, ...] = ()
    """Tool names or aliases; ``"*"`` is every tool."""
    delegates_to: tuple[Sentence, ...] = ()
    """The roles it may give tasks to."""
    archetype: str = ""
    """What kind of worker it is; prompt tools for this archetype are shown to it first."""
    skip_tool_catalog: StrictBool = False
    """Whether the catalog of prompt tools is left out of its context."""
    skip_tools: StrictBool = False
    """Whether its callable tools are left out as well, so that it only answers."""
    evidence: StrictBool = False
    """Whether a task of it ends only with a reply whose evidence holds."""
    budget: BudgetSettings = BudgetSettings()

    @model_validator(mode="after")
    def _has_one_mind(self) -> Self:
        if self.service is not None and (self.model is not None or self.fallback_model is not None):
            raise refusal("has a service and a model", "Keep one of the two.")
        return self

    @property
    def limits(self) -> Budget:
        """How far one task of this role may go."""
        return self.budget.over(ROLE_BUDGET)


class CrewSettings(Section):
    """What all roles share, and which role takes a person's requests."""

    home = "[crew]"

    lead: Sentence = "lead"
    model: Sentence | None = None
    """The crew's model; where none is given, one is chosen when a run starts."""
    fallback_model: Sentence | None = None
    document_tokens: Count = 20_000
    """How much of the documents that travel with a task is put whole into its context."""
    concurrency: Count = 8
    """How many tasks may run at once."""
    evidence_tries: Count = 3
    """How many replies whose evidence does not hold end a task of a role that is bound to give evidence."""
    budget: BudgetSettings = BudgetSettings()

    @property
    def limits(self) -> Budget:
        """How far a whole run may go."""
        return self.budget.over(RUN_BUDGET)


def unknown_roles(found: Mapping[str, Any], file: str) -> Iterator[Problem]:
    """Yield a problem for each role the file names but does not have.

    Takes the file as it was parsed, so that these are told together with whatever else is wrong in it.
    """
    roles = table(found.get("roles"))
    lead = table(found.get("crew")).get("lead")
    if isinstance(lead, str) and lead.strip() and lead not in roles:
        yield _unknown(file, "crew.lead", lead, roles)
    for name, role in roles.items():
        delegates = table(role).get("delegates_to")
        for index, other in enumerate(delegates if isinstance(delegates, list) else ()):
            if isinstance(other, str) and other.strip() and other not in roles:
                yield _unknown(file, f"roles.{name}.delegates_to[{index}]", other, roles)


def readable_roles(found: Mapping[str, Any]) -> dict[str, RoleSettings]:
    """Return the roles of a file that cannot be used, with what can be read of their tools and delegates."""
    return {
        name: RoleSettings.model_construct(
            tools=_texts(role.get("tools")), delegates_to=_texts(role.get("delegates_to"))
        )
        for name, role in table(found.get("roles")).items()
        if isinstance(role, dict) and _NAME.fullmatch(name)
    }


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def table(value: Any) -> Mapping[str, Any]:
    """Return a table of the file; an empty one where something else stands there."""
    return value if isinstance(value, dict) else {}


def _unknown(file: str, place: str, name: str, roles: Mapping[str, Any]) -> Problem:
    known = f"Name one of {', '.join(roles)}, or add" if roles else "Add"
    mend = _INSTEAD.get(name, f"{known} [roles.{name}].")
    return Problem(file, place, f"{name!r} is not a role in this file", mend)
