"""web_fetch with save_as: fetching only drafts a document, which is judged, asked about and landed like any other change."""

import asyncio
import gzip
import hashlib
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from brasstag import Done, Failed, Room, Waiting
from brasstag.words.approvals import ApprovalState
from brasstag.words.calls import Outcome
from brasstag.words.errors import Code, ToolError
from brasstag.words.events import EntryKind
from tests.conftest import MakeProject
from tests.engine.crews import CREW, call, turn, write_script
from tests.processes import KILLED, Killer, end, start
from tests.runtimes import put_in
from tests.sandbox.network.servers import Server, Writes, replying, serving
from tests.tools.test_web_fetch import ADA, ApprovalResponse, approved, towards, value_of

PICTURE = b"\x89PNG\r\n\0\xff"
ANY = '[[rules]]\nallow = "web_fetch"\nbecause = "a test"\n'


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with serving(replying(PICTURE, Content_Type="image/png")) as running:
        yield running


@pytest.fixture
def place(make_project: MakeProject) -> Path:
    return make_project(ANY)


@pytest.fixture
def data(place: Path) -> Path:
    return place / "data"


@pytest.fixture
async def open_room(place: Path, server: Server) -> AsyncIterator[Room]:
    async with Room.open(place) as room:
        yield towards(room, server)


async def save(room: Room, server: Server, path: str, **more: Any) -> Outcome:
    return await room.call("web_fetch", {"url": server.url("/x", "docs.test"), "save_as": path, **more})


async def test_what_was_fetched_lands_byte_for_byte_with_a_tag_that_says_where_it_is_from(
    open_room: Room, data: Path, server: Server
) -> None:
    outcome = await save(open_room, server, "pictures/a.png")
    value = value_of(outcome)
    digest = hashlib.sha256(PICTURE).hexdigest()
    assert value["saved"] == {"path": "pictures/a.png", "size_bytes": len(PICTURE), "sha256": digest}
    assert (value["unsaved"], value["body"], value["format"]) == (None, "", "binary")
    assert (data / "pictures" / "a.png").read_bytes() == PICTURE
    claimed, settled = (await open_room.timeline())[-2:]
    assert (claimed.kind, settled.kind) == (EntryKind.CLAIMED, EntryKind.SETTLED)
    assert outcome.tag is not None
    assert settled.tag == outcome.tag.id
    assert settled.payload is not None
    assert settled.payload["changes"][-1]["path"] == "pictures/a.png"
    result = settled.payload["result"]
    assert (result["untrusted"], result["url"]) == (True, server.url("/x", "docs.test"))
    assert (await open_room.verify()).ok


async def test_what_was_saved_can_be_undone(open_room: Room, data: Path, server: Server) -> None:
    outcome = await save(open_room, server, "a.png")
    assert outcome.tag is not None
    undone = await open_room.undo(outcome.tag.id)
    value_of(await approved(open_room, undone) if isinstance(undone, Waiting) else undone)
    assert not (data / "a.png").exists()


async def test_a_page_is_saved_as_it_was_served_and_shown_as_markdown(open_room: Room, data: Path) -> None:
    page = "<html><body><h1>Über</h1></body></html>".encode("latin-1")
    served = replying(
        gzip.compress(page), Content_Type="text/html; charset=iso-8859-1", Content_Encoding="gzip"
    )
    async with serving(served) as server:
        value = value_of(await save(towards(open_room, server), server, "page.html"))
    assert (value["format"], value["body"]) == ("markdown", "# Über")
    assert (data / "page.html").read_bytes() == page


async def test_overwriting_waits_and_lands_without_fetching_again(
    open_room: Room, data: Path, server: Server
) -> None:
    file = data / "a.png"
    file.write_bytes(b"old")
    waiting = await save(open_room, server, "a.png")
    assert isinstance(waiting, Waiting)
    approval = await open_room.approval(waiting.approval_id)
    assert [(one.path, one.fact.value) for one in approval.preview.changes] == [("a.png", "overwrites")]
    assert file.read_bytes() == b"old"
    assert value_of(await approved(open_room, waiting))["saved"]["path"] == "a.png"
    assert file.read_bytes() == PICTURE
    assert server.connections == 1
    assert (await open_room.verify()).ok


async def test_a_document_that_a_person_does_not_want_is_kept_as_a_patch(
    open_room: Room, data: Path, server: Server
) -> None:
    (data / "a.png").write_bytes(b"old")
    waiting = await save(open_room, server, "a.png")
    assert isinstance(waiting, Waiting)
    await open_room.decide(waiting.approval_id, ApprovalResponse(False, reason="no"), ADA)
    error = ((await open_room.timeline())[-1].payload or {})["result"]["error"]
    assert error["code"] == Code.DENIED
    assert (data.parent / error["details"]["patch"]).is_file()
    assert (data / "a.png").read_bytes() == b"old"


