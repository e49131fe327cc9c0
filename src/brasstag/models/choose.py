"""Choose a model where none is set, and say why in words that can be printed."""

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from brasstag.models.destinations import LOCAL_NAMES, LOCAL_PORTS, local_url, other_openai
from brasstag.models.failures import HOW_TO_SET_UP
from brasstag.models.local.probe import LocalServer, look_around, models_of

Look = Callable[[Mapping[str, str], tuple[str, ...]], Awaitable[Sequence[LocalServer]]]

DEFAULT_MODELS: Mapping[str, str] = {
    "OPENAI_API_KEY": "openai:gpt-5.5",
    "ANTHROPIC_API_KEY": "anthropic:claude-sonnet-5-5",
    "GEMINI_API_KEY": "google:gemini-flash-latest",
    "GOOGLE_API_KEY": "google:gemini-flash-latest",
    "OPENROUTER_API_KEY": "openrouter:anthropic/claude-sonnet-5.5",
}
"""The model for each provider's key; the first key that the environment has decides."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A model, or none, and why."""

    model: str | None
    """As in settings."""
    why: str
    needs_consent: bool = False
    """Whether a person must agree first: no person has named this model, it was merely there."""


async def choose(
    explicit: str | None = None, environ: Mapping[str, str] = os.environ, look: Look = look_around
) -> Choice:
    """Return the model that was named, else one the environment has a key for, else one that runs on this machine.

    Raises ModelError where the environment names a server by something that is no address.
    """
    if explicit:
        return Choice(explicit, "it was named")
    return await _from_environment(environ, look) or await _from_this_machine(environ, look) or _nothing()


async def _from_environment(environ: Mapping[str, str], look: Look) -> Choice | None:
    if url := other_openai(environ):
        return await _from_base_url(url, environ.get("OPENAI_API_KEY", ""))
    for variable, model in DEFAULT_MODELS.items():
        if environ.get(variable):
            return Choice(model, f"{variable} is set")
    if environ.get("AZURE_OPENAI_API_KEY"):
        return _from_azure(environ.get("AZURE_OPENAI_DEPLOYMENT"))
    for kind in LOCAL_PORTS:
        for variable in (f"{kind.upper()}_BASE_URL", f"{kind.upper()}_HOST"):
            if environ.get(variable):
                return await _from_variable(kind, variable, environ, look)
    return None


async def _from_base_url(url: str, key: str) -> Choice:
    try:
        models = await models_of(url, key)
    except (ImportError, LookupError, TypeError, ValueError):
        models = []
    if models:
        return Choice(
            f"openai:{models[0]}", f"OPENAI_BASE_URL is set, and {models[0]} is the first model there"
        )
    return Choice(
        None, "OPENAI_BASE_URL is set, but the server there names no model; name one yourself: openai:NAME"
    )


def _from_azure(deployment: str | None) -> Choice:
    if deployment:
        return Choice(f"azure:{deployment}", "AZURE_OPENAI_API_KEY and AZURE_OPENAI_DEPLOYMENT are set")
    return Choice(None, "AZURE_OPENAI_API_KEY is set; say which deployment to use: azure:NAME")


async def _from_variable(kind: str, variable: str, environ: Mapping[str, str], look: Look) -> Choice:
    for found in await look(environ, (kind,)):
        return Choice(found.address, f"{variable} is set, and {_described(found)}")
    name, url = LOCAL_NAMES[kind], local_url(kind, environ)
    return Choice(
        None, f"{variable} is set, but no {name} with a model answers at {url}; start it, and load a model"
    )


async def _from_this_machine(environ: Mapping[str, str], look: Look) -> Choice | None:
    for found in await look(environ, tuple(LOCAL_PORTS)):
        return Choice(found.address, _described(found), needs_consent=True)
    return None


def _described(found: LocalServer) -> str:
    tools = {
        True: "",
        False: "; it does not call tools itself, so they are described to it in words",
        None: "; whether it calls tools reliably, a trial call will show",
    }
    return f"{LOCAL_NAMES[found.kind]} at {found.url} has {found.model}{tools[found.calls_tools]}"


def _nothing() -> Choice:
    return Choice(
        None,
        "no model is set up: there is no key in the environment, and no model server on this machine. "
        f"{HOW_TO_SET_UP}\nOr see everything but a live model with `brasstag demo`.",
    )
