"""The guard before every request: the right host, the right origin, a known person or program, and closed headers.

A page of another site, or of another port of this machine, must not be able to read or write anything here. Cookies do not
separate ports, so pages are served under a random name below ``localhost`` that no other server has.
"""

from dataclasses import dataclass, field

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from brasstag.surfaces.web.security.identity import Identity, Person, identify

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


@dataclass(frozen=True, slots=True)
class Doors:
    """The names under which the control room is reached."""

    pages: str
    """``name.localhost:port``, for browsers: cookies count here."""
    programs: str
    """``127.0.0.1:port``, for programs: only tokens count here."""
    scheme: str = "http"
    more_programs: frozenset[str] = field(default_factory=frozenset)

    @property
    def origin(self) -> str:
        """The one origin from which pages may write."""
        return f"{self.scheme}://{self.pages}"


class Guard:
    """Wraps the application; what does not pass is answered here."""

    def __init__(self, app: ASGIApp, doors: Doors, open_paths: tuple[str, ...]) -> None:
        """``open_paths`` are the beginnings of paths that need no login."""
        self._app = app
        self._doors = doors
        self._open_paths = open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or answer why not."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        refused = self._refusal(request)

        async def send_closed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-store")
            await send(message)

        await (refused or self._app)(scope, receive, send_closed)

    def _refusal(self, request: Request) -> Response | None:
        host = request.headers.get("host", "")
        is_page = host == self._doors.pages
        if not is_page and host not in (self._doors.programs, *self._doors.more_programs):
            return _refused(421, "WRONG_HOST", "this server does not answer under that name")
        identity = identify(request, by_cookie=is_page)
        request.state.identity = identity
        why = None if request.method in _SAFE else self._why_no_write(request, identity)
        if why is not None:
            return _refused(403, "CROSS_ORIGIN", why)
        if identity is None and not request.url.path.startswith(self._open_paths):
            return None if _wants_page(request) else _refused(401, "NOT_LOGGED_IN", "log in, or send a token")
        return None

    def _why_no_write(self, request: Request, identity: Identity | None) -> str | None:
        """Say why a request may not change anything: another page may have sent it."""
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
            return f"send {JSON}"
        origin = request.headers.get("origin")
        if isinstance(identity, Person) and origin != self._doors.origin:
            return "a page of another origin sent this"
        if not isinstance(identity, Person) and origin not in (None, self._doors.origin):
            return "a page of another origin sent this"
        return None


def _wants_page(request: Request) -> bool:
    return not request.url.path.startswith("/api/")


def _refused(status: int, code: str, message: str) -> Response:
    return JSONResponse({"error": {"code": code, "message": message}}, status)
