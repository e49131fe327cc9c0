"""A run on a server of one's own, at the command line: what a person is told of its model."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import MakeProject
from tests.engine.crews import CREW
from tests.models.http_server import HttpServer, Reply, as_json, chat_text
from tests.surfaces.conftest import Pipe

BUSY = as_json({"error": {"message": "slow down"}}, 429, retry_after="1")


@pytest.fixture
def project(make_project: MakeProject) -> Path:
    return make_project(CREW)


@contextmanager
def serving(*replies: Reply) -> Iterator[str]:
    """The address of a model whose server answers from another thread, as the command has the event loop of this one."""
    begun, ended = threading.Event(), threading.Event()
    addresses: list[str] = []

    async def serve() -> None:
        async with HttpServer(*replies) as server:
            addresses.append(f"openai-compatible:m@{server.url}/v1")
            begun.set()
            await asyncio.to_thread(ended.wait)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        assert begun.wait(30)
        yield addresses[0]
    finally:
        ended.set()
        thread.join()


def test_programs_are_told_what_is_assumed_and_of_each_try(pipe: Pipe, project: Path) -> None:
    with serving(BUSY, chat_text("Done.")) as model:
        ended = pipe("run", "Do it", "--model", model)
    assert ended.code == 0, ended.err
    lines = {line["event"]: line for line in ended.lines}
    assert "8000 tokens are assumed" in lines["caution"]["said"]
    again = lines["retrying"]
    assert (again["role"], again["seconds"], again["try"], again["tries"]) == ("boss", 1, 2, 5)
    assert "HTTP 429, slow down" in again["why"]


def test_people_read_the_same(pipe: Pipe, project: Path) -> None:
    with serving(BUSY, chat_text("Done.")) as model:
        said = " ".join(pipe("run", "Do it", "--model", model, "-o", "people").out.split())
    assert "8000 tokens are assumed; say better with ?context=32768 at the end of its name." in said
    assert "HTTP 429, slow down; tries again in 1 s (2/5)" in said


def test_nothing_is_assumed_where_the_name_says_it(pipe: Pipe, project: Path) -> None:
    with serving(chat_text("Done.")) as model:
        ended = pipe("run", "Do it", "--model", f"{model}?context=32768")
    assert "caution" not in {line["event"] for line in ended.lines}
