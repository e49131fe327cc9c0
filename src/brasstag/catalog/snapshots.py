"""Snapshots: what was approved, kept for good, each with a receipt signed by the account that approved it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from brasstag.store.timeline.seals import Key
from brasstag.words.canonical import stored_digest
from brasstag.words.errors import ToolError
from brasstag.words.review.prompt_tools import PromptTool, Target
from brasstag.words.review.proposals import Proposal, TestCase

RECEIPT = "receipt"


@dataclass(frozen=True)
class Snapshot:
    """One approved version of a prompt tool, or its retirement, as its file says it."""

    name: str
    """The name of its file, which is the time of the approval."""
    body: Mapping[str, Any]

    @property
    def tool_id(self) -> str:
        """The tool it is about."""
        return str(self.body.get("toolId", ""))

    @cached_property
    def tool(self) -> PromptTool | None:
        """The tool as it was approved; None where it was retired, or where the file holds no tool."""
        try:
            return PromptTool.from_json(self.body.get("tool"))
        except ToolError:
            return None

    @cached_property
    def is_retirement(self) -> bool:
        """Whether it says that the tool is no longer used."""
        return self.body.get("proposalType") == "retire"

    @cached_property
    def content_digest(self) -> str:
        """The digest of the tool's content; empty for a retirement."""
        return "" if self.is_retirement or self.tool is None else self.tool.digest

    @property
    def rationale(self) -> str:
        """Why it was proposed."""
        return str(self._metadata.get("rationale", ""))

    @property
    def examples(self) -> tuple[str, ...]:
        """The examples it was proposed with; what is no text is left out."""
        return tuple(example for example in self._listed("examples") if isinstance(example, str))

    @property
    def test_cases(self) -> tuple[TestCase, ...]:
        """The test cases it was proposed with; what is none is left out."""
        return tuple(map(TestCase.from_json, filter(TestCase.is_form, self._listed("testCases"))))

    @property
    def approver(self) -> str:
        """Who approved it."""
        return str(self.body.get("approver", ""))

    def _listed(self, name: str) -> Sequence[Any]:
        found = self._metadata.get(name)
        return found if isinstance(found, list) else ()

    @property
    def _metadata(self) -> Mapping[str, Any]:
        found = self.body.get("metadata")
        return found if isinstance(found, Mapping) else {}


@dataclass(frozen=True)
class Receipts:
    """Signs snapshots for one room, and tells which of them this account has signed."""

    load_key: Callable[[], Key]
    room: str

    @cached_property
    def key(self) -> Key:
        """The key of the account; read when it is first needed."""
        return self.load_key()

    def signed(self, body: Mapping[str, Any], name: str, tag: str) -> dict[str, Any]:
        """Return a snapshot with its receipt; ``name`` is that of its file, and ``tag`` names the entry of the decision.

        The name is signed, too: a copy under a later one would bring an older version back.
        """
        receipt = {
            "approver": body["approver"],
            "digest": stored_digest(dict(body)),
            "snapshot": name,
            "room": self.room,
            "tag": tag,
            "keyId": self.key.id,
        }
        return {**body, RECEIPT: receipt | {"signature": self.key.sign(_words(receipt))}}

    def is_ours(self, snapshot: Snapshot, target: Target) -> bool:
        """Say whether this account approved a snapshot: for a user's tools in any room, for a project's in this one."""
        receipt = snapshot.body.get(RECEIPT)
        if not isinstance(receipt, Mapping) or receipt.get("keyId") != self.key.id:
            return False
        body = {name: value for name, value in snapshot.body.items() if name != RECEIPT}
        here = target == "user" or receipt.get("room") == self.room
        return (
            here
            and body.get("target") == target
            and receipt.get("snapshot") == snapshot.name
            and receipt.get("digest") == stored_digest(body)
            and self.key.signed(_words(receipt), str(receipt.get("signature")))
        )


def _words(receipt: Mapping[str, Any]) -> str:
    names = ("approver", "digest", "snapshot", "room", "tag")
    return "\n".join(("receipt", *(str(receipt.get(name)) for name in names)))


def snapshot_body(proposal: Proposal, previous: str) -> dict[str, Any]:
    """Return what the snapshot of an approved proposal says, without its receipt; ``previous`` is the content before."""
    content, decided = proposal.content, proposal.decision
    if decided is None:
        raise ValueError(f"{proposal.id} is not decided")
    retired = content.type == "retire"
    return {
        "toolId": content.tool.id,
        "proposalType": content.type,
        "target": content.target,
        "tool": None if retired else content.tool.as_json(),
        "previous": previous or None,
        "metadata": {
            "rationale": content.rationale,
            "examples": list(content.examples),
            "testCases": [case.as_json() for case in content.test_cases],
        },
        "owner": content.owner,
        "author": proposal.author.as_json(),
        "screening": dict(proposal.screening),
        "assessment": dict(proposal.assessment),
        "harness": dict(proposal.harness),
        "approver": decided.by,
        "approvedAt": decided.at,
        "note": decided.note,
        "proposalId": proposal.id,
        "revision": proposal.revision,
        "digests": {
            "content": "" if retired else content.tool.digest,
            "assessment": stored_digest(dict(proposal.assessment)),
            "harness": stored_digest(dict(proposal.harness)),
            "approval": proposal.digest,
        },
    }
