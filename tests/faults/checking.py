"""What must hold after every fault: each call ended once, chains unbroken, effects whole and at most once, nothing stuck."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from brasstag import Room
from brasstag.engine.transcript.state import CLOSING
from brasstag.engine.transcript.state import is_doubt as leaves_doubt
from brasstag.store.database.schema import leases
from brasstag.store.tasks.rows import Task
from brasstag.words.approvals import ApprovalState
from brasstag.words.events import Entry, EntryKind
from brasstag.words.ids import TurnCall
from tests.faults.mill import REPLAYS, Mill

Timelines = dict[str, list[Entry]]

_BELOW = frozenset({EntryKind.DELEGATED, EntryKind.QUESTIONED})
_LIVE = (ApprovalState.OPEN, ApprovalState.APPROVED)
RUNS = {"ask": (0, 1), "check": (0, 1), "safe": (0, 99)}
"""How often a call may have run, by what its tool says of running it again."""


async def violations(room: Room, mill: Mill) -> list[str]:
    """Return whatever does not hold; an empty list means that the room survived."""
    tasks = [task for task in await room.tasks() if task.kind != "desk"]
    timelines: Timelines = defaultdict(list)
    for entry in await room.timeline():
        timelines[entry.task_id].append(entry)
    report = await room.verify()
    found = [f"{finding.where}: {finding.what}" for finding in report.findings]
    for task in tasks:
        found += [f"{task.id} ({task.role}): {what}" for what in _of_task(task, timelines[task.id])]
    found += _of_families(tasks, timelines)
    found += _of_effects(mill, timelines)
    found += [
        f"{path} is still held" for path in room.store.read(lambda view: view.execute(leases.select()).all())
    ]
    found += [f"{approval.id} still waits" for approval in await room.approvals(*_LIVE)]
    found += [f"{name} was left in the workspace" for name in mill.files() if name.startswith(".brasstag")]
    return found


def ends_of(entries: list[Entry]) -> Counter[str]:
    """Return how often each call was ended."""
    return Counter(entry.call_id for entry in entries if is_end(entry))


def is_end(entry: Entry) -> bool:
    """Say whether an entry ends its call; where nobody knows what came of it, only a person's word does."""
    outcome = (entry.payload or {}).get("outcome")
    decided = entry.kind is EntryKind.DECIDED and outcome is not None
    return (entry.kind in CLOSING or decided) and not is_doubt(entry)


def is_doubt(entry: Entry) -> bool:
    """Say whether an entry leaves open what came of its call."""
    return leaves_doubt(entry.payload or {})


def _of_task(task: Task, entries: list[Entry]) -> Iterator[str]:
    if not task.has_ended:
        yield f"is stuck: {task.status}"
    kinds = Counter(entry.kind for entry in entries)
    if kinds[EntryKind.CLOSED] != kinds[EntryKind.RESUMED] + task.has_ended:
        yield f"ended {kinds[EntryKind.CLOSED]} times"
    turns = [entry.payload or {} for entry in entries if entry.kind is EntryKind.TURN]
    if [turn["turn"] for turn in turns] != list(range(len(turns))):
        yield f"has turns {[turn['turn'] for turn in turns]}"
    made = {
        TurnCall(task.id, turn["turn"], index).id: made
        for turn in turns
        for index, made in enumerate(turn["calls"])
    }
    ends = ends_of(entries)
    claimed = {entry.call_id for entry in entries if entry.kind is EntryKind.CLAIMED}
    claimed -= {entry.call_id for entry in entries if is_doubt(entry)}
    for name in made:
        # A task that is done has had a person's word on every doubt.
        must = task.status == "done" or name in claimed
        if ends[name] > 1 or (must and ends[name] == 0):
            yield f"call {name} ended {ends[name]} times"
    for name in ends.keys() - made.keys():
        yield f"call {name} ended, but was never made"


def _of_families(tasks: list[Task], timelines: Timelines) -> Iterator[str]:
    """A call opens one task, and a task is opened by the call that says so."""
    told = {
        (entry.payload or {})["child"]: entry.call_id
        for entries in timelines.values()
        for entry in entries
        if entry.kind in _BELOW
    }
    # About a doubt a person is asked again after a run was stopped.
    doubts = [entry for entries in timelines.values() for entry in entries if _asks_of_doubt(entry)]
    about_doubts = {(entry.payload or {})["child"] for entry in doubts}
    by_call = Counter(call for child, call in told.items() if child not in about_doubts)
    yield from (f"call {name} opened {count} tasks" for name, count in by_call.items() if count > 1)
    for task in tasks:
        if task.parent_call != told.get(task.id, ""):
            yield f"{task.id} was opened by {task.parent_call or 'nobody'}, the timelines say by {told.get(task.id)}"


def _asks_of_doubt(entry: Entry) -> bool:
    return entry.kind is EntryKind.QUESTIONED and "doubt" in (entry.payload or {})


def _of_effects(mill: Mill, timelines: Timelines) -> Iterator[str]:
    """What happened outside is what the timelines say: done once, unknown at most once, failed never."""
    done = mill.done()
    for entries in timelines.values():
        for entry in entries:
            payload = entry.payload or {}
            replay = REPLAYS.get(payload.get("tool", ""))
            is_word = entry.kind is EntryKind.ANSWERED
            if not (is_end(entry) or is_doubt(entry)) or is_word or replay is None:
                continue
            ran = done.pop((payload["tool"], entry.call_id), 0)
            least, most = RUNS[replay]
            least = 1 if payload["outcome"] == "done" else least
            most = 0 if payload["outcome"] == "failed" and replay != "safe" else most
            if not least <= ran <= most:
                yield f"{payload['tool']} {entry.call_id} ran {ran} times and ended {payload['outcome']}"
    for name, call_id in done:
        if name in REPLAYS:
            yield f"{name} {call_id} ran, but nobody says how it ended"
