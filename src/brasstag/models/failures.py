"""Ways in which a model fails to answer, told apart by what helps, and the ways to get a model."""

import os
from collections.abc import Mapping

from brasstag.words.errors import Code
from brasstag.words.turns import ModelError

_SECRET_ENDINGS = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
_SHORTEST_SECRET = 6
_LONGEST_QUOTE = 400


class Transient(ModelError):
    """A failure that may be gone at the next try."""

    def __init__(self, message: str, retry_after: float | None = None, tries: int | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """How many seconds the provider wants to be left alone; infinity where only another model helps."""
        self.tries = tries
        """How many tries this kind of failure is worth, where that is fewer than usual."""


def not_configured(message: str, hint: str = "") -> ModelError:
    """Return the failure of a model that the user has not set up correctly yet."""
    return ModelError(message, Code.MODEL_NOT_CONFIGURED, hint=hint)


def not_installed(name: str, package: str) -> ModelError:
    """Return the failure of a model whose package is missing."""
    hint = f"run `pip install '{package}'`"
    return not_configured(f"{name} needs {package}, which is not installed", hint)


def quoted(words: str, environ: Mapping[str, str] = os.environ) -> str:
    """Return text from outside in a form for messages: short, on one line, and without any of our secrets."""
    for name, value in environ.items():
        if name.endswith(_SECRET_ENDINGS) and len(value) >= _SHORTEST_SECRET:
            words = words.replace(value, "…")
    line = " ".join(words.encode("utf-8", "replace").decode().split())
    return line if len(line) <= _LONGEST_QUOTE else f"{line[:_LONGEST_QUOTE]}…"


WAYS = (
    "export ANTHROPIC_API_KEY=…    (a key from console.anthropic.com)",
    "export OPENAI_API_KEY=…       (a key from platform.openai.com, or OPENAI_BASE_URL for a server like it)",
    "ollama pull qwen3             (a model on this machine, from ollama.com)",
)

HOW_TO_SET_UP = "Set one up, in one of three ways:\n" + "\n".join(f"  {way}" for way in WAYS)
