"""The door, asked by whoever can speak to it directly: what it lets through, what it writes anew, what it turns away."""

import asyncio
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from brasstag.sandbox.network.door import door as doors
from brasstag.sandbox.network.door import relay
from brasstag.sandbox.network.door.door import GuardedDoor
from brasstag.sandbox.network.guard import WebGuard
from brasstag.words.errors import Code, ToolError
from tests.sandbox.process.guarded import door_for
from tests.sandbox.process.support import until
from tests.sandbox.process.witnesses import JEWELS, Witness, sink, witness


class Visitor:
    """Speaks to a door as a confined program can."""

    def __init__(self, door: GuardedDoor, port: int) -> None:
        self.door = door
        self.port = port

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), 20)

    def say(self, *pieces: str) -> str:
        """Say something, and return all that comes back until the door closes."""
        with self.connect() as end:
            for piece in pieces:
                end.sendall(piece.encode("latin-1"))
            answer = b""
            try:
                while data := end.recv(65536):
                    answer += data
            except ConnectionResetError:
                pass
            return answer.decode("latin-1")

    @property
    def refusals(self) -> list[str]:
        return [one["why"] for one in self.door.passages.as_json()["refused"]]


@contextmanager
def visiting(asked: dict[str, Any]) -> Iterator[Visitor]:
    door = door_for(asked)
    with closing(socket.create_server(("127.0.0.1", 0), backlog=128)) as listener, door.serve(listener):
        yield Visitor(door, listener.getsockname()[1])


@pytest.fixture
def server() -> Iterator[Witness]:
    with witness() as seen:
        yield seen


@pytest.fixture
def visitor(server: Witness) -> Iterator[Visitor]:
    with visiting(server.door()) as found:
        yield found


def test_plain_http_is_written_anew_for_the_one_server_and_ends_after_one_answer() -> None:
    with closing(socket.create_server(("127.0.0.2", 0))) as listener:
        port = listener.getsockname()[1]
        with visiting({"hosts": [f"site.test:{port}"], "ports": [port]}) as other:
            heard: list[bytes] = []

            def answer() -> None:
                with listener.accept()[0] as end:
                    heard.append(end.recv(65536))
                    end.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

            thread = threading.Thread(target=answer)
            thread.start()
            said = other.say(
                f"GET http://SITE.test.:{port}/a/../b?c#d HTTP/1.1\r\nHost: site.test:{port}\r\nX-Mine: 1\r\n"
                "Proxy-Authorization: Basic secret\r\nProxy-Connection: keep-alive\r\nConnection: keep-alive\r\n"
                "Keep-Alive: 5\r\nUpgrade: websocket\r\n\r\n"
            )
            thread.join()
    assert said == "HTTP/1.1 204 No Content\r\n\r\n"
    written = f"GET /b?c HTTP/1.1\r\nHost: site.test:{port}\r\nX-Mine: 1\r\nConnection: close\r\n\r\n"
    assert heard == [written.encode()]


def test_a_body_goes_through_to_its_last_byte_and_no_further(visitor: Visitor, server: Witness) -> None:
    place = f"site.test:{server.port}"
    answer = visitor.say(
        f"POST http://{place}/one HTTP/1.1\r\nHost: {place}\r\nContent-Length: 4\r\n\r\n",
        "body",
        f"GET http://{place}/two HTTP/1.1\r\nHost: {place}\r\n\r\n",
        "GET /three HTTP/1.1\r\nHost: fronted.test\r\n\r\n",
    )
    assert answer.count(JEWELS.decode()) == 1
    assert server.asked == [(place, "/one")]


