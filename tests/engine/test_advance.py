"""Runs of a crew, played by scripts, in one process."""

from pathlib import Path

import pytest

from brasstag import ApprovalResponse, Room
from brasstag.store.tasks import Task
from brasstag.words.approvals import ApprovalState
from brasstag.words.budgets import Budget
from brasstag.words.errors import Code, ToolError
from brasstag.words.events import EntryKind
from tests.conftest import MakeProject
from tests.engine.crews import ADA, CREW, call, turn, write_script


@pytest.fixture
def crew(make_project: MakeProject) -> Path:
    return make_project(CREW)


def kinds(entries: list[object]) -> list[str]:
    return [entry.kind.value for entry in entries]  # type: ignore[attr-defined]


async def test_the_words_of_a_turn_without_calls_are_its_handoff(crew: Path) -> None:
    write_script(crew, {"boss": [turn(text="All done.")]})
    async with Room.open(crew) as room:
        ended = await room.finished(await room.start("Do it"))
        assert (ended.task.status, ended.result) == ("done", "All done.")
        report = await room.verify()
        assert report.ok, report.findings


async def test_documents_travel_down_and_back_up(crew: Path) -> None:
    (crew / "data" / "raw.csv").write_text("a,b\n1,2\n")
    write_script(
        crew,
        {
            "boss": [
                turn(call("route_to_worker", request="Analyse", documents=["raw.csv"])),
                turn(call("handoff", result={"ok": True}, documents=["analysis.md"])),
            ],
            "worker": [
                turn(call("write_file", path="analysis.md", content="up 15%")),
                turn(call("handoff", result="analysed", documents=["analysis.md"])),
            ],
        },
    )
    async with Room.open(crew) as room:
        run = await room.start("Analyse Q3")
        ended = await room.finished(run)
        assert ended.ok
        assert ended.result == {"ok": True}
        assert ended.documents == ("analysis.md",)
        root, child = await room.tasks(run)
        assert (child.parent_id, child.depth, child.status) == (root.id, 1, "done")
        mine = await room.timeline(root.id)
        assert kinds(mine) == ["opened", "turn", "delegated", "returned", "turn", "called", "closed"]
        returned = mine[3].payload
        assert returned is not None
        assert returned["said"] == "← result from worker"
        assert [document["text"] for document in returned["carried"]] == ["up 15%"]
        opened = (await room.timeline(child.id))[0].payload
        assert opened is not None
        assert [document["text"] for document in opened["carried"]] == ["a,b\n1,2\n"]
        report = await room.verify()
        assert report.ok, report.findings


async def test_a_missing_document_fails_the_call_before_anything_starts(crew: Path) -> None:
    write_script(
        crew,
        {
            "boss": [
                turn(call("route_to_worker", request="Analyse", documents=["none.csv"])),
                turn(text="It is not there."),
            ]
        },
    )
    async with Room.open(crew) as room:
        run = await room.start("Analyse Q3")
        assert (await room.finished(run)).ok
        assert len(await room.tasks(run)) == 1
        failed = [entry for entry in await room.timeline(run) if entry.kind is EntryKind.CALLED]
        assert failed[0].payload is not None
        assert failed[0].payload["result"]["error"]["code"] == Code.FILE_NOT_FOUND


async def test_an_approval_wakes_its_task_while_a_sibling_waits(crew: Path) -> None:
    (crew / "data" / "a.md").write_text("old")
    write_script(
        crew,
        {
            "boss": [
                turn(
                    call("write_file", path="a.md", content="new"),
                    call("ask_master", question="Is blue right?"),
                ),
                turn(text="Thanks."),
            ]
        },
    )
    async with Room.open(crew) as room:
        run = await room.start("Do it")
        approval, question = await waiting(room, run)
        await room.decide(approval, ApprovalResponse(True), ADA)
        async for happening in room.watch(run):
            if happening.entry is not None and happening.entry.kind is EntryKind.SETTLED:
                break
        assert (crew / "data" / "a.md").read_text() == "new"
        assert (await room.tasks(run))[0].status in ("running", "blocked")
        await room.answer(question, "Yes, blue.", ADA)
        assert (await room.finished(run)).ok
        answered = [entry for entry in await room.timeline(run) if entry.kind is EntryKind.ANSWERED]
        assert answered[0].payload is not None
        assert answered[0].payload["result"] == "Yes, blue."
        with pytest.raises(ToolError, match="already"):
            await room.answer(question, "No!", ADA)


