"""Runs of a crew, played by scripts, in one process."""

import asyncio
from pathlib import Path

import pytest
from sqlalchemy import update

from brasstag import ApprovalResponse, Done, Room, Waiting, tool
from brasstag.store.database.schema import memories, tasks
from brasstag.store.maintenance.redact import redact
from brasstag.store.tasks.rows import Task
from brasstag.words.approvals import ApprovalState
from brasstag.words.budgets import Budget
from brasstag.words.errors import Code, ToolError
from brasstag.words.events import EntryKind
from tests.conftest import accept
from tests.documents.making import pdf, words
from tests.engine.crews import ADA, call, turn, write_script


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


async def test_a_task_finds_a_pdf_in_its_context(crew: Path) -> None:
    (crew / "data" / "report.pdf").write_bytes(pdf(words("Revenue rose in Oslo.", 50, 780)))
    write_script(
        crew,
        {
            "boss": [
                turn(call("route_to_worker", request="Read", documents=["report.pdf"])),
                turn(text="Done."),
            ],
            "worker": [turn(call("handoff", result="read", documents=["report.pdf"]))],
        },
    )
    async with Room.open(crew) as room:
        run = await room.start("Read it", documents=["report.pdf"])
        assert (await room.finished(run)).ok
        root, child = await room.tasks(run)
        begun = (await room.timeline(root.id))[0].payload
        given = (await room.timeline(child.id))[0].payload
        returned = (await room.timeline(root.id))[3].payload
    for payload in (begun, given, returned):
        assert payload is not None
        (one,) = payload["carried"]
        assert "Revenue rose in Oslo." in one["text"]
        assert one["complete"]


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
        async for event in room.watch(run):
            if event.entry is not None and event.entry.kind is EntryKind.SETTLED:
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


async def test_calls_that_do_not_overlap_run_together(crew: Path) -> None:
    meeting = asyncio.Barrier(3)

    @tool(effects="external", approval="auto", replay="safe")
    async def meet(name: str) -> str:
        """Wait for the others."""
        await meeting.wait()
        return name

    write_script(crew, {"boss": [turn(*(call("meet", name=name) for name in "abc")), turn(text="Met.")]})
    async with Room.open(crew) as room:
        room.register(meet)
        assert (await room.finished(await room.start("Meet"))).result == "Met."


async def test_several_children_work_at_once_and_return_in_any_order(crew: Path) -> None:
    write_script(
        crew,
        {
            "boss": [
                turn(*(call("route_to_worker", request=f"Part {n}") for n in range(5))),
                turn(text="All parts are there."),
            ],
            "worker": [turn(call("stop_and_think", thoughts="…")), turn(text="Here it is.")],
        },
    )
    async with Room.open(crew) as room:
        run = await room.start("Do it in parts")
        assert (await room.finished(run)).ok
        assert len(await room.tasks(run)) == 6


async def test_overlapping_calls_run_in_the_order_they_were_made(crew: Path) -> None:
    writes = [call("write_file", path="a.md", content=str(n)) for n in range(1)]
    edits = [call("edit_file", path="a.md", search_text=str(n), replace_text=str(n + 1)) for n in range(4)]
    write_script(crew, {"boss": [turn(*writes, *edits), turn(text="Done.")]})
    project = crew / "brasstag.toml"
    project.write_text(project.read_text().replace("careful", "trusted"))
    accept(crew)
    async with Room.open(crew) as room:
        run = await room.start("Count")
        assert (await room.finished(run)).ok
    assert (crew / "data" / "a.md").read_text() == "4"


async def test_what_a_role_remembers_is_told_to_its_later_tasks(crew: Path) -> None:
    write_script(
        crew,
        {
            "boss": [
                turn(
                    call("save_to_long_term_memory", content="Ada likes blue."),
                    call("save_to_short_term_memory", content="Today it rains."),
                ),
                turn(text="Noted."),
            ]
        },
    )
    async with Room.open(crew) as room:
        await room.finished(await room.start("Remember"))
        second = await room.start("Again")
        await room.finished(second)
        opened = (await room.timeline(second))[0].payload
        assert opened is not None
        assert "Ada likes blue." in opened["system"]
        assert "Today it rains." not in opened["system"]
        # The second task said the same again; it is kept once.
        (kept,) = [memory for memory in await room.memories("boss") if not memory.tree]
        assert len(await room.memories("boss")) == 3, "what is good for one run is kept once for each"
        await room.forget(kept.id)
        third = await room.start("Once more")
        await room.finished(third)
        opened = (await room.timeline(third))[0].payload
        assert opened is not None
        assert "Ada likes blue." not in opened["system"]
        report = await room.verify()
        assert report.ok, report.findings


