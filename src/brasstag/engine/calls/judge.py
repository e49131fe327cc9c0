"""Judge a call: the verdict of the rules on its preview, and the reasons for it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from brasstag.engine.calls.types import Failing, Foreseen, Passing, Phase
from brasstag.engine.runtime import Runtime
from brasstag.policy.conflicts import with_conflicts_heard
from brasstag.policy.profiles import LANDING, ToolFacts, facts_of
from brasstag.policy.verdict import READ_FILE, Rules
from brasstag.words.calls import Call, Failed
from brasstag.words.previews import Preview, digest_in
from brasstag.words.verdicts import Verdict


def judge(runtime: Runtime, phase: Phase) -> Verdict:
    """Return the verdict. Where no rule speaks, or a rule fails, the verdict is ask.

    What a rule keeps from being read is also kept from tools that read on the way to something else, or would carry it
    to where the rule does not reach.
    """
    call, tool = phase.admitted.call, phase.admitted.tool
    verdict = runtime.policy.rules.judge(call, phase.preview, facts_of(tool, call))
    if verdict.decision == "deny":
        return verdict
    on_reading = _judge_reading(runtime, phase)
    if on_reading is not None and on_reading.decision == "deny":
        return on_reading
    if on_reading is not None and not (verdict.decision == "ask" and verdict.by_rule):
        verdict = with_conflicts_heard(on_reading, phase.preview)
    if isinstance(phase, Foreseen) and phase.coming:
        # If its changes could never land, the call need not run.
        landing = judge_changes(runtime, call, Preview(changes=phase.coming))
        return landing if landing.decision == "deny" else verdict
    return verdict


def mistake_in(phase: Phase, verdict: Verdict) -> Failed | None:
    """Return what is wrong with a call's arguments, which is said before a person or a profile is asked.

    Where a rule denies the call, only the rule's reason is given.
    """
    if not isinstance(phase, Failing) or not phase.mistaken:
        return None
    return None if verdict.decision == "deny" and verdict.by_rule else phase.ending


def judge_changes(runtime: Runtime, call: Call, preview: Preview) -> Verdict:
    """Return the verdict on what a run changes, as for a call that changes files; the run is judged separately."""
    landing, facts = landing_of(call)
    return runtime.policy.rules.judge(landing, preview, facts)


def landing_of(call: Call) -> tuple[Call, ToolFacts]:
    """Return the call that rules take the landing of a call's changes for, and what it says of itself."""
    return replace(call, tool=LANDING, arguments={}), ToolFacts(LANDING, effects="files")


def _judge_reading(runtime: Runtime, phase: Phase) -> Verdict | None:
    """Return the strictest verdict of rules on what a call reads: for its own role, and for the role that gets it."""
    call, tool, rules = phase.admitted.call, phase.admitted.tool, runtime.policy.rules
    paths = _read_or_carried(phase)
    if rules.is_silent_about(paths, tool.name):
        return None
    said = list(_on_reading(rules, paths, tool.name, call.role))
    if isinstance(phase, Passing | Failing) and phase.receiver:
        said += _on_reading(rules, paths, READ_FILE, phase.receiver, f"{phase.receiver} would read ")
    if tool.runs_code:
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


def _read_or_carried(phase: Phase) -> list[str]:
    preview = phase.preview
    read = [seen.path for seen in preview.reads if digest_in(seen.state) is not None]
    moved = [change.source for change in preview.changes if change.source]
    earlier = [seen.path for seen in preview.past]
    carried = [one.path for one in phase.carried] if isinstance(phase, Passing) else []
    return list(dict.fromkeys((*read, *earlier, *preview.saves, *moved, *carried)))