async def test_the_arguments_of_a_call_that_has_run_cannot_be_edited(
    open_room: Room, data: Path, server: Server
) -> None:
    (data / "a.png").write_bytes(b"old")
    waiting = await save(open_room, server, "a.png")
    assert isinstance(waiting, Waiting)
    approval = await open_room.approval(waiting.approval_id)
    edited = {"url": server.url("/y", "docs.test"), "save_as": "b.png"}
    with pytest.raises(ToolError, match="has run, and what it changed can land or not"):
        await open_room.preview_edit(approval, edited)
    with pytest.raises(ToolError, match="has run"):
        await open_room.decide(waiting.approval_id, ApprovalResponse(True, edited), ADA, seen="x")
    value_of(await approved(open_room, waiting))
    assert [path.name for path in (data / "a.png", data / "b.png") if path.exists()] == ["a.png"]


async def test_fetching_and_landing_may_each_need_a_yes(make_project: MakeProject, server: Server) -> None:
    project = make_project(profile="locked")
    async with Room.open(project) as room:
        first = await save(towards(room, server), server, "a.png")
        assert isinstance(first, Waiting)
        assert server.connections == 0
        assert (await room.approval(first.approval_id)).preview.saves == ("a.png",)
        second = await approved(room, first)
        assert isinstance(second, Waiting)
        assert not (project / "data" / "a.png").exists()
        value_of(await approved(room, second))
        assert (project / "data" / "a.png").read_bytes() == PICTURE
        states = [approval.state for approval in await room.approvals()]
    assert states == [ApprovalState.CONSUMED, ApprovalState.CONSUMED]
    assert server.connections == 1


async def test_an_allowed_site_may_be_saved_from_and_the_timeline_tells_both_verdicts(
    make_project: MakeProject, server: Server
) -> None:
    rule = f'[[rules]]\nname = "ours"\nallow = "web_fetch(docs.test:{server.port}/**)"\nbecause = "ours"\n'
    async with Room.open(make_project(rule)) as room:
        value_of(await save(towards(room, server), server, "a.png"))
        claimed = (await room.timeline())[-2].payload or {}
    assert claimed["ran"]["verdict"]["rule"] == "ours"
    assert claimed["ran"]["preview"]["fetches"] == [server.url("/x", "docs.test")]
    assert claimed["verdict"]["rule"] == "profile careful"


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("../a.png", Code.INVALID_PATH),
        ("/etc/a.png", Code.INVALID_PATH),
        ("a\0b", Code.INVALID_PATH),
        (".git/hooks/x", Code.CONTROL_FILE),
        ("folder", Code.NOT_A_FILE),
        ("file/a.png", Code.NOT_A_DIRECTORY),
        (".env", Code.BLOCKED_BY_RULE),
        ("kept/a.png", Code.BLOCKED_BY_RULE),
        ("hidden/a.png", Code.BLOCKED_BY_RULE),
        ("", Code.INVALID_ARGUMENTS),
    ],
)
async def test_a_path_that_cannot_be_saved_to_is_refused_before_anything_is_fetched(
    make_project: MakeProject, server: Server, path: str, code: Code
) -> None:
    rules = '[[rules]]\ndeny = "apply_changes(kept/**)"\nbecause = "kept"\n'
    rules += '[[rules]]\ndeny = "read_file(hidden/**)"\nbecause = "hidden"\n'
    project = make_project(ANY + rules, profile="trusted")
    (project / "data" / "folder").mkdir()
    (project / "data" / "file").write_text("x")
    (project / "data" / ".git").mkdir()
    async with Room.open(project) as room:
        outcome = await save(towards(room, server), server, path)
        assert isinstance(outcome, Failed), outcome
        assert outcome.code is code
    assert server.connections == 0


async def test_only_a_get_can_be_saved(open_room: Room, server: Server) -> None:
    outcome = await save(open_room, server, "a.png", method="POST")
    assert isinstance(outcome, Failed)
    assert outcome.code is Code.INVALID_ARGUMENTS
    assert outcome.message == "only what a GET brings can be saved, not the answer to a POST"
    assert server.connections == 0


async def test_the_spelling_of_others_is_understood(open_room: Room, server: Server) -> None:
    outcome = await open_room.call("fetch", {"url": server.url(), "saveAs": "a.png"})
    assert value_of(outcome)["saved"]["path"] == "a.png"


