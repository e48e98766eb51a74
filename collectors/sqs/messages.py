"""A message -> its documents; a batch of messages -> the journal, and which are delivered again.

    a JSON text                           documents that a producer recognises, in an envelope too
    attributes named as in Kafka          a document of the kind and version that they announce
    {"headwater": "pointer", "key": …}    the text lies in the bucket for uploads
    {"Records": [{"s3": …}]}              S3 notifies of a document that was uploaded

A message is refused (InvalidInput) when no repetition can make it valid; Unavailable means later.

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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Final
from urllib.parse import unquote_plus

from collectors.intake import Intake
from collectors.rewriting import Rules, rewrite
from collectors.sqs.queues import POINTER, PRINCIPAL, Message, Queue
from graph_model.documents.files import (
    Piece,
    Prepared,
    Refusal,
    classify,
    is_announced,
    kind_and_version,
    prepare,
)
from graph_model.documents.json_texts import gunzip, parse_json
from graph_model.errors import HeadwaterError, InvalidFields, InvalidInput, Unavailable
from graph_model.producers.openlineage.events.documents import RUN_EVENT_KIND
from graph_model.producers.openlineage.producer import SPECIFICATION
from graph_model.producers.registry import PRODUCERS, Producers
from graph_model.producers.spline.documents import API_VERSIONS, EVENT_KIND, PLAN_KIND
from graph_model.stores.documents import DocumentKind
from graph_model.stores.uploads import Uploaded, Uploads

UNKNOWN_SENDER: Final = "queue"
LINEAGE: Final = "lineage"


@dataclass(frozen=True, slots=True)
class Documents:
    """The documents of a message, checked and masked."""

    prepared: tuple[Prepared, ...]
    principal: str


@dataclass(frozen=True, slots=True)
class MessageReader:
    """``uploads`` is None where no bucket is set; ``limit`` bounds a document, in bytes."""

    uploads: Uploads | None
    rules: Rules
    limit: int
    producers: Producers = PRODUCERS

    def read(self, message: Message) -> Documents:
        """The documents of a message. Raises InvalidInput or Unavailable."""
        principal = message.attributes.get(PRINCIPAL, UNKNOWN_SENDER)
        value = parse_json(message.body.encode("utf-8", "surrogatepass"))
        if isinstance(value, Mapping):
            if value.get("headwater") == POINTER:
                value = parse_json(self._pointed(value).content)
            elif "Records" in value or value.get("Event") == "s3:TestEvent":
                return self._uploaded(value, message)
        return self._prepared(self._from_value(value, message), principal)

    def _prepared(self, pieces: Iterator[Piece], principal: str) -> Documents:
        return Documents(tuple(prepare(piece, self.producers) for piece in pieces), principal)

    # --- texts that a message carries ------------------------------------------------------------

    def _from_value(self, value: Any, message: Message) -> Iterator[Piece]:
        where = f"message {message.id}"
        if is_announced(message.attributes):
            kind, version = kind_and_version(message.attributes, self.producers)
            yield Piece(kind, version, value, where)
        else:
            yield from self._recognised(value, where)

    def _recognised(self, value: Any, where: str) -> Iterator[Piece]:
        for piece in classify(rewrite_all(value, self.rules), where, self.producers):
            if isinstance(piece, Refusal):
                raise InvalidInput(f"document: {piece.reason}")
            if piece.kind not in self.producers.from_clients or piece.scope is not None:
                raise InvalidFields({"document": [f"a document of a client, no {piece.kind}"]})
            yield piece

    # --- texts elsewhere -------------------------------------------------------------------------

    def _bucket(self) -> Uploads:
        if self.uploads is None:
            raise InvalidInput(
                "the text of this message lies in S3, and HEADWATER_UPLOADS is empty"
            )
        return self.uploads

    def _pointed(self, pointer: Mapping[str, Any]) -> Uploaded:
        key = pointer.get("key")
        if not isinstance(key, str):
            raise InvalidFields({"key": ["the key of an object"]})
        return self._bucket().read(key, self.limit)

    def _uploaded(self, notification: Mapping[str, Any], message: Message) -> Documents:
        """All objects of one notification, which is one as a rule; () for S3's test."""
        prepared: list[Prepared] = []
        principal = UNKNOWN_SENDER
        for key in _keys(notification, self._bucket()):
            uploaded = self._bucket().read(key, self.limit)
            principal = uploaded.text("principal") or UNKNOWN_SENDER
            pieces = self._of_upload(uploaded, f"object {key} (message {message.id})")
            prepared += (self._within_scope(piece, uploaded) for piece in pieces)
        return Documents(tuple(prepared), principal)

    def _within_scope(self, piece: Piece, uploaded: Uploaded) -> Prepared:
        """A document that names no scope has that of the key under which it was announced, and
        may name another one only where that key may.
        """
        prepared = prepare(piece, self.producers)
        scope, named = uploaded.text("scope"), prepared.submission.scope
        if not scope or (named and uploaded.metadata.get("any-scope") == "yes"):
            return prepared
        if named not in ("", scope):
            raise InvalidFields({"labels.captureScope": [f"{scope!r}, the scope of its key"]})
        return prepare(replace(piece, scope=scope), self.producers)

    def _of_upload(self, uploaded: Uploaded, where: str) -> Iterator[Piece]:
        packed = uploaded.metadata.get("encoding") == "gzip"
        content = gunzip(uploaded.content, self.limit) if packed else uploaded.content
        value = parse_json(content)
        kind, version = uploaded.metadata.get("kind"), uploaded.metadata.get("api-version", "")
        if kind == PLAN_KIND and version in API_VERSIONS:
            yield Piece(PLAN_KIND, version, value, where)
        elif kind == EVENT_KIND and version in API_VERSIONS:
            yield from _each(value, EVENT_KIND, version, where)
        elif kind == LINEAGE:
            rewritten = rewrite_all(value, self.rules)
            yield from _each(rewritten, RUN_EVENT_KIND, SPECIFICATION, where)
        else:
            raise InvalidFields({"kind": ["an object with a URL of POST /uploads"]})


