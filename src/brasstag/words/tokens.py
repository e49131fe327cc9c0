"""Estimated tokens: no tokenizer is used, so the numbers are never exact."""

import json
from collections.abc import Mapping
from typing import Any

from brasstag.words.messages import Assistant, Block, Image, Message, Result, System, ToolUse, User

BYTES_PER_TOKEN = 4
"""Bytes of UTF-8: about right for English, and better than characters for scripts with more tokens per character."""

IMAGE_TOKENS = 1_600
"""What providers take at most for a picture they have scaled to their own size."""

FRAME_TOKENS = 4
"""What a message, or a call in one, takes beside its words."""


def estimated_tokens(text: str) -> int:
    """Return about how many tokens a text is."""
    return tokens_of_bytes(len(text.encode(errors="surrogatepass")))


def tokens_of_bytes(size: int) -> int:
    """Return about how many tokens a number of UTF-8 bytes are."""
    return -(-size // BYTES_PER_TOKEN)


def message_tokens(message: Message) -> int:
    """Return about how many tokens a message is."""
    match message:
        case System():
            words = estimated_tokens(message.text)
        case User() | Result():
            words = sum(map(_block_tokens, message.blocks))
        case Assistant():
            words = estimated_tokens(message.text)
            words += sum(estimated_tokens(thought.text + thought.signature) for thought in message.thinking)
            words += sum(map(_call_tokens, message.calls))
    return FRAME_TOKENS + words


def _block_tokens(block: Block) -> int:
    return IMAGE_TOKENS if isinstance(block, Image) else estimated_tokens(block.text)


def _call_tokens(call: ToolUse) -> int:
    return FRAME_TOKENS + estimated_tokens(call.tool) + estimated_tokens(_written(call.arguments))


def _written(arguments: Mapping[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(dict(arguments), ensure_ascii=False)
