"""A consumer of a queue as a process of its own, beside a service in a container.

    receive up to ten -> take_batch -> delete those that are done -> again

A message that failed is not deleted: the queue delivers it again after its visibility timeout.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from collectors.destinations import Destination
from collectors.sqs.batches import BatchOutcome, SetMessageAside, take_batch
from collectors.sqs.messages import MessageReader
from collectors.sqs.queues import Queue
from graph_model.errors import Unavailable

log = logging.getLogger(__name__)

_REST_SECONDS: Final = 5.0


def consume_queue(
    queue: Queue,
    reader: MessageReader,
    destination: Destination,
    set_aside: SetMessageAside,
    stopped: Callable[[], bool],
    sleep: Callable[[float], None],
) -> BatchOutcome:
    """Take messages until ``stopped``, and rest while something is away; the counts of the run."""
    total = BatchOutcome()
    while not stopped():
        try:
            received = queue.receive()
            outcome = take_batch(
                [message for message, _ in received], reader, lambda _: destination, set_aside
            )
            failed = set(outcome.failed)
            queue.delete([handle for message, handle in received if message.id not in failed])
        except Unavailable as error:
            log.warning("the queue waits %.0f s: %s", _REST_SECONDS, error)
            sleep(_REST_SECONDS)
            continue
        total.taken += outcome.taken
        total.set_aside += outcome.set_aside
        if failed:
            sleep(_REST_SECONDS)
    return total
