"""Prompt tools: proposals, issues and what happened to each issue."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_PROPOSAL_TEXTS = (
    "tool_id", "state", "content", "author", "base", "screening", "harness", "assessment", "issue_id", "review_id",
    "opened_at", "updated_at", "note", "snapshot",
)  # fmt: skip
_ISSUE_TEXTS = (
    "title", "body", "assignee", "status", "priority", "tags", "links", "actions", "opened_at", "updated_at",
)  # fmt: skip


def _texts(names: tuple[str, ...]) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text(), nullable=False) for name in names]


def upgrade() -> None:
    """Bring an older database up to this revision."""
    op.create_table(
        "proposals",
        sa.Column("id", sa.Text(), primary_key=True),
        *_texts(_PROPOSAL_TEXTS),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("revision", "steps", "applied")),
        sa.Column("decided_at", sa.Text()),
        sa.Column("decided_by", sa.Text()),
    )
    op.create_index("proposals_by_state", "proposals", ["state"])
    op.create_index("proposals_by_tool", "proposals", ["tool_id"])
    op.create_table("issues", sa.Column("id", sa.Text(), primary_key=True), *_texts(_ISSUE_TEXTS))
    op.create_index("issues_by_status", "issues", ["status"])
    op.create_table(
        "issue_events",
        sa.Column("issue_id", sa.Text(), primary_key=True),
        sa.Column("seq", sa.Integer(), primary_key=True, autoincrement=False),
        *_texts(("at", "by", "kind", "text")),
    )
