"""The guard before every request: the right host, the right origin, a known person or program, and closed headers.

A page of another site, or of another port of this machine, must not be able to read or write anything here. Cookies do not
separate ports, so pages are served under a random name below ``localhost`` that no other server has.
"""

import logging

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from brasstag.surfaces.web.errors import failed, refused
from brasstag.surfaces.web.security.doors import Doors
from brasstag.surfaces.web.security.identity import Identity, Person, identify
from brasstag.words.errors import BrasstagError, Code

log = logging.getLogger("brasstag")

JSON = "application/json"

_SAFE = frozenset({"GET", "HEAD"})

_CLOSED = (
    "default-src 'none'",
    "script-src 'self'",
    "worker-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types brasstag",
)
"""What a page may load and do: nothing but this origin's own."""

HEADERS = {
    "content-security-policy": "; ".join(_CLOSED),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


class Guard:
    """Wraps the application; what does not pass is answered here."""

    def __init__(self, app: ASGIApp, doors: Doors, open_paths: tuple[str, ...]) -> None:
        """``open_paths`` are the beginnings of paths that need no login."""
        self._app = app
        self._doors = doors
        self._open_paths = open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or answer why not; every answer has the headers, that to an error of ours too."""
        if scope["type"] != "http":
            # Nothing here speaks WebSocket.
            await send({"type": "websocket.close", "code": 1008})
            return
        begun = False

        async def send_closed(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-store")
            await send(message)

        try:
            answer = self._refusal(Request(scope)) or self._app
            await answer(scope, receive, send_closed)
        except BrasstagError as error:
            if begun:
                raise
            await failed(error)(scope, receive, send_closed)
        except Exception:
            if begun:
                raise
            log.exception("a request failed: %s %s", scope["method"], scope["path"])
            said = "the control room failed at this; its log says why"
            await refused(500, Code.INTERNAL_ERROR.value, said)(scope, receive, send_closed)

    def _refusal(self, request: Request) -> Response | None:
        host = request.headers.get("host", "")
        is_page = host == self._doors.pages
        if not is_page and host not in (self._doors.programs, *self._doors.more_programs):
            return refused(421, "WRONG_HOST", "this server does not answer under that name")
        identity = identify(request, by_cookie=is_page)
        request.state.identity = identity
        if request.method not in _SAFE:
            if not _is_json(request):
                return refused(415, "WRONG_CONTENT_TYPE", f"send {JSON}")
            if not self._is_from_here(request, identity):
                return refused(403, "CROSS_ORIGIN", "a page of another origin sent this")
        if identity is None and not request.url.path.startswith(self._open_paths):
            return None if _wants_page(request) else refused(401, "NOT_LOGGED_IN", "log in, or send a token")
        return None

    def _is_from_here(self, request: Request, identity: Identity | None) -> bool:
        """Say whether a request that may change something comes from a page of ours, or from a program.

        A browser names the origin of the page with every such request; a program has none to name.
        """
        origin = request.headers.get("origin")
        return origin == self._doors.origin if isinstance(identity, Person) else origin is None


def _is_json(request: Request) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == JSON


def _wants_page(request: Request) -> bool:
    return request.method in _SAFE and not request.url.path.startswith("/api/")
