"""A catalog of 1,000 user tools: read from disk once, then merged and rendered, against one pass over the same JSON.

The pass parses the live file and joins the prompts: no catalog can do less. Time is that of the processor.
"""

import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from measuring import goal, title

from brasstag.catalog.catalog import PromptCatalog
from brasstag.catalog.injection import inject
from brasstag.catalog.merge import SourceState, merge
from brasstag.catalog.prompt_files import PromptFiles
from brasstag.catalog.snapshots import Receipts
from brasstag.store.timeline.seals import ephemeral_key
from brasstag.words.messages import Fences
from brasstag.words.review.prompt_tools import PromptTool

_TOOLS = 1_000
_ROUNDS = 15
_MERGED_MS = 50.0


def run() -> None:
    title(f"Prompt tools: {_TOOLS:,} of a user")
    with tempfile.TemporaryDirectory() as scratch:
        folder, key = Path(scratch), ephemeral_key()
        fence = Fences(key.derived("fences"))
        receipts = Receipts(lambda: key, "bench")
        user = PromptFiles(folder / "user", "user", "prompts.json")
        _fill(user, receipts)
        project = PromptFiles(folder / "project", "project", "prompts.json")
        catalog = PromptCatalog(project, user, receipts, dict, dict, fence)
        loaded = _milliseconds(lambda: catalog.now, rounds=1)
        print(f"  read from disk, receipts checked                 {loaded:9.1f} ms, once for each change")
        live = user.live()
        accepted = {tool_id: user.snapshots(tool_id)[-1] for tool_id in user.tool_ids()}
        state = SourceState("user", "prompts.json", live.entries, accepted=accepted)
        data = (folder / "user" / "prompts.json").read_bytes()
        plain = _milliseconds(lambda: "\n".join(one["prompt"] for one in json.loads(data)))
        ours = _milliseconds(
            lambda: inject(merge(SourceState("project", ""), state, {}), "editor", "file", fence)
        )
        print(f"  one pass over the JSON                           {plain:9.1f} ms")
        print(
            f"  merged and rendered                              {ours:9.1f} ms   {ours / plain:.1f}x of that"
        )
        goal("merged and rendered after load", ours, _MERGED_MS, " ms")
        again = _milliseconds(lambda: catalog.inject("editor", "file"))
        print(f"  rendered again for the next task                 {again:9.3f} ms")


def _fill(user: PromptFiles, receipts: Receipts) -> None:
    tools = [
        PromptTool(
            f"tool_{number:04d}", f"Tool {number}", "editor" if number % 2 else "any", "file",
            f"Use it for case {number}. Do not use it elsewhere.", "Find what is there.", "Change nothing.",
            "List each place, one a line, with its number and the words. " * 8,
        )
        for number in range(_TOOLS)
    ]  # fmt: skip
    for tool in tools:
        body = {
            "toolId": tool.id,
            "target": "user",
            "tool": tool.as_json(),
            "approver": "ada",
            "proposalType": "new",
        }
        user.write_snapshot(tool.id, "20261118T000000.000000Z.json", receipts.signed(body, "tag_0"))
    user.write_live([tool.as_json() for tool in tools])


def _milliseconds(act: Callable[[], object], rounds: int = _ROUNDS) -> float:
    taken = []
    for _ in range(rounds):
        started = time.process_time()
        act()
        taken.append((time.process_time() - started) * 1e3)
    return statistics.median(taken)