SMUGGLING = {
    "Host of another": "GET http://{place}/ HTTP/1.1\r\nHost: fronted.test\r\n\r\n",
    "Host with another port": "GET http://{place}/ HTTP/1.1\r\nHost: site.test:1\r\n\r\n",
    "two Hosts": "GET http://{place}/ HTTP/1.1\r\nHost: {place}\r\nHost: fronted.test\r\n\r\n",
    "two Hosts, the same": "GET http://{place}/ HTTP/1.1\r\nHost: {place}\r\nHOST: {place}\r\n\r\n",
    "Host with a path": "GET http://{place}/ HTTP/1.1\r\nHost: {place}/x\r\n\r\n",
    "Host with a name before it": "GET http://{place}/ HTTP/1.1\r\nHost: fronted.test@{place}\r\n\r\n",
    "Host and a space": "GET http://{place}/ HTTP/1.1\r\nHost : fronted.test\r\n\r\n",
    "Host folded": "GET http://{place}/ HTTP/1.1\r\nX: 1\r\n Host: fronted.test\r\n\r\n",
    "a bare line feed": "GET http://{place}/ HTTP/1.1\r\nX: 1\nHost: fronted.test\r\n\r\n",
    "a bare carriage return": "GET http://{place}/ HTTP/1.1\r\nX: 1\rHost: fronted.test\r\n\r\n",
    "a NUL": "GET http://{place}/ HTTP/1.1\r\nX: 1\0\r\n\r\n",
    "no name of a header": "GET http://{place}/ HTTP/1.1\r\n: fronted.test\r\n\r\n",
    "chunks": "POST http://{place}/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks and a length": (
        "POST http://{place}/ HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    ),
    "strange chunks": "POST http://{place}/ HTTP/1.1\r\ntransfer-ENCODING:\tx\r\n\r\n",
    "two lengths": "POST http://{place}/ HTTP/1.1\r\nContent-Length: 0\r\nContent-Length: 50\r\n\r\n",
    "a list of lengths": "POST http://{place}/ HTTP/1.1\r\nContent-Length: 0, 50\r\n\r\n",
    "a signed length": "POST http://{place}/ HTTP/1.1\r\nContent-Length: +5\r\n\r\nhello",
    "a tunnel to somebody behind": "CONNECT {place}@127.0.0.1:{inside} HTTP/1.1\r\n\r\n",
    "a tunnel with a name before": "CONNECT 127.0.0.1:{inside}@{place} HTTP/1.1\r\n\r\n",
    "a tunnel with a fragment": "CONNECT 127.0.0.1:{inside}#{place} HTTP/1.1\r\n\r\n",
    "a tunnel with a path": "CONNECT {place}/ HTTP/1.1\r\n\r\n",
    "a tunnel with a scheme": "CONNECT https://{place} HTTP/1.1\r\n\r\n",
    "a tunnel without a port": "CONNECT site.test HTTP/1.1\r\n\r\n",
    "a tunnel to two": "CONNECT {place} 127.0.0.1:{inside} HTTP/1.1\r\n\r\n",
    "a tunnel in small letters": "connect {place} HTTP/1.1\r\n\r\n",
    "a backslash": "GET http://{place}\\@127.0.0.1:{inside}/ HTTP/1.1\r\n\r\n",
    "a name and password": "GET http://site.test:x@127.0.0.1:{inside}/ HTTP/1.1\r\n\r\n",
    "a target of an origin": "GET / HTTP/1.1\r\nHost: {place}\r\n\r\n",
    "a target that is everything": "OPTIONS * HTTP/1.1\r\nHost: {place}\r\n\r\n",
    "https without a tunnel": "GET https://{place}/ HTTP/1.1\r\n\r\n",
    "ftp": "GET ftp://{place}/ HTTP/1.1\r\n\r\n",
    "a tab": "GET\thttp://{place}/ HTTP/1.1\r\n\r\n",
    "HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "HTTP/0.9": "GET http://{place}/\r\n\r\n",
    "TLS": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    "an empty line first": "\r\n\r\nGET http://{place}/ HTTP/1.1\r\n\r\n",
}


@pytest.mark.parametrize("name", SMUGGLING)
def test_what_two_could_read_differently_reaches_nobody(visitor: Visitor, server: Witness, name: str) -> None:
    with witness("127.0.0.1") as inside:
        said = SMUGGLING[name].format(place=f"site.test:{server.port}", inside=inside.port)
        answer = visitor.say(said)
        assert answer.startswith(("HTTP/1.1 400 ", "HTTP/1.1 403 ", "HTTP/1.1 411 ")), answer
        assert (server.connections, inside.connections) == (0, 0)
    assert len(visitor.refusals) == 1
    assert visitor.door.passages.as_json()["reached"] == []


def test_a_refusal_is_a_sentence_that_says_what_next(visitor: Visitor) -> None:
    answer = visitor.say("CONNECT other.test:443 HTTP/1.1\r\n\r\n")
    first, _, body = answer.partition("\r\n")
    assert first == "HTTP/1.1 403 Forbidden: other.test:443 was not granted to this run; name it in `network`"
    assert body.endswith("\r\n\r\nother.test:443 was not granted to this run; name it in `network`\n")


def test_a_refusal_is_heard_by_whoever_is_still_sending(visitor: Visitor) -> None:
    answer = visitor.say(
        "POST http://other.test/ HTTP/1.1\r\nContent-Length: 400000\r\n\r\n", *["x" * 100_000] * 4
    )
    assert answer.startswith("HTTP/1.1 403 ")


def test_a_host_stands_for_the_usual_ports_and_for_no_other() -> None:
    names = {"site.test": [["127.0.0.3"]]}
    with visiting({"hosts": ["site.test"], "ports": [8443], "names": names}) as visitor:
        for port in (80, 443, 8443, 22):
            visitor.say(f"CONNECT site.test:{port} HTTP/1.1\r\n\r\n")
        refused = visitor.door.passages.as_json()["refused"]
    private, others = refused[:2], refused[2:]
    assert [one["asked"] for one in private] == ["site.test:80", "site.test:443"]
    assert all("has no address, or one that is not public" in one["why"] for one in private)
    assert [one["asked"] for one in others] == ["site.test:8443", "site.test:22"]
    assert all("was not granted to this run" in one["why"] for one in others)


def test_a_port_nobody_may_go_to_is_refused_before_the_run() -> None:
    with pytest.raises(ToolError, match="port 22 is not one that may be fetched from") as refused:
        door_for({"hosts": ["site.test:22"]})
    assert refused.value.code is Code.ADDRESS_REFUSED


@pytest.mark.parametrize(
    "host", ["*.test", "site.test/x", "http://site.test", "a b", "", "site.test#", "x@y", "?"]
)
def test_what_is_not_a_host_is_refused_before_the_run(host: str) -> None:
    with pytest.raises(ToolError) as refused:
        door_for({"hosts": [host]})
    assert refused.value.code is Code.INVALID_ARGUMENTS


def test_a_server_that_does_not_answer_is_told_from_one_that_may_not_be_reached() -> None:
    with closing(socket.create_server(("127.0.0.2", 0))) as listener:
        port = listener.getsockname()[1]
    with visiting({"hosts": [f"gone.test:{port}"], "ports": [port]}) as other:
        assert other.say(f"CONNECT gone.test:{port} HTTP/1.1\r\n\r\n").startswith("HTTP/1.1 502 ")
    assert other.door.passages.as_json()["reached"] == []


def test_a_head_without_end_is_cut_off(visitor: Visitor) -> None:
    answer = visitor.say("GET http://site.test/ HTTP/1.1\r\n", *["X: " + "x" * 10_000 + "\r\n"] * 20)
    assert answer.startswith("HTTP/1.1 431 ")


def test_a_slow_head_is_not_waited_for(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "HEAD_SECONDS", 0.2)
    assert visitor.say("GET http://site").startswith("HTTP/1.1 408 ")


def test_silence_ends_a_tunnel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "IDLE_SECONDS", 0.3)
    with (
        sink() as server,
        visiting({"hosts": [f"site.test:{server.port}"], "ports": [server.port]}) as visitor,
    ):
        answer = visitor.say(f"CONNECT site.test:{server.port} HTTP/1.1\r\n\r\n", "and then nothing")
        assert answer == "HTTP/1.1 200 Connection established\r\n\r\n"
        until(lambda: server.present == 0)
    assert server.received == len("and then nothing")


