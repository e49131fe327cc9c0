"""Tells a person that something waits; whatever goes wrong here is logged and never reaches the call."""

import logging

from brasstag.engine.shop import Notify
from brasstag.sandbox.notices import notify_command, notify_webhook
from brasstag.settings import ApprovalSettings
from brasstag.words.approvals import Approval

log = logging.getLogger("brasstag")


def notifier(settings: ApprovalSettings) -> Notify:
    """Return what to do when an approval is waiting, as the settings say."""

    def notify(approval: Approval) -> None:
        notice = approval.request.as_json() | {
            "approvalId": approval.id,
            "actor": approval.actor,
            "role": approval.role,
        }
        problems = []
        if settings.notify_command:
            problems.append(notify_command(settings.notify_command, notice))
        if settings.notify_webhook:
            problems.append(notify_webhook(settings.notify_webhook, notice))
        for problem in filter(None, problems):
            log.warning("nobody was told that %s waits: %s", approval.id, problem)

    return notify
