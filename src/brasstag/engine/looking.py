"""Admitting a call, and finding out what it would do without doing it."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from brasstag.documents.carrying import Receiver, carry
from brasstag.engine import payloads
from brasstag.engine.conflicts import with_conflicts
from brasstag.engine.facts import foretold, only_drafts
from brasstag.engine.readers import receiver_of
from brasstag.engine.running import Admitted, described, run_function, timed_out
from brasstag.engine.shop import Shop
from brasstag.engine.watch import Watch
from brasstag.policy.roles import OPERATOR
from brasstag.sandbox.workspace.draft import Draft
from brasstag.toolkit.kinds import BEHAVIOUR, ToolType
from brasstag.toolkit.sentences import did_you_mean
from brasstag.toolkit.tool import Tool
from brasstag.words.calls import Call, Done, Failed, Settled
from brasstag.words.canonical import stored_json
from brasstag.words.documents import Carried
from brasstag.words.errors import Code, ToolError
from brasstag.words.events import EntryKind
from brasstag.words.previews import Change, Preview, digest_in
from brasstag.words.verdicts import Verdict

FEW, SHORT = 32, 1000
"""Arguments and characters that together stay under any limit a room may set."""

LARGEST_NAMED = 50_000_000
"""A file larger than this is not bound to the approval of code that names it."""

PERFORMABLE = frozenset(ToolType) - {ToolType.ROOT}
"""The kinds that can be called; a root is what a person begins with."""


@dataclass(frozen=True, slots=True)
class Looked:
    """A call, what it would do, and, where the look ran it on a draft, how it would end."""

    admitted: Admitted
    preview: Preview
    draft: Draft | None = None
    ending: Settled | None = None
    """None for a call that acts outside the workspace, or has to run before anybody knows what it changes."""
    mistaken: bool = False
    """Whether its arguments alone are why it fails; to say so tells its caller nothing new."""
    drafts: bool = False
    """Whether what it changes is known only once it has run, and to run it is only to draft."""
    coming: tuple[Change, ...] = ()
    """The files such a call says it will write, as they are now; what they will hold nobody knows yet."""
    ran: payloads.Payload | None = None
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

    def judged(self, preview: Preview, verdict: Verdict) -> payloads.Payload:
        """Return what a timeline has to say of how it was judged."""
        said = payloads.judged(preview, verdict, self.admitted.tool)
        return said if self.ran is None else said | {"ran": self.ran}


def admit(shop: Shop, call: Call) -> Admitted | Failed:
    """Resolve the tool, validate the arguments, and ask whether the role may use it."""
    tool = shop.registry.get(call.tool)
    if tool is None:
        return Failed(Code.UNKNOWN_TOOL, _unknown_tool(shop, call))
    try:
        arguments = tool.validate(_with_project_defaults(shop, tool, call.arguments))
    except ToolError as error:
        return Failed.by(error)
    if _outweighs(arguments, shop.argument_bytes):
        return Failed(
            Code.INVALID_ARGUMENTS,
            f"the arguments weigh more than {shop.argument_bytes} bytes, the limit of this room; write in smaller parts",
        )
    call = call.as_taken(tool.name, arguments)
    refusal = shop.roles.why_not(call.role, tool.name)
    if refusal is not None:
        return Failed(Code.NOT_ALLOWED, refusal)
    if tool.config.type not in PERFORMABLE:
        return Failed(
            Code.NOT_SUPPORTED,
            f"{call.tool} is what a person begins a run with; use `brasstag run`, or Room.start",
        )
    return Admitted(call, tool)


def admit_unless_denied(shop: Shop, call: Call) -> Admitted | Failed:
    """Admit a call, unless its arguments alone are enough for a rule to deny it: then nobody even looks."""
    admitted = admit(shop, call)
    if isinstance(admitted, Failed):
        return admitted
    verdict = shop.rules.denies_unseen(admitted.call)
    return admitted if verdict is None else blocked(verdict)


def blocked(verdict: Verdict) -> Failed:
    """Say that a rule denies a call."""
    return Failed(Code.BLOCKED_BY_RULE, verdict.because, {"rule": verdict.rule})


def look(shop: Shop, admitted: Admitted, watch: Watch, *, only_looking: bool = False) -> Looked:
    """Find out what the call would do: a tool that only has the workspace is run on a draft of it.

    ``only_looking`` is for looks that no call follows: should one take too long, nothing is written down.
    """
    tool = admitted.tool
    if not BEHAVIOUR[tool.config.type].executes_code:
        return _look_at_documents(shop, admitted)
    if tool.config.effects == "external":
        return _look_outside(shop, admitted)
    if tool.config.effects == "code":
        return _look_at_code(shop, admitted)
    if tool.preview is not None:
        looked = _look_at_what_it_shows(shop, admitted)
        if looked.ending is not None or looked.preview.external:
            return looked
    draft = draft_for(shop, admitted, writable=tool.config.effects == "files")
    ending = run_function(
        shop,
        admitted,
        draft,
        watch,
        lambda: too_late(shop, admitted, draft, watch, only_looking=only_looking),
    )
    preview = draft.preview()
    if preview.changes and isinstance(ending, Done):
        written = sum(change.size for change in preview.changes if not change.source)
        ending = replace(ending, meta={**ending.meta, "bytes_written": written})
        preview = with_conflicts(shop, admitted.call, preview)
    return Looked(admitted, preview, draft, ending)


def _look_outside(shop: Shop, admitted: Admitted) -> Looked:
    """Take the word of a tool that acts outside on what it would do there; where it has none, nobody can see it."""
    try:
        foreseen = foretold(admitted.tool, admitted.call.arguments)
        drafts = only_drafts(admitted.tool, foreseen)
        looked = Looked(admitted, foreseen, drafts=drafts)
        return _look_where_it_saves(shop, looked) if foreseen.saves else looked
    except ToolError as error:
        return replace(_failing(shop, admitted, error), mistaken=True)
    except Exception as error:  # noqa: BLE001 - the code of a tool's author may raise anything
        said = f"{admitted.tool.name} cannot say what it would do: {described(error)}"
        return _failing(shop, admitted, ToolError(Code.EXECUTION_ERROR, said))


def _failing(shop: Shop, admitted: Admitted, error: ToolError) -> Looked:
    """Say how a call outside would fail; what it would do there, nobody knows."""
    draft = draft_for(shop, admitted)
    draft.close()
    return Looked(admitted, Preview(external=True), draft, Failed.by(error))


def _look_where_it_saves(shop: Shop, looked: Looked) -> Looked:
    """Find out, before a call runs, whether the files it names can be written; a path has one name from here on."""
    draft = draft_for(shop, looked.admitted, writable=True)
    try:
        where = tuple(draft.write_bytes(path, b"") for path in looked.preview.saves)
    except ToolError as error:
        return _failing(shop, looked.admitted, error)
    finally:
        draft.close()
    return replace(looked, preview=replace(looked.preview, saves=where), coming=draft.preview().changes)


def _look_at_code(shop: Shop, admitted: Admitted) -> Looked:
    """Say what would be run, and what the files it names hold now: whoever approves code approves it with those."""
    looked = _look_outside(shop, admitted)
    if looked.ending is not None:
        return looked
    draft = draft_for(shop, admitted)
    try:
        for path in looked.preview.names:
            with suppress(ToolError):
                if draft.look(path).kind == "file":
                    draft.read(path, LARGEST_NAMED)
    finally:
        draft.close()
    # A word that names nothing is most often no path at all; should it name a file later, the preview is another one.
    reads = tuple(seen for seen in draft.preview().reads if digest_in(seen.state) is not None)
    return replace(looked, preview=replace(looked.preview, reads=reads))


def _look_at_what_it_shows(shop: Shop, admitted: Admitted) -> Looked:
    """Ask a tool that mostly reads whether this call reaches outside; one that does has the files it names read first.

    What it would show to others is judged before it is shown, and it is run only once that is allowed.
    """
    looked = _look_outside(shop, admitted)
    if looked.ending is not None or not looked.preview.external:
        return looked
    draft = draft_for(shop, admitted)
    try:
        for path in looked.preview.names:
            draft.keep(path)
    except ToolError as error:
        looked = _failing(shop, admitted, error)
    finally:
        draft.close()
    return replace(looked, preview=replace(looked.preview, reads=draft.preview().reads))


def too_late(
    shop: Shop,
    admitted: Admitted,
    draft: Draft,
    watch: Watch,
    *,
    only_looking: bool = False,
    approval_id: str | None = None,
) -> Settled:
    """End a call whose function is still running on a draft: from here on it can touch nothing."""
    draft.close()
    ending = timed_out(admitted, watch)
    if only_looking:
        return ending
    payload = payloads.proposed(admitted.call, admitted.tool) | payloads.closed(ending)
    if approval_id is not None:
        payload["approval"] = approval_id
    return replace(ending, tag=shop.books.record(admitted.call, EntryKind.CALLED, payload, approval_id))


def draft_for(
    shop: Shop, admitted: Admitted, *, writable: bool = False, granted: Preview | None = None
) -> Draft:
    """Return a view of the workspace for one call: what a rule denies is hidden from walks, what one minds is named.

    Of what rules ask about, code sees what the preview it was ``granted`` on says it reads.
    """
    rules, name, role = shop.rules, admitted.tool.name, admitted.call.role
    heard = frozenset(seen.path for seen in granted.reads) if granted else frozenset()
    return Draft(
        shop.workspace,
        writable=writable,
        hidden=lambda path: rules.hides(path, name, role) is not None,
        minded=lambda path: rules.watches(path, name, role),
        unspoken=lambda paths: rules.is_silent_about(paths, name),
        unheard=lambda path: rules.asks_to_read(path, name, role, heard),
    )


def _look_at_documents(shop: Shop, admitted: Admitted) -> Looked:
    """A kind that runs no code only writes down its input; documents it passes on must be there, and readable."""
    draft = draft_for(shop, admitted)
    carried: tuple[Carried, ...] = ()
    receiver = Receiver(0)
    ending: Settled = Done({"logged": True})
    kind, target = admitted.tool.config.type, ""
    try:
        if kind is ToolType.AGENT_AS_TOOL:
            target = _required_target(shop, admitted.call)
        if BEHAVIOUR[kind].passes_documents:
            paths = list(_documents(admitted.call.arguments, draft))
            if paths:
                receiver = receiver_of(shop, admitted.call, target, asks=kind is ToolType.ASK_MASTER)
                study = shop.library.study if shop.library else None
                seconds = admitted.tool.config.limits.working_seconds / 2
                carried = carry(draft, paths, receiver, shop.books.blobs.put, study, seconds)
    except ToolError as error:
        ending = Failed.by(error)
    finally:
        draft.close()
    return Looked(admitted, draft.preview(), draft, ending, carried=carried, receiver=receiver.role)


def _documents(arguments: Mapping[str, Any], draft: Draft) -> Iterator[str]:
    target = arguments.get("target_file")
    for path in (*(arguments.get("documents") or ()), *([target] if target else ())):
        draft.require_shown(path)
        # The file a task is to work on need not exist yet; where it does, it travels.
        if path != target or draft.exists(path):
            yield path


def _required_target(shop: Shop, call: Call) -> str:
    target = shop.roles.target_of(call.tool, call.arguments)
    if target not in shop.agents.roles:
        shop.agents.role(target)
    refusal = shop.roles.may_delegate(call.role, target)
    if refusal is not None:
        raise ToolError(Code.NOT_ALLOWED, refusal)
    return target


def _with_project_defaults(shop: Shop, tool: Tool, arguments: Any) -> Any:
    chosen = shop.tool_settings.get(tool.name)
    if chosen is None or not isinstance(arguments, Mapping):
        return arguments
    given = {tool.config.argument_names.get(name, name) for name in arguments}
    return {name: value for name, value in chosen.defaults.items() if name not in given} | dict(arguments)


def _outweighs(arguments: Mapping[str, Any], most: int) -> bool:
    # Measuring means writing it all out; a call of a few short texts and numbers is nowhere near.
    if len(arguments) <= FEW and all(map(_is_short, arguments.values())):
        return False
    return len(stored_json(arguments)) > most


def _is_short(value: Any) -> bool:
    return len(value) < SHORT if isinstance(value, str) else not isinstance(value, list | dict)


def _unknown_tool(shop: Shop, call: Call) -> str:
    if call.role == OPERATOR:
        close = shop.registry.closest(call.tool)
        meant = f"; did you mean {close}?" if close else "."
        return f"there is no tool {call.tool!r}{meant} `brasstag tools` lists them all"
    # An agent has no command line; what it may use is all that helps it.
    usable = sorted(
        tool.name for tool in shop.registry.list() if shop.roles.why_not(call.role, tool.name) is None
    )
    close = did_you_mean(call.tool, usable)
    meant = f"; did you mean {close}?" if close else "."
    return f"there is no tool {call.tool!r}{meant} You may use {', '.join(usable)}"
