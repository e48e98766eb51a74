"""``headwater consume``: documents from a queue; ``harvest``: lineage from where SQL is kept."""

from __future__ import annotations

import argparse
import logging
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

from api.console.call import PROGRAM, Call, add_command, add_settings, add_url, read_label
from graph_model.errors import ConfigurationError, Unavailable
from graph_model.values import iso, now, parse_instant

if TYPE_CHECKING:
    from collectors.harvesting.redshift import Ask
    from collectors.harvesting.rounds import HarvestSource, PositionFile


def consume_kafka(call: Call) -> int:
    """Take documents from a topic until Ctrl-C."""
    from api.console.intake import intake_of_documents
    from api.logs import set_up_logging
    from collectors.kafka import consume, dead_letters, kafka_source

    options, settings = call.options, call.settings()
    set_up_logging(settings.log_level, settings.log_format)
    with (
        intake_of_documents(
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
    from api.console.intake import intake_of_documents
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
        intake_of_documents(call, direct=options.direct, route="sqs", principal="queue") as taking,
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


log = logging.getLogger(__name__)

_UNITS: Final = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_OPTIONS: Final = """
The first time it shows what it is about to load and asks; --yes does not ask. Later calls go on
from the position that is stored in the data folder (or --position), whatever --since says, except
for an earlier one. A repeat is harmless: the journal knows what it has. --dry-run lists documents
and stores nothing. docs/harvest.md
"""


def harvest_athena(call: Call) -> int:
    """Take the queries of Athena's workgroups."""
    from collectors.harvesting.athena import AthenaHistory

    options = call.options
    source = AthenaHistory(
        options.region, options.workgroup, readers=options.readers, jobs=options.namespace
    )
    return _run(call, source)


def harvest_datazone(call: Call) -> int:
    """Take the lineage events of a DataZone domain."""
    from collectors.harvesting.datazone import DataZoneEvents

    options = call.options
    if options.namespace:
        raise ConfigurationError("--namespace: events of DataZone are taken as they were sent")
    return _run(call, DataZoneEvents(options.region, options.domain, options.pattern))


def harvest_dbt(call: Call) -> int:
    """Take dbt's artefacts."""
    from collectors.harvesting.dbt import DbtArtifacts

    options = call.options
    source = DbtArtifacts(
        options.artefacts,
        options.datasets,
        options.region,
        options.namespace,
        options.telemetry,
        call.say,
    )
    return _run(call, source)


def harvest_redshift(call: Call) -> int:
    """Take the statements of a cluster or workgroup. Raises ConfigurationError for options that do
    not go together.
    """
    from collectors.harvesting.postgresql import PostgresqlServer
    from collectors.harvesting.redshift import open_redshift

    options = call.options
    of_the_api = ("database_name", "db_user", "secret", "region")
    if options.address:
        for name in of_the_api:
            if getattr(options, name):
                raise ConfigurationError(
                    f"--{name.replace('_', '-')}: --address says where and who"
                )
        with closing(PostgresqlServer(options.address, options="")) as server:
            return _run(call, _history(call, server.ask, f"redshift://{server.authority}"))
    if not options.database_name:
        raise ConfigurationError("--database-name: expected the database to sign in to")
    api, place = open_redshift(
        options.region,
        options.workgroup,
        options.cluster,
        database=options.database_name,
        secret=options.secret,
        user=options.db_user,
    )
    return _run(call, _history(call, api.rows, place))


def _history(call: Call, ask: Ask, place: str) -> HarvestSource:
    from collectors.harvesting.redshift import STL_VIEWS, SYS_VIEWS, RedshiftHistory

    options = call.options
    return RedshiftHistory(
        ask,
        options.datasets or place,
        call.say,
        databases=options.databases,
        users=options.users,
        readers=options.readers,
        jobs=options.namespace,
        views=STL_VIEWS if options.stl else SYS_VIEWS,
    )


def harvest_postgresql(call: Call) -> int:
    """Take tables, views and procedures of a database."""
    from collectors.harvesting.postgresql import PostgresqlCatalog, PostgresqlServer

    options = call.options
    with closing(PostgresqlServer(options.address)) as server:
        place = options.datasets or server.place
        source = PostgresqlCatalog(server.ask, place, server.database, now, options.namespace)
        return _run(call, source)


# --- shared by the sources -----------------------------------------------------------------------


def _run(call: Call, source: HarvestSource) -> int:
    from collectors.harvesting.rounds import PositionFile, preview

    options, settings = call.options, call.settings()
    positions = PositionFile(options.position, settings.data, source)
    if options.dry_run:
        for line in preview(source, positions.load(), options.since, now()):
            call.say(line)
        return 0
    if positions.load() is None and not _agreed(call, source):
        return 0
    return _take(call, source, positions)


def _agreed(call: Call, source: HarvestSource) -> bool:
    """Show what a first load takes, and ask. Raises ConfigurationError where nobody can answer."""
    for name, value in source.settings().items():
        call.say(f"  {name}: {value}")
    asked = call.options.since
    if source.kept is not None:
        oldest = now() - source.kept
        if asked is not None and asked < oldest:
            call.say(f"  nothing is kept there from before {iso(oldest)}")
        asked = max(asked or 0, oldest)
    call.say(f"  since: {iso(asked) if asked else 'the beginning'}")
    if call.options.yes:
        return True
    if not sys.stdin.isatty():
        raise ConfigurationError("the first load begins with --yes (--dry-run shows what it takes)")
    call.say("Load this? [y/N]")
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _take(call: Call, source: HarvestSource, positions: PositionFile) -> int:
    """One round, or one after the other with --every until Ctrl-C."""
    from api.console.intake import intake_of_documents
    from api.logs import set_up_logging
    from collectors.harvesting.rounds import harvest

    options, settings = call.options, call.settings()
    set_up_logging(settings.log_level, settings.log_format)
    principal = f"harvest:{source.name}"
    with (
        intake_of_documents(
            call, direct=options.direct, route="harvest", principal=principal
        ) as taking,
        stop_signal() as stopping,
    ):
        while not stopping.is_set():
            try:
                counts = harvest(
                    source, taking, positions, options.since, now(), call.say, call.producers,
                    stopping.is_set,
                )  # fmt: skip
                call.say(f"{source.name}: {counts}")
            except Unavailable as error:
                if not options.every:
                    raise Unavailable(f"{error}; the same call again goes on") from error
                log.warning("the next round tries again: %s", error)
            if not options.every:
                return 1 if counts.refused else 0
            stopping.wait(options.every / 1000)
    return 0


def _duration(text: str) -> int:
    """``5m`` => milliseconds."""
    number, unit = text[:-1], text[-1:]
    if unit not in _UNITS or not (number.isascii() and number.isdigit() and 0 < len(number) < 10):
        raise argparse.ArgumentTypeError("expected a number of s, m, h or d, such as 5m")
    return int(number) * _UNITS[unit]


def _since(text: str) -> int:
    """A time, or how long ago: epoch milliseconds."""
    try:
        return max(now() - _duration(text), 0)
    except argparse.ArgumentTypeError:
        pass
    expected = "expected a past time (ISO 8601) or how long ago (7d, 12h)"
    try:
        at = parse_instant(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(expected) from error
    if at > now():  # a position in the future would leave out all until then
        raise argparse.ArgumentTypeError(expected)
    return at


def add_harvest(commands: Any) -> None:
    added = add_command(
        commands,
        "harvest",
        None,
        "lineage from where SQL and schemas are kept",
        f"""\
For what nothing reports: queries of a warehouse, models of dbt. What is fetched is journalled with
its text and schemas, so a rebuild needs no source.

  headwater harvest athena --since 7d --dry-run
  headwater harvest athena --since 7d --yes --every 5m
  headwater harvest redshift --workgroup etl --database-name dev --since 3d
  headwater harvest dbt target --datasets redshift://cluster.eu-west-1:5439
{_OPTIONS}""",
    )
    sources = added.add_subparsers(metavar="SOURCE", required=True)
    athena = _add_source(
        sources,
        "athena",
        harvest_athena,
        "take the query history of Amazon Athena",
        """\
Queries that write (CREATE TABLE AS, INSERT, UNLOAD, MERGE, views), and those that only read, with
schemas and places from Glue's catalogue. Needs athena:ListWorkGroups, ListQueryExecutions,
GetQueryExecution and glue:GetTable. Athena keeps 45 days.

  headwater harvest athena --region eu-west-1 --workgroup etl --since 30d""",
    )
    _add_region(athena)
    athena.add_argument(
        "--workgroup", action="append", default=[], help="take its queries (default: all)"
    )
    _add_readers(athena)
    datazone = _add_source(
        sources,
        "datazone",
        harvest_datazone,
        "take the lineage events of an Amazon DataZone domain",
        """\
Events of OpenLineage as DataZone received them. Needs datazone:ListLineageEvents and
GetLineageEvent. Another endpoint: AWS_ENDPOINT_URL_DATAZONE.

  headwater harvest datazone --domain dzd_a1b2c3 --pattern 'sales*' --since 30d""",
    )
    _add_region(datazone)
    datazone.add_argument("--domain", required=True, metavar="ID", help="dzd_...")
    datazone.add_argument(
        "--pattern", default="*", help="take events whose job or a table has such a name (*, ?)"
    )
    dbt = _add_source(
        sources,
        "dbt",
        harvest_dbt,
        "take dbt's artefacts",
        """\
manifest.json, and catalog.json and run_results.json where they are: models, seeds and snapshots
with the columns of their compiled text, exposures as jobs that read, outcomes of tests. Below an S3
prefix every folder with a manifest.json is taken. No artefact says where dbt's warehouse is:

  headwater harvest dbt target --datasets redshift://cluster.eu-west-1:5439
  headwater harvest dbt s3://artefacts/dbt/ --datasets bigquery --every 10m --yes""",
    )
    dbt.add_argument("artefacts", metavar="FOLDER", help="dbt's target folder, or an s3:// prefix")
    dbt.add_argument(
        "--datasets", required=True, metavar="NAMESPACE", help="of the tables, as OpenLineage's"
    )
    dbt.add_argument(
        "--telemetry", default="", metavar="FILE",
        help="of dbt 2's --otel-file-name, from the folder on: ../logs/telemetry.jsonl; it says "
        "what ran where there is no run_results.json",
    )  # fmt: skip
    _add_region(dbt)
    _add_redshift(sources)
    postgresql = _add_source(
        sources,
        "postgresql",
        harvest_postgresql,
        "take tables, views and procedures of a PostgreSQL database",
        """\
The schema of each table, and views and procedures (in SQL and PL/pgSQL) as declared jobs with their
text; again when they have changed. Nothing is changed there. A password comes from PGPASSWORD or a
password file. Needs: pip install 'psycopg[binary]>=3.2,<4'

  headwater harvest postgresql postgresql://harvest@db/shop --every 1h --yes""",
    )
    postgresql.add_argument("address", metavar="URL", help="postgresql://user@host:port/database")
    postgresql.add_argument(
        "--datasets", default="", metavar="NAMESPACE",
        help="of the tables (default: postgres://HOST:PORT)",
    )  # fmt: skip


def _add_redshift(sources: Any) -> None:
    redshift = _add_source(
        sources,
        "redshift",
        harvest_redshift,
        "take the query history of Amazon Redshift",
        """\
Statements that write, and those that only read, by the Data API: temporary tables are folded, what
was rolled back is aborted, a renamed table takes its data along. Needs
redshift-data:ExecuteStatement, DescribeStatement, GetStatementResult, and in the database the role
sys:monitor; without it only the user's own statements are seen. Redshift keeps 7 days.

  headwater harvest redshift --workgroup etl --database-name dev --since 3d
  headwater harvest redshift --cluster c --db-user harvest --database-name dev --users etl

Or by a connection, whose password comes from PGPASSWORD or a password file. Needs:
pip install 'psycopg[binary]>=3.2,<4'

  headwater harvest redshift --address postgresql://harvest@c.x1.eu-west-1.redshift.amazonaws.com:5439/dev""",
    )
    place = redshift.add_mutually_exclusive_group(required=True)
    place.add_argument("--workgroup", default="", help="of Redshift Serverless")
    place.add_argument("--cluster", default="", help="a provisioned cluster")
    place.add_argument(
        "--address", default="", metavar="URL",
        help="postgresql://user@endpoint:5439/database, instead of the Data API",
    )  # fmt: skip
    redshift.add_argument("--database-name", default="", help="where the Data API signs in")
    redshift.add_argument("--db-user", default="", help="of a cluster, for temporary credentials")
    redshift.add_argument("--secret", default="", help="ARN of a secret to sign in with")
    redshift.add_argument(
        "--datasets", default="", metavar="NAMESPACE",
        help="of the tables (default: redshift://NAME.REGION:5439)",
    )  # fmt: skip
    redshift.add_argument(
        "--stl", action="store_true", help="read the STL views, of a cluster without SYS views"
    )
    redshift.add_argument("--databases", nargs="+", default=[], help="take these alone")
    redshift.add_argument("--users", nargs="+", default=[], help="take theirs alone")
    _add_region(redshift)
    _add_readers(redshift)


def _add_readers(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--readers",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="queries that only read are jobs, too (default: yes)",
    )


def _add_region(command: argparse.ArgumentParser) -> None:
    command.add_argument("--region", default="", help="the AWS region (default: as boto3 finds it)")


def _add_source(
    sources: Any, name: str, command: Callable[[Call], int], summary: str, text: str
) -> argparse.ArgumentParser:
    source = add_command(sources, name, command, summary, text + "\n" + _OPTIONS)
    source.add_argument("--since", type=_since, help="a time, or how long ago: 7d (default: all)")
    source.add_argument("--every", type=_duration, help="again and again, such as 5m, until Ctrl-C")
    source.add_argument("--dry-run", action="store_true", help="list documents, store nothing")
    source.add_argument("--yes", action="store_true", help="do not ask before the first load")
    source.add_argument("--position", type=Path, metavar="FILE", help="where it goes on from")
    source.add_argument("--namespace", default="", help="the namespace of its jobs")
    way = source.add_mutually_exclusive_group()
    add_url(way)
    way.add_argument("--direct", action="store_true", help="straight into the journal")
    add_settings(source, "data", "database", "log_level")
    return source
