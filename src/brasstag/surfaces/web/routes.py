"""Routes: a page and its JSON are one view; an action takes and gives JSON.

WebPage    GET /path       the view's model in a template
           GET /api/path   the same model as JSON
WebAction  POST /api/path  takes a model, changes something, gives a model
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel
from starlette.requests import Request

from brasstag.app import Level, Room
from brasstag.surfaces.web.rooms import ServedRoom, ServedRooms
from brasstag.surfaces.web.security.identity import Identity, Person
from brasstag.words.approvals import Approver
from brasstag.words.errors import Code, ToolError


class WebModel(BaseModel):
    """What pages show and the API gives: frozen, camelCase in JSON, nothing unknown taken."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="forbid")


ViewModel = TypeVar("ViewModel", bound=WebModel)
Body = TypeVar("Body", bound=WebModel)


@dataclass(frozen=True, slots=True)
class Visit:
    """One request: who asks, about which room, with which words in the address."""

    request: Request
    rooms: ServedRooms
    identity: Identity
    served: ServedRoom | None = None
    """The room in the address; None for what is about all rooms."""

    @property
    def room(self) -> Room:
        """The room in the address."""
        if self.served is None:
            raise ToolError(Code.INVALID_ARGUMENTS, "this address names no room")
        return self.served.room

    def keep(self, work: Coroutine[Any, Any, object]) -> None:
        """Let something go on after the answer; it ends with the server."""
        task = asyncio.create_task(work)
        self.rooms.working.add(task)
        task.add_done_callback(self.rooms.working.discard)

    @property
    def path(self) -> Mapping[str, str]:
        """The words of the address, by name."""
        return self.request.path_params

    @property
    def query(self) -> Mapping[str, str]:
        """What stands behind the question mark."""
        return self.request.query_params

    @property
    def approver(self) -> Approver:
        """The person who decides; raises ToolError for anyone else."""
        if not isinstance(self.identity, Person):
            raise ToolError(Code.NOT_AN_APPROVER, "a program never decides; a person logs in for that")
        return self.identity.login.approver


@dataclass(frozen=True, slots=True)
class WebPage(Generic[ViewModel]):
    """A page with its JSON."""

    path: str
    """Below ``/rooms/{room}`` where it is about one room; ``{name}`` stands for a word, ``{name:path}`` for several."""
    template: str
    model: type[ViewModel]
    view: Callable[[Visit], Awaitable[ViewModel]]
    about: str
    """One sentence, for the description of the API."""
    of_room: bool = True
    nav: str = ""
    """Which entry of the navigation it belongs to."""


@dataclass(frozen=True, slots=True)
class WebAction(Generic[Body, ViewModel]):
    """Something that changes or looks, by JSON alone."""

    path: str
    body: type[Body]
    model: type[ViewModel]
    act: Callable[[Visit, Body], Awaitable[ViewModel]]
    about: str
    needs: Level = "operator"
    of_room: bool = True
    method: Literal["POST"] = "POST"


class Nothing(WebModel):
    """No words are needed."""


class Accepted(WebModel):
    """It was done."""

    ok: bool = True


AnyRoute = WebPage[Any] | WebAction[Any, Any]


@dataclass(frozen=True, slots=True)
class RouteTable:
    """All pages and actions of the control room."""

    pages: tuple[WebPage[Any], ...] = ()
    actions: tuple[WebAction[Any, Any], ...] = field(default=())
