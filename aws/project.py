"""Messages or a schedule -> the projector, within the time of an invocation.

    wake-ups -> the projector's lease -> rounds until nothing is pending, or time is nearly up
             -> a wake-up for the rest

A message means no more than that there is work; the journal knows which. So a
message that is lost, repeated or late changes nothing. The lease is that of services in containers,
too: both may run beside each other, and one waits while the other has it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, Final

from api.http.bodies import MOST_FORGOTTEN, PROCESS_MARK
from api.serving.server import open_remote_graph
from api.serving.storage import hold_for_service, open_storage
from aws.invocations import Context, deadline, required, settings_of
from aws.waking import WakeUps, wake
from collectors.sqs.queues import Queue, open_client
from graph_model.errors import HeadwaterError
from graph_model.producers.registry import PRODUCERS
from graph_model.projection.projector import Projector
from graph_model.stores.catalogue import Generations
from graph_model.stores.database import Database
from graph_model.stores.journal import Journal

log = logging.getLogger(__name__)

RESERVE_SECONDS: Final = 30.0
"""Left for the round that is under way when time is nearly up."""


class Project:
    """``run`` handles one event of a queue or of a schedule. ``close`` gives back the connections,
    where a container does not simply end.

    ``forget_hashes`` removes some hashes of received bytes and returns whether more are left. Each
    process of this function does it once, to the end: functions that take documents end at any
    time, and nobody else removes theirs. Where one still runs, a repeat is parsed once more.
    """

    def __init__(
        self,
        database: Database,
        projector: Projector,
        queue: WakeUps,
        close: Callable[[], None] = lambda: None,
        forget_hashes: Callable[[], bool] = lambda: False,
    ) -> None:
        self.close = close
        self._forget_hashes = forget_hashes
        self._has_hashes = True
        self._database = database
        self._projector = projector
        self._queue = queue

    def run(self, event: Mapping[str, Any], enough: Callable[[], bool]) -> dict[str, Any]:
        """The messages to be delivered again: none or all. A schedule has none, and gets
        the error.
        """
        records = event.get("Records", ())
        try:
            done = self._work(enough)
        except HeadwaterError as error:
            if not records:
                raise
            log.warning("SQS will redeliver %d wake-ups: %s", len(records), error)
            return _failed(records)
        if not done and not wake(self._queue):
            return _failed(records)
        return {"batchItemFailures": []}

    def _work(self, enough: Callable[[], bool]) -> bool:
        with hold_for_service(self._database, own_graph=False):
            done = self._projector.work_until(enough)
        while self._has_hashes and not enough():
            self._has_hashes = self._forget_hashes()
        return done


def _failed(records: Any) -> dict[str, Any]:
    return {"batchItemFailures": [{"itemIdentifier": record["messageId"]} for record in records]}


def make_project(environment: Mapping[str, str]) -> Project:
    """Raises ConfigurationError, or Unavailable where the database does not answer."""
    settings = settings_of(environment)
    queue = Queue(required(settings.projection_queue, "HEADWATER_PROJECTION_QUEUE"), open_client())
    database = open_storage(settings, make=True)
    journal = Journal(database)
    generations = Generations(database, journal)
    graph = open_remote_graph(settings)
    producers = PRODUCERS.tolerating(settings.clock_tolerance)
    runs = settings.graph_runs
    projector = Projector(journal, graph, generations, producers=producers, runs=runs)

    def close() -> None:
        graph.close()
        generations.close()
        journal.close()

    def forget_hashes() -> bool:
        return journal.forget_bytes(PROCESS_MARK, MOST_FORGOTTEN) >= MOST_FORGOTTEN

    return Project(database, projector, queue, close, forget_hashes)


_project: Final = cache(partial(make_project, os.environ))


def handler(event: dict[str, Any], context: Context) -> dict[str, Any]:
    """The entry point: ``aws.project.handler``. A failure before it begins fails the invocation,
    so that every message comes again.
    """
    project: Project = _project()
    return project.run(event, deadline(context, RESERVE_SECONDS))
