"""What is known of a model before it is asked: its context window, and whether it sees pictures."""

from functools import cache

HOSTED_TOKENS = 128_000
"""What is assumed of a hosted model that no table knows."""
LOCAL_TOKENS = 8_000
"""What is assumed of a model on a user's own machine, where memory sets the limit."""

_SEEING = (
    "llava",
    "vision",
    "pixtral",
    "gemma3",
    "gemma-3",
    "moondream",
    "minicpm-v",
    "-vl",
    "vl:",
    "2.5vl",
    "3vl",
)


@cache
def hosted_tokens(provider: str, model: str) -> int:
    """Return how many tokens fit into a hosted model, as the price list knows it."""
    try:
        from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415 - the list takes a moment to load
    except ImportError:
        return HOSTED_TOKENS
    provider = provider.removesuffix("-chat").removesuffix("-responses")
    try:
        _, known = get_snapshot().find_provider_model(model, None, provider, None)
    except LookupError:
        return HOSTED_TOKENS
    return known.context_window or HOSTED_TOKENS


def local_model_sees(model: str) -> bool:
    """Say whether a local model sees images, judged by its name; nearly all hosted models do."""
    return any(word in model.lower() for word in _SEEING)
