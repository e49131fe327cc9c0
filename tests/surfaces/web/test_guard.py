"""The guard, asked over a real port: what does not pass is refused, and every answer is closed."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from brasstag import Waiting
from brasstag.app import Level, Room, log_in, new_link, new_token
from brasstag.surfaces.web.answers import MOST_BODY
from brasstag.surfaces.web.pages import ROUTES
from brasstag.surfaces.web.security.doors import Doors
from brasstag.surfaces.web.security.guard import HEADERS
from tests.surfaces.web.conftest import serving


@dataclass
class Door:
    """A client that says what a test wants it to say."""

    doors: Doors
    room: Room
    client: httpx2.AsyncClient

    async def ask(
        self, method: str, path: str, *, host: str = "", level: Level | None = "approver", **more: Any
    ) -> httpx2.Response:
        """Ask as a browser in which a person of a level is logged in; None is a stranger."""
        headers = {"host": host or self.doors.pages}
        if level is not None:
            headers["cookie"] = f"brasstag={log_in(new_link('ada', level, 'root'))}"
        if method not in ("GET", "HEAD"):
            headers |= {"origin": self.doors.origin, "content-type": "application/json"}
        headers |= more.pop("headers", {})
        headers = {name: value for name, value in headers.items() if value is not None}
        address = f"http://{self.doors.programs}{path}"
        found = await self.client.request(method, address, headers=headers, **more)
        assert {name: found.headers.get(name) for name in HEADERS} == HEADERS
        return found

    async def asked(self) -> str:
        """Let a call wait, and return the address of its decision."""
        (self.room.workspace / "a.md").write_text("old\n")
        waiting = await self.room.call("write_file", {"path": "a.md", "content": "new\n"})
        assert isinstance(waiting, Waiting)
        return f"/api/rooms/project/approvals/{waiting.approval_id}/decision"


@pytest.fixture
async def door(project: Path) -> AsyncIterator[Door]:
    async with serving([project]) as (rooms, doors), httpx2.AsyncClient() as client:
        yield Door(doors, rooms.rooms["project"].room, client)


def code(answer: httpx2.Response) -> str:
    return str(answer.json()["error"]["code"])


async def test_another_host_is_not_answered(door: Door) -> None:
    port = door.doors.pages.rpartition(":")[2]
    for host in (
        "evil.example",
        f"evil.localhost:{port}",
        f"localhost:{port}",
        f"{door.doors.pages}.evil.example",
    ):
        found = await door.ask("GET", "/inbox", host=host)
        assert (found.status_code, code(found)) == (421, "WRONG_HOST")


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "http://localhost:1", ""])
async def test_a_page_of_another_origin_decides_nothing(door: Door, origin: str | None) -> None:
    address = await door.asked()
    found = await door.ask("POST", address, headers={"origin": origin}, json={"approved": True, "seen": ""})
    assert (found.status_code, code(found)) == (403, "CROSS_ORIGIN")
    # The same name with another port is another origin, though the cookie goes there as well.
    other = door.doors.origin.rpartition(":")[0] + ":1"
    found = await door.ask("POST", address, headers={"origin": other}, json={})
    assert (found.status_code, code(found)) == (403, "CROSS_ORIGIN")


@pytest.mark.parametrize(
    "kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]
)
async def test_what_a_form_can_send_is_refused(door: Door, kind: str | None) -> None:
    found = await door.ask("POST", await door.asked(), headers={"content-type": kind}, content=b"{}")
    assert (found.status_code, code(found)) == (415, "WRONG_CONTENT_TYPE")


async def test_a_stranger_sees_only_the_login(door: Door) -> None:
    for path in ("/", "/inbox", "/rooms/project/tasks", "/nothing/here", "/api"):
        found = await door.ask("GET", path, level=None)
        assert (found.status_code, found.headers["location"]) in ((303, "/login"), (303, "/inbox"))
    for path in ("/api/inbox", "/api/events", "/api/nothing", "/api/openapi.json"):
        found = await door.ask("GET", path, level=None)
        assert (found.status_code, code(found)) == (401, "NOT_LOGGED_IN")
    found = await door.ask("POST", await door.asked(), level=None, headers={"origin": None}, json={})
    assert (found.status_code, code(found)) == (401, "NOT_LOGGED_IN")
    found = await door.ask("GET", "/login", level=None)
    assert "A link works once" in found.text


async def test_a_cookie_counts_under_its_own_name_alone(door: Door) -> None:
    found = await door.ask("GET", "/api/inbox", host=door.doors.programs)
    assert (found.status_code, code(found)) == (401, "NOT_LOGGED_IN")
    found = await door.ask("GET", "/api/inbox", headers={"cookie": "brasstag=made-up"})
    assert found.status_code == 401


async def test_a_link_under_another_name_is_sent_to_the_right_one_unused(door: Door) -> None:
    secret = new_link("ada", "viewer", "root")
    found = await door.ask("GET", f"/login/{secret}", host=door.doors.programs, level=None)
    assert found.headers["location"] == f"{door.doors.origin}/login/{secret}"
    assert (await door.ask("HEAD", f"/login/{secret}", level=None)).status_code == 200
    found = await door.ask("GET", f"/login/{secret}", level=None)
    assert (found.status_code, found.headers["location"]) == (303, "/inbox")
    cookie = found.headers["set-cookie"].lower()
    assert all(word in cookie for word in ("httponly", "samesite=strict", "path=/"))
    assert "secure" not in cookie
    again = await door.ask("GET", f"/login/{secret}", level=None)
    assert again.status_code == 403
    assert "NOT_ALLOWED" in again.text


async def test_a_link_from_another_site_asks_once_more_for_its_cookie(door: Door) -> None:
    found = await door.ask("GET", "/inbox", level=None, headers={"sec-fetch-site": "cross-site"})
    assert (found.status_code, 'http-equiv="refresh"' in found.text) == (200, True)
    found = await door.ask("GET", "/inbox", level=None, headers={"sec-fetch-site": "same-origin"})
    assert found.headers["location"] == "/login"


async def test_levels_are_held_to(door: Door) -> None:
    address = await door.asked()
    for level in ("viewer", "operator"):
        found = await door.ask("POST", address, level=level, json={"approved": True, "seen": ""})
        assert (found.status_code, code(found)) == (403, "NOT_ALLOWED")
    found = await door.ask("POST", "/api/rooms/project/tasks", level="viewer", json={"request": "x"})
    assert (found.status_code, code(found)) == (403, "NOT_ALLOWED")


async def test_a_token_never_decides_and_has_no_origin(door: Door) -> None:
    address, bearer = await door.asked(), {"authorization": f"Bearer {new_token('bot', 'operator', 'ada')}"}
    programs = door.doors.programs
    found = await door.ask("GET", "/api/inbox", host=programs, level=None, headers=bearer)
    assert found.json()["count"] == 1
    for needs in [one for one in ROUTES.actions if one.needs == "approver"]:
        place = f"/rooms/project{needs.path}" if needs.of_room else needs.path
        place = "/".join("x" if word.startswith("{") else word for word in place.split("/"))
        found = await door.ask(
            "POST", f"/api{place}", host=programs, level=None, headers=bearer | {"origin": None}, json={}
        )
        assert (found.status_code, code(found)) == (403, "NOT_ALLOWED"), place
    # Not even beside the cookie of an approver.
    found = await door.ask(
        "POST", address, headers=bearer | {"origin": None}, json={"approved": True, "seen": ""}
    )
    assert (found.status_code, code(found)) == (403, "NOT_ALLOWED")
    for origin in ("http://evil.example", door.doors.origin):
        found = await door.ask("POST", address, level=None, headers=bearer | {"origin": origin}, json={})
        assert (found.status_code, code(found)) == (403, "CROSS_ORIGIN")
    found = await door.ask("GET", "/api/inbox", level=None, headers={"authorization": "Bearer made-up"})
    assert found.status_code == 401


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS"])
async def test_other_methods_are_not_known(door: Door, method: str) -> None:
    for path in ("/api/inbox", "/api/rooms/project/tasks"):
        found = await door.ask(method, path)
        assert (found.status_code, code(found)) == (405, "METHOD_NOT_ALLOWED")
    assert "METHOD_NOT_ALLOWED" in (await door.ask(method, "/inbox")).text


async def test_head_is_a_get_without_a_body(door: Door) -> None:
    found = await door.ask("HEAD", "/api/inbox")
    assert (found.status_code, found.content) == (200, b"")


async def test_bodies_that_are_not_what_they_should_be(door: Door) -> None:
    address = await door.asked()

    async def post(content: bytes) -> tuple[int, str]:
        found = await door.ask("POST", address, content=content)
        return found.status_code, code(found)

    assert await post(b" " * (MOST_BODY + 1)) == (413, "TOO_LARGE")
    assert await post(b"{") == (400, "INVALID_ARGUMENTS")
    assert await post(b"\xff\xfe") == (400, "INVALID_ARGUMENTS")
    assert await post(b"[" * 100_000) == (400, "INVALID_ARGUMENTS")
    assert await post(b'{"a":' * 50_000 + b"1" + b"}" * 50_000) == (400, "INVALID_ARGUMENTS")
    assert await post(b"[]") == (422, "INVALID_ARGUMENTS")
    assert await post(b'{"approved": "perhaps", "seen": ""}') == (422, "INVALID_ARGUMENTS")
    assert await post(b'{"approved": true, "seen": "", "more": 1}') == (422, "INVALID_ARGUMENTS")
    deep = {"approved": True, "seen": "", "arguments": json.loads('{"a":' * 400 + "1" + "}" * 400)}
    assert (await post(json.dumps(deep).encode()))[0] in (400, 409, 422)


async def test_what_is_not_there_is_said_in_our_form(door: Door) -> None:
    found = await door.ask("GET", "/api/nothing/here")
    assert (found.status_code, code(found)) == (404, "NOT_FOUND")
    found = await door.ask("GET", "/nothing/here")
    assert (found.status_code, found.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "there is no such page" in found.text
    for path in (
        "/assets/",
        "/assets/x/",
        "/assets/x/style.css",
        "/assets/x/..%2f..%2frooms.py",
        "/assets/../rooms.py",
    ):
        assert (await door.ask("GET", path)).status_code == 404


async def test_a_damaged_file_of_logins_is_said_and_lets_nobody_in(door: Door, tmp_path: Path) -> None:
    session = log_in(new_link("ada", "approver", "root"))
    (tmp_path / "user" / "logins.json").write_text("{")
    found = await door.ask("GET", "/api/inbox", level=None, headers={"cookie": f"brasstag={session}"})
    assert (found.status_code, "logins.json" in found.text) == (500, True)


async def test_a_log_out_ends_this_session(door: Door) -> None:
    cookie = {"cookie": f"brasstag={log_in(new_link('ada', 'viewer', 'root'))}"}
    assert (await door.ask("POST", "/api/logout", level=None, headers=cookie, json={})).json() == {"ok": True}
    assert (await door.ask("GET", "/api/inbox", level=None, headers=cookie)).status_code == 401
    bearer = {"authorization": f"Bearer {new_token('bot', 'operator', 'ada')}", "origin": None}
    found = await door.ask("POST", "/api/logout", level=None, headers=bearer, json={})
    assert (found.status_code, code(found)) == (400, "NOT_SUPPORTED")
