"""Somebody is told when something waits."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from brasstag.app import announced
from tests.conftest import accept
from tests.surfaces.conftest import Pipe


def ask(pipe: Pipe, project: Path, settings: str) -> tuple[str, str]:
    (project / "brasstag.toml").write_text(settings)
    accept(project)
    (project / "data" / "a.md").write_text("old")
    ended = pipe("call", "write_file", "path=a.md", "content=new")
    assert ended.code == 3
    return str(ended.json["error"]["details"]["approvalId"]), ended.err


def test_a_command_is_given_the_notice(pipe: Pipe, project: Path, tmp_path: Path) -> None:
    told = tmp_path / "told.json"
    asked, _ = ask(pipe, project, f'[approvals]\nnotify_command = ["tee", "{told}"]\n')
    notice = json.loads(told.read_text())
    assert notice["approvalId"] == asked
    assert notice["tool"] == "write_file"
    assert notice["args"]["path"] == "a.md"


def test_a_web_address_is_posted_to(pipe: Pipe, project: Path) -> None:
    posted: list[Any] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            posted.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Hook) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        address = f"http://127.0.0.1:{server.server_address[1]}/hook"
        asked, _ = ask(pipe, project, f'[approvals]\nnotify_webhook = "{address}"\n')
        server.shutdown()
        serving.join()
    assert [notice["approvalId"] for notice in posted] == [asked]


def test_one_that_fails_changes_nothing(pipe: Pipe, project: Path, caplog: Any) -> None:
    asked, _ = ask(pipe, project, '[approvals]\nnotify_command = ["/nothing/here"]\n')
    assert pipe("approvals").json["approvalId"] == asked
    assert "could not be started" in caplog.text


def test_a_notice_has_a_link_without_any_right_while_a_control_room_runs(
    pipe: Pipe, project: Path, tmp_path: Path
) -> None:
    told = tmp_path / "told.json"
    settings = f'[approvals]\nnotify_command = ["tee", "{told}"]\n'
    with announced("http://room.localhost:1", {project: "project"}):
        asked, _ = ask(pipe, project, settings)
    link = f"http://room.localhost:1/rooms/project/approvals/{asked}"
    assert json.loads(told.read_text())["link"] == link
    # A control room that ended is not named, and one for another project neither.
    with announced("http://room.localhost:1", {tmp_path: "other"}):
        assert pipe("call", "write_file", "path=a.md", "content=newer").code == 3
    assert "link" not in json.loads(told.read_text())
