"""What tests of models have in common."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from brasstag.models.address import destination
from brasstag.models.provider.provider import ProviderModel
from brasstag.words.messages import Message, System, Text, User
from brasstag.words.turns import Model, Offer, Turn, TurnRequest

READ = Offer(
    "read_file",
    "Read a file.",
    {
        "type": "object",
        "properties": {"path": {"type": "string"}, "start_line": {"type": "integer"}},
        "required": ["path"],
        "additionalProperties": False,
    },
)


def asking(*messages: Message, offers: tuple[Offer, ...] = (READ,), **more: object) -> TurnRequest:
    """A request with these messages, or with a plain question."""
    shown = messages or (System("You are terse."), User((Text("What is in notes.md?"),)))
    return TurnRequest(shown, offers, **more)  # type: ignore[arg-type]


async def turn_of(model: Model, request: TurnRequest | None = None) -> tuple[Turn, list[str]]:
    """Ask for a turn; also return the text as it was streamed."""
    heard: list[str] = []
    turn = await model.respond(request or asking(), heard.append)
    return turn, heard


@asynccontextmanager
async def compatible(url: str, name: str = "m", **more: object) -> AsyncIterator[ProviderModel]:
    """A model behind a server of OpenAI's protocol."""
    model = ProviderModel(destination(f"openai-compatible:{name}@{url}/v1", {}), **more)  # type: ignore[arg-type]
    try:
        yield model
    finally:
        await model.close()


@asynccontextmanager
async def anthropic(name: str = "claude-sonnet-5-5", **more: object) -> AsyncIterator[ProviderModel]:
    """A model of Anthropic's, wherever ANTHROPIC_BASE_URL says."""
    model = ProviderModel(destination(f"anthropic:{name}", {}), **more)  # type: ignore[arg-type]
    try:
        yield model
    finally:
        await model.close()


def written(folder: Path, name: str, text: str) -> Path:
    """A file with this text."""
    file = folder / name
    file.write_text(text)
    return file
