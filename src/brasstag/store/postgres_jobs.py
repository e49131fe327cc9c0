"""Jobs on Postgres: procrastinate delivers the hints, each in the transaction that makes a task ready.

What runs a task is ours, so that neither a lost connection nor a worker that starts anew ends what is under way.
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

from brasstag.store.bench import Bench, NotBegun
from brasstag.store.database import Transaction
from brasstag.store.jobs import Advance
from brasstag.store.postgres import PostgresDatabase
from brasstag.store.shifts import Shift, Shifts

log = logging.getLogger("brasstag")

JOB = "advance"
EVERYBODYS = "everybody's"
"""Where jobs wait that no process has begun itself."""
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 5.0
"""How long to wait before the next try, at first and at most, while the server is away."""

POOL_SECONDS = 1.0
"""How long to wait for a connection; what has to wait longer is better begun anew."""

SURE_SECONDS = 1.0
"""How often to look for jobs whatever the server announces; an announcement is lost while nobody listens."""

STEADY_SECONDS = 30.0
"""After working for so long, the next trouble is a new one, and the first pause is short again."""

_SWEEP = """
    DELETE FROM procrastinate_jobs
    WHERE status NOT IN ('todo', 'doing') OR (status = 'doing' AND worker_id IS NULL)
"""
"""What workers left that died; the tasks themselves say what is still to be done."""

for _name in ("procrastinate", "psycopg.pool"):
    # They tell in pages what is told below in one sentence. Whoever wants the pages sets a level first.
    if logging.getLogger(_name).level == logging.NOTSET:
        logging.getLogger(_name).setLevel(logging.CRITICAL)


class ProcrastinateJobs(Shifts):
    """Brings ready tasks to whoever serves them, on any host that reaches the server."""

    def __init__(self, database: PostgresDatabase) -> None:
        super().__init__()
        self._database = database
        # Never opened: it defers on the connections of our own transactions.
        self._deferring = App(connector=SyncPsycopgConnector())

    def hint(self, transaction: Transaction, task_id: str, queue: str, wake: int) -> None:
        """Queue a job in the transaction that makes the task ready."""
        connection = transaction.connection.connection.driver_connection
        job = self._deferring.configure_task(JOB, queue=queue or EVERYBODYS, connection=connection)
        try:
            job.defer(task_id=task_id, wake=wake)
        except ConnectorException as error:
            raise error.__cause__ or error from None

    async def _work(self, shift: Shift, advance: Advance, queue: str, concurrency: int) -> None:
        loop = asyncio.get_running_loop()
        pause = FIRST_PAUSE
        async with Bench(advance, concurrency) as bench:
            while True:
                began = loop.time()
                said = await self._work_while_connected(shift, bench, queue, concurrency)
                if shift.is_over:
                    return
                log.warning("the room's database went away, and is tried again: %s", said)
                pause = FIRST_PAUSE if loop.time() - began > STEADY_SECONDS else pause
                await shift.rest(pause)
                pause = min(2 * pause, LONGEST_PAUSE)

    async def _work_while_connected(self, shift: Shift, bench: Bench, queue: str, concurrency: int) -> str:
        """Return what was said when it came to an end."""
        working = asyncio.create_task(self._work_off(bench, queue, concurrency))
        over = asyncio.create_task(shift.until_over())
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

    async def _work_off(self, bench: Bench, queue: str, concurrency: int) -> None:
        options: WorkerOptions = {
            "concurrency": concurrency,
            "delete_jobs": "always",
            "fetch_job_polling_interval": SURE_SECONDS,
            "install_signal_handlers": False,
            "shutdown_graceful_timeout": 0,
        }
        if queue:
            options["queues"] = [queue]
        # A pool goes on trying for long, at ever longer intervals; ours are shorter.
        await (await psycopg.AsyncConnection.connect(**self._database.parameters)).close()
        app = self._app(bench)
        try:
            await app.open_async()
            await app.connector.execute_query_async(_SWEEP)
            await app.run_worker_async(**options)
        finally:
            await app.close_async()

    def _app(self, bench: Bench) -> App:
        parameters = self._database.parameters
        app = App(connector=_Connector(kwargs=parameters, min_size=1, max_size=4, timeout=POOL_SECONDS))
        app.task(name=JOB, retry=RetryStrategy(retry_exceptions={NotBegun}))(bench.run)
        return app


class _Connector(PsycopgConnector):
    async def execute_query_async(self, query: Any, **arguments: Any) -> None:
        """Do what only tidies up: cross off a job, show a heartbeat. One more hint does no harm."""
        try:
            await super().execute_query_async(query, **arguments)
        except ConnectorException as error:
            log.debug("the queue could not be tidied up: %s", error.__cause__)

    async def listen_notify(self, on_notification: Notify, channels: Iterable[str]) -> None:
        """Listen for jobs, and listen again whenever the connection is lost: nobody else notices that."""
        while True:
            try:
                await super().listen_notify(on_notification, channels)
            except ConnectorException as error:
                log.debug("nobody listens for jobs at the moment: %s", error.__cause__)
                await asyncio.sleep(SURE_SECONDS)
