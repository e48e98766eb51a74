"""``headwater consume``: documents from a queue."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from api.console.call import PROGRAM, Call, add_command, add_settings, add_url, read_label
from graph_model.errors import ConfigurationError


def consume_kafka(call: Call) -> int:
    """Take documents from a topic until Ctrl-C."""
    from api.console.destinations import destination_of_documents
    from api.logs import set_up_logging
    from collectors.kafka import consume, dead_letters, kafka_source

    options, settings = call.options, call.settings()
    set_up_logging(settings.log_level, settings.log_format)
    with (
        destination_of_documents(
            call, direct=options.direct, route="kafka", principal=f"kafka:{options.group}"
        ) as taking,
        dead_letters(options.dead_letter) as set_aside,
        kafka_source(
            options.bootstrap, options.topic, options.group, dict(options.property)
        ) as source,
        stop_signal() as stopping,
    ):
        call.say(f"Consuming {options.topic} as {options.group}; Ctrl-C stops it.")
        done = consume(source, taking, set_aside, stopping.is_set, call.producers)
    call.say(f"{done.taken:,} documents taken, {done.set_aside:,} set aside")
    return 0


def consume_sqs(call: Call) -> int:
    """Take documents from a queue of Amazon SQS until Ctrl-C."""
    from api.console.destinations import destination_of_documents
    from api.logs import set_up_logging
    from collectors.rewriting import load_rules
    from collectors.sqs.messages import MessageReader, consume_queue
    from collectors.sqs.queues import DeadLetters, Queue, open_client
    from graph_model.stores.uploads import Uploads

    options, settings = call.options, call.settings()
    if not settings.dead_letter_queue:
        raise ConfigurationError(
            "--dead-letter-queue (HEADWATER_DEAD_LETTER_QUEUE): messages that can never be taken "
            "need a place"
        )
    set_up_logging(settings.log_level, settings.log_format)
    client = open_client()
    uploads = Uploads(settings.uploads) if settings.uploads else None
    rules, limit = load_rules(settings.rewrite_rules), settings.max_body_bytes
    reader = MessageReader(uploads, rules, limit, call.producers)
    dead_letters = DeadLetters(Queue(settings.dead_letter_queue, client))
    with (
        destination_of_documents(
            call, direct=options.direct, route="sqs", principal="queue"
        ) as taking,
        stop_signal() as stopping,
    ):
        call.say(f"Consuming {options.queue}; Ctrl-C stops it.")
        queue = Queue(options.queue, client)
        done = consume_queue(queue, reader, taking, dead_letters, stopping.is_set, time.sleep)
    call.say(f"{done.taken:,} documents taken, {done.set_aside:,} set aside")
    return 0


@contextmanager
def stop_signal() -> Iterator[threading.Event]:
    """Set once SIGINT or SIGTERM has come; a second one ends the process at once."""
    stopping = threading.Event()
    numbers = (signal.SIGINT, signal.SIGTERM)

    def stop(number: int, _frame: FrameType | None) -> None:
        stopping.set()
        signal.signal(number, signal.SIG_DFL)

    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield stopping
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def add_consume(commands: Any) -> None:
    added = add_command(
        commands,
        "consume",
        None,
        "take documents from a queue",
        """\
For agents that do not report over HTTP.

  headwater consume kafka --bootstrap broker:9092 --topic spline""",
    )
    sources = added.add_subparsers(metavar="SOURCE", required=True)
    kafka = add_command(
        sources,
        "kafka",
        consume_kafka,
        "receive the documents of the Spline agent's Kafka dispatcher, until Ctrl-C",
        """\
Hands every record to a running Headwater (--url), or puts it straight into the data folder
(--direct; headwater serve must not be running there). An offset is committed once its document is
durable. While Headwater is away it waits and tries again. A record that can never be taken is
logged with its offset, kept in the --dead-letter file, and passed over.
Needs: pip install 'confluent-kafka>=2.11,<3'

  headwater consume kafka --bootstrap broker:9092 --topic spline
  headwater consume kafka --bootstrap broker:9092 --topic spline --dead-letter refused.jsonl
  headwater consume kafka --bootstrap b:9093 --topic spline --property security.protocol=ssl""",
    )
    kafka.add_argument("--bootstrap", required=True, help="brokers: host:port,host:port")
    kafka.add_argument("--topic", required=True, help="the dispatcher's topic")
    kafka.add_argument("--group", default=PROGRAM, help=f"consumer group (default: {PROGRAM})")
    kafka.add_argument(
        "--property",
        action="append",
        default=[],
        type=read_label,
        metavar="NAME=VALUE",
        help="a setting of librdkafka, such as sasl.mechanism=PLAIN",
    )
    kafka.add_argument("--dead-letter", metavar="FILE", help="add refused records, as JSON lines")
    way = kafka.add_mutually_exclusive_group()
    add_url(way)
    way.add_argument("--direct", action="store_true", help="straight into the data folder")
    add_settings(kafka, "data", "database", "log_level")
    _add_sqs(sources)


def _add_sqs(sources: Any) -> None:
    sqs = add_command(
        sources,
        "sqs",
        consume_sqs,
        "take documents from a queue of Amazon SQS, until Ctrl-C",
        """\
Events of OpenLineage, plans and events of Spline, notifications of uploads: docs/queues.md. A
message is deleted once its documents are durable, or once it is in the dead-letter queue with the
reason why it can never be taken. After a passing failure it comes again at the visibility timeout.

  headwater consume sqs --queue $EVENTS --dead-letter-queue $DEAD_LETTERS
  headwater consume sqs --queue $UPLOADS --dead-letter-queue $DEAD_UPLOADS --direct""",
    )
    sqs.add_argument("--queue", required=True, metavar="URL", help="the queue")
    way = sqs.add_mutually_exclusive_group()
    add_url(way)
    way.add_argument("--direct", action="store_true", help="straight into the journal")
    add_settings(
        sqs, "data", "database", "log_level", "dead_letter_queue", "uploads", "rewrite_rules"
    )
