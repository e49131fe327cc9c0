"""ProviderModel: any provider that pydantic-ai knows, through its direct layer."""

import asyncio
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from brasstag.models.destinations import Destination, Fetch
from brasstag.models.failures import not_installed
from brasstag.models.local.capacity import measured
from brasstag.models.windows import LOCAL_TOKENS, hosted_tokens, local_model_sees
from brasstag.words.turns import OnText, Turn, TurnRequest

if TYPE_CHECKING:
    from brasstag.models.provider.turn import ProviderClient

MOST_OUTPUT = 16_384
"""How many tokens a turn may write where no limit is set; a user's own server with a small window has its own limit."""
MOST_MEASURES = 3
"""How many turns begin with asking a server for its window, while it does not tell."""
SILENCE = 300.0
"""How many seconds a provider may send nothing; the limit for connecting is 5 seconds."""
LONGEST = 1800.0
"""How many seconds one turn may take as a whole."""


def no_pictures(digest: str) -> bytes:
    """Take the place of the blobs where there are none."""
    raise LookupError(digest)


class ProviderModel:
    """A model somewhere else, reached over the network."""

    def __init__(
        self,
        to: Destination,
        fetch: Fetch = no_pictures,
        *,
        name: str = "",
        silence: float = SILENCE,
        longest: float = LONGEST,
    ) -> None:
        self._to = to
        self._fetch = fetch
        self.name = name or to.name
        """How it is written in settings."""
        self._silence = silence
        self._longest = longest
        self._measured: int | None = None
        self._measures = 0
        # A client belongs to the event loop that first used it; in another it fails with "Event loop is closed".
        self._openings: WeakKeyDictionary[asyncio.AbstractEventLoop, _Opening] = WeakKeyDictionary()

    @property
    def sees_images(self) -> bool:
        """Hosted models nearly all see; a local one only where its name says so."""
        return not self._to.base_url or local_model_sees(self._to.model)

    @property
    def context_tokens(self) -> int:
        """What its name says, else what its server or the price list knows, else a careful guess."""
        known = self._to.context_tokens or self._measured
        if known:
            return known
        return LOCAL_TOKENS if self._to.base_url else hosted_tokens(self._to.provider, self._to.model)

    @property
    def is_guessed(self) -> bool:
        """Whether neither its name nor its server has said how many tokens fit into it."""
        return bool(self._to.base_url) and not self._to.context_tokens and self._measured is None

    async def measure(self) -> None:
        """Ask a user's own server for its context window, unless that is known; without an answer it stays unknown."""
        if self.is_guessed and self._measures < MOST_MEASURES:
            self._measures += 1
            self._measured = await measured(self._to)

    async def open(self) -> None:
        """Set everything up but the question; raises ModelError where a key or a package is missing."""
        await self._line()

    async def respond(self, request: TurnRequest, on_text: OnText) -> Turn:
        """Ask the provider and stream its text; raises ModelError, a Transient one where trying again may help."""
        line = await self._line()
        from brasstag.models.provider.turn import Manner  # noqa: PLC0415 - heavy; the line has it imported already

        manner = Manner(self.sees_images, self._fetch, self._most(request), self._silence, self._longest)
        return await line.ask(request, manner, self.name, on_text)

    def _most(self, request: TurnRequest) -> int | None:
        """Return how many tokens an answer may have; None leaves that to a server whose window is small, or not known.

        Any share of a small window would be too little for one file, and only the server knows how much is left.
        """
        if request.max_tokens:
            return request.max_tokens
        small = self.is_guessed or self.context_tokens // 4 < MOST_OUTPUT
        if self._to.base_url and small:
            return None
        return min(MOST_OUTPUT, self.context_tokens // 4)

    async def close(self) -> None:
        """Close the connections of this event loop."""
        opening = self._openings.pop(asyncio.get_running_loop(), None)
        if opening is not None:
            await opening.close()

    async def _line(self) -> "ProviderClient":
        opening = self._openings.setdefault(asyncio.get_running_loop(), _Opening())
        return await opening.line(self._to)


class _Opening:
    """The line of one event loop; the first request opens it."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._line: ProviderClient | None = None

    async def line(self, to: Destination) -> "ProviderClient":
        async with self._lock:
            if self._line is None:
                # The libraries take seconds to import; the event loop goes on meanwhile.
                line = await asyncio.to_thread(_open, to)
                await line.open()
                self._line = line
            return self._line

    async def close(self) -> None:
        if self._line is not None:
            await self._line.close()


def _open(to: Destination) -> "ProviderClient":
    try:
        from brasstag.models.provider.turn import ProviderClient  # noqa: PLC0415 - heavy
    except ImportError:
        raise not_installed(to.name, "brasstag[models]") from None
    return ProviderClient(to)
