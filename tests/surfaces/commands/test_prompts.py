"""Prompt tools at the command line: every command, in a pipe and at a terminal, and every wrong use of it."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from brasstag import Room
from brasstag.app import add_approver
from brasstag.surfaces.cli.session.people import TOKEN_VARIABLE
from tests.app.prompts.documents import live_ids, proposal
from tests.surfaces.conftest import OpenTerminal, Pipe


def write(project: Path, name: str = "tag_hunter.json", **changes: Any) -> str:
    (project / name).write_text(json.dumps(proposal(**changes)))
    return name


def proposed(pipe: Pipe, project: Path, **changes: Any) -> Any:
    ended = pipe("prompts", "propose", write(project, **changes))
    assert ended.code == 0, ended.err
    return ended.json


@pytest.fixture
def live(pipe: Pipe, project: Path, ada: str) -> str:
    """A live tool of the project."""
    assert pipe("prompts", "approve", proposed(pipe, project)["proposalId"]).code == 0
    return "tag_hunter"


class TestLooking:
    def test_the_list_marks_what_is_locked(self, pipe: Pipe, terminal: OpenTerminal, live: str) -> None:
        found = pipe("prompts").lines
        assert [one["locked"] for one in found] == [True] * 16 + [False]
        assert pipe("prompts", "list").lines == found
        at = terminal("prompts", "list", columns=100)
        assert at.ends() == 0
        assert "Locked (core)" in at.text
        assert "tag_hunter" in at.text
        assert max(map(len, at.text.splitlines())) <= 100

    def test_what_was_left_out_is_told(self, terminal: OpenTerminal, project: Path) -> None:
        folder = project / ".brasstag" / "prompts"
        folder.mkdir()
        tool = dict.fromkeys(("name", "usageNotes", "goals", "guardrails", "prompt"), "x") | {"scope": "file"}
        (folder / "prompts.json").write_text(
            json.dumps([tool | {"id": "file_reader"}, tool | {"id": "mine"}])
        )
        at = terminal("prompts", "list", columns=200)
        assert at.ends() == 0
        assert "claims the id file_reader, which is a core tool" in at.text
        assert "mine was edited by hand" in at.text

    def test_a_tool_and_a_proposal_are_shown(self, pipe: Pipe, project: Path, terminal: OpenTerminal) -> None:
        found = proposed(pipe, project)
        assert pipe("prompts", "show", found["proposalId"]).json == found
        assert pipe("prompts", "show", found["proposalId"][-8:]).json == found
        assert pipe("prompts", "show", "beat_architect").json["locked"] is True
        at = terminal("prompts", "show", found["proposalId"])
        assert at.ends() == 0
        assert "Recommendation: approve" in at.text
        assert found["digest"] in at.text.replace("\n", "")

    def test_what_a_role_is_told_is_printed_to_the_letter(
        self, pipe: Pipe, make_project: Any, monkeypatch: Any
    ) -> None:
        crew = make_project('[roles.editor]\narchetype = "editor"\n', name="crew")
        monkeypatch.chdir(crew)
        found = pipe("prompts", "show", "--as-injected", "editor").json
        assert found["tokens"] <= 1_500
        assert len(found["tools"]) == 16
        shown = pipe("prompts", "show", "--as-injected", "editor", "-o", "people")
        assert shown.out.rstrip("\n") == found["text"]
        assert pipe("prompts", "show", "--as-injected", "nobody_here").code == 1

    def test_open_proposals_are_listed(
        self, pipe: Pipe, project: Path, ada: str, terminal: OpenTerminal
    ) -> None:
        assert pipe("prompts", "list", "--proposals").lines == []
        found = proposed(pipe, project)
        assert pipe("prompts", "list", "--proposals").json["proposalId"] == found["proposalId"]
        pipe("prompts", "reject", found["proposalId"])
        assert pipe("prompts", "list", "--proposals").lines == []
        assert pipe("prompts", "list", "--all").json["state"] == "rejected"
        at = terminal("prompts", "list", "--proposals")
        assert at.ends() == 0
        assert at.text == "No proposal is open.\n"

    @pytest.mark.parametrize(
        "arguments",
        [
            ("show",),
            ("show", "x", "--as-injected", "y"),
            ("run", "x", "--lines", "1-2"),
            ("run", "x", "--lines", "b"),
        ],
    )
    def test_a_wrong_use_is_told(self, pipe: Pipe, arguments: tuple[str, ...]) -> None:
        assert pipe("prompts", *arguments).code == 2

    @pytest.mark.parametrize(
        ("arguments", "code"),
        [
            (("show", "nothing_here"), "PROMPT_TOOL_NOT_FOUND"),
            (("show", "prp_00000000"), "PROPOSAL_NOT_FOUND"),
            (("copy", "nothing_here"), "PROMPT_TOOL_NOT_FOUND"),
            (("history", "nothing_here"), "PROMPT_TOOL_NOT_FOUND"),
            (("history", "file_reader"), "CORE_LOCKED"),
            (("diff", "nothing_here"), "PROMPT_TOOL_NOT_FOUND"),
            (("rollback", "nothing_here", "1", "--because", "x"), "PROMPT_TOOL_NOT_FOUND"),
            (("outcomes", "nothing_here"), "PROMPT_TOOL_NOT_FOUND"),
            (("review", "prp_00000000"), "PROPOSAL_NOT_FOUND"),
            (("harness", "prp_00000000"), "PROPOSAL_NOT_FOUND"),
            (("export", "nothing_here", "--skill", "out"), "PROMPT_TOOL_NOT_FOUND"),
            (("import", "."), "FILE_NOT_FOUND"),
        ],
    )
    def test_what_is_not_there_has_a_code(self, pipe: Pipe, arguments: tuple[str, ...], code: str) -> None:
        ended = pipe("prompts", *arguments)
        assert ended.code == 1
        assert ended.err.startswith(code)


class TestProposing:
    @pytest.mark.parametrize("text", ["", "{", "[]", '"x"', "\xff", "[" * 100_000])
    def test_a_file_that_is_no_proposal_is_refused(self, pipe: Pipe, project: Path, text: str) -> None:
        (project / "bad.json").write_bytes(text.encode("latin-1"))
        ended = pipe("prompts", "propose", "bad.json")
        assert ended.code == 1
        assert ended.err.startswith("INVALID_PROPOSAL")

    def test_an_endless_file_is_not_read_to_its_end(self, pipe: Pipe) -> None:
        assert pipe("prompts", "propose", "/dev/zero").err.startswith("TOO_LARGE")

    def test_a_file_that_is_not_there_is_named(self, pipe: Pipe) -> None:
        ended = pipe("prompts", "propose", "nothing.json")
        assert ended.code == 1
        assert "nothing.json" in ended.err

    def test_a_copy_is_written_once_and_can_be_proposed(self, pipe: Pipe, project: Path) -> None:
        assert pipe("prompts", "copy", "beat_architect").json["file"] == "beat_architect_custom.json"
        assert pipe("prompts", "copy", "beat_architect").code == 1
        assert (
            pipe("prompts", "copy", "beat_architect", "my_beats", "--to", "mine.json").json["id"]
            == "my_beats"
        )
        ended = pipe("prompts", "propose", "mine.json")
        assert "rationale is missing" in ended.err
        document = json.loads((project / "mine.json").read_text())
        document |= {name: proposal()[name] for name in ("rationale", "examples", "testCases")}
        (project / "mine.json").write_text(json.dumps(document))
        assert pipe("prompts", "propose", "mine.json").json["state"] == "chief_reviewed"

    def test_a_revision_can_be_named(self, pipe: Pipe, project: Path) -> None:
        found = proposed(pipe, project)
        again = pipe(
            "prompts", "propose", write(project, prompt="Other."), "--revises", found["proposalId"]
        ).json
        assert (again["proposalId"], again["revision"]) == (found["proposalId"], 2)
        other = pipe("prompts", "propose", write(project, id="other"), "--revises", found["proposalId"])
        assert "make a proposal of its own" in other.err


class TestDeciding:
    def test_a_decision_needs_a_person(
        self, pipe: Pipe, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        found = proposed(pipe, project)
        for command in ("approve", "needs-changes", "reject"):
            ended = pipe("prompts", command, found["proposalId"], "--note", "x")
            assert ended.code == 4
            assert ended.err.startswith("NOT_AN_APPROVER")
        monkeypatch.setenv(TOKEN_VARIABLE, "forged")
        assert pipe("prompts", "approve", found["proposalId"]).code == 4
        assert live_ids(project) == []

    def test_a_person_at_a_terminal_decides(self, pipe: Pipe, project: Path, terminal: OpenTerminal) -> None:
        found = proposed(pipe, project)
        at = terminal("prompts", "approve", found["proposalId"])
        assert at.ends() == 0
        assert "Approved tag_hunter" in at.text
        assert live_ids(project) == ["tag_hunter"]

    def test_a_digest_that_was_seen_binds(self, pipe: Pipe, project: Path, ada: str) -> None:
        found = proposed(pipe, project)
        changed = pipe("prompts", "propose", write(project, prompt="Other.")).json
        ended = pipe("prompts", "approve", found["proposalId"], "--seen", found["digest"])
        assert ended.err.startswith("PROPOSAL_STALE")
        ended = pipe("prompts", "approve", found["proposalId"], "--seen", changed["digest"])
        assert ended.json["decidedBy"] == ada

    def test_what_changed_since_it_was_shown_is_not_approved(
        self, pipe: Pipe, project: Path, ada: str
    ) -> None:
        found = proposed(pipe, project)

        async def change() -> None:
            async with Room.open(project, actor="token:ada") as room:
                changed = await room.prompts.propose(proposal(prompt="Something else."))
                assert changed.id == found["proposalId"]

        asyncio.run(change())
        ended = pipe("prompts", "approve", found["proposalId"])
        assert ended.err.startswith("PROPOSAL_STALE")
        assert live_ids(project) == []
        assert pipe("prompts", "show", found["proposalId"]).json["prompt"] == "Something else."
        assert pipe("prompts", "approve", found["proposalId"]).code == 0

    def test_what_was_never_shown_is_not_approved(self, pipe: Pipe, project: Path, ada: str) -> None:
        async def make() -> str:
            async with Room.open(project) as room:
                return (await room.prompts.propose(proposal())).id

        name = asyncio.run(make())
        assert "have not looked at" in pipe("prompts", "approve", name).err
        pipe("prompts", "show", name)
        assert pipe("prompts", "approve", name).code == 0

    def test_two_tokens_of_one_issuer_count_as_one_person(
        self, make_project: Any, monkeypatch: pytest.MonkeyPatch, pipe: Pipe
    ) -> None:
        project = make_project("[prompts]\nfour_eyes = true\n", name="strict")
        monkeypatch.chdir(project)
        monkeypatch.setenv(TOKEN_VARIABLE, add_approver("bo"))
        socks = [pipe("approvers", "add", name, "-o", "json").json["token"] for name in ("one", "two")]
        monkeypatch.setenv(TOKEN_VARIABLE, socks[0])
        found = proposed(pipe, project)
        monkeypatch.setenv(TOKEN_VARIABLE, socks[1])
        assert pipe("prompts", "approve", found["proposalId"]).err.startswith("FOUR_EYES")
        monkeypatch.setenv(TOKEN_VARIABLE, add_approver("cy"))
        assert pipe("prompts", "approve", found["proposalId"]).code == 0

    def test_back_and_again_and_rejected(self, pipe: Pipe, project: Path, ada: str) -> None:
        found = proposed(pipe, project)
        assert pipe("prompts", "needs-changes", found["proposalId"]).err.startswith("INVALID_ARGUMENTS")
        back = pipe("prompts", "needs-changes", found["proposalId"], "--note", "say which").json
        assert (back["state"], back["note"]) == ("needs_changes", "say which")
        assert pipe("prompts", "approve", found["proposalId"]).err.startswith("PROPOSAL_STATE")
        again = proposed(pipe, project, prompt="Say which.")
        assert pipe("prompts", "reject", again["proposalId"]).json["state"] == "rejected"

    def test_four_eyes_are_told_and_switched_off_by_two(
        self, make_project: Any, monkeypatch: pytest.MonkeyPatch, pipe: Pipe
    ) -> None:
        from tests.conftest import accept

        project = make_project("[prompts]\nfour_eyes = true\n", name="strict")
        monkeypatch.chdir(project)
        assert pipe("prompts", "four-eyes").json == {"fourEyes": True}
        tokens = {name: add_approver(name) for name in ("ada", "bo")}
        monkeypatch.setenv(TOKEN_VARIABLE, tokens["ada"])
        found = proposed(pipe, project)
        assert found["author"]["name"] == "token:ada"
        assert pipe("prompts", "approve", found["proposalId"]).err.startswith("FOUR_EYES")
        monkeypatch.setenv(TOKEN_VARIABLE, pipe("approvers", "add", "cy", "-o", "json").json["token"])
        assert "issued the token of cy" in pipe("prompts", "approve", found["proposalId"]).err
        settings = project / "brasstag.toml"
        settings.write_text(settings.read_text().replace("true", "false"))
        accept(project)
        monkeypatch.setenv(TOKEN_VARIABLE, tokens["ada"])
        assert pipe("prompts", "four-eyes", "--off").json == {"fourEyes": True}
        monkeypatch.setenv(TOKEN_VARIABLE, tokens["bo"])
        assert pipe("prompts", "four-eyes", "--off").json == {"fourEyes": False}
        assert pipe("prompts", "approve", found["proposalId"]).code == 0


class TestVersions:
    def test_history_diff_and_rollback(
        self, pipe: Pipe, project: Path, live: str, terminal: OpenTerminal
    ) -> None:
        change = proposed(pipe, project, proposalType="modify", prompt="List hissed.", rationale="shorter")
        pipe("prompts", "approve", change["proposalId"])
        first, second = pipe("prompts", "history", live).lines
        assert (first["version"], second["version"]) == (1, 2)
        assert second["approver"] == "ada (token)"
        lines = pipe("prompts", "diff", live).json["diff"]
        assert any("List hissed." in line and line.startswith("+") for line in lines)
        assert pipe("prompts", "diff", live, "2", "2").json["diff"] == []
        back = pipe("prompts", "rollback", live, "1", "--because", "it was better").json
        assert (back["state"], back["proposalType"]) == ("chief_reviewed", "modify")
        at = terminal("prompts", "history", live)
        assert at.ends() == 0
        assert "approved by ada (token)" in at.text

    def test_results_that_a_person_saw_are_recorded(self, pipe: Pipe, project: Path, ada: str) -> None:
        cases = [{"name": name, "input": "x", "checks": ["no_fences"]} for name in ("one", "two")]
        found = proposed(pipe, project, testCases=cases)
        assert found["harness"]["verdict"] == "not run"
        done = pipe("prompts", "harness", found["proposalId"], "--passed", "one", "--failed", "two").json
        assert done["harness"]["verdict"] == "fail"
        done = pipe("prompts", "harness", found["proposalId"], "--passed", "two").json
        assert done["harness"]["verdict"] == "pass"
        assert pipe("prompts", "harness", found["proposalId"], "--passed", "three").code == 1
        sampled = proposed(pipe, project, id="sampled")["proposalId"]
        assert "checked on a sample output" in pipe("prompts", "harness", sampled, "--passed", "plain").err
        assert pipe("prompts", "review", found["proposalId"]).json["state"] == "chief_reviewed"

    def test_outcomes_are_empty_before_the_first_run(self, pipe: Pipe, terminal: OpenTerminal) -> None:
        assert pipe("prompts", "outcomes", "file_reader").lines == []
        at = terminal("prompts", "outcomes", "file_reader")
        assert at.ends() == 0
        assert at.text == "No run has had this prompt tool yet.\n"

    def test_a_skill_goes_out_and_comes_back_as_a_proposal(
        self, pipe: Pipe, live: str, make_project: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        written = pipe("prompts", "export", live, "--skill", str(tmp_path / "skills")).json["files"]
        assert any(name.endswith("tag-hunter/SKILL.md") for name in written)
        monkeypatch.chdir(make_project(name="elsewhere"))
        found = pipe("prompts", "import", str(tmp_path / "skills" / "tag-hunter")).json
        assert (found["id"], found["state"]) == ("tag_hunter", "chief_reviewed")
        assert live_ids(Path.cwd()) == []

    def test_nothing_of_colleagues_is_accepted_where_there_is_nothing(self, pipe: Pipe) -> None:
        assert pipe("prompts", "accept").json == {"accepted": []}


class TestRunning:
    def test_a_tool_is_used_on_lines_of_a_file(self, pipe: Pipe, make_project: Any, monkeypatch: Any) -> None:
        project = make_project(
            '[crew]\nlead = "boss"\nmodel = "scripted:script.json"\n[roles.boss]\ntools = ["*"]\n',
            name="crew",
        )
        monkeypatch.chdir(project)
        (project / "data" / "one.md").write_text("First.\nSecond.\n")
        (project / "script.json").write_text(json.dumps({"boss": [{"text": "Looked."}]}))
        events = pipe("prompts", "run", "line_editor", "Be brief.", "--file", "one.md", "--lines", "2").lines
        opened = next(event for event in events if event["event"] == "opened")
        assert "lines 2 to 2 of one.md" in opened["input"]["request"]
        assert "Second." in opened["input"]["request"]
        assert "Be brief." in opened["input"]["request"]
        assert pipe("prompts", "outcomes", "line_editor").json["done"] == 1
        assert pipe("prompts", "run", "line_editor", "--file", "none.md").code == 1
        assert pipe("run", "Look", "--skip-tools", "--detach").code in (0, 1)

    def test_a_text_with_control_characters_is_screened_out(self, pipe: Pipe, project: Path) -> None:
        ended = pipe("prompts", "propose", write(project, rationale="why\x1b[2J not"))
        assert ended.err.startswith("SCREENED_OUT")
        assert "\x1b" not in ended.err
