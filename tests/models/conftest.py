"""No test of this room uses the keys of whoever runs it."""

import os

import pytest

from tests.real_model import real_model

__all__ = ["real_model"]

_NAMES = (
    "OPENAI",
    "ANTHROPIC",
    "GEMINI",
    "GOOGLE",
    "OPENROUTER",
    "AZURE",
    "OLLAMA",
    "LMSTUDIO",
    "LLAMACPP",
    "VLLM",
)


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(_NAMES) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
