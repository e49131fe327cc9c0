"""Agents: who can be given a task, with which instructions, model and limits."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from brasstag.settings import CrewSettings, RoleSettings
from brasstag.store.tasks.hints import OUTSIDE
from brasstag.toolkit.kinds import Action
from brasstag.toolkit.registry import ToolRegistry
from brasstag.words.errors import Code, ToolError
from brasstag.words.turns import Model, ModelError, Offer

DOCUMENT_SHARE = 0.25
"""How much of a small context window the documents that travel with a task may fill."""

FindModel = Callable[[str, str], Model]
"""Returns the model of a name, with a fallback where one is named."""


async def _known(_model: Model) -> None:
    """What fits into a model is known."""


def _no_models(name: str, _fallback: str) -> Model:
    raise ModelError(f"this room has no models, so not {name} either", Code.MODEL_NOT_CONFIGURED)


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which models a run was begun with, beside those of the settings."""

    model: str = ""
    """What a person named, for every role."""
    default: str = ""
    """What was found on this machine, for roles whose settings name none."""

    def as_json(self) -> dict[str, str]:
        """Return ``{model, default}``."""
        return {"model": self.model, "default": self.default}


OUTSIDE_MODEL = "outside"
"""The model of tasks whose turns a program outside takes: no model of this room answers in them."""

SERVICE = "service:"
"""How the model of a task begins whose role is served by code: ``service:module:function``."""

Service = Callable[[Any], Awaitable[Any]]
"""Code that works on the tasks of a role: it gets a context, and returns what the task hands off."""


@dataclass(slots=True)
class Agents:
    """The crew of a room."""

    roles: Mapping[str, RoleSettings] = field(default_factory=dict)
    crew: CrewSettings = field(default_factory=CrewSettings)
    find_model: FindModel = _no_models
    services: Mapping[str, Service] = field(default_factory=dict)
    """The code that serves a role in the place of a model, by role."""
    measure: Callable[[Model], Awaitable[None]] = _known
    """Finds out what fits into a model, where that is not known yet."""

    def role(self, name: str) -> RoleSettings:
        """Return a role of the crew; raise ToolError where there is none of this name."""
        found = self.roles.get(name)
        if found is None:
            raise ToolError(
                Code.UNKNOWN_ROLE,
                f"there is no role {name!r} in this crew; it has {', '.join(self.roles) or 'none'}",
                hint=""
                if self.roles
                else "add [roles.NAME] to brasstag.toml, or `brasstag init --crew analyst`",
            )
        return found

    def document_tokens(self, reader: Model | None) -> int:
        """Return how many tokens of documents go into the context of an agent that reads them with this model."""
        most = self.crew.document_tokens
        return most if reader is None else min(most, round(reader.context_tokens * DOCUMENT_SHARE))

    def model_name(self, role: str, chosen: Chosen) -> str:
        """Return what a role's tasks are answered by: what a person said for this run comes first, then the settings."""
        settings = self.role(role)
        if settings.service is not None:
            return f"{SERVICE}{settings.service}"
        return chosen.model or settings.model or self.crew.model or chosen.default

    def queue(self, model: str, above: str, own: str) -> str:
        """Return the queue of a task by its model; ``above`` is that of the task that opens it, ``own`` this process's."""
        if model == OUTSIDE_MODEL:
            return OUTSIDE
        return own if above == OUTSIDE else above

    def model(self, name: str, role: str) -> Model:
        """Return the model of a task; raise ToolError where its role is gone, ModelError where no model can answer."""
        if not name:
            raise ModelError(
                f"no model is set for {role}",
                Code.MODEL_NOT_CONFIGURED,
                hint="name one in brasstag.toml ([crew] model = …), with --model, or set a key such as OPENAI_API_KEY",
            )
        if name == OUTSIDE_MODEL or name.startswith(SERVICE):
            what = "a program outside takes its turns" if name == OUTSIDE_MODEL else "code serves this role"
            raise ModelError(f"no model answers for {role}: {what}", Code.MODEL_NOT_CONFIGURED)
        # ``role`` raises if the role was removed after its task was opened.
        fallback = self.role(role).fallback_model or self.crew.fallback_model or ""
        return self.find_model(name, "" if fallback == name else fallback)


def offers(registry: ToolRegistry, usable: Callable[[str], bool]) -> tuple[Offer, ...]:
    """Return the tools a model is offered, in a fixed order, so that a provider's prompt cache keeps hitting."""
    tools = sorted(registry.list(), key=lambda tool: tool.name)
    return tuple(
        Offer(tool.name, tool.config.description, tool.config.input_schema())
        for tool in tools
        if usable(tool.name) and tool.config.behaviour.action is not Action.ENTER
    )
