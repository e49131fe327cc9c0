"""Four eyes: who approves must be another registered approver than the author; switching that off takes two."""

from dataclasses import dataclass

from brasstag.settings.model import PromptSettings
from brasstag.store.database.base import View
from brasstag.store.store import Store
from brasstag.store.timeline.timeline import proven_entries, read_entries
from brasstag.words.approvals import Approver
from brasstag.words.errors import Code, ToolError
from brasstag.words.events import Entry
from brasstag.words.review.proposals import ProposalAuthor

RULE = "four_eyes"
"""What entries about the rule itself have in place of a proposal."""

COLLEAGUE = "colleague"
"""Whom the author of a snapshot counts as that another account approved."""
REGISTERED = "token:"
"""How the name of an author begins who had an approver's token."""


def require_other_person(author: ProposalAuthor, by: Approver) -> None:
    """Raise ToolError unless author and approver are two registered approvers, and neither stands for the other.

    Names of terminals are not compared: one person may have several. An agent counts as the person who started its run.
    """
    if by.via != "token":
        raise _refused("the approver needs an approver's token; a terminal does not say who sits at it")
    person = author.person or author.name
    if person == COLLEAGUE:
        # Two accounts have seen it by then: the one that approved it, and this one.
        return
    if not person.startswith(REGISTERED):
        raise _refused(
            f"the author counts as {person}, who is not a registered approver; propose it again with an approver's token"
        )
    name = person.removeprefix(REGISTERED)
    if by.name == name:
        raise _refused(f"{name} is the author; another registered approver has to decide")
    if by.may_be(name):
        raise _refused(
            f"{_issued(name, by)}; {name} is the author, and {by.name} does not count as another person"
        )


def _issued(name: str, by: Approver) -> str:
    """Say why two names may be one person: one issued the token of the other, or a third person issued both."""
    if name in by.issuers:
        return f"{name} issued the token of {by.name}"
    return f"{by.name}, or a person who issued the token of {by.name}, issued the token of {name}"


def _refused(why: str) -> ToolError:
    return ToolError(Code.FOUR_EYES, f"four eyes are required here: {why}")


@dataclass(frozen=True, slots=True)
class FourEyes:
    """Whether four eyes are required: where the settings say so, and until two approvers have switched it off."""

    store: Store
    settings: PromptSettings

    def are_required(self) -> bool:
        """Say whether author and approver must be two persons."""
        return self.settings.four_eyes or self._state()[0]

    def note_on(self, task_id: str) -> None:
        """Write down that the settings require four eyes, so that removing the line alone does not switch it off."""
        if self.settings.four_eyes and not self._state()[0]:
            self.store.catalog.note(task_id, RULE, {"rule": RULE, "set": "on"})

    def switch_off(self, task_id: str, by: Approver) -> bool:
        """Write down that an approver agrees to switch it off; return whether that was the second of two."""
        if by.via != "token":
            raise _refused("switching it off takes two registered approvers, each with a token")
        if self.settings.four_eyes:
            raise _refused("the settings still require it; remove four_eyes from [prompts] first")
        is_on, agreed = self._state()
        if not is_on:
            return True
        if by.name == agreed:
            raise _refused(f"{by.name} has agreed already; another registered approver has to agree, too")
        if agreed and by.may_be(agreed):
            raise _refused(
                f"{_issued(agreed, by)}, so {by.name} does not count as another person than {agreed}"
            )
        done = bool(agreed)
        self.store.catalog.note(
            task_id, RULE, {"rule": RULE, "set": "off" if done else "agreed", "by": by.name}
        )
        return done

    def _state(self) -> tuple[bool, str]:
        """Return whether it is on by record, and who has agreed to switch it off; only proven entries count."""
        is_on, agreed = False, ""
        for payload in (entry.payload or {} for entry in self._entries()):
            match payload.get("set"):
                case "on":
                    is_on, agreed = True, ""
                case "agreed":
                    agreed = str(payload.get("by", ""))
                case "off":
                    is_on, agreed = False, ""
        return is_on, agreed

    def _entries(self) -> list[Entry]:
        def look(view: View) -> list[Entry]:
            found = list(read_entries(view, call_id=RULE))
            for task_id in {entry.task_id for entry in found}:
                proven_entries(view, task_id, self.store.sealer.key)
            return found

        return self.store.read(look)
