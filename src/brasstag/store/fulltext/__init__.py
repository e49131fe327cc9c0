"""The full-text index, on SQLite (FTS5) and on Postgres, with one ranking."""
