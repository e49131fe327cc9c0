"""Looked: a call with its preview and, where the preview ran it on a draft, its outcome."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from brasstag.engine import entries
from brasstag.engine.calls.admit import Admitted
from brasstag.sandbox.workspace.draft import Draft
from brasstag.words.calls import Settled
from brasstag.words.documents import Carried
from brasstag.words.previews import Change, Preview
from brasstag.words.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Looked:
    """A call, what it would do, and, where the look ran it on a draft, how it would end."""

    admitted: Admitted
    preview: Preview
    draft: Draft | None = None
    ending: Settled | None = None
    """None for a call that acts outside the workspace, or has to run before it is known what it changes."""
    mistaken: bool = False
    """Whether it fails because of its arguments alone; to say so reveals nothing new to its caller."""
    drafts: bool = False
    """Whether what it changes is known only once it has run, and it runs only on a draft."""
    coming: tuple[Change, ...] = ()
    """The files such a call says it will write, as they are now; what they will hold is not known yet."""
    ran: entries.Payload | None = None
    """Where ``preview`` is of what a run has changed: what the rules said of running it."""
    carried: tuple[Carried, ...] = ()
    """The documents it passes on, as they are now."""
    receiver: str = ""
    """The role that is given them; empty where that is a person."""
    edited: Mapping[str, Any] | None = None
    """Who changed its arguments before it was approved, and to what: its caller is told."""

    def told(self, ending: Settled) -> Settled:
        """Return an ending with what its caller has to be told besides."""
        return ending if self.edited is None else replace(ending, meta={**ending.meta, "edited": self.edited})

    def judged(self, preview: Preview, verdict: Verdict) -> entries.Payload:
        """Return what a timeline has to say of how it was judged."""
        said = entries.judged(preview, verdict, self.admitted.tool)
        return said if self.ran is None else said | {"ran": self.ran}
