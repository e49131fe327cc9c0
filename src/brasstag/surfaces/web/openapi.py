"""The description of the API: made from the table of routes, so it names every route there is."""

import re
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from brasstag import __version__
from brasstag.surfaces.web.chat import ChatAnswer, ChatBody
from brasstag.surfaces.web.routes import RouteTable, WebAction, WebModel, WebPage

_WORD = re.compile(r"\{(\w+)(?::\w+)?\}")
_JSON = "application/json"


class ApiErrorDetail(WebModel):
    """What went wrong."""

    code: str
    message: str
    details: dict[str, Any] | None = None


class ApiError(WebModel):
    """The answer to a request that was refused or failed."""

    error: ApiErrorDetail


class ApiRoute(WebModel):
    """One address of the API."""

    method: str
    path: str
    about: str
    needs: str
    body: str
    """The name of the schema of its body; empty where it takes none."""
    answer: str


class ApiView(WebModel):
    """All addresses of the API."""

    routes: list[ApiRoute]


def api_view(table: RouteTable) -> ApiView:
    """Return the addresses of the API, as the page lists them."""
    return ApiView(routes=[*_routes(table)])


def _routes(table: RouteTable) -> Iterator[ApiRoute]:
    for page in table.pages:
        yield ApiRoute(
            method="GET",
            path=_path(page),
            about=page.about,
            needs="viewer",
            body="",
            answer=page.model.__name__,
        )
    for action in table.actions:
        yield ApiRoute(
            method=action.method,
            path=_path(action),
            about=action.about,
            needs=action.needs,
            body=action.body.__name__,
            answer=action.model.__name__,
        )
    yield ApiRoute(
        method="POST",
        path="/api/ai/chat",
        about=str(_CHAT["summary"]),
        needs="operator",
        body="ChatBody",
        answer="ChatAnswer",
    )


def openapi(table: RouteTable) -> dict[str, Any]:
    """Return the description of the API in the form of OpenAPI 3.1."""
    models: list[tuple[type[BaseModel], Any]] = [
        (ApiError, "serialization"),
        (ChatAnswer, "serialization"),
        (ChatBody, "validation"),
    ]
    models += [(page.model, "serialization") for page in table.pages]
    models += [(action.model, "serialization") for action in table.actions]
    models += [(action.body, "validation") for action in table.actions]
    names, schemas = models_json_schema(
        list(dict.fromkeys(models)), by_alias=True, ref_template="#/components/schemas/{model}"
    )
    paths: dict[str, dict[str, Any]] = {}
    for page in table.pages:
        paths.setdefault(_path(page), {})["get"] = _operation(
            page, names[page.model, "serialization"], "viewer"
        )
    for action in table.actions:
        found = _operation(action, names[action.model, "serialization"], action.needs)
        taken = names[action.body, "validation"]
        found["requestBody"] = {"required": True, "content": {_JSON: {"schema": taken}}}
        paths.setdefault(_path(action), {})[action.method.lower()] = found
    paths["/api/events"] = {"get": _EVENTS}
    paths["/api/ai/chat"] = {"post": _CHAT}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Brasstag control room", "version": __version__},
        "paths": paths,
        "components": {
            "schemas": schemas.get("$defs", {}),
            "securitySchemes": {
                "login": {"type": "apiKey", "in": "cookie", "name": "brasstag"},
                "token": {"type": "http", "scheme": "bearer"},
            },
        },
        "security": [{"login": []}, {"token": []}],
    }


def _path(route: WebPage[Any] | WebAction[Any, Any]) -> str:
    place = f"/rooms/{{room}}{route.path}" if route.of_room else route.path
    return "/api" + _WORD.sub(r"{\1}", place)


def _operation(
    route: WebPage[Any] | WebAction[Any, Any], answer: dict[str, Any], needs: str
) -> dict[str, Any]:
    words = _WORD.findall(_path(route))
    return {
        "summary": route.about,
        "description": f"Needs {needs}.",
        "parameters": [
            {"name": word, "in": "path", "required": True, "schema": {"type": "string"}} for word in words
        ],
        "responses": {
            "200": {"description": "Done.", "content": {_JSON: {"schema": answer}}},
            "default": _FAILED,
        },
        **({"security": [{"login": []}]} if needs == "approver" else {}),
    }


_FAILED = {
    "description": "Refused or failed.",
    "content": {_JSON: {"schema": {"$ref": "#/components/schemas/ApiError"}}},
}
_EVENTS = {
    "summary": "Everything that happens in all rooms, as server-sent events whose ids can be resumed.",
    "parameters": [
        {"name": "after", "in": "query", "schema": {"type": "string"}},
        {"name": "Last-Event-ID", "in": "header", "schema": {"type": "string"}},
    ],
    "responses": {
        "200": {"description": "A stream.", "content": {"text/event-stream": {"schema": {"type": "string"}}}},
        "default": _FAILED,
    },
}
_CHAT = {
    "summary": "Chat with the crew, as a run; a pause for people is an answer.",
    "description": "Needs operator. The stream has `run`, `text`, `tool` and `end`; the data of `end` is a ChatAnswer.",
    "parameters": [],
    "requestBody": {
        "required": True,
        "content": {_JSON: {"schema": {"$ref": "#/components/schemas/ChatBody"}}},
    },
    "responses": {
        "200": {
            "description": "The run ended, or a stream.",
            "content": {
                _JSON: {"schema": {"$ref": "#/components/schemas/ChatAnswer"}},
                "text/event-stream": {"schema": {"type": "string"}},
            },
        },
        "202": {
            "description": "It waits for people.",
            "content": {_JSON: {"schema": {"$ref": "#/components/schemas/ChatAnswer"}}},
        },
        "default": _FAILED,
    },
}
