"""The index on Postgres: which words stand out in a text, and lexemes beside the rest of their row where they fit."""

from alembic import op

revision = "0004"
down_revision = "0003"

_BOUNDS = "(SELECT array_agg(DISTINCT round(2 ^ (step / {}.0))::integer) FROM generate_series(0, {}) AS step)"
_STATEMENTS = (
    "ALTER TABLE fulltext ADD COLUMN standing text[] NOT NULL DEFAULT '{}'",
    # To fetch what is kept elsewhere takes several looks a row.
    "ALTER TABLE fulltext SET (toast_tuple_target = 8160)",
    f"""WITH bounds AS (SELECT {_BOUNDS.format(4, 43)} AS frequencies, {_BOUNDS.format(2, 45)} AS lengths)
    UPDATE fulltext SET standing = array(
        SELECT lexeme || ' ' || width_bucket(often, frequencies) || ' ' || width_bucket(length, lengths)
        FROM (
            SELECT lexeme, (SELECT sum(CASE WHEN part IN ('A', 'B') THEN 4 ELSE 1 END)::integer
                FROM unnest(weights) AS part) AS often
            FROM unnest(lexemes)
        ) AS word
        WHERE often >= CASE WHEN length <= 64 THEN 1 ELSE 2 END
    ) FROM bounds""",  # noqa: S608 - numbers of our own
    "CREATE INDEX fulltext_standing ON fulltext USING gin (standing)",
)


def upgrade() -> None:
    """Bring an older database up to this revision."""
    if op.get_bind().dialect.name == "postgresql":
        for statement in _STATEMENTS:
            op.execute(statement)
