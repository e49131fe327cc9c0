"""Explain a call: what would be decided about it, and why, without making it."""

from dataclasses import dataclass, replace

from brasstag.engine.calls.admit import admit
from brasstag.engine.calls.judge import judge, mistake_in
from brasstag.engine.calls.permissions import find_permission, permitted_by
from brasstag.engine.calls.preview import preview
from brasstag.engine.calls.types import Failing, Foreseen
from brasstag.engine.in_flight import Deadline
from brasstag.engine.runtime import Runtime
from brasstag.policy.explain import Explanation, VerdictLine, explain
from brasstag.policy.profiles import facts_of
from brasstag.words.calls import Call, Failed
from brasstag.words.previews import Preview


@dataclass(frozen=True, slots=True)
class Explained:
    """What would be decided about a call, and why."""

    refused: Failed | None = None
    """Why it would not even be judged, or would fail although it may run."""
    preview: Preview | None = None
    explanation: Explanation | None = None
    lands: bool = False
    """Whether what it changes is judged by itself, once it has run."""


def explain_call(runtime: Runtime, call: Call, deadline: Deadline) -> Explained:
    """Look and judge as for a real call, and stop there."""
    admitted = admit(runtime, call)
    if isinstance(admitted, Failed):
        return Explained(admitted)
    facts = facts_of(admitted.tool, admitted.call)
    if runtime.policy.rules.denies_unseen(admitted.call) is not None:
        # As for a real call, no preview is made; the explanation is about the arguments alone.
        return Explained(explanation=explain(runtime.policy.rules, admitted.call, Preview(), facts))
    phase = preview(runtime, admitted, deadline, only_looking=True)
    verdict = judge(runtime, phase)
    mistake = mistake_in(phase, verdict)
    if mistake is not None:
        return Explained(mistake)
    explanation = explain(runtime.policy.rules, admitted.call, phase.preview, facts)
    if not isinstance(phase, Failing):
        permission = find_permission(runtime, admitted.call, phase.preview, facts, verdict)
        verdict = permitted_by(permission) if permission else verdict
    if verdict.decision != explanation.verdict.decision:
        others = tuple(replace(line, decided=False) for line in explanation.lines)
        lines = (VerdictLine(verdict, decided=True), *others)
        explanation = Explanation(verdict, lines, explanation.commands)
    refused = phase.ending if isinstance(phase, Failing) else None
    drafts = isinstance(phase, Foreseen) and phase.only_drafts
    lands = drafts and explanation.verdict.decision != "deny"
    return Explained(refused, phase.preview, explanation, lands)
