"""Approvers whom root names for a machine: the file counts only if no other account could have written it."""

import os
from pathlib import Path

import pytest

from brasstag.app import add_approver
from brasstag.app.people import approvers
from brasstag.app.people.system_approvers import SYSTEM, SystemApprovers
from brasstag.surfaces.cli.session.people import TOKEN_VARIABLE, registered_approver
from brasstag.words.canonical import sha256
from brasstag.words.errors import ConfigError, ToolError
from tests.surfaces.conftest import Pipe

TOKEN = "a token that an administrator made"
ADA = f'[approvers.ada]\ntoken_sha256 = "{sha256(TOKEN.encode())}"\n'


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SystemApprovers:
    """A file as root would write it, in a directory that stands for /etc/brasstag."""
    folder = tmp_path / "etc" / "brasstag"
    folder.mkdir(parents=True)
    for place in (folder, folder.parent):
        place.chmod(0o755)
    found = SystemApprovers(folder / "approvers.toml", os.getuid(), tmp_path / "etc")
    found.file.write_text(ADA)
    found.file.chmod(0o644)
    monkeypatch.setattr(approvers, "SYSTEM", found)
    return found


def test_it_lies_where_no_variable_can_move_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert SYSTEM.file == Path("/etc/brasstag/approvers.toml")
    assert (SYSTEM.owner, SYSTEM.top) == (0, Path("/"))


def test_a_person_whom_root_names_decides_by_their_token(
    system: SystemApprovers, pipe: Pipe, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert pipe("approvals", "deny", asked).code == 4
    monkeypatch.setenv(TOKEN_VARIABLE, TOKEN)
    assert pipe("approvals", "deny", asked).code == 0
    assert pipe("approvals", "show", asked).json["decidedBy"] == "ada (token)"
    assert pipe("approvers").json == {"name": "ada", "by": str(system.file)}
    checks = {check["what"]: check for check in pipe("doctor").lines}
    assert checks["approvers"] == {
        "what": "approvers",
        "ok": True,
        "found": f"ada (by {system.file})",
    }


def test_accounts_cannot_change_what_root_says(
    system: SystemApprovers, pipe: Pipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ToolError, match="ada already has a token"):
        add_approver("ada")
    system.file.write_text("")
    own = add_approver("ada")
    system.file.write_text(ADA)
    monkeypatch.setenv(TOKEN_VARIABLE, own)
    assert registered_approver() is None
    monkeypatch.setenv(TOKEN_VARIABLE, TOKEN)
    assert registered_approver() is not None
    ended = pipe("approvers", "remove", "ada")
    assert ended.code == 4
    assert "root removes it there" in ended.err


def test_without_the_file_only_the_account_s_own_approvers_count(system: SystemApprovers) -> None:
    system.file.unlink()
    assert system.read() == {}
    system.file.parent.rmdir()
    assert system.read() == {}


@pytest.mark.parametrize("mode", [0o664, 0o646, 0o666])
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_what_others_may_write_is_refused_with_the_reason(
    system: SystemApprovers, pipe: Pipe, asked: str, monkeypatch: pytest.MonkeyPatch, mode: int, depth: int
) -> None:
    place = (system.file, *system.file.parents)[depth]
    place.chmod(mode | (0o111 if depth else 0))
    monkeypatch.setenv(TOKEN_VARIABLE, TOKEN)
    ended = pipe("approvals", "deny", asked)
    assert ended.code == 1
    assert f"does not count, as other accounts than root may write {place}" in ended.err
    checks = {check["what"]: check for check in pipe("doctor").lines}
    assert checks["approvers"]["ok"] is False
    assert f"chmod go-w {place}" in checks["approvers"]["found"]


def test_what_another_account_owns_is_refused(system: SystemApprovers) -> None:
    with pytest.raises(ConfigError, match="belongs to the account"):
        SystemApprovers(system.file, os.getuid() + 1, system.top).read()


def test_a_link_is_no_file(system: SystemApprovers) -> None:
    real = system.file.with_name("real.toml")
    system.file.rename(real)
    system.file.symlink_to(real)
    with pytest.raises(ConfigError, match="cannot be read"):
        system.read()


@pytest.mark.parametrize(
    "text",
    [
        "approvers = 3",
        "[approver.ada]",
        "[approvers]\nada = 'x'",
        "[approvers.ada]\ntoken_sha256 = 'ABC'",
        f"{ADA}more = 1",
        "[approvers.ada]",
        "not toml",
        "\xff",
    ],
)
def test_what_cannot_be_understood_names_the_form(system: SystemApprovers, text: str) -> None:
    system.file.write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigError, match="token_sha256"):
        system.read()


class TestBootstrap:
    @pytest.fixture
    def empty(self, pipe: Pipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A user directory in which nothing happened yet."""
        folder = tmp_path / "fresh"
        monkeypatch.setenv("BRASSTAG_USER_DIR", str(folder))
        return folder

    def test_it_makes_the_first_approver_and_is_named_ever_after(
        self, empty: Path, pipe: Pipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ended = pipe.as_typed("approvers", "bootstrap", "ada")
        assert ended.code == 0
        monkeypatch.setenv(TOKEN_VARIABLE, ended.out.strip())
        monkeypatch.chdir(tmp_path)
        assert pipe("init", "server").code == 0
        monkeypatch.chdir(tmp_path / "server")
        (tmp_path / "server" / "brasstag.toml").write_text('[room]\nprofile = "trusted"\n')
        assert pipe("trust", "--yes").json["accepted"] is True
        assert pipe("approvers", "remove", "ada").code == 0
        for said in (pipe.as_typed("doctor").out, pipe.as_typed("timeline", "verify").out):
            assert "ada was made an approver by a bootstrap of the account" in said
        verified = pipe("timeline", "verify").json
        assert verified["ok"] is True
        assert [one["name"] for one in verified["bootstraps"]] == ["ada"]

    def test_it_makes_no_second_one(self, empty: Path, pipe: Pipe) -> None:
        assert pipe("approvers", "bootstrap", "ada").code == 0
        ended = pipe("approvers", "bootstrap", "eve")
        assert ended.code == 4
        assert "there is an approver already" in ended.err
        assert pipe("approvers").json["name"] == "ada"

    def test_one_who_was_removed_still_counts(
        self, empty: Path, pipe: Pipe, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(TOKEN_VARIABLE, pipe("approvers", "bootstrap", "ada").json["token"])
        assert pipe("approvers", "remove", "ada").code == 0
        monkeypatch.delenv(TOKEN_VARIABLE)
        assert pipe("approvers", "bootstrap", "eve").code == 4

    def test_it_refuses_where_a_room_was_opened(self, pipe: Pipe, project: Path) -> None:
        ended = pipe("approvers", "bootstrap", "eve")
        assert ended.code == 4
        assert "there is a room and an accepted project already" in ended.err
        assert pipe("timeline", "verify").json["bootstraps"] == []

    def test_it_refuses_where_root_has_named_approvers(
        self, empty: Path, pipe: Pipe, system: SystemApprovers
    ) -> None:
        assert pipe("approvers", "bootstrap", "eve").code == 4

    def test_a_name_that_cannot_be_one_leaves_no_trace(self, empty: Path, pipe: Pipe) -> None:
        assert pipe("approvers", "bootstrap", "a\nb").code == 1
        assert not empty.exists()

    def test_one_whose_record_was_spoilt_is_still_named(self, empty: Path, pipe: Pipe) -> None:
        assert pipe("approvers", "bootstrap", "ada").code == 0
        (empty / "bootstrap.json").write_text("{")
        assert "its record cannot be read" in pipe.as_typed("doctor").out
