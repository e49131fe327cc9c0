"""Prompted: tools for a model that does not call them reliably.

The tools are described in the system text, and the server is asked to hold the answer to one JSON schema: a call of one
of the tools, or an answer. A local server's own tool calling, and its ``tool_choice``, are never used. A reply that is not
in the form of the protocol goes back to the model with the reason.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from brasstag.models.failures import Transient, quoted
from brasstag.models.protocol import (
    HOW,
    Nonces,
    RefusedReply,
    nonce_line,
    read_reply,
    reply_schema,
    written_answer,
    written_call,
)
from brasstag.models.wrapper import ModelWrapper
from brasstag.words.messages import Assistant, Message, Result, System, Text, ToolUse, User
from brasstag.words.turns import Offer, OnText, Turn, TurnRequest, Usage

MOST_REPLIES = 3
"""How often a model is asked in one turn before its turn fails."""
LONGEST_REPEATED = 2000
"""How much of a refused reply is shown to the model again."""


class PromptedModel(ModelWrapper):
    """A Model around a Model that is only asked for text."""

    @property
    def name(self) -> str:
        """The model's own name, with the prefix for prompted models."""
        return f"prompted+{self._model.name}"

    async def respond(self, request: TurnRequest, on_text: OnText) -> Turn:
        """Answer with one call or one text; raises Transient where no reply was in the form of the protocol.

        Then only a fallback helps: the model was told what is wrong, and did not mend it.
        """
        if not request.offers:
            return replace(await self._model.respond(request, on_text), model=self.name)
        told = _Conversation(request)
        usage, refused = Usage(), list[str]()
        while len(refused) < MOST_REPLIES:
            turn = await self._model.respond(told.request(), _ignore_text)
            usage += turn.usage
            reply = read_reply(turn.text, told.nonce, cut_off=turn.stop == "length")
            if not isinstance(reply, RefusedReply):
                turn = replace(turn, usage=usage, model=self.name, note=_note(turn.note, refused))
                return _as_turn(turn, reply, on_text)
            refused.append(reply.reason)
            told.refuse(turn.text, reply.reason)
        raise Transient(
            f"{self.name} did not reply with one JSON object: {quoted('; '.join(refused))}", tries=1
        )


class _Conversation:
    """A conversation that has calls, told as one without calls; what was told once stays as it is.

    The message before each reply ends with the nonce of the reply.
    """

    def __init__(self, request: TurnRequest) -> None:
        self._request = request
        self._nonces = Nonces(request.task_id)
        self._messages: list[Message] = []
        self._add(System(_described(request.messages, request.offers)))
        for message in request.messages:
            self._retell(message)
        self.nonce = self._tell_nonce()

    def request(self) -> TurnRequest:
        """Return what the model inside is asked."""
        schema = reply_schema(self._request.offers, self.nonce)
        return replace(self._request, messages=tuple(self._messages), offers=(), schema=schema)

    def refuse(self, text: str, reason: str) -> None:
        """Tell the model why its reply was not used; its next reply has another nonce."""
        self._add(Assistant(text[:LONGEST_REPEATED] or "(nothing)"))
        again = f"Your reply was not used: {reason}. Reply again, with one JSON object and nothing else."
        self._add(User((Text(again),)))
        self.nonce = self._tell_nonce()

    def _retell(self, message: Message) -> None:
        match message:
            case Assistant():
                for reply in _written(message, self._tell_nonce()):
                    self._add(Assistant(reply))
            case Result(tool=tool, blocks=blocks, is_error=is_error):
                headline = f"{tool} failed:" if is_error else f"Result of {tool}:"
                self._add(User((Text(headline), *blocks)))
            case User():
                self._add(message)
            case System():
                pass

    def _add(self, message: Message) -> None:
        self._nonces.add(message)
        self._messages.append(message)

    def _tell_nonce(self) -> str:
        nonce = self._nonces.next()
        line, last = Text(nonce_line(nonce)), self._messages[-1]
        if isinstance(last, User):
            self._messages[-1] = User((*last.blocks, line))
        else:
            self._messages.append(User((line,)))
        return nonce


def _described(messages: Sequence[Message], offers: Sequence[Offer]) -> str:
    tools = "\n".join(f"- {o.name}: {o.description} Arguments: {json.dumps(dict(o.schema))}" for o in offers)
    system = "\n\n".join(message.text for message in messages if isinstance(message, System))
    return f"{system}\n\n{HOW}{tools}".lstrip()


def _written(turn: Assistant, nonce: str) -> Iterator[str]:
    """Yield an earlier turn in the form of the protocol, whichever model it came from."""
    for call in turn.calls:
        yield written_call(nonce, call.tool, call.as_json()["arguments"])
    if not turn.calls:
        yield written_answer(nonce, turn.text)


def _as_turn(turn: Turn, reply: ToolUse | str, on_text: OnText) -> Turn:
    if isinstance(reply, str):
        on_text(reply)
        return replace(turn, text=reply)
    return replace(turn, text="", calls=(reply,), stop=turn.stop if turn.stop == "length" else "calls")


def _note(said: str, refused: Sequence[str]) -> str:
    again = f"asked {len(refused) + 1} times: {quoted('; '.join(refused))}" if refused else ""
    return "; ".join(filter(None, (said, again)))


def _ignore_text(_text: str) -> None:
    """Ignore the text: the reply is JSON, and users do not want to watch that being written."""
