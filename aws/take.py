"""Messages -> the journal: the queue of OpenLineage events, and that of uploads.

batch -> take_batch -> the journal -> a wake-up for the projector
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, Final

from api.serving.storage import open_storage
from aws.invocations import Context, deadline, required, settings_of, uploads_of
from aws.waking import WakeUps, wake
from collectors.intake import DirectIntake, Intake
from collectors.rewriting import load_rules
from collectors.sqs.messages import MessageReader, SetMessageAside, take_batch
from collectors.sqs.queues import DeadLetters, Queue, message_of, open_client
from graph_model.stores.journal import Journal
from graph_model.values import now

ROUTE: Final = "sqs"


class Take:
    """``run`` handles one batch of a queue. ``close`` gives back the connections, where a container
    does not simply end.
    """

    def __init__(
        self,
        reader: MessageReader,
        intake_of: Callable[[str], Intake],
        set_aside: SetMessageAside,
        queue: WakeUps | None,
        close: Callable[[], None],
    ) -> None:
        self.close = close
        self._reader = reader
        self._intake_of = intake_of
        self._set_aside = set_aside
        self._queue = queue

    def run(self, event: Mapping[str, Any], enough: Callable[[], bool]) -> dict[str, Any]:
        """The messages to be delivered again."""
        messages = [message_of(record) for record in event.get("Records", ())]
        outcome = take_batch(messages, self._reader, self._intake_of, self._set_aside, enough)
        if outcome.taken and self._queue is not None:
            wake(self._queue)
        return {
            "batchItemFailures": [{"itemIdentifier": message_id} for message_id in outcome.failed]
        }


def make_take(environment: Mapping[str, str]) -> Take:
    """Raises ConfigurationError, or Unavailable where the database does not answer."""
    settings = settings_of(environment)
    client = open_client()
    dead = required(settings.dead_letter_queue, "HEADWATER_DEAD_LETTER_QUEUE")
    rules = load_rules(settings.rewrite_rules)
    journal = Journal(open_storage(settings, make=True))
    return Take(
        MessageReader(uploads_of(settings), rules, settings.max_body_bytes),
        lambda principal: DirectIntake(journal, now, ROUTE, principal),
        DeadLetters(Queue(dead, client)),
        Queue(settings.projection_queue, client) if settings.projection_queue else None,
        journal.close,
    )


_take: Final = cache(partial(make_take, os.environ))


def handler(event: dict[str, Any], context: Context) -> dict[str, Any]:
    """The entry point: ``aws.take.handler``. A failure before it begins fails the invocation, so
    that every message comes again.
    """
    take: Take = _take()
    return take.run(event, deadline(context))
