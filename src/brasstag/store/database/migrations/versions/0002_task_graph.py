"""The task graph: parents, wakes, epochs and spendings of tasks; memories."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_TEXTS = ("parent_id", "parent_call", "tree", "queue", "title", "woken_at")
_COUNTS = ("depth", "wake", "epoch", "attempts", "steps", "children")
_SUMS = ("tokens", "cost", "milliseconds")


def upgrade() -> None:
    """Bring an older database up to this revision."""
    with op.batch_alter_table("tasks") as batch:
        for name in _TEXTS:
            batch.add_column(sa.Column(name, sa.Text(), nullable=False, server_default=""))
        for name in _COUNTS:
            batch.add_column(sa.Column(name, sa.Integer(), nullable=False, server_default="0"))
        for name in _SUMS:
            batch.add_column(sa.Column(name, sa.BigInteger(), nullable=False, server_default="0"))
        batch.add_column(sa.Column("budget", sa.Text(), nullable=False, server_default="{}"))
        batch.create_index("tasks_by_tree", ["tree"])
        batch.create_index("tasks_by_parent", ["parent_id"])
    op.create_table(
        "memories",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("tree", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("task_id", sa.Text(), nullable=False),
        sa.Column("call_id", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("signature", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("call_id", name="memories_call"),
    )
    op.create_index("memories_by_role", "memories", ["role"])
    op.create_index("approvals_by_task", "approvals", ["task_id", "state"])
