"""The guard against real servers: what it sends, follows, keeps, and when it gives up."""

import asyncio
import gzip
import os
import ssl
import subprocess
import tracemalloc
import zlib
from pathlib import Path

import pytest

from brasstag.sandbox.network.guard import MOST_REDIRECTS, FetchRequest, NoAnswer, WebGuard, _followed
from brasstag.sandbox.network.locations import read_location
from brasstag.sandbox.network.wire import RAW_SHARE
from brasstag.words.errors import Code, ToolError
from tests.sandbox.network.servers import Names, Writes, guard_for, redirecting, replying, serving

MEGABYTE = 1_000_000


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A key and a certificate for secure.test."""
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
    ]
    command += ["-keyout", str(key), "-out", str(cert), "-subj", "/CN=x"]
    command += ["-addext", "subjectAltName=DNS:secure.test"]
    subprocess.run(command, check=True, capture_output=True)
    return key, cert


async def test_an_answer_comes_back_whole() -> None:
    async with serving(replying(b"hello", X_One="1", Content_Type="text/plain")) as server:
        answer = await guard_for(server).fetch(FetchRequest(server.url("/a?b=c#d")))
    assert (answer.status, answer.body, answer.truncated) == (200, b"hello", None)
    assert answer.headers["x-one"] == "1"
    assert answer.url == server.url("/a?b=c")
    assert server.requests[0].startswith(f"GET /a?b=c HTTP/1.1\r\nHost: site.test:{server.port}\r\n".encode())


async def test_tls_and_host_keep_the_name_although_an_address_is_dialled(
    certificate: tuple[Path, Path],
) -> None:
    key, cert = certificate
    named: list[str | None] = []
    ours = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    ours.load_cert_chain(cert, key)
    ours.sni_callback = lambda _socket, name, _context: named.append(name)
    trusting = ssl.create_default_context(cafile=str(cert))
    async with serving(replying(), tls=ours) as server:
        guard = guard_for(server, tls=trusting)
        answer = await guard.fetch(FetchRequest(server.url("/", "secure.test", "https")))
        with pytest.raises(ToolError, match="certificate") as refused:
            await guard.fetch(FetchRequest(server.url("/", "other.test", "https")))
    assert answer.status == 200
    assert named == ["secure.test", "other.test"]
    assert b"Host: secure.test" in server.requests[0]
    assert refused.value.code is Code.FETCH_FAILED
    assert len(server.requests) == 1


async def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(replying()) as server, serving(replying(b"proxied")) as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url(host="127.0.0.2"))
        answer = await guard_for(server).fetch(FetchRequest(server.url()))
    assert answer.body == b"ok"
    assert proxy.connections == 0


async def test_redirects_are_followed_and_told() -> None:
    async with serving(redirecting({"/a": "/b", "/b": "c?d", "/c?d": None}.__getitem__)) as server:
        answer = await guard_for(server).fetch(FetchRequest(server.url("/a")))
    assert answer.url == server.url("/c?d")
    assert answer.redirects == (server.url("/a"), server.url("/b"))
    assert answer.body == b"ok"


async def test_a_circle_of_redirects_ends() -> None:
    async with serving(redirecting(lambda target: f"{target}x")) as server:
        with pytest.raises(ToolError, match="redirects more than") as refused:
            await guard_for(server).fetch(FetchRequest(server.url("/a")))
    assert refused.value.code is Code.FETCH_FAILED
    assert server.connections == MOST_REDIRECTS + 1


async def test_what_may_not_be_followed_is_told_and_not_dialled() -> None:
    async with (
        serving(replying()) as other,
        serving(redirecting(lambda _target: other.url("/secret", "other.test"))) as server,
    ):
        answer = await guard_for(server, other).fetch(FetchRequest(server.url()))
    assert answer.status == 302
    assert answer.location == other.url("/secret", "other.test")
    assert other.connections == 0


def test_a_step_down_from_https_is_not_followed() -> None:
    here = read_location("https://site.test/")
    assert _followed(here, "http://site.test/", lambda _here, _there: True) is None
    assert _followed(here, "https://site.test/x", lambda _here, _there: True) is not None


async def test_headers_of_a_caller_stay_with_the_server_they_were_for() -> None:
    async with serving(redirecting(lambda target: "/end" if target == "/again" else None)) as other:
        steps = {"/": "/same", "/same": other.url("/again", "other.test")}
        async with serving(redirecting(steps.__getitem__)) as server:
            request = FetchRequest(server.url(), headers={"Authorization": "Bearer secret", "X-Mine": "1"})
            answer = await guard_for(server, other).fetch(request, lambda _here, _there: True)
    assert answer.body == b"ok"
    assert all(b"Bearer secret" in request and b"X-Mine" in request for request in server.requests)
    assert len(server.requests) == 2
    assert len(other.requests) == 2
    assert not any(b"secret" in request or b"X-Mine" in request for request in other.requests)


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "inside"},
        {"host": "inside"},
        {"Content-Length": "5"},
        {"Connection": "upgrade"},
        {"Transfer-Encoding": "chunked"},
        {"Proxy-Authorization": "x"},
        {"X-Forwarded-For": "127.0.0.1"},
        {"Accept-Encoding": "br"},
        {"Upgrade": "h2c"},
        {"X": "a\r\nHost: inside"},
        {"X": "a\nb"},
        {"X\r\nY": "a"},
        {"X: Y": "a"},
        {"": "a"},
        {"X": "a\0"},
        {"X": "€"},
        {"X": "a", "x": "b"},
        {"X": "a" * 40_000},
    ],
)
async def test_headers_that_are_not_a_callers_to_set_are_refused(headers: dict[str, str]) -> None:
    async with serving(replying()) as server:
        with pytest.raises(ToolError) as refused:
            await guard_for(server).fetch(FetchRequest(server.url(), headers=headers))
    assert refused.value.code is Code.INVALID_ARGUMENTS
    assert server.connections == 0


async def test_post_sends_its_body_and_its_redirects_are_left_to_the_caller() -> None:
    async with serving(redirecting(lambda _target: "/next", "307 Temporary Redirect")) as server:
        request = FetchRequest(
            server.url(), method="POST", body='{"ä": 1}', headers={"Content-Type": "application/json"}
        )
        answer = await guard_for(server).fetch(request, lambda _here, _there: True)
    assert answer.location == server.url("/next")
    assert server.connections == 1
    assert server.requests[0].startswith(b"POST / HTTP/1.1\r\n")
    assert server.requests[0].endswith('\r\n\r\n{"ä": 1}'.encode())


async def test_a_post_without_an_answer_is_unheard_and_one_that_was_never_sent_failed() -> None:
    async def hang_up(writer: asyncio.StreamWriter, _target: str) -> None:
        writer.close()

    async with serving(hang_up) as server:
        with pytest.raises(NoAnswer, match="was sent"):
            await guard_for(server).fetch(FetchRequest(server.url(), method="POST", body="x"))
        with pytest.raises(ToolError) as failed:
            await guard_for(server).fetch(FetchRequest(server.url()))
    assert failed.value.code is Code.FETCH_FAILED
    with pytest.raises(ToolError) as refused:
        await guard_for(server).fetch(FetchRequest(server.url(), method="POST", body="x"))
    assert refused.value.code is Code.FETCH_FAILED


async def test_the_next_address_is_tried_when_one_does_not_answer() -> None:
    class Two(Names):
        async def resolve(self, host: str, port: int):  # type: ignore[no-untyped-def]
            return [*await super().resolve("dead", port), *await super().resolve(host, port)]

    async with serving(replying()) as server:
        names = Two(dead="127.0.0.3")
        guard = WebGuard(names, ports=[server.port], public=lambda _address: True)
        assert (await guard.fetch(FetchRequest(server.url()))).body == b"ok"


async def test_a_body_is_kept_up_to_the_limit_and_no_further() -> None:
    async with serving(replying(b"x" * 3000)) as server:
        whole = await guard_for(server).fetch(FetchRequest(server.url(), most_bytes=3000))
        part = await guard_for(server).fetch(FetchRequest(server.url(), most_bytes=2999))
    assert (len(whole.body), whole.truncated) == (3000, None)
    assert (len(part.body), part.truncated) == (2999, "size")


async def test_an_endless_body_is_cut_off() -> None:
    async def pour(writer: asyncio.StreamWriter, _target: str) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        while True:
            writer.write(b"x" * 65_536)
            await writer.drain()

    async with serving(pour) as server:
        answer = await guard_for(server).fetch(FetchRequest(server.url(), most_bytes=MEGABYTE))
    assert (len(answer.body), answer.truncated) == (MEGABYTE, "size")


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
async def test_a_bomb_is_stopped_before_it_goes_off(coding: str) -> None:
    """A gigabyte of zeros is a megabyte on the wire; memory stays near the limit."""
    ten = bytes(10 * MEGABYTE)
    bomb = gzip.compress(ten) * 100 if coding == "gzip" else zlib.compress(ten * 10)
    async with serving(replying(bomb, Content_Encoding=coding)) as server:
        guard = guard_for(server)
        await guard.fetch(FetchRequest(server.url(), most_bytes=1))  # so that imports do not count
        tracemalloc.start()
        answer = await guard.fetch(FetchRequest(server.url(), most_bytes=5 * MEGABYTE))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert (len(answer.body), answer.truncated) == (5 * MEGABYTE, "size")
    assert peak < 30 * MEGABYTE


async def test_compressed_bodies_are_opened() -> None:
    text = os.urandom(5000).hex().encode()
    bare = zlib.compressobj(wbits=-15)
    packed = {
        "gzip": [gzip.compress(text), gzip.compress(text[:100]) + gzip.compress(text[100:])],
        "x-gzip": [gzip.compress(text)],
        "deflate": [zlib.compress(text), bare.compress(text) + bare.flush()],
        "identity": [text],
    }
    for coding, bodies in packed.items():
        for body in bodies:
            async with serving(replying(body, Content_Encoding=coding)) as server:
                answer = await guard_for(server).fetch(FetchRequest(server.url()))
            assert (answer.body, answer.truncated, answer.coding) == (text, None, "")


async def test_compression_that_was_not_asked_for_is_told_and_left_alone() -> None:
    for coding in ("br", "gzip, gzip", "zstd"):
        async with serving(replying(b"packed", Content_Encoding=coding)) as server:
            answer = await guard_for(server).fetch(FetchRequest(server.url()))
        assert (answer.body, answer.coding) == (b"packed", coding)


async def test_a_broken_body_is_given_as_far_as_it_came() -> None:
    broken = gzip.compress(b"whole " * 1000)[:-20] + b"garbage garbage garbage"
    async with serving(replying(broken, Content_Encoding="gzip")) as server:
        answer = await guard_for(server).fetch(FetchRequest(server.url()))
    assert answer.truncated == "connection"

    async def promise(writer: asyncio.StreamWriter, _target: str) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this")
        await writer.drain()

    async with serving(promise) as server:
        answer = await guard_for(server).fetch(FetchRequest(server.url()))
    assert (answer.body, answer.truncated) == (b"only this", "connection")


async def _drip(writer: asyncio.StreamWriter, head: bytes, drop: bytes) -> None:
    writer.write(head)
    while True:
        writer.write(drop)
        await writer.drain()
        await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("head", "drop"),
    [
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", b"a"),
        (b"HTTP/1.1 200 OK\r\nX: ", b"x"),
        (b"", b"H"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n", gzip.compress(b"")),
    ],
    ids=["body", "chunks", "chunk-extension", "header", "status", "informational", "empty-members"],
)
async def test_a_slow_drip_does_not_outlast_the_deadline(head: bytes, drop: bytes) -> None:
    async with serving(lambda writer, _target: _drip(writer, head, drop)) as server:
        # On a busy machine the first of these may pass before there is a connection.
        for seconds in (0.4, 4.0, 40.0):
            with pytest.raises(ToolError) as late:
                await guard_for(server).fetch(FetchRequest(server.url(), seconds=seconds))
            if server.connections:
                break
    assert late.value.code in (Code.TIMEOUT, Code.FETCH_FAILED)
    assert server.connections == 1


async def test_a_server_that_says_nothing_and_a_name_that_never_resolves_end_at_the_deadline() -> None:
    async def wait(_writer: asyncio.StreamWriter, _target: str) -> None:
        await asyncio.Event().wait()

    class Silent(Names):
        async def resolve(self, host: str, port: int):  # type: ignore[no-untyped-def]
            await asyncio.Event().wait()

    async with serving(wait) as server:
        for guard in (guard_for(server), guard_for(server, names=Silent())):
            with pytest.raises(ToolError) as late:
                await guard.fetch(FetchRequest(server.url(), seconds=0.2))
            assert late.value.code is Code.TIMEOUT


@pytest.mark.parametrize("flood", [b"X: " + b"y" * 1000 + b"\r\n", b"y" * 1000], ids=["many", "one"])
async def test_endless_headers_are_refused(flood: bytes) -> None:
    async def pour(writer: asyncio.StreamWriter, _target: str) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nX: ")
        while True:
            writer.write(flood)
            await writer.drain()

    async with serving(pour) as server:
        with pytest.raises(ToolError) as refused:
            await guard_for(server).fetch(FetchRequest(server.url(), seconds=20))
    assert refused.value.code is Code.FETCH_FAILED


async def test_a_server_that_wants_another_protocol_gets_none() -> None:
    wanting = replying(b"SECRET", "101 Switching Protocols", Upgrade="x", Connection="upgrade")
    async with serving(wanting) as server:
        with pytest.raises(ToolError, match="not HTTP"):
            await guard_for(server).fetch(FetchRequest(server.url()))


@pytest.mark.parametrize(
    "noise", [b"SSH-2.0-OpenSSH_9.6\r\n", b"-ERR unknown\r\n", b"\x16\x03\x01" * 50, b"\r\n" * 99]
)
async def test_what_is_not_http_is_not_shown(noise: bytes) -> None:
    async def speak(writer: asyncio.StreamWriter, _target: str) -> None:
        writer.write(noise)
        await writer.drain()

    async with serving(speak) as server:
        with pytest.raises(ToolError) as refused:
            await guard_for(server).fetch(FetchRequest(server.url()))
    assert refused.value.code is Code.FETCH_FAILED
    assert "OpenSSH" not in refused.value.message


async def test_an_origin_an_operator_chose_may_lie_inside_and_nothing_else_there() -> None:
    async with (
        serving(replying(), host="127.0.0.1") as chosen,
        serving(replying(), host="127.0.0.1") as other,
    ):
        guard = WebGuard(origin=f"http://127.0.0.1:{chosen.port}/ignored")
        assert (await guard.fetch(FetchRequest(f"http://127.0.0.1:{chosen.port}/x"))).status == 200
        for url in (
            f"http://127.0.0.1:{other.port}/",
            f"https://127.0.0.1:{chosen.port}/",
            f"http://localhost:{chosen.port}/",
        ):
            with pytest.raises(ToolError) as refused:
                await guard.fetch(FetchRequest(url))
            assert refused.value.code is Code.ADDRESS_REFUSED
    assert (chosen.connections, other.connections) == (1, 0)


def sending(head: bytes, *pieces: bytes, times: int = 1) -> Writes:
    """Return what answers with raw bytes, the pieces so many times over, and closes."""

    async def write(writer: asyncio.StreamWriter, _target: str) -> None:
        writer.write(head)
        for _ in range(times):
            for piece in pieces:
                writer.write(piece)
                await writer.drain()

    return write


TEXT = b"".join(b"%d %d\n" % (number, number * number) for number in range(20_000))
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\n"
GZIP, DEFLATE, CHUNKED = (
    OK + line + b"\r\n\r\n"
    for line in (b"Content-Encoding: gzip", b"Content-Encoding: deflate", b"Transfer-Encoding: chunked")
)


@pytest.mark.parametrize(
    ("head", "whole"),
    [
        (GZIP, gzip.compress(TEXT)),
        (GZIP, gzip.compress(TEXT[:1000]) + gzip.compress(TEXT[1000:])),
        (DEFLATE, zlib.compress(TEXT)),
        (DEFLATE, zlib.compress(TEXT, wbits=-15)),
        (CHUNKED, b"%x\r\n%s\r\n0\r\n\r\n" % (len(TEXT), TEXT)),
    ],
)
async def test_a_body_that_ends_before_its_own_end_is_cut(head: bytes, whole: bytes) -> None:
    async with serving(sending(head, whole)) as server:
        answer = await guard_for(server).fetch(FetchRequest(server.url()))
    assert (answer.body, answer.truncated) == (TEXT, None)
    for cut in (whole[: len(whole) // 2], whole[:-1]):
        async with serving(sending(head, cut)) as server:
            answer = await guard_for(server).fetch(FetchRequest(server.url()))
        assert answer.truncated == "connection"
        assert TEXT.startswith(answer.body)


async def test_an_empty_body_that_is_called_compressed_is_whole() -> None:
    async with serving(replying(b"", Content_Encoding="gzip")) as server:
        answer = await guard_for(server).fetch(FetchRequest(server.url()))
    assert (answer.body, answer.truncated) == (b"", None)


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (DEFLATE, b"\x00\x00\x00\xff\xff" * 10_000),  # empty blocks
        (GZIP, gzip.compress(b"") * 3_000),
        (GZIP + b"\x1f\x8b\x08\x08\0\0\0\0\0\0", b"n" * 60_000),  # a name without end
        (CHUNKED, b"1;" + b"e" * 50_000 + b"\r\nx\r\n"),
        (CHUNKED, b"1\r\nx\r\n" * 10_000),
        (CHUNKED + b"0\r\n", b"T: x\r\n" * 10_000),
    ],
)
async def test_what_opens_to_next_to_nothing_is_not_taken_in_without_end(head: bytes, piece: bytes) -> None:
    sent = 0

    async def write(writer: asyncio.StreamWriter, _target: str) -> None:
        nonlocal sent
        writer.write(head)
        while True:
            writer.write(piece)
            await writer.drain()
            sent += len(piece)

    async with serving(write) as server:
        answer = await guard_for(server).fetch(FetchRequest(server.url(), most_bytes=MEGABYTE))
    assert answer.truncated in ("size", "connection")
    assert len(answer.body) < MEGABYTE
    assert sent < RAW_SHARE * MEGABYTE + 10 * MEGABYTE  # what waits in buffers of the system counts as sent


async def test_interim_answers_without_end_are_given_up_on() -> None:
    async with serving(sending(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000, times=10_000)) as server:
        with pytest.raises(ToolError, match="before its answer began") as refused:
            await guard_for(server).fetch(FetchRequest(server.url()))
    assert refused.value.code is Code.FETCH_FAILED
