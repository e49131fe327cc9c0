"""Preview an admitted call: find out what it would do, without doing it."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from brasstag.documents.reading.carry import Receiver, carry
from brasstag.engine.calls import record
from brasstag.engine.calls.admit import Admitted
from brasstag.engine.calls.conflicts import with_conflicts
from brasstag.engine.calls.function import described, run_function, timed_out
from brasstag.engine.calls.tool_facts import foretold, only_drafts
from brasstag.engine.calls.types import Looked
from brasstag.engine.deadline import Deadline
from brasstag.engine.graph.receivers import receiver_of
from brasstag.engine.runtime import Runtime
from brasstag.sandbox.workspace.draft import Draft
from brasstag.toolkit.kinds import BEHAVIOUR, ToolType
from brasstag.words.calls import Call, Done, Failed, Settled
from brasstag.words.documents import Carried
from brasstag.words.errors import Code, ToolError
from brasstag.words.previews import Preview, digest_in

LARGEST_NAMED = 50_000_000
"""A file larger than this is not bound to the approval of code that names it."""


def preview(
    runtime: Runtime, admitted: Admitted, deadline: Deadline, *, only_looking: bool = False
) -> Looked:
    """Find out what the call would do: a tool that only has the workspace is run on a draft of it.

    ``only_looking`` is for looks that no call follows: should one take too long, nothing is written down.
    """
    tool = admitted.tool
    if not BEHAVIOUR[tool.config.type].executes_code:
        return _look_at_documents(runtime, admitted)
    if tool.config.effects == "external":
        return _look_outside(runtime, admitted)
    if tool.config.effects == "code":
        return _look_at_code(runtime, admitted)
    if tool.preview is not None:
        looked = _look_at_what_it_shows(runtime, admitted)
        if looked.ending is not None or looked.preview.external:
            return looked
    draft = draft_for(runtime, admitted, writable=tool.config.effects == "files")
    ending = run_function(
        runtime,
        admitted,
        draft,
        deadline,
        lambda: too_late(runtime, admitted, draft, deadline, only_looking=only_looking),
    )
    found = draft.preview()
    if found.changes and isinstance(ending, Done):
        written = sum(change.size for change in found.changes if not change.source)
        ending = replace(ending, meta={**ending.meta, "bytes_written": written})
        found = with_conflicts(runtime, admitted.call, found)
    return Looked(admitted, found, draft, ending)


def _look_outside(runtime: Runtime, admitted: Admitted) -> Looked:
    """Ask a tool that acts outside what it would do there; if the tool cannot say, its effects cannot be foreseen."""
    try:
        foreseen = foretold(admitted.tool, admitted.call.arguments)
        drafts = only_drafts(admitted.tool, foreseen)
        looked = Looked(admitted, foreseen, drafts=drafts)
        return _look_where_it_saves(runtime, looked) if foreseen.saves else looked
    except ToolError as error:
        return replace(_failing(runtime, admitted, error), mistaken=True)
    except Exception as error:  # noqa: BLE001 - the code of a tool's author may raise anything
        said = f"{admitted.tool.name} cannot say what it would do: {described(error)}"
        return _failing(runtime, admitted, ToolError(Code.EXECUTION_ERROR, said))


def _failing(runtime: Runtime, admitted: Admitted, error: ToolError) -> Looked:
    """Say how a call outside would fail; what it would do there is not known."""
    draft = draft_for(runtime, admitted)
    draft.close()
    return Looked(admitted, Preview(external=True), draft, Failed.by(error))


def _look_where_it_saves(runtime: Runtime, looked: Looked) -> Looked:
    """Find out, before a call runs, whether the files it names can be written; a path has one name from here on."""
    draft = draft_for(runtime, looked.admitted, writable=True)
    try:
        where = tuple(draft.write_bytes(path, b"") for path in looked.preview.saves)
    except ToolError as error:
        return _failing(runtime, looked.admitted, error)
    finally:
        draft.close()
    return replace(looked, preview=replace(looked.preview, saves=where), coming=draft.preview().changes)


def _look_at_code(runtime: Runtime, admitted: Admitted) -> Looked:
    """Say what would be run, and what the files it names hold now: who approves code approves it with those files."""
    looked = _look_outside(runtime, admitted)
    if looked.ending is not None:
        return looked
    draft = draft_for(runtime, admitted)
    try:
        for path in looked.preview.names:
            with suppress(ToolError):
                if draft.look(path).kind == "file":
                    draft.read(path, LARGEST_NAMED)
    finally:
        draft.close()
    # A word that names no file is most often no path. If it names a file later, the preview will differ.
    reads = tuple(seen for seen in draft.preview().reads if digest_in(seen.state) is not None)
    return replace(looked, preview=replace(looked.preview, reads=reads))


def _look_at_what_it_shows(runtime: Runtime, admitted: Admitted) -> Looked:
    """Ask a tool that mostly reads whether this call reaches outside; if so, the files it names are read first.

    What it would show to others is judged before it is shown. The call runs only once that is allowed.
    """
    looked = _look_outside(runtime, admitted)
    if looked.ending is not None or not looked.preview.external:
        return looked
    draft = draft_for(runtime, admitted)
    try:
        for path in looked.preview.names:
            draft.keep(path)
    except ToolError as error:
        looked = _failing(runtime, admitted, error)
    finally:
        draft.close()
    return replace(looked, preview=replace(looked.preview, reads=draft.preview().reads))


def too_late(
    runtime: Runtime,
    admitted: Admitted,
    draft: Draft,
    deadline: Deadline,
    *,
    only_looking: bool = False,
    approval_id: str | None = None,
) -> Settled:
    """End a call whose function is still running on a draft: from here on it can touch nothing."""
    draft.close()
    ending = timed_out(admitted, deadline)
    if only_looking:
        return ending
    return record.late(runtime, admitted, ending, approval_id)


def draft_for(
    runtime: Runtime, admitted: Admitted, *, writable: bool = False, granted: Preview | None = None
) -> Draft:
    """Return a view of the workspace for one call: what a rule denies is hidden in walks, what it asks about is named.

    Of what rules ask about, code sees what the preview it was ``granted`` on says it reads.
    """
    rules, name, role = runtime.rules, admitted.tool.name, admitted.call.role
    heard = frozenset(seen.path for seen in granted.reads) if granted else frozenset()
    return Draft(
        runtime.workspace,
        writable=writable,
        hidden=lambda path: rules.hides(path, name, role) is not None,
        minded=lambda path: rules.watches(path, name, role),
        unspoken=lambda paths: rules.is_silent_about(paths, name),
        unheard=lambda path: rules.asks_to_read(path, name, role, heard),
    )


def _look_at_documents(runtime: Runtime, admitted: Admitted) -> Looked:
    """Preview a kind that only records its input and runs no code; documents it passes on must be readable."""
    draft = draft_for(runtime, admitted)
    carried: tuple[Carried, ...] = ()
    receiver = Receiver(0)
    ending: Settled = Done({"logged": True})
    kind, target = admitted.tool.config.type, ""
    try:
        if kind is ToolType.AGENT_AS_TOOL:
            target = _required_target(runtime, admitted.call)
        if BEHAVIOUR[kind].passes_documents:
            paths = list(_documents(admitted.call.arguments, draft))
            if paths:
                receiver = receiver_of(runtime, admitted.call, target, asks=kind is ToolType.ASK_MASTER)
                study = runtime.library.study if runtime.library else None
                seconds = admitted.tool.config.limits.working_seconds / 2
                carried = carry(draft, paths, receiver, runtime.store.blobs.put, study, seconds)
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


def _required_target(runtime: Runtime, call: Call) -> str:
    target = runtime.roles.target_of(call.tool, call.arguments)
    if target not in runtime.agents.roles:
        runtime.agents.role(target)
    refusal = runtime.roles.may_delegate(call.role, target)
    if refusal is not None:
        raise ToolError(Code.NOT_ALLOWED, refusal)
    return target
