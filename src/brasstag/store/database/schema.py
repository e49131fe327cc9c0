"""The tables of a room, the same on SQLite and Postgres; JSON is ASCII text, hashed as stored.

tasks ──< entries          a task's timeline: its chain head and next number live in its row
  │  └──< checkpoints      room-wide chain of sealed heads
  ├──< calls ──< leases    the ledger: calls that have claimed, and the paths they hold
  ├──< approvals           requests to people
  ├──< permissions         what people allow until a time
  ├──< memories            what agents wanted to remember
  └──< versions            every state of every path Brasstag has seen
         documents           what is derived of them and the disk: a row a path; ``fulltext`` is its index
         contents            small contents, under their digests; larger ones are files
         conversions         what was found out about contents, under their digests
events                       what happened, in one sequence, for watchers
proposals                    changes of the catalog of prompt tools, and how far each has come
issues ──< issue_events      what people and reviewers talk about, and everything that happened to it
"""

from functools import cache

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    create_mock_engine,
    text,
)
from sqlalchemy.schema import ExecutableDDLElement

metadata = MetaData()

facts = Table(
    "facts",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)
"""Single facts about the room, such as its id."""

tasks = Table(
    "tasks",
    metadata,
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("boot", Text, nullable=False),
    Column("next_seq", Integer, nullable=False),
    Column("head", Text, nullable=False),
    Column("signature", Text, nullable=False),
    Column("opened_at", Text, nullable=False),
    Column("closed_at", Text),
    Column("parent_id", Text, nullable=False, server_default=""),
    Column("parent_call", Text, nullable=False, server_default=""),
    Column("tree", Text, nullable=False, server_default=""),
    Column("queue", Text, nullable=False, server_default=""),
    Column("depth", Integer, nullable=False, server_default="0"),
    Column("title", Text, nullable=False, server_default=""),
    Column("wake", Integer, nullable=False, server_default="0"),
    Column("woken_at", Text, nullable=False, server_default=""),
    Column("epoch", Integer, nullable=False, server_default="0"),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("steps", Integer, nullable=False, server_default="0"),
    Column("tokens", BigInteger, nullable=False, server_default="0"),
    Column("cost", BigInteger, nullable=False, server_default="0"),
    Column("milliseconds", BigInteger, nullable=False, server_default="0"),
    Column("children", Integer, nullable=False, server_default="0"),
    Column("budget", Text, nullable=False, server_default="{}"),
    Index("tasks_by_status", "status"),
    Index("tasks_by_tree", "tree"),
    Index("tasks_by_parent", "parent_id"),
)
"""A node of the graph. ``wake`` numbers the times it became ready, ``epoch`` the times a worker took it: a write under
an older epoch is refused. ``attempts`` counts holdings since the task last made progress."""

