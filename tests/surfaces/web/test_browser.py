"""What the control room has to survive in a real browser: two reviewers, many tabs, other origins, and kill -9."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from playwright.async_api import BrowserContext, async_playwright

from brasstag import Room, Waiting
from brasstag.app import log_in, new_link
from tests.conftest import MakeProject
from tests.surfaces.web.conftest import PATIENCE, ControlRoom, needs_chromium, serving
from tests.surfaces.web.test_decision import Open, asked

pytestmark = needs_chromium


async def _send(
    control: ControlRoom, context: BrowserContext, path: str, origin: str, body: dict[str, Any]
) -> httpx2.Response:
    """Send what a page could send, with the cookies of a browser, but without its console."""
    cookies = "; ".join(f"{one['name']}={one['value']}" for one in await context.cookies(control.origin))  # type: ignore[typeddict-item]
    headers = {"host": control.doors.pages, "cookie": cookies, "origin": origin}
    async with httpx2.AsyncClient() as client:
        return await client.post(f"http://{control.doors.programs}{path}", headers=headers, json=body)


async def test_the_second_reviewer_is_told_and_decides_nothing(
    make_project: MakeProject, control_room: Open
) -> None:
    control = await control_room(make_project())
    approval = await asked(control)
    pages = [await control.page(f"/rooms/project/approvals/{approval}", name=name) for name in ("ada", "bob")]
    await pages[0].click("#approve")
    await pages[1].wait_for_selector("#standing .banner")
    assert "by ada (login)" in await pages[1].inner_text("#standing")
    assert await pages[1].is_disabled("#approve")
    seen = await pages[1].get_attribute("#decision", "data-seen")
    address = f"/api/rooms/project/approvals/{approval}/decision"
    found = await _send(control, pages[1].context, address, control.origin, {"approved": False, "seen": seen})
    assert found.status_code == 409
    assert found.json()["error"]["code"] == "APPROVAL_CLOSED"


async def test_nine_tabs_are_live_at_once(make_project: MakeProject, control_room: Open) -> None:
    control = await control_room(make_project())
    context = await control.context()
    tabs = [await context.new_page() for _ in range(9)]
    for tab in tabs:
        await control.open(tab, "/inbox")
    await asked(control)
    for tab in tabs:
        await tab.wait_for_selector("#inbox a.row")
    # Beside nine tabs, the server still answers.
    await tabs[8].goto(f"{control.origin}/rooms/project/tasks")


async def test_a_page_of_another_port_reads_and_writes_nothing(
    make_project: MakeProject, control_room: Open
) -> None:
    control = await control_room(make_project())
    approval = await asked(control)
    context = await control.context()
    # Another server of this machine, under the same name: cookies go to every port of it.
    async with serving([make_project(name="other")]) as (_, other):
        hostile = await context.new_page()
        await hostile.goto(f"{other.origin}/login")
        address = f"/api/rooms/project/approvals/{approval}/decision"
        body = {"approved": True, "seen": ""}
        tried = await hostile.evaluate(
            """async ([address, body]) => {
                const how = { method: "POST", credentials: "include", mode: "no-cors", body };
                try { await fetch(address, how); return "sent"; } catch { return "refused"; }
            }""",
            [f"{control.origin}{address}", json.dumps(body)],
        )
        assert tried == "refused"
        # The page's own policy refused that, and its console says so.
        control.problems.clear()
        found = await _send(control, context, address, other.origin, body)
        assert (found.status_code, found.json()["error"]["code"]) == (403, "CROSS_ORIGIN")
    assert (await control.room().approval(approval)).state.value == "open"


async def test_a_log_out_by_the_button_ends_the_session(
    make_project: MakeProject, control_room: Open
) -> None:
    control: ControlRoom = await control_room(make_project())
    page = await control.page("/inbox")
    await page.click("#log-out")
    await page.wait_for_url("**/login")
    # The console notes the status of the login page.
    control.problems.clear()
    found = await _send(control, page.context, "/api/logout", control.origin, {})
    assert found.status_code in (401, 403)


@asynccontextmanager
async def _process(project: Path, port: int = 0) -> AsyncIterator[tuple[Process, dict[str, Any]]]:
    """Run a real `brasstag serve`, and kill it at the end."""
    command = (
        sys.executable,
        "-P",
        "-m",
        "brasstag",
        "serve",
        str(project),
        "--port",
        str(port),
        "-o",
        "json",
    )
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE)
    try:
        assert process.stdout is not None
        yield process, json.loads(await process.stdout.readline())
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _told(client: httpx2.AsyncClient, origin: str, after: str, count: int) -> list[tuple[str, str]]:
    """Return the next events of the stream: the id and the tag of each."""
    found: list[tuple[str, str]] = []
    host = origin.removeprefix("http://")
    session = log_in(new_link("ada", "viewer", "root"))
    headers = {"host": host, "cookie": f"brasstag={session}", "last-event-id": after}
    address = f"http://127.0.0.1:{host.rpartition(':')[2]}/api/events"
    async with client.stream("GET", address, headers=headers) as answer:
        identity = ""
        async for line in answer.aiter_lines():
            if line.startswith("id: "):
                identity = line.removeprefix("id: ")
            if line.startswith("data: ") and (tag := json.loads(line.removeprefix("data: ")).get("tag")):
                found.append((identity, tag))
            if len(found) == count:
                break
    return found


async def test_kill_9_keeps_the_draft_and_the_stream_has_no_gap(
    make_project: MakeProject, chromium: str
) -> None:
    project = make_project()
    async with (
        Room.open(project) as room,
        httpx2.AsyncClient(timeout=60) as client,
        async_playwright() as driver,
    ):
        (room.workspace / "a.md").write_text("old\n")
        begun = await room.newest_event()
        waiting = await room.call("write_file", {"path": "a.md", "content": "new\n"})
        assert isinstance(waiting, Waiting)
        browser = await driver.chromium.connect_over_cdp(chromium)
        context = await browser.new_context()
        context.set_default_timeout(PATIENCE)
        page = await context.new_page()
        async with _process(project) as (process, told):
            origin = told["link"].partition("/login/")[0]
            await page.goto(f"{origin}/login/{new_link('ada', 'approver', 'root')}")
            await page.goto(f"{origin}/rooms/project/approvals/{waiting.approval_id}")
            await page.wait_for_selector("#live.on", state="attached")
            await page.fill("#note", "because of the draft")
            first = await _told(client, origin, f"project={begun}", 1)
            process.kill()
            await process.wait()
        await page.wait_for_selector("#live:not(.on)", state="attached")
        for number in range(3):
            await room.call("write_file", {"path": f"new{number}.md", "content": "x\n"})
        tags = [entry.tag for entry in await room.timeline(room.task_id)]
        missing = tags[tags.index(first[-1][1]) + 1 :]
        async with _process(project, int(origin.rpartition(":")[2])) as (_, again):
            assert again["link"].startswith(origin)
            rest = await _told(client, origin, first[-1][0], len(missing))
            assert [tag for _, tag in rest] == missing
            # The page connects again by itself, still has what was typed, and has it after a reload, too.
            await page.wait_for_selector("#live.on", state="attached")
            assert await page.input_value("#note") == "because of the draft"
            await page.reload()
            assert await page.input_value("#note") == "because of the draft"
            assert (await room.approval(waiting.approval_id)).state.value == "open"
        await context.close()
