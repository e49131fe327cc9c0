"""The queue: list, show, approve, deny."""

import json
import tomllib
from pathlib import Path

import pytest

from brasstag.surfaces.cli.session.people import TOKEN_VARIABLE
from tests.conftest import accept
from tests.surfaces.conftest import OpenTerminal, Pipe


def ask(pipe: Pipe, path: str, content: str) -> str:
    ended = pipe("call", "write_file", "--json", json.dumps({"path": path, "content": content}))
    assert ended.code == 3
    return str(ended.json["error"]["details"]["approvalId"])


class TestLooking:
    def test_nothing_waits(self, pipe: Pipe, terminal: OpenTerminal) -> None:
        assert pipe("approvals").lines == []
        at = terminal("approvals")
        assert at.ends() == 0
        assert at.text == "No approval is open.\n"

    def test_each_is_one_object_in_the_form_of_s2(self, pipe: Pipe, asked: str) -> None:
        (found,) = pipe("approvals").lines
        assert found["approvalId"] == asked
        assert found["args"]["path"] == "notes.md"
        assert {"stepId", "tool", "args", "reason"} <= found.keys()
        assert pipe("approvals", "show", asked[-6:]).json == found
        assert pipe("approvals", "list", "-o", "json").json == found

    def test_options_of_the_group_count_for_its_commands(
        self, pipe: Pipe, asked: str, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir("/")
        assert pipe("approvals", "-C", str(project), "list").json["approvalId"] == asked
        assert "  it overwrites notes.md" in pipe("approvals", "-C", str(project), "-o", "people", "list").out
        assert pipe("approvals", "list").code == 1

    def test_the_list_fits_80_columns(self, terminal: OpenTerminal, asked: str) -> None:
        at = terminal("approvals")
        assert at.ends() == 0
        assert at.text.splitlines()[0] == f"{asked}  open  write_file"
        assert max(map(len, at.text.splitlines())) <= 80

    def test_show_is_coloured_and_never_cut(self, terminal: OpenTerminal, pipe: Pipe, project: Path) -> None:
        (project / "data" / "notes.md").write_text("".join(f"old {n}\n" for n in range(300)))
        identity = ask(pipe, "notes.md", "".join(f"new {n} {'x' * 200} end{n}\n" for n in range(300)))
        at = terminal("approvals", "show", identity)
        assert at.ends() == 0
        assert "\x1b[31m    -old 299\x1b[0m" in at.screen
        whole = at.text.replace("\n    ⤷ ", "")
        assert all(f"    +new {n} {'x' * 200} end{n}\n" in whole for n in (0, 150, 299))
        assert max(map(len, at.text.splitlines())) <= 80

    def test_an_id_nobody_knows_says_where_to_look(self, pipe: Pipe) -> None:
        for command in ("show", "approve", "deny"):
            pipe_ended = pipe("approvals", command, "nothing")
            assert pipe_ended.code in (1, 4)
        assert "`brasstag approvals` lists" in pipe("approvals", "show", "nothing").err


class TestApproving:
    def test_nobody_decides_without_a_person(self, pipe: Pipe, asked: str) -> None:
        assert pipe("approvals", "approve", asked).code == 4
        assert pipe("approvals", "deny", asked).code == 4
        assert pipe("approvals").json["state"] == "open"

    def test_several_at_once(self, pipe: Pipe, ada: str, project: Path) -> None:
        names = []
        for name in ("a.md", "b.md"):
            (project / "data" / name).write_text("old")
            names.append(ask(pipe, name, "new"))
        ended = pipe("approvals", "approve", *names)
        assert ended.code == 0
        assert [line["approvalId"] for line in ended.lines] == names
        assert {(project / "data" / name).read_text() for name in ("a.md", "b.md")} == {"new"}

    def test_a_name_too_many_decides_nothing(self, pipe: Pipe, ada: str, asked: str) -> None:
        for command in ("approve", "deny"):
            ended = pipe("approvals", command, asked, "nothing")
            assert ended.code == 1
            assert "there is no approval nothing" in ended.err
        assert pipe("approvals").json["state"] == "open"

    def test_it_is_used_once(self, pipe: Pipe, ada: str, asked: str) -> None:
        assert pipe("approvals", "approve", asked).code == 0
        again = pipe("approvals", "approve", asked)
        assert (again.code, again.json["error"]["code"]) == (1, "APPROVAL_CLOSED")

    def test_changed_arguments(self, pipe: Pipe, ada: str, asked: str, project: Path) -> None:
        better = json.dumps({"path": "notes.md", "content": "better"})
        assert pipe("approvals", "approve", asked, "--arguments", better).code == 0
        assert (project / "data" / "notes.md").read_text() == "better"
        shown = pipe("approvals", "show", asked).json
        assert shown["args"]["content"] == "better"
        assert shown["originalArgs"]["content"] == "one\nTWO\n"

    @pytest.mark.parametrize(
        ("arguments", "code"),
        [("{", 1), ("[]", 1), ("[" * 100_000, 1), ("{}", 1), ('{"path": ".env", "content": "x"}', 4)],
    )
    def test_changed_arguments_that_cannot_be_used_decide_nothing(
        self, pipe: Pipe, ada: str, asked: str, arguments: str, code: int
    ) -> None:
        assert pipe("approvals", "approve", asked, "--arguments", arguments).code == code
        assert pipe("approvals").json["state"] == "open"

    def test_an_editor_needs_a_terminal(self, pipe: Pipe, ada: str, asked: str) -> None:
        ended = pipe("approvals", "approve", asked, "--edit")
        assert ended.code == 2
        assert "use --arguments" in ended.err

    def test_edit_at_a_terminal_shows_the_change_first(
        self, terminal: OpenTerminal, asked: str, project: Path, tmp_path: Path
    ) -> None:
        script = tmp_path / "editor"
        script.write_text('#!/bin/sh\nsed -i s/TWO/three/ "$1"\n')
        script.chmod(0o700)
        at = terminal("approvals", "approve", asked, "--edit", EDITOR=str(script), VISUAL="")
        at.until("Approve this? [y/N]:")
        assert "    +three\n" in at.text
        assert at.type("y\n").ends() == 0
        assert (project / "data" / "notes.md").read_text() == "one\nthree\n"

    def test_what_changed_since_is_asked_anew(self, pipe: Pipe, ada: str, asked: str, project: Path) -> None:
        (project / "data" / "notes.md").write_text("somebody else")
        ended = pipe("approvals", "approve", asked)
        assert ended.code == 3
        assert (project / "data" / "notes.md").read_text() == "somebody else"
        assert ended.json["error"]["details"]["approvalId"] != asked


class TestAlways:
    def test_it_shows_and_writes_a_rule_for_exactly_this(
        self, pipe: Pipe, ada: str, asked: str, project: Path
    ) -> None:
        rule = pipe("approvals", "approve", asked, "--always").json["rule"]
        assert rule.strip() in (project / "brasstag.toml").read_text()
        assert tomllib.loads(rule)["rules"][0]["because"].startswith("approved by ada (token) on ")
        # The same again needs nobody; another path still does, and so does another deed.
        assert pipe("call", "write_file", "path=notes.md", "content=three").code == 0
        (project / "data" / "other.md").write_text("old")
        assert pipe("call", "write_file", "path=other.md", "content=new").code == 3
        assert pipe("call", "delete_file", "path=notes.md").code == 3

    def test_no_rule_for_a_call_that_did_not_happen(
        self, pipe: Pipe, ada: str, asked: str, project: Path
    ) -> None:
        before = (project / "brasstag.toml").read_text()
        (project / "data" / "notes.md").write_text("somebody else")
        assert pipe("approvals", "approve", asked, "--always").code == 3
        assert (project / "brasstag.toml").read_text() == before

    def test_a_rule_that_does_not_fit_the_file_is_not_written(
        self, pipe: Pipe, ada: str, project: Path
    ) -> None:
        (project / "brasstag.toml").write_text("rules = []\n")
        assert pipe("trust", "--yes").code == 0
        (project / "data" / "a.md").write_text("old")
        name = ask(pipe, "a.md", "new")
        ended = pipe("approvals", "approve", name, "--always")
        assert ended.code == 0
        assert "could not be added" in ended.json["noRule"]
        assert (project / "brasstag.toml").read_text() == "rules = []\n"

    def test_people_see_the_rule(self, terminal: OpenTerminal, asked: str) -> None:
        at = terminal("approvals", "approve", asked, "--always")
        assert at.ends() == 0
        assert 'allow = "write_file(/notes.md)"' in at.text


class TestDenying:
    def test_several_with_a_reason(self, pipe: Pipe, ada: str, asked: str) -> None:
        second = ask(pipe, "notes.md", "else")
        ended = pipe("approvals", "deny", asked, second[-6:], "--reason", "not today")
        assert ended.code == 0
        assert [line["state"] for line in ended.lines] == ["denied", "denied"]
        assert {one["note"] for one in pipe("approvals", "list", "--all").lines} == {"not today"}
        assert pipe("approvals").lines == []

    def test_one_already_closed_does_not_keep_the_others(self, pipe: Pipe, ada: str, asked: str) -> None:
        pipe("approvals", "deny", asked)
        second = ask(pipe, "notes.md", "else")
        ended = pipe("approvals", "deny", asked, second)
        assert ended.code == 1
        assert f"APPROVAL_CLOSED: approval {asked} is already denied by {ada}" in ended.err
        assert [line["approvalId"] for line in ended.lines] == [second]


class TestWhenNothingElseWorks:
    @pytest.fixture
    def broken(self, pipe: Pipe, asked: str, project: Path, ada: str) -> str:
        """A configuration that was accepted, by an older version it may be, and that cannot be started with."""
        (project / "brasstag.toml").write_text("[room\n")
        accept(project)
        assert pipe("call", "list_files").code == 1
        return asked

    def test_looking_and_denying_still_work(self, pipe: Pipe, broken: str) -> None:
        assert pipe("approvals").json["approvalId"] == broken
        assert pipe("approvals", "show", broken).code == 0
        assert pipe("approvals", "deny", broken).code == 0
        assert pipe("timeline", "verify").code == 0

    def test_a_yes_is_written_down_and_counts_once_it_is_mended(
        self, pipe: Pipe, broken: str, project: Path
    ) -> None:
        ended = pipe("approvals", "approve", broken)
        assert ended.code == 1
        assert ended.json == {"approvalId": broken, "state": "approved", "ran": False}
        assert "is not TOML" in ended.err
        assert (project / "data" / "notes.md").read_text() == "one\ntwo\n"
        (project / "brasstag.toml").write_text("")
        assert pipe("trust", "--yes").code == 0
        assert pipe("approvals", "approve", broken).code == 0
        assert (project / "data" / "notes.md").read_text() == "one\nTWO\n"

    def test_a_yes_to_something_else_is_not_taken_for_a_yes(self, pipe: Pipe, broken: str) -> None:
        for more in (("--arguments", '{"path": "notes.md", "content": "x"}'), ("--always",)):
            assert pipe("approvals", "approve", broken, *more).code == 1
            assert pipe("approvals").json["state"] == "open"

    def test_so_with_control_files_nobody_accepted(
        self, pipe: Pipe, asked: str, project: Path, ada: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (project / "brasstag.toml").write_text('[room]\nprofile = "trusted"\n')
        assert pipe("approvals").json["approvalId"] == asked
        assert "`brasstag trust` shows the change" in pipe("approvals", "approve", asked).err
        monkeypatch.delenv(TOKEN_VARIABLE)
        assert pipe("timeline", "verify").code == 0


def test_what_would_be_annotated_is_shown(pipe: Pipe, project: Path) -> None:
    settings = project / "brasstag.toml"
    settings.write_text(settings.read_text().replace('profile = "careful"', 'profile = "locked"'))
    accept(project)
    (project / "data" / "notes.md").write_text("one")
    given = json.dumps({"path": "notes.md", "add": ["x"]})
    ended = pipe("call", "tag_document", "--json", given)
    assert ended.code == 3
    identity = str(ended.json["error"]["details"]["approvalId"])
    assert (
        "  tags or describes notes.md" in pipe("approvals", "show", identity, "-o", "people").out.splitlines()
    )
    explained = pipe("policy", "explain", "tag_document", "--json", given, "-o", "people").out
    assert "tags or describes notes.md" in explained
    assert "it annotates notes.md; profile locked asks first" in explained
