"""Transitions of a task between states; each statement names the state it starts from."""

from sqlalchemy import bindparam, case, func, or_, select, update

from brasstag.settings.crew import PERSON
from brasstag.store.database.schema import tasks
from brasstag.store.database.statements import Prepared
from brasstag.store.tasks.hints import OUTSIDE

ASIDE = ""
"""``boot`` of a task that lets others of its run go first: it is ready, but is offered to no worker meanwhile."""

take = Prepared(
    update(tasks)
    .where(tasks.c.id == bindparam("task"), tasks.c.wake == bindparam("at_wake"), tasks.c.status == "ready")
    .values(
        status="running", epoch=tasks.c.epoch + 1, attempts=tasks.c.attempts + 1, boot=bindparam("by_boot")
    )
    .returning(tasks)
)
wake = Prepared(
    update(tasks)
    .where(tasks.c.id == bindparam("task"), tasks.c.status == "blocked", tasks.c.kind != "desk")
    .where(tasks.c.role != PERSON)
    .values(status="ready", wake=tasks.c.wake + 1, woken_at=bindparam("at"))
    .returning(tasks.c.queue, tasks.c.wake)
)
block = Prepared(
    update(tasks)
    .where(
        tasks.c.id == bindparam("task"),
        tasks.c.epoch == bindparam("held"),
        tasks.c.status == "running",
        tasks.c.next_seq == bindparam("seen"),
    )
    .values(status="blocked", attempts=0)
)
let_go = Prepared(
    update(tasks)
    .where(tasks.c.id == bindparam("task"), tasks.c.epoch == bindparam("held"), tasks.c.status == "running")
    .values(
        status="ready",
        wake=tasks.c.wake + 1,
        woken_at=bindparam("at"),
        attempts=case(
            (tasks.c.attempts > bindparam("unspent"), tasks.c.attempts - bindparam("unspent")), else_=0
        ),
    )
    .returning(tasks.c.queue, tasks.c.wake)
)
give_up = Prepared(
    update(tasks)
    .where(tasks.c.id == bindparam("task"), tasks.c.epoch == bindparam("held"), tasks.c.status == "running")
    .values(status="failed", closed_at=bindparam("at"))
)
_whole = tasks.alias("whole")
_steps_of_run = (
    select(func.sum(_whole.c.steps)).where(_whole.c.tree == bindparam("of_tree")).scalar_subquery()
)
_steps_spoken_for = (
    select(func.sum(_whole.c.steps + case((_whole.c.status == "running", 1), else_=0)))
    .where(_whole.c.tree == bindparam("of_tree"))
    .scalar_subquery()
)
"""Steps taken, and one for each task that runs: it may be about to take one."""

step_aside = Prepared(
    update(tasks)
    .where(tasks.c.id == bindparam("task"), tasks.c.epoch == bindparam("held"))
    .where(or_(tasks.c.status == "running", tasks.c.status == "ready"))
    .values(
        status="ready",
        boot=bindparam("by_boot"),
        woken_at=bindparam("at"),
        wake=tasks.c.wake + 1,
        attempts=0,
    )
    .returning(tasks.c.queue, tasks.c.wake)
)

come_forward = Prepared(
    update(tasks)
    .where(tasks.c.id == bindparam("task"), tasks.c.status == "ready", tasks.c.boot == ASIDE)
    .values(boot=bindparam("by_boot"))
)
step_in = Prepared(
    update(tasks)
    .where(tasks.c.id == bindparam("task"), tasks.c.epoch == bindparam("held"), tasks.c.status == "ready")
    .where(or_(_steps_spoken_for < bindparam("most_steps"), _steps_of_run >= bindparam("most_steps")))
    .values(status="running", boot=bindparam("by_boot"))
)
one_more_child = Prepared(
    update(tasks)
    .where(tasks.c.id == bindparam("task"), tasks.c.children < bindparam("most"))
    .values(children=tasks.c.children + 1)
)
_reopen = (
    update(tasks)
    .where(tasks.c.id == bindparam("task"))
    .values(
        status="ready",
        wake=tasks.c.wake + 1,
        woken_at=bindparam("at"),
        attempts=0,
        closed_at=None,
        budget=bindparam("new_budget"),
    )
    .returning(tasks.c.queue, tasks.c.wake)
)
_not_done = or_(tasks.c.status == "failed", tasks.c.status == "cancelled")
reopen = Prepared(_reopen.where(_not_done))
follow_up = Prepared(_reopen.where(or_(tasks.c.status == "done", _not_done)))
standing = Prepared(
    select(tasks.c.status, tasks.c.epoch, tasks.c.kind).where(tasks.c.id == bindparam("task"))
)

# Ids sort by age, and a child is younger than its parent.
hold_run = Prepared(
    select(tasks.c.id)
    .where(tasks.c.tree == bindparam("of_tree"))
    .order_by(tasks.c.id.desc())
    .with_for_update()
)
requeue = Prepared(
    update(tasks)
    .where(tasks.c.tree == bindparam("of_tree"), tasks.c.queue != OUTSIDE)
    .values(queue=bindparam("to_queue"))
)
