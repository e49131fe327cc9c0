"""What is hidden from tools is empty to code, on every footing, however it is named, saved, linked or moved."""

import json
import os
import textwrap
from pathlib import Path
from typing import Any

import pytest

from brasstag.sandbox.workspace.hidden_from_code import MANY
from tests.sandbox.process.support import Project, running_with, until

PRIVATE = "what-nobody-may-see"
READ = """
import json, os, sys, time
def held(name):
    try:
        return open(name, "rb").read().decode()
    except OSError as error:
        return type(error).__name__
env = "." + "e" + "nv"
"""


def call(confined: Project, code: str, *, foreign: bool = False, **arguments: Any) -> dict[str, Any]:
    """Run Python by a call at the counter, on a copy where an ordinary user's workspace holds a file of others."""
    confined.own()
    if foreign and os.geteuid() == 0:
        os.chown(confined.write("foreign.txt", "of somebody else"), 1234, 1234)
    given = {"language": "python", "code": READ + textwrap.dedent(code), **arguments}
    return confined.runner.ask(
        "call", project=str(confined.path), tool="run_code", arguments=given, approve=True
    )


def told(answer: dict[str, Any]) -> Any:
    assert answer["outcome"] == "done", answer
    return json.loads(answer["stdout"])


@pytest.mark.parametrize("foreign", [False, True])
def test_what_tools_cannot_even_name_is_empty_to_code(confined: Project, foreign: bool) -> None:
    for name in (".env", "sub/.git/id_rsa", ".git/id_rsa", "real/.env", "sub/deep/brasstag.toml"):
        confined.write(name, PRIVATE)
    for name in ("sub/.brasstag/state.db", "sub/.Brasstag-x/a"):
        confined.write(name, PRIVATE)
    odd = os.fsencode(confined.data) + b"/caf\xe9"
    os.mkdir(odd)
    Path(os.fsdecode(odd), ".env").write_text(PRIVATE)
    (confined.data / "link").symlink_to("real/.env")
    answer = call(
        confined,
        """
        found = {}
        for place, _, names in os.walk(b"."):
            for name in names:
                path = os.path.join(place, name)
                if place.split(b"/")[1:2] != [b".git"] or name == b"id_rsa":
                    found[repr(path)] = held(path)
        print(json.dumps([found, held(b"caf\\xe9/.e" + b"nv")]))
        """,
        foreign=foreign,
    )
    found, odd_one = told(answer)
    assert PRIVATE not in json.dumps(answer)
    assert odd_one == ""
    assert {one for one in found.values() if one != "of somebody else"} == {""}, found
    assert found[repr(b"./.git/id_rsa")] == ""
    assert answer["changes"] == []


def test_what_is_hidden_does_not_land_by_moving_what_it_lies_in(confined: Project) -> None:
    confined.write("p/.env", PRIVATE)
    confined.write("p/other", "x")
    answer = call(
        confined,
        """
        os.rename("p", "q")
        print(json.dumps(held("q/" + env)))
        os.mkdir("p")
        open("p/" + env, "w").close()
        """,
        foreign=True,
    )
    assert PRIVATE not in json.dumps(answer)
    if confined.runner.user == "ordinary":
        assert answer["details"]["refused"][0]["path"] == "p/.env", answer
        assert "hidden from code" in answer["message"]
    assert (confined.data / "p/.env").read_text() == PRIVATE
    assert not (confined.data / "q").exists()


def test_what_is_hidden_and_left_alone_on_a_copy_is_no_change(confined: Project) -> None:
    confined.write("p/.env", PRIVATE)
    answer = call(
        confined, "open('p/new', 'w').write('x'); print(json.dumps(held('p/' + env)))", foreign=True
    )
    assert told(answer) == ""
    assert answer["changes"] == [{"path": "p/new", "change": "creates"}]
    assert (confined.data / "p/.env").read_text() == PRIVATE


def test_a_run_with_a_network_does_not_see_what_is_saved_meanwhile(confined: Project) -> None:
    confined.write(".env", PRIVATE)
    confined.write("a.txt", "first")
    confined.own()
    mark = f"mark-{confined.path.parent.name}-{confined.path.name}"
    code = """
    seen, until = set(), time.monotonic() + 2
    while time.monotonic() < until:
        seen |= {held(env), held("new/" + env), held("a.txt"), held("brasstag" + ".toml")}
    try:
        open("made", "w")
    except OSError as error:
        seen.add(error.strerror)
    print(json.dumps(sorted(seen)))
    """
    confined.runner.send(
        "run",
        project=str(confined.path),
        argv=["python", "-c", READ + textwrap.dedent(code), mark],
        door={"hosts": ["site.test"]},
        hidden=[".env"],
    )
    try:
        until(lambda: bool(running_with(mark)), 10)
        for name in (".env", "a.txt"):
            saved = confined.write(f"{name}.saved", f"{PRIVATE}, newer")
            saved.rename(confined.data / name)
        confined.write("new/.env", PRIVATE)
        confined.own()
    finally:
        answer = confined.runner.answer()
    seen = json.loads(answer["stdout"])
    assert seen == ["", "FileNotFoundError", "Read-only file system", "first"], answer
    assert answer["confinement"]["overlay"] == "snapshot"