def test_a_door_is_shut_after_so_many_visits(server: Witness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "MOST_VISITS", 3)
    with visiting(server.door()) as other:
        for _ in range(3):
            assert "403" in other.say("CONNECT other.test:1 HTTP/1.1\r\n\r\n")
        until(lambda: _is_shut(other))
        assert other.door.passages.as_json()["refused"][0]["count"] == 3


def _is_shut(visitor: Visitor) -> bool:
    try:
        visitor.connect().close()
    except ConnectionRefusedError:
        return True
    return False


def test_refusals_without_end_are_counted_and_not_kept(visitor: Visitor) -> None:
    for index in range(70):
        visitor.say(f"CONNECT h{index}.test:443 HTTP/1.1\r\n\r\n")
    refused = visitor.door.passages.as_json()["refused"]
    assert len(refused) == 51
    assert refused[-1] == {"asked": "", "why": "and others", "count": 20}


def test_a_body_that_breaks_off_is_not_taken_for_whole() -> None:
    with (
        sink() as server,
        visiting({"hosts": [f"site.test:{server.port}"], "ports": [server.port]}) as visitor,
    ):
        with visitor.connect() as end:
            end.sendall(
                f"POST http://site.test:{server.port}/ HTTP/1.1\r\nContent-Length: 99\r\n\r\nhalf".encode()
            )
            until(lambda: server.present == 1)
        until(lambda: server.present == 0)


