"""What was found out about contents is signed: rows that older releases wrote are found out again."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Bring an older database up to this revision."""
    op.add_column("conversions", sa.Column("signature", sa.Text(), nullable=False, server_default=""))
