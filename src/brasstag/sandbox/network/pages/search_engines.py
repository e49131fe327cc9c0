"""Search engines that find pages for a query, behind one Protocol."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import unescape
from typing import Any, Protocol
from urllib.parse import urlencode

from brasstag.sandbox.network.guard import FetchRequest, WebGuard, WebResponse
from brasstag.words.errors import Code, ToolError

BRAVE_URL = "https://api.search.brave.com"

MOST_HITS = 20
_LONGEST_TITLE = 300
_LONGEST_SNIPPET = 1000
_MARKUP = re.compile(r"</?[A-Za-z][^<>]*>")


@dataclass(frozen=True, slots=True)
class WebHit:
    """One page that was found."""

    title: str
    url: str
    snippet: str

    def as_json(self) -> dict[str, str]:
        """Return ``{title, url, snippet}``."""
        return {"title": self.title, "url": self.url, "snippet": self.snippet}


class SearchEngine(Protocol):
    """Finds pages."""

    async def search(self, query: str, most: int, seconds: float) -> list[WebHit]:
        """Return the best pages for a query, the best first; raise ToolError where it cannot."""


@dataclass(frozen=True, slots=True)
class SearXNG:
    """A SearXNG server, wherever the operator keeps it."""

    url: str

    async def search(self, query: str, most: int, seconds: float) -> list[WebHit]:
        """Return the best pages for a query."""
        asked = urlencode({"q": query, "format": "json"})
        request = FetchRequest(f"{self.url.rstrip('/')}/search?{asked}", seconds=seconds)
        answer = await WebGuard(origin=self.url).fetch(request)
        if answer.status == 403:
            said = "searxng answers no JSON; add json to search.formats in its settings.yml"
            raise ToolError(Code.FETCH_FAILED, said)
        return list(_hits(_answered("searxng", answer).get("results"), "content"))[:most]


@dataclass(frozen=True, slots=True)
class Brave:
    """Brave's search API."""

    key_variable: str
    environ: Mapping[str, str]
    url: str = ""
    """Where it is, if an operator put something else in its place."""

    async def search(self, query: str, most: int, seconds: float) -> list[WebHit]:
        """Return the best pages for a query."""
        key = self.environ.get(self.key_variable, "").strip()
        if not key:
            said = f"brave needs a key; set the environment variable {self.key_variable}, then try again"
            raise ToolError(Code.SEARCH_NOT_CONFIGURED, said)
        asked = urlencode({"q": query, "count": min(most, MOST_HITS)})
        request = FetchRequest(
            f"{(self.url or BRAVE_URL).rstrip('/')}/res/v1/web/search?{asked}",
            headers={"X-Subscription-Token": key, "Accept": "application/json"},
            seconds=seconds,
        )
        found = _answered("brave", await WebGuard(origin=self.url).fetch(request)).get("web")
        return list(_hits(found.get("results") if isinstance(found, dict) else None, "description"))[:most]


def _answered(name: str, answer: WebResponse) -> dict[str, Any]:
    """Return the JSON object of an answer; what else a server says is not repeated, as it may hold a key."""
    if answer.status != 200:
        said = f"{name} answered with status {answer.status}; an operator looks at [web] in the settings"
        raise ToolError(Code.FETCH_FAILED, said)
    try:
        found = json.loads(answer.body)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        said = f"{name} did not answer with a JSON object; an operator looks at url under [web]"
        raise ToolError(Code.FETCH_FAILED, said)
    return found


def _hits(found: Any, snippet: str) -> Iterator[WebHit]:
    for one in found if isinstance(found, list) else ():
        url = one.get("url") if isinstance(one, dict) else None
        if isinstance(url, str) and url.startswith(("http://", "https://")):
            yield WebHit(
                _plain(one.get("title"), _LONGEST_TITLE), url, _plain(one.get(snippet), _LONGEST_SNIPPET)
            )


def _plain(value: Any, longest: int) -> str:
    text = unescape(_MARKUP.sub("", value)) if isinstance(value, str) else ""
    return " ".join(text.encode(errors="replace").decode().split())[:longest]
