"""What S0, S2 and S3 see of real calls."""

from pathlib import Path

from brasstag import Room, result_view, status_view, tool_result_view
from tests.conftest import MakeProject


async def test_what_is_read_is_the_text_itself(room: Room) -> None:
    (room.workspace / "a.md").write_text("The sky is blue.\n")
    for tool in ("read_file", "load_to_context"):
        outcome = await room.call(tool, {"path": "a.md"})
        assert status_view(outcome)["data"] == "The sky is blue.\n"
        assert status_view(outcome)["meta"]["value"]["content"] == "The sky is blue.\n"
        assert tool_result_view(outcome, "call-1").output == "The sky is blue.\n"


async def test_what_is_written_is_told_in_one_sentence_with_its_size(room: Room) -> None:
    outcome = await room.call("write_file", {"path": "a.md", "content": "Blue.\n"})
    said = "Created a.md: 1 line, 6 bytes."
    assert (status_view(outcome)["data"], tool_result_view(outcome, "1").output) == (said, said)
    assert (status_view(outcome)["meta"]["value"]["size"], result_view(outcome)["value"]["size"]) == (6, 6)


async def test_what_a_command_prints_is_the_text_itself(make_project: MakeProject) -> None:
    async with Room.open(make_project(profile="trusted")) as room:
        said = await room.call("shell", {"command": "echo hello; echo hi > a.txt"})
        assert (status_view(said)["data"], tool_result_view(said, "1").output) == ("hello\n", "hello\n")
        assert result_view(said)["value"]["exitCode"] == 0
        assert status_view(said)["meta"]["bytes_written"] == 3
        ended = await room.call("shell", {"command": "echo begun; exec sleep 9", "timeout": 1})
        assert (tool_result_view(ended, "1").output, status_view(ended)["status"]) == ("begun\n", "error")
        failed = await room.call("run_code", {"language": "bash", "code": "echo no >&2; exit 3"})
        assert status_view(failed)["data"] == "no\nexit_code: 3"


async def test_a_delegation_confirms_target_task_and_file(make_project: MakeProject) -> None:
    project: Path = make_project('[roles.narrator]\ndescription = "Writes."\nmodel = "scripted:none.json"\n')
    async with Room.open(project) as room:
        given = {"target_agent": "narrator", "task_description": "Write it", "target_file": "ch01.md"}
        waiting = await room.call("assign_task", given)
        shown = status_view(waiting)
        assert shown["status"] == "success"
        told = shown["data"]
        assert (told["target"], told["task"], told["file"]) == ("narrator", "Write it", "ch01.md")
        assert (await room.task(told["task_id"])).role == "narrator"
