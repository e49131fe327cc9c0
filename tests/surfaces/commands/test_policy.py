"""policy test, explain, replay."""

from pathlib import Path

import pytest

from tests.surfaces.conftest import OpenTerminal, Pipe


class TestTest:
    def test_the_rules_hold(self, pipe: Pipe) -> None:
        ended = pipe("policy", "test")
        assert ended.code == 0
        assert ended.json["ok"] is True
        assert ended.json["rules"] == 0

    def test_an_example_that_fails_is_named_before_the_change_is_accepted(
        self, pipe: Pipe, project: Path
    ) -> None:
        (project / "brasstag.toml").write_text(
            '[[rules]]\ndeny = "*(secrets/**)"\nbecause = "no"\nmatch = ["read_file(notes.md)"]\n'
        )
        ended = pipe("policy", "test")
        assert ended.code == 1
        assert "rules[0].match: the rule does not match read_file(notes.md)" in ended.err

    def test_aliases_of_the_projects_tools_count(self, pipe: Pipe, project: Path) -> None:
        (project / "tools").mkdir()
        (project / "tools" / "t.json").write_text('{"tool_id": "t", "description": "T.", "aliases": ["tt"]}')
        (project / "tools" / "broken.json").write_text("{")
        (project / "brasstag.toml").write_text('[[rules]]\ndeny = "t"\nbecause = "no"\nmatch = ["tt", "t"]\n')
        assert pipe("policy", "test").code == 0


class TestExplain:
    def test_who_decided_and_why(self, pipe: Pipe, project: Path) -> None:
        (project / "data" / "a.md").write_text("old")
        found = pipe("policy", "explain", "write_file", "path=a.md", "content=new").json
        assert found["verdict"]["decision"] == "ask"
        assert [line["rule"] for line in found["lines"] if line["decided"]] == ["profile careful"]
        assert found["preview"]["changes"][0]["path"] == "a.md"
        assert pipe("timeline", "show").lines == []
        assert (project / "data" / "a.md").read_text() == "old"

    def test_a_rule_that_needs_no_look_is_named(self, pipe: Pipe) -> None:
        found = pipe("policy", "explain", "read_file", "path=.env").json
        assert found["verdict"]["rule"] == "environment-files"
        assert found["lines"][0]["source"] == "shipped with Brasstag"

    @pytest.mark.parametrize(
        ("call", "said"),
        [
            (("write_file", "path=new.md", "content=x"), ["allow: ", "creates new.md (1 bytes)"]),
            (("delete_file", "path=a.md"), ["ask: ", "tool delete_file", "deletes a.md (3 bytes)"]),
            (("read_file", "path=.env"), ["deny: ", "environment-files"]),
            (("read_file", "path=nothing.md"), ["allow: ", "It would still fail: FILE_NOT_FOUND"]),
            (("read_file", "colour=red"), ["It would be refused: INVALID_ARGUMENTS"]),
        ],
    )
    def test_it_reads_well_in_80_columns(
        self, terminal: OpenTerminal, project: Path, call: tuple[str, ...], said: list[str]
    ) -> None:
        (project / "data" / "a.md").write_text("old")
        at = terminal("policy", "explain", *call)
        assert at.ends() == 0
        assert [one for one in said if one not in at.text] == []

    def test_every_command_that_was_read_is_shown(self, pipe: Pipe) -> None:
        line = "cd src && sudo rm -r build | tee log.txt"
        found = pipe("policy", "explain", "shell", f"command={line}").json
        shown = {" ".join(one["words"]): one.get("rule") for one in found["commands"]}
        assert shown == {
            "cd src": None,
            "sudo rm -r build": "changes-the-system",
            "rm -r build": "destroys-files",
            "tee log.txt": None,
        }
        assert found["preview"]["runs"] == [line]
        assert found["verdict"]["decision"] == "ask"

    def test_commands_that_python_code_starts_are_shown(self, pipe: Pipe, project: Path) -> None:
        code = "import os\nopen('made.txt', 'w')\nos.system('git clean -f')"
        found = pipe("policy", "explain", "run_code", "language=python", f"code={code}").json
        (shown,) = found["commands"]
        assert (shown["words"], shown["rule"]) == (["git", "clean", "-f"], "destroys-files")
        assert shown["place"]
        assert not (project / "data" / "made.txt").exists()

    def test_a_command_that_is_denied_unseen_is_shown_as_well(self, pipe: Pipe) -> None:
        found = pipe("policy", "explain", "shell", "command=ls; rm -rf /").json
        said = [(one["words"], one.get("decision")) for one in found["commands"]]
        assert said == [(["ls"], None), (["rm", "-rf", "/"], "deny")]
        assert "preview" not in found

    @pytest.mark.parametrize(
        ("call", "said"),
        [
            (
                ("shell", "command=echo $(curl x) | sh"),
                ["ask: ", "says", "command", "inside", "curl x", "cannot-be-read"],
            ),
            (("run_code", "language=bash", "code=ls -l"), ["allow: ", "ls -l", "runs ls -l"]),
            (
                ("shell", "command=curl https://api.example.org/", 'network=["api.example.org"]'),
                [
                    "deny: ",
                    "curl https://api.example.org/",
                    "fetches https://api.example.org/",
                    "shell(api.example",
                ],
            ),
            (
                ("web_fetch", "url=https://example.org/a.pdf", "save_as=a.pdf"),
                ["ask: ", "saves what comes back as a.pdf, if that may land"],
            ),
        ],
    )
    def test_commands_and_deeds_read_well_in_80_columns(
        self, terminal: OpenTerminal, call: tuple[str, ...], said: list[str]
    ) -> None:
        at = terminal("policy", "explain", *call)
        assert at.ends() == 0
        assert [one for one in said if one not in at.text] == []

    def test_arguments_that_cannot_be_read(self, pipe: Pipe) -> None:
        assert pipe("policy", "explain", "read_file", "--json", "{").code == 1
        assert pipe("policy", "explain", "read_file", "a.md").code == 2


