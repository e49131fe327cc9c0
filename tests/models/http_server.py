"""A server for tests that speaks as much HTTP as model providers do, and misbehaves on demand."""

import asyncio
import contextlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

END = "data: [DONE]\n\n"


@dataclass
class Asked:
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Reply:
    """What a server answers; ``pieces`` arrive one after another."""

    pieces: Sequence[str]
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    kind: str = "text/event-stream"
    breaks: bool = False
    """Whether the connection is cut before the answer has ended."""
    hangs: bool = False
    """Whether nothing comes after the pieces, for as long as the client waits."""
    drips: bool = False
    """Whether the last piece comes again and again, for as long as the client waits."""


def as_json(body: Any, status: int = 200, **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply([json.dumps(body)], status, named, "application/json")


HANGING = Reply([], hangs=True)

Replies = Reply | Callable[[Asked], Reply]
"""What is answered, or how it follows from what was asked."""


class HttpServer:
    """Answers from a list, in order, or by path; the last answer of a list is given again and again."""

    def __init__(self, *replies: Replies, paths: dict[str, Reply] | None = None) -> None:
        self._replies = list(replies)
        self._paths = paths or {}
        self._clients: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self.asked: list[Asked] = []
        self.looked: list[Asked] = []
        """What was asked for without a question: lists of models and the like."""
        self.port = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for writer in self._clients.values():
            writer.transport.abort()
        await asyncio.gather(*self._clients)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._clients[task] = writer
        try:
            while asked := await _read(reader):
                # A look at what a server offers is no question to a model.
                (self.asked if asked.body is not None else self.looked).append(asked)
                if not await self._answer(self._reply(asked), reader, writer):
                    return
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            del self._clients[task]
            writer.close()

    def then(self, *replies: Replies) -> None:
        """Answer with these from now on."""
        self._replies = list(replies)

    def _reply(self, asked: Asked) -> Reply:
        if asked.path in self._paths:
            return self._paths[asked.path]
        if not self._replies or asked.body is None:
            return as_json({"error": "nothing here"}, 404)
        reply = self._replies[0] if len(self._replies) == 1 else self._replies.pop(0)
        return reply if isinstance(reply, Reply) else reply(asked)

    async def _answer(self, reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        headers = {"content-type": reply.kind, "transfer-encoding": "chunked", **reply.headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        if not (reply.hangs and not reply.pieces):
            writer.write(f"HTTP/1.1 {reply.status} So\r\n{head}\r\n".encode())
        for piece in reply.pieces:
            await _send(writer, piece)
        while reply.drips and not reader.at_eof():
            await _send(writer, piece)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(reader.read(1), 0.02)
        if reply.hangs:
            await reader.read()  # until the client gives up
            return False
        if reply.breaks:
            writer.transport.abort()
            return False
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True


async def _send(writer: asyncio.StreamWriter, piece: str) -> None:
    data = piece.encode()
    writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
    await writer.drain()


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    head = await reader.readuntil(b"\r\n\r\n") if not reader.at_eof() else b""
    if not head:
        return None
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines if line)}
    data = await reader.readexactly(int(headers.get("content-length", "0")))
    return Asked(first.split()[1], headers, json.loads(data) if data else None)


def event(data: Any, name: str = "") -> str:
    return (f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n"


def _chat(delta: dict[str, Any], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return event(
        {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    )


def _chat_usage(prompt: int, completion: int, cached: int) -> str:
    usage = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
    return event(
        {
            "id": "c1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m",
            "choices": [],
            "usage": usage,
        }
    )


def chat_text(*pieces: str, finish: str | None = "stop", usage: bool = True) -> Reply:
    """An answer in words, as OpenAI's older protocol streams it."""
    events = [_chat({"role": "assistant", "content": ""}), *(_chat({"content": piece}) for piece in pieces)]
    events += [_chat({}, finish)] if finish else []
    return Reply([*events, *([_chat_usage(12, 5, 4)] if usage else []), END])


def nonce_in(asked: Asked) -> str:
    """The nonce that a prompted model was told: the last word of the last message."""
    last = asked.body["messages"][-1]["content"]
    text: str = last if isinstance(last, str) else last[-1]["text"]
    return text.rsplit(maxsplit=1)[-1]


def in_form(**reply: Any) -> Callable[[Asked], Reply]:
    """A reply in the form of the prompted protocol, with the right nonce."""
    return lambda asked: chat_text(json.dumps({"nonce": nonce_in(asked), **reply}))


def chat_calls(*calls: tuple[str, str], finish: str = "tool_calls") -> Reply:
    """Calls, their arguments cut into pieces wherever it hurts."""
    events = [_chat({"role": "assistant", "content": None})]
    for index, (name, arguments) in enumerate(calls):
        function = {"name": name, "arguments": ""}
        events.append(
            _chat(
                {
                    "tool_calls": [
                        {"index": index, "id": f"x{index}", "type": "function", "function": function}
                    ]
                }
            )
        )
        for at in range(0, len(arguments), 3):
            piece = {"index": index, "function": {"arguments": arguments[at : at + 3]}}
            events.append(_chat({"tool_calls": [piece]}))
    return Reply([*events, _chat({}, finish), _chat_usage(20, 8, 0), END])


def claude(*blocks: tuple[dict[str, Any], list[dict[str, Any]]], stop: str = "end_turn") -> Reply:
    """An answer as Anthropic streams it: content blocks, each with its deltas."""
    start = {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5-5",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 1, "cache_read_input_tokens": 50},
    }
    events = [event({"type": "message_start", "message": start}, "message_start")]
    for index, (block, deltas) in enumerate(blocks):
        opened = {"type": "content_block_start", "index": index, "content_block": block}
        events.append(event(opened, "content_block_start"))
        for delta in deltas:
            moved = {"type": "content_block_delta", "index": index, "delta": delta}
            events.append(event(moved, "content_block_delta"))
        events.append(event({"type": "content_block_stop", "index": index}, "content_block_stop"))
    ended = {
        "type": "message_delta",
        "delta": {"stop_reason": stop, "stop_sequence": None},
        "usage": {"output_tokens": 30},
    }
    return Reply([*events, event(ended, "message_delta"), event({"type": "message_stop"}, "message_stop")])


def claude_text(*pieces: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    return {"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in pieces]


def claude_thought(text: str, signature: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    deltas = [
        {"type": "thinking_delta", "thinking": text},
        {"type": "signature_delta", "signature": signature},
    ]
    return {"type": "thinking", "thinking": "", "signature": ""}, deltas


def claude_call(name: str, *pieces: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    block = {"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}
    return block, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
