"""The decision page in a real browser: what is shown is what is decided."""

from collections.abc import Awaitable, Callable

from brasstag import ApprovalState, Waiting
from tests.conftest import MakeProject
from tests.surfaces.web.conftest import ControlRoom, needs_chromium

Open = Callable[..., Awaitable[ControlRoom]]

pytestmark = needs_chromium


async def asked(control: ControlRoom, content: str = "new\n") -> str:
    """Let a call wait for approval, and return the approval's id."""
    room = control.room()
    (room.workspace / "a.md").write_text("old\n")
    waiting = await room.call("write_file", {"path": "a.md", "content": content})
    assert isinstance(waiting, Waiting)
    return waiting.approval_id


async def test_an_approval_appears_in_two_tabs_without_a_reload(
    make_project: MakeProject, control_room: Open
) -> None:
    control = await control_room(make_project())
    context = await control.context()
    tabs = [await context.new_page() for _ in range(2)]
    for tab in tabs:
        await control.open(tab, "/inbox")
        assert await tab.inner_text("#inbox") == "Nothing waits for you."
    await asked(control)
    for tab in tabs:
        await tab.wait_for_selector("#inbox a.row")
        assert "write_file a.md" in await tab.inner_text("#inbox")
        assert await tab.inner_text("#inbox-count") == "1"


async def test_what_is_approved_is_written_and_leaves_the_inbox_empty(
    make_project: MakeProject, control_room: Open
) -> None:
    control = await control_room(make_project())
    approval = await asked(control)
    page = await control.page(f"/rooms/project/approvals/{approval}")
    assert "+new" in (await page.inner_text(".diff")).replace("\t", "")
    await page.click("#approve")
    await page.wait_for_url("**/inbox")
    await page.wait_for_selector("text=Nothing waits for you.")
    found = await control.room().approval(approval)
    assert found.decided_by == "ada (login)"
    assert found.state in (ApprovalState.APPROVED, ApprovalState.CONSUMED)
