"""ask_data through a whole room: SQL over documents, confined, and questions for which a model writes the SQL."""

import hashlib
import json
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from brasstag import ApprovalResponse, Code, Done, Failed, Outcome, Room, Waiting
from brasstag.words.approvals import Approver
from brasstag.words.turns import Model, OnText, Turn, TurnRequest
from tests.conftest import MakeProject

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

SALES = "region,units,price\nNorth,3,1.50\nSouth,4,2.50\nNorth,5,1.00\n"
BY_REGION = "SELECT region, sum(units) AS units FROM sales GROUP BY region ORDER BY region"


@dataclass(frozen=True, slots=True)
class Desk:
    """A room, and its workspace."""

    room: Room
    data: Path

    async def ask(self, sql: str, *documents: str, **more: Any) -> Outcome:
        arguments = {"documents": documents or ("sales.csv",), "sql": sql, **more}
        return await self.room.call("ask_data", json.loads(json.dumps(arguments)))

    async def answer(self, sql: str, *documents: str, **more: Any) -> dict[str, Any]:
        return value_of(await self.ask(sql, *documents, **more))

    async def failure(self, sql: str, *documents: str, **more: Any) -> Failed:
        outcome = await self.ask(sql, *documents, **more)
        assert isinstance(outcome, Failed), outcome
        return outcome


def value_of(outcome: Outcome) -> dict[str, Any]:
    assert isinstance(outcome, Done), outcome
    found: dict[str, Any] = outcome.value
    return found


@pytest.fixture
async def desk(project: Path) -> AsyncIterator[Desk]:
    (project / "data" / "sales.csv").write_text(SALES)
    async with Room.open(project) as room:
        yield Desk(room, project / "data")


