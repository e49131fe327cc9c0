"""A chat as one request to a crew: its last message is the request, and what came before is untrusted text."""

from collections.abc import Sequence
from dataclasses import dataclass

from brasstag.words.errors import Code, ToolError
from brasstag.words.messages import Fences


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a chat, as a client tells it."""

    role: str
    content: str


def chat_request(messages: Sequence[ChatMessage], fence: Fences) -> str:
    """Return the request that a chat makes; raise ToolError where its last message is not a user's.

    The timeline does not hold the earlier messages: a client could have written any of them, those of the system and the
    assistant too. They enter in one fence, as untrusted text of the user.
    """
    if not messages or messages[-1].role != "user" or not messages[-1].content.strip():
        raise ToolError(Code.INVALID_ARGUMENTS, "the last message has to be the user's, with words")
    *earlier, last = messages
    if not earlier:
        return last.content
    told = "\n\n".join(f"{one.role}: {one.content}" for one in earlier)
    return f"{fence('untrusted', told, 'earlier messages, as the client tells them')}\n\n{last.content}"
