"""A run with a network reaches the hosts it was granted, through its door, and nobody and nothing else."""

import socket
import textwrap
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from brasstag.sandbox.process.job import Job
from brasstag.sandbox.process.run.job_run import run_job
from tests.sandbox.process.asking import ASKING
from tests.sandbox.process.support import PRELUDE, Project
from tests.sandbox.process.test_network import ATTACKS
from tests.sandbox.process.witnesses import JEWELS, Witness, make_certificate, witness


def attack(project: Project, code: str, *arguments: Any, **asked: Any) -> dict[str, str]:
    return project.attack(ASKING + textwrap.dedent(code), *map(str, arguments), **asked)


def refused(found: dict[str, str]) -> None:
    assert found
    assert not [name for name, what in found.items() if what.startswith("open")], found


def test_a_granted_host_is_reached_by_programs_that_know_nothing_of_the_door(
    confined: Project, server: Witness
) -> None:
    code = """
    print(fetch(sys.argv[1] + "urllib"))
    print(os.popen("curl -sS " + sys.argv[1] + "curl").read())
    """
    answer = confined.python(
        ASKING + textwrap.dedent(code), f"http://site.test:{server.port}/", door=server.door()
    )
    assert answer["stdout"].split("\n")[:2] == [JEWELS.decode()] * 2, answer
    assert server.asked == [(f"site.test:{server.port}", "/urllib"), (f"site.test:{server.port}", "/curl")]
    (reached,) = answer["reached"]
    assert (reached["host"], reached["port"]) == ("site.test", server.port)
    assert reached["sent"] > 100
    assert reached["received"] > 2 * len(JEWELS)
    assert answer["refused"] == []
    assert answer["confinement"]["net"] == f"guarded: site.test:{server.port}"
    assert answer["confinement"]["overlay"] == "snapshot"
    assert answer["confinement"]["fs_write"] == "a /tmp of its own"


def test_tls_goes_through_whole_and_is_between_the_run_and_the_server(
    confined: Project, tmp_path: Path
) -> None:
    key, cert = make_certificate(tmp_path, "secure.test")
    confined.write("cert.pem", cert.read_bytes())
    confined.own()
    code = """
    import ssl
    context = ssl.create_default_context(cafile="cert.pem")
    print(urllib.request.urlopen(sys.argv[1] + "urllib", context=context, timeout=20).read().decode())
    print(os.popen("curl -sS --cacert cert.pem " + sys.argv[1] + "curl").read())
    print(os.popen("curl -sS " + sys.argv[1] + "strange 2>&1").read())
    """
    with witness(certificate=(key, cert)) as server:
        url = f"https://secure.test:{server.port}/"
        door = server.door(f"secure.test:{server.port}")
        answer = confined.python(ASKING + textwrap.dedent(code), url, door=door)
    assert answer["stdout"].split("\n")[:2] == [JEWELS.decode()] * 2, answer
    assert "certificate" in answer["stdout"]
    assert [path for _, path in server.asked] == ["/urllib", "/curl"]


def test_the_workspace_is_read_only_to_whoever_reaches_the_web(confined: Project, server: Witness) -> None:
    confined.write("old.txt", "old")
    confined.own()
    found = attack(
        confined,
        """
        attempt("new", lambda: open("new.txt", "w"))
        attempt("old", lambda: open("old.txt", "w"))
        attempt("gone", lambda: os.unlink("old.txt"))
        assert open("old.txt").read() == "old"
        """,
        door=server.door(),
    )
    assert set(found.values()) == {"EROFS"}
    assert [path.name for path in confined.data.iterdir()] == ["old.txt"]


def test_whoever_was_not_granted_is_not_reached(confined: Project, server: Witness) -> None:
    with witness("127.0.0.1") as inside:
        found = attack(
            confined,
            """
            granted, inside = sys.argv[1], sys.argv[2]
            for host in ("other.test", "sub.site.test", "site.test.other.test", "127.0.0.2"):
                attempt("http " + host, lambda: fetch(f"http://{host}:{granted}/"))
                attempt("tunnel " + host, lambda: tunnel(f"{host}:{granted}"))
            for host in ("127.0.0.1", "localhost", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0.0.0.0",
                         "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::]", "169.254.169.254"):
                attempt("http " + host, lambda: fetch(f"http://{host}:{inside}/"))
                attempt("tunnel " + host, lambda: tunnel(f"{host}:{inside}"))
            for port in ("22", "0", "65536", inside):
                attempt("port " + port, lambda: tunnel("site.test:" + port))
            attempt("usual port", lambda: fetch("http://site.test/"))
            """,
            server.port,
            inside.port,
            door=server.door(),
        )
    refused(found)
    assert (server.connections, inside.connections) == (0, 0)


