"""Messages of a queue by the client library of SQS: making, sending, receiving, deleting them.

The library repeats throttled and briefly failing requests, a bounded number of times; then the
queue is Unavailable.

OpenLineage events become messages of a FIFO queue:

    one event, or a list -> a message each -> its group: the run (else the job, else the dataset)

The queue delivers the messages of a group in order and one batch at a time, so the events of a run
reach the journal as they were sent, and runs do not wait for each other. A message is named by the
hash of its text: the same event sent again within five minutes is one message.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from graph_model.errors import InvalidDocument, Unavailable
from graph_model.stores.documents import compact_json
from graph_model.values import batched

POINTER: Final = "pointer"
PRINCIPAL: Final = "principal"
"""The attribute of a message with the name of its sender."""
MOST_EVENTS: Final = 10_000
TOGETHER: Final = 10
"""Messages in one request: the most that SQS takes."""
_GROUP: Final = re.compile(r"[A-Za-z0-9!-/:-@\[-`{-~]{1,128}")
ATTRIBUTES: Final = 2_048
"""Bytes that the attributes of a message may take, for they count, too: the name of its sender,
and the reason, should it come to the dead-letter queue.
"""
_UNSENDABLE: Final = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
_CONFIG: Final = Config(
    connect_timeout=3, read_timeout=25, retries={"mode": "standard", "total_max_attempts": 4}
)
_ATTEMPTS: Final = 3
_FIFO: Final = ".fifo"
_MOST_REASON: Final = 1_000
"""Bytes: with the sender's name no more than ``ATTRIBUTES``."""
_WAIT_SECONDS: Final = 10


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message to be sent. ``name`` is the one under which a repeat is recognised."""

    body: str
    group: str
    name: str
    attributes: Mapping[str, str]


def outgoing_messages(
    value: Any, principal: str, limit: int, set_aside: Callable[[bytes], str] | None
) -> Iterator[Outgoing]:
    """A message for each event. ``set_aside`` puts a text that exceeds ``limit`` bytes elsewhere
    and returns its key. Raises InvalidDocument for a document that is no event, or too large.
    """
    events = value if isinstance(value, list) else [value]
    if len(events) > MOST_EVENTS:
        raise InvalidDocument("", f"at most {MOST_EVENTS:,} events in one request")
    for index, event in enumerate(events):
        if not isinstance(event, Mapping):
            raise InvalidDocument(f"[{index}]" if isinstance(value, list) else "", "a JSON object")
    for event in events:
        yield _outgoing(event, principal, limit, set_aside)


def _outgoing(
    event: Mapping[str, Any],
    principal: str,
    limit: int,
    set_aside: Callable[[bytes], str] | None,
) -> Outgoing:
    text = compact_json(event)
    name = hashlib.sha256(text).hexdigest()
    body = text.decode("utf-8")
    if len(text) > limit - ATTRIBUTES or not is_sendable(body):
        if set_aside is None:
            raise InvalidDocument("", f"an event of at most {limit - ATTRIBUTES:,} bytes of text")
        body = pointer_to(set_aside(text))
    return Outgoing(body, group_of(event), name, {PRINCIPAL: principal[:200]})


def is_sendable(text: str) -> bool:
    """Whether SQS takes every character: no control characters, no U+FFFE and U+FFFF."""
    return _UNSENDABLE.search(text) is None


def group_of(event: Mapping[str, Any]) -> str:
    """The group in whose order an event belongs: its run's, else its job's, else its dataset's."""
    run = event.get("run")
    if isinstance(run, Mapping) and isinstance(run.get("runId"), str):
        return _group(run["runId"])
    for place in ("job", "dataset"):
        named = event.get(place)
        if isinstance(named, Mapping):
            return _group(json.dumps([place, named.get("namespace"), named.get("name")]))
    return _group("")


def _group(text: str) -> str:
    """The text itself where SQS takes it, else its hash."""
    if _GROUP.fullmatch(text):
        return text
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def chunked(messages: Sequence[Outgoing], limit: int) -> Iterator[list[Outgoing]]:
    """Requests of at most ten messages and ``limit`` bytes, each group once: a message that fails
    is repeated before the next one of its group is sent.
    """
    chunk: list[Outgoing] = []
    size = 0
    for message in messages:
        own = len(message.body.encode()) + ATTRIBUTES
        full = len(chunk) == TOGETHER or size + own > limit
        if chunk and (full or any(other.group == message.group for other in chunk)):
            yield chunk
            chunk, size = [], 0
        chunk.append(message)
        size += own
    if chunk:
        yield chunk


def pointer_to(key: str) -> str:
    """The text of a message whose document lies under this key."""
    return json.dumps({"headwater": POINTER, "key": key})


@dataclass(frozen=True, slots=True)
class Message:
    """A message as a consumer receives it. ``group`` is "" on a queue without an order;
    ``receives`` counts deliveries, from 1.
    """

    id: str
    body: str
    attributes: Mapping[str, str]
    group: str = ""
    receives: int = 1


def open_client() -> Any:
    """A client of SQS, with region, credentials and endpoint as boto3 finds them."""
    return boto3.client("sqs", config=_CONFIG)


