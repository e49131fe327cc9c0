"""ModelPool: every model of a room, made once and kept until the room closes."""

import os
from collections.abc import Mapping
from pathlib import Path

from brasstag.models.address import model_at
from brasstag.models.destinations import Destination, Fetch
from brasstag.models.provider.provider import ProviderModel, no_pictures
from brasstag.models.retry import RetryingModel
from brasstag.words.messages import Text, User
from brasstag.words.turns import Model, Turn, TurnRequest


class ModelPool:
    """Hands out models by address; tools that want a second opinion ask through it."""

    def __init__(
        self, fetch: Fetch = no_pictures, environ: Mapping[str, str] = os.environ, folder: Path = Path()
    ) -> None:
        self._fetch = fetch
        self._environ = environ
        self._folder = folder
        self._models: dict[tuple[str, str], Model] = {}
        self._behind: dict[Model, list[ProviderModel]] = {}

    def model(self, address: str, fallback: str = "") -> Model:
        """Return the model at an address, with retries and a fallback; raises ModelError where there is none."""
        kept = self._models.get((address, fallback))
        if kept is None:
            live: list[ProviderModel] = []
            second = self._at(fallback, live) if fallback else None
            kept = self._models[address, fallback] = RetryingModel(self._at(address, live), second)
            self._behind[kept] = live
        return kept

    async def open(self, model: Model) -> None:
        """Set up all that a model of this pool needs; raises ModelError where a key or a package is missing."""
        for live in self._behind.get(model, ()):
            await live.open()

    async def measure(self, model: Model) -> None:
        """Find out how many tokens fit into a model of this pool, if its server tells."""
        for live in self._behind.get(model, ()):
            await live.measure()

    def guesses(self, model: Model) -> bool:
        """Say whether it is unknown how many tokens fit into a model of this pool."""
        return any(live.is_guessed for live in self._behind.get(model, ()))

    async def ask(self, model: str, prompt: str) -> Turn:
        """Ask one question outside any task."""
        request = TurnRequest(messages=(User((Text(prompt),)),))
        return await self.model(model).respond(request, lambda _text: None)

    async def close(self) -> None:
        """Close every connection that was opened in this event loop."""
        for behind in self._behind.values():
            for live in behind:
                await live.close()

    def _at(self, address: str, live: list[ProviderModel]) -> Model:
        def call(to: Destination, name: str) -> Model:
            live.append(ProviderModel(to, self._fetch, name=name))
            return live[-1]

        return model_at(address, call, self._environ, self._folder)