async def test_a_memory_nobody_wrote_is_found_and_not_told_to_anybody(crew: Path) -> None:
    noted = turn(call("save_to_long_term_memory", content="Ask first."))
    write_script(crew, {"boss": [noted, turn(text="Noted.")]})
    async with Room.open(crew) as room:
        await room.finished(await room.start("Remember"))
        with room.store.database.write() as transaction:
            transaction.execute(update(memories).values(content="Never ask."))
        assert not (await room.verify()).ok
        run = await room.start("Go on")
        assert (await room.finished(run)).ok
        assert "Never ask." not in ((await room.timeline(run))[0].payload or {})["system"]


async def test_of_two_handoffs_the_first_counts(crew: Path) -> None:
    write_script(crew, {"boss": [turn(call("handoff", result="one"), call("handoff", result="two"))]})
    async with Room.open(crew) as room:
        run = await room.start("End")
        assert (await room.finished(run)).result == "one"
        found = [entry.kind for entry in await room.timeline(run)]
        assert found == [
            EntryKind.OPENED, EntryKind.TURN, EntryKind.REFUSED, EntryKind.CALLED, EntryKind.CLOSED,
        ]  # fmt: skip


async def test_unreadable_arguments_are_told_to_the_model(crew: Path) -> None:
    broken = {"tool": "write_file", "arguments": '{"path": "a.md", "content": "half'}
    write_script(crew, {"boss": [{"calls": [broken]}, turn(text="Sorry.")]})
    async with Room.open(crew) as room:
        run = await room.start("Write")
        assert (await room.finished(run)).ok
        refused = [entry for entry in await room.timeline(run) if entry.kind is EntryKind.REFUSED]
        assert len(refused) == 1
    assert not (crew / "data" / "a.md").exists()


async def test_arguments_that_are_no_plain_json_are_refused_for_what_is_wrong_with_them(crew: Path) -> None:
    calls = [
        call("write_file", path="a\ud800.md", content="x"),
        call("write_file", path="b.md", content=2**60),
    ]
    write_script(crew, {"boss": [turn(*calls), turn(text="Sorry.")]})
    async with Room.open(crew) as room:
        run = await room.start("Write")
        assert (await room.finished(run)).ok
        refused = [entry for entry in await room.timeline(run) if entry.kind is EntryKind.REFUSED]
        said = sorted(str((entry.payload or {})["result"]) for entry in refused)
    assert "content is beyond" in said[0]
    assert "path holds \\\\ud800 at character 1: half of a surrogate pair" in said[1]
    assert not any("quote" in one for one in said)


async def test_nobody_may_delegate_to_whom_the_settings_do_not_name(crew: Path) -> None:
    write_script(
        crew,
        {
            "boss": [turn(call("route_to_worker", request="Go")), turn(text="Well.")],
            "worker": [
                turn(
                    call("assign_task", target_agent="boss", task_description="Your turn", target_file="x"),
                    call("route_to_worker", request="Again"),
                    call("assign_task", target_agent="nobody", task_description="Who", target_file="x"),
                ),
                turn(text="Refused."),
            ],
        },
    )
    async with Room.open(crew) as room:
        run = await room.start("Go")
        assert (await room.finished(run)).ok
        root, child = await room.tasks(run)
        codes = [
            (entry.payload or {})["result"]["error"]["code"]
            for entry in await room.timeline(child.id)
            if entry.kind in (EntryKind.CALLED, EntryKind.REFUSED)
        ]
        assert sorted(codes) == [Code.NOT_ALLOWED, Code.NOT_ALLOWED, Code.UNKNOWN_ROLE]
        assert root.children == 1


async def test_a_run_grows_no_deeper_than_its_budget(crew: Path) -> None:
    write_script(
        crew,
        {
            "boss": [turn(call("route_to_worker", request="Down")), turn(text="Up.")],
            "worker": [turn(call("route_to_helper", request="Deeper")), turn(text="Not deeper.")],
        },
    )
    async with Room.open(crew) as room:
        run = await room.start("Down", budget=Budget(max_depth=2))
        assert (await room.finished(run)).ok
        assert len(await room.tasks(run)) == 2


