"""A batch of messages -> the journal; which of them are to be delivered again.

    read each -> the journal, all of them in one transaction -> deleted by the queue
        |                |
        poison: dead     away: all of them again
        letter queue, with the reason

Nothing is reported as done that is not in the journal or in the dead-letter queue, so a crash at
any point repeats messages and loses none; the journal knows a repeated document. Once a message of
a group has failed, the rest of its group fails with it: the group stays in order. The
messages before it are taken, or they would share the deliveries, and at last the fate, of it.

A consumer does so as a process of its own, beside a service in a container:

    receive up to ten -> take_batch -> delete those that are done -> again

A message that failed is not deleted: the queue delivers it again after its visibility timeout.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from collectors.destinations import Destination
from collectors.sqs.messages import Documents, MessageReader
from collectors.sqs.queues import Message, Queue
from graph_model.documents.files import Prepared
from graph_model.errors import HeadwaterError, InvalidInput, Unavailable

log = logging.getLogger(__name__)

LAST_ATTEMPT: Final = 5
"""Deliveries after which a message that fails in an unforeseen way counts as poison."""

SetMessageAside = Callable[[Message, str], None]
"""Keeps a message that can never be taken, with the reason; raises Unavailable."""
_REST_SECONDS: Final = 5.0


@dataclass(slots=True)
class BatchOutcome:
    """The ids of messages to be delivered again; how many documents are in the journal, and how
    many messages in the dead-letter queue.
    """

    failed: list[str] = field(default_factory=list)
    taken: int = 0
    set_aside: int = 0


def take_batch(
    messages: Sequence[Message],
    reader: MessageReader,
    destination_of: Callable[[str], Destination],
    set_aside: SetMessageAside,
    enough: Callable[[], bool] = lambda: False,
) -> BatchOutcome:
    """Take a batch, in its order. ``destination_of`` is that of a sender's name. Messages that are
    left when ``enough`` is true are to be delivered again.
    """
    return _Batch(reader, destination_of, set_aside, enough).take(messages)


class _Batch:
    def __init__(
        self,
        reader: MessageReader,
        destination_of: Callable[[str], Destination],
        set_aside: SetMessageAside,
        enough: Callable[[], bool],
    ) -> None:
        self._reader = reader
        self._destination_of = destination_of
        self._set_aside = set_aside
        self._enough = enough
        self._blocked: set[str] = set()
        self._outcome = BatchOutcome()

    def take(self, messages: Sequence[Message]) -> BatchOutcome:
        ready: list[tuple[Message, Documents]] = []
        for message in messages:
            if (documents := self._read(message)) is not None:
                ready.append((message, documents))
        self._blocked.clear()  # ready messages were sent before the one that blocked their group
        for principal, group in groupby(ready, lambda pair: pair[1].principal):
            self._journal(list(group), principal)
        return self._outcome

    def _read(self, message: Message) -> Documents | None:
        """None where the message has failed, or was set aside."""
        if message.group in self._blocked or self._enough():
            self._fail(message)
            return None
        try:
            return self._reader.read(message)
        except InvalidInput as error:
            self._give_up(message, str(error))
        except Unavailable as error:
            log.warning("SQS will redeliver message %s: %s", message.id, error)
            self._fail(message)
        except Exception as error:
            self._unforeseen(message, error)
        return None

    def _journal(self, ready: Sequence[tuple[Message, Documents]], principal: str) -> None:
        """Together; each alone where something unforeseen fails all."""
        delivered = [pair for pair in ready if pair[0].group not in self._blocked]
        for message, _ in ready:
            if message.group in self._blocked:
                self._fail(message)
        documents = [document for _, taken in delivered for document in taken.prepared]
        try:
            refusals = self._destination_of(principal).take(documents) if documents else ()
        except Unavailable as error:
            log.warning("SQS will redeliver %d messages: %s", len(delivered), error)
            for message, _ in delivered:
                self._fail(message)
        except Exception as error:
            if len(delivered) > 1:
                for pair in delivered:
                    self._journal([pair], principal)
            else:
                self._unforeseen(delivered[0][0], error)
        else:
            self._outcome.taken += len(documents) - len(refusals)
            reasons = {refusal.where: refusal.reason for refusal in refusals}
            for message, taken in delivered:
                if reason := _reason(taken.prepared, reasons):
                    self._give_up(message, reason)

    def _unforeseen(self, message: Message, error: Exception) -> None:
        """A bug of ours, or a refusal that no repetition mends: a few more attempts."""
        log.error("message %s fails: %s", message.id, type(error).__name__, exc_info=error)
        if message.receives >= LAST_ATTEMPT:
            reason = str(error) if isinstance(error, HeadwaterError) else type(error).__name__
            self._give_up(message, f"failed {message.receives} times: {reason}")
        else:
            self._fail(message)

    def _give_up(self, message: Message, reason: str) -> None:
        log.warning("message %s can never be taken: %s", message.id, reason)
        try:
            self._set_aside(message, reason)
        except Unavailable as error:
            log.warning("SQS will redeliver message %s: %s", message.id, error)
            self._fail(message)
        else:
            self._outcome.set_aside += 1

    def _fail(self, message: Message) -> None:
        self._outcome.failed.append(message.id)
        if message.group:
            self._blocked.add(message.group)


def _reason(prepared: Sequence[Prepared], reasons: dict[str, str]) -> str:
    return "; ".join(
        reasons[document.piece.where] for document in prepared if document.piece.where in reasons
    )


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
