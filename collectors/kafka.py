"""Records of the agent's Kafka dispatcher -> an intake, one document a record.

    poll -> read_record -> prepare -> intake.take (durable) -> commit
                 |                        |
                 poison: set aside        away: rest, try the same record again

A record is committed only after it is durable or set aside, so a crash in between repeats a
record and never loses one; repeats are known already. The client library stays behind
RecordSource and is imported when the command runs.
"""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol, TextIO

from collectors.intake import Intake
from graph_model.documents.files import Piece, kind_and_version, prepare
from graph_model.documents.json_texts import parse_json
from graph_model.errors import (
    ConfigurationError,
    HeadwaterError,
    InvalidFields,
    InvalidInput,
    Unavailable,
)
from graph_model.producers.registry import PRODUCERS, Producers

log = logging.getLogger(__name__)

FIRST_REST_SECONDS: Final = 1.0
LONGEST_REST_SECONDS: Final = 32.0
_POLL_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class KafkaRecord:
    """One record of a topic. ``value`` is None for a tombstone; header names may repeat."""

    topic: str
    partition: int
    offset: int
    headers: tuple[tuple[str, bytes | None], ...]
    value: bytes | None
    handle: Any = field(default=None, compare=False)  # the client library commits with it

    @property
    def where(self) -> str:
        return f"{self.topic} partition {self.partition} offset {self.offset}"


class RecordSource(Protocol):
    """A member of a consumer group."""

    def poll(self, seconds: float) -> KafkaRecord | None:
        """The next record, or None when none came in time. Raises HeadwaterError."""

    def commit(self, record: KafkaRecord) -> None:
        """Commit the offset of this record: it and all before it in its partition are done."""

    def rest(self, seconds: float) -> None:
        """Wait and stay a member of the group; no record is lost meanwhile."""


# --- a record -> a document (pure) ---------------------------------------------------------------


def read_record(record: KafkaRecord, producers: Producers = PRODUCERS) -> Piece:
    """The document of a record, by its headers. Raises InvalidInput for a record that no retry can
    make valid.
    """
    headers = {name: _text(value) for name, value in record.headers}
    kind, version = kind_and_version(headers, producers)
    if record.value is None:
        raise InvalidFields({"value": ["a document, not an empty record"]})
    return Piece(kind, version, parse_json(record.value), record.where)


def _text(value: bytes | None) -> str:
    return "" if value is None else value.decode("utf-8", "replace").strip()


# --- records that cannot be taken ----------------------------------------------------------------

SetAside = Callable[[KafkaRecord, str], None]


def dead_letter(record: KafkaRecord, reason: str) -> str:
    """One JSON line: where a record was, why it was refused, and its whole content."""
    letter = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "reason": reason,
        "headers": [[name, _text(value)] for name, value in record.headers],
        **_value_fields(record.value),
    }
    return json.dumps(letter, ensure_ascii=False)


def _value_fields(value: bytes | None) -> dict[str, str | None]:
    try:
        return {"value": None if value is None else value.decode("utf-8")}
    except UnicodeDecodeError:
        return {"valueBase64": base64.b64encode(value or b"").decode("ascii")}


@contextmanager
def dead_letters(place: str | None) -> Iterator[SetAside]:
    """Sets refused records aside: a warning in the log and, with ``place``, a
    line appended there.
    """
    with _appending(place) as file:

        def set_aside(record: KafkaRecord, reason: str) -> None:
            log.warning("%s is set aside: %s", record.where, reason)
            if file is not None:
                file.write(dead_letter(record, reason) + "\n")
                file.flush()

        yield set_aside


@contextmanager
def _appending(place: str | None) -> Iterator[TextIO | None]:
    if place is None:
        yield None
        return
    with Path(place).open("a", encoding="utf-8") as file:
        yield file


# --- the loop ------------------------------------------------------------------------------------


@dataclass(slots=True)
class Consumed:
    """The counts of a run: documents made durable, records set aside."""

    taken: int = 0
    set_aside: int = 0


def consume(
    source: RecordSource,
    intake: Intake,
    set_aside: SetAside,
    stopped: Callable[[], bool],
    producers: Producers = PRODUCERS,
) -> Consumed:
    """Take records until ``stopped``. Raises HeadwaterError when a retry cannot help."""
    done = Consumed()
    while not stopped():
        record = source.poll(_POLL_SECONDS)
        if record is None:
            continue
        reason = _take(record, source, intake, stopped, producers)
        if reason is None:
            return done  # stopped while the intake was away: no commit
        if reason:
            set_aside(record, reason)
            done.set_aside += 1
        else:
            done.taken += 1
        source.commit(record)
    return done


