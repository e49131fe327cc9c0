"""Growth: how many tasks a task may open, and how many may stand above one another, by its own limits and its run's."""

from dataclasses import replace

from brasstag.words.budgets import Budget, Limits
from brasstag.words.errors import Code, ToolError


def most_children(limits: Limits) -> int | None:
    """Return how many tasks a task may open; None is no limit."""
    return _least(limits.own.max_children, limits.run.max_children)


def limits_below(above: Limits, depth: int, role: Budget) -> Limits:
    """Return the limits of a task of a role, opened by a task so deep; raise ToolError where none may stand there.

    The run's depth counts from its root, a task's own from itself; what is left of that holds for all below it.
    """
    own = above.own.max_depth
    deepest = _least(above.run.max_depth, None if own is None else depth + own)
    if deepest is not None and depth + 1 >= deepest:
        raise ToolError(
            Code.BUDGET_EXCEEDED,
            f"this would be task {depth + 2} above one another, of {deepest} allowed; do it yourself, or hand off "
            "what there is",
            {"limit": "max_depth"},
        )
    return Limits(
        replace(role, max_depth=_least(role.max_depth, None if own is None else own - 1)), above.run
    )


def _least(*limits: int | None) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)
