"""Which model speaks: said before a run begins, and asked about where nobody has named it."""

import json
from pathlib import Path

import pytest

from brasstag.models.choose import Choice
from brasstag.surfaces.cli.follow.follow_run import Running
from brasstag.words.errors import Code
from brasstag.words.turns import ModelError
from tests.conftest import MakeProject, accept
from tests.engine.crews import CREW, call, turn, write_script
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
    with pytest.raises(ModelError, match="no person has agreed to ollama:qwen3") as caught:
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


LEAD_ONLY = """
[crew]
lead = "boss"
{crew}

[roles.boss]
description = "Leads"
{boss}
delegates_to = ["worker"]

[roles.worker]
description = "Works"
"""


@pytest.fixture
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "GROQ_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def refused(pipe: Pipe, project: Path, missing: str, *given: str) -> None:
    ended = pipe("run", "Do it", "-C", str(project), *given)
    assert ended.code == 1
    assert ended.err.startswith("MODEL_NOT_CONFIGURED: ")
    assert missing in ended.err
    assert pipe("tasks", "-C", str(project)).lines == []


@pytest.mark.usefixtures("_no_keys")
class TestBeforeARunBegins:
    @pytest.mark.parametrize(
        ("address", "missing"),
        [
            ("openai:x", "set OPENAI_API_KEY"),
            ("anthropic:x", "set ANTHROPIC_API_KEY"),
            ("prompted+openai:x", "set OPENAI_API_KEY"),
            ("recording=kept.jsonl+openai:x", "set OPENAI_API_KEY"),
            ("recording=nowhere/kept.jsonl+scripted:script.json", "cannot be written"),
            ("groq:x", "pip install 'pydantic-ai-slim[groq]'"),
            ("scripted:nowhere.json", "cannot be read"),
            ("recorded:nowhere.jsonl", "cannot be read"),
            ("nonsense", "names no model"),
        ],
    )
    def test_a_model_that_could_not_answer_begins_nothing(
        self, pipe: Pipe, make_project: MakeProject, address: str, missing: str
    ) -> None:
        project = make_project(LEAD_ONLY.format(crew="", boss=""), name="crew")
        write_script(project, {"boss": [turn(text="Done.")]})
        refused(pipe, project, missing, "--model", address)

    @pytest.mark.parametrize(
        ("crew", "boss"),
        [
            ('model = "openai:x"', ""),
            ("", 'model = "openai:x"'),
            ('model = "scripted:script.json"\nfallback_model = "openai:x"', ""),
            ('model = "scripted:script.json"', 'fallback_model = "openai:x"'),
        ],
    )
    def test_nor_does_one_that_the_settings_name(
        self, pipe: Pipe, make_project: MakeProject, crew: str, boss: str
    ) -> None:
        project = make_project(LEAD_ONLY.format(crew=crew, boss=boss), name="crew")
        write_script(project, {"boss": [turn(text="Done.")]})
        refused(pipe, project, "set OPENAI_API_KEY")

    def test_a_key_that_is_set_but_empty_is_missing(
        self, pipe: Pipe, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "")
        project = make_project(LEAD_ONLY.format(crew="", boss='model = "openai:x"'), name="crew")
        ended = pipe("run", "Do it", "-C", str(project))
        assert "MODEL_NOT_CONFIGURED: openai:x needs a key" in ended.err


@pytest.mark.parametrize(
    ("crew", "spoken"), [("", "boss.json"), ('model = "scripted:crew.json"', "crew.json")]
)
def test_a_role_without_a_model_speaks_through_the_crews_else_the_one_the_run_began_with(
    pipe: Pipe, make_project: MakeProject, crew: str, spoken: str
) -> None:
    project = make_project(LEAD_ONLY.format(crew=crew, boss='model = "scripted:boss.json"'), name="crew")
    lines = {
        "boss": [turn(call("route_to_worker", request="Go")), turn(text="Done.")],
        "worker": [turn(text="Went.")],
    }
    for name in ("boss.json", "crew.json"):
        (project / name).write_text(json.dumps(lines))
    ended = pipe("run", "Do it", "-C", str(project))
    assert ended.code == 0, ended.err
    opened = {line["role"]: line["model"] for line in ended.lines if line["event"] == "opened"}
    assert opened == {"boss": "scripted:boss.json", "worker": f"scripted:{spoken}"}
