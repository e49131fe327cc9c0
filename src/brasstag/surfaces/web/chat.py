"""`POST /api/ai/chat`: a chat that runs as a run of the crew; its tool calls go the whole path.

It streams, or answers once with ``stream: false``. A pause for people is an answer, too: send ``run`` and ``seen`` to go on.
"""

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any, Literal

from pydantic import Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from brasstag.app import Room, RunEvent
from brasstag.surfaces.web.answers import read_body, unfit
from brasstag.surfaces.web.errors import failed, refused
from brasstag.surfaces.web.rooms import ServedRoom, ServedRooms
from brasstag.surfaces.web.routes import WebModel
from brasstag.surfaces.web.security.identity import Identity, ProgramIdentity
from brasstag.words.errors import BrasstagError, Code, ToolError
from brasstag.words.messages import ChatMessage, chat_request


class ChatMessageBody(WebModel):
    """One message of the chat."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str


class ChatBody(WebModel):
    """A chat; the last message is the user's."""

    messages: tuple[ChatMessageBody, ...] = Field(default=(), max_length=1000)
    role: str = ""
    """The role that answers: the crew's lead where it is left out. The role of a program's token wins."""
    skip_tool_catalog: bool = False
    skip_tools: bool = False
    model: str = ""
    room: str = ""
    """Needed where several rooms are served."""
    run: str = ""
    """Go on with this run; then no messages are taken."""
    seen: dict[str, int] = Field(default_factory=dict)
    """How many entries of which task are known already, as the last answer said."""
    stream: bool = True


class ChatWait(WebModel):
    """Something that a person decides or answers."""

    kind: Literal["approval", "question"]
    id: str
    what: str
    address: str


class ChatAnswer(WebModel):
    """How far a chat came."""

    code: Literal["done", "failed", "approval_pending"]
    run: str
    status: str
    text: str
    result: Any = None
    waits_for: list[ChatWait]
    seen: dict[str, int]


async def chat(rooms: ServedRooms, request: Request) -> Response:
    """Answer a chat."""
    identity: Identity = request.state.identity
    if not identity.may("operator"):
        return refused(403, Code.NOT_ALLOWED.value, f"this needs operator; {identity.name} is not one")
    try:
        body = ChatBody.model_validate(await read_body(request))
        served = _room(rooms, body)
        run = await _run(served.room, body, identity)
    except ValidationError as error:
        return unfit(error)
    except BrasstagError as error:
        return failed(error)
    if body.stream:
        return StreamingResponse(_messages(served, run, body.seen), media_type="text/event-stream")
    *_, (_, answer) = [one async for one in _events(served, run, body.seen)]
    return JSONResponse(answer, 202 if answer["code"] == "approval_pending" else 200)


def _room(rooms: ServedRooms, body: ChatBody) -> ServedRoom:
    if not body.room and len(rooms.rooms) == 1:
        return next(iter(rooms.rooms.values()))
    return rooms.get(body.room)


async def _run(room: Room, body: ChatBody, identity: Identity) -> str:
    role = identity.token.role if isinstance(identity, ProgramIdentity) else body.role
    if body.run:
        if body.messages:
            raise ToolError(
                Code.INVALID_ARGUMENTS, "a run that goes on takes no messages; leave one of them out"
            )
        task = await room.task(body.run)
        if isinstance(identity, ProgramIdentity) and task.role != role:
            raise ToolError(Code.NOT_ALLOWED, f"{task.id} is a run of {task.role}, not of {role}")
        return task.id
    messages = [ChatMessage(one.role, one.content) for one in body.messages]
    return await room.start(
        chat_request(messages, room.store.fence),
        role=role,
        model=body.model,
        skip_tool_catalog=body.skip_tool_catalog,
        skip_tools=body.skip_tools,
    )


async def _messages(served: ServedRoom, run: str, seen: dict[str, int]) -> AsyncIterator[str]:
    async for kind, data in _events(served, run, seen):
        yield f"event: {kind}\ndata: {json.dumps(data)}\n\n"


async def _events(
    served: ServedRoom, run: str, seen: dict[str, int]
) -> AsyncIterator[tuple[str, dict[str, Any]]]:
    """Yield what happens until the run ends or waits for people; the last one is the answer."""
    seen = dict(seen)
    yield "run", {"run": run}
    async with aclosing(served.room.watch(run, seen=seen)) as events:  # type: ignore[type-var]
        async for event in events:
            if event.waiting is not None:
                waits = _waits(served, event)
                paused = ChatAnswer(
                    code="approval_pending", run=run, status="blocked", text="", waits_for=waits, seen=seen
                )
                yield "end", paused.model_dump(mode="json", by_alias=True)
                return
            if event.entry is not None:
                seen[event.task.id] = seen.get(event.task.id, 0) + 1
            found = _told(event)
            if found is not None:
                yield found
    ended = await served.room.finished(run)
    text = ended.result if isinstance(ended.result, str) else json.dumps(ended.result)
    code: Literal["done", "failed"] = "done" if ended.ok else "failed"
    answer = ChatAnswer(
        code=code,
        run=run,
        status=ended.task.status,
        text=text,
        result=ended.result,
        waits_for=[],
        seen=seen,
    )
    yield "end", answer.model_dump(mode="json", by_alias=True)


def _told(event: RunEvent) -> tuple[str, dict[str, Any]] | None:
    about = {"task": event.task.id, "role": event.task.role}
    if event.text:
        return "text", about | {"text": event.text}
    entry = event.entry
    if entry is None or not entry.call_id:
        return None
    tool = (entry.payload or {}).get("tool", "")
    return "tool", about | {"kind": entry.kind.value, "call": entry.call_id, "tool": tool, "tag": entry.tag}


def _waits(served: ServedRoom, event: RunEvent) -> list[ChatWait]:
    if event.waiting is None:
        return []
    place = f"/rooms/{served.name}"
    approvals = [
        ChatWait(
            kind="approval",
            id=one.id,
            what=f"{one.tool}: {one.reason}",
            address=f"{place}/approvals/{one.id}",
        )
        for one in event.waiting.approvals
    ]
    questions = [
        ChatWait(kind="question", id=one.id, what=one.text, address=f"{place}/questions/{one.id}")
        for one in event.waiting.questions
    ]
    return approvals + questions
