"""Pages from templates: autoescaped, with what every page shows around its own part."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from brasstag.surfaces.web.assets_table import asset_address
from brasstag.surfaces.web.routes import Visit, WebPage
from brasstag.surfaces.web.show.text import plain, shown
from brasstag.surfaces.web.show.times import ago, when
from brasstag.surfaces.web.stream import place_of

FOLDER = Path(__file__).parent / "templates"

NAVIGATION = (("inbox", "Inbox", "i"), ("tasks", "Tasks", "t"))
"""The pages of the navigation, with the key that follows ``g``."""


class PageTemplates:
    """The templates of the control room."""

    def __init__(self) -> None:
        self._environment = Environment(
            loader=FileSystemLoader(FOLDER),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            finalize=shown,
            enable_async=True,
        )
        self._environment.globals.update(asset=asset_address, navigation=NAVIGATION)
        self._environment.filters.update(ago=ago, when=when, plain=plain)

    async def page(self, visit: Visit, page: WebPage[Any], model: Any) -> Response:
        """Return a page with its model."""
        items = [len(await served.room.inbox()) for served in visit.rooms.rooms.values()]
        found = await self._environment.get_template(page.template).render_async(
            model=model,
            visit=visit,
            nav=page.nav,
            here=visit.served or next(iter(visit.rooms.rooms.values())),
            waiting=sum(items),
            place=await place_of(visit.rooms),
        )
        return HTMLResponse(found)

    async def plain(self, template: str, status: int = 200, **more: Any) -> Response:
        """Return a page that stands alone, without a room."""
        return HTMLResponse(await self._environment.get_template(template).render_async(**more), status)

    async def error(self, request: Request, status: int, error: dict[str, Any]) -> Response:
        """Return a page that says what went wrong."""
        return await self.plain("error.html", status, error=error, address=request.url.path)
