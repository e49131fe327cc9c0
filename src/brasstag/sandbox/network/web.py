"""A room's way to the web: the guard that fetches, and the search engine."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from brasstag.sandbox.network.guard import WebGuard
from brasstag.sandbox.network.pages.search_engines import Brave, SearchEngine, SearXNG
from brasstag.settings import WebSettings


@dataclass(frozen=True, slots=True)
class Web:
    """What tools that ask for ``web`` get."""

    guard: WebGuard = field(default_factory=WebGuard)
    engine: SearchEngine | None = None
    """None where no search engine is set."""


def open_web(settings: WebSettings, environ: Mapping[str, str] = os.environ) -> Web:
    """Return the way to the web that settings describe."""
    return Web(WebGuard(ports=settings.ports), _engine(settings, environ))


def _engine(settings: WebSettings, environ: Mapping[str, str]) -> SearchEngine | None:
    if settings.search == "searxng":
        return SearXNG(settings.url or "")
    if settings.search == "brave":
        return Brave(settings.key_variable or "", environ, settings.url or "")
    return None
