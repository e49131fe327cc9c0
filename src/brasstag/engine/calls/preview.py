"""Preview an admitted call: find out what it would do, without doing it."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from brasstag.documents.reading.carry import carry
from brasstag.engine.calls import record
from brasstag.engine.calls.admit import Admitted
from brasstag.engine.calls.function import described, note_traceback, run_function, scrub, timed_out
from brasstag.engine.calls.types import Failing, Foreseen, Passing, Previewed
from brasstag.engine.evidence import require_evidence
from brasstag.engine.graph.receivers import receiver_of, required_target
from brasstag.engine.in_flight import Deadline
from brasstag.engine.runtime import Runtime
from brasstag.policy.grants import Grant
from brasstag.policy.match.subjects import runs_unparsed_python
from brasstag.policy.verdict import CallVisibility
from brasstag.sandbox.workspace.draft import Draft
from brasstag.toolkit.kinds import Action, Recipient
from brasstag.words.calls import Call, Done, Failed, Settled
from brasstag.words.documents import Carried
from brasstag.words.errors import Code, LeaseHeld, ToolError
from brasstag.words.previews import Preview, digest_in

_REFUSED = 1
"""How Python ends where it cannot compile."""

LARGEST_NAMED = 50_000_000
"""A file larger than this is not bound to the approval of code that names it."""


def preview(
    runtime: Runtime, admitted: Admitted, deadline: Deadline, *, only_looking: bool = False
) -> Foreseen | Failing | Passing | Previewed:
    """Find out what the call would do: a tool that only has the workspace is run on a draft of it.

    ``only_looking`` is for previews that no call follows: should one take too long, nothing is written down.
    """
    tool = admitted.tool
    if not tool.config.behaviour.executes_code:
        return _pass_on(runtime, admitted)
    if tool.config.effects == "external":
        return _foresee(runtime, admitted)
    if tool.runs_code:
        return _foresee_code(runtime, admitted, deadline, only_looking=only_looking)
    if tool.preview is not None:
        foreseen = _foresee_showing(runtime, admitted)
        if isinstance(foreseen, Failing) or foreseen.preview.external:
            return foreseen
    draft = draft_for(runtime, admitted, writable=tool.config.effects == "files")
    ending = run_function(
        runtime,
        admitted,
        draft,
        deadline,
        lambda: too_late(runtime, admitted, draft, deadline, only_looking=only_looking),
    )
    found = draft.preview()
    if not isinstance(ending, Done):
        if draft.in_use and not only_looking:
            raise LeaseHeld(draft.in_use)
        return Failing(admitted, found, ending)
    if found.changes:
        ending = with_written(ending, found)
        found = with_conflicts(runtime, admitted.call, found)
    return Previewed(admitted, found, draft, ending)


def with_written(ending: Done, found: Preview) -> Done:
    """Return an ending that says how many bytes its changes write; a move writes none."""
    written = sum(change.size for change in found.changes if not change.source)
    return replace(ending, meta={**ending.meta, "bytes_written": written})


def with_conflicts(runtime: Runtime, call: Call, found: Preview) -> Preview:
    """Return a preview with the changes in it that would replace something newer than the call's task has seen."""
    return runtime.read_sets.with_conflicts(runtime.store, runtime.workspace, call.task_id, found)


def _foresee(runtime: Runtime, admitted: Admitted) -> Foreseen | Failing:
    """Ask a tool that acts outside what it would do there; if the tool cannot say, its effects cannot be foreseen."""
    tool = admitted.tool
    try:
        foreseen = tool.foresee(admitted.call.arguments)
        phase = Foreseen(admitted, foreseen, only_drafts=tool.only_drafts(foreseen))
        return _foresee_saving(runtime, phase) if foreseen.saves else phase
    except ToolError as error:
        return replace(_failing(admitted, error), mistaken=True)
    except Exception as error:  # noqa: BLE001 - the code of a tool's author may raise anything
        note_traceback(runtime, admitted, error)
        said = scrub(runtime, f"{tool.name} cannot say what it would do: {described(error)}")
        return _failing(admitted, ToolError(Code.EXECUTION_ERROR, said))


def _failing(admitted: Admitted, error: ToolError) -> Failing:
    """Say how a call outside would fail; what it would do there is not known."""
    return Failing(admitted, Preview(external=True), Failed.by(error))


def _foresee_saving(runtime: Runtime, phase: Foreseen) -> Foreseen | Failing:
    """Find out, before a call runs, whether the files it names can be written; a path has one name from here on."""
    draft = draft_for(runtime, phase.admitted, writable=True)
    try:
        where = tuple(draft.write_bytes(path, b"") for path in phase.preview.saves)
    except ToolError as error:
        return _failing(phase.admitted, error)
    finally:
        draft.close()
    return replace(phase, preview=replace(phase.preview, saves=where), coming=draft.preview().changes)


