"""Events: one sequence for all that happens in a room, in place of the outbox, which told of documents only."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Bring an older database up to this revision."""
    op.create_table(
        "events",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True),
        sa.Column("writer", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False, server_default=""),
        sa.Column("number", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("payload", sa.Text(), nullable=False, server_default=""),
    )
    op.create_index("events_in_order", "events", ["writer", "seq"], sqlite_where=sa.text("writer <> 0"))
    printed = sa.text("topic = 'output'")
    op.create_index("events_of_programs", "events", ["seq"], sqlite_where=printed, postgresql_where=printed)
    op.drop_table("outbox")