class TestSql:
    async def test_the_answer_carries_the_query_the_rows_and_the_digest_of_each_source(
        self, desk: Desk
    ) -> None:
        assert await desk.answer(BY_REGION) == {
            "sql": BY_REGION,
            "columns": [{"name": "region", "type": "VARCHAR"}, {"name": "units", "type": "HUGEINT"}],
            "rows": [["North", 8], ["South", 4]],
            "row_count": 2,
            "truncated": None,
            "sources": [
                {
                    "document": "sales.csv",
                    "digest": hashlib.sha256(SALES.encode()).hexdigest(),
                    "view": "sales",
                }
            ],
        }

    async def test_documents_small_and_large_are_joined(self, desk: Desk) -> None:
        large = "region,n\n" + "".join(f"{'North' if n % 2 else 'South'},{n}\n" for n in range(50_000))
        (desk.data / "deep").mkdir()
        (desk.data / "deep" / "many rows.csv").write_text(large)
        found = await desk.answer(
            "SELECT s.region, count(*) FROM sales s JOIN many_rows m USING (region) GROUP BY 1 ORDER BY 1",
            "sales.csv",
            "deep/many rows.csv",
        )
        assert found["rows"] == [["North", 50_000], ["South", 25_000]]
        assert [source["view"] for source in found["sources"]] == ["sales", "many_rows"]

    async def test_a_text_in_an_old_encoding_is_read_and_told(self, desk: Desk) -> None:
        for place, lines in (("small.csv", 1), ("large.csv", 20_000)):
            (desk.data / place).write_bytes(b"item,price\n" + b"coffee,5 \x80\n" * lines)
            view = place.removesuffix(".csv")
            found = await desk.answer(f"SELECT price, count(*) FROM {view} GROUP BY 1", place)
            assert found["rows"] == [["5 €", lines]]
            assert found["sources"][0]["note"] == "it is not UTF-8, and was read as cp1252"

    async def test_rows_are_cut_at_max_rows_and_at_the_size_of_the_answer(self, desk: Desk) -> None:
        few = await desk.answer("SELECT * FROM range(1000)", max_rows=3)
        assert (few["row_count"], few["truncated"]) == (3, "rows")
        wide = await desk.answer("SELECT repeat('x', 10000) FROM range(1000)", max_rows=1000)
        assert (wide["row_count"], wide["truncated"]) == (39, "size")

    async def test_a_cell_too_large_for_any_answer_is_told(self, desk: Desk) -> None:
        failed = await desk.failure("SELECT repeat('x', 100000000)")
        assert failed.code is Code.TOO_LARGE
        assert "left(" in failed.message

    async def test_a_query_is_no_way_to_files_of_the_host_or_the_room(self, desk: Desk) -> None:
        (desk.data / "other.csv").write_text("x\n1\n")
        for place in ("/etc/passwd", "/proc/self/environ", "other.csv", "/workspace/other.csv", "/files/1"):
            failed = await desk.failure(f"SELECT * FROM read_text('{place}')")
            assert failed.code is Code.QUERY_FAILED

    async def test_memory_that_duckdb_does_not_count_is_counted_around_it(self, desk: Desk) -> None:
        failed = await desk.failure("SELECT list_aggregate(range(1000000000), 'sum')")
        assert failed.code is Code.EXECUTION_ERROR
        assert "memory" in failed.message

    async def test_nothing_is_asked_about_and_nothing_changes(self, desk: Desk) -> None:
        before = {path: path.read_bytes() for path in desk.data.iterdir()}
        await desk.answer(BY_REGION)
        assert {path: path.read_bytes() for path in desk.data.iterdir()} == before

    @pytest.mark.parametrize(
        ("arguments", "code", "words"),
        [
            ({"documents": ["sales.csv"]}, Code.INVALID_ARGUMENTS, "one of the two is needed"),
            (
                {"documents": ["sales.csv"], "sql": "SELECT 1", "question": "?"},
                Code.INVALID_ARGUMENTS,
                "only one of the two",
            ),
            ({"documents": [], "sql": "SELECT 1"}, Code.INVALID_ARGUMENTS, "at least one item"),
            ({"documents": ["none.csv"], "sql": "SELECT 1"}, Code.FILE_NOT_FOUND, "none.csv"),
            ({"documents": ["."], "sql": "SELECT 1"}, Code.NOT_A_FILE, "directory"),
            ({"documents": ["../out.csv"], "sql": "SELECT 1"}, Code.INVALID_PATH, "out.csv"),
            ({"documents": ["sales.csv"], "sql": "SELECT regon FROM sales"}, Code.QUERY_FAILED, '"region"'),
            ({"documents": ["sales.csv"], "sql": "DROP VIEW sales"}, Code.INVALID_ARGUMENTS, "one SELECT"),
            ({"documents": ["notes.md"], "sql": "SELECT 1"}, Code.NOT_A_TABLE, "notes.md is not a table"),
        ],
    )
    async def test_bad_input_is_a_coded_failure(
        self, desk: Desk, arguments: dict[str, Any], code: Code, words: str
    ) -> None:
        (desk.data / "notes.md").write_text("# Notes\n")
        outcome = await desk.room.call("ask_data", arguments)
        assert isinstance(outcome, Failed), outcome
        assert outcome.code is code, outcome
        assert words in outcome.message

    async def test_what_a_rule_hides_is_not_asked_and_no_copy_of_it_is_kept(
        self, make_project: MakeProject
    ) -> None:
        project = make_project('[[rules]]\nname = "pay"\ndeny = "*(pay/**)"\nbecause = "nobody sees pay"\n')
        (project / "data" / "pay").mkdir()
        secret = b"name,pay\nAda,100\n"
        (project / "data" / "pay" / "all.csv").write_bytes(secret)
        async with Room.open(project) as room:
            for more in ({"sql": "FROM all_data"}, {"question": "Who earns most?"}):
                outcome = await room.call("ask_data", {"documents": ["pay/all.csv"], **more})
                assert isinstance(outcome, Failed), outcome
                assert outcome.code is Code.BLOCKED_BY_RULE
        kept = project / ".brasstag" / "blobs"
        assert not [path for path in kept.rglob("*") if path.is_file() and path.read_bytes() == secret]


def script(project: Path, *texts: str) -> None:
    turns = [{"text": text} for text in texts]
    (project / "script.json").write_text(json.dumps({"ask_data": turns}))


class Counted:
    """A model around a model that notes what it was asked."""

    def __init__(self, model: Model, asked: list[TurnRequest]) -> None:
        self._model = model
        self._asked = asked
        self.name = model.name
        self.sees_images = model.sees_images
        self.context_tokens = model.context_tokens

    async def respond(self, request: TurnRequest, on_text: OnText) -> Turn:
        self._asked.append(request)
        return await self._model.respond(request, on_text)


WITH_SCRIPT = '[crew]\nmodel = "scripted:script.json"\n'
QUESTION = {"documents": ["sales.csv"], "question": "How many units did each region sell?"}


