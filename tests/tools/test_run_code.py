"""run_code and shell with `network`, through a whole room: previewed, judged by address, and told with whom they spoke."""

import base64
import os
import shutil
from typing import Any

import pytest

from brasstag import Done, Failed, Room, Unknown, Waiting
from brasstag.sandbox.network.web import Web
from brasstag.toolkit.discovery import discover_package
from brasstag.words.calls import Outcome
from brasstag.words.errors import Code, ToolError
from tests.conftest import MakeProject
from tests.runtimes import put_in
from tests.sandbox.network.servers import Server, guard_for, replying, serving

needs_bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

TOOLS = {tool.name: tool for tool in discover_package("brasstag.tools")}
FETCH = "import sys, urllib.request\nprint(urllib.request.urlopen(sys.argv[1], timeout=20).read().decode())"
BOTH = [("run_code", {"language": "python", "code": "1"}), ("shell", {"command": "ls"})]


def preview(tool: str, arguments: dict[str, Any]) -> Any:
    says = TOOLS[tool].preview
    assert says is not None
    return says({"network": [], "cwd": ".", **arguments})


def rules(*places: str) -> str:
    allowed = ", ".join(f'"run_code({place}/**)", "shell({place}/**)"' for place in places)
    return f'[[rules]]\nallow = [{allowed}]\nwhen = ["runs", "fetches", "external"]\nbecause = "these are ours"\n'


def towards(room: Room, *servers: Server) -> Room:
    """Lead a room to servers of this machine instead of the internet."""
    put_in(room, web=Web(guard_for(*servers)))
    return room


def value_of(outcome: Outcome) -> dict[str, Any]:
    assert isinstance(outcome, Done), outcome
    found: dict[str, Any] = outcome.value
    return found


@pytest.mark.parametrize(("tool", "arguments"), BOTH)
def test_a_preview_names_each_host_once_as_an_address(tool: str, arguments: dict[str, Any]) -> None:
    hosts = ["API.example.org", "api.example.org:443", "example.org:8443"]
    seen = preview(tool, arguments | {"network": hosts})
    assert seen.fetches == ("https://api.example.org/", "https://example.org:8443/")
    assert seen.external
    assert seen.runs
    without = preview(tool, arguments)
    assert (without.fetches, without.external) == ((), False)


@pytest.mark.parametrize(
    ("host", "code"),
    [
        *((host, Code.INVALID_ARGUMENTS) for host in ("*.test", "https://x.test", "x.test/a", "a@b", "2130706433", "")),
        *((host, Code.ADDRESS_REFUSED) for host in ("127.0.0.1", "169.254.169.254:80", "[::ffff:127.0.0.1]", "[::1]")),
    ],
)  # fmt: skip
def test_what_is_no_host_of_the_open_web_is_refused_by_looking_only(host: str, code: Code) -> None:
    with pytest.raises(ToolError) as refused:
        preview("shell", {"command": "ls", "network": [host]})
    assert refused.value.code is code


@needs_bubblewrap
async def test_code_reaches_whom_a_rule_allows_and_the_result_says_whom(make_project: MakeProject) -> None:
    async with serving(replying(b"hello")) as server:
        host = f"site.test:{server.port}"
        async with Room.open(make_project(rules(host))) as room:
            towards(room, server)
            arguments = {"language": "python", "code": FETCH, "args": [server.url()], "network": [host]}
            value = value_of(await room.call("run_code", arguments))
            command = f"curl -sS {server.url()}; curl -sS http://other.test/ >/dev/null"
            other = value_of(await room.call("shell", {"command": command, "network": [host]}))
    assert (value["stdout"], other["stdout"]) == ("hello\n", "hello")
    (reached,) = value["reached"]
    assert (reached["host"], reached["port"]) == ("site.test", server.port)
    assert reached["sent"] > 0
    assert reached["received"] > 5
    assert value["refused"] == []
    assert [(one["asked"], one["count"]) for one in other["refused"]] == [("other.test:80", 1)]
    assert value["confinement"]["net"] == f"guarded: {host}"
    assert value["untrusted"] is True
    assert value["changes"] == []
    assert server.connections == 2


@needs_bubblewrap
async def test_without_network_nothing_is_said_of_it_and_nobody_is_reached(make_project: MakeProject) -> None:
    arguments = {"language": "python", "code": FETCH}
    async with serving(replying(b"hello")) as server:
        host = f"site.test:{server.port}"
        async with Room.open(make_project(rules(host))) as room:
            towards(room, server)
            value = value_of(await room.call("run_code", arguments | {"args": [server.url()]}))
    assert value["exit_code"] == 1
    assert not {"reached", "refused", "untrusted"} & set(value)
    assert value["confinement"]["net"] == "off"
    assert server.connections == 0


@needs_bubblewrap
async def test_code_with_a_network_changes_no_file(make_project: MakeProject) -> None:
    async with serving(replying()) as server:
        host = f"site.test:{server.port}"
        project = make_project(rules(host))
        async with Room.open(project) as room:
            towards(room, server)
            command = f"curl -sS {server.url()} -o page.html; echo late > late.txt"
            value = value_of(await room.call("shell", {"command": command, "network": [host]}))
    assert value["exit_code"] != 0
    assert "Read-only file system" in value["stderr"]
    assert os.listdir(project / "data") == []