class Queue:
    """One queue. ``client`` is that of boto3. Every method raises Unavailable."""

    def __init__(self, url: str, client: Any) -> None:
        self._url = url
        self._client = client
        self._fifo = url.endswith(_FIFO)

    def send_all(self, messages: Sequence[Outgoing], limit: int) -> None:
        """All of them are in the queue on return, those of a group in order. One that was sent
        before and is sent again within five minutes is one message.
        """
        for chunk in chunked(messages, limit):
            left = {str(index): message for index, message in enumerate(chunk)}
            for _ in range(_ATTEMPTS):
                left = self._send(left)
                if not left:
                    break
            else:
                raise Unavailable("the queue refuses messages for the moment")

    def _send(self, messages: Mapping[str, Outgoing]) -> dict[str, Outgoing]:
        """Send messages, by number; returns those that the queue refused."""
        entries = [self._entry(number, message) for number, message in messages.items()]
        with _translated():
            answer = self._client.send_message_batch(QueueUrl=self._url, Entries=entries)
        refused = {failure["Id"] for failure in answer.get("Failed", ())}
        return {number: message for number, message in messages.items() if number in refused}

    def _entry(self, number: str, message: Outgoing) -> dict[str, Any]:
        return {
            "Id": number,
            "MessageBody": message.body,
            "MessageAttributes": _attributes(message.attributes),
            **self._order(message.group, message.name),
        }

    def send(self, body: str, attributes: Mapping[str, str], group: str, name: str) -> None:
        """One message; ``name`` recognises a repeat, on a FIFO queue."""
        with _translated():
            self._client.send_message(
                QueueUrl=self._url,
                MessageBody=body,
                MessageAttributes=_attributes(attributes),
                **self._order(group, name),
            )

    def _order(self, group: str, name: str) -> dict[str, str]:
        return {"MessageGroupId": group, "MessageDeduplicationId": name} if self._fifo else {}

    def receive(self) -> list[tuple[Message, str]]:
        """Up to ten messages, after ten seconds at most; each with the handle to delete it by."""
        with _translated():
            answer = self._client.receive_message(
                QueueUrl=self._url,
                MaxNumberOfMessages=10,
                WaitTimeSeconds=_WAIT_SECONDS,
                AttributeNames=["All"],
                MessageAttributeNames=["All"],
            )
        return [
            (_received(message), message["ReceiptHandle"]) for message in answer.get("Messages", ())
        ]

    def delete(self, handles: Sequence[str]) -> None:
        """These messages are done; one that cannot be deleted comes again."""
        for some in batched(handles, 10):
            entries = [
                {"Id": str(index), "ReceiptHandle": handle} for index, handle in enumerate(some)
            ]
            with _translated():
                self._client.delete_message_batch(QueueUrl=self._url, Entries=entries)


class DeadLetters:
    """Messages that can never be taken, with the reason, in a queue of their own."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue

    def __call__(self, message: Message, reason: str) -> None:
        """The message is in the queue on return. Raises Unavailable."""
        attributes = {**dict(list(message.attributes.items())[:7]), "reason": _sayable(reason)}
        self._queue.send(message.body, attributes, message.group or message.id, message.id)


def message_of(record: Mapping[str, Any]) -> Message:
    """A record of the event with which SQS invokes a Lambda function."""
    ordered = str(record.get("eventSourceARN", "")).endswith(_FIFO)
    texts = _texts(record.get("messageAttributes", {}), "stringValue")
    system = record.get("attributes", {})
    return _message(record["messageId"], record["body"], texts, system, ordered=ordered)


def _received(message: Mapping[str, Any]) -> Message:
    system = message.get("Attributes", {})
    texts = _texts(message.get("MessageAttributes", {}), "StringValue")
    ordered = "SequenceNumber" in system
    return _message(message["MessageId"], message["Body"], texts, system, ordered=ordered)


def _message(
    key: str, body: str, texts: Mapping[str, str], system: Mapping[str, Any], *, ordered: bool
) -> Message:
    """A standard queue may have groups, too: they share it fairly and have no order."""
    group = system.get("MessageGroupId", "") if ordered else ""
    return Message(key, body, texts, group, int(system.get("ApproximateReceiveCount", 1)))


def _texts(attributes: Mapping[str, Any], field: str) -> dict[str, str]:
    return {name: attribute[field] for name, attribute in attributes.items() if field in attribute}


def _attributes(attributes: Mapping[str, str]) -> dict[str, dict[str, str]]:
    return {
        name: {"DataType": "String", "StringValue": value}
        for name, value in attributes.items()
        if value
    }


def _sayable(reason: str) -> str:
    printable = "".join(
        character if character.isprintable() else " " for character in reason[:_MOST_REASON]
    )
    return printable.encode()[:_MOST_REASON].decode(errors="ignore") or "unknown"


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except ClientError as error:
        raise Unavailable("the queue refuses a request", str(error)) from error
    except BotoCoreError as error:
        raise Unavailable("the queue does not answer", str(error)) from error
