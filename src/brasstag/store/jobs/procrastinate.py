"""Jobs on Postgres: procrastinate delivers hints, each in the transaction that makes a task ready.

Our own task pool runs the tasks, so that neither a lost connection nor a restarted queue worker ends a task that runs.
"""

import asyncio
import logging
from collections.abc import Iterable
from typing import Any

import psycopg
from procrastinate import App, PsycopgConnector, RetryStrategy, SyncPsycopgConnector
from procrastinate.app import WorkerOptions
from procrastinate.connector import Notify
from procrastinate.exceptions import ConnectorException, ProcrastinateException

from brasstag.store.database.base import Transaction
from brasstag.store.database.postgres import PostgresDatabase
from brasstag.store.jobs.pool import NotBegun, Serving, ServingJobs, TaskPool
from brasstag.store.tasks.hints import OUTSIDE, Advance

log = logging.getLogger("brasstag")

JOB = "advance"
SHARED_QUEUE = "everybody's"
"""The queue of jobs that any worker may take; stored rooms have this name, so it stays."""
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 5.0
"""How long to wait before the next try, at first and at most, while the server is away."""

POOL_SECONDS = 1.0
"""How long to wait for a connection; after that, a new start is better."""

SURE_SECONDS = 1.0
"""How often to look for jobs whatever the server announces; an announcement is lost while no process listens."""

STEADY_SECONDS = 30.0
"""After working for so long, the next trouble is a new one, and the first pause is short again."""

_SWEEP = """
    DELETE FROM procrastinate_jobs
    WHERE status NOT IN ('todo', 'doing') OR (status = 'doing' AND worker_id IS NULL)
"""
"""Removes jobs that dead workers left; the tasks themselves say what is still to be done."""

for _name in ("procrastinate", "psycopg.pool"):
    # They log in pages what is logged below in one sentence. A user who wants the pages sets a level first.
    if logging.getLogger(_name).level == logging.NOTSET:
        logging.getLogger(_name).setLevel(logging.CRITICAL)


class ProcrastinateJobs(ServingJobs):
    """Brings ready tasks to the workers that serve them, on any host that reaches the server."""

    def __init__(self, database: PostgresDatabase) -> None:
        super().__init__()
        self._database = database
        # This app is never opened: it queues jobs on the connections of our own transactions.
        self._deferring = App(connector=SyncPsycopgConnector())

    def hint(self, transaction: Transaction, task_id: str, queue: str, wake: int) -> None:
        """Queue a job in the transaction that makes the task ready."""
        if queue == OUTSIDE:
            return
        connection = transaction.connection.connection.driver_connection
        job = self._deferring.configure_task(JOB, queue=queue or SHARED_QUEUE, connection=connection)
        try:
            job.defer(task_id=task_id, wake=wake)
        except ConnectorException as error:
            raise error.__cause__ or error from None

    async def _work(self, serving: Serving, advance: Advance, queue: str, concurrency: int) -> None:
        loop = asyncio.get_running_loop()
        pause = FIRST_PAUSE
        async with TaskPool(advance, concurrency) as pool:
            while True:
                began = loop.time()
                said = await self._work_while_connected(serving, pool, queue, concurrency)
                if serving.is_over:
                    return
                log.warning("the room's database went away, and is tried again: %s", said)
                pause = FIRST_PAUSE if loop.time() - began > STEADY_SECONDS else pause
                await serving.rest(pause)
                pause = min(2 * pause, LONGEST_PAUSE)

    async def _work_while_connected(
        self, serving: Serving, pool: TaskPool, queue: str, concurrency: int
    ) -> str:
        """Work until the connection is lost or serving is over; return the error message."""
        working = asyncio.create_task(self._work_off(pool, queue, concurrency))
        over = asyncio.create_task(serving.until_over())
        try:
            await asyncio.wait({working, over}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            working.cancel()
            over.cancel()
            (ended, _) = await asyncio.gather(working, over, return_exceptions=True)
        if isinstance(ended, Exception) and not isinstance(ended, ProcrastinateException | psycopg.Error):
            raise ended
        cause = ended.__cause__ or ended if isinstance(ended, Exception) else "the queue's worker stopped"
        return self._database.address.without_password(str(cause))

    async def _work_off(self, pool: TaskPool, queue: str, concurrency: int) -> None:
        options: WorkerOptions = {
            "concurrency": concurrency,
            "delete_jobs": "always",
            "fetch_job_polling_interval": SURE_SECONDS,
            "install_signal_handlers": False,
            "shutdown_graceful_timeout": 0,
        }
        if queue:
            options["queues"] = [queue]
        # A connection pool would retry for long, at ever longer intervals; our own intervals are shorter.
        await (await psycopg.AsyncConnection.connect(**self._database.parameters)).close()
        app = self._app(pool)
        try:
            await app.open_async()
            await app.connector.execute_query_async(_SWEEP)
            await app.run_worker_async(**options)
        finally:
            await app.close_async()

    def _app(self, pool: TaskPool) -> App:
        parameters = self._database.parameters
        app = App(connector=_Connector(kwargs=parameters, min_size=1, max_size=4, timeout=POOL_SECONDS))
        app.task(name=JOB, retry=RetryStrategy(retry_exceptions={NotBegun}))(pool.run)
        return app


class _Connector(PsycopgConnector):
    async def execute_query_async(self, query: Any, **arguments: Any) -> None:
        """Run a query that only tidies up: delete a job, show a heartbeat. If it fails, one hint more does no harm."""
        try:
            await super().execute_query_async(query, **arguments)
        except ConnectorException as error:
            log.debug("the queue could not be tidied up: %s", error.__cause__)

    async def listen_notify(self, on_notification: Notify, channels: Iterable[str]) -> None:
        """Listen for jobs, and listen again whenever the connection is lost: no other code notices that."""
        while True:
            try:
                await super().listen_notify(on_notification, channels)
            except ConnectorException as error:
                log.debug("the connection that listens for jobs is lost: %s", error.__cause__)
                await asyncio.sleep(SURE_SECONDS)
