"""The decision page: what a call would do, why it asks, and a person's yes or no to exactly that."""

import json
from collections.abc import Mapping
from typing import Any

from brasstag.app import Room
from brasstag.surfaces.web.routes import Visit, WebAction, WebModel, WebPage
from brasstag.surfaces.web.show.previews import PreviewView, preview_view
from brasstag.words.approvals import Approval, ApprovalResponse, ApprovalState
from brasstag.words.errors import Code, ToolError


class FieldView(WebModel):
    """One argument, as a form shows it."""

    name: str
    type: str
    text: str
    """A text as it is; anything else as JSON."""
    is_text: bool
    lines: int
    required: bool
    description: str


class ApprovalView(WebModel):
    """One approval, whole."""

    id: str
    room: str
    state: str
    tool: str
    tool_version: str
    role: str
    actor: str
    task: str
    run: str
    reason: str
    rule: str
    requested_at: str
    expires_at: str | None
    decided_at: str | None
    decided_by: str | None
    note: str
    arguments: dict[str, Any]
    original_arguments: dict[str, Any] | None
    raw: str
    fields: list[FieldView]
    preview: PreviewView
    always: str | None
    """The rule that would allow this from now on, verbatim; None where there is none."""
    why_never: str
    """Why there is no such rule."""
    blocked: list[str]
    may_decide: bool


async def approval(visit: Visit) -> ApprovalView:
    """Return one approval."""
    room = visit.room
    found = await room.approval(visit.path["approval"])
    task = await room.task(found.task_id)
    rule = room.narrow_rule(found, f"approved by {visit.identity.name}")
    item = next((one for one in await room.inbox() if one.id == found.id), None)
    return ApprovalView(
        id=found.id,
        room=visit.path["room"],
        state=found.state.value,
        tool=found.tool,
        tool_version=found.tool_version,
        role=found.role,
        actor=found.actor,
        task=found.task_id,
        run=task.tree,
        reason=found.reason,
        rule=found.rule,
        requested_at=found.requested_at,
        expires_at=found.expires_at,
        decided_at=found.decided_at,
        decided_by=found.decided_by,
        note=found.note,
        arguments=dict(found.arguments),
        original_arguments=None if found.original_arguments is None else dict(found.original_arguments),
        raw=json.dumps(dict(found.arguments), indent=2, ensure_ascii=False),
        fields=_fields(room, found.tool, found.arguments),
        preview=await preview_view(room, found.preview),
        always=rule if isinstance(rule, str) else None,
        why_never="" if isinstance(rule, str) else rule.because,
        blocked=list(item.behind.blocked) if item else [],
        may_decide=visit.identity.may("approver") and found.state is ApprovalState.OPEN,
    )


def _fields(room: Room, tool: str, arguments: Mapping[str, Any]) -> list[FieldView]:
    found = room.tools.get(tool)
    parameters = found.config.parameters if found else {}
    names = [*arguments, *(name for name in parameters if name not in arguments)]
    return [_field(name, arguments.get(name), name in arguments, parameters.get(name)) for name in names]


def _field(name: str, value: Any, given: bool, parameter: Any) -> FieldView:
    types = " or ".join(parameter.types) if parameter is not None else type(value).__name__
    is_text = isinstance(value, str) or (not given and "string" in types)
    text = "" if not given else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return FieldView(
        name=name,
        type=types,
        text=text,
        is_text=is_text,
        lines=min(text.count("\n") + 1, 24),
        required=bool(parameter is not None and parameter.required),
        description=parameter.description if parameter is not None else "",
    )


class Edit(WebModel):
    """Arguments that a person wants instead."""

    arguments: dict[str, Any]


class EditedView(WebModel):
    """What the call would do with them."""

    arguments: dict[str, Any]
    preview: PreviewView


async def preview_edit(visit: Visit, edit: Edit) -> EditedView:
    """Say what an approval's call would do with other arguments."""
    found = await visit.room.approval(visit.path["approval"])
    edited = await visit.room.preview_edit(found, edit.arguments)
    return EditedView(
        arguments=dict(edited.arguments), preview=await preview_view(visit.room, edited.preview)
    )


class DecisionBody(WebModel):
    """A person's answer, bound to what they saw."""

    approved: bool
    seen: str
    """The digest of the preview that the page showed."""
    note: str = ""
    arguments: dict[str, Any] | None = None
    """Changed arguments; then ``seen`` is the digest of their preview."""


class Decided(WebModel):
    """What became of it."""

    id: str
    state: str
    decided_by: str | None


async def decide(visit: Visit, body: DecisionBody) -> Decided:
    """Decide an approval: exactly what was seen, or nothing."""
    by = visit.approver
    found = await visit.room.approval(visit.path["approval"])
    if body.arguments is None and body.seen != found.preview.digest:
        raise ToolError(Code.APPROVAL_STALE, "this is not what the page showed; look again, then decide")
    response = ApprovalResponse(body.approved, body.arguments if body.approved else None, body.note)
    decided = await visit.room.decide(found.id, response, by, seen=body.seen)
    await _go_on(visit, decided)
    return Decided(id=decided.id, state=decided.state.value, decided_by=decided.decided_by)


async def _go_on(visit: Visit, decided: Approval) -> None:
    """Perform what was approved for a desk: no worker does that."""
    task = await visit.room.task(decided.task_id)
    if task.is_desk and decided.state is ApprovalState.APPROVED:
        visit.keep(visit.room.resume(decided.id))


decision_page = WebPage(
    "/approvals/{approval}",
    "approval.html",
    ApprovalView,
    approval,
    "One approval: its arguments, what its call would do, and why it asks.",
    nav="inbox",
)
decision_actions = (
    WebAction(
        "/approvals/{approval}/preview",
        Edit,
        EditedView,
        preview_edit,
        "Preview changed arguments.",
        "operator",
    ),
    WebAction(
        "/approvals/{approval}/decision", DecisionBody, Decided, decide, "Approve or deny.", "approver"
    ),
)
