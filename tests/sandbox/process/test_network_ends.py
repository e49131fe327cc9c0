"""How much goes through a door, and that nothing of a run with a network is left, however it ends."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.process.asking import ASKING
from tests.sandbox.process.support import PRELUDE, REPOSITORY, Project, Runner, running_with, until
from tests.sandbox.process.witnesses import JEWELS, Witness, sink


def census_at_rest(project: Project) -> dict[str, Any]:
    """What a runner has when nothing runs; its launcher is one fork ahead, and who ran before has gone."""
    project.python("pass")
    until(lambda: project.runner.ask("census")["children"] == 1)
    return project.runner.ask("census")


def test_of_a_thousand_connections_a_few_are_served_at_a_time_and_the_door_stands(
    confined: Project, server: Witness
) -> None:
    before = census_at_rest(confined)
    code = """
    import select
    ends = []
    for _ in range(1000):
        end = socket.socket()
        end.setblocking(False)
        end.connect_ex(("127.0.0.1", 3128))
        ends.append(end)
    for end in ends[:64]:
        end.setblocking(True)
        end.sendall(f"CONNECT crowd.test:{sys.argv[1]} HTTP/1.1\\r\\n\\r\\n".encode())
    for end in ends[:8]:
        assert b" 200 " in end.recv(100)
    answered, _, _ = select.select(ends[8:64], [], [], 0.3)
    assert not answered, "only so many are served at a time"
    # The crowd goes; whoever comes next is served.
    for end in ends:
        end.close()
    print(fetch(f"http://site.test:{sys.argv[2]}/"))
    """
    with sink() as crowd:
        door = {
            "hosts": [f"crowd.test:{crowd.port}", *server.hosts],
            "ports": [crowd.port, server.port],
            "allowance": {"connections": 8},
        }
        answer = confined.python(
            ASKING + textwrap.dedent(code),
            str(crowd.port),
            str(server.port),
            door=door,
            limits={"open_files": 2048},
        )
        assert answer["stdout"] == f"{JEWELS.decode()}\n", answer
        assert 8 <= crowd.came <= 64
        until(lambda: crowd.present == 0)
    until(lambda: confined.runner.ask("census") == before)


@pytest.mark.parametrize("floods", [False, True], ids=["sent", "received"])
def test_a_flood_of_bytes_ends_at_the_run_s_share(confined: Project, floods: bool) -> None:
    code = """
    got = 0
    with socket.create_connection(("127.0.0.1", 3128), 20) as end:
        end.sendall(f"CONNECT site.test:{sys.argv[1]} HTTP/1.1\\r\\n\\r\\n".encode())
        try:
            while True:
                if sys.argv[2] == "sent":
                    end.sendall(bytes(65536))
                else:
                    data = end.recv(65536)
                    got += len(data)
                    if not data:
                        break
        except OSError:
            pass
    print(got)
    """
    share = {"sent_bytes": 1_000_000, "received_bytes": 1_000_000}
    with sink(floods) as server:
        door = {"hosts": [f"site.test:{server.port}"], "ports": [server.port], "allowance": share}
        answer = confined.python(code, str(server.port), "received" if floods else "sent", door=door)
        until(lambda: server.present == 0)
    (reached,) = answer["reached"]
    assert 500_000 < reached["received" if floods else "sent"] <= 1_000_000
    assert server.received <= 1_000_000
    assert int(answer["stdout"]) <= 1_001_000
    assert "has had its share" in answer["refused"][0]["why"]
    assert answer["ended_by"] is None


def test_a_daemon_left_behind_goes_with_its_connections(confined: Project) -> None:
    before = census_at_rest(confined)
    mark = f"door-daemon-{confined.path.parent.name}-{confined.path.name}"
    code = """
    if os.fork() == 0:
        os.setsid()
        for stream in (0, 1, 2):
            os.close(stream)
        end = socket.create_connection(("127.0.0.1", 3128), 20)
        end.sendall(f"CONNECT site.test:{sys.argv[1]} HTTP/1.1\\r\\n\\r\\nhere".encode())
        open("/tmp/sent", "w").close()
        time.sleep(600)
    while not os.path.exists("/tmp/sent"):
        time.sleep(0.01)
    """
    with sink() as server:
        door = {"hosts": [f"site.test:{server.port}"], "ports": [server.port]}
        answer = confined.python(code, str(server.port), mark, door=door)
        assert answer["exit_code"] == 0, answer
        assert running_with(mark) == []
        until(lambda: server.present == 0)
    until(lambda: confined.runner.ask("census") == before)


def test_a_run_that_is_ended_leaves_no_connection_thread_or_descriptor(confined: Project) -> None:
    before = census_at_rest(confined)
    code = """
    end = socket.create_connection(("127.0.0.1", 3128), 20)
    end.sendall(f"CONNECT site.test:{sys.argv[1]} HTTP/1.1\\r\\n\\r\\nhere".encode())
    slow = socket.create_connection(("127.0.0.1", 3128), 20)
    slow.sendall(b"GET http://site")
    end.recv(100)
    print("connected", flush=True)
    time.sleep(600)
    """
    with sink() as server:
        door = {"hosts": [f"site.test:{server.port}"], "ports": [server.port]}
        answer = confined.python(code, str(server.port), door=door, stop_at="connected")
        until(lambda: server.came == 1 and server.present == 0)
    assert answer["ended_by"] == "cancelled"
    assert [one["host"] for one in answer["reached"]] == ["site.test"]
    until(lambda: confined.runner.ask("census") == before)


def test_when_the_runner_is_killed_nothing_goes_on(runner: Runner) -> None:
    mark = f"door-orphan-{runner.user}-{os.getpid()}"
    other = Runner(runner.user)
    try:
        project = other.project()
        code = """
        end = socket.create_connection(("127.0.0.1", 3128), 20)
        end.sendall(f"CONNECT site.test:{sys.argv[1]} HTTP/1.1\\r\\n\\r\\n".encode())
        while True:
            end.sendall(b"still here")
            time.sleep(0.01)
        """
        with sink() as server:
            door = {"hosts": [f"site.test:{server.port}"], "ports": [server.port]}
            other.send(
                "run",
                project=str(project.path),
                argv=["python", "-c", PRELUDE + textwrap.dedent(code), str(server.port), mark],
                door=door,
            )
            until(lambda: server.received > 100)
            assert running_with(mark)
            other.kill()
            until(lambda: server.present == 0)
            until(lambda: running_with(mark) == [])
    finally:
        other.close()


FILLING = """
def pairs():
    if sys.argv[1] == "files":
        while True:
            yield socket.socketpair()
    with socket.create_server(("127.0.0.1", 5000)) as listener:
        while True:
            yield socket.create_connection(("127.0.0.1", 5000)), listener.accept()[0]
