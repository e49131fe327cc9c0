"""Alembic's entry point: it is given a connection, never an address."""

from alembic import context

from brasstag.store.database.schema import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
