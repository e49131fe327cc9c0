"""Timed permissions: what people allow a role to do with a tool until a time."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Bring an older database up to this revision."""
    op.create_table(
        "permissions",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("pattern", sa.Text(), nullable=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("approver", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("policy", sa.Text(), nullable=False),
        sa.Column("granted_at", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.Text(), nullable=False),
        sa.Column("task_id", sa.Text(), nullable=False),
        sa.Column("call_id", sa.Text(), nullable=False),
        sa.Column("approval_id", sa.Text(), nullable=False),
        sa.Column("revoked_at", sa.Text()),
        sa.Column("revoked_by", sa.Text()),
        sa.Column("used_at", sa.Text(), nullable=False, server_default=""),
    )
    op.create_index("permissions_by_tool", "permissions", ["tool", "role", "expires_at"])
