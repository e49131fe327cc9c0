"""Tasks: the runs of a room as outlines, and what can be done with each."""

from brasstag.app import Overview, look_over_all
from brasstag.store import Task
from brasstag.surfaces.web.routes import Visit, WebAction, WebModel, WebPage
from brasstag.words.budgets import Budget, dollars

NEWEST = 20
"""How many ended runs are listed beside those that have not ended."""


class TaskRow(WebModel):
    """One task in an outline."""

    id: str
    role: str
    kind: str
    status: str
    title: str
    waits_for: list[str]
    depth: int
    parent: str
    steps: int
    tokens: int
    cost: str
    opened_at: str
    closed_at: str | None


class TasksView(WebModel):
    """The runs of a room, the newest first; each is a list of tasks, parents before children."""

    runs: list[list[TaskRow]]
    roles: list[str]
    lead: str


async def tasks(visit: Visit) -> TasksView:
    """Return the runs of a room."""
    room = visit.room
    overview = await room.runs.look(lambda view: look_over_all(view, NEWEST))
    runs = [[*_outline(overview, root, 0)] for root in overview.roots()]
    return TasksView(runs=runs[::-1], roles=room.runs.roles(), lead=room.runs.lead())


def _outline(overview: Overview, task: Task, depth: int) -> list[TaskRow]:
    row = TaskRow(
        id=task.id,
        role=task.role,
        kind=task.kind,
        status=task.status,
        title=task.title,
        waits_for=overview.waits_for(task),
        depth=depth,
        parent=task.parent_id,
        steps=task.steps,
        tokens=task.tokens,
        cost=dollars(task.cost),
        opened_at=task.opened_at,
        closed_at=task.closed_at,
    )
    below = [one for child in overview.below(task) for one in _outline(overview, child, depth + 1)]
    return [row, *below]


class StartBody(WebModel):
    """A request to the crew."""

    request: str
    role: str = ""
    documents: tuple[str, ...] = ()
    model: str = ""
    max_steps: int | None = None
    max_dollars: float | None = None


class StartedRun(WebModel):
    """The run that was begun."""

    run: str


async def start(visit: Visit, body: StartBody) -> StartedRun:
    """Begin a run; the server works on it."""
    run = await visit.room.start(
        body.request,
        role=body.role,
        documents=body.documents,
        model=body.model,
        budget=Budget(max_steps=body.max_steps, max_dollars=body.max_dollars),
    )
    return StartedRun(run=run)


PAGES = (
    WebPage(
        "/tasks", "tasks.html", TasksView, tasks, "The runs of a room as outlines of tasks.", nav="tasks"
    ),
)
ACTIONS = (WebAction("/tasks", StartBody, StartedRun, start, "Begin a run of the crew."),)
