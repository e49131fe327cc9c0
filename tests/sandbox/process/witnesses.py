"""Servers on this machine that can witness whether somebody came: each keeps what was said to it."""

import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.sandbox.process.guarded import OUTSIDE

JEWELS = b"the crown jewels"
MOST_SECONDS = 60


@dataclass
class Witness:
    """Who came, and what they asked for."""

    port: int = 0
    connections: int = 0
    asked: list[tuple[str, str]] = field(default_factory=list)
    """The Host header and the target of each request."""
    said: dict[str, threading.Event] = field(default_factory=dict)

    def event(self, name: str) -> threading.Event:
        return self.said.setdefault(name, threading.Event())

    @property
    def hosts(self) -> list[str]:
        return [f"site.test:{self.port}"]

    def door(self, *hosts: str, **more: Any) -> dict[str, Any]:
        return {"hosts": [*(hosts or self.hosts)], "ports": [self.port], **more}


@contextmanager
def witness(address: str = OUTSIDE, certificate: tuple[Path, Path] | None = None) -> Iterator[Witness]:
    """Answer everybody; /say/NAME and /hear/NAME let programs wait for each other."""
    seen = Witness()

    class Handler(BaseHTTPRequestHandler):
        timeout = MOST_SECONDS

        def setup(self) -> None:
            seen.connections += 1
            super().setup()

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            seen.asked.append((self.headers["Host"], self.path))
            what, _, name = self.path.strip("/").partition("/")
            if what == "say":
                seen.event(name).set()
            if what == "hear":
                seen.event(name).wait(MOST_SECONDS)
            self.send_response(200)
            self.send_header("Content-Length", str(len(JEWELS)))
            self.end_headers()
            self.wfile.write(JEWELS)

        do_POST = do_GET  # noqa: N815 - the name the library looks for

        def log_message(self, *_: Any) -> None:
            """Nobody reads it."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

        def handle_error(self, *_: Any) -> None:
            """Somebody went away in the middle."""

    server = Server((address, 0), Handler)
    if certificate:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate[1], certificate[0])
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    seen.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass
class Sink:
    """A server that only listens; counts what it got, who came, and who is there."""

    port: int
    received: int = 0
    present: int = 0
    came: int = 0


@contextmanager
def sink(floods: bool = False) -> Iterator[Sink]:
    """Take all that is sent, or send without end."""
    lock = threading.Lock()
    ends: list[socket.socket] = []
    with closing(socket.create_server((OUTSIDE, 0), backlog=512)) as listener:
        seen = Sink(listener.getsockname()[1])

        def attend(end: socket.socket) -> None:
            with lock:
                seen.came += 1
                seen.present += 1
            with suppress(OSError):
                while floods:
                    end.sendall(bytes(65536))
                while data := end.recv(65536):
                    with lock:
                        seen.received += len(data)
            with lock:
                seen.present -= 1
            end.close()

        def accept() -> None:
            with suppress(OSError):
                while True:
                    end = listener.accept()[0]
                    ends.append(end)
                    threading.Thread(target=attend, args=(end,), daemon=True).start()

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield seen
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
            for end in ends:
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)


def make_certificate(place: Path, name: str) -> tuple[Path, Path]:
    """A key and a certificate for a name."""
    key, cert = place / "key.pem", place / "cert.pem"
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    what = ["-subj", "/CN=x", "-addext", f"subjectAltName=DNS:{name}"]
    command = ["openssl", "req", "-x509", *curve, "-keyout", str(key), "-out", str(cert), *what]
    subprocess.run(command, check=True, capture_output=True)
    return key, cert
