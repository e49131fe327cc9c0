"""approvals approve --for, permissions, permissions revoke."""

from pathlib import Path

import pytest

from brasstag.surfaces.cli.session.people import TOKEN_VARIABLE
from tests.surfaces.conftest import OpenTerminal, Pipe


@pytest.fixture
def permitted(pipe: Pipe, ada: str, asked: str) -> str:
    """A permission of an hour for all notes; the call it was made from has run."""
    ended = pipe("approvals", "approve", asked, "--for", "1h", "--pattern", "*.md")
    assert (ended.code, ended.json["ok"]) == (0, True)
    return str(ended.json["permission"]["permission"])


def test_a_call_is_approved_and_the_like_allowed_until_revoked(
    pipe: Pipe, permitted: str, project: Path, terminal: OpenTerminal
) -> None:
    (project / "data" / "more.md").write_text("old")
    assert pipe("call", "write_file", "path=more.md", "content=new").code == 0
    explained = pipe("policy", "explain", "write_file", "path=more.md", "content=x").json
    assert explained["verdict"]["permission"] == permitted
    found = pipe("permissions").json
    assert found["permission"] == permitted
    assert (found["covers"], found["by"], found["calls"]) == (
        "write_file(*.md) when overwrites",
        "ada (token)",
        1,
    )
    at = terminal("permissions")
    assert at.ends() == 0
    first, *rest = at.text.splitlines()
    assert first == f"{permitted}  active  write_file for operator"
    assert "write_file(*.md) when overwrites" in rest[0]
    assert rest[1].endswith("1 call let through")
    assert max(map(len, at.text.splitlines())) <= 80
    assert pipe("permissions", "revoke", permitted[-8:]).json == {"permission": permitted, "state": "revoked"}
    assert pipe("call", "write_file", "path=more.md", "content=newer").code == 3
    assert pipe("permissions").lines == []
    assert pipe("permissions", "list", "--all").json["revokedBy"] == "ada (token)"
    assert "PERMISSION_CLOSED" in pipe("permissions", "revoke", permitted).err
    assert "`brasstag permissions` lists them" in pipe("permissions", "revoke", "nothing").err
    shown = pipe("timeline", "show", "-o", "people").out
    assert f"{permitted[-8:]} until" in shown
    assert f"{permitted[-8:]}, by ada (token)" in shown


def test_only_a_person_gives_and_takes_it(
    pipe: Pipe, asked: str, ada: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for token in ("", "a stranger's"):
        monkeypatch.setenv(TOKEN_VARIABLE, token)
        assert "NOT_AN_APPROVER" in pipe("approvals", "approve", asked, "--for", "1h").err
        assert "NOT_AN_APPROVER" in pipe("permissions", "revoke", "perm_x").err
    assert pipe("approvals").json["state"] == "open"


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        (("--for", "9h"), 1, "at most 480 minutes"),
        (("--for", "0m"), 1, "more than 0"),
        (("--for", "an hour"), 2, "write a number and a unit"),
        (("--for", "-5m"), 2, "write a number and a unit"),
        (("--pattern", "*.md"), 2, "give --for as well"),
        (("--for", "1h", "--always"), 2, "without --edit, --arguments and --always"),
        (("--for", "1h", "--pattern", "other/**"), 1, "does not cover the call itself"),
    ],
)
def test_what_cannot_be_permitted_decides_nothing(
    pipe: Pipe, ada: str, asked: str, given: tuple[str, ...], code: int, said: str
) -> None:
    ended = pipe("approvals", "approve", asked, *given)
    assert ended.code == code, ended
    assert said in ended.err
    assert pipe("approvals").json["state"] == "open"


def test_it_is_revoked_even_while_the_settings_are_broken(pipe: Pipe, permitted: str, project: Path) -> None:
    (project / "brasstag.toml").write_text("not toml")
    assert pipe("permissions", "revoke", permitted).code == 0
