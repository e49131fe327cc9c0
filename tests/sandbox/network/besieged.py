"""Run as a program in a network of its own, where every address of the world is this machine.

There every door is open: whatever the guard lets through reaches a server, which counts it. Reads cases as JSON from
standard input, and writes for each how it ended and whom it dialled.
"""

import asyncio
import json
import socket
import sys
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qs, urlsplit

from brasstag.sandbox.network.guard import FetchRequest, NoAnswer, SystemResolver, WebGuard, WebResponse
from brasstag.words.errors import ToolError

PORTS = (22, 80, 443, 2375, 6379, 8080)

dialled: list[str] = []


class Names:
    """Answers as it is told to, in turn; the last answer stays."""

    def __init__(self, names: dict[str, list[list[str]]]) -> None:
        self.names = names
        self.asked = 0

    async def resolve(self, host: str, port: int) -> list[Any]:
        """Return the next answer for a name."""
        self.asked += 1
        if host not in self.names:
            return list(await SystemResolver().resolve(host, port))
        answers = self.names[host]
        return [ip_address(text) for text in (answers.pop(0) if len(answers) > 1 else answers[0])]


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer with a redirect where the query asks for one, else with the crown jewels."""
    host, port = writer.get_extra_info("sockname")[:2]
    dialled.append(f"{host}:{port}")
    try:
        line = (await reader.readuntil(b"\r\n\r\n")).split(b" ", 2)[1].decode()
        to = parse_qs(urlsplit(line).query).get("to", [""])
        head = f"HTTP/1.1 302 Found\r\nLocation: {to[0]}" if to[0] else "HTTP/1.1 200 OK"
        writer.write(f"{head}\r\nContent-Length: 6\r\nConnection: close\r\n\r\njewels".encode("latin-1"))
        await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError, ValueError):
        pass
    writer.close()


def end_of(found: Any) -> str:
    """Say in a word how a fetch ended."""
    if isinstance(found, WebResponse):
        return "reached" if found.body == b"jewels" and found.location is None else "not followed"
    return found.code.value if isinstance(found, ToolError) else type(found).__name__


async def besiege(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Try every case with the guard as it ships; redirects are followed wherever the guard itself would go."""
    for port in PORTS:
        for family, every in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
            await asyncio.start_server(serve, every, port, family=family)
    ends = []
    for case in cases:
        dialled.clear()
        names = Names(case.get("names", {}))
        request = FetchRequest(case["url"], method=case.get("method", "GET"), seconds=5)
        try:
            found: Any = await WebGuard(names).fetch(request, lambda _here, _there: True)
        except (ToolError, NoAnswer) as error:
            found = error
        ends.append(
            {"end": end_of(found), "dialled": list(dialled), "asked": names.asked, "said": str(found)[:200]}
        )
    return ends


async def knock(places: list[str]) -> list[bool]:
    """Say which addresses answer to whoever simply connects."""
    open_doors = []
    for place in places:
        try:
            _, writer = await asyncio.wait_for(asyncio.open_connection(place, 80), 3)
            writer.close()
            open_doors.append(True)
        except (OSError, TimeoutError):
            open_doors.append(False)
    return open_doors


async def main() -> None:
    """Besiege, then knock without a guard."""
    told = json.load(sys.stdin)
    ends = await besiege(told["cases"])
    print(json.dumps({"ends": ends, "open": await knock(told["knock"])}))


if __name__ == "__main__":
    asyncio.run(main())
