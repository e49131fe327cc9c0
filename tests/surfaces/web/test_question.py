"""The page of a question: an agent asks, a person answers in a real browser, and the run goes on."""

from collections.abc import Awaitable, Callable

from tests.conftest import MakeProject
from tests.engine.crews import CREW, call, turn, write_script
from tests.surfaces.web.conftest import ControlRoom, needs_chromium

Open = Callable[..., Awaitable[ControlRoom]]

pytestmark = needs_chromium


async def test_a_question_is_answered_from_the_inbox(make_project: MakeProject, control_room: Open) -> None:
    project = make_project(CREW)
    asking = turn(call("ask_master", question="Which <b>colour\u202e?</b>"))
    write_script(project, {"boss": [asking, turn(text="Thanks.")]})
    control = await control_room(project)
    page = await control.page("/inbox")
    run = await control.room().start("Paint")
    await page.click("#inbox a.row")
    await page.wait_for_selector("#answer")
    assert "Which <b>colour⟨U+202E⟩?</b>" in await page.inner_text("main")
    await page.fill("#answer", "Blue.")
    await page.click("text=Answer >> nth=-1")
    await page.wait_for_url("**/inbox")
    ended = await control.room().finished(run)
    assert (ended.ok, ended.result) == (True, "Thanks.")
    answered = [entry.payload for entry in await control.room().timeline() if entry.kind == "answered"]
    assert "Blue." in str(answered)


async def test_a_viewer_sees_a_question_and_no_field_for_an_answer(
    make_project: MakeProject, control_room: Open
) -> None:
    project = make_project(CREW)
    write_script(
        project, {"boss": [turn(call("ask_master", question="Which colour?")), turn(text="Thanks.")]}
    )
    control = await control_room(project)
    run = await control.room().start("Paint")
    page = await control.page("/inbox", level="viewer")
    await page.click("#inbox a.row")
    await page.wait_for_selector("h1")
    assert await page.query_selector("#answer") is None
    await control.room().stop(run)
