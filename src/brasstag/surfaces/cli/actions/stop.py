"""Stop a task and everything below it, and find out how its calls ended."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from brasstag.app import user_name
from brasstag.engine import RUNNABLE, open_calls, stop_task
from brasstag.surfaces.cli.session.rooms import open_store
from brasstag.surfaces.cli.terminal.console import OutputName, print_json, say, wants_json
from brasstag.surfaces.cli.terminal.exits import Exit
from brasstag.words.events import EntryKind
from brasstag.words.ids import TurnCall

if TYPE_CHECKING:
    from brasstag.store import Stopped, Store

PATIENCE_SECONDS = 5.0
"""How long calls that act get to come to an end before their outcome is reported as unknown."""

_GLANCE_SECONDS = 0.05
_NOT_YET = "unsettled"


@dataclass(frozen=True, slots=True)
class Acting:
    """A call that was acting when its task was stopped."""

    call: str
    tool: str
    outcome: str
    """done, failed or unknown; or unsettled, where no end of it has been written down yet."""

    @property
    def is_known(self) -> bool:
        """Whether it is known that the call happened, or that it did not."""
        return self.outcome in ("done", "failed")


def stop_and_tell(project: Path, name: str, output: OutputName | None) -> Exit:
    """Stop a task; tell what was stopped, what was withdrawn, and which calls have an unknown outcome."""
    with open_store(project) as room_state:
        stopped = stop_task(room_state.store, name, user_name())
        left = room_state.store.read(lambda view: open_calls(view, stopped.tasks))
        acting = list(_settled(room_state.store, stopped.acting))
        roles = {task: room_state.store.task(task).role for task in stopped.tasks}
    cut_off = [call for call in left if call.state in RUNNABLE and not call.doubtful]
    unknown = [call for call in acting if not call.is_known]
    top = stopped.tasks[-1]
    if wants_json(output):
        print_json(
            {
                "task": top,
                "status": "cancelled",
                "stopped": stopped.tasks,
                "withdrawn": [approval.id for approval in stopped.approvals],
                "acting": [asdict(call) for call in acting],
                "cutOff": [{"call": call.id, "tool": call.use.tool} for call in cut_off],
            }
        )
    else:
        _tell(top, stopped, acting, roles)
        for call in cut_off:
            say(f"  {call.use.tool} ({call.id}) was cut off before it changed anything")
    return Exit.UNKNOWN if unknown else Exit.DONE


def _tell(top: str, stopped: "Stopped", acting: Sequence[Acting], roles: dict[str, str]) -> None:
    say(f"Stopped {top}.", "green")
    for task in stopped.tasks[:-1]:
        say(f"  stopped {roles[task]} {task}")
    for approval in stopped.approvals:
        say(f"  withdrew {approval.tool} ({approval.id})")
    for call in acting:
        if call.is_known:
            say(f"  {call.tool} ({call.call}) was acting; it ended: {call.outcome}")
        else:
            say(f"  {call.tool} ({call.call}) was acting; whether it happened is not known", "red")
    if any(call.outcome == _NOT_YET for call in acting):
        say("  Its process has not reported yet; look again later with `brasstag timeline show`.")


def _settled(store: "Store", calls: Sequence[str]) -> Iterator[Acting]:
    """Yield how calls ended, after giving them some time to end."""
    until = time.monotonic() + PATIENCE_SECONDS
    for call in calls:
        while store.is_unsettled(call) and time.monotonic() < until:
            time.sleep(_GLANCE_SECONDS)
        yield _acting(store, call)


def _acting(store: "Store", call: str) -> Acting:
    place = TurnCall.of(call)
    entries = store.entries(place.task_id if place else None, call)
    tools = [entry.payload["tool"] for entry in entries if entry.payload and "tool" in entry.payload]
    ends = [entry.payload or {} for entry in entries if entry.kind is EntryKind.SETTLED]
    outcome = ends[0].get("outcome", _NOT_YET) if ends else _NOT_YET
    return Acting(call, str(tools[0]) if tools else "a tool", str(outcome))
