"""The timeline: what happened, and the proof of it."""

import hashlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.conftest import OpenTerminal, Pipe

FIRST = "0" * 64


@pytest.fixture
def history(pipe: Pipe, ada: str, project: Path) -> None:
    """Calls that were done, refused, approved, denied and failed."""
    pipe("call", "write_file", "path=chapters/one.md", "content=Call me Ishmael.")
    pipe("call", "write_file", "path=chapters/one.md", "content=Call me Bartleby.", "--yes")
    pipe("call", "read_file", "path=.env")
    pipe("call", "read_file", "path=nothing.md")
    pipe("call", "delete_file", "path=chapters/one.md")
    pipe("approvals", "deny", *[one["approvalId"] for one in pipe("approvals").lines])


def sha256(*parts: Any, between: str = "\n") -> str:
    return hashlib.sha256(between.join(map(str, parts)).encode()).hexdigest()


def recompute(lines: list[dict[str, Any]]) -> None:
    """Check an export by the recipe in `brasstag timeline export --help`, and by nothing else."""
    heads: dict[str, str] = {}
    hashes: dict[tuple[str, int], str] = {}
    seal_before = FIRST
    for line in lines:
        if line["record"] == "entry":
            if line["payload"] is not None:
                assert line["digest"] == sha256(line["salt"], line["payload"], between="")
            before = heads.get(line["task_id"], FIRST)
            said = [line[name] for name in ("task_id", "seq", "kind", "tag", "call_id", "at", "digest")]
            assert line["hash"] == sha256(before, *said)
            heads[line["task_id"]] = hashes[line["task_id"], line["seq"]] = line["hash"]
        else:
            said = [line[name] for name in ("seq", "task_id", "task_seq", "head", "at", "key_id")]
            assert line["hash"] == sha256(seal_before, *said)
            assert line["head"] == hashes[line["task_id"], line["task_seq"]]
            seal_before = line["hash"]


class TestExport:
    def test_its_lines_suffice_to_recompute_the_chain(self, pipe: Pipe, history: None) -> None:
        lines = pipe("timeline", "export").lines
        assert {line["record"] for line in lines} == {"entry", "seal"}
        recompute(lines)
        assert lines[-1]["hash"] == pipe("timeline", "head").json["hash"]

    def test_a_changed_line_does_not_recompute(self, pipe: Pipe, history: None) -> None:
        lines = pipe("timeline", "export").lines
        told = next(line for line in lines if "Ishmael" in (line.get("payload") or ""))
        told["payload"] = told["payload"].replace("Ishmael", "Bartleby")
        with pytest.raises(AssertionError):
            recompute(lines)

    def test_after_a_redaction_it_still_does(self, pipe: Pipe, history: None) -> None:
        secret = next(one for one in pipe("timeline", "show").lines if one["entry"] == "claimed")
        assert pipe("timeline", "redact", secret["tag"], "-r", "a name").code == 0
        lines = pipe("timeline", "export").lines
        assert next(line for line in lines if line.get("tag") == secret["tag"])["payload"] is None
        recompute(lines)
        assert pipe("timeline", "verify").code == 0

    def test_one_task_can_be_had_alone_and_into_a_file(
        self, pipe: Pipe, history: None, tmp_path: Path
    ) -> None:
        task = pipe("timeline", "show", "-n", "1").json["task"]
        file = tmp_path / "export.jsonl"
        assert pipe("timeline", "export", "--task", task[-8:], "--file", str(file)).out == ""
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        assert {line["task_id"] for line in lines} == {task}

    def test_a_call_is_shown_as_one_record(self, pipe: Pipe, project: Path) -> None:
        pipe("call", "write_file", "path=a.md", "content=one")
        tag = pipe("timeline", "show").lines[-2]["tag"]
        for named in ((), (tag,)):
            (record,) = pipe("timeline", "show", "--calls", *named).lines
            assert (record["tool"], record["result"]["path"], record["tag"]) == ("write_file", "a.md", tag)

    def test_calls_have_five_fields_and_their_tag(self, pipe: Pipe, history: None) -> None:
        calls = pipe("timeline", "export", "--calls").lines
        assert [call["tool"] for call in calls] == [
            *("write_file", "write_file", "read_file", "read_file", "delete_file"),
        ]
        fields = {"type", "tool", "input", "result", "timestamp", "status", "tag", "call"}
        assert all(call.keys() == fields for call in calls)

    def test_a_file_that_cannot_be_written_is_told(self, pipe: Pipe, history: None, tmp_path: Path) -> None:
        ended = pipe("timeline", "export", "--file", str(tmp_path))
        assert ended.code == 1
        assert f"{tmp_path}: Is a directory. " in ended.err


