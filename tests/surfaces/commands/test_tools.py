"""The tools of a room: list, show, schema, docs, new."""

import json
from pathlib import Path

import pytest

from tests.surfaces.conftest import OpenTerminal, Pipe

ROOT = Path(__file__).resolve().parents[3]


def test_each_tool_is_an_object_and_a_role_sees_only_its_own(pipe: Pipe, project: Path, ada: str) -> None:
    everything = {tool["name"] for tool in pipe("tools").lines}
    assert {"read_file", "write_file", "undo"} <= everything
    (project / "brasstag.toml").write_text('[roles.reader]\ntools = ["read_file", "list_directory"]\n')
    pipe("trust", "--yes")
    own = {tool["name"] for tool in pipe("tools", "list", "--as", "reader").lines}
    assert {"read_file", "list_files", "handoff"} <= own
    assert own.isdisjoint({"write_file", "delete_file", "undo", "assign_task"})
    ended = pipe("tools", "list", "--as", "nobody")
    assert ended.code == 1
    assert "this room has operator, reader" in ended.err


class TestShow:
    def test_a_person_learns_the_arguments(self, terminal: OpenTerminal) -> None:
        at = terminal("tools", "show", "search_code")
        assert at.ends() == 0
        for said in ("query           string", "required", 'default "."', "also called path", "RE2 regular"):
            assert said in at.text
        assert "brasstag call search_code 'query=Captain Ahab'" in at.text

    def test_what_it_shows_as_an_example_is_a_call(self, pipe: Pipe) -> None:
        found = pipe("tools", "show", "list_directory").json
        assert found["name"] == "list_files"
        assert "path" in json.dumps(found["input_schema"])
        for example in found["examples"]:
            assert pipe("call", "list_files", "--json", json.dumps(example)).json["ok"] in (True, False)

    def test_a_wrong_name_is_helped(self, pipe: Pipe) -> None:
        ended = pipe("tools", "show", "raed_file")
        assert ended.code == 1
        assert "did you mean read_file?" in ended.err


class TestSchema:
    @pytest.mark.parametrize(
        ("form", "place"),
        [
            ("openai", "function"),
            ("openai-flat", "name"),
            ("anthropic", "input_schema"),
            ("mcp", "inputSchema"),
        ],
    )
    def test_each_form_is_one_json_list(self, pipe: Pipe, form: str, place: str) -> None:
        assert all(place in tool for tool in pipe("tools", "schema", "--format", form).json)

    def test_strict_is_openais_alone(self, pipe: Pipe) -> None:
        assert pipe("tools", "schema", "--strict").code == 0
        assert pipe("tools", "schema", "--strict", "--format", "mcp").code == 2


class TestDocs:
    def test_the_page_is_written_and_checked(self, pipe: Pipe, project: Path) -> None:
        ended = pipe("tools", "docs", "--check")
        assert ended.code == 1
        assert "run `brasstag tools docs`" in ended.err
        assert pipe("tools", "docs").code == 0
        assert pipe("tools", "docs", "--check").code == 0
        (project / "TOOLS.md").write_bytes(b"\xff")
        assert pipe("tools", "docs", "--check").code == 1

    def test_a_project_s_page_has_its_own_tools(self, pipe: Pipe, project: Path, ada: str) -> None:
        pipe("tools", "new", "word_count")
        assert pipe("trust", "--yes").code == 0
        (project / "deep").mkdir()
        assert pipe("tools", "docs", "-C", "deep").code == 0
        page = (project / "TOOLS.md").read_text()
        assert "## word_count" in page
        assert "## read_file" in page
        assert not (project / "docs").exists()
        pipe("tools", "new", "line_count")
        assert pipe("trust", "--yes").code == 0
        ended = pipe("tools", "docs", "--check")
        assert (ended.code, "## line_count" in ended.err) == (1, True)
        assert "## line_count" not in (project / "TOOLS.md").read_text()

    def test_without_a_project_it_is_the_page_of_the_shipped_tools(
        self, pipe: Pipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        clone = tmp_path / "clone"
        clone.mkdir()
        monkeypatch.chdir(clone)
        assert pipe("tools", "docs").code == 0
        assert "## read_file" in (clone / "docs" / "TOOLS.md").read_text()
        assert pipe("tools", "docs", "-C", str(clone)).code == 1

    def test_tools_that_no_person_accepted_are_on_no_page(self, pipe: Pipe, project: Path) -> None:
        pipe("tools", "new", "word_count")
        assert pipe("tools", "docs").code == 1
        assert not (project / "TOOLS.md").exists()


class TestNew:
    def test_a_new_tool_works_once_it_is_accepted(self, pipe: Pipe, project: Path, ada: str) -> None:
        wrote = [line["wrote"] for line in pipe("tools", "new", "word_count").lines]
        assert wrote == ["tools/word_count.json", "tools/word_count.py", "tests/test_word_count.py"]
        assert pipe("trust", "--yes").code == 0
        (project / "data" / "a.md").write_text("three short words")
        assert pipe("call", "word_count", "path=a.md").json["value"] == {"path": "a.md", "words": 3}

    @pytest.mark.parametrize("name", ["read_file", "list_directory", "Bad", "a b", "../x", "class", ""])
    def test_a_name_that_cannot_be_used_writes_nothing(self, pipe: Pipe, project: Path, name: str) -> None:
        ended = pipe("tools", "new", name)
        assert ended.code == 1
        assert ended.err.count("\n") == 1
        assert not (project / "tools").exists()

    def test_nothing_is_written_over(self, pipe: Pipe, project: Path) -> None:
        pipe("tools", "new", "mine")
        before = (project / "tools" / "mine.py").read_text()
        assert pipe("tools", "new", "mine").code == 1
        assert (project / "tools" / "mine.py").read_text() == before
