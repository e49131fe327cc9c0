"""Where the control room listens: other machines need TLS and a name, and are told apart from this one."""

import ssl
import subprocess
from pathlib import Path

import httpx2
import pytest

from brasstag.app import new_link, running_control_rooms
from brasstag.app.people.control_rooms import page_address
from brasstag.surfaces.web.security.doors import Doors, ServeOptions
from brasstag.surfaces.web.server import serve
from brasstag.words.errors import ToolError
from tests.surfaces.web.conftest import until


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (ServeOptions(host="0.0.0.0"), "needs TLS and a name"),
        (ServeOptions(host="::"), "needs TLS and a name"),
        (ServeOptions(host="192.0.2.1", name="room.example"), "needs TLS and a name"),
        (ServeOptions(host="192.0.2.1", tls_cert="c", tls_key="k"), "needs TLS and a name"),
        (ServeOptions(host="some.example"), "needs TLS and a name"),
        (ServeOptions(tls_cert="c"), "belong together"),
        (ServeOptions(name="Room Example"), "not a host name"),
        (ServeOptions(name="a/b"), "not a host name"),
    ],
)
def test_an_open_address_is_refused(options: ServeOptions, why: str) -> None:
    with pytest.raises(ToolError, match=why):
        options.require_safe()


def test_names_for_an_address() -> None:
    ServeOptions().require_safe()
    assert ServeOptions().doors(80, "room-x") == Doors("room-x.localhost:80", "127.0.0.1:80")
    assert ServeOptions(host="::1").doors(80, "room-x").api == "http://[::1]:80/api"
    far = ServeOptions(host="192.0.2.1", name="room.example", tls_cert="c", tls_key="k")
    far.require_safe()
    assert far.doors(443, "room-x").origin == "https://room.example"
    assert far.doors(8443, "room-x").origin == "https://room.example:8443"


def certificate(folder: Path) -> tuple[Path, Path]:
    """Make a certificate for room.localhost, signed by itself."""
    key, cert = folder / "key.pem", folder / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
         "-subj", "/CN=room.localhost", "-addext", "subjectAltName=DNS:room.localhost",
         "-keyout", str(key), "-out", str(cert)],
        check=True, capture_output=True,
    )  # fmt: skip
    return cert, key


async def test_over_tls_cookies_are_secure_and_the_origin_is_https(project: Path, tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    options = ServeOptions(name="room.localhost", tls_cert=str(cert), tls_key=str(key))
    async with until(serve, [project], options, "web:test") as doors:
        assert doors.origin.startswith("https://room.localhost:")
        assert [room.origin for room in running_control_rooms()] == [doors.origin]
        assert page_address(project, "approvals/a") == f"{doors.origin}/rooms/project/approvals/a"
        context = ssl.create_default_context(cafile=str(cert))
        async with httpx2.AsyncClient(verify=context) as client:
            address = f"https://{doors.programs}/login/{new_link('ada', 'viewer', 'root')}"
            named = {"sni_hostname": "room.localhost"}
            found = await client.get(address, headers={"host": doors.pages}, extensions=named)
        assert "secure" in found.headers["set-cookie"].lower()
    assert running_control_rooms() == []
    assert page_address(project, "approvals/a") is None


def test_what_a_dead_control_room_left_is_ignored(project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "user" / "control-rooms"
    folder.mkdir(parents=True)
    (folder / "boot_0.json").write_text('{"origin": "http://x", "rooms": {}, "since": ""}')
    (folder / "boot_0.lock").touch()
    assert running_control_rooms() == []
