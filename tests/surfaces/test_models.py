"""Which model speaks: said before a run begins, and asked about where nobody has named it."""

from pathlib import Path

import pytest

from brasstag.models.choosing import Choice
from brasstag.surfaces.cli.running import Running
from brasstag.words.errors import Code
from brasstag.words.turns import ModelError
from tests.conftest import MakeProject, accept
from tests.engine.crews import CREW, turn, write_script
from tests.surfaces.conftest import Pipe
from tests.transcripts import Keyboard, Screen

FOUND = Choice("ollama:qwen3", "Ollama at http://127.0.0.1:11434 has qwen3", needs_consent=True)


def at_keyboard(monkeypatch: pytest.MonkeyPatch, *answers: str) -> Screen:
    screen = Screen()
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(f"sys.{name}", screen)
    monkeypatch.setattr("sys.stdin", Keyboard(list(answers), screen))
    return screen


async def test_a_server_that_was_merely_found_is_used_after_a_yes(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = at_keyboard(monkeypatch, "y")
    assert await Running(Path(), "people", asks=True)._agreed(FOUND) == "ollama:qwen3"
    assert "Ollama at http://127.0.0.1:11434 has qwen3." in screen.getvalue()
    assert "Use ollama:qwen3? [y/N]: y" in screen.getvalue()


@pytest.mark.parametrize("answer", ["", "n", "maybe"])
async def test_anything_but_a_yes_uses_nothing(monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    at_keyboard(monkeypatch, answer)
    with pytest.raises(ModelError, match="nobody has agreed to ollama:qwen3") as caught:
        await Running(Path(), "people", asks=True)._agreed(FOUND)
    assert caught.value.code is Code.MODEL_NOT_CONFIGURED


async def test_where_nobody_can_be_asked_it_has_to_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ModelError, match="--model ollama:qwen3"):
        await Running(Path(), "json", asks=False)._agreed(FOUND)


def test_what_was_agreed_to_counts_for_roles_that_name_none(
    pipe: Pipe, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    crew = make_project(CREW.replace('model = "scripted:script.json"', ""), name="crew")
    accept(crew)
    write_script(crew, {"boss": [turn(text="Done.")]})

    async def choose() -> Choice:
        return Choice("scripted:script.json", "it lies here")

    monkeypatch.setattr("brasstag.app.runs.choose", choose)
    ended = pipe("run", "Do it", "-C", str(crew))
    assert ended.code == 0
    assert (ended.lines[0]["model"], ended.lines[0]["why"]) == ("scripted:script.json", "it lies here")
    assert ended.lines[1]["model"] == "scripted:script.json"
