"""The phases of a call, a type each: what is known of a call proves what may be done with it.

Foreseen    it has to run before its outcome is known: it acts outside, or only on a draft
Failing     it would fail, or has failed on its draft
Passing     it runs no code: it is recorded, and may pass documents on
Previewed   it ran on a draft of the workspace: its outcome and its changes are known
Landing     it was allowed to run, and ran on a draft: its changes are judged before they land
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from brasstag.engine.calls.admit import Admitted
from brasstag.sandbox.workspace.draft import Draft
from brasstag.store.store import ExtraRows
from brasstag.store.tasks.writer import Payload
from brasstag.words.calls import Done, Failed
from brasstag.words.documents import Carried
from brasstag.words.previews import Change, Preview


@dataclass(frozen=True, slots=True)
class Phase:
    """A call and what it would do."""

    admitted: Admitted
    preview: Preview
    _: KW_ONLY
    ran: Payload | None = None
    """Where ``preview`` is of what a run has changed: what the rules said of running it."""
    edited: Mapping[str, Any] | None = None
    """Who changed its arguments before it was approved, and to what: its caller is told."""


@dataclass(frozen=True, slots=True)
class Foreseen(Phase):
    """A call that has to run before its outcome is known."""

    only_drafts: bool = False
    """Whether it runs only on a draft; what it changes is then judged before it lands."""
    coming: tuple[Change, ...] = ()
    """The files such a call says it will write, as they are now; what they will hold is not known yet."""


@dataclass(frozen=True, slots=True)
class Failing(Phase):
    """A call that would fail, or has failed on its draft."""

    ending: Failed
    mistaken: bool = False
    """Whether it fails because of its arguments alone; to say so reveals nothing new to its caller."""
    receiver: str = ""
    """The role that would have been given its documents."""


@dataclass(frozen=True, slots=True)
class Passing(Phase):
    """A call that runs no code."""

    carried: tuple[Carried, ...] = ()
    """The documents it passes on, as they are now."""
    receiver: str = ""
    """The role that is given them; empty where that is a person."""


@dataclass(frozen=True, slots=True)
class Previewed(Phase):
    """A call that ran on a draft of the workspace."""

    draft: Draft
    ending: Done


@dataclass(frozen=True, slots=True)
class Landing(Phase):
    """A call that was allowed to run, and ran on a draft."""

    draft: Draft
    ending: Done


@dataclass(frozen=True, slots=True)
class Extra:
    """What a call without file changes writes beside its entry, in the same commit."""

    write: ExtraRows
    said: Payload = field(default_factory=dict)
    """What its entry says of that."""


AnyPhase = Foreseen | Failing | Passing | Previewed | Landing

LOGGED = Done({"logged": True})
"""How a call ends that is only recorded."""
