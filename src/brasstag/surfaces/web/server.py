"""The server: all routes behind the guard, run by uvicorn on this machine's own address."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from brasstag.app import SESSION_DAYS, announced, label, log_in
from brasstag.surfaces.web.answers import Answers
from brasstag.surfaces.web.assets_table import serve_asset
from brasstag.surfaces.web.chat import chat
from brasstag.surfaces.web.errors import error_of
from brasstag.surfaces.web.openapi import ApiView, api_view, openapi
from brasstag.surfaces.web.page_templates import PageTemplates
from brasstag.surfaces.web.pages import ROUTES
from brasstag.surfaces.web.rooms import ServedRooms, open_rooms
from brasstag.surfaces.web.routes import Visit, WebPage
from brasstag.surfaces.web.security.doors import Doors, ServeOptions
from brasstag.surfaces.web.security.guard import Guard
from brasstag.surfaces.web.security.identity import COOKIE
from brasstag.surfaces.web.stream import stream_events
from brasstag.words.errors import Code, ToolError

OPEN_PATHS = ("/assets/", "/login", "/stream.js")
GRACE_SECONDS = 3
"""How long open streams may go on once the server ends."""


def web_app(rooms: ServedRooms, doors: Doors) -> ASGIApp:
    """Return the application for some open rooms."""
    templates = PageTemplates()
    answers = Answers(rooms, templates)
    routes = [
        Route("/", _to_inbox),
        Route("/login", partial(_login_page, templates)),
        Route("/login/{secret}", partial(_log_in, templates, doors)),
        Route("/assets/{digest}/{name}", serve_asset),
        Route("/api/events", partial(stream_events, rooms)),
        Route("/api/ai/chat", partial(chat, rooms), methods=["POST"]),
        Route("/api/openapi.json", _describe),
        Route("/api", partial(answers.page, _API)),
    ]
    for page in ROUTES.pages:
        place = f"/rooms/{{room}}{page.path}" if page.of_room else page.path
        routes.append(Route(place, partial(answers.page, page)))
        routes.append(Route(f"/api{place}", partial(answers.look, page)))
    for action in ROUTES.actions:
        place = f"/rooms/{{room}}{action.path}" if action.of_room else action.path
        routes.append(Route(f"/api{place}", partial(answers.act, action), methods=[action.method]))
    handlers = {404: answers.missing, 405: answers.missing}
    return Guard(Starlette(routes=routes, exception_handlers=handlers), doors, OPEN_PATHS)


async def _describe(_request: Request) -> Response:
    return JSONResponse(openapi(ROUTES))


async def _view_api(_visit: Visit) -> ApiView:
    return api_view(ROUTES)


_API = WebPage("", "api.html", ApiView, _view_api, "The addresses of the API.", of_room=False)


async def _to_inbox(_request: Request) -> Response:
    return RedirectResponse("/inbox", 303)


async def _login_page(templates: PageTemplates, request: Request) -> Response:
    return await templates.plain("login.html", 401 if request.state.identity is None else 200)


async def _log_in(templates: PageTemplates, doors: Doors, request: Request) -> Response:
    if request.headers["host"] != doors.pages:
        # A cookie of another name would not count.
        return RedirectResponse(f"{doors.origin}{request.url.path}", 303)
    if request.method != "GET":
        return await templates.plain("login.html")
    try:
        session = log_in(request.path_params["secret"])
    except ToolError as error:
        return await templates.plain("error.html", 403, error=error_of(error), address="/login")
    found = RedirectResponse("/inbox", 303)
    found.set_cookie(
        COOKIE,
        session,
        max_age=SESSION_DAYS * 24 * 3600,
        httponly=True,
        samesite="strict",
        secure=doors.scheme == "https",
        path="/",
    )
    return found


async def serve(
    projects: Sequence[Path], options: ServeOptions, actor: str, ready: Callable[[Doors], None]
) -> None:
    """Serve the rooms of some projects until the process is told to end; ``ready`` is told where."""
    options.require_safe()
    async with open_rooms(projects, actor) as rooms:
        config = uvicorn.Config(
            _not_yet,
            host=options.host,
            port=options.port,
            ssl_certfile=options.tls_cert,
            ssl_keyfile=options.tls_key,
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
            lifespan="off",
        )
        server = uvicorn.Server(config)
        try:
            socket = config.bind_socket()
        except SystemExit:
            # uvicorn ends the process where it cannot listen, and has logged why.
            where = f"{options.host} port {options.port}"
            raise ToolError(
                Code.BUSY, f"the control room cannot listen at {where}; name another port"
            ) from None
        doors = options.doors(socket.getsockname()[1], label())
        config.app = web_app(rooms, doors)
        with announced(doors.origin, {one.project: name for name, one in rooms.rooms.items()}):
            # A person may use the link at once: until the server takes it, the connection waits.
            socket.listen(config.backlog)
            ready(doors)
            running = asyncio.create_task(server.serve(sockets=[socket]))
            try:
                await asyncio.shield(running)
            finally:
                server.should_exit = True
                await asyncio.wait([running])
                socket.close()


async def _not_yet(*_: object) -> None:
    """Stand in until the port is known."""
