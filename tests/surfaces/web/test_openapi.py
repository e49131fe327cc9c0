"""The description of the API is true: every route stands in it, and real answers fit its schemas."""

from pathlib import Path
from typing import Any

import httpx2
import jsonschema_rs

from brasstag import Waiting
from brasstag.app import Room, new_token
from brasstag.surfaces.web.pages import ROUTES
from tests.surfaces.web.conftest import serving


async def _words(room: Room) -> dict[str, str]:
    """Return something real for the words of addresses."""
    (room.workspace / "a.md").write_text("old\n")
    waiting = await room.call("write_file", {"path": "a.md", "content": "new\n"})
    assert isinstance(waiting, Waiting)
    return {"room": "project", "approval": waiting.approval_id, "task": room.task_id}


async def test_every_route_is_described_and_every_answer_fits(project: Path) -> None:
    async with serving([project]) as (rooms, doors), httpx2.AsyncClient() as client:
        words = await _words(rooms.rooms["project"].room)
        bearer = {"authorization": f"Bearer {new_token('bot', 'operator', 'ada')}"}

        async def get(path: str) -> httpx2.Response:
            return await client.get(f"http://{doors.programs}{path}", headers=bearer)

        described: dict[str, Any] = (await get("/api/openapi.json")).json()
        jsonschema_rs.meta.validate(described["components"]["schemas"]["InboxView"])
        operations = {(path, method) for path, known in described["paths"].items() for method in known}
        assert len(operations) == len(ROUTES.pages) + len(ROUTES.actions) + 2
        looked = 0
        for path, known in described["paths"].items():
            if path == "/api/events" or "get" not in known:
                continue
            needed = [one["name"] for one in known["get"]["parameters"]]
            if not set(needed) <= words.keys():
                continue
            found = await get(path.format(**words))
            assert found.status_code == 200, (path, found.text)
            schema = known["get"]["responses"]["200"]["content"]["application/json"]["schema"]
            whole = schema | {"components": described["components"]}
            jsonschema_rs.validate(whole, found.json())
            looked += 1
        assert looked >= 3
        failed = await get("/api/rooms/nothing/tasks")
        error = {"$ref": "#/components/schemas/ApiError", "components": described["components"]}
        jsonschema_rs.validate(error, failed.json())
        page = await get("/api")
        assert all(path in page.text for path in described["paths"] if path != "/api/events")
