"""web_fetch and web_search: fetch through the guard, and search with the room's search engine."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from brasstag.sandbox.network.guard import FetchRequest, Follows, WebResponse
from brasstag.sandbox.network.headers import checked_headers
from brasstag.sandbox.network.locations import DEFAULT_PORTS, Location, read_location, refuse_inside
from brasstag.sandbox.network.pages.pages import MOST_SECONDS, markdown_of
from brasstag.sandbox.network.pages.texts import DecodedBody, read_body
from brasstag.sandbox.network.web import Web
from brasstag.sandbox.workspace.draft import Draft
from brasstag.toolkit.config.config import Limits
from brasstag.toolkit.declare.declare import tool
from brasstag.words.canonical import sha256
from brasstag.words.errors import Code, ToolError
from brasstag.words.previews import Preview
from brasstag.words.verdicts import Decision

Judge = Callable[[Mapping[str, Any]], Decision]
"""Says what the rules make of this call with some arguments changed; the engine hands it in."""

_SUCCESS, _REDIRECTION = 200, 300
"""A status from the first number up to, but not including, the second is a success."""
_MOST_NAMED = 5
_CUT_SHORT = {
    "size": "it is larger than may be fetched, so only its beginning came",
    "connection": "the connection broke, so only its beginning came",
}


def _preview(arguments: Mapping[str, Any]) -> Preview:
    """Say what is fetched, and saved; a GET only reads from a plain address, and no check can see what others do."""
    place = read_location(arguments["url"])
    checked_headers(arguments["headers"])
    refuse_inside(place)
    method, body = arguments["method"], arguments["body"]
    if method == "GET" and body:
        raise ToolError(Code.INVALID_ARGUMENTS, "a GET has no body; leave it out, or use POST")
    saves = (arguments["save_as"],) if "save_as" in arguments else ()
    if method != "GET" and saves:
        raise ToolError(
            Code.INVALID_ARGUMENTS, f"only what a GET brings can be saved, not the answer to a {method}"
        )
    unseen = method != "GET" or place.is_ambiguous
    notes = tuple(_sent(place, method, arguments["headers"], body))
    return Preview(fetches=(place.url,), external=unseen, saves=saves, notes=notes)


def _sent(place: Location, method: str, headers: Mapping[str, str], body: str) -> Iterator[str]:
    """Say what a call does besides reading a page, for the person who is asked."""
    if method != "GET":
        size = len(body.encode(errors="replace"))
        yield f"sends {size} byte{'' if size == 1 else 's'} by {method}"
    if headers:
        more = [f"{len(headers) - _MOST_NAMED} more"] if len(headers) > _MOST_NAMED else []
        yield f"sends the headers {', '.join([*headers][:_MOST_NAMED] + more)}"
    if place.is_ambiguous:
        yield "has a path that servers may read as another one"


def _was_sent(_call_id: str, arguments: Mapping[str, Any]) -> None:
    """Treat a GET that was cut short as never made; for any other method raise, as its outcome cannot be known."""
    if arguments["method"] != "GET":
        raise ToolError(
            Code.NOT_SUPPORTED, "whether the server got the request cannot be found out from here"
        )


@tool(execution_type="function", preview=_preview, check=_was_sent)
async def web_fetch(
    web: Web,
    judge: Judge,
    limits: Limits,
    workspace: Draft,
    url: str,
    method: str = "GET",
    headers: dict[str, str] | None = None,
    body: str = "",
    seconds: float = 30,
    form: str = "readable",
    save_as: str | None = None,
) -> dict[str, Any]:
    """web_fetch"""
    wanted = FetchRequest(
        url,
        method,
        headers,
        body,
        min(seconds, limits.working_seconds),
        limits.numbers["max_body_bytes"],
    )
    answer = await web.guard.fetch(wanted, _follows(judge))
    read = DecodedBody("application/octet-stream", None)
    if not answer.coding:
        read = read_body(answer.headers.get("content-type", ""), answer.body)
    markdown = None
    if read.is_html and form == "readable":
        left = min(MOST_SECONDS, (limits.timeout_seconds - limits.working_seconds) / 2)
        markdown = await markdown_of(read.text or "", left)
    result = _result(answer, read, markdown)
    if save_as is not None:
        result |= await _save(workspace, save_as, answer)
    note = "; ".join(_notes(result))
    return result | ({"note": note} if note else {})


async def _save(workspace: Draft, path: str, answer: WebResponse) -> dict[str, Any]:
    """Save an answer, or return why it is not worth it."""
    if unsaved := _why_not(answer):
        return {"unsaved": unsaved}
    # This runs off the event loop, because it reads the present file, to recognise it later.
    where = await asyncio.to_thread(workspace.write_bytes, path, answer.body)
    return {"saved": {"path": where, "size_bytes": len(answer.body), "sha256": sha256(answer.body)}}


def _why_not(answer: WebResponse) -> str | None:
    """Return why an answer is not worth keeping as the document it was asked for; None where it is."""
    if not _SUCCESS <= answer.status < _REDIRECTION:
        return f"the server answered {answer.status}, which is not the document"
    if answer.coding:
        return f"its compression, {answer.coding}, could not be undone"
    return _CUT_SHORT.get(answer.truncated or "")


def _follows(judge: Judge) -> Follows:
    """Follow redirects that the rules allow, and, where a person allowed the call, those to the same host."""

    def decision(place: Location) -> Decision:
        try:
            return judge({"url": place.url})
        except ToolError:
            return "deny"

    def follows(here: Location, there: Location) -> bool:
        said = decision(there)
        return said == "allow" or (said == "ask" and _stays(here, there) and decision(here) == "ask")

    return follows


def _stays(here: Location, there: Location) -> bool:
    usual = {here.port, there.port} <= set(DEFAULT_PORTS.values())
    return here.host == there.host and (here.port == there.port or usual)


def _result(answer: WebResponse, read: DecodedBody, markdown: str | None) -> dict[str, Any]:
    form, body = _formed(read, markdown)
    return {
        "url": answer.url,
        "status": answer.status,
        "headers": dict(answer.headers),
        "media_type": read.media_type,
        "format": form,
        "body": body,
        "size_bytes": len(answer.body),
        "truncated": answer.truncated,
        "encoding": read.encoding,
        "replaced_characters": read.replaced,
        "content_coding": answer.coding,
        "redirects": list(answer.redirects),
        "location": answer.location,
        "saved": None,
        "unsaved": None,
        "untrusted": True,
    }


def _notes(result: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a reader who sees only the body has to know besides."""
    if not _SUCCESS <= result["status"] < _REDIRECTION:
        yield f"the server answered {result['status']}"
    if result["location"]:
        yield f"it redirects to {result['location']}, which was not followed"
    if result["format"] == "binary":
        yield f"{result['size_bytes']} bytes of {result['media_type']}, which are no text"
    if result["truncated"]:
        yield _CUT_SHORT[result["truncated"]]
    if result["saved"]:
        yield f"saved as {result['saved']['path']}"
    if result["unsaved"]:
        yield f"not saved: {result['unsaved']}"


def _formed(read: DecodedBody, markdown: str | None) -> tuple[str, str]:
    """Return the form in which a body is shown, and what is shown of it."""
    if markdown is not None:
        return "markdown", markdown
    return ("binary", "") if read.text is None else ("text", read.text)


@tool(execution_type="function")
async def web_search(web: Web, limits: Limits, query: str, num_results: int = 5) -> dict[str, Any]:
    """web_search"""
    if web.engine is None:
        raise ToolError(
            Code.SEARCH_NOT_CONFIGURED,
            'this room has no search engine; an operator sets one in brasstag.toml: [web] with search = "searxng" '
            'and its url, or search = "brave" and key_variable = "BRAVE_API_KEY"',
        )
    hits = await web.engine.search(query, num_results, limits.working_seconds)
    return {"results": [hit.as_json() for hit in hits], "untrusted": True}
