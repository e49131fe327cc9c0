"""Who decides: somebody at a terminal, or somebody with an approver's token."""

import os
import pwd
from pathlib import Path

import pytest

from brasstag.app import announced, log_in, login_of
from brasstag.app.people import approvers
from brasstag.surfaces.cli.session import people
from brasstag.surfaces.cli.session.people import TOKEN_VARIABLE
from brasstag.words.approvals import Approver
from tests.surfaces.conftest import OpenTerminal, Pipe


def test_a_token_is_given_at_a_terminal_and_decides_elsewhere(
    terminal: OpenTerminal, pipe: Pipe, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = terminal("approvers", "add", "bob")
    assert at.ends() == 0
    monkeypatch.setenv(TOKEN_VARIABLE, at.text.split()[0])
    assert pipe("approvals", "deny", asked).code == 0
    assert pipe("approvals", "show", asked).json["decidedBy"] == "bob (token)"
    assert pipe("approvers").json == {"name": "bob", "by": None}
    assert pipe("approvers", "remove", "bob").code == 0
    assert pipe("approvers", "add", "eve").code == 4
    assert pipe("approvers", "remove", "bob").code == 4


def test_nobody_gives_tokens_without_being_somebody(pipe: Pipe) -> None:
    assert pipe("approvers", "add", "eve").code == 4
    assert pipe("approvers").lines == []


def test_only_the_digest_is_kept_and_only_its_owner_reads_it(pipe: Pipe, ada: str, tmp_path: Path) -> None:
    token = pipe("approvers", "add", "bob", "-o", "json").json["token"]
    file = tmp_path / "user" / "approvers.json"
    assert token not in file.read_text()
    assert file.stat().st_mode & 0o077 == 0
    assert pipe("approvers", "add", "carl").out.count("\n") == 1


@pytest.mark.parametrize("name", ["", " ", "a\nb", "a\x1b[1mb", "a\u202eb", "x" * 101])
def test_a_name_is_what_can_be_read_on_a_timeline(pipe: Pipe, ada: str, name: str) -> None:
    assert pipe("approvers", "add", name).code == 1


def test_a_name_has_one_token(pipe: Pipe, ada: str) -> None:
    assert "ada already has a token" in pipe("approvers", "add", "ada").err
    assert "zoe has no token" in pipe("approvers", "remove", "zoe").err


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"ada": 1}', b"\xff"])
def test_a_broken_list_of_approvers_lets_nobody_decide(
    pipe: Pipe, ada: str, asked: str, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "user" / "approvers.json").write_bytes(content)
    ended = pipe("approvals", "deny", asked)
    assert ended.code == 1
    assert "approvers.json: does not hold names and digests. Remove the file" in ended.err
    assert pipe("approvals").json["state"] == "open"


def test_a_person_at_a_terminal_is_known_by_their_account_not_by_what_they_claim(
    terminal: OpenTerminal, pipe: Pipe, asked: str
) -> None:
    claim = {"USER": "the-boss", "LOGNAME": "the-boss", "USERNAME": "the-boss"}
    assert terminal("approvals", "deny", asked, **claim).ends() == 0
    account = pwd.getpwuid(os.getuid()).pw_name
    assert pipe("approvals", "show", asked).json["decidedBy"] == f"{account} (terminal)"


def test_who_issued_a_token_stays_known_when_tokens_are_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = {"ada": approvers.add_approver("ada", "root")}
    tokens["mid"] = approvers.add_approver("mid", "ada")
    tokens["far"] = approvers.add_approver("far", "mid")

    def person(name: str) -> Approver:
        monkeypatch.setenv(TOKEN_VARIABLE, tokens[name])
        found = people.registered_approver()
        assert found is not None
        return found

    approvers.remove_approver("mid")
    assert list(approvers.approver_names()) == ["ada", "far"]
    assert person("far").issuers == ("mid", "ada", "root")
    assert person("ada").issued == ("mid", "far")
    monkeypatch.setenv(TOKEN_VARIABLE, tokens["mid"])
    assert people.registered_approver() is None
    tokens["mid"] = approvers.add_approver("mid", "bo")
    assert person("mid").issuers == ("ada", "bo", "root")


def test_a_login_link_needs_an_approver_and_a_control_room(
    pipe: Pipe, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert pipe("approvers", "link", "bob").code == 4
    monkeypatch.setenv(TOKEN_VARIABLE, approvers.add_approver("ada"))
    assert "no control room of this account runs" in pipe("approvers", "link", "ada").err
    with announced("http://room.localhost:1", {project: "project"}):
        made = pipe("approvers", "link", "ada").json
        assert made["level"] == "approver"
        origin, _, secret = made["link"].partition("/login/")
        assert origin == "http://room.localhost:1"
        assert "bob is not an approver" in pipe("approvers", "link", "bob").err
        assert pipe("approvers", "link", "bob", "--level", "viewer").json["level"] == "viewer"
        assert "not viewer, operator or approver" in pipe("approvers", "link", "bob", "--level", "god").err
    session = log_in(secret)
    assert login_of(session) is not None
    assert pipe("approvers", "remove", "ada").code == 0
    assert login_of(session) is None


def test_programs_have_tokens_in_a_role(pipe: Pipe, monkeypatch: pytest.MonkeyPatch) -> None:
    assert pipe("tokens", "new", "bot", "--role", "analyst").code == 4
    monkeypatch.setenv(TOKEN_VARIABLE, approvers.add_approver("ada"))
    made = pipe("tokens", "new", "bot", "--role", "analyst").json
    assert pipe.as_typed("tokens", "new", "other", "--role", "analyst", "-o", "people").out.count("\n") == 1
    assert [(one["name"], one["role"], one["issuedBy"]) for one in pipe("tokens").lines] == [
        ("bot", "analyst", "ada"), ("other", "analyst", "ada"),
    ]  # fmt: skip
    # A program's token is no approver's.
    monkeypatch.setenv(TOKEN_VARIABLE, made["token"])
    assert pipe("tokens", "remove", "bot").code == 4
    monkeypatch.delenv(TOKEN_VARIABLE)
    assert pipe("tokens", "remove", "bot").code == 4