def test_a_granted_name_that_leads_inside_is_not_followed(confined: Project) -> None:
    with witness("127.0.0.1") as inside:
        names = {
            "private.test": [["127.0.0.1"]],
            "both.test": [["127.0.0.2", "127.0.0.1"]],
            "metadata.test": [["169.254.169.254"]],
            "mapped.test": [["::ffff:127.0.0.1"]],
            "none.test": [[]],
        }
        found = attack(
            confined,
            """
            for host in sys.argv[2:]:
                attempt("http " + host, lambda: fetch(f"http://{host}:{sys.argv[1]}/"))
                attempt("tunnel " + host, lambda: tunnel(f"{host}:{sys.argv[1]}"))
            """,
            inside.port,
            *names,
            door=inside.door(*(f"{name}:{inside.port}" for name in names), names=names),
        )
    refused(found)
    assert inside.connections == 0


def test_a_name_that_changes_its_mind_is_judged_anew_and_never_inside_a_connection(confined: Project) -> None:
    with witness() as outside:
        names = {"turncoat.test": [["127.0.0.2"], ["127.0.0.1"]]}
        host = f"turncoat.test:{outside.port}"
        answer = confined.python(
            ASKING
            + textwrap.dedent("""
            print(fetch(f"http://{sys.argv[1]}/first"))
            for _ in range(3):
                try:
                    print(fetch(f"http://{sys.argv[1]}/again"))
                except urllib.error.HTTPError as error:
                    print(error.code, error.read().decode().strip())
            """),
            host,
            door=outside.door(host, names=names),
        )
    assert [path for _, path in outside.asked] == ["/first"]
    assert answer["stdout"].count("403 turncoat.test has no address, or one that is not public") == 3, answer
    assert [(one["asked"], one["count"]) for one in answer["refused"]] == [(host, 3)]


def test_nothing_but_the_door_can_be_reached_past_it(confined: Project) -> None:
    abstract = f"brasstag-door-{confined.path.parent.name}-{confined.path.name}"
    outside, inside = str(confined.path / "s"), str(confined.data / "s")
    with (
        witness("127.0.0.1") as tcp,
        closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as udp,
        closing(socket.socket(socket.AF_UNIX)) as named,
        closing(socket.socket(socket.AF_UNIX)) as nameless,
        closing(socket.socket(socket.AF_UNIX)) as within,
    ):
        udp.bind(("127.0.0.1", tcp.port))
        for listener, path in ((named, outside), (within, inside), (nameless, f"\0{abstract}")):
            listener.bind(path)
            listener.listen()
            if not path.startswith("\0"):
                Path(path).chmod(0o777)
        confined.own()
        code = """
        def listen(kind, protocol=0):
            with socket.socket(socket.AF_INET6, kind, protocol):
                return kind
        attempt("udp of the newer kind", lambda: listen(socket.SOCK_DGRAM))
        attempt("raw", lambda: listen(socket.SOCK_RAW, 1))
        attempt("raw with flags", lambda: listen(socket.SOCK_RAW | socket.SOCK_CLOEXEC, 1))
        attempt("ping", lambda: stream(socket.AF_INET, socket.SOCK_DGRAM, 1))
        attempt("sctp", lambda: stream(socket.AF_INET, socket.SOCK_STREAM, 132))
        attempt("smc", lambda: stream(43, socket.SOCK_STREAM))
        attempt("to all", lambda: socket.create_connection(("0.0.0.0", port), 2))
        attempt("to the newer loopback", lambda: socket.create_connection(("::1", port), 2))
        attempt("to the world", lambda: socket.create_connection(("93.184.216.34", 80), 2))
        attempt("a name", lambda: socket.getaddrinfo("site.test", 80))
        attempt("another interface", lambda: 1 / (len(socket.if_nameindex()) - 1))
        """
        witnessed = confined.attack(
            ATTACKS + textwrap.dedent(code), str(tcp.port), abstract, outside, "s", door=tcp.door("site.test")
        )
        for end in (named, nameless, udp):
            end.setblocking(False)
            with pytest.raises(BlockingIOError):
                end.recv(1) if end is udp else end.accept()
    assert tcp.connections == 0
    assert witnessed.pop("a pair").startswith("open")
    assert witnessed.pop("inet6").startswith("open"), "TCP is spoken in both families"
    refused(witnessed)
    assert {witnessed[name] for name in ("udp", "mptcp", "netlink", "packet", "vsock", "raw", "sctp")} == {
        "EACCES"
    }


