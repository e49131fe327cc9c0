"""What a tool says of a call decides how it may be run."""

import shutil

import pytest

from brasstag import Done, Failed, Room
from brasstag.sandbox.network.door.door import GuardedDoor
from brasstag.sandbox.network.web import Web
from brasstag.sandbox.process.job import Job
from brasstag.sandbox.process.tool_runner import Confined
from brasstag.sandbox.workspace.draft import Draft
from brasstag.toolkit.declare.declare import as_tool, tool
from brasstag.toolkit.tool import Looks, Tool
from brasstag.words.errors import Code
from brasstag.words.events import EntryKind
from brasstag.words.previews import Preview
from brasstag.words.verdicts import Verdict

FETCHES = Preview(fetches=("https://api.test/",))


def made(effects: str, preview: Looks | None = None, replay: str = "ask") -> Tool:
    """Return a tool of one's own that does nothing."""

    @tool(effects=effects, preview=preview, replay=replay)  # type: ignore[call-overload, untyped-decorator]
    def build() -> str:
        """Build it."""
        return "built"

    return as_tool(build)


def test_a_tool_without_a_word_runs_code_or_may_do_anything_outside() -> None:
    assert made("code").foresee({}) == Preview(runs=("build",))
    assert made("external").foresee({}) == Preview(external=True)


def test_code_always_runs_something() -> None:
    assert made("code", lambda _: FETCHES).foresee({}).runs == ("build",)
    assert made("code", lambda _: Preview(runs=("make",))).foresee({}).runs == ("make",)
    assert made("external", lambda _: FETCHES).foresee({}) == FETCHES


@pytest.mark.parametrize(
    ("effects", "foreseen", "drafts"),
    [
        ("code", Preview(runs=("make",)), True),
        ("code", Preview(runs=("make",), external=True), False),
        ("external", FETCHES, False),
        ("external", Preview(saves=("a",)), True),
        ("external", Preview(saves=("a",), external=True), True),
    ],
)
def test_who_only_drafts(effects: str, foreseen: Preview, drafts: bool) -> None:
    assert made(effects).only_drafts(foreseen) is drafts


def test_what_is_safe_to_draft_again_is_not_safe_to_act_again() -> None:
    assert made("external", replay="safe").may_run_again
    assert not made("external").may_run_again
    assert not made("code", replay="safe").may_run_again


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
@pytest.mark.parametrize("says_so", [False, True])
async def test_code_reaches_nobody_unless_its_preview_says_that_it_acts(room: Room, says_so: bool) -> None:
    def foresee(_arguments: object) -> Preview:
        return Preview(runs=("true",), fetches=("https://api.test/",), external=says_so)

    @tool(effects="code", preview=foresee)  # type: ignore[call-overload, untyped-decorator]
    def ring(confined: Confined, web: Web) -> int:
        """Ring at a door."""
        door = GuardedDoor(web.guard, ["api.test"])
        return confined.run(Job(("/bin/true",), network=True, overlay=False), door).exit_code

    @tool(effects="code", preview=foresee)  # type: ignore[call-overload, untyped-decorator]
    def note(workspace: Draft) -> None:
        """Write without running anything."""
        workspace.write_text("a.md", "x")

    room.register(ring)
    room.register(note)
    assert isinstance(await room.call("ring", {}), Failed)
    room.add_rule(
        lambda call, _preview: Verdict("allow", "a test", "") if call.tool in ("ring", "note") else None
    )
    rung, noted = await room.call("ring", {}), await room.call("note", {})
    kinds = [entry.kind for entry in await room.timeline()]
    if says_so:
        assert isinstance(rung, Done)
        assert isinstance(noted, Failed)
        assert noted.code is Code.NOT_SUPPORTED
    else:
        assert isinstance(rung, Failed)
        assert rung.code is Code.NOT_SUPPORTED
        assert "does not say external" in rung.message
        assert isinstance(noted, Done)
    assert kinds.count(EntryKind.CLAIMED) == (2 if says_so else 1)
