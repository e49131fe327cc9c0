"""Errors of pydantic-ai as our own: what happened, and what to do about it."""

import math
from collections.abc import Callable
from typing import Any

from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
    UnexpectedModelBehavior,
    UserError,
)

from brasstag.models.destinations import Destination, key_variable
from brasstag.models.failures import Transient, not_configured, quoted
from brasstag.words.turns import ModelError

_TRANSIENT_STATUSES = frozenset({408, 409, 425, 429})
_SERVER_AT_FAULT = 500
_NO_CONNECTION = frozenset({"ConnectError", "ConnectTimeout"})
"""The errors that the HTTP libraries raise when no server is there."""

FEW_TRIES = 2
"""How often to try a server that is not there or is silent: that rarely changes, and each try may take long."""

_Told = Callable[[Destination, Any], ModelError]


def model_error(to: Destination, error: Exception) -> ModelError:
    """Return our failure for an exception of pydantic-ai, or of a library below it."""
    for kind, told in _TOLD:
        if isinstance(error, kind):
            return told(to, error)
    return ModelError(f"{to.name} could not be asked: {type(error).__name__}: {quoted(str(error))}")


def another_protocol(to: Destination, kind: str) -> ModelError:
    """Return the failure of a server that answered in a form no model server does."""
    missing = "" if to.base_url.endswith("/v1") else "; is /v1 missing from its address?"
    return not_configured(
        f"{to.provider}{_where(to)} did not answer in OpenAI's protocol ({kind or 'of no stated kind'})"
        f"{missing or '; is this the address of a model server?'}"
    )


def _where(to: Destination) -> str:
    return f" at {to.base_url}" if to.base_url else ""


def _refused_key(to: Destination, error: Any) -> ModelError:
    # The answer of a provider may quote the key, so it is not repeated.
    status = f" (HTTP {error.status_code})" if isinstance(error, ModelHTTPError) else ""
    return not_configured(
        f"{to.provider}{_where(to)} refused the key{status}; check that {key_variable(to.provider)} is set, complete "
        f"and active, and that it may use {to.model}"
    )


def _no_such_model(to: Destination, error: Any) -> ModelError:
    suggested = getattr(error, "suggested_model_id", None)
    hint = f"did you mean {suggested}?" if suggested else "check the name of the model"
    if to.base_url and not suggested:
        hint += ", and that the address is the server's own: most end in /v1"
    return not_configured(f"{to.provider}{_where(to)} has no {to.model}; {hint}")


def _no_credit(to: Destination, _error: Any) -> ModelError:
    said = f"the account at {to.provider} has no credit or quota left; add some, or name another model"
    return Transient(said, retry_after=math.inf)


def _too_long(to: Destination, _error: Any) -> ModelError:
    return ModelError(
        f"the conversation no longer fits into {to.name}; use a model with a larger context window"
    )


def _filtered(to: Destination, _error: Any) -> ModelError:
    return ModelError(f"the content filter of {to.provider} stopped the answer; ask in other words")


def _unreachable(to: Destination, error: Any) -> ModelError:
    tries = FEW_TRIES if _never_connected(error) else None
    return Transient(f"{to.provider}{_where(to)} cannot be reached: {quoted(str(error))}", tries=tries)


def _silent(to: Destination, _error: Any) -> ModelError:
    return Transient(f"{to.provider}{_where(to)} did not answer in time", tries=FEW_TRIES)


def _never_connected(error: BaseException | None) -> bool:
    """Say whether no server was there at all; a connection that broke later is a different failure."""
    while error is not None:
        if type(error).__name__ in _NO_CONNECTION:
            return True
        error = error.__cause__
    return False


def _busy(to: Destination, error: Any) -> ModelError:
    return Transient(f"{to.provider} is limiting requests: {_said(error)}", error.retry_after)


def _failing(to: Destination, error: Any) -> ModelError:
    return Transient(f"{to.provider}{_where(to)} has trouble of its own: {_said(error)}", error.retry_after)


def _garbled(to: Destination, error: Any) -> ModelError:
    return Transient(f"the answer of {to.name} broke off: {quoted(str(error))}")


def _status(to: Destination, error: Any) -> ModelError:
    if error.status_code in _TRANSIENT_STATUSES or error.status_code >= _SERVER_AT_FAULT:
        return _failing(to, error)
    return _refused(to, error)


def _refused(to: Destination, error: Any) -> ModelError:
    return ModelError(f"{to.provider}{_where(to)} refused the request: {_said(error)}")


def _wrong_use(to: Destination, error: Any) -> ModelError:
    return not_configured(f"{to.name} cannot be used like this: {quoted(str(error))}")


def _said(error: ModelAPIError) -> str:
    """Return the provider's own sentence, or at least the status."""
    body = error.body
    for _ in range(2):  # providers wrap it as {"error": {"message": …}}, or once, or not at all
        body = body.get("error", body.get("message", body)) if isinstance(body, dict) else body
    status = f"HTTP {error.status_code}" if isinstance(error, ModelHTTPError) else ""
    words = quoted(body) if isinstance(body, str) and body.strip() else ""
    return ", ".join(part for part in (status, words) if part) or quoted(str(error))


_TOLD: tuple[tuple[type[Exception], _Told], ...] = (
    (ModelQuotaExceededError, _no_credit),
    (ModelAuthenticationError, _refused_key),
    (ModelNotFoundError, _no_such_model),
    (ModelContextWindowExceededError, _too_long),
    (ModelRateLimitError, _busy),
    (ModelServerError, _failing),
    (ModelUnavailableError, _failing),
    (ModelTimeoutError, _silent),
    (ModelRequestTimeout, _silent),
    (ModelConnectionError, _unreachable),
    (ModelRequestRejectedError, _refused),
    (ModelHTTPError, _status),
    (ModelAPIError, _garbled),
    (ContentFilterError, _filtered),
    (UnexpectedModelBehavior, _garbled),
    (UserError, _wrong_use),
)
"""What each kind of error stands for; the first that fits is told."""
