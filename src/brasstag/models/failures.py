"""Ways in which a model fails to answer, told apart by what helps."""

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


def not_configured(message: str) -> ModelError:
    """Return the failure of a model that nobody has set up rightly yet."""
    return ModelError(message, Code.MODEL_NOT_CONFIGURED)


def quoted(words: str, environ: Mapping[str, str] = os.environ) -> str:
    """Return a stranger's words as they may stand in a message: short, on one line, and without any of our secrets."""
    for name, value in environ.items():
        if name.endswith(_SECRET_ENDINGS) and len(value) >= _SHORTEST_SECRET:
            words = words.replace(value, "…")
    line = " ".join(words.encode("utf-8", "replace").decode().split())
    return line if len(line) <= _LONGEST_QUOTE else f"{line[:_LONGEST_QUOTE]}…"