def _foresee_code(
    runtime: Runtime, admitted: Admitted, deadline: Deadline, *, only_looking: bool
) -> Foreseen | Failing | Previewed:
    """Say what would be run, and what the files it names hold now: who approves code approves it with those files."""
    phase = _foresee(runtime, admitted)
    if isinstance(phase, Failing):
        return phase
    if runs_unparsed_python(admitted.call) and not phase.preview.external:
        refused = _refused_by_compiler(runtime, admitted, deadline, only_looking=only_looking)
        if refused is not None:
            return refused
    draft = draft_for(runtime, admitted)
    try:
        for path in phase.preview.names:
            with suppress(ToolError):
                if draft.look(path).kind == "file":
                    draft.read(path, LARGEST_NAMED)
    finally:
        draft.close()
    # A word that names no file is most often no path. If it names a file later, the preview will differ.
    reads = tuple(seen for seen in draft.preview().reads if digest_in(seen.state) is not None)
    return replace(phase, preview=replace(phase.preview, reads=reads))


def _refused_by_compiler(
    runtime: Runtime, admitted: Admitted, deadline: Deadline, *, only_looking: bool
) -> Previewed | None:
    """Return the outcome of code that its interpreter refuses to compile; None where that compiles it.

    Nothing of the code runs. What compiles there and cannot be parsed here is for a person.
    """
    draft = draft_for(runtime, admitted)
    ending = run_function(
        runtime,
        replace(admitted, only_compiles=True),
        draft,
        deadline,
        lambda: too_late(runtime, admitted, draft, deadline, only_looking=only_looking),
    )
    refused = isinstance(ending, Done) and ending.value["exit_code"] == _REFUSED
    return Previewed(admitted, Preview(), draft, ending) if isinstance(ending, Done) and refused else None


def _foresee_showing(runtime: Runtime, admitted: Admitted) -> Foreseen | Failing:
    """Ask a tool that mostly reads whether this call reaches outside; if so, the files it names are read first.

    What it would show to others is judged before it is shown. The call runs only once that is allowed.
    """
    phase = _foresee(runtime, admitted)
    if isinstance(phase, Failing) or not phase.preview.external:
        return phase
    found: Foreseen | Failing = phase
    draft = draft_for(runtime, admitted)
    try:
        for path in phase.preview.names:
            draft.keep(path)
    except ToolError as error:
        found = _failing(admitted, error)
    finally:
        draft.close()
    return replace(found, preview=replace(found.preview, reads=draft.preview().reads))


def too_late(
    runtime: Runtime,
    admitted: Admitted,
    draft: Draft,
    deadline: Deadline,
    *,
    only_looking: bool = False,
    grant: Grant | None = None,
) -> Settled:
    """End a call whose function is still running on a draft: from here on it can touch nothing."""
    draft.close()
    ending = timed_out(admitted, deadline)
    if only_looking:
        return ending
    return record.late(runtime, admitted, ending, grant)


def draft_for(
    runtime: Runtime, admitted: Admitted, *, writable: bool = False, granted: Preview | None = None
) -> Draft:
    """Return a view of the workspace for one call: what a rule denies is hidden in walks, what it asks about is named.

    Of what rules ask about, code sees what the preview it was ``granted`` on says it reads.
    """
    read = frozenset(seen.path for seen in granted.reads) if granted else frozenset()
    visibility = CallVisibility(runtime.policy.rules, admitted.tool.name, admitted.call.role, read)
    return Draft(runtime.workspace, writable, visibility)


def _pass_on(runtime: Runtime, admitted: Admitted) -> Passing | Failing:
    """Preview a kind that only records its input and runs no code; documents it passes on must be readable."""
    call, recipient = admitted.call, admitted.tool.config.behaviour.documents_to
    draft, role = draft_for(runtime, admitted), ""
    carried: tuple[Carried, ...] = ()
    try:
        target = required_target(runtime, call) if recipient is Recipient.TARGET else ""
        paths = list(_documents(call.arguments, draft)) if recipient is not None else []
        if paths:
            receiver = receiver_of(runtime, call, target, asks=recipient is Recipient.MASTER)
            role = receiver.role
            study = runtime.library.study if runtime.library else None
            seconds = admitted.tool.config.limits.working_seconds / 2
            carried = carry(draft, paths, receiver, runtime.store.blobs.put, study, seconds)
        if admitted.tool.config.behaviour.action is Action.STOP:
            require_evidence(runtime, call.task_id, call.role, call.arguments.get("result"))
    except ToolError as error:
        return Failing(admitted, draft.preview(), Failed.by(error), receiver=role)
    finally:
        draft.close()
    return Passing(admitted, draft.preview(), carried, role)


def _documents(arguments: Mapping[str, Any], draft: Draft) -> Iterator[str]:
    target = arguments.get("target_file")
    for path in (*(arguments.get("documents") or ()), *([target] if target else ())):
        draft.require_shown(path)
        # The file a task is to work on need not exist yet; where it does, it travels.
        if path != target or draft.exists(path):
            yield path
