"""Runs the migrations on the connection that `storage.migrating` hands over, in its transaction. Opens none of its own."""

from alembic import context

from storage.queue_tables import outbox

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=outbox.metadata,
    render_as_batch=True,
    transactional_ddl=True,
)
context.run_migrations()
