"""Links work once and not for long; sessions last over processes; a damaged file lets nobody in."""

import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import get_args

import pytest

from brasstag.app import (
    Level,
    add_approver,
    end_session,
    label,
    link_for,
    log_in,
    log_out,
    login_of,
    new_link,
    new_token,
    program_tokens,
    program_with,
    remove_token,
)
from brasstag.words.errors import Code, ConfigError, ToolError

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def later(**more: float) -> datetime:
    return NOON + timedelta(**more)


def test_a_link_logs_in_once() -> None:
    link = new_link("ada", "operator", "root")
    session = log_in(link)
    found = login_of(session)
    assert found is not None
    assert (found.name, found.level, found.issued_by) == ("ada", "operator", "root")
    with pytest.raises(ToolError, match="used before"):
        log_in(link)
    assert login_of(link) is None
    assert login_of("") is None


def test_a_link_and_a_session_end() -> None:
    old = new_link("ada", "viewer", "root", lambda: NOON)
    with pytest.raises(ToolError, match="older than"):
        log_in(old, lambda: later(minutes=15))
    session = log_in(new_link("ada", "viewer", "root", lambda: NOON), lambda: later(minutes=14))
    assert login_of(session, lambda: later(days=29)) is not None
    assert login_of(session, lambda: later(days=31)) is None


def test_what_ended_is_not_kept(tmp_path: Path) -> None:
    log_in(new_link("ada", "viewer", "root", lambda: NOON), lambda: NOON)
    new_link("bob", "viewer", "root", lambda: later(days=40))
    stored = json.loads((tmp_path / "user" / "logins.json").read_text())
    assert stored["sessions"] == {}
    assert len(stored["links"]) == 1


def test_only_digests_are_kept_and_only_the_account_reads_them(tmp_path: Path) -> None:
    link = new_link("ada", "approver", "root")
    session = log_in(link)
    file = tmp_path / "user" / "logins.json"
    assert link not in file.read_text()
    assert session not in file.read_text()
    assert file.stat().st_mode & 0o077 == 0


def _try(link: str) -> bool:
    try:
        log_in(link)
    except ToolError:
        return False
    return True


def test_two_processes_use_a_link_once_and_lose_no_session() -> None:
    links = [new_link(f"person {number}", "viewer", "root") for number in range(6)]
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        worked = list(pool.map(_try, [*links, *links]))
    assert worked.count(True) == 6
    assert all(log_out(f"person {number}") == 1 for number in range(6))


def test_a_log_out_ends_every_session_and_link_of_one_person() -> None:
    first, second = (log_in(new_link("ada", "approver", "root")) for _ in range(2))
    other, link = log_in(new_link("bob", "viewer", "root")), new_link("ada", "approver", "root")
    end_session(first)
    assert login_of(first) is None
    assert login_of(second) is not None
    assert log_out("ada") == 2
    assert login_of(second) is None
    assert login_of(other) is not None
    with pytest.raises(ToolError):
        log_in(link)


@pytest.mark.parametrize("level", get_args(Level))
def test_a_level_holds_those_below(level: Level) -> None:
    login = login_of(log_in(new_link("ada", level, "root")))
    assert login is not None
    order = get_args(Level)
    assert [one for one in order if login.may(one)] == list(order[: order.index(level) + 1])
    if level == "approver":
        assert login.approver.name == "ada"
        assert login.approver.via == "login"
        assert login.approver.issuers == ("root",)
    else:
        with pytest.raises(ToolError) as refused:
            _ = login.approver
        assert refused.value.code is Code.NOT_AN_APPROVER


def test_only_an_approver_gets_the_link_of_one() -> None:
    with pytest.raises(ToolError, match="eve is not an approver"):
        link_for("eve", "approver", "root")
    assert link_for("eve", "viewer", "root")
    add_approver("ada")
    assert link_for("ada", "approver", "root")
    with pytest.raises(ToolError, match="cannot be a name"):
        link_for("a\nb", "viewer", "root")


@pytest.mark.parametrize(
    "content",
    [b"{", b"[]", b"\xff", b'{"sessions": []}', b'{"sessions": {"DIGEST": {"name": "eve", "level": "approver"}}}',
     b'{"sessions": {"DIGEST": {"name": "eve", "level": "god", "issued_by": "", "expires_at": "9"}}}'],
)  # fmt: skip
def test_a_damaged_file_lets_nobody_in(tmp_path: Path, content: bytes) -> None:
    session = log_in(new_link("ada", "approver", "root"))
    file = tmp_path / "user" / "logins.json"
    digest = next(iter(json.loads(file.read_text())["sessions"]))
    file.write_bytes(content.replace(b"DIGEST", digest.encode()))
    with pytest.raises(ConfigError, match=r"logins\.json.*Remove the file"):
        login_of(session)


def test_the_label_is_made_once() -> None:
    first = label()
    assert first.startswith("room-")
    log_in(new_link("ada", "viewer", "root"))
    assert label() == first


def test_a_program_has_one_token_of_which_only_the_digest_is_kept(tmp_path: Path) -> None:
    token = new_token("bot", "analyst", "ada")
    found = program_with(token)
    assert found is not None
    assert (found.name, found.role, found.issued_by) == ("bot", "analyst", "ada")
    assert token not in (tmp_path / "user" / "tokens.json").read_text()
    with pytest.raises(ToolError, match="already has a token"):
        new_token("bot", "analyst", "ada")
    remove_token("bot")
    assert program_with(token) is None
    assert program_tokens() == []
    with pytest.raises(ToolError, match="bot has no token"):
        remove_token("bot")


@pytest.mark.parametrize("content", [b"{", b'{"x": 1}', b'{"x": {"name": "bot"}}'])
def test_a_damaged_list_of_tokens_lets_no_program_in(tmp_path: Path, content: bytes) -> None:
    new_token("bot", "analyst", "ada")
    (tmp_path / "user" / "tokens.json").write_bytes(content)
    with pytest.raises(ConfigError, match=r"tokens\.json"):
        program_tokens()
