"""One run on a real model, through the command line and OpenAI's protocol.

A model this small chooses tools at random. What has to hold is the protocol, the schema and the record.
"""

from pathlib import Path

import pytest

from brasstag.words.errors import Code
from tests.conftest import MakeProject
from tests.real_model import Served, real_model
from tests.surfaces.conftest import Pipe

__all__ = ["real_model"]

CREW = """
[crew]
lead = "reader"

[roles.reader]
description = "Reads notes"
instructions = "Answer in one short sentence."
tools = ["read_file"]

[roles.reader.budget]
max_steps = STEPS
max_tokens = 1000
"""


@pytest.mark.parametrize("steps", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_a_run_on_a_real_model_keeps_to_protocol_and_schema(
    steps: int,
    make_project: MakeProject,
    real_model: Served,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    project: Path = make_project(CREW.replace("STEPS", str(steps)), name="real")
    (project / "data" / "notes.md").write_text("The shop opens at nine.\n")
    monkeypatch.chdir(project)
    monkeypatch.setenv("OPENAI_COMPATIBLE_API_KEY", real_model.key)
    pipe = Pipe(monkeypatch, capsys)
    ended = pipe("run", "When does the shop open?", "-d", "notes.md", "--model", real_model.address)
    assert ended.code in (0, 1, 3), ended.err
    (last,) = [line for line in ended.lines if line["event"] == "ended"] or [ended.lines[-1]]
    if last.get("status") == "failed":
        assert last["result"]["error"]["code"] in (Code.BUDGET_EXCEEDED, Code.TOO_LARGE)
    shown = pipe("timeline", "show", "--output", "json").lines
    turns = [entry for entry in shown if entry["type"] == "turn"]
    assert turns
    assert all(turn["usage"]["output_tokens"] > 0 for turn in turns)
    refused = [entry["result"]["error"]["code"] for entry in shown if entry.get("outcome") == "failed"]
    assert set(refused) <= {Code.UNKNOWN_TOOL, Code.INVALID_ARGUMENTS, Code.NOT_ALLOWED, Code.FILE_NOT_FOUND}
    assert pipe("timeline", "verify").code == 0
