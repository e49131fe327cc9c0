"""Jobs: hints that a task is ready, delivered on SQLite and on Postgres."""
