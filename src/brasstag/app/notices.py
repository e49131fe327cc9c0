"""Notices to a person that something waits; an error here is logged and never reaches the call."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from brasstag.app.people.control_rooms import page_address
from brasstag.engine.listeners import Notify, NotifyQuestion
from brasstag.sandbox.notices import notify_command, notify_webhook
from brasstag.settings import ApprovalSettings
from brasstag.words.approvals import Approval
from brasstag.words.calls import Call

log = logging.getLogger("brasstag")


def notifier(settings: ApprovalSettings, project: Path | None) -> Notify:
    """Return what to do when an approval is waiting, as the settings say."""

    def notify(approval: Approval) -> None:
        if not _tells(settings):
            return
        about = {"approvalId": approval.id, "actor": approval.actor, "role": approval.role}
        link = _link(project, f"approvals/{approval.id}")
        _tell(settings, approval.id, approval.request.as_json() | about | link)

    return notify


def question_notifier(settings: ApprovalSettings, project: Path | None) -> NotifyQuestion:
    """Return what to do when a question is waiting for a person, as the settings say."""

    def notify(question_id: str, call: Call, question: str) -> None:
        if not _tells(settings):
            return
        about = {"questionId": question_id, "question": question, "actor": call.actor, "role": call.role}
        _tell(settings, question_id, about | _link(project, f"questions/{question_id}"))

    return notify


def _tells(settings: ApprovalSettings) -> bool:
    return bool(settings.notify_command or settings.notify_webhook)


def _link(project: Path | None, place: str) -> dict[str, str]:
    """Return where a person looks at it, while a control room serves the room; the address carries no right."""
    address = None if project is None else page_address(project, place)
    return {} if address is None else {"link": address}


def _tell(settings: ApprovalSettings, name: str, notice: Mapping[str, Any]) -> None:
    problems = []
    if settings.notify_command:
        problems.append(notify_command(settings.notify_command, notice))
    if settings.notify_webhook:
        problems.append(notify_webhook(settings.notify_webhook, notice))
    for problem in filter(None, problems):
        log.warning("no notice was sent that %s waits: %s", name, problem)