def test_a_socket_of_the_host_that_lies_in_the_workspace_is_no_way_out(confined: Project) -> None:
    with (
        closing(socket.socket(socket.AF_UNIX)) as streams,
        closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as letters,
        witness() as server,
    ):
        streams.bind(str(confined.data / "streams"))
        streams.listen()
        letters.bind(str(confined.data / "letters"))
        for name in ("streams", "letters"):
            (confined.data / name).chmod(0o777)
        confined.own()
        found = attack(
            confined,
            """
            def pair(kind, place):
                one, other = socket.socketpair(socket.AF_UNIX, kind)
                with one, other:
                    one.connect(place)
            attempt("stream", lambda: socket.socket(socket.AF_UNIX).connect("streams"))
            attempt("letter", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"x", "letters"))
            attempt("pair of streams", lambda: pair(socket.SOCK_STREAM, "streams"))
            attempt("pair of packets", lambda: pair(socket.SOCK_SEQPACKET, "streams"))
            attempt("pair of letters", lambda: pair(socket.SOCK_DGRAM, "letters"))
            attempt("pair of raw ones", lambda: pair(socket.SOCK_RAW, "letters"))
            """,
            door=server.door(),
        )
        for end in (streams, letters):
            end.setblocking(False)
        with pytest.raises(BlockingIOError):
            streams.accept()
        with pytest.raises(BlockingIOError):
            letters.recv(1)
    refused(found)


def test_runs_at_the_same_time_have_networks_and_doors_of_their_own(
    confined: Project, server: Witness
) -> None:
    code = """
    base = f"http://site.test:{sys.argv[1]}/"
    if sys.argv[2] == "0":
        with socket.create_server(("127.0.0.1", 5555)) as listener:
            fetch(base + "say/listening")
            fetch(base + "hear/tried")
            listener.setblocking(False)
            attempt("found", listener.accept)
    else:
        fetch(base + "hear/listening")
        attempt("other", lambda: socket.create_connection(("127.0.0.1", 5555), 5))
        fetch(base + "say/tried")
    print(json.dumps(found))
    """
    results = confined.runner.ask(
        "parallel",
        project=str(confined.path),
        argv=["python", "-c", PRELUDE + ASKING + textwrap.dedent(code), str(server.port)],
        count=2,
        door=server.door(),
    )["results"]
    assert results == ['{"found": "EAGAIN"}\n', '{"other": "ECONNREFUSED"}\n']


def test_without_a_network_there_is_no_proxy_and_no_door(confined: Project) -> None:
    found = attack(
        confined,
        """
        attempt("told", lambda: {name: os.environ[name] for name in os.environ if "proxy" in name.lower()} or 1 / 0)
        attempt("door", lambda: knock("CONNECT site.test:443 HTTP/1.1\\r\\n\\r\\n"))
        """,
    )
    assert found == {"told": "ZeroDivisionError", "door": "EACCES"}


def test_a_run_never_both_changes_files_and_reaches_the_web() -> None:
    with pytest.raises(ValueError, match="either changes the workspace or reaches the web"):
        Job(("/bin/true",), network=True)


def test_a_network_without_a_door_is_refused_before_anything_starts() -> None:
    job: Any = Job(("/bin/true",), network=True, overlay=False)
    nothing: Any = None
    with pytest.raises(ValueError, match="a job has a door if it has a network"):
        run_job(job, nothing, nothing)