class TestQuestion:
    @pytest.fixture
    def project(self, make_project: MakeProject) -> Path:
        project = make_project(WITH_SCRIPT)
        (project / "data" / "sales.csv").write_text(SALES)
        return project

    async def test_the_model_writes_sql_and_the_rows_are_the_files(self, project: Path) -> None:
        script(project, f"Here it is:\n```sql\n{BY_REGION};\n```\n")
        async with Room.open(project) as room:
            found = value_of(await room.call("ask_data", QUESTION))
        assert found["sql"] == BY_REGION
        assert found["rows"] == [["North", 8], ["South", 4]]
        assert found["attempts"] == []
        assert found["model"].startswith("scripted:")
        assert found["usage"]["input_tokens"] > 0

    async def test_what_goes_wrong_goes_back_to_the_model(self, project: Path) -> None:
        script(project, "SELECT regon FROM sales", "DROP VIEW sales", f"```sql\n{BY_REGION}\n```")
        async with Room.open(project) as room:
            found = value_of(await room.call("ask_data", QUESTION))
        assert found["rows"] == [["North", 8], ["South", 4]]
        assert [one["sql"] for one in found["attempts"]] == ["SELECT regon FROM sales", "DROP VIEW sales"]
        assert "Candidate bindings" in found["attempts"][0]["error"]
        assert "one SELECT" in found["attempts"][1]["error"]

    async def test_after_as_many_tries_as_the_config_says_it_fails_and_tells_them(
        self, project: Path
    ) -> None:
        script(project, *(["SELECT regon FROM sales"] * 3), BY_REGION)
        async with Room.open(project) as room:
            outcome = await room.call("ask_data", QUESTION)
        assert isinstance(outcome, Failed)
        assert outcome.code is Code.QUERY_FAILED
        assert len(outcome.details["attempts"]) == 3

    async def test_without_a_model_it_says_what_is_missing_and_that_sql_works(self, desk: Desk) -> None:
        outcome = await desk.room.call("ask_data", QUESTION)
        assert isinstance(outcome, Failed)
        assert outcome.code is Code.MODEL_NOT_CONFIGURED
        assert "[crew] model" in outcome.hint
        assert "give sql instead" in outcome.message

    async def test_a_model_that_fails_is_told_by_its_code(self, project: Path) -> None:
        script(project)
        async with Room.open(project) as room:
            outcome = await room.call("ask_data", QUESTION)
        assert isinstance(outcome, Failed)
        assert outcome.code is Code.MODEL_FAILED

    async def test_no_model_is_shown_anything_before_a_person_allowed_it(
        self, make_project: MakeProject
    ) -> None:
        project = make_project(WITH_SCRIPT, profile="locked")
        (project / "data" / "sales.csv").write_text(SALES)
        script(project)
        async with Room.open(project) as room:
            waiting = await room.call("ask_data", QUESTION)
            # Had the model been asked to find out what the call does, it would have failed: it has nothing to say yet.
            assert isinstance(waiting, Waiting), waiting
            by_hand = await room.call("ask_data", {"documents": ["sales.csv"], "sql": BY_REGION})
            assert isinstance(by_hand, Done)

    async def test_an_approved_question_is_put_to_the_model_once(self, make_project: MakeProject) -> None:
        project = make_project(WITH_SCRIPT, profile="locked")
        (project / "data" / "sales.csv").write_text(SALES)
        script(project, BY_REGION)
        asked: list[TurnRequest] = []
        async with Room.open(project) as room:
            find = room._runtime.agents.find_model
            room._runtime.agents.find_model = lambda name, fallback: Counted(find(name, fallback), asked)
            waiting = await room.call("ask_data", QUESTION)
            assert isinstance(waiting, Waiting), waiting
            assert asked == []
            await room.decide(waiting.approval_id, ApprovalResponse(True), Approver("ada", "terminal"))
            found = value_of(await room.resume(waiting.approval_id))
        assert found["rows"] == [["North", 8], ["South", 4]]
        assert len(asked) == 1
        shown = "".join(str(message) for message in asked[0].messages)
        assert "sales(region VARCHAR, units BIGINT, price DOUBLE)" in shown
        assert "<tables " in shown

    async def test_a_document_that_is_not_there_is_told_before_anybody_is_asked(self, project: Path) -> None:
        async with Room.open(project) as room:
            outcome = await room.call("ask_data", {"documents": ["none.csv"], "question": "?"})
        assert isinstance(outcome, Failed)
        assert outcome.code is Code.FILE_NOT_FOUND
