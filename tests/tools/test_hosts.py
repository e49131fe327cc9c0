"""`network` with what is no host of the open web: the mistake is told, whatever the room thinks of code and the web."""

from typing import Any

import pytest

from brasstag import Failed, Preview, Room, ToolError, Waiting, tool
from brasstag.words.calls import Outcome
from brasstag.words.errors import Code
from brasstag.words.events import EntryKind
from brasstag.words.verdicts import Verdict
from tests.conftest import MakeProject

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("run_code", {"language": "python", "code": "1"}),
    ("shell", {"command": "ls"}),
]
MISTAKES = [
    ("127.0.0.1", Code.ADDRESS_REFUSED, "127.0.0.1 is not a public address"),
    ("[::1]", Code.ADDRESS_REFUSED, "::1 is not a public address"),
    ("*.example.org", Code.INVALID_ARGUMENTS, "name each host by itself"),
    ("http://example.org/x", Code.INVALID_ARGUMENTS, "it has a scheme or a path; leave that out"),
    ("no such host", Code.INVALID_ARGUMENTS, "it holds spaces"),
    ("2130706433", Code.INVALID_ARGUMENTS, "write an address as four decimal numbers"),
    ("example.org:x", Code.INVALID_ARGUMENTS, "the host cannot be read"),
]
ALLOWED = '[[rules]]\nallow = ["run_code", "shell"]\nwhen = ["external"]\nbecause = "of course"\n'
ASKED = '[[rules]]\nask = ["run_code", "shell"]\nbecause = "a person looks at it first"\n'
DENIED = '[[rules]]\ndeny = ["run_code", "shell"]\nwhen = ["external"]\nbecause = "code stays inside"\n'


def failure(outcome: Outcome | None) -> Failed:
    assert isinstance(outcome, Failed), outcome
    return outcome


@pytest.mark.parametrize("settings", ["", ALLOWED, ASKED], ids=["no rule", "allowed", "asked about"])
@pytest.mark.parametrize(("name", "arguments"), CALLS)
async def test_what_is_no_host_is_told_as_such_whatever_the_rules(
    make_project: MakeProject, settings: str, name: str, arguments: dict[str, Any]
) -> None:
    async with Room.open(make_project(settings)) as room:
        for host, code, said in MISTAKES:
            call = arguments | {"network": ["example.org", host]}
            failed = failure(await room.call(name, call))
            assert failed.code is code
            assert said in failed.message
            assert "URL" not in failed.message
            if code is Code.INVALID_ARGUMENTS:
                assert failed.message.startswith(f"{host!r} is not a host such as example.org")
            explained = await room.explain(name, call)
            assert failure(explained.refused).message == failed.message
            assert explained.explanation is None
        assert {entry.kind for entry in await room.timeline()} == {EntryKind.OPENED, EntryKind.REFUSED}


@pytest.mark.parametrize(("name", "arguments"), CALLS)
async def test_where_a_rule_denies_code_the_web_no_host_is_worth_a_word(
    make_project: MakeProject, name: str, arguments: dict[str, Any]
) -> None:
    async with Room.open(make_project(DENIED)) as room:
        for host in ("example.org", *(host for host, _, _ in MISTAKES)):
            failed = failure(await room.call(name, arguments | {"network": [host]}))
            assert (failed.code, failed.message) == (Code.BLOCKED_BY_RULE, "code stays inside")


async def test_a_tool_s_own_word_on_its_arguments_needs_nobody_s_leave(room: Room) -> None:
    def foresee(arguments: Any) -> Preview:
        if arguments["amount"] < 0:
            raise ToolError(Code.INVALID_ARGUMENTS, "pay something")
        return Preview(external=True)

    @tool(effects="external", preview=foresee)
    def pay(amount: int) -> str:
        """Pay it."""
        return f"paid {amount}"

    room.register(pay)
    room.add_rule(lambda call, _preview: Verdict("ask", "a person pays", "") if call.tool == "pay" else None)
    assert isinstance(await room.call("pay", {"amount": 1}), Waiting)
    assert failure(await room.call("pay", {"amount": -1})).message == "pay something"