def test_a_workspace_too_large_to_copy_for_the_network_is_refused_in_a_sentence(confined: Project) -> None:
    confined.write("large", "x" * 3_000_000)
    confined.own()
    answer = confined.python("print(1)", door={"hosts": ["site.test"]}, limits={"disk_bytes": 2 << 20})
    assert answer["code"] == "NOT_SUPPORTED", answer
    assert "more than 2 MB" in answer["message"]


LINKS: dict[str, tuple[str, str]] = {
    "absolute": (".env", "/etc/hostname"),
    "outward": (".env", "../outside/secret.txt"),
    "dangling": (".env", "nowhere"),
    "to a directory": (".ssh", "conf"),
}


@pytest.mark.parametrize("kind", LINKS)
def test_a_hidden_name_may_be_any_link_and_nothing_comes_of_it(confined: Project, kind: str) -> None:
    name, target = LINKS[kind]
    confined.write("conf/plain", "plain")
    (confined.data / name).symlink_to(target)
    answer = call(confined, "print(json.dumps([sorted(os.listdir('.')), held('conf/plain')]))")
    assert told(answer) == [sorted([name, "conf"]), "plain"]
    assert answer["changes"] == []
    assert sorted(os.listdir(confined.data)) == sorted([name, "conf"])


def test_thousands_of_hidden_files_are_hidden_one_by_one_or_together(confined: Project) -> None:
    for number in range(1500):
        confined.write(f"mixed/{number}.pfx", PRIVATE)
        confined.write(f"all/{number}.pfx", PRIVATE)
    confined.write("mixed/plain", "plain")
    confined.write("few/a.pfx", PRIVATE)
    answer = call(
        confined,
        """
        names = [os.path.join(place, name) for place, _, names in os.walk(".") for name in names]
        print(json.dumps([len(names), sorted({held(name) for name in names})]))
        """,
    )
    assert told(answer) == [1502, ["", "plain"]]
    assert MANY < 1500


def test_a_directory_closed_to_its_owner_cannot_be_opened_to_see_what_is_hidden(confined: Project) -> None:
    confined.write("shut/.env", PRIVATE)
    confined.own()
    (confined.data / "shut").chmod(0)
    answer = call(
        confined,
        """
        try:
            os.chmod("shut", 0o700)
        except OSError:
            pass
        print(json.dumps(held("shut/" + env)))
        """,
    )
    assert PRIVATE not in json.dumps(answer), answer


def test_what_a_rule_asks_about_is_empty_to_code_until_it_was_asked(confined: Project) -> None:
    confined.write("server.key", PRIVATE)
    confined.write("keys/deep.key", PRIVATE)
    confined.own()

    def shell(command: str, *, approve: bool) -> dict[str, Any]:
        given = {"project": str(confined.path), "tool": "shell", "arguments": {"command": command}}
        return confined.runner.ask("call", **given, approve=approve)

    unasked = shell("grep -r nobody . ; cat server.k??", approve=False)
    assert (unasked["outcome"], unasked["stdout"], unasked["waited"]) == ("done", "", 0), unasked
    assert any("a rule asks" in note for note in unasked["notes"]), unasked
    assert shell("cat server.key", approve=False)["outcome"] == "waiting"
    asked = shell("cat server.key; cat keys/deep*", approve=True)
    assert (asked["stdout"], asked["waited"]) == (PRIVATE, 1), asked
    assert told(call(confined, "print(json.dumps(held('server' + '.key')))")) == ""


def test_code_learns_no_path_of_the_host_by_its_command_line(confined: Project) -> None:
    confined.write(".env", PRIVATE)
    answer = call(confined, "print(json.dumps(open('/proc/1/cmdline').read()))")
    said = told(answer)
    assert "bwrap" in said
    assert str(confined.path) not in said
    assert ".env" not in said


def test_what_the_kernel_tells_root_about_the_machine_is_not_told(confined: Project) -> None:
    found = confined.attack(
        """
        for name in ("slabinfo", "timer_list", "vmallocinfo", "keys", "key-users"):
            attempt(name, lambda: open(f"/proc/{name}").read())
        """
    )
    assert not [name for name, what in found.items() if what.startswith("open")], found
