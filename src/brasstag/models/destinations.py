"""Destinations: where a model is reached, and the four kinds of server that people run themselves."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit, urlunsplit

from brasstag.models.failures import not_configured

Fetch = Callable[[str], bytes]
"""Returns the bytes that lie among the blobs under a digest."""

COMPATIBLE = "openai-compatible"
"""The kind of any other server that speaks OpenAI's protocol; its address is part of the model's name."""

LOCAL_PORTS: Mapping[str, int] = {"ollama": 11434, "lmstudio": 1234, "llamacpp": 8080, "vllm": 8000}
LOCAL_NAMES: Mapping[str, str] = {
    "ollama": "Ollama",
    "lmstudio": "LM Studio",
    "llamacpp": "llama.cpp",
    "vllm": "vLLM",
}

_LOOPBACK = "127.0.0.1"
_OTHER_KEYS = {"google": "GEMINI_API_KEY", "azure": "AZURE_OPENAI_API_KEY", "huggingface": "HF_TOKEN"}


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a model is reached."""

    provider: str
    model: str
    base_url: str = ""
    """Empty where the provider itself knows."""
    key: str = field(default="", repr=False)
    context_tokens: int | None = None
    """How many tokens fit into it, where its name says so."""

    @property
    def name(self) -> str:
        """How messages name it."""
        return f"{self.provider}:{self.model}"


def key_variable(provider: str) -> str:
    """Return which variable of the environment holds a provider's key."""
    return _OTHER_KEYS.get(provider) or f"{_plain(provider).upper().replace('-', '_')}_API_KEY"


def _plain(provider: str) -> str:
    return provider.removesuffix("-chat").removesuffix("-responses")


def local_destination(
    kind: str, model: str, environ: Mapping[str, str], context: int | None = None
) -> Destination:
    """Return where a model of one of the four kinds is reached: this machine, or wherever the environment says."""
    return Destination(kind, model, local_url(kind, environ), environ.get(key_variable(kind), ""), context)


def local_url(kind: str, environ: Mapping[str, str]) -> str:
    """Return the base URL of one of the four kinds, from ``OLLAMA_BASE_URL``, ``OLLAMA_HOST`` and similar variables."""
    for ending in ("BASE_URL", "HOST"):
        variable = f"{kind.upper()}_{ending}"
        if told := environ.get(variable, "").strip():
            return read_url(told, variable, LOCAL_PORTS[kind])
    return f"http://{_LOOPBACK}:{LOCAL_PORTS[kind]}/v1"


def other_openai(environ: Mapping[str, str]) -> str:
    """Return what OPENAI_BASE_URL says, where that is not OpenAI itself but a server that speaks like it; else nothing."""
    told = environ.get("OPENAI_BASE_URL", "").strip().rstrip("/")
    if not told or urlsplit(read_url(told, "OPENAI_BASE_URL")).hostname == "api.openai.com":
        return ""
    return told


def read_url(told: str, where: str, port: int | None = None) -> str:
    """Return a base URL ending in ``/v1`` or a path of its own; hosts may come bare, as in ``OLLAMA_HOST``."""
    try:
        url = urlsplit(told if "://" in told else f"http://{told}")
        host, given = url.hostname, url.port
    except ValueError:
        host, given, url = None, None, SplitResult("", "", "", "", "")
    if not host or url.scheme not in ("http", "https"):
        raise not_configured(
            f"{where} is not the address of a server; write one such as http://{_LOOPBACK}:8080/v1"
        )
    if url.username or url.password:
        raise not_configured(
            f"{where} has a password in it; put keys into the environment, not into addresses"
        )
    if host in ("0.0.0.0", "::"):  # noqa: S104 - a server that listens on all addresses is reached on this machine
        host = _LOOPBACK
    host = f"[{host}]" if ":" in host else host
    number = given or (port if url.scheme == "http" else None)
    place = f"{host}:{number}" if number else host
    return urlunsplit((url.scheme, place, url.path.rstrip("/") or "/v1", "", ""))
