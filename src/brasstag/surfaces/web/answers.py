"""Answers: a model as JSON or in a template, and every error with a status and a code."""

import json
from typing import Any

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from brasstag.surfaces.web.errors import error_of, failed, refused, status_of
from brasstag.surfaces.web.page_templates import PageTemplates
from brasstag.surfaces.web.rooms import ServedRooms
from brasstag.surfaces.web.routes import Action, Page, Visit
from brasstag.surfaces.web.security.identity import Identity
from brasstag.words.errors import BrasstagError, Code, ToolError

MOST_BODY = 4 << 20
"""How many bytes a request may bring."""


class Answers:
    """Turns requests into answers."""

    def __init__(self, rooms: ServedRooms, templates: PageTemplates) -> None:
        self._rooms = rooms
        self._templates = templates

    async def page(self, page: Page[Any], request: Request) -> Response:
        """Answer a page."""
        identity: Identity | None = request.state.identity
        if identity is None:
            return RedirectResponse("/login", 303)
        try:
            visit = self._visit(request, identity, of_room=page.of_room)
            found = await page.view(visit)
        except BrasstagError as error:
            return await self._templates.error(request, status_of(error), error_of(error))
        return await self._templates.page(visit, page, found)

    async def look(self, page: Page[Any], request: Request) -> Response:
        """Answer the JSON of a page."""
        try:
            visit = self._visit(request, request.state.identity, of_room=page.of_room)
            return _json(await page.view(visit))
        except BrasstagError as error:
            return failed(error)

    async def act(self, action: Action[Any, Any], request: Request) -> Response:
        """Do something, and answer with what came of it."""
        identity: Identity | None = request.state.identity
        if identity is None:
            return refused(401, "NOT_LOGGED_IN", "log in, or send a token")
        if not identity.may(action.needs):
            return refused(
                403, Code.NOT_ALLOWED.value, f"this needs {action.needs}; {identity.name} is not one"
            )
        try:
            body = action.body.model_validate(await _body(request))
            visit = self._visit(request, identity, of_room=action.of_room)
            return _json(await action.act(visit, body))
        except ValidationError as error:
            said = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
            return refused(422, Code.INVALID_ARGUMENTS.value, said)
        except BrasstagError as error:
            return failed(error)

    def _visit(self, request: Request, identity: Identity, *, of_room: bool) -> Visit:
        served = self._rooms.get(request.path_params["room"]) if of_room else None
        return Visit(request, self._rooms, identity, served)


async def _body(request: Request) -> Any:
    data = bytearray()
    async for piece in request.stream():
        data += piece
        if len(data) > MOST_BODY:
            raise ToolError(Code.TOO_LARGE, f"a request may bring {MOST_BODY} bytes")
    try:
        return json.loads(bytes(data) or b"{}")
    except ValueError:
        raise ToolError(Code.INVALID_ARGUMENTS, "the body is not JSON") from None


def _json(model: Any) -> Response:
    return Response(model.model_dump_json(by_alias=True), media_type="application/json")