async def waiting(room: Room, run: str) -> tuple[str, str]:
    """Wait for an approval and a question of a run."""
    async for _ in room.watch(run):
        open_now = await room.approvals(ApprovalState.OPEN)
        questions = [task for task in await room.tasks(run) if task.role == "person"]
        if open_now and questions:
            return open_now[0].id, questions[0].id
    raise AssertionError("the run ended")


async def test_a_denial_is_told_and_the_task_goes_on(crew: Path) -> None:
    (crew / "data" / "a.md").write_text("old")
    write_script(
        crew,
        {"boss": [turn(call("delete_file", path="a.md")), turn(text="Kept it.")]},
    )
    async with Room.open(crew) as room:
        run = await room.start("Delete it")
        async for _ in room.watch(run):
            for approval in await room.approvals(ApprovalState.OPEN):
                await room.decide(approval.id, ApprovalResponse(False, reason="no"), ADA)
        assert (await room.finished(run)).result == "Kept it."
    assert (crew / "data" / "a.md").exists()


async def test_a_question_to_an_agent_is_answered_in_its_place(crew: Path) -> None:
    write_script(
        crew,
        {
            "boss": [
                {"when": "Which colour?", "turns": [turn(text="Blue.")]},
                {"turns": [turn(call("route_to_worker", request="Paint it")), turn(text="Painted.")]},
            ],
            "worker": [turn(call("ask_master", question="Which colour?")), turn(text="It is blue.")],
        },
    )
    async with Room.open(crew) as room:
        run = await room.start("Paint")
        assert (await room.finished(run)).ok
        tasks = {task.kind: task for task in await room.tasks(run) if task.parent_id}
        question: Task = tasks["question"]
        assert (question.role, question.status) == ("boss", "done")
        assert EntryKind.CONSULTED in [entry.kind for entry in await room.timeline(run)]
        asker = await room.timeline(question.parent_id)
        answered = next(entry.payload for entry in asker if entry.kind is EntryKind.ANSWERED)
        assert answered is not None
        assert answered["result"] == "Blue."
        report = await room.verify()
        assert report.ok, report.findings


async def test_a_failed_child_gives_its_parent_a_coded_result(crew: Path) -> None:
    write_script(
        crew, {"boss": [turn(call("route_to_worker", request="Try")), turn(text="It failed.")], "worker": []}
    )
    async with Room.open(crew) as room:
        run = await room.start("Do it")
        assert (await room.finished(run)).result == "It failed."
        returned = next(
            entry.payload for entry in await room.timeline(run) if entry.kind is EntryKind.RETURNED
        )
        assert returned is not None
        assert returned["outcome"] == "failed"
        assert returned["result"]["error"]["code"].startswith("MODEL_")


async def test_a_budget_ends_a_run_and_a_person_may_extend_it(crew: Path) -> None:
    thinking = [turn(call("stop_and_think", thoughts=f"{n}")) for n in range(4)]
    write_script(crew, {"boss": [*thinking, turn(text="At last.")]})
    async with Room.open(crew) as room:
        run = await room.start("Think", budget=Budget(max_steps=2))
        ended = await room.finished(run)
        assert ended.task.status == "failed"
        assert ended.result["error"]["code"] == Code.BUDGET_EXCEEDED
        await room.resume_run(run, budget=Budget(max_steps=10))
        assert (await room.finished(run)).result == "At last."
        report = await room.verify()
        assert report.ok, report.findings


async def test_stopping_a_run_ends_everything_below_it(crew: Path) -> None:
    (crew / "data" / "a.md").write_text("old")
    write_script(
        crew,
        {
            "boss": [
                {"when": "Sure?", "turns": [turn(call("ask_master", question="Shall it?"))]},
                {"turns": [turn(call("route_to_worker", request="Delete"))]},
            ],
            "worker": [turn(call("delete_file", path="a.md"), call("ask_master", question="Sure?"))],
        },
    )
    async with Room.open(crew) as room:
        run = await room.start("Do it")
        await waiting(room, run)
        stopped = await room.stop(run, "ada")
        assert len(stopped.approvals) == 1
        assert {task.status for task in await room.tasks(run)} == {"cancelled"}
        assert (await room.finished(run)).task.status == "cancelled"
        report = await room.verify()
        assert report.ok, report.findings
