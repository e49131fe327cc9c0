"""Judge a call: the verdict of the rules on its preview, and the reasons for it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from brasstag.engine.calls.tool_facts import tool_facts
from brasstag.engine.calls.types import Looked
from brasstag.engine.runtime import Runtime
from brasstag.policy.conflicts import with_conflicts_heard
from brasstag.policy.profiles import CODE_EFFECTS, LANDING, ToolFacts
from brasstag.policy.verdict import READ_FILE, Rules
from brasstag.words.calls import Call, Failed
from brasstag.words.previews import Preview, digest_in
from brasstag.words.verdicts import Verdict


def judge(runtime: Runtime, looked: Looked) -> Verdict:
    """Return the verdict; silence and errors are an ask.

    What a rule keeps from being read is also kept from tools that read on the way to something else, or would carry it
    to where the rule does not reach.
    """
    call, tool = looked.admitted.call, looked.admitted.tool
    verdict = runtime.rules.judge(call, looked.preview, tool_facts(tool, call))
    if verdict.decision == "deny":
        return verdict
    on_reading = _judge_reading(runtime, looked)
    if on_reading is not None and on_reading.decision == "deny":
        return on_reading
    if on_reading is not None and not (verdict.decision == "ask" and verdict.by_rule):
        verdict = with_conflicts_heard(on_reading, looked.preview)
    if looked.coming:
        # If its changes could never land, the call need not run.
        landing = judge_changes(runtime, call, Preview(changes=looked.coming))
        return landing if landing.decision == "deny" else verdict
    return verdict


def mistake_in(looked: Looked, verdict: Verdict) -> Failed | None:
    """Return what is wrong with a call's arguments, which is said before a person or a profile is asked.

    Where a rule denies the call, only the rule's reason is given.
    """
    denied = verdict.decision == "deny" and verdict.by_rule
    return looked.ending if looked.mistaken and not denied and isinstance(looked.ending, Failed) else None


def judge_changes(runtime: Runtime, call: Call, preview: Preview) -> Verdict:
    """Return the verdict on what a run changes, as for a call that changes files; the run is judged separately."""
    landing, facts = landing_of(call)
    return runtime.rules.judge(landing, preview, facts)


def landing_of(call: Call) -> tuple[Call, ToolFacts]:
    """Return the call that rules take the landing of a call's changes for, and what it says of itself."""
    return replace(call, tool=LANDING, arguments={}), ToolFacts(LANDING, effects="files")


def _judge_reading(runtime: Runtime, looked: Looked) -> Verdict | None:
    """Return the strictest verdict of rules on what a call reads: for its own role, and for the role that gets it."""
    call, tool = looked.admitted.call, looked.admitted.tool
    paths = _read_or_carried(looked)
    if runtime.rules.is_silent_about(paths, tool.name):
        return None
    said = list(_on_reading(runtime.rules, paths, tool.name, call.role))
    if looked.receiver:
        said += _on_reading(
            runtime.rules, paths, READ_FILE, looked.receiver, f"{looked.receiver} would read "
        )
    if tool.config.effects == CODE_EFFECTS:
        # Code does not see what rules ask about, unless that was granted.
        said = [one for one in said if one.decision == "deny"]
    return max(said, key=lambda one: one.strictness, default=None)


def _on_reading(
    rules: Rules, paths: Sequence[str], tool: str, role: str, receives: str = ""
) -> Iterator[Verdict]:
    for path in paths:
        because, asked = rules.hides(path, tool, role), rules.asks(path, tool, role)
        told = f"{receives}{path}: " if receives else ""
        if because is not None:
            yield Verdict("deny", f"{told}{because}", f"reading {path}", by_rule=True)
        elif asked is not None:
            yield replace(asked, because=f"{told}{asked.because}")


def _read_or_carried(looked: Looked) -> list[str]:
    preview = looked.preview
    read = [seen.path for seen in preview.reads if digest_in(seen.state) is not None]
    moved = [change.source for change in preview.changes if change.source]
    earlier, carried = [seen.path for seen in preview.past], [one.path for one in looked.carried]
    return list(dict.fromkeys((*read, *earlier, *preview.saves, *moved, *carried)))
