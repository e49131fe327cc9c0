"""Judging: the rules' word on a call and its preview, and the reasons for it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from brasstag.engine.facts import tool_facts
from brasstag.engine.looking import Looked, admit, look
from brasstag.engine.shop import Shop
from brasstag.engine.watch import Watch
from brasstag.policy.conflicts import with_conflicts_heard
from brasstag.policy.explain import Explanation, Line, explain
from brasstag.policy.judging import READ_FILE, Rules
from brasstag.policy.profiles import CODE_EFFECTS, LANDING, ToolFacts
from brasstag.words.calls import Call, Failed
from brasstag.words.previews import Preview, digest_in
from brasstag.words.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Explained:
    """What would be decided about a call, and why."""

    refused: Failed | None = None
    """Why it would not even be judged, or would fail although it may run."""
    preview: Preview | None = None
    explanation: Explanation | None = None
    lands: bool = False
    """Whether what it changes is judged by itself, once it has run."""


def explain_call(shop: Shop, call: Call, watch: Watch) -> Explained:
    """Look and judge as for a real call, and stop there."""
    admitted = admit(shop, call)
    if isinstance(admitted, Failed):
        return Explained(admitted)
    facts = tool_facts(admitted.tool, admitted.call)
    if shop.rules.denies_unseen(admitted.call) is not None:
        # As in a real call, nobody looks; what would be said of it is said of its arguments alone.
        return Explained(explanation=explain(shop.rules, admitted.call, Preview(), facts))
    looked = look(shop, admitted, watch, only_looking=True)
    verdict = judge(shop, looked)
    mistake = mistake_in(looked, verdict)
    if mistake is not None:
        return Explained(mistake)
    explanation = explain(shop.rules, admitted.call, looked.preview, facts)
    if verdict.decision != explanation.verdict.decision:
        others = tuple(replace(line, decided=False) for line in explanation.lines)
        explanation = Explanation(verdict, (Line(verdict, decided=True), *others))
    refused = looked.ending if isinstance(looked.ending, Failed) else None
    lands = looked.drafts and refused is None and explanation.verdict.decision != "deny"
    return Explained(refused, looked.preview, explanation, lands)


def judge(shop: Shop, looked: Looked) -> Verdict:
    """Return the verdict; silence and errors are an ask.

    What a rule keeps from being read is also kept from tools that read on the way to something else, or would carry it
    to where the rule does not reach.
    """
    call, tool = looked.admitted.call, looked.admitted.tool
    verdict = shop.rules.judge(call, looked.preview, tool_facts(tool, call))
    if verdict.decision == "deny":
        return verdict
    on_reading = _judge_reading(shop, looked)
    if on_reading is not None and on_reading.decision == "deny":
        return on_reading
    if on_reading is not None and not (verdict.decision == "ask" and verdict.by_rule):
        verdict = with_conflicts_heard(on_reading, looked.preview)
    if looked.coming:
        # What could never land need not be run for.
        landing = judge_changes(shop, call, Preview(changes=looked.coming))
        return landing if landing.decision == "deny" else verdict
    return verdict


def mistake_in(looked: Looked, verdict: Verdict) -> Failed | None:
    """Return what is wrong with a call's arguments, which is said before a person is asked or a profile is heard.

    Where a rule denies the call, its word is the only one.
    """
    denied = verdict.decision == "deny" and verdict.by_rule
    return looked.ending if looked.mistaken and not denied and isinstance(looked.ending, Failed) else None


def judge_changes(shop: Shop, call: Call, preview: Preview) -> Verdict:
    """Return the rules' word on what a run changes, as on a call that changes files; that it runs is judged by itself."""
    landing, facts = landing_of(call)
    return shop.rules.judge(landing, preview, facts)


def landing_of(call: Call) -> tuple[Call, ToolFacts]:
    """Return the call that rules take the landing of a call's changes for, and what it says of itself."""
    return replace(call, tool=LANDING, arguments={}), ToolFacts(LANDING, effects="files")


def _judge_reading(shop: Shop, looked: Looked) -> Verdict | None:
    """Return the strictest word of rules on what a call reads: for its own role, and for the one that is given it."""
    call, tool = looked.admitted.call, looked.admitted.tool
    paths = _read_or_carried(looked)
    if shop.rules.is_silent_about(paths, tool.name):
        return None
    said = list(_on_reading(shop.rules, paths, tool.name, call.role))
    if looked.receiver:
        said += _on_reading(shop.rules, paths, READ_FILE, looked.receiver, f"{looked.receiver} would read ")
    if tool.config.effects == CODE_EFFECTS:
        # What rules ask about is kept from code that was not granted it.
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