held, total = [], 0
for (one, other), _ in zip(pairs(), range(int(sys.argv[2]))):
    held += [one, other]
    one.setblocking(False)
    try:
        while True:
            total += one.send(bytes(65536))
    except BlockingIOError:
        pass
print(total)
if int(sys.argv[2]) > 200:
    time.sleep(30)
"""


def test_what_lies_in_sockets_is_little_and_counts_as_memory(confined: Project, server: Witness) -> None:
    room = {"open_files": 8192, "memory_bytes": 256 << 20}
    answer = confined.python(FILLING, "web", "200", door=server.door(), limits=room)
    assert 0 < int(answer["stdout"]) < 200 << 18, answer
    assert confined.python(FILLING, "web", "3000", door=server.door(), limits=room)["ended_by"] == "memory"
    assert confined.python(FILLING, "files", "3000", limits=room)["ended_by"] == "memory"


IN_VAIN = """
import json, sys
from pathlib import Path
from tests.sandbox.process.driver import run
asked = {"project": sys.argv[1], "argv": ["/bin/echo", "ran"]}
ends = [run(asked)["stdout"]]
# Of this user namespace only.
Path("/proc/sys/user/max_net_namespaces").write_text("0")
try:
    ends.append(run(asked | {"door": {"hosts": ["site.test"]}}))
except Exception as error:
    ends += [error.code, str(error)]
print(json.dumps(ends))
"""


def test_where_no_network_can_be_made_nothing_runs_and_the_refusal_says_what_to_do(tmp_path: Path) -> None:
    for name in ("data", "scratch"):
        (tmp_path / name).mkdir()
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", sys.executable, "-c", IN_VAIN, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        cwd=REPOSITORY,
        env=os.environ | {"PYTHONPATH": f"{REPOSITORY / 'src'}{os.pathsep}{REPOSITORY}"},
    )
    ran, code, said = json.loads(done.stdout)
    assert (ran, code) == ("ran\n", "NOT_SUPPORTED")
    assert said.startswith("the code was not run: it cannot be given a network of its own here")
    assert said.endswith("run it without `network`, and fetch with web_fetch")