async def test_a_desk_may_delegate_and_ask(crew: Path) -> None:
    write_script(crew, {"worker": [turn(text="Worked.")]})
    async with Room.open(crew) as room:
        delegated = await room.call("route_to_worker", {"request": "Work"})
        assert isinstance(delegated, Waiting)
        outcome = await room.wait(delegated)
        assert isinstance(outcome, Done)
        assert outcome.value == "Worked."
        asked = await room.call("ask_master", {"question": "Really?"})
        assert isinstance(asked, Waiting)
        await room.answer(asked.task_id, "Really.", ADA)
        answered = await room.wait(asked)
        assert isinstance(answered, Done)
        assert answered.value == "Really."
        report = await room.verify()
        assert report.ok, report.findings


async def test_a_desk_that_closes_while_a_question_waits_ends_when_it_is_answered(crew: Path) -> None:
    async with Room.open(crew) as room:
        desk = room.task_id
        asked = await room.call("ask_master", {"question": "Later?"})
        assert isinstance(asked, Waiting)
    async with Room.open(crew) as room:
        assert (await room.runs.task(desk)).status == "blocked"
        await room.answer(asked.task_id, "Now.", ADA)
        assert (await room.runs.task(desk)).status == "done"


async def test_an_approval_with_edits_is_told_to_the_model(crew: Path) -> None:
    (crew / "data" / "a.md").write_text("old")
    write_script(crew, {"boss": [turn(call("write_file", path="a.md", content="mine")), turn(text="I see.")]})
    async with Room.open(crew) as room:
        run = await room.start("Write")
        async for _ in room.watch(run):
            for approval in await room.approvals(ApprovalState.OPEN):
                given = {"path": "a.md", "content": "yours"}
                seen = await room.preview_edit(approval, given)
                yes = ApprovalResponse(True, modified_args=given)
                await room.decide(approval.id, yes, ADA, seen=seen.preview.digest)
        settled = next(entry for entry in await room.timeline(run) if entry.kind is EntryKind.SETTLED)
        assert settled.payload is not None
        assert settled.payload["meta"]["edited"]["arguments"]["content"] == "yours"
    assert (crew / "data" / "a.md").read_text() == "yours"


@pytest.mark.parametrize(
    ("request_", "given", "code"),
    [
        (" ", {}, Code.INVALID_ARGUMENTS),
        ("Go", {"role": "nobody"}, Code.UNKNOWN_ROLE),
        ("Go", {"documents": ["none.md"]}, Code.FILE_NOT_FOUND),
        ("Go", {"documents": ["../brasstag.toml"]}, Code.INVALID_PATH),
    ],
)
async def test_a_run_that_could_not_be_done_is_not_begun(
    crew: Path, request_: str, given: dict[str, object], code: Code
) -> None:
    write_script(crew, {"boss": [turn(text="Done.")]})
    async with Room.open(crew) as room:
        with pytest.raises(ToolError) as caught:
            await room.start(request_, **given)  # type: ignore[arg-type]
        assert caught.value.code is code
        assert await room.tasks() == []


async def test_stopping_ends_a_running_tool_at_once(crew: Path) -> None:
    begun = asyncio.Event()

    @tool(effects="external", approval="auto")
    async def linger() -> str:
        """Never come back."""
        begun.set()
        await asyncio.sleep(3600)
        return "never"

    write_script(crew, {"boss": [turn(call("linger"))]})
    async with Room.open(crew) as room:
        room.register(linger)
        run = await room.start("Linger")
        await begun.wait()
        stopped = await room.stop(run, "ada")
        assert stopped.acting == [f"{run}:0.0"]
    async with Room.open(crew) as room:
        settled = [entry for entry in await room.timeline(run) if entry.kind is EntryKind.SETTLED]
        assert [(entry.payload or {})["outcome"] for entry in settled] == ["unknown"]


async def test_redacting_a_call_removes_what_the_model_wrote_of_it(crew: Path) -> None:
    secret = call("stop_and_think", thoughts="the password is hunter2")
    write_script(
        crew, {"boss": [turn(secret), turn(call("stop_and_think", thoughts="on")), turn(text="Done.")]}
    )
    async with Room.open(crew) as room:
        run = await room.start("Think")
        assert (await room.finished(run)).ok
        entry = next(entry for entry in await room.timeline(run) if entry.call_id == f"{run}:0.0")
        redacted = redact(room.store, entry, "ada", "a secret")
        assert redacted.entries == 2
        assert "hunter2" not in str([entry.payload for entry in await room.timeline(run)])
        report = await room.verify()
        assert report.ok, report.findings


