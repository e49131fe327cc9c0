"""Answers: a model as JSON or in a template, and every error with a status and a code."""

import json
from typing import Any

from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from brasstag.surfaces.web.errors import error_of, failed, refused, status_of
from brasstag.surfaces.web.page_templates import PageTemplates
from brasstag.surfaces.web.rooms import ServedRooms
from brasstag.surfaces.web.routes import Visit, WebAction, WebPage
from brasstag.surfaces.web.security.identity import Identity
from brasstag.words.errors import BrasstagError, Code, ToolError

MOST_BODY = 4 << 20
"""How many bytes a request may bring."""


class Answers:
    """Turns requests into answers."""

    def __init__(self, rooms: ServedRooms, templates: PageTemplates) -> None:
        self._rooms = rooms
        self._templates = templates

    async def page(self, page: WebPage[Any], request: Request) -> Response:
        """Answer a page."""
        identity: Identity | None = request.state.identity
        if identity is None:
            return await self._who_are_you(request)
        try:
            visit = self._visit(request, identity, of_room=page.of_room)
            found = await page.view(visit)
        except BrasstagError as error:
            return await self._templates.error(request, status_of(error), error_of(error))
        return await self._templates.page(visit, page, found)

    async def _who_are_you(self, request: Request) -> Response:
        """Send a stranger to the login.

        A link in a mail or a chat comes from another site, and a browser keeps the cookie back for it. The page then asks
        for itself once more: from here, so the cookie comes with it.
        """
        if request.headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            return await self._templates.plain("again.html")
        return RedirectResponse("/login", 303)

    async def missing(self, request: Request, error: Exception) -> Response:
        """Answer where nothing is, or where a method is not known."""
        is_method = isinstance(error, HTTPException) and error.status_code == 405
        status, code = (405, "METHOD_NOT_ALLOWED") if is_method else (404, "NOT_FOUND")
        said = f"{request.method} is not known here" if is_method else "there is no such page"
        if request.url.path.startswith("/api/"):
            return refused(status, code, said)
        if request.state.identity is None and not is_method:
            # A stranger does not learn which addresses there are.
            return await self._who_are_you(request)
        return await self._templates.error(request, status, {"code": code, "message": said})

    async def look(self, page: WebPage[Any], request: Request) -> Response:
        """Answer the JSON of a page."""
        try:
            visit = self._visit(request, request.state.identity, of_room=page.of_room)
            return as_json(await page.view(visit))
        except BrasstagError as error:
            return failed(error)

    async def act(self, action: WebAction[Any, Any], request: Request) -> Response:
        """Do something, and answer with what came of it."""
        identity: Identity | None = request.state.identity
        if identity is None:
            return refused(401, "NOT_LOGGED_IN", "log in, or send a token")
        if not identity.may(action.needs):
            return refused(
                403, Code.NOT_ALLOWED.value, f"this needs {action.needs}; {identity.name} is not one"
            )
        try:
            body = action.body.model_validate(await read_body(request))
            visit = self._visit(request, identity, of_room=action.of_room)
            return as_json(await action.act(visit, body))
        except ValidationError as error:
            return unfit(error)
        except BrasstagError as error:
            return failed(error)

    def _visit(self, request: Request, identity: Identity, *, of_room: bool) -> Visit:
        served = self._rooms.get(request.path_params["room"]) if of_room else None
        return Visit(request, self._rooms, identity, served)


def unfit(error: ValidationError) -> Response:
    """Return what does not fit in a body: each field with what is wrong there."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    said = "; ".join(f"{'.'.join(map(str, one['loc'])) or 'the body'}: {one['msg']}" for one in found)
    return refused(422, Code.INVALID_ARGUMENTS.value, said)


async def read_body(request: Request) -> Any:
    """Return the JSON of a request; raise ToolError for a body that is too large or no JSON."""
    data = bytearray()
    async for piece in request.stream():
        data += piece
        if len(data) > MOST_BODY:
            raise ToolError(Code.TOO_LARGE, f"a request may bring {MOST_BODY} bytes")
    try:
        return json.loads(bytes(data) or b"{}")
    except (ValueError, RecursionError):
        raise ToolError(Code.INVALID_ARGUMENTS, "the body is not JSON, or nested too deep") from None


def as_json(model: Any) -> Response:
    """Return a model as JSON."""
    return Response(model.model_dump_json(by_alias=True), media_type="application/json")
