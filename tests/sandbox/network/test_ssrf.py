"""Server-side request forgery: in a network where every address answers, nothing inside is reached and no port probed."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
PUBLIC, OTHER = "93.184.216.34", "2606:2800:220:1::1"
EVERY_ADDRESS_IS_HERE = (
    "ip link set lo up && ip route add local 0.0.0.0/0 dev lo && ip -6 route add local ::/0 dev lo"
)


@dataclass(frozen=True)
class Siege:
    """One way in, and how it has to end."""

    url: str
    end: str
    names: dict[str, list[list[str]]] = field(default_factory=dict)
    dialled: tuple[str, ...] = ()


def at(*addresses: str) -> dict[str, list[list[str]]]:
    return {"site.test": [list(addresses)]}


WRITTEN_AS_ADDRESSES = [
    *(
        "127.0.0.1",
        "127.1.2.3",
        "0.0.0.0",
        "0.0.0.7",
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.254",
        "192.168.1.1",
    ),
    *("169.254.169.254", "169.254.170.2", "100.64.0.1", "100.100.100.200", "100.127.255.254", "192.0.0.192"),
    *("192.0.2.1", "192.88.99.1", "198.18.0.1", "198.51.100.7", "203.0.113.9", "168.63.129.16"),
    *("[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]", "[::ffff:a9fe:a9fe]", "[::ffff:8.8.8.8]"),
    *(
        "[::127.0.0.1]",
        "[::ffff:0:127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "[64:ff9b::a9fe:a9fe]",
        "[64:ff9b:1::1]",
    ),
    *(
        "[2002:7f00:1::]",
        "[2002:a9fe:a9fe::1]",
        "[2001::1]",
        "[2001:0:53aa:64c:0:0:80ff:fffe]",
        "[2001:db8::1]",
    ),
    *("[3fff::1]", "[fc00::1]", "[fd00:ec2::254]", "[fd20:ce::254]", "[fe80::1]", "[fec0::1]", "[ff02::1]"),
    *("127.0.0.1.", "１２７.０.０.１", "127。0。0。1", "⑯⑨.254.169.254", "①②⑦.0.0.1"),
    *("[2606:4700::5efe:7f00:1]", "[100::1]", "[2620:4f:8000::1]"),
]
ODD_NUMBERS = [
    *("2130706433", "0x7f000001", "017700000001", "0x7f.0x0.0x0.0x1", "0177.0.0.1", "127.1", "127.0.1", "0"),
    *("0x7f.1", "127.0.0.0x1", "0300.0250.1.1", "2852039166", "0xA9FEA9FE", "00000127.0.0.1"),
    *(
        "127.0.0.256",
        "1.2.3.4.5",
        "４294967297",
    ),
]
TRICKS = [
    *("http://public.test@127.0.0.1/", "http://127.0.0.1@public.test/", "http://user:pass@public.test/"),
    *(
        "http://public.test\\@127.0.0.1/",
        "http://127.0.0.1\\.public.test/",
        "http://public.test%40127.0.0.1/",
    ),
    *(
        "http://127.0.0.1%2f@public.test/",
        "http://public.test:80@127.0.0.1:80/",
        "http://127.0.0.1:@public.test/",
    ),
    *("http://[::1%25lo]/", "http://[fe80::1%25eth0]/", "http://[::1/", "http://::1/", "http:///127.0.0.1/"),
    *("http://public.test\t.evil/", "http://public.test\r\nHost: x/", "http://127.0.0.1\x00.public.test/"),
    *("http:127.0.0.1/", "//127.0.0.1/", "http://", "http://public.test:99999/", "http://public.test:0/"),
    *(
        "file:///etc/passwd",
        "gopher://127.0.0.1:6379/_INFO",
        "ftp://127.0.0.1/",
        "dict://127.0.0.1:6379/INFO",
    ),
    *("data:text/plain,x", "jar:http://127.0.0.1!/", "unix:///var/run/docker.sock", "ws://127.0.0.1/"),
    *("http+unix://%2fvar%2frun%2fdocker.sock/info", "https+insecure://127.0.0.1/"),
]
NAMES = [
    Siege("http://site.test/", "ADDRESS_REFUSED", at(address))
    for address in (
        *("127.0.0.1", "10.0.0.5", "169.254.169.254", "100.64.1.1", "0.0.0.0", "::1", "::ffff:192.168.0.1"),
        *("fd00:ec2::254", "64:ff9b::a00:1", "2002:a00:1::1", "fe80::1"),
    )
] + [
    Siege("http://site.test/", "ADDRESS_REFUSED", at(PUBLIC, "10.0.0.1")),
    Siege("http://site.test/", "ADDRESS_REFUSED", at("10.0.0.1", PUBLIC)),
    Siege("http://site.test/", "ADDRESS_REFUSED", at(PUBLIC, OTHER, "::1")),
    Siege("http://localhost/", "ADDRESS_REFUSED"),
    Siege("http://LOCALHOST./", "ADDRESS_REFUSED"),
    Siege("http://site.test/", "ADDRESS_REFUSED", {"site.test": [[]]}),
]
PORTS = [
    Siege(f"http://site.test:{port}/", "ADDRESS_REFUSED", at(PUBLIC)) for port in (22, 2375, 6379, 8080)
] + [Siege(f"http://127.0.0.1:{port}/", "ADDRESS_REFUSED") for port in (22, 443, 6379, 9)]
FIRST = (f"{PUBLIC}:80",)
REDIRECTS = [
    Siege(f"http://site.test/?to={to}", end, at(PUBLIC), FIRST)
    for to, end in (
        ("http://127.0.0.1/", "ADDRESS_REFUSED"),
        ("http://169.254.169.254/latest/meta-data/", "ADDRESS_REFUSED"),
        ("http://[::ffff:127.0.0.1]/", "ADDRESS_REFUSED"),
        ("http://localhost/", "ADDRESS_REFUSED"),
        ("http://site.test:6379/", "ADDRESS_REFUSED"),
        ("//10.0.0.1/", "ADDRESS_REFUSED"),
        ("http://2130706433/", "not followed"),
        ("http://x@127.0.0.1/", "not followed"),
        ("file:///etc/passwd", "not followed"),
        ("gopher://127.0.0.1:6379/", "not followed"),
        ("http://site.test%5C@127.0.0.1/", "not followed"),
    )
] + [
    # Two steps out, the third inside.
    Siege(
        "http://site.test/?to=http://site.test/%3Fto=http://10.0.0.1/",
        "ADDRESS_REFUSED",
        at(PUBLIC),
        FIRST * 2,
    ),
]
REBINDING = [
    # Public when it is judged, inside when it would be asked for again: it is not asked for again.
    Siege("http://site.test/", "reached", {"site.test": [[PUBLIC], ["127.0.0.1"]]}, FIRST),
    # Its redirect to itself is a new look, and that finds it inside.
    Siege("http://site.test/?to=/again", "ADDRESS_REFUSED", {"site.test": [[PUBLIC], ["127.0.0.1"]]}, FIRST),
]
REACHED = [
    Siege("http://site.test/", "reached", at(PUBLIC), FIRST),
    Siege("http://site.test/", "reached", at(OTHER, PUBLIC), (f"{OTHER}:80",)),
    Siege(f"http://{PUBLIC}/", "reached", {}, FIRST),
    Siege(f"http://[{OTHER}]/", "reached", {}, (f"{OTHER}:80",)),
    Siege("http://site.test/?to=/further", "reached", at(PUBLIC), FIRST * 2),
]

SIEGES = [
    *(Siege(f"http://{host}/", "ADDRESS_REFUSED") for host in WRITTEN_AS_ADDRESSES),
    *(Siege(f"http://{host}/", "INVALID_ARGUMENTS") for host in ODD_NUMBERS),
    *(Siege(url, "INVALID_ARGUMENTS") for url in TRICKS),
    *NAMES,
    *PORTS,
    *REDIRECTS,
    *REBINDING,
    *REACHED,
]
KNOCKED = [
    "127.0.0.1",
    "10.0.0.1",
    "169.254.169.254",
    "100.64.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "fd00:ec2::254",
]


@pytest.fixture(scope="module")
def siege() -> dict[str, Any]:
    if not shutil.which("unshare") or not shutil.which("ip"):
        pytest.skip("unshare and ip are needed for a network of one's own")
    program = f"{EVERY_ADDRESS_IS_HERE} && exec {sys.executable} -m tests.sandbox.network.besieged"
    told = {"cases": [{"url": one.url, "names": one.names} for one in SIEGES], "knock": KNOCKED}
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--net", "sh", "-c", program],
        input=json.dumps(told),
        capture_output=True,
        text=True,
        timeout=200,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "HTTP_PROXY": "http://127.0.0.1:8080"},
        check=False,
    )
    if "unshare" in done.stderr and done.returncode:
        pytest.skip(f"no network of one's own here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("index", range(len(SIEGES)), ids=[f"{one.url!a} {one.end}" for one in SIEGES])
def test_a_way_in_ends_where_it_must_and_dials_nobody_inside(index: int, siege: dict[str, Any]) -> None:
    wanted, found = SIEGES[index], siege["ends"][index]
    assert found["end"] == wanted.end, found
    assert found["dialled"] == list(wanted.dialled), found


def test_without_the_guard_every_one_of_these_doors_is_open(siege: dict[str, Any]) -> None:
    assert siege["open"] == [True] * len(KNOCKED)


def test_a_name_is_asked_for_once_for_each_request(siege: dict[str, Any]) -> None:
    rebound = SIEGES.index(REBINDING[0])
    assert siege["ends"][rebound]["asked"] == 1


def test_refusals_do_not_tell_what_is_inside(siege: dict[str, Any]) -> None:
    """A name without an address, and one inside, are refused with the same words."""
    said = {
        found["said"].replace("localhost", "site.test")
        for one, found in zip(SIEGES, siege["ends"], strict=True)
        if one in NAMES
    }
    assert len(said) == 1
    assert "10." not in said.pop()


def test_there_are_many_ways() -> None:
    assert len([one for one in SIEGES if one.end != "reached"]) >= 40
