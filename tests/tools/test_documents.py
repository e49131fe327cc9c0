"""The document tools, as their callers know them."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from brasstag import Done, Failed, Room, Waiting
from brasstag.documents.study.tokens import count_tokens
from brasstag.words.approvals import ApprovalResponse
from brasstag.words.errors import Code
from tests.conftest import MakeProject, accept
from tests.documents.workbooks import workbook
from tests.engine.crews import ADA
from tests.tools.asking import failure, value

PAGE = "<html><body><h1>Report</h1><p>Margin grew in Oslo.</p><h2>Costs</h2><p>They fell.</p></body></html>"


@pytest.fixture
async def room(tmp_path: Path) -> Any:
    (tmp_path / "w").mkdir()
    async with Room.in_memory(tmp_path / "w", profile="trusted") as opened:
        yield opened


async def paths(room: Room, **asked: Any) -> list[str]:
    return [one["path"] for one in (await value(room, "list_documents", **asked))["documents"]]


async def hits(room: Room, query: str, **asked: Any) -> list[str]:
    return [one["path"] for one in (await value(room, "search_documents", query=query, **asked))["hits"]]


# list_documents


async def test_a_list_tells_everything_that_is_known(room: Room) -> None:
    (room.workspace / "notes.md").write_text("# Notes\n\nThe web shop opened in July.\n")
    await value(room, "write_file", path="analysis.md", content="Revenue rose.\n")
    # What a list finds out takes a while the first time: the tokenizer has to be read.
    await value(room, "load_to_context", path="notes.md")
    listed = await value(room, "list_documents")
    by_path = {one["path"]: one for one in listed["documents"]}
    assert (listed["more"], listed["incomplete"]) == (False, None)
    notes, analysis = by_path["notes.md"], by_path["analysis.md"]
    assert notes["created_by"] == "outside"
    assert analysis["created_by"] == room.task_id
    assert analysis["created_role"] == "operator"
    assert notes["mime_type"] == "text/markdown"
    assert notes["tokenizer"] == "o200k_base"
    assert notes["token_count"] == 10
    assert notes["auto_summary"] == "The web shop opened in July."
    assert notes["summary_by"] == "extractive"
    assert notes["indexed"] == "whole"
    assert analysis["version"] == 1


async def test_a_list_is_filtered_ordered_and_paged(room: Room) -> None:
    for name, size in (("a.md", 10), ("b.csv", 30), ("sub/c.md", 20)):
        await value(room, "write_file", path=name, content="x" * size)
    await value(room, "tag_document", path="a.md", add=["Q3", "final"])
    assert await paths(room) == ["a.md", "b.csv", "sub/c.md"]
    assert await paths(room, glob="*.md") == ["a.md", "sub/c.md"]
    assert await paths(room, glob="sub/**") == ["sub/c.md"]
    assert await paths(room, tags=["Q3"]) == ["a.md"]
    assert await paths(room, tags=["Q3", "draft"]) == []
    assert await paths(room, mime_type="text/csv") == ["b.csv"]
    assert await paths(room, mime_type="text/") == ["a.md", "b.csv", "sub/c.md"]
    assert await paths(room, order="largest") == ["b.csv", "sub/c.md", "a.md"]
    assert await paths(room, limit=1, offset=1) == ["b.csv"]
    assert (await value(room, "list_documents", limit=2))["more"] is True
    assert await paths(room, creator="operator", task=room.task_id) == ["a.md", "b.csv", "sub/c.md"]
    assert await paths(room, creator="outside") == []
    newest = max(one["updated_at"] for one in (await value(room, "list_documents"))["documents"])
    without_zone = newest.removesuffix("Z")
    assert await paths(room, changed_after=without_zone) == ["sub/c.md"]
    assert await paths(room, changed_before=without_zone) == ["a.md", "b.csv"]
    assert await paths(room, changed_after="2100-01-01") == []
    assert await paths(room, changed_before="2100-01-01T00:00:00+02:00") == ["a.md", "b.csv", "sub/c.md"]


async def test_a_time_that_is_none_is_refused_with_how_to_write_one(room: Room) -> None:
    failed = await failure(room, "list_documents", changed_after="yesterday")
    assert failed.code is Code.INVALID_ARGUMENTS
    assert "2026-03-01" in failed.message


# search_documents


async def test_search_finds_words_and_says_where(room: Room) -> None:
    (room.workspace / "notes.md").write_text("# Notes\n\nThe web shop opened in July.\n")
    (room.workspace / "other.md").write_text("Nothing of the kind.\n")
    found = await value(room, "search_documents", query='"web shop"')
    (hit,) = found["hits"]
    assert (hit["path"], hit["line"], hit["column"]) == ("notes.md", 3, 5)
    assert [hit["snippet"][start:end] for start, end in hit["matches"]] == ["web shop"]
    assert (found["more"], found["incomplete"]) == (False, None)


async def test_what_has_to_be_converted_is_found_too_and_by_its_block(room: Room) -> None:
    (room.workspace / "report.html").write_text(PAGE)
    (hit,) = (await value(room, "search_documents", query="oslo"))["hits"]
    assert (hit["path"], hit["block"]) == ("report.html", 1)
    assert await hits(room, "body") == []


async def test_a_change_is_found_at_once_whoever_made_it(room: Room) -> None:
    await value(room, "write_file", path="a.md", content="walnut\n")
    assert await hits(room, "walnut") == ["a.md"]
    await value(room, "edit_file", path="a.md", search_text="walnut", replace_text="chestnut")
    assert await hits(room, "walnut") == []
    assert await hits(room, "chestnut") == ["a.md"]
    await value(room, "delete_file", path="a.md")
    assert await hits(room, "chestnut") == []


async def test_tags_and_descriptions_are_searched_too(room: Room) -> None:
    (room.workspace / "q3.csv").write_text("a,b\n1,2\n")
    await value(room, "tag_document", path="q3.csv", add=["revenue"])
    await value(room, "describe_document", path="q3.csv", description="Sales of the third quarter")
    assert await hits(room, "revenue") == ["q3.csv"]
    assert await hits(room, "quarter") == ["q3.csv"]
    await value(room, "tag_document", path="q3.csv", remove=["revenue"])
    assert await hits(room, "revenue") == []


@pytest.mark.parametrize("query", ["-only", "***", '""', "!?"])
async def test_a_query_without_a_word_is_refused(room: Room, query: str) -> None:
    assert (await failure(room, "search_documents", query=query)).code is Code.INVALID_ARGUMENTS


# what rules hide


async def test_what_a_rule_hides_is_no_document_for_that_role(make_project: MakeProject) -> None:
    project = make_project(
        """
        [[rules]]
        deny = "*(salaries/**)"
        because = "private"
        match = ["read_file(salaries/a.md)"]
        not_match = ["read_file(a.md)"]
        """,
        profile="trusted",
    )
    (project / "data" / "salaries").mkdir(parents=True)
    (project / "data" / "salaries" / "all.md").write_text("Ada earns walnuts.\n")
    (project / "data" / ".env").write_text("KEY=walnuts\n")
    (project / "data" / "open.md").write_text("Walnuts for everybody.\n")
    async with Room.open(project) as room:
        assert await paths(room) == ["open.md"]
        assert await hits(room, "walnuts") == ["open.md"]
        for tool, more in (
            ("load_to_context", {}),
            ("compare_documents", {}),
            ("tag_document", {"add": ["x"]}),
            ("describe_document", {"description": "x"}),
            ("restore_document", {}),
        ):
            outcome = await room.call(tool, {"path": "salaries/all.md", **more})
            assert isinstance(outcome, Failed), tool
            assert "walnut" not in str(outcome)


async def test_what_a_rule_asks_about_is_listed_not_searched_and_loaded_once_a_person_says_yes(
    make_project: MakeProject,
) -> None:
    project = make_project(
        """
        [[rules]]
        ask = "*(letters/**)"
        because = "they are private"
        match = ["read_file(letters/a.md)"]
        not_match = ["read_file(a.md)"]
        """,
        profile="trusted",
    )
    (project / "data" / "letters").mkdir(parents=True)
    (project / "data" / "letters" / "one.md").write_text("Walnuts are nice. Really.\n")
    async with Room.open(project) as room:
        (listed,) = (await value(room, "list_documents"))["documents"]
        assert (listed["path"], listed["auto_summary"]) == ("letters/one.md", None)
        assert await hits(room, "walnuts") == []
        waiting = await room.call("load_to_context", {"path": "letters/one.md"})
        assert isinstance(waiting, Waiting)
        await room.decide(waiting.approval_id, ApprovalResponse(True), ADA)
        loaded = await room.resume(waiting.approval_id)
        assert isinstance(loaded, Done)
        assert loaded.value["content"] == "Walnuts are nice. Really.\n"


async def test_control_files_are_no_documents(make_project: MakeProject) -> None:
    project = make_project("# walnut\n", profile="trusted", workspace=".")
    (project / "tools").mkdir()
    (project / "tools" / "notes.txt").write_text("walnut")
    accept(project)
    (project / "chapter.md").write_text("walnut")
    async with Room.open(project) as room:
        assert await paths(room) == ["chapter.md"]
        assert await hits(room, "walnut") == ["chapter.md"]


# load_to_context


async def test_a_text_comes_as_it_is_whole_or_by_lines(room: Room) -> None:
    (room.workspace / "a.txt").write_bytes(b"one\r\ntwo\nthree")
    whole = await value(room, "load_to_context", path="a.txt")
    assert (whole["content"], whole["unit"], whole["total"], whole["next"]) == (
        "one\r\ntwo\nthree",
        "line",
        3,
        None,
    )
    part = await value(room, "load_to_context", path="a.txt", start_line=2, end_line=2)
    assert (part["content"], part["first"], part["last"], part["next"]) == ("two\n", 2, 2, 3)


async def test_as_much_as_fits_is_given_and_where_to_read_on(room: Room) -> None:
    lines = [f"Line number {n} of the text.\n" for n in range(100)]
    (room.workspace / "a.txt").write_text("".join(lines))
    got: list[str] = []
    at: int | None = 1
    while at is not None:
        part = await value(room, "load_to_context", path="a.txt", start_line=at, max_tokens=60)
        assert 0 < part["tokens"] <= 60
        got.append(part["content"])
        at = part["next"]
    assert "".join(got) == "".join(lines)


async def read_on(room: Room, path: str, **asked: Any) -> list[dict[str, Any]]:
    """Load a document part by part, as each says where the next one begins."""
    parts = [await value(room, "load_to_context", path=path, **asked)]
    while parts[-1]["next"] is not None:
        where = {f"start_{parts[-1]['unit']}": parts[-1]["next"], "offset": parts[-1]["next_offset"]}
        parts.append(await value(room, "load_to_context", path=path, **asked, **where))
    return parts


async def test_a_line_that_does_not_fit_is_read_on_inside(room: Room) -> None:
    text = '{"numbers":[' + ",".join(map(str, range(2_000))) + "]}"
    (room.workspace / "a.json").write_text(text)
    parts = await read_on(room, "a.json", max_tokens=500)
    assert all(0 < part["tokens"] <= 500 for part in parts)
    assert "".join(part["content"] for part in parts) == text
    first = len(parts[0]["content"])
    assert (parts[0]["next"], parts[0]["next_offset"]) == (1, first)
    assert parts[0]["notes"] == [f"of line 1, this has characters 1 to {first:,} of its {len(text):,}"]


async def test_a_sheet_is_read_on_row_by_row_with_its_header(room: Room) -> None:
    rows = [["id", "name"], *([number, f"name {number}"] for number in range(3_000))]
    (room.workspace / "big.xlsx").write_bytes(workbook({"Big": rows}))
    first = await value(room, "load_to_context", path="big.xlsx", max_tokens=50)
    assert first["content"].startswith("## Big\n\n| id | name |\n| --- | --- |\n| 0 | name 0 |\n")
    parts = await read_on(room, "big.xlsx", max_tokens=8_000)
    assert all(part["tokens"] <= 8_000 for part in parts)
    assert all("| id | name |\n| --- | --- |\n" in part["content"] for part in parts)
    told = [
        line
        for part in parts
        for line in part["content"].split("\n")
        if "| name " in line and "id" not in line
    ]
    assert told == [f"| {number} | name {number} |" for number in range(3_000)]


async def test_the_tokens_of_blocks_as_json_are_those_of_the_json(room: Room) -> None:
    (room.workspace / "r.html").write_text("".join(f"<p>Paragraph number {n}.</p>" for n in range(100)))
    parts = await read_on(room, "r.html", form="json", max_tokens=300)
    for part in parts:
        assert (
            part["tokens"]
            == count_tokens(json.dumps(part["content"], ensure_ascii=False, sort_keys=True)).tokens
        )
        assert part["tokens"] <= 300
    told = [block["text"] for part in parts for block in part["content"]]
    assert told == [f"Paragraph number {n}." for n in range(100)]


async def test_lines_are_counted_alike_by_load_read_and_search(room: Room) -> None:
    (room.workspace / "a.txt").write_text("one\rtwo\x0cthree\u2028walnut")
    (hit,) = (await value(room, "search_documents", query="walnut"))["hits"]
    loaded = await value(room, "load_to_context", path="a.txt", start_line=hit["line"], end_line=hit["line"])
    assert (loaded["total"], loaded["content"]) == (1, "one\rtwo\x0cthree\u2028walnut")


async def test_a_guessed_encoding_is_told(room: Room) -> None:
    (room.workspace / "a.txt").write_bytes(b"coffee, 5 \x80\n")
    loaded = await value(room, "load_to_context", path="a.txt")
    assert loaded["content"] == "coffee, 5 €\n"
    assert "cp1252" in loaded["notes"][0]


async def test_a_converted_document_comes_as_markdown_or_by_blocks(room: Room) -> None:
    (room.workspace / "r.html").write_text(PAGE)
    whole = await value(room, "load_to_context", path="r.html")
    assert whole["content"] == "# Report\n\nMargin grew in Oslo.\n\n## Costs\n\nThey fell."
    part = await value(room, "load_to_context", path="r.html", start_block=2, form="json")
    assert [block["kind"] for block in part["content"]] == ["heading", "paragraph"]
    assert (part["first"], part["last"], part["total"], part["next"]) == (2, 3, 4, None)
    plain = await value(room, "load_to_context", path="r.html", form="text", end_block=1)
    assert plain["content"] == "Report\n\nMargin grew in Oslo."


async def test_an_earlier_version_is_loaded_by_number_or_digest(room: Room) -> None:
    await value(room, "write_file", path="a.md", content="one\n")
    first = await value(room, "load_to_context", path="a.md")
    await value(room, "write_file", path="a.md", content="two\n")
    for name in ("1", first["digest"][:8]):
        assert (await value(room, "load_to_context", path="a.md", version=name))["content"] == "one\n"
    failed = await failure(room, "load_to_context", path="a.md", version="7")
    assert failed.code is Code.INVALID_ARGUMENTS
    assert "1 to 2" in failed.message


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"path": "nothing.md"}, Code.FILE_NOT_FOUND),
        ({"path": "../x"}, Code.INVALID_PATH),
        ({"path": "d"}, Code.NOT_A_FILE),
        ({"path": "a.md", "start_line": 9}, Code.INVALID_ARGUMENTS),
        ({"path": "a.md", "start_line": 2, "end_line": 1}, Code.INVALID_ARGUMENTS),
        ({"path": "a.md", "start_line": 1, "start_block": 1}, Code.INVALID_ARGUMENTS),
        ({"path": "a.md", "start_block": 9}, Code.INVALID_ARGUMENTS),
        ({"path": "a.md", "offset": 4}, Code.INVALID_ARGUMENTS),
        ({"path": "a.md", "form": "markdown", "offset": -1}, Code.INVALID_ARGUMENTS),
        ({"path": "x.bin", "start_line": 1}, Code.NOT_TEXT),
        ({"path": "bad.pdf"}, Code.CANNOT_CONVERT),
    ],
)
async def test_bad_loads_are_coded(room: Room, given: dict[str, Any], code: Code) -> None:
    (room.workspace / "d").mkdir()
    (room.workspace / "a.md").write_text("one\ntwo\n")
    (room.workspace / "x.bin").write_bytes(bytes(range(256)))
    (room.workspace / "bad.pdf").write_bytes(b"%PDF-1.7\n" + os.urandom(200))
    assert (await failure(room, "load_to_context", **given)).code is code


@pytest.mark.parametrize("text", ["walnuts and chestnuts\n" * 60_000, "walnuts " * 200_000])
async def test_a_large_text_is_not_given_whole_but_in_parts(room: Room, text: str) -> None:
    (room.workspace / "a.txt").write_text(text)
    failed = await failure(room, "load_to_context", path="a.txt")
    assert failed.code is Code.TOO_LARGE
    assert "max_tokens" in failed.message
    assert "next_offset" in failed.message
    parts = await read_on(room, "a.txt", max_tokens=1_000_000)
    assert "".join(part["content"] for part in parts) == text
    assert len(parts) == 2


# tag_document and describe_document


async def test_tags_are_a_set_and_stay_with_a_moved_file(room: Room) -> None:
    (room.workspace / "a.md").write_text("one\n")
    assert (await value(room, "tag_document", path="a.md", add=["b", "a", "b"]))["tags"] == ["b", "a"]
    assert (await value(room, "tag_document", path="a.md", add=["c"], remove=["b"]))["tags"] == ["a", "c"]
    await value(room, "move_file", source="a.md", target="sub/b.md")
    assert await paths(room, tags=["a", "c"]) == ["sub/b.md"]
    (room.workspace / "sub" / "b.md").rename(room.workspace / "c.md")
    assert await paths(room, tags=["a", "c"]) == ["c.md"]


@pytest.mark.parametrize(
    "given", [{}, {"add": ["a"], "remove": ["a"]}, {"add": [""]}, {"add": ["x" * 200]}, {"add": "a"}]
)
async def test_bad_tags_are_refused(room: Room, given: dict[str, Any]) -> None:
    (room.workspace / "a.md").write_text("one\n")
    assert (await failure(room, "tag_document", path="a.md", **given)).code is Code.INVALID_ARGUMENTS
    assert (await failure(room, "tag_document", path="b.md", add=["a"])).code is Code.FILE_NOT_FOUND


async def test_a_tag_that_is_denied_is_not_written(make_project: MakeProject) -> None:
    project = make_project(
        '[[rules]]\ndeny = "tag_document"\nbecause = "hands off"\nmatch = ["tag_document"]\nnot_match = ["undo"]\n'
    )
    (project / "data").mkdir(exist_ok=True)
    (project / "data" / "a.md").write_text("one\n")
    async with Room.open(project) as room:
        assert (await failure(room, "tag_document", path="a.md", add=["x"])).code is Code.BLOCKED_BY_RULE
        assert await paths(room, tags=["x"]) == []


async def test_a_tag_that_was_asked_about_is_written_once_it_is_approved(make_project: MakeProject) -> None:
    project = make_project(
        '[[rules]]\nask = "tag_document"\nbecause = "tags are precious"\nmatch = ["tag_document"]\nnot_match = ["undo"]\n'
    )
    (project / "data").mkdir(exist_ok=True)
    (project / "data" / "a.md").write_text("one\n")
    async with Room.open(project) as room:
        waiting = await room.call("tag_document", {"path": "a.md", "add": ["x"]})
        assert isinstance(waiting, Waiting)
        assert await paths(room, tags=["x"]) == []
        await room.decide(waiting.approval_id, ApprovalResponse(approved=True), by="ada")
        assert isinstance(await room.resume(waiting.approval_id), Done)
        assert await paths(room, tags=["x"]) == ["a.md"]


# compare_documents and restore_document


async def test_two_versions_and_two_documents_are_compared(room: Room) -> None:
    await value(room, "write_file", path="a.md", content="one\ntwo\n")
    # At once: while a file is being written it is empty, and whoever looks then has seen a version.
    (room.workspace.parent / "new").write_text("one\nthree\n")
    (room.workspace.parent / "new").replace(room.workspace / "a.md")
    found = await value(room, "compare_documents", path="a.md")
    assert (found["old"], found["new"], found["same"]) == ("a.md@1", "a.md@2", False)
    assert (found["added"], found["removed"], found["form"]) == (1, 1, "text")
    assert found["diff"].splitlines()[1:] == [" one", "-two", "+three"]
    (room.workspace / "b.md").write_text("one\nthree\n")
    assert (await value(room, "compare_documents", path="a.md", other="b.md"))["same"] is True
    both = await value(room, "compare_documents", path="a.md", version="1", other_version="1")
    assert (both["same"], both["diff"]) == (True, "")


async def test_documents_of_any_kind_are_compared_by_what_they_say(room: Room) -> None:
    (room.workspace / "a.html").write_text(PAGE)
    (room.workspace / "b.html").write_text(PAGE.replace("fell", "rose"))
    found = await value(room, "compare_documents", path="a.html", other="b.html")
    assert found["form"] == "markdown"
    assert "-They fell." in found["diff"].splitlines()
    (room.workspace / "x.pdf").write_bytes(b"%PDF-1.7\n" + bytes(200))
    assert (await value(room, "compare_documents", path="a.html", other="x.pdf"))["form"] == "bytes"


async def test_an_earlier_version_comes_back_with_its_mode_and_can_be_undone(room: Room) -> None:
    await value(room, "write_file", path="run.sh", content="echo one\n")
    (room.workspace / "run.sh").chmod(0o755)
    assert await paths(room) == ["run.sh"]
    await value(room, "write_file", path="run.sh", content="echo two\n")
    (room.workspace / "run.sh").chmod(0o600)
    outcome = await room.call("restore_document", {"path": "run.sh"})
    assert isinstance(outcome, Done)
    assert outcome.tag is not None
    assert (room.workspace / "run.sh").read_text() == "echo one\n"
    await value(room, "undo", tag=outcome.tag.id)
    assert (room.workspace / "run.sh").read_text() == "echo two\n"


async def test_a_deleted_document_comes_back(room: Room) -> None:
    await value(room, "write_file", path="sub/a.md", content="one\n")
    await value(room, "delete_file", path="sub", recursive=True)
    restored = await value(room, "restore_document", path="sub/a.md")
    assert restored["restored"] == "sub/a.md@1"
    assert (room.workspace / "sub" / "a.md").read_text() == "one\n"


async def test_what_was_edited_outside_can_be_restored(room: Room) -> None:
    (room.workspace / "a.md").write_text("the first\n")
    assert await paths(room) == ["a.md"]
    (room.workspace / "a.md").write_text("the second\n")
    assert await paths(room) == ["a.md"]
    await value(room, "restore_document", path="a.md", version="1")
    assert (room.workspace / "a.md").read_text() == "the first\n"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"path": "nothing.md"}, Code.FILE_NOT_FOUND),
        ({"path": "a.md"}, Code.INVALID_ARGUMENTS),
        ({"path": "a.md", "version": "9"}, Code.INVALID_ARGUMENTS),
        ({"path": "a.md", "version": "beef"}, Code.INVALID_ARGUMENTS),
        ({"path": "gone.md", "version": "2"}, Code.NOT_A_FILE),
        ({"path": "../a.md"}, Code.INVALID_PATH),
    ],
)
async def test_bad_restores_are_coded_and_change_nothing(
    room: Room, given: dict[str, Any], code: Code
) -> None:
    await value(room, "write_file", path="a.md", content="one\n")
    await value(room, "write_file", path="gone.md", content="one\n")
    await value(room, "delete_file", path="gone.md")
    assert (await failure(room, "restore_document", **given)).code is code
    assert sorted(os.listdir(room.workspace)) == ["a.md"]
