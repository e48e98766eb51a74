"""OpenLineage events -> messages of a FIFO queue.

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
from dataclasses import dataclass
from typing import Any, Final

from graph_model.errors import InvalidDocument
from graph_model.stores.documents import compact_json

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
        yield _message(event, principal, limit, set_aside)


def _message(
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


_UNSENDABLE: Final = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


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
        if chunk and (full or any(one.group == message.group for one in chunk)):
            yield chunk
            chunk, size = [], 0
        chunk.append(message)
        size += own
    if chunk:
        yield chunk


def pointer_to(key: str) -> str:
    """The text of a message whose document lies under this key."""
    return json.dumps({"headwater": POINTER, "key": key})
