"""Documents: what is derived of versions, the index of their texts, small contents, and the outbox."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_POSTGRES_FULLTEXT = (
    """CREATE TABLE fulltext (
        id integer PRIMARY KEY, body text NOT NULL, length integer NOT NULL,
        lexemes tsvector NOT NULL, in_order text NOT NULL
    )""",
    # Every row that matches is ranked by its lexemes: they are kept as they are, for unpacking takes longer than reading.
    "ALTER TABLE fulltext ALTER COLUMN lexemes SET STORAGE EXTERNAL",
    "CREATE INDEX fulltext_lexemes ON fulltext USING gin (lexemes)",
)
_SQLITE_FULLTEXT = (
    "CREATE VIRTUAL TABLE fulltext USING fts5(path, words, body, tokenize = 'unicode61 remove_diacritics 2')",
    "INSERT INTO fulltext (fulltext, rank) VALUES ('hashsize', 16777216)",
)


def upgrade() -> None:
    """Bring an older database up to this revision."""
    _versions()
    _documents()
    _contents()
    op.create_table(
        "outbox",
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("seq"),
    )
    is_postgres = op.get_bind().dialect.name == "postgresql"
    for statement in _POSTGRES_FULLTEXT if is_postgres else _SQLITE_FULLTEXT:
        op.execute(statement)


def _versions() -> None:
    with op.batch_alter_table("versions") as batch:
        batch.alter_column("size", existing_type=sa.Integer(), type_=sa.BigInteger(), existing_nullable=False)
        for name in ("task_id", "source"):
            batch.add_column(sa.Column(name, sa.Text(), nullable=False, server_default=""))
        batch.add_column(sa.Column("source_version", sa.Integer(), nullable=False, server_default="0"))
    moved = sa.text("source <> ''")
    op.create_index("versions_moved", "versions", ["source"], sqlite_where=moved, postgresql_where=moved)
    op.create_table(
        "touched",
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("seq"),
    )


def _documents() -> None:
    made = ("created_by", "created_task", "created_at", "updated_by", "updated_task", "updated_at")
    texts = ("state", "media_type", "fingerprint", *made)
    op.create_table(
        "documents",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in texts),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("mode", sa.Integer(), nullable=True),
        sa.Column("description", sa.Text(), nullable=False, server_default=""),
        sa.Column("tags", sa.Text(), nullable=False, server_default="[]"),
        sa.Column("pending", sa.Text(), nullable=False, server_default=""),
        sa.Column("note", sa.Text(), nullable=False, server_default=""),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("path", name="documents_path"),
    )
    op.create_index("documents_by_state", "documents", ["state"])
    some = sa.text("pending <> ''")
    op.create_index("documents_pending", "documents", ["pending"], sqlite_where=some, postgresql_where=some)


def _contents() -> None:
    op.create_table(
        "contents",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("digest"),
    )
    op.create_table(
        "conversions",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("converter", sa.Text(), nullable=False),
        *(
            sa.Column(name, sa.Text(), nullable=False, server_default="")
            for name in ("blocks", "code", "reason", "tokenizer", "summary", "summary_by")
        ),
        sa.Column("tokens", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("digest", "media_type"),
    )