def _take(
    record: KafkaRecord,
    source: RecordSource,
    intake: Intake,
    stopped: Callable[[], bool],
    producers: Producers,
) -> str | None:
    """Empty when the record is durable, the reason when it is refused, None when stopped before."""
    try:
        prepared = prepare(read_record(record, producers), producers)
    except InvalidInput as error:
        return str(error)
    pause = FIRST_REST_SECONDS
    while True:
        try:
            refusals = intake.take([prepared])
        except Unavailable as error:
            log.warning("%s waits %.0f s: %s", record.where, pause, error)
        else:
            return refusals[0].reason if refusals else ""
        if not _rest(source, pause, stopped):
            return None
        pause = min(2 * pause, LONGEST_REST_SECONDS)


def _rest(source: RecordSource, seconds: float, stopped: Callable[[], bool]) -> bool:
    """Wait in steps of a second; False when stopped."""
    left = seconds
    while left > 0 and not stopped():
        step = min(1.0, left)
        source.rest(step)
        left -= step
    return not stopped()


# --- the client library --------------------------------------------------------------------------


class KafkaSource:
    """A RecordSource over a ``confluent_kafka.Consumer`` (or a client with its methods).

    While it waits, it pauses its partitions and goes on polling, because the broker removes a
    member that does not poll from the group. A record that arrives nevertheless (from a partition
    assigned meanwhile) is kept for the next ``poll``.
    """

    def __init__(self, consumer: Any, failure: type[Exception]) -> None:
        self._consumer = consumer
        self._failure = failure
        self._held: list[KafkaRecord] = []

    def poll(self, seconds: float) -> KafkaRecord | None:
        """See RecordSource."""
        return self._held.pop(0) if self._held else self._fetch(seconds)

    def commit(self, record: KafkaRecord) -> None:
        """See RecordSource. A failed commit is logged: the record is delivered
        again as a repeat.
        """
        try:
            self._consumer.commit(message=record.handle, asynchronous=False)
        except self._failure as error:
            log.warning("%s is taken and could not be committed: %s", record.where, error)

    def rest(self, seconds: float) -> None:
        """See RecordSource."""
        partitions = self._consumer.assignment()
        self._consumer.pause(partitions)
        try:
            record = self._fetch(seconds)
            if record is not None:
                self._held.append(record)
        finally:
            self._consumer.resume(self._consumer.assignment())

    def _fetch(self, seconds: float) -> KafkaRecord | None:
        message = self._consumer.poll(seconds)
        if message is None:
            return None
        error = message.error()
        if error is None:
            return KafkaRecord(
                message.topic(),
                message.partition(),
                message.offset(),
                tuple(message.headers() or ()),
                message.value(),
                message,
            )
        if error.fatal():
            raise HeadwaterError(f"Kafka: {error.str()}")
        log.warning("Kafka: %s", error.str())
        return None


@contextmanager
def kafka_source(
    bootstrap: str, topic: str, group: str, properties: Mapping[str, str]
) -> Iterator[KafkaSource]:
    """A subscribed member of the group, which leaves the group at the end.

    ``properties`` are settings of librdkafka (``security.protocol``, ``sasl.mechanism`` …). Raises
    ConfigurationError when the library is missing or refuses a setting.
    """
    try:
        import confluent_kafka  # optional, and its import takes 0.1 s
    except ImportError as error:
        raise ConfigurationError(
            "consuming from Kafka needs its client, which is not installed here: "
            "pip install 'confluent-kafka>=2.11,<3'"
        ) from error
    try:
        consumer = confluent_kafka.Consumer(
            {
                "auto.offset.reset": "earliest",
                **properties,
                "bootstrap.servers": bootstrap,
                "group.id": group,
                "enable.auto.commit": "false",
            }
        )
        consumer.subscribe([topic])
    except (confluent_kafka.KafkaException, ValueError, TypeError) as error:
        raise ConfigurationError(f"Kafka: {error}") from error
    try:
        yield KafkaSource(consumer, confluent_kafka.KafkaException)
    finally:
        consumer.close()
