"""After a crash: finish a change, take it back, or say that a person has to look."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from brasstag.sandbox.workspace.change.apply import carry_out, ignore_step, take_back
from brasstag.sandbox.workspace.change.change_site import Site
from brasstag.sandbox.workspace.change.closed_directories import close_directories, open_directories
from brasstag.sandbox.workspace.change.leftovers import ChangeProgress, Scene
from brasstag.sandbox.workspace.change.steps import Step, steps_for
from brasstag.sandbox.workspace.change.sweep import sweep
from brasstag.sandbox.workspace.errors import Unsettled, shown
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.words.errors import BrasstagError, ToolError
from brasstag.words.previews import Change

__all__ = ["Recovery", "recover_changes", "sweep"]


class Recovery(NamedTuple):
    """How a call that was cut short ended."""

    state: Literal["applied", "not_applied", "unknown"]
    details: Mapping[str, Any]
    """``message`` and, when it was not applied, ``code``; ``kept`` names bytes of others now in the blobs."""


def recover_changes(
    workspace: Workspace, call_id: str, changes: Sequence[Change], at: Callable[[str], None] = ignore_step
) -> Recovery:
    """Settle the changes of a call whose process died between claim and settle.

    May be cut short itself and repeated. The caller makes sure that no other process works on this call.
    """
    site = Site(workspace, call_id, changes, at)
    try:
        for change in changes:
            for path in change.paths:
                workspace.control.refuse(path)
        open_directories(site)
        findings = [Scene(site, index, change).settle() for index, change in enumerate(changes)]
        return _conclude(site, findings)
    except Unsettled as error:
        return Recovery("unknown", {"message": error.message, **error.details})
    except (BrasstagError, OSError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        return Recovery("unknown", {"message": f"the workspace could not be looked at: {why}"})


def _conclude(site: Site, findings: Sequence[ChangeProgress]) -> Recovery:
    done = [step for step in _steps(site, findings, ChangeProgress.DONE) if step.adopt()]
    # While one change is not made, none is finished. Then a path that is neither before nor after was changed
    # by another program before this call reached it.
    unfinished = site.is_begun() or ChangeProgress.PENDING in findings or ChangeProgress.CONFLICT in findings
    strange = _paths(site, findings, ChangeProgress.CONFLICT) + _paths(site, findings, ChangeProgress.LOST)
    if strange and unfinished:
        take_back(site, done, None)
        return _not_applied(site.changed(strange[0]))
    if strange:
        site.keep_all()
        site.clear()
        close_directories(site)
        message = "another program changed this too, and it is not known whether before or after this call"
        return Recovery("unknown", {"message": message, "paths": strange, "kept": site.kept})
    try:
        carry_out(site, _steps(site, findings, ChangeProgress.PENDING), done)
    except ToolError as error:
        return _not_applied(error)
    return Recovery("applied", {"kept": site.kept} if site.kept else {})


def _steps(site: Site, findings: Sequence[ChangeProgress], wanted: ChangeProgress) -> list[Step]:
    return [
        step
        for index, (change, finding) in enumerate(zip(site.changes, findings, strict=True))
        if finding is wanted
        for step in steps_for(site, index, change)
    ]


def _paths(site: Site, findings: Sequence[ChangeProgress], wanted: ChangeProgress) -> list[str]:
    pairs = zip(site.changes, findings, strict=True)
    return [shown(change.path) for change, finding in pairs if finding is wanted]


def _not_applied(error: ToolError) -> Recovery:
    return Recovery("not_applied", {"code": error.code.value, "message": error.message, **error.details})
