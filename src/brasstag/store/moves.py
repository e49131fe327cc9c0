"""The moves of a task from state to state: each statement says from where, so whoever comes second moves nothing."""

from sqlalchemy import bindparam, or_, select, update

from brasstag.settings.crew import PERSON
from brasstag.store.prepared import Prepared
from brasstag.store.schema import tasks

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
    .values(status="ready", wake=tasks.c.wake + 1, woken_at=bindparam("at"))
    .returning(tasks.c.queue, tasks.c.wake)
)
spend = Prepared(
    update(tasks)
    .where(tasks.c.id == bindparam("task"))
    .values(
        steps=tasks.c.steps + 1,
        tokens=tasks.c.tokens + bindparam("more_tokens"),
        cost=tasks.c.cost + bindparam("more_cost"),
        milliseconds=tasks.c.milliseconds + bindparam("more_time"),
        attempts=0,
    )
)
one_more_child = Prepared(
    update(tasks)
    .where(tasks.c.id == bindparam("task"), tasks.c.children < bindparam("most"))
    .values(children=tasks.c.children + 1)
)
reopen = Prepared(
    update(tasks)
    .where(tasks.c.id == bindparam("task"), or_(tasks.c.status == "failed", tasks.c.status == "cancelled"))
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
standing = Prepared(
    select(tasks.c.status, tasks.c.epoch, tasks.c.kind).where(tasks.c.id == bindparam("task"))
)

requeue = Prepared(
    update(tasks).where(tasks.c.tree == bindparam("of_tree")).values(queue=bindparam("to_queue"))
)