def rewrite_all(value: Any, rules: Rules) -> Any:
    """One event, or each of a list."""
    return (
        [rewrite(event, rules) for event in value]
        if isinstance(value, list)
        else rewrite(value, rules)
    )


def _each(value: Any, kind: DocumentKind, version: str, where: str) -> Iterator[Piece]:
    values = value if isinstance(value, list) else [value]
    return (Piece(kind, version, event, f"{where}[{index}]") for index, event in enumerate(values))


def _keys(notification: Mapping[str, Any], uploads: Uploads) -> Iterator[str]:
    for record in notification.get("Records", ()):
        try:
            bucket, key = record["s3"]["bucket"]["name"], record["s3"]["object"]["key"]
        except (KeyError, TypeError):
            raise InvalidFields({"Records": ["notifications of S3"]}) from None
        if not uploads.holds(bucket):
            raise InvalidFields({"Records": [f"objects of the bucket for uploads, not {bucket!r}"]})
        yield unquote_plus(key)


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
    intake_of: Callable[[str], Intake],
    set_aside: SetMessageAside,
    enough: Callable[[], bool] = lambda: False,
) -> BatchOutcome:
    """Take a batch, in its order. ``intake_of`` is that of a sender's name. Messages that are
    left when ``enough`` is true are to be delivered again.
    """
    return _Batch(reader, intake_of, set_aside, enough).take(messages)


class _Batch:
    def __init__(
        self,
        reader: MessageReader,
        intake_of: Callable[[str], Intake],
        set_aside: SetMessageAside,
        enough: Callable[[], bool],
    ) -> None:
        self._reader = reader
        self._intake_of = intake_of
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
            refusals = self._intake_of(principal).take(documents) if documents else ()
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
    intake: Intake,
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
                [message for message, _ in received], reader, lambda _: intake, set_aside
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
