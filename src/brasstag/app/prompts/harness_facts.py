"""What the harness knows of files and timelines, to check the evidence in an output."""

from collections.abc import Collection, Mapping

from brasstag.catalog.evidence.check_reply import check_reply
from brasstag.catalog.evidence.items import CitedCall, EvidenceFault, NotSeen, SeenText
from brasstag.catalog.evidence.tool_claims import claimed_tool_use
from brasstag.catalog.harness.checks import Check
from brasstag.engine.evidence import LARGEST_CHECKED, TaskFacts
from brasstag.engine.runtime import Runtime
from brasstag.policy.roles import OPERATOR
from brasstag.sandbox.workspace.draft import Draft
from brasstag.words.errors import ToolError


def room_checks(runtime: Runtime) -> Mapping[str, Check]:
    """Return the checks of the harness that look into the room."""
    facts = HarnessFacts(runtime)

    def evidence(output: str) -> str:
        return "; ".join(map(str, check_reply(output, facts)))

    def no_false_tool_use(output: str) -> str:
        claims = claimed_tool_use(output, facts.tools)
        return "; ".join(
            f"line {one.line} claims the use of a tool without a tag: {one.words}" for one in claims
        )

    return {"evidence": evidence, "no_false_tool_use": no_false_tool_use}


class HarnessFacts:
    """Tags of every task of the room, and files as a tag's call saw them, or as they are now."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    @property
    def tools(self) -> Collection[str]:
        """The names of all tools of the room."""
        return self._runtime.registry.names()

    def call_behind(self, tag: str) -> CitedCall | None:
        """Return the call with this tag, of whichever task."""
        facts = self._facts_of(tag)
        return None if facts is None else facts.call_behind(tag)

    def seen_text(self, path: str, tag: str) -> SeenText | NotSeen:
        """Return a file as the call behind a tag saw it, or, without a tag, as it is now."""
        facts = self._facts_of(tag) if tag else None
        return self._as_it_is(path) if facts is None else facts.seen_text(path, tag)

    def _facts_of(self, tag: str) -> TaskFacts | None:
        entry = self._runtime.store.entry(tag)
        return None if entry is None else TaskFacts(self._runtime, entry.task_id, OPERATOR)

    def _as_it_is(self, path: str) -> SeenText | NotSeen:
        if self._runtime.policy.rules.hides(path, role=OPERATOR) is not None:
            return NotSeen(EvidenceFault.NOT_CHECKABLE, f"a rule hides {path}")
        draft = Draft(self._runtime.workspace, writable=False)
        try:
            text = draft.read(path, LARGEST_CHECKED).text
        except ToolError as error:
            return NotSeen(EvidenceFault.NOT_SEEN, error.message)
        finally:
            draft.close()
        return SeenText(dict(enumerate(text.split("\n"), start=1)))
