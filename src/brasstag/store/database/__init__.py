"""The database of a room: SQLite or Postgres, its tables, its locks and its migrations."""
