"""Notices to a person that something waits; an error here is logged and never reaches the call."""

import logging
from collections.abc import Mapping
from typing import Any

from brasstag.engine.listeners import Notify, NotifyQuestion
from brasstag.sandbox.notices import notify_command, notify_webhook
from brasstag.settings import ApprovalSettings
from brasstag.words.approvals import Approval
from brasstag.words.calls import Call

log = logging.getLogger("brasstag")


def notifier(settings: ApprovalSettings) -> Notify:
    """Return what to do when an approval is waiting, as the settings say."""

    def notify(approval: Approval) -> None:
        about = {"approvalId": approval.id, "actor": approval.actor, "role": approval.role}
        _tell(settings, approval.id, approval.request.as_json() | about)

    return notify


def question_notifier(settings: ApprovalSettings) -> NotifyQuestion:
    """Return what to do when a question is waiting for a person, as the settings say."""

    def notify(question_id: str, call: Call, question: str) -> None:
        about = {"questionId": question_id, "question": question, "actor": call.actor, "role": call.role}
        _tell(settings, question_id, about)

    return notify


def _tell(settings: ApprovalSettings, name: str, notice: Mapping[str, Any]) -> None:
    problems = []
    if settings.notify_command:
        problems.append(notify_command(settings.notify_command, notice))
    if settings.notify_webhook:
        problems.append(notify_webhook(settings.notify_webhook, notice))
    for problem in filter(None, problems):
        log.warning("no notice was sent that %s waits: %s", name, problem)