memories = Table(
    "memories",
    metadata,
    Column("id", Text, primary_key=True),
    Column("role", Text, nullable=False),
    Column("tree", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("task_id", Text, nullable=False),
    Column("call_id", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("signature", Text, nullable=False),
    Index("memories_by_role", "role"),
    UniqueConstraint("call_id", name="memories_call"),
)
"""What agents wanted to remember: of one run where ``tree`` names it, for good where it is empty."""

entries = Table(
    "entries",
    metadata,
    Column("task_id", Text, primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("tag", Text, nullable=False),
    Column("call_id", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("payload", Text),
    Column("salt", Text),
    Column("digest", Text, nullable=False),
    Column("hash", Text, nullable=False),
    UniqueConstraint("tag", name="entries_tag"),
)

checkpoints = Table(
    "checkpoints",
    metadata,
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("task_id", Text, nullable=False),
    Column("task_seq", Integer, nullable=False),
    Column("head", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("hash", Text, nullable=False),
    Column("key_id", Text, nullable=False),
    Column("signature", Text, nullable=False),
)

calls = Table(
    "calls",
    metadata,
    Column("id", Text, primary_key=True),
    Column("task_id", Text, nullable=False),
    Column("tool", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("boot", Text, nullable=False),
    Column("changes", Text, nullable=False),
    Index("calls_by_state", "state"),
)

leases = Table(
    "leases",
    metadata,
    Column("path", Text, primary_key=True),
    Column("call_id", Text, nullable=False),
    Index("leases_by_call", "call_id"),
)

approvals = Table(
    "approvals",
    metadata,
    Column("id", Text, primary_key=True),
    Column("call_id", Text, nullable=False),
    Column("task_id", Text, nullable=False),
    Column("tool", Text, nullable=False),
    Column("tool_version", Text, nullable=False),
    Column("arguments", Text, nullable=False),
    Column("original_arguments", Text),
    Column("actor", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("rule", Text, nullable=False),
    Column("preview", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("requested_at", Text, nullable=False),
    Column("expires_at", Text),
    Column("decided_at", Text),
    Column("decided_by", Text),
    Column("note", Text, nullable=False),
    Index("approvals_by_state", "state", "requested_at"),
    Index("approvals_by_call", "call_id"),
    Index("approvals_by_task", "task_id", "state"),
)

permissions = Table(
    "permissions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("tool", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("pattern", Text, nullable=False),
    Column("rule", Text, nullable=False),
    Column("approver", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("policy", Text, nullable=False),
    Column("granted_at", Text, nullable=False),
    Column("expires_at", Text, nullable=False),
    Column("task_id", Text, nullable=False),
    Column("call_id", Text, nullable=False),
    Column("approval_id", Text, nullable=False),
    Column("revoked_at", Text),
    Column("revoked_by", Text),
    Column("used_at", Text, nullable=False, server_default=""),
    Index("permissions_by_tool", "tool", "role", "expires_at"),
)
"""A row counts only if the timeline of its task says the same. ``used_at`` is the newest time a call was let through."""

versions = Table(
    "versions",
    metadata,
    Column("path", Text, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("state", Text, nullable=False),
    Column("mode", Integer),
    Column("size", BigInteger, nullable=False),
    Column("by", Text, nullable=False),
    Column("call_id", Text, nullable=False),
    Column("why", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("task_id", Text, nullable=False, server_default=""),
    Column("source", Text, nullable=False, server_default=""),
    Column("source_version", Integer, nullable=False, server_default="0"),
    Index("versions_by_call", "call_id"),
    Index(
        "versions_moved",
        "source",
        sqlite_where=text("source <> ''"),
        postgresql_where=text("source <> ''"),
    ),
)
"""``source`` names the path it was moved from, and ``source_version`` what that path's newest version was then."""

touched = Table(
    "touched",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("path", Text, nullable=False),
)
"""Paths that were changed, and not scanned since; one may be named more than once."""

documents = Table(
    "documents",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("path", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("mode", Integer),
    Column("media_type", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("created_task", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("updated_by", Text, nullable=False),
    Column("updated_task", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    Column("description", Text, nullable=False, server_default=""),
    Column("tags", Text, nullable=False, server_default="[]"),
    Column("pending", Text, nullable=False, server_default=""),
    Column("note", Text, nullable=False, server_default=""),
    UniqueConstraint("path", name="documents_path"),
    Index("documents_by_state", "state"),
    Index(
        "documents_pending",
        "pending",
        sqlite_where=text("pending <> ''"),
        postgresql_where=text("pending <> ''"),
    ),
)
"""A path that is, or was, a file or a link. ``pending`` says what its index still needs: nothing, its text, or a
conversion first; ``note`` why the index holds only a part of it, or nothing. ``fingerprint`` shows whether a file on
disk is unchanged; where it is empty, only the bytes of the file can show that.
"""

contents = Table(
    "contents",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("data", LargeBinary, nullable=False),
    Column("at", Text, nullable=False),
)

conversions = Table(
    "conversions",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("media_type", Text, primary_key=True),
    Column("converter", Text, nullable=False),
    Column("blocks", Text, nullable=False, server_default=""),
    Column("code", Text, nullable=False, server_default=""),
    Column("reason", Text, nullable=False, server_default=""),
    Column("tokens", BigInteger),
    Column("tokenizer", Text, nullable=False, server_default=""),
    Column("summary", Text, nullable=False, server_default=""),
    Column("summary_by", Text, nullable=False, server_default=""),
    Column("signature", Text, nullable=False, server_default=""),
)
"""``blocks`` is the digest of the blocks; if there are none, ``code`` and ``reason`` say why, if a converter tried. Models
are shown what is here, so a row without our ``signature`` does not count."""

events = Table(
    "events",
    metadata,
    Column("seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("writer", BigInteger, nullable=False, server_default="0"),
    Column("at", Text, nullable=False),
    Column("topic", Text, nullable=False),
    Column("subject", Text, nullable=False, server_default=""),
    Column("number", Integer, nullable=False, server_default="0"),
    Column("payload", Text, nullable=False, server_default=""),
    # On SQLite the primary key is the order; there the index is empty.
    Index("events_in_order", "writer", "seq", sqlite_where=text("writer <> 0")),
    Index(
        "events_of_programs",
        "seq",
        sqlite_where=text("topic = 'output'"),
        postgresql_where=text("topic = 'output'"),
    ),
)
"""``subject`` is the task or the issue an event is about, ``number`` the entry of that task. On Postgres ``writer`` is
the number of the transaction that wrote it."""

proposals = Table(
    "proposals",
    metadata,
    Column("id", Text, primary_key=True),
    Column("tool_id", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("steps", Integer, nullable=False),
    Column("content", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("base", Text, nullable=False),
    Column("screening", Text, nullable=False),
    Column("harness", Text, nullable=False),
    Column("assessment", Text, nullable=False),
    Column("issue_id", Text, nullable=False),
    Column("review_id", Text, nullable=False),
    Column("opened_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    Column("decided_at", Text),
    Column("decided_by", Text),
    Column("note", Text, nullable=False),
    Column("snapshot", Text, nullable=False),
    Column("applied", Integer, nullable=False),
    Index("proposals_by_state", "state"),
    Index("proposals_by_tool", "tool_id"),
)
"""``steps`` counts its moves: a writer that knew another number is refused. ``applied`` is 1 once an approved change has
reached the live file."""

issues = Table(
    "issues",
    metadata,
    Column("id", Text, primary_key=True),
    Column("title", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("assignee", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("priority", Text, nullable=False),
    Column("tags", Text, nullable=False),
    Column("links", Text, nullable=False),
    Column("actions", Text, nullable=False),
    Column("opened_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    Index("issues_by_status", "status"),
)

issue_events = Table(
    "issue_events",
    metadata,
    Column("issue_id", Text, primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("at", Text, nullable=False),
    Column("by", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("text", Text, nullable=False),
)
"""Comments and the rest of an issue's history, in order."""

SQLITE_FULLTEXT = (
    "CREATE VIRTUAL TABLE fulltext USING fts5(path, words, body, tokenize = 'unicode61 remove_diacritics 2')",
    # Bytes of new words it gathers in memory: what one commit of a scan brings should become one segment, not many.
    "INSERT INTO fulltext (fulltext, rank) VALUES ('hashsize', 16777216)",
)
"""The index on SQLite; its rows have the ids of their documents."""

POSTGRES_FULLTEXT = (
    """CREATE TABLE fulltext (
        id integer PRIMARY KEY, body text NOT NULL, length integer NOT NULL,
        lexemes tsvector NOT NULL, in_order text NOT NULL, standing text[] NOT NULL DEFAULT '{}'
    ) WITH (toast_tuple_target = 8160)""",
    "ALTER TABLE fulltext ALTER COLUMN lexemes SET STORAGE EXTERNAL",
    "CREATE INDEX fulltext_lexemes ON fulltext USING gin (lexemes)",
    "CREATE INDEX fulltext_standing ON fulltext USING gin (standing)",
)
"""The index on Postgres, as the migrations make it."""


def create_tables(connection: Connection) -> None:
    """Make every table in a database that has none: what all the migrations come to."""
    cursor = connection.connection.cursor()
    try:
        if connection.dialect.name == "postgresql":
            # All in one statement, so that the server is asked only once.
            cursor.execute(";\n".join([*_statements("postgresql+psycopg://"), *POSTGRES_FULLTEXT]))
        else:
            for statement in (*_statements("sqlite://"), *SQLITE_FULLTEXT):
                cursor.execute(statement)
    finally:
        cursor.close()


@cache
def _statements(url: str) -> tuple[str, ...]:
    """Return what makes the tables, in the words of a database; found once a process."""
    said: list[str] = []

    def note(statement: ExecutableDDLElement, *_: object, **__: object) -> None:
        said.append(str(statement.compile(dialect=engine.dialect)))

    engine = create_mock_engine(url, note)
    metadata.create_all(engine, checkfirst=False)
    return tuple(said)
