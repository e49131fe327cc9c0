"""The rack: every model of a room, made once and kept until the room closes."""

import os
from collections.abc import Mapping
from pathlib import Path

from brasstag.models.addressing import model_at
from brasstag.models.destinations import Destination, Fetch
from brasstag.models.provider import ProviderModel, no_pictures
from brasstag.models.retrying import RetryingModel
from brasstag.words.messages import Text, User
from brasstag.words.turns import Model, Turn, TurnRequest


class Rack:
    """Hands out models by address; tools that want a second opinion ask through it."""

    def __init__(
        self, fetch: Fetch = no_pictures, environ: Mapping[str, str] = os.environ, folder: Path = Path()
    ) -> None:
        self._fetch = fetch
        self._environ = environ
        self._folder = folder
        self._models: dict[tuple[str, str], Model] = {}
        self._live: list[ProviderModel] = []

    def model(self, address: str, fallback: str = "") -> Model:
        """Return the model at an address, patient, and with another behind it; raises ModelError where nothing is."""
        kept = self._models.get((address, fallback))
        if kept is None:
            second = self._at(fallback) if fallback else None
            kept = self._models[address, fallback] = RetryingModel(self._at(address), second)
        return kept

    async def ask(self, model: str, prompt: str) -> Turn:
        """Ask one question outside any task."""
        request = TurnRequest(messages=(User((Text(prompt),)),))
        return await self.model(model).respond(request, lambda _text: None)

    async def close(self) -> None:
        """Close every connection that was opened in this event loop."""
        for model in self._live:
            await model.close()

    def _at(self, address: str) -> Model:
        return model_at(address, self._call, self._environ, self._folder)

    def _call(self, to: Destination, name: str) -> Model:
        model = ProviderModel(to, self._fetch, name=name)
        self._live.append(model)
        return model
