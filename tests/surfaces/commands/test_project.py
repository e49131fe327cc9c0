"""The project itself: init, gc, doctor; stop is tested with the timeline, trust has a file of its own."""

import json
import re
from pathlib import Path

import pytest

from brasstag.app.crews import crew_names
from tests.conftest import MakeProject
from tests.postgres import Server
from tests.surfaces.conftest import OpenTerminal, Pipe


class TestInit:
    def test_it_makes_a_project_that_works(self, pipe: Pipe, tmp_path: Path) -> None:
        made = pipe("init", str(tmp_path / "new" / "novel")).json
        assert made["project"] == str(tmp_path / "new" / "novel")
        assert pipe("call", "write_file", "path=a.md", "content=x", "-C", made["project"]).code == 0
        assert (Path(made["workspace"]) / "a.md").read_text() == "x"

    def test_it_never_writes_over_a_project(self, pipe: Pipe, project: Path) -> None:
        before = (project / "brasstag.toml").read_text()
        ended = pipe("init")
        assert ended.code == 1
        assert ended.err.startswith("ALREADY_EXISTS: ")
        assert (project / "brasstag.toml").read_text() == before

    def test_files_that_are_there_stay_as_they_are(self, pipe: Pipe, tmp_path: Path) -> None:
        place = tmp_path / "old"
        (place / "data").mkdir(parents=True)
        (place / "data" / "a.md").write_text("mine")
        (place / "README.md").write_text("mine too")
        assert pipe("init", str(place)).code == 0
        assert (place / "README.md").read_text() == "mine too"
        assert pipe("call", "read_file", "path=a.md", "-C", str(place)).json["value"]["content"] == "mine"

    def test_tools_that_are_there_are_not_accepted_unseen(self, pipe: Pipe, tmp_path: Path) -> None:
        (tmp_path / "old" / "tools").mkdir(parents=True)
        (tmp_path / "old" / "tools" / "x.py").write_text("raise SystemExit")
        made = pipe("init", str(tmp_path / "old"))
        assert made.json["unaccepted"] == ["tools/x.py"]
        assert "tools/x.py (new)" in pipe("call", "list_files", "-C", str(tmp_path / "old")).err

    @pytest.mark.parametrize("workspace", ["", "/", "..", ".brasstag", "tools/x"])
    def test_a_workspace_that_cannot_be_leaves_nothing_behind(
        self, pipe: Pipe, tmp_path: Path, workspace: str
    ) -> None:
        place = tmp_path / "novel"
        ended = pipe("init", str(place), "--workspace", workspace)
        assert ended.code == 1
        assert "room.workspace" in ended.err
        assert not (place / "brasstag.toml").exists()
        assert pipe("init", str(place)).code == 0

    def test_a_file_in_the_way_is_told(self, pipe: Pipe, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        assert "file: File exists. " in pipe("init", str(tmp_path / "file")).err
        assert "Not a directory. " in pipe("init", str(tmp_path / "file" / "below")).err
        assert pipe("init", str(tmp_path / "x"), "--profile", "wild").code == 2

    def test_the_project_itself_as_workspace_keeps_its_control_files(
        self, pipe: Pipe, tmp_path: Path, ada: str
    ) -> None:
        place = tmp_path / "whole"
        assert pipe("init", str(place), "--workspace", ".").code == 0
        (place / ".git").mkdir()
        (place / ".git" / "config").write_text("secret")
        before = (place / "brasstag.toml").read_text()
        for path in ("brasstag.toml", ".brasstag/state.db", "tools/x.py", ".git/config", "BRASSTAG.TOML"):
            for call in (["read_file"], ["write_file", "content=x"], ["delete_file"]):
                ended = pipe("call", *call, f"path={path}", "--yes", "-C", str(place))
                assert (ended.code, ended.json["error"]["code"]) == (4, "CONTROL_FILE"), (call, path)
        names = pipe("call", "list_files", "include_hidden=true", "recursive=true", "-C", str(place)).out
        assert "brasstag" not in names
        assert "config" not in names
        assert (place / "brasstag.toml").read_text() == before
        assert pipe("call", "write_file", "path=a.md", "content=x", "-C", str(place)).code == 0

    def test_people_are_told_what_to_try(self, terminal: OpenTerminal, tmp_path: Path) -> None:
        at = terminal("init", str(tmp_path / "novel"), columns=200)
        assert at.ends() == 0
        assert "tools may touch data/, profile careful." in at.text
        assert f"Try: cd {tmp_path}/novel && brasstag call write_file" in at.text


class TestInitWithACrew:
    def test_it_writes_the_crew_and_accepts_what_it_wrote(self, pipe: Pipe, tmp_path: Path) -> None:
        found = pipe("init", str(tmp_path / "sales"), "--crew", "analyst").json
        assert (found["crew"], found["profile"]) == ("analyst", "careful")
        assert found["made"][0] == "brasstag.toml"
        assert "data/sales_raw.csv" in found["made"]
        assert (found["kept"], found["unaccepted"]) == ([], [])
        ended = pipe("call", "list_files", "-C", found["project"])
        assert [entry["name"] for entry in ended.json["value"]["entries"]] == ["sales_raw.csv"]

    def test_workspace_and_profile_are_the_crews_unless_they_are_given(
        self, pipe: Pipe, tmp_path: Path
    ) -> None:
        whole = pipe("init", str(tmp_path / "a"), "--crew", "developer").json
        assert whole["workspace"] == whole["project"]
        chosen = pipe(
            "init", str(tmp_path / "b"), "--crew", "novel", "--workspace", "book", "--profile", "locked"
        )
        assert chosen.json["profile"] == "locked"
        assert (tmp_path / "b" / "book" / "manuscripts" / "outline.md").exists()

    def test_an_unknown_crew_is_answered_with_those_there_are(self, pipe: Pipe, tmp_path: Path) -> None:
        ended = pipe("init", str(tmp_path / "x"), "--crew", "opera")
        assert ended.code == 1
        assert "there is no crew 'opera'; choose one of analyst, developer, novel" in ended.err
        assert not (tmp_path / "x").exists()

    def test_the_help_names_every_crew(self, pipe: Pipe) -> None:
        assert ", ".join(crew_names()[:-1]) + f" or {crew_names()[-1]}" in " ".join(
            pipe("init", "--help").out.split()
        )

    def test_people_are_told_what_was_made_and_what_to_ask(
        self, terminal: OpenTerminal, tmp_path: Path
    ) -> None:
        (tmp_path / "sales" / "data").mkdir(parents=True)
        (tmp_path / "sales" / "data" / "sales_raw.csv").write_text("mine")
        at = terminal("init", str(tmp_path / "sales"), "--crew", "analyst", columns=200)
        assert at.ends() == 0
        assert "Crew analyst: lead, analyst, visualizer." in at.text
        assert "made brasstag.toml" in at.text
        assert "kept data/sales_raw.csv, which was here before" in at.text
        assert f'Try: cd {tmp_path}/sales && brasstag run "How did sales do in Q3' in at.text


class TestNoProject:
    @pytest.mark.parametrize(
        "command",
        [
            ["call", "list_files"],
            ["approvals"],
            ["timeline", "verify"],
            ["tools"],
            ["policy", "test"],
            ["trust"],
        ],
    )
    def test_every_command_says_how_to_make_one(
        self, pipe: Pipe, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: list[str]
    ) -> None:
        empty = tmp_path / "empty"
        empty.mkdir()
        monkeypatch.chdir(empty)
        ended = pipe(*command)
        assert ended.code == 1
        assert "Run `brasstag init`" in ended.err
        assert list(empty.iterdir()) == []

    def test_doctor_still_looks_at_the_machine(self, pipe: Pipe, tmp_path: Path) -> None:
        checks = {check["what"]: check["ok"] for check in pipe("doctor", "-C", str(tmp_path)).lines}
        assert checks["python"] is True
        assert checks["project"] is False


class TestDoctor:
    def test_all_is_well(self, pipe: Pipe) -> None:
        ended = pipe("doctor")
        assert ended.code == 0
        assert all(check["ok"] for check in ended.lines)

    def test_it_says_where_the_database_is(self, pipe: Pipe, project: Path) -> None:
        found = {check["what"]: check["found"] for check in pipe("doctor").lines}
        assert found["database"] == f"SQLite, {project / '.brasstag' / 'state.db'}"

    def test_on_postgres_it_names_server_version_and_schema(
        self, pipe: Pipe, make_project: MakeProject, postgres: Server, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("BRASSTAG_DATABASE_URL", postgres.url.replace("postgres@", "postgres:hidden@"))
        there = make_project(name="there")
        ended = pipe("doctor", "-C", str(there))
        assert ended.code == 0, ended.out
        found = {check["what"]: check["found"] for check in ended.lines}
        room = (there / ".brasstag" / "room").read_text().strip()
        assert re.fullmatch(
            rf"Postgres \d+\..* at /tmp/.*, database postgres, as postgres, schema {room}", found["database"]
        )
        assert "hidden" not in ended.out

    def test_a_server_that_does_not_answer_is_named_without_its_password(
        self, pipe: Pipe, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        there = make_project(name="there")
        (there / ".brasstag" / "state.db").unlink()
        url = f"postgresql://ada:hidden@/sales?host={tmp_path}&port=5999"
        monkeypatch.setenv("BRASSTAG_DATABASE_URL", url)
        ended = pipe("doctor", "-C", str(there))
        assert ended.code == 1
        checks = {check["what"]: check for check in ended.lines}
        assert checks["database"]["ok"] is False
        assert checks["database"]["found"] == f"Postgres at {tmp_path}:5999, database sales, as ada"
        assert "cannot be reached" in checks["state"]["found"]
        assert "hidden" not in ended.out
        monkeypatch.setenv("BRASSTAG_DATABASE_URL", "mysql://ada:hidden@there/sales")
        ended = pipe("doctor", "-C", str(there))
        assert "is not the address of a Postgres database" in ended.out
        assert "hidden" not in ended.out

    def test_a_broken_tool_is_named_with_its_file(self, pipe: Pipe, project: Path, ada: str) -> None:
        pipe("tools", "new", "mine")
        config = project / "tools" / "mine.json"
        config.write_text(json.dumps(json.loads(config.read_text()) | {"colour": "red"}))
        pipe("trust", "--yes")
        ended = pipe("doctor")
        assert ended.code == 1
        assert any("mine.json" in check["found"] and "colour" in check["found"] for check in ended.lines)
        # What must work all the same.
        for command in (["approvals"], ["timeline", "verify"]):
            assert pipe(*command).code == 0
        assert "mine.json" in pipe("call", "list_files").err


class TestGc:
    def test_only_what_nothing_names_and_is_old_enough_goes(
        self, pipe: Pipe, project: Path, asked: str
    ) -> None:
        stray = project / ".brasstag" / "blobs" / "ab" / ("ab" * 32)
        stray.parent.mkdir(exist_ok=True)
        stray.write_bytes(b"stray")
        assert pipe("gc").json["deleted"] == 0
        ended = pipe("gc", "--grace-days", "0").json
        assert (ended["deleted"], ended["bytes"]) == (1, 5)
        assert not stray.exists()
        assert "+TWO" in pipe("approvals", "show", asked, "-o", "people").out
        assert pipe("gc", "--grace-days", "-1").code == 2
