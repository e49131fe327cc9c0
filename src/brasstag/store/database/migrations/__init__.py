"""Migrations: how a database made by an earlier Brasstag becomes today's. Alembic runs them; opening a room asks."""