@needs_bubblewrap
async def test_code_that_is_ended_tells_whom_it_had_reached(make_project: MakeProject) -> None:
    async with serving(replying()) as server:
        host = f"site.test:{server.port}"
        async with Room.open(make_project(rules(host))) as room:
            towards(room, server)
            arguments = {"command": f"curl -sS {server.url()}; sleep 600", "network": [host], "timeout": 3}
            outcome = await room.call("shell", arguments)
    assert isinstance(outcome, Failed | Unknown), outcome
    assert "what it sent cannot be taken back" in str(outcome)
    assert outcome.details["reached"][0]["host"] == "site.test"


@needs_bubblewrap
async def test_a_port_the_operator_did_not_open_is_refused_before_anything_runs(
    make_project: MakeProject,
) -> None:
    async with Room.open(make_project(rules("site.test:8443"))) as room:
        arguments = {"command": "touch /tmp/x", "network": ["site.test:8443"]}
        outcome = await room.call("shell", arguments)
    assert isinstance(outcome, Failed), outcome
    assert outcome.code is Code.ADDRESS_REFUSED
    assert "an operator adds it to ports under [web]" in outcome.message


@needs_bubblewrap
async def test_what_rules_hide_is_empty_to_code_that_could_send_it(make_project: MakeProject) -> None:
    async with serving(replying()) as server:
        host = f"site.test:{server.port}"
        project = make_project(rules(host))
        (project / "data" / ".env").write_text("KEY=secret")
        (project / "data" / "open.txt").write_text("open")
        async with Room.open(project) as room:
            towards(room, server)
            code = "print([open(name).read() for name in ('.' + 'env', 'open.txt')])"
            arguments = {"language": "python", "code": code, "network": [host]}
            value = value_of(await room.call("run_code", arguments))
    assert value["stdout"] == "['', 'open']\n", value


BROKEN = "x = (\nopen('made', 'w')\nprint('ran')"


@needs_bubblewrap
@pytest.mark.parametrize("profile", ["careful", "trusted", "locked"])
async def test_python_that_does_not_parse_is_compiled_and_its_syntax_error_is_the_result(
    make_project: MakeProject, profile: str
) -> None:
    project = make_project("", profile=profile)
    # Python imports this module at its start, unless it is told not to.
    (project / "data" / "sitecustomize.py").write_text("print('customized')")
    async with Room.open(project) as room:
        value = value_of(await room.call("run_code", {"language": "python", "code": BROKEN}))
    assert (value["exit_code"], value["stdout"], value["changes"]) == (1, "", [])
    assert "line 1\n    x = (\n        ^\nSyntaxError: '(' was never closed" in value["stderr"]
    assert "Traceback" not in value["stderr"]


@needs_bubblewrap
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("# coding: nonsense\nprint(1)", "unknown encoding: nonsense"),
        ("print('a\0b')", "null bytes"),
        ("# coding: ascii\nprint('é')", "SyntaxError"),
    ],
)
async def test_code_that_cannot_be_decoded_is_a_syntax_error(room: Room, code: str, said: str) -> None:
    value = value_of(await room.call("run_code", {"language": "python", "code": code}))
    assert value["exit_code"] == 1
    assert said in value["stderr"]


@needs_bubblewrap
async def test_what_only_the_confined_interpreter_compiles_is_asked_about(make_project: MakeProject) -> None:
    project = make_project("")
    newer = project / "data" / ".venv"
    (newer / "bin").mkdir(parents=True)
    (newer / "pyvenv.cfg").write_text("home = /usr/bin\n")
    # A Python of the future: to it everything is Python, and it tells how it was started.
    (newer / "bin" / "python").write_text('#!/bin/sh\necho "$1"\n')
    (newer / "bin" / "python").chmod(0o755)
    async with Room.open(project) as room:
        asked = await room.call("run_code", {"language": "python", "code": BROKEN})
        assert isinstance(asked, Waiting)
        assert "cannot be read" in asked.reason


@needs_bubblewrap
async def test_rules_about_the_words_of_code_hold_for_code_that_does_not_parse(
    make_project: MakeProject,
) -> None:
    rule = '[[rules]]\ndeny = "run_code(code: forbidden)"\nbecause = "no"\n'
    async with Room.open(make_project(rule)) as room:
        outcome = await room.call("run_code", {"language": "python", "code": "x = ( forbidden"})
        assert isinstance(outcome, Failed)
        assert outcome.code is Code.BLOCKED_BY_RULE


async def test_a_coding_line_hides_no_command(room: Room) -> None:
    hidden = "import os; os.system('rm -rf /')".encode("utf-16-be").hex()
    spelt = "".join(f"\\u{hidden[at : at + 4]}" for at in range(0, len(hidden), 4))
    for code in (f"# coding: unicode_escape\n{spelt}", _utf7("import os; os.system('rm -rf /')")):
        outcome = await room.call("run_code", {"language": "python", "code": code})
        assert isinstance(outcome, Failed), code
        assert outcome.code is Code.BLOCKED_BY_RULE


def _utf7(code: str) -> str:
    encoded = base64.b64encode(code.encode("utf-16-be")).decode().rstrip("=")
    return f"# coding: utf-7\n+{encoded}-"