async def test_a_turn_that_is_not_over_is_not_redacted(crew: Path) -> None:
    write_script(
        crew,
        {
            "boss": [
                turn(call("stop_and_think", thoughts="x"), call("ask_master", question="?")),
                turn(text="Done."),
            ]
        },
    )
    async with Room.open(crew) as room:
        run = await room.start("Think")
        async for event in room.watch(run):
            if event.entry is not None and event.entry.kind is EntryKind.QUESTIONED:
                break
        entry = next(entry for entry in await room.timeline(run) if entry.call_id == f"{run}:0.0")
        with pytest.raises(ToolError, match="not over"):
            redact(room.store, entry, "ada", "a secret")


async def test_a_recorded_run_plays_again_without_its_model(crew: Path) -> None:
    write_script(
        crew,
        {
            "boss": [turn(call("route_to_worker", request="Write")), turn(text="Written.")],
            "worker": [
                turn(call("write_file", path="a.md", content="x")),
                turn(call("read_file", path="a.md")),
                turn(text="Done."),
            ],
        },
    )
    recording = "recording=run.jsonl+scripted:script.json"
    async with Room.open(crew) as room:
        assert (await room.finished(await room.start("Go", model=recording))).result == "Written."
    (crew / "script.json").unlink()
    (crew / "data" / "a.md").unlink()
    async with Room.open(crew) as room:
        run = await room.start("Go", model="recorded:run.jsonl")
        assert (await room.finished(run)).result == "Written."
        notes = [
            (entry.payload or {})["note"]
            for entry in await room.timeline(run)
            if entry.kind is EntryKind.TURN
        ]
        assert all("recorded, not a live model" in note for note in notes)
    assert (crew / "data" / "a.md").read_text() == "x"


async def test_a_limit_of_a_run_holds_for_all_of_its_tasks(crew: Path) -> None:
    write_script(
        crew,
        {
            "boss": [turn(call("route_to_worker", request="Part")), turn(text="Done.")],
            "worker": [turn(call("stop_and_think", thoughts="x")) for _ in range(5)] + [turn(text="Part.")],
        },
    )
    async with Room.open(crew) as room:
        run = await room.start("Go", budget=Budget(max_tokens=1500))
        ended = await room.finished(run)
        assert ended.task.status == "failed"
        assert ended.result["error"]["code"] == Code.BUDGET_EXCEEDED
        assert sum(task.steps for task in await room.tasks(run)) < 7


async def test_calls_of_one_turn_open_no_more_tasks_than_a_budget_allows(crew: Path) -> None:
    write_script(
        crew,
        {
            "boss": [
                turn(*(call("route_to_worker", request=f"Part {n}") for n in range(6))),
                turn(text="Done."),
            ],
            "worker": [turn(text="Part.")],
        },
    )
    async with Room.open(crew) as room:
        run = await room.start("Go", budget=Budget(max_children=2))
        assert (await room.finished(run)).ok
        assert len(await room.tasks(run)) == 3
        refused = [
            (entry.payload or {})["result"]["error"]["code"]
            for entry in await room.timeline(run)
            if entry.kind is EntryKind.CALLED
        ]
        assert refused == [Code.BUDGET_EXCEEDED] * 4


async def test_a_task_whose_role_was_changed_in_the_table_does_nothing(crew: Path) -> None:
    write_script(
        crew,
        {"helper": [turn(call("ask_master", question="?")), turn(text="Done.")], "boss": [turn(text="No.")]},
    )
    async with Room.open(crew) as room:
        run = await room.start("Go", role="helper")
        async for event in room.watch(run):
            if event.entry is not None and event.entry.kind is EntryKind.QUESTIONED:
                break
        with room.store.database.write() as transaction:
            transaction.execute(update(tasks).where(tasks.c.id == run).values(role="boss"))
        question = next(task for task in await room.tasks(run) if task.role == "person")
        await room.answer(question.id, "Now.", ADA)
        ended = await room.finished(run)
        assert ended.task.status == "failed"
        assert [entry.kind for entry in await room.timeline(run)].count(EntryKind.TURN) == 1


async def test_a_secret_is_not_sent_along(crew: Path) -> None:
    (crew / "data" / ".env").write_text("KEY=1")
    write_script(crew, {"boss": [turn(text="Done.")]})
    async with Room.open(crew) as room:
        with pytest.raises(ToolError) as caught:
            await room.start("Go", documents=["./.env"])
        assert caught.value.code is Code.BLOCKED_BY_RULE


async def test_watching_a_task_that_is_not_there_says_so(crew: Path) -> None:
    async with Room.open(crew) as room:
        with pytest.raises(ToolError, match="no task"):
            await room.finished("task_nothing")
