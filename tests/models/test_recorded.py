"""Recording a live model at our boundary, and playing it again."""

from dataclasses import replace
from pathlib import Path

import pytest

from brasstag.models.recorded import NOTE, RecordedModel, RecordingModel, request_digest
from brasstag.words.errors import Code
from brasstag.words.ids import new_id
from brasstag.words.messages import Image, Text, User
from brasstag.words.turns import ModelError, TurnRequest
from tests.models.http_server import HttpServer, chat_calls, chat_text
from tests.models.support import asking, compatible, turn_of, written


async def test_a_recorded_run_plays_again_without_its_model(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    first, second = asking(), asking(User((Text("And now?"),)))
    replies = chat_calls(("read_file", '{"path": "ä"}')), chat_text("Bye", ".")
    async with HttpServer(*replies) as server, compatible(server.url) as model:
        recording = RecordingModel(model, file)
        live = [(await turn_of(recording, request))[0] for request in (first, second)]
    replay = RecordedModel(file)
    played = [await turn_of(replay, request) for request in (first, second)]
    for turn, (again, _) in zip(live, played, strict=True):
        assert again == replace(turn, note=NOTE, usage=replace(turn.usage, cost=0))
    assert played[1][1] == ["Bye."]
    assert (replay.sees_images, replay.context_tokens) == (recording.sees_images, recording.context_tokens)
    assert file.stat().st_mode & 0o777 == 0o600


async def test_a_request_that_was_never_recorded_says_how_to_get_a_live_model(tmp_path: Path) -> None:
    model = RecordedModel(written(tmp_path, "run.jsonl", ""))
    with pytest.raises(ModelError) as raised:
        await turn_of(model, asking(role="lead", turn=2))
    assert raised.value.code is Code.MODEL_FAILED
    assert "lead, turn 3" in raised.value.message
    for word in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "ollama pull"):
        assert word in raised.value.hint


async def test_a_turn_recorded_twice_plays_as_it_was_the_last_time(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    replies = chat_text("before the crash"), chat_text("after it")
    async with HttpServer(*replies) as server, compatible(server.url) as model:
        for _ in range(2):
            await turn_of(RecordingModel(model, file))
    turn, _ = await turn_of(RecordedModel(file))
    assert turn.text == "after it"


def told(*words: str) -> TurnRequest:
    return asking(User(tuple(Text(word) for word in words)))


def test_what_a_model_is_shown_is_the_key() -> None:
    assert request_digest(told("a")) == request_digest(told("a"))
    others = [told("b"), told("a", "b"), asking(offers=()), asking(User((Image("a", "image/png", "d"),)))]
    assert len({request_digest(request) for request in (told("a"), *others)}) == 5


def test_ids_count_by_their_order_only() -> None:
    ids = [new_id("task") for _ in range(4)]
    assert request_digest(told(f"{ids[0]} {ids[1]} {ids[0]}")) == request_digest(
        told(f"{ids[2]} {ids[3]} {ids[2]}")
    )
    assert request_digest(told(f"{ids[0]} {ids[1]} {ids[0]}")) != request_digest(
        told(f"{ids[2]} {ids[3]} {ids[3]}")
    )


@pytest.mark.parametrize("line", ["nonsense", "{}", '{"request": "x", "turn": {}}', "[1]"])
def test_a_line_that_is_no_turn_is_named(tmp_path: Path, line: str) -> None:
    with pytest.raises(ModelError, match="line 1 of") as raised:
        RecordedModel(written(tmp_path, "run.jsonl", f"{line}\n"))
    assert raised.value.code is Code.MODEL_NOT_CONFIGURED


def test_a_recording_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        RecordedModel(tmp_path / "none.jsonl")


@pytest.mark.parametrize("place", [".", "nowhere/run.jsonl"])
def test_a_recording_that_could_not_be_kept_is_refused_before_a_turn_is_paid_for(
    tmp_path: Path, place: str
) -> None:
    with pytest.raises(ModelError, match="cannot be written") as raised:
        RecordingModel(RecordedModel(written(tmp_path, "run.jsonl", "")), tmp_path / place)
    assert raised.value.code is Code.MODEL_NOT_CONFIGURED
