import os
import socket
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.sandbox.process.support import Project

ATTACKS = """
port, abstract, pathname, inside = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
def stream(family, kind, protocol=0):
    with socket.socket(family, kind, protocol) as end:
        end.settimeout(2)
        return end
def connect(protocol=0):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol) as end:
        end.settimeout(2)
        end.connect(("127.0.0.1", port))
        end.sendall(b"reached")
def fast_open():
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as end:
        end.sendto(b"reached", 0x20000000, ("127.0.0.1", port))
def datagram():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.sendto(b"reached", ("127.0.0.1", port))
def unix(address):
    with socket.socket(socket.AF_UNIX) as end:
        end.connect(address)
        end.sendall(b"reached")
def ring():
    parameters = ctypes.create_string_buffer(120)
    return syscall(425, 8, parameters)
attempt("tcp", connect)
attempt("tcp to another", lambda: socket.create_connection(("192.0.2.1", 80), 2))
attempt("udp", datagram)
attempt("mptcp", lambda: connect(262))
attempt("fast open", fast_open)
attempt("abstract unix", lambda: unix("\\0" + abstract))
attempt("pathname unix", lambda: unix(pathname))
attempt("unix in the workspace", lambda: unix(inside))
attempt("vsock", lambda: stream(40, socket.SOCK_STREAM))
attempt("packet", lambda: stream(17, socket.SOCK_RAW))
attempt("netlink", lambda: stream(16, socket.SOCK_RAW))
attempt("inet6", lambda: stream(socket.AF_INET6, socket.SOCK_STREAM))
attempt("alg", lambda: stream(38, socket.SOCK_SEQPACKET))
attempt("io_uring", ring)
attempt("a pair", lambda: [end.close() for end in socket.socketpair()])
"""


def test_no_socket_reaches_anything_outside(confined: Project) -> None:
    abstract = f"brasstag-test-{confined.path.parent.name}-{confined.path.name}"
    outside = str(confined.path / "s")
    inside = str(confined.data / "s")
    with (
        closing(socket.create_server(("127.0.0.1", 0))) as tcp,
        closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as udp,
        closing(socket.socket(socket.AF_UNIX)) as named,
        closing(socket.socket(socket.AF_UNIX)) as nameless,
        closing(socket.socket(socket.AF_UNIX)) as within,
    ):
        port = tcp.getsockname()[1]
        udp.bind(("127.0.0.1", port))
        nameless.bind(f"\0{abstract}")
        for listener, path in ((named, outside), (within, inside)):
            listener.bind(path)
            Path(path).chmod(0o777)
        listeners = (tcp, named, nameless, within)
        for listener in (named, nameless, within):
            listener.listen()
        confined.own()

        found = confined.attack(ATTACKS, str(port), abstract, outside, "s")

        for end in (*listeners, udp):
            end.setblocking(False)
            with pytest.raises(BlockingIOError):
                end.recv(1) if end is udp else end.accept()

    assert found.pop("a pair").startswith("open"), found
    assert not [name for name, what in found.items() if what.startswith("open")], found
    assert found["io_uring"] == "EPERM"


@pytest.mark.parametrize("foreign", [False, True])
def test_no_socket_or_pipe_of_the_host_is_reached_in_what_is_shown(confined: Project, foreign: bool) -> None:
    confined.write(".git/HEAD", "x")
    confined.runner.ask("environment", place=str(confined.data / ".venv"))
    places = (".git", ".venv", ".venv/bin")
    with ExitStack() as held:
        listeners, pipes = [], []
        for place in places:
            end = held.enter_context(closing(socket.socket(socket.AF_UNIX)))
            end.bind(str(confined.data / place / "s"))
            end.listen()
            listeners.append(end)
            os.mkfifo(confined.data / place / "p")
            pipes.append(os.open(confined.data / place / "p", os.O_RDONLY | os.O_NONBLOCK))
            held.callback(os.close, pipes[-1])
            for name in ("s", "p"):
                (confined.data / place / name).chmod(0o777)
        confined.own()
        if foreign and os.geteuid() == 0:
            os.chown(confined.write("foreign.txt", "x"), 1234, 1234)
        found = confined.attack(
            """
            def connect(path):
                with socket.socket(socket.AF_UNIX) as end:
                    end.connect(path)
            for place in sys.argv[1:]:
                attempt(f"{place}/s", lambda: connect(f"{place}/s"))
                attempt(f"{place}/p", lambda: os.write(os.open(f"{place}/p", os.O_WRONLY | os.O_NONBLOCK), b"x"))
            """,
            *places,
            str(confined.data / ".venv/bin"),
        )
        assert not [name for name, what in found.items() if what.startswith("open")], found
        for end in listeners:
            end.setblocking(False)
            with pytest.raises(BlockingIOError):
                end.accept()
        assert [os.read(pipe, 1) for pipe in pipes] == [b""] * len(places)