class TestShow:
    def test_each_entry_is_an_object_with_the_fields_of_s1(self, pipe: Pipe, history: None) -> None:
        lines = pipe("timeline", "show", "-n", "1000").lines
        done = next(line for line in lines if line["entry"] == "called")
        assert {"type", "tool", "input", "result", "timestamp"} <= done.keys()
        assert pipe("timeline", "show", done["tag"][-8:]).json == done
        assert pipe("timeline", "show", "-n", "2").lines == lines[-2:]

    def test_it_is_one_line_an_entry_in_80_columns(
        self, terminal: OpenTerminal, pipe: Pipe, history: None
    ) -> None:
        at = terminal("timeline", "show")
        assert at.ends() == 0
        shown = at.text.splitlines()
        assert len(shown) == 2 + len(pipe("timeline", "show").lines)
        assert max(map(len, shown)) <= 80
        assert any("write_file path=chapters/one.md" in line for line in shown)
        assert any("delete_file → denied by ada (token)" in line for line in shown)

    def test_an_entry_cannot_pose_as_two(self, terminal: OpenTerminal, pipe: Pipe) -> None:
        pipe("call", "read_file", "path=a\n12:00:00  abcdef  settled  delete_file → done")
        at = terminal("timeline", "show")
        assert at.ends() == 0
        assert "path=a⟨U+000A⟩12:00:00" in at.text.replace("\n", "").replace(" ", "")
        assert not any(line.startswith("12:00:00") for line in at.text.splitlines())

    def test_nothing_yet(self, terminal: OpenTerminal, pipe: Pipe) -> None:
        assert pipe("timeline", "show").lines == []
        assert pipe("timeline", "head").json is None
        at = terminal("timeline", "show")
        assert at.ends() == 0
        assert at.text == "Nothing has happened here yet.\n"

    def test_names_nobody_knows(self, pipe: Pipe) -> None:
        assert "TAG_NOT_FOUND" in pipe("timeline", "show", "nothing").err
        assert "there is no task nothing" in pipe("timeline", "show", "--task", "nothing").err
        assert pipe("timeline", "show", "-n", "0").code == 2

    def test_a_name_too_short_for_one_is_told_so(self, pipe: Pipe, ada: str) -> None:
        pipe("call", "list_files")
        for command in (["show", ""], ["show", "a"], ["redact", "", "--reason", "x"]):
            assert "TAG_NOT_FOUND: name the tag" in pipe("timeline", *command).err
        assert "TASK_NOT_FOUND: name the task by its id" in pipe("timeline", "show", "--task", "").err
        assert "APPROVAL_NOT_FOUND: name the approval by its id" in pipe("approvals", "show", "").err
        assert "name the memory by its id" in pipe("memories", "forget", "").err


class TestVerify:
    def test_it_holds(self, pipe: Pipe, history: None) -> None:
        ended = pipe("timeline", "verify")
        assert (ended.code, ended.json["findings"]) == (0, [])

    def test_an_edited_entry_is_named_and_exits_1(self, pipe: Pipe, history: None, project: Path) -> None:
        with sqlite3.connect(project / ".brasstag" / "state.db") as database:
            database.execute("UPDATE entries SET payload = replace(payload, 'Ishmael', 'Ahab')")
        database.close()
        ended = pipe("timeline", "verify")
        assert ended.code == 1
        assert ended.json["findings"][0]["what"] == "its payload was changed"
        assert "The timeline was tampered with" in pipe("timeline", "verify", "-o", "people").out

    def test_a_stopped_task_is_not_tampering(self, pipe: Pipe, asked: str) -> None:
        task = pipe("approvals", "show", asked).json["taskId"]
        ended = pipe("stop", task[-8:])
        assert (ended.json["task"], ended.json["status"]) == (task, "cancelled")
        assert ended.json["withdrawn"] == [asked]
        assert pipe("timeline", "verify").json["ok"] is True
        assert pipe("approvals", "show", asked).json["state"] == "void"
        assert "has already ended" in pipe("stop", task).err

    def test_a_database_that_is_none_is_told(self, pipe: Pipe, project: Path) -> None:
        for file in (project / ".brasstag").glob("state.db*"):
            file.unlink()
        (project / ".brasstag" / "state.db").write_bytes(b"not a database at all" * 100)
        ended = pipe("timeline", "verify")
        assert ended.code == 1
        assert "database is damaged" in ended.err


class TestRedact:
    def test_it_takes_a_person_a_reason_and_an_entry(
        self, pipe: Pipe, history: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tag = pipe("timeline", "show", "-n", "1").json["tag"]
        assert pipe("timeline", "redact", tag).code == 2
        assert pipe("timeline", "redact", tag, "-r", " ").code == 2
        assert "TAG_NOT_FOUND" in pipe("timeline", "redact", "nothing", "-r", "x").err
        monkeypatch.delenv("BRASSTAG_APPROVER_TOKEN")
        assert pipe("timeline", "redact", tag, "-r", "x").code == 4

    def test_contents_go_too_when_asked(self, pipe: Pipe, ada: str) -> None:
        tag = pipe("call", "write_file", "path=a.md", "content=secret").json["tag"]["id"]
        ended = pipe("timeline", "redact", tag, "-r", "x", "--contents")
        assert ended.json == {"tag": tag, "entries_redacted": 2, "contents_deleted": 1}
        assert pipe("timeline", "redact", tag, "-r", "x").code == 1