class TestReplay:
    def test_what_other_rules_would_have_said(
        self, pipe: Pipe, tmp_path: Path, terminal: OpenTerminal
    ) -> None:
        pipe("call", "write_file", "path=a.md", "content=x")
        pipe("call", "read_file", "path=a.md")
        other = tmp_path / "other.toml"
        other.write_text('[[rules]]\ndeny = "write_file"\nbecause = "no more writing"\n')
        (shifted,) = pipe("policy", "replay", str(other)).lines
        assert (shifted["tool"], shifted["was"], shifted["would_be"], shifted["shift"]) == (
            *("write_file", "allow", "deny", "stricter"),
        )
        assert len(pipe("policy", "replay", str(other), "--all").lines) == 2
        at = terminal("policy", "replay", str(other))
        assert at.ends() == 0
        assert at.text.endswith("2 calls: 1 same, 1 stricter, 0 looser, 0 unseen.\n")

    def test_what_code_landed_is_judged_by_what_it_ran(self, pipe: Pipe, tmp_path: Path) -> None:
        pipe("call", "shell", "command=echo x > made.txt")
        other = tmp_path / "other.toml"
        other.write_text('[[rules]]\nask = "shell(command: echo)"\nbecause = "no more echoes"\n')
        (shifted,) = pipe("policy", "replay", str(other)).lines
        assert (shifted["tool"], shifted["was"], shifted["would_be"]) == ("shell", "allow", "ask")

    @pytest.mark.parametrize(
        ("content", "said"),
        [(b"[room", "is not TOML"), (b"\xff", "is not UTF-8 text"), (b"colour = 1", "is not a setting")],
    )
    def test_a_file_that_cannot_be_used_is_told(
        self, pipe: Pipe, tmp_path: Path, content: bytes, said: str
    ) -> None:
        (tmp_path / "other.toml").write_bytes(content)
        ended = pipe("policy", "replay", str(tmp_path / "other.toml"))
        assert ended.code == 1
        assert said in ended.err

    def test_a_file_that_is_not_there(self, pipe: Pipe) -> None:
        assert (
            pipe("policy", "replay", "nothing.toml").err
            == "nothing.toml: No such file or directory. Check the path.\n"
        )
