"""Scripts: what is written is what is played, again and again."""

import json
from pathlib import Path
from typing import Any

import pytest

from brasstag.models.scripted import NOTE, ScriptedModel
from brasstag.words.errors import Code
from brasstag.words.messages import Assistant, Result, System, Text, ToolUse, User
from brasstag.words.turns import ModelError, TurnRequest
from tests.models.support import turn_of, written

READS = {"calls": [{"tool": "read_file", "arguments": {"path": "a.md"}}]}
SCRIPT: dict[str, Any] = {
    "lead": [READS, {"text": "Done."}],
    "analyst": [
        {"when": "Q3", "turns": [{"text": "third quarter"}]},
        {"when": "Q4", "turns": [{"text": "fourth quarter"}]},
        {"turns": [{"text": "any quarter"}]},
    ],
}


def asked(role: str, request: str, turn: int = 0) -> TurnRequest:
    """The request of a task after some turns, each with a call and its result."""
    past: list[Any] = []
    for number in range(turn):
        call = f"c{number}_0"
        past.append(Assistant("", (ToolUse(call, "read_file", {}),)))
        past.append(Result(call, "read_file", (Text("Q3 and Q4"),)))
        past.append(User((Text("by the way: Q3"),)))
    return TurnRequest((System("s"), User((Text(request),)), *past), role=role, turn=turn)


async def test_turn_by_turn() -> None:
    model = ScriptedModel(SCRIPT)
    first, heard = await turn_of(model, asked("lead", "go"))
    assert [(call.tool, call.arguments) for call in first.calls] == [("read_file", {"path": "a.md"})]
    assert (first.stop, first.text, heard, first.note, first.model) == ("calls", "", [], NOTE, "scripted")
    second, heard = await turn_of(model, asked("lead", "go", 1))
    assert (second.stop, second.text, heard) == ("end_turn", "Done.", ["Done."])


async def test_whoever_asks_again_gets_the_same_turn() -> None:
    request = asked("lead", "go", 1)
    turns = [
        await turn_of(model, request)
        for model in (ScriptedModel(SCRIPT), ScriptedModel(SCRIPT))
        for _ in "ab"
    ]
    assert all(turn == turns[0] for turn in turns)
    usage = turns[0][0].usage
    assert usage.input_tokens > 0
    assert usage.output_tokens > 0
    assert usage.cost == 0


@pytest.mark.parametrize(
    ("request_text", "said"),
    [("Analyse Q3", "third quarter"), ("Analyse Q4", "fourth quarter"), ("Analyse", "any quarter")],
)
async def test_the_first_script_that_fits_what_was_asked_is_played(request_text: str, said: str) -> None:
    turn, _ = await turn_of(ScriptedModel(SCRIPT), asked("analyst", request_text))
    assert turn.text == said


async def test_what_a_task_is_told_later_does_not_change_its_script() -> None:
    script = {"analyst": [{"when": "Q3", "turns": []}, {"turns": [READS, {"text": "still mine"}]}]}
    turn, _ = await turn_of(ScriptedModel(script), asked("analyst", "Analyse", 1))
    assert turn.text == "still mine"


async def test_a_question_asked_within_a_conversation_has_a_script_of_its_own() -> None:
    script = {"lead": [{"when": "Which currency?", "turns": [{"text": "euros"}]}, {"turns": [READS]}]}
    context = asked("lead", "go", 1).messages
    request = TurnRequest((*context, User((Text("Which currency?"),))), role="lead", turn=0)
    turn, _ = await turn_of(ScriptedModel(script), request)
    assert turn.text == "euros"


@pytest.mark.parametrize(
    ("role", "turn", "says"),
    [("lead", 2, "has 2 turns for lead, and turn 3"), ("editor", 0, "no turns for editor.*analyst, lead")],
)
async def test_running_out_of_script_says_so(role: str, turn: int, says: str) -> None:
    with pytest.raises(ModelError, match=says) as raised:
        await turn_of(ScriptedModel(SCRIPT), asked(role, "go", turn))
    assert raised.value.code is Code.MODEL_FAILED


async def test_arguments_given_as_text_are_what_a_model_wrote_badly() -> None:
    script = {"lead": [{"calls": [{"tool": "read_file", "arguments": "{'path': "}]}]}
    turn, _ = await turn_of(ScriptedModel(script), asked("lead", "go"))
    assert turn.calls[0].arguments == "{'path': "


async def test_scripts_are_read_from_json_and_toml(tmp_path: Path) -> None:
    toml = '[[lead]]\ncalls = [{tool = "read_file", arguments = {path = "a.md"}}]\n[[lead]]\ntext = "Done."\n'
    files = (
        written(tmp_path, "s.toml", toml),
        written(tmp_path, "s.json", json.dumps({"lead": SCRIPT["lead"]})),
    )
    turns = []
    for file in files:
        model = ScriptedModel.from_file(file)
        assert model.name == f"scripted:{file}"
        turns.append([(await turn_of(model, asked("lead", "go", turn)))[0].calls for turn in (0, 1)])
    assert turns[0] == turns[1]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("s.json", "{", "cannot be read"),
        ("s.json", "[]", "not an object"),
        ("s.toml", "lead = ", "cannot be read"),
        ("s.json", '{"lead": "hello"}', "lead"),
        ("s.json", '{"lead": [{"says": "hello"}]}', "lead.0.turns.0.says"),
        ("s.json", '{"lead": [{"calls": [{"arguments": {}}]}]}', "lead.0.turns.0.calls.0.tool"),
    ],
)
def test_a_script_with_a_mistake_says_where(tmp_path: Path, name: str, text: str, says: str) -> None:
    with pytest.raises(ModelError, match=says) as raised:
        ScriptedModel.from_file(written(tmp_path, name, text))
    assert raised.value.code is Code.MODEL_NOT_CONFIGURED


def test_a_script_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        ScriptedModel.from_file(tmp_path / "none.json")