def test_a_lookup_that_hangs_does_not_hold_up_the_end(server: Witness) -> None:
    asked = threading.Event()
    over = threading.Event()

    class Slow:
        async def resolve(self, host: str, port: int) -> list[Any]:
            asked.set()
            await asyncio.get_running_loop().run_in_executor(None, over.wait, 60)
            return []

    door = GuardedDoor(WebGuard(Slow(), ports=[server.port]), server.hosts)
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        try:
            with door.serve(listener), socket.create_connection(listener.getsockname(), 20) as end:
                end.sendall(f"CONNECT {server.hosts[0]} HTTP/1.1\r\n\r\n".encode())
                assert asked.wait(120)
            assert not over.is_set()
        finally:
            over.set()
    until(lambda: not [one for one in threading.enumerate() if one.name.startswith("asyncio")])


def test_nothing_of_a_door_is_left_after_it(server: Witness) -> None:
    def census() -> tuple[int, list[str]]:
        return len(os.listdir("/proc/self/fd")), sorted(one.name for one in threading.enumerate())

    before = census()
    with sink() as other:
        hosts = [f"site.test:{other.port}", *server.hosts]
        with visiting({"hosts": hosts, "ports": [other.port, server.port]}) as visitor:
            ends = [visitor.connect() for _ in range(20)]
            for end in ends[:10]:
                end.sendall(f"CONNECT site.test:{other.port} HTTP/1.1\r\n\r\nhello".encode())
            until(lambda: other.received == 50)
        for end in ends:
            end.close()
        until(lambda: other.present == 0)
    until(lambda: census() == before)


def test_a_slow_reader_gets_the_whole_of_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "LINGER_SECONDS", 0.0)
    body = os.urandom(20_000_000)
    with closing(socket.create_server(("127.0.0.2", 0))) as listener:
        port = listener.getsockname()[1]

        def answer() -> None:
            with listener.accept()[0] as end:
                end.recv(65536)
                end.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + body)

        thread = threading.Thread(target=answer)
        thread.start()
        with visiting({"hosts": [f"site.test:{port}"], "ports": [port]}) as visitor, visitor.connect() as end:
            end.sendall(f"GET http://site.test:{port}/ HTTP/1.0\r\n\r\n".encode())
            got = bytearray()
            while data := end.recv(65536):
                got += data
            thread.join()
    assert got.partition(b"\r\n\r\n")[2] == body


def test_an_answer_that_breaks_off_is_not_taken_for_whole() -> None:
    with closing(socket.create_server(("127.0.0.2", 0))) as listener:
        port = listener.getsockname()[1]
        door = {"hosts": [f"site.test:{port}"], "ports": [port], "allowance": {"received_bytes": 1000}}

        def answer() -> None:
            with listener.accept()[0] as end:
                end.recv(65536)
                end.sendall(b"HTTP/1.0 200 OK\r\n\r\n")
                seen.wait(120)
                end.sendall(bytes(2000))

        seen = threading.Event()
        thread = threading.Thread(target=answer)
        thread.start()
        with visiting(door) as visitor, visitor.connect() as end:
            end.sendall(f"GET http://site.test:{port}/ HTTP/1.0\r\n\r\n".encode())
            assert end.recv(65536) == b"HTTP/1.0 200 OK\r\n\r\n"
            seen.set()
            with pytest.raises(ConnectionResetError):
                end.recv(65536)
        thread.join()
    assert "may receive 1000 bytes" in visitor.refusals[0]


async def test_a_connection_is_let_go_of_whose_last_bytes_go_after_it_was_closed() -> None:
    here, there = socket.socketpair()
    ends = relay.Ends(*await asyncio.open_connection(sock=here))
    ends.writer.write(bytes(5_000_000))

    def read_all() -> int:
        with there:
            return sum(iter(lambda: len(there.recv(65536)), 0))

    reading = asyncio.create_task(asyncio.to_thread(read_all))
    await relay.let_go(ends, 60)
    assert await reading == 5_000_000
