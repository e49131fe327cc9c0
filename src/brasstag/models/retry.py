"""Retry: a model around a model that may be busy, with a fallback."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import replace

from brasstag.models.failures import Transient
from brasstag.models.wrapper import ModelWrapper
from brasstag.words.turns import Model, ModelError, OnText, Retrying, Turn, TurnRequest

TRIES = 5
FIRST_WAIT = 0.5
"""Seconds before the second try; each further wait is twice as long, less a random part."""
LONGEST_WAIT = 60.0
"""A provider that wants to be left alone for longer than this is not waited for."""


class RetryingModel(ModelWrapper):
    """Tries again what may work at the next try; what cannot work fails at once.

    A fallback that does not see is told of pictures in words.
    """

    def __init__(
        self,
        model: Model,
        fallback: Model | None = None,
        *,
        tries: int = TRIES,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        super().__init__(model)
        self._fallback = fallback
        self._tries = tries
        self._sleep = sleep

    @property
    def context_tokens(self) -> int:
        """What fits into both models."""
        windows = [model.context_tokens for model in (self._model, self._fallback) if model is not None]
        return min(windows)

    async def respond(self, request: TurnRequest, on_text: OnText) -> Turn:
        """Answer with the first model, or, when it gives up, with the fallback; the turn's note says so."""
        told = _RestartableText(on_text)
        try:
            return await self._patiently(self._model, request, told)
        except Transient as trouble:
            if self._fallback is None:
                said = f"{trouble.message}. Try again later, or name a fallback model"
                raise ModelError(said, trouble.code, hint=trouble.hint) from trouble
            first = trouble.message
        told.begin_again()
        try:
            turn = await self._patiently(self._fallback, request, told)
        except ModelError as error:
            both = f"{first}; and the fallback {self._fallback.name}: {error.message}"
            raise ModelError(both, error.code, hint=error.hint) from error
        why = f"answered by the fallback {self._fallback.name}: {first}"
        return replace(turn, note="; ".join(filter(None, (turn.note, why))))

    async def _patiently(self, model: Model, request: TurnRequest, told: "_RestartableText") -> Turn:
        for tried in range(1, self._tries + 1):
            try:
                return await model.respond(request, told)
            except Transient as trouble:
                wait = _wait(tried, trouble.retry_after)
                most = min(self._tries, trouble.tries or self._tries)
                if tried >= most or wait > LONGEST_WAIT:
                    tries = f" ({tried} tries)" if tried > 1 else ""
                    raise Transient(f"{trouble.message}{tries}", trouble.retry_after) from trouble
                retrying = Retrying(model.name, trouble.message, round(wait, 1), tried + 1, most)
            told.begin_again()
            request.on_retry(retrying)
            await self._sleep(wait)
        raise AssertionError("the last try returns or raises")


class _RestartableText:
    """Passes text on, and tells when an answer that was partly shown begins again."""

    def __init__(self, on_text: OnText) -> None:
        self._on_text = on_text
        self._shown = False

    def __call__(self, text: str) -> None:
        self._shown = True
        self._on_text(text)

    def begin_again(self) -> None:
        if self._shown:
            self._on_text("\n[the answer broke off; asking again]\n")
        self._shown = False


def _wait(tried: int, wanted: float | None) -> float:
    if wanted is not None:
        return wanted
    longest = FIRST_WAIT * 2 ** (tried - 1)
    # Random, so that many tasks that failed together do not come back together.
    return random.uniform(longest / 2, longest)  # noqa: S311 - not a secret
