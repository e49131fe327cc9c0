"""Agents: who can be given a task, with which instructions, model and limits."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from brasstag.settings import CrewSettings, RoleSettings
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


@dataclass(slots=True)
class Agents:
    """The crew of a room."""

    roles: Mapping[str, RoleSettings] = field(default_factory=dict)
    crew: CrewSettings = field(default_factory=CrewSettings)
    find_model: FindModel = _no_models
    measure: Callable[[Model], Awaitable[None]] = _known
    """Finds out what fits into a model, where that is not known yet."""

    def role(self, name: str) -> RoleSettings:
        """Return a role of the crew; raise ToolError where there is none of this name."""
        found = self.roles.get(name)
        if found is None:
            known = (
                ", ".join(self.roles)
                or "none; add [roles.NAME] to brasstag.toml, or `brasstag init --crew analyst`"
            )
            raise ToolError(Code.UNKNOWN_ROLE, f"there is no role {name!r} in this crew; it has {known}")
        return found

    def document_tokens(self, reader: Model | None) -> int:
        """Return how many tokens of documents go into the context of an agent that reads them with this model."""
        most = self.crew.document_tokens
        return most if reader is None else min(most, round(reader.context_tokens * DOCUMENT_SHARE))

    def model_name(self, role: str, chosen: Chosen) -> str:
        """Return what a role's tasks are answered by: what a person said for this run comes first, then the settings."""
        return chosen.model or self.role(role).model or self.crew.model or chosen.default

    def model(self, name: str, role: str) -> Model:
        """Return the model of a task; raise ToolError where its role is gone, ModelError where no model can answer."""
        if not name:
            raise ModelError(
                "no model is set: name one in brasstag.toml ([crew] model = …), with --model, or set a key such as "
                "OPENAI_API_KEY; `brasstag demo` needs none",
                Code.MODEL_NOT_CONFIGURED,
            )
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
