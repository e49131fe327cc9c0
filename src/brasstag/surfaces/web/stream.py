"""The stream of events: one for all rooms, as server-sent events whose ids can be resumed.

An id holds the place in the sequence of each room: ``room=12-34,other=0-9``.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, suppress
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from brasstag.app import Event, EventId
from brasstag.surfaces.web.errors import refused
from brasstag.surfaces.web.rooms import ServedRoom, ServedRooms
from brasstag.surfaces.web.security.identity import Person, identify
from brasstag.words.errors import Code, ToolError

BEAT_SECONDS = 15.0
"""How often something is sent while nothing happens, so that both sides notice when the other is gone."""

MOST_WAITING = 1000

Places = dict[str, EventId]


async def place_of(rooms: ServedRooms) -> str:
    """Return where the stream stands now: a page that is shown after this goes on from here."""
    return _as_text({name: await served.room.newest_event() for name, served in rooms.rooms.items()})


async def stream_events(rooms: ServedRooms, request: Request) -> Response:
    """Answer with the events after a place; a place that is not kept any more answers 410."""
    if request.state.identity is None:
        return refused(401, "NOT_LOGGED_IN", "log in, or send a token")
    given = request.headers.get("last-event-id") or request.query_params.get("after", "")
    try:
        places = _parse(given, rooms) if given else _parse(await place_of(rooms), rooms)
    except ToolError as error:
        return refused(400, error.code.value, error.message)
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(
        _messages(rooms, places, partial(_is_known, request)), media_type="text/event-stream", headers=headers
    )


def _is_known(request: Request) -> bool:
    """Say whether who opened the stream may still look: a person may have been logged out meanwhile."""
    return identify(request, by_cookie=isinstance(request.state.identity, Person)) is not None


async def _messages(rooms: ServedRooms, places: Places, is_known: Callable[[], bool]) -> AsyncIterator[str]:
    queue: asyncio.Queue[tuple[ServedRoom, Event | ToolError]] = asyncio.Queue(MOST_WAITING)
    followers = [
        asyncio.create_task(_follow(served, places[name], queue)) for name, served in rooms.rooms.items()
    ]
    try:
        yield "retry: 1000\n\n"
        clock = asyncio.get_running_loop().time
        known_at = clock()
        while True:
            if clock() - known_at >= BEAT_SECONDS:
                if not is_known():
                    yield _message("reload", "", {"why": "logged out"})
                    return
                known_at = clock()
            try:
                served, event = await asyncio.wait_for(queue.get(), BEAT_SECONDS)
            except TimeoutError:
                yield ": still here\n\n"
                continue
            if isinstance(event, ToolError):
                yield _message("reload", "", {"room": served.name, "why": event.message})
                return
            places[served.name] = event.id
            yield _message("event", _as_text(places), _told(served, event))
    finally:
        for follower in followers:
            follower.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.wait(followers)


async def _follow(
    served: ServedRoom, after: EventId, queue: "asyncio.Queue[tuple[ServedRoom, Event | ToolError]]"
) -> None:
    try:
        async with aclosing(served.room.events(after)) as events:  # type: ignore[type-var]
            async for event in events:
                await queue.put((served, event))
    except ToolError as error:
        await queue.put((served, error))


def _told(served: ServedRoom, event: Event) -> dict[str, Any]:
    """Return what a page is told: enough to know what to look at again."""
    found: dict[str, Any] = {
        "room": served.name,
        "topic": event.topic,
        "subject": event.subject,
        "at": event.at,
    }
    if event.entry is not None:
        payload = event.entry.payload or {}
        found |= {
            "kind": event.entry.kind.value,
            "tag": event.entry.tag,
            "call": event.entry.call_id,
            "tool": payload.get("tool", ""),
            "seq": event.entry.seq,
        }
    if event.topic in ("output", "documents", "issue"):
        found["payload"] = event.payload
    return found


def _message(kind: str, identity: str, data: dict[str, Any]) -> str:
    # JSON has no line breaks of its own, so one line of data is the whole.
    return f"event: {kind}\nid: {identity}\ndata: {json.dumps(data)}\n\n"


def _as_text(places: Places) -> str:
    return ",".join(f"{name}={place}" for name, place in places.items())


def _parse(text: str, rooms: ServedRooms) -> Places:
    found: Places = {}
    for part in text.split(","):
        name, _, place = part.partition("=")
        if name in rooms.rooms:
            found[name] = EventId.parse(place)
    missing = [name for name in rooms.rooms if name not in found]
    if missing:
        raise ToolError(Code.INVALID_ARGUMENTS, f"the place names no event of {', '.join(missing)}")
    return found