async def broken_off(writer: asyncio.StreamWriter, _target: str) -> None:
    """Promise more than comes."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nx")
    await writer.drain()


@pytest.mark.parametrize(
    ("served", "reason"),
    [
        (replying(b"no", "404 Not Found"), "the server answered 404, which is not the document"),
        (
            replying(b"", "302 Found", Location="http://127.0.0.1/"),
            "the server answered 302, which is not the document",
        ),
        (replying(b"x", Content_Encoding="compress"), "its compression, compress, could not be undone"),
        (
            replying(b"x" * (5 * 1024 * 1024 + 1)),
            "it is larger than may be fetched, so only its beginning came",
        ),
        (broken_off, "the connection broke, so only its beginning came"),
    ],
)
async def test_what_is_not_the_whole_document_is_not_saved_and_the_result_says_why(
    open_room: Room, data: Path, served: Writes, reason: str
) -> None:
    async with serving(served) as server:
        value = value_of(await save(towards(open_room, server), server, "a.png"))
    assert (value["saved"], value["unsaved"]) == (None, reason)
    assert not (data / "a.png").exists()


async def test_a_document_that_changes_while_it_is_fetched_is_not_overwritten(
    make_project: MakeProject,
) -> None:
    project = make_project(ANY, profile="trusted")
    file = project / "data" / "a.txt"

    async def write_meanwhile(writer: asyncio.StreamWriter, target: str) -> None:
        file.write_text("newer")
        await replying(b"from the web")(writer, target)

    for before in ("old", "", None):
        file.unlink(missing_ok=True)
        if before is not None:
            file.write_text(before)
        async with serving(write_meanwhile) as server, Room.open(project) as room:
            outcome = await save(towards(room, server), server, "a.txt")
        assert isinstance(outcome, Failed), outcome
        assert outcome.code is Code.CHANGED
        assert file.read_text() == "newer"
        assert server.connections == 1


async def test_a_slow_server_is_given_up_and_nothing_is_in_doubt(open_room: Room) -> None:
    async def wait(_writer: asyncio.StreamWriter, _target: str) -> None:
        await asyncio.Event().wait()

    async with serving(wait) as server:
        outcome = await save(towards(open_room, server), server, "a.png", timeout=1)
    assert isinstance(outcome, Failed)
    assert outcome.code is Code.TIMEOUT


async def test_fetches_of_one_turn_that_save_to_one_path_keep_their_order(make_project: MakeProject) -> None:
    project = make_project(CREW + ANY, profile="trusted")

    async def say_where(writer: asyncio.StreamWriter, target: str) -> None:
        await replying(target.encode())(writer, target)

    async with serving(say_where) as server:
        calls = [call("web_fetch", url=server.url(f"/{name}"), save_as="a.txt") for name in ("one", "two")]
        write_script(project, {"boss": [turn(*calls, call("read_file", path="a.txt")), turn(text="Done.")]})
        async with Room.open(project) as room:
            run = await towards(room, server).start("Fetch")
            assert (await room.finished(run)).ok
            kinds = (EntryKind.CALLED, EntryKind.SETTLED)
            ended = [entry.payload or {} for entry in await room.timeline(run) if entry.kind in kinds]
    assert [one["tool"] for one in ended[:3]] == ["web_fetch", "web_fetch", "read_file"]
    assert ended[2]["result"]["content"] == "/two"


def save_and_die(project: Path, user: Path, step: int, port: int) -> None:
    """Save what a server on this machine serves, and die at the n-th step of that."""
    os.environ["BRASSTAG_USER_DIR"] = str(user)

    async def work() -> None:
        async with Room.open(project) as room:
            server = Server(port)
            put_in(towards(room, server), at=Killer(step))
            await save(room, server, "a.png")

    asyncio.run(work())


@pytest.mark.parametrize("step", range(6))
async def test_killed_while_it_lands_the_document_is_there_whole_or_not_at_all(
    place: Path, server: Server, tmp_path: Path, step: int
) -> None:
    process = start(save_and_die, place, tmp_path / "user", step, server.port)
    assert await asyncio.to_thread(end, process) == KILLED
    async with Room.open(place) as room:
        recovered = [ending for _, ending in room._open_room.recovered.calls]
        assert (await room.verify()).ok
    assert server.connections == 1
    file = place / "data" / "a.png"
    # Before its claim nothing has happened; from then on the document lands, now or at the next opening.
    assert [type(ending) for ending in recovered] == ([Done] if step else [])
    assert (file.read_bytes() if file.exists() else None) == (PICTURE if step else None)
