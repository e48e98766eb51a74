"""The command ``headwater``: each sub-command is one function, and its --help teaches it.

Exit codes: 0 well, 1 something did not work, 2 the call or a setting is wrong. Errors are one
line on standard error; ``--debug`` shows where they came from.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Final, TextIO

from api.settings import ROWS, Settings, read_settings
from graph_model.errors import ConfigurationError, HeadwaterError, NotFound
from spark_agent_config.properties import FORMS, PLATFORMS, render_configuration

PROGRAM: Final = "headwater"
_ANSWER_SECONDS: Final = 30


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the command: what was asked, and the world around it."""

    options: argparse.Namespace
    environment: Mapping[str, str]
    out: TextIO

    def settings(self) -> Settings:
        """The settings of the environment, overridden by options of the same name."""
        given = {
            row.variable: str(value)
            for row in ROWS
            if (value := getattr(self.options, row.field, None)) is not None
        }
        return read_settings({**self.environment, **given})

    def say(self, line: str) -> None:
        """One line, at once: the output may be a pipe."""
        self.out.write(f"{line}\n")
        self.out.flush()


Command = Callable[[Call], int]


def main() -> None:
    """The console script."""
    sys.exit(run(sys.argv[1:], os.environ, sys.stdout, sys.stderr))


def run(
    arguments: Sequence[str], environment: Mapping[str, str], out: TextIO, errors: TextIO
) -> int:
    """Run one command; its exit code."""
    options = parser().parse_args(arguments)
    command: Command = options.command
    try:
        return command(Call(options, environment, out))
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return _closed_pipe()
    except (HeadwaterError, OSError) as error:
        if options.debug:
            raise
        errors.write(f"{PROGRAM}: {error}\n")
        return 2 if isinstance(error, ConfigurationError) else 1


def _closed_pipe() -> int:
    """``headwater … | head`` closed the pipe: end without a word, also at the last flush."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


# --- the sub-commands ----------------------------------------------------------------------------


def serve(call: Call) -> int:
    """Start everything and serve until Ctrl-C."""
    from api import server  # Flask, SQLAlchemy and the driver: 0.5 s that other commands save

    return server.serve(call.settings(), call.environment, call.say)


def demo(call: Call) -> int:
    """Run the example pipeline in PySpark against a running Headwater."""
    if importlib.util.find_spec("pyspark") is None:
        raise ConfigurationError(
            "the demo needs PySpark, which is not installed here: run make demo, or "
            "pip install -r requirements/spark.txt"
        )
    _ask(call, "GET", "/health/live")
    command = [sys.executable, "-m", "spark_agent_config.demo", "--url", _url(call)]
    # Spark's workers would take the first python3 in PATH, whatever its version
    environment = {**call.environment, "PYSPARK_PYTHON": sys.executable}
    return subprocess.run(command, check=False, env=environment).returncode  # noqa: S603 - ours


def configuration(call: Call) -> int:
    """Print what a platform needs to report here."""
    options = call.options
    if options.platform != "spark" and not options.url:
        raise ConfigurationError(
            f"a job on {options.platform} cannot reach this computer's 127.0.0.1: name the address "
            "under which it reaches Headwater with --url"
        )
    try:
        text = render_configuration(
            options.platform,
            f"{_url(call)}/producer",
            options.spark_version,
            options.scala_version,
            options.form,
            labels=dict(options.label),
        )
    except ValueError as error:
        raise ConfigurationError(str(error)) from error
    call.out.write(text)
    return 0


def journal_list(call: Call) -> int:
    """List documents, newest first."""
    from api.times import format_instant
    from graph_model.store import DocumentKind, DocumentState

    state, kind = call.options.state, call.options.kind
    with _open_journal(call) as journal:
        page = journal.entries(
            state=DocumentState(state) if state else None,
            kind=DocumentKind(kind) if kind else None,
            limit=call.options.limit,
        )
    for item in page.items:
        reason = f"  {item.reason}" if item.reason else ""
        call.say(
            f"{item.position:>8}  {format_instant(item.received_at)}  {item.kind.value:<5}  "
            f"{item.state.value:<9}  {item.plan_id}  {item.size:>9,} B{reason}"
        )
    call.say(f"{len(page.items)} of {page.total} documents")
    return 0


def journal_show(call: Call) -> int:
    """Print one document as it is kept."""
    with _open_journal(call) as journal:
        document = journal.document(call.options.position)
    if document is None:
        raise NotFound("document", str(call.options.position))
    call.out.write(json.dumps(json.loads(document.body), indent=2, ensure_ascii=False) + "\n")
    return 0


def journal_export(call: Call) -> int:
    """Write every document, oldest first, as JSON lines."""
    with _open_journal(call) as journal, _destination(call) as destination:
        positions = [item.position for item in _all_entries(journal)]
        for position in sorted(positions):
            if (document := journal.document(position)) is not None:
                destination.write(json.dumps(_export_line(document), ensure_ascii=False) + "\n")
    if call.options.file != "-":
        call.say(f"{len(positions)} documents in {call.options.file}")
    return 0


def journal_import(call: Call) -> int:
    """Take documents from files, into the data folder or through a running server."""
    from api.imports import import_files  # the schemas: 0.3 s that other commands save

    limit = call.settings().max_body_bytes
    with _destination_of_documents(call, direct=not call.options.url, route="import") as taking:
        tally = import_files(call.options.files, taking, call.say, limit)
    call.say(str(tally))
    if tally.imported and not call.options.url:
        call.say("the next headwater serve draws them")
    return 1 if tally.refused else 0


def consume_kafka(call: Call) -> int:
    """Take documents from a topic until Ctrl-C."""
    from api.kafka import consume, dead_letters, kafka_source
    from api.server import set_up_logging

    options = call.options
    set_up_logging(call.settings().log_level)
    with (
        _destination_of_documents(call, direct=options.direct, route="kafka") as taking,
        dead_letters(options.dead_letter) as set_aside,
        kafka_source(
            options.bootstrap, options.topic, options.group, dict(options.property)
        ) as source,
        _asked_to_stop() as stopped,
    ):
        call.say(f"Consuming {options.topic} as {options.group}; Ctrl-C stops it.")
        done = consume(source, taking, set_aside, stopped)
    call.say(f"{done.taken:,} documents taken, {done.set_aside:,} set aside")
    return 0


def replay(call: Call) -> int:
    """Ask a running server to try documents again."""
    answer = _ask(call, "POST", "/journal/replay", {"state": call.options.state})
    call.say(f"{answer['reopened']} documents are tried again; headwater journal list shows them")
    return 0


def rebuild(call: Call) -> int:
    """Build graph and catalogue anew from the journal, now or at the next start."""
    if call.options.at_next_start:
        from graph_model.projector import EPOCH_KEY

        with _open_journal(call) as journal:
            journal.set_meta(EPOCH_KEY, "")  # an unknown epoch: everything is built anew
        call.say("graph and catalogue are built anew at the next start of headwater serve")
        return 0
    answer = _ask(call, "POST", "/journal/replay", {"state": "projected"})
    call.say(f"{answer['reopened']} documents are projected again; /health/ready tells the end")
    return 0


def doctor(call: Call) -> int:
    """Look at everything that a start needs; one line each."""
    from api.doctor import examine

    findings = examine(call.settings(), call.environment)
    for finding in findings:
        call.say(f"{'✓' if finding.right else '✗'} {finding.name:<12} {finding.said}")
    wrong = sum(not finding.right for finding in findings)
    call.say("all is well" if not wrong else f"{wrong} to mend")
    return 1 if wrong else 0


# --- what they share -----------------------------------------------------------------------------


@contextmanager
def _open_journal(call: Call) -> Iterator[Any]:
    """The journal of the data folder; a running server does not mind."""
    from api.server import DATABASE_FILE
    from graph_model.database import open_database
    from graph_model.journal import SqlJournal

    place = call.settings().data / DATABASE_FILE
    if not place.is_file():
        raise ConfigurationError(
            f"there is no journal in {place.parent}: name its folder with --data, or start "
            "headwater serve once"
        )
    journal = SqlJournal(open_database(place))
    try:
        yield journal
    finally:
        journal.close()


@contextmanager
def _destination_of_documents(call: Call, *, direct: bool, route: str) -> Iterator[Any]:
    """The data folder's journal, held, or the running server."""
    from api.destinations import ServerDestination, claimed_journal

    if not direct:
        yield ServerDestination(_url(call))
        return

    def clock() -> int:
        return time.time_ns() // 1_000_000

    with claimed_journal(call.settings().data, _url(call), clock, route) as journal:
        yield journal


@contextmanager
def _asked_to_stop() -> Iterator[Callable[[], bool]]:
    """Whether SIGINT or SIGTERM has come; a second one ends the process at once."""
    asked = threading.Event()
    numbers = (signal.SIGINT, signal.SIGTERM)

    def stop(number: int, _frame: FrameType | None) -> None:
        asked.set()
        signal.signal(number, signal.SIG_DFL)

    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield asked.is_set
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _all_entries(journal: Any) -> Iterator[Any]:
    cursor = None
    while True:
        page = journal.entries(limit=1000, cursor=cursor)
        yield from page.items
        cursor = page.next
        if cursor is None:
            return


def _export_line(document: Any) -> dict[str, Any]:
    return {
        "position": document.position,
        "kind": document.kind.value,
        "apiVersion": document.api_version,
        "planId": document.plan_id,
        "scope": document.scope,
        "receivedAt": document.received_at,
        "body": json.loads(document.body),
    }


@contextmanager
def _destination(call: Call) -> Iterator[TextIO]:
    if call.options.file == "-":
        yield call.out
        return
    with Path(call.options.file).open("w", encoding="utf-8") as file:
        yield file


def _url(call: Call) -> str:
    """``--url``, else where the settings say that the server is."""
    if call.options.url:
        return str(call.options.url).rstrip("/")
    settings = call.settings()
    host = "127.0.0.1" if settings.host in {"0.0.0.0", "::"} else settings.host  # noqa: S104
    return f"http://[{host}]:{settings.port}" if ":" in host else f"http://{host}:{settings.port}"


def _ask(call: Call, method: str, path: str, body: object = None) -> dict[str, Any]:
    """One request to the running server; its JSON answer. Raises HeadwaterError in one line."""
    url = _url(call)
    if not url.startswith(("http://", "https://")):
        raise ConfigurationError(f"--url {url!r}: expected an http(s) address")
    request = urllib.request.Request(  # noqa: S310 - the scheme is checked above
        url + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=_ANSWER_SECONDS) as answer:  # noqa: S310
            answered: dict[str, Any] = json.load(answer)
            return answered
    except urllib.error.HTTPError as error:
        raise HeadwaterError(f"{url}{path} answers {error.code}: {_message(error)}") from error
    except (urllib.error.URLError, TimeoutError) as error:
        raise HeadwaterError(
            f"no Headwater answers at {url}: start it with make run (headwater serve), or name "
            "another with --url"
        ) from error
    except ValueError as error:
        raise HeadwaterError(f"what answers at {url} is no Headwater") from error


def _message(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.load(error)["message"])
    except (ValueError, KeyError, TypeError):
        return str(error.reason)


# --- words ---------------------------------------------------------------------------------------

_DESCRIPTION: Final = """\
Headwater keeps the lineage of your Spark jobs: which job read and wrote which table, which column
came from which. Start it, point a job at it, look at the page.

  make run                      start it (headwater serve), then open http://127.0.0.1:8080
  headwater demo                a small PySpark pipeline that reports to it
  headwater config spark        what your own jobs need to report to it

Settings come from the environment (HEADWATER_PORT, HEADWATER_DATA …: docs/settings.md) and from
options of the same name, which win.
"""


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    root = argparse.ArgumentParser(
        prog=PROGRAM,
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    root.add_argument("--debug", action="store_true", help="show where an error came from")
    commands = root.add_subparsers(metavar="COMMAND", required=True)
    _add_serve(commands)
    _add_demo(commands)
    _add_config(commands)
    _add_journal(commands)
    _add_consume(commands)
    _add_replay(commands)
    _add_rebuild(commands)
    _add_doctor(commands)
    return root


def _add(
    commands: Any, name: str, command: Command | None, summary: str, text: str
) -> argparse.ArgumentParser:
    added: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.\n\n{text}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    if command is not None:
        added.set_defaults(command=command)
    return added


def _add_settings(command: argparse.ArgumentParser, *fields: str) -> None:
    for row in ROWS:
        if row.field in fields:
            command.add_argument(
                f"--{row.field.replace('_', '-')}",
                metavar=row.variable.removeprefix("HEADWATER_"),
                help=f"{row.help} (default: ${row.variable}, else {row.default or 'empty'})",
            )


def _add_url(command: argparse._ActionsContainer) -> None:
    command.add_argument(
        "--url", help="the running Headwater (default: http://127.0.0.1:8080, from the settings)"
    )


def _add_serve(commands: Any) -> None:
    added = _add(
        commands,
        "serve",
        serve,
        "start Headwater and serve the page and the API",
        """\
Starts the embedded Gremlin Server (Java 17 or newer), opens the journal in the data folder, brings
the graph up to date with it and listens. Ctrl-C stops everything in order.

  headwater serve
  headwater serve --port 8081 --gremlin-port 8183 --data /srv/headwater
  headwater serve --gremlin-url ws://graph.example.org:8182/gremlin""",
    )
    _add_settings(
        added, "host", "port", "data", "gremlin_port", "gremlin_url", "threads", "log_level"
    )


def _add_demo(commands: Any) -> None:
    added = _add(
        commands,
        "demo",
        demo,
        "run a small PySpark pipeline that reports to a running Headwater",
        """\
Needs PySpark (make demo installs it). Prints links to what it drew.

  headwater demo
  headwater demo --url http://127.0.0.1:8081""",
    )
    _add_url(added)


def _add_config(commands: Any) -> None:
    added = _add(
        commands,
        "config",
        configuration,
        "print what a Spark platform needs so that its jobs report here",
        """\
For the stock Spline agent (Scala, Java and Python jobs). PySpark jobs can do with one line and no
jar instead: spark_agent_config/README.md.

  headwater config spark
  headwater config spark --spark-version 3.4 --form spark-defaults --label job=nightly
  headwater config glue --url https://lineage.example.org""",
    )
    added.add_argument("platform", choices=PLATFORMS, help="where the jobs run")
    _add_url(added)
    added.add_argument("--spark-version", default="3.5", help="(default: 3.5)")
    added.add_argument("--scala-version", default="2.12", help="(default: 2.12)")
    forms = "; ".join(f"{platform}: {', '.join(FORMS[platform])}" for platform in PLATFORMS)
    added.add_argument(
        "--form", default="", help=f"the text to print ({forms}; default: the first)"
    )
    added.add_argument(
        "--label",
        action="append",
        default=[],
        type=_label,
        metavar="NAME=VALUE",
        help="put on every plan; job, namespace and captureScope have a meaning here",
    )


def _label(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not (name and separator and value):
        raise argparse.ArgumentTypeError("expected NAME=VALUE")
    return name, value


def _add_journal(commands: Any) -> None:
    added = _add(
        commands,
        "journal",
        None,
        "look at what was received, take it elsewhere and bring it in",
        """\
Reads the data folder itself, whether or not the server is running.

  headwater journal list --state failed
  headwater journal show 42
  headwater journal export documents.jsonl
  headwater journal import documents.jsonl""",
    )
    actions = added.add_subparsers(metavar="ACTION", required=True)
    _add_journal_list(actions)
    shown = _add(
        actions,
        "show",
        journal_show,
        "print one document as it is kept (secrets masked)",
        "  headwater journal show 42",
    )
    shown.add_argument("position", type=int, help="its position, as the list prints it")
    exported = _add(
        actions,
        "export",
        journal_export,
        "write every document as JSON lines, oldest first",
        """\
One object a line: position, kind, apiVersion, planId, scope, receivedAt (epoch ms), body.

  headwater journal export documents.jsonl
  headwater journal export - | gzip > documents.jsonl.gz""",
    )
    exported.add_argument("file", help="where to; - for standard output")
    for action in (shown, exported, _add_journal_import(actions)):
        _add_settings(action, "data")


def _add_journal_import(actions: Any) -> argparse.ArgumentParser:
    imported = _add(
        actions,
        "import",
        journal_import,
        "take documents from files",
        """\
What it finds in them:
  lines of headwater journal export
  what the console and logging dispatchers of the Spline agent print, in any log
  _LINEAGE files of its hdfs dispatcher
  plans, events and lists of them, on one line or over many

Without --url the documents go straight into the data folder: headwater serve must not be running
there, and draws them at its next start. With --url they go through a running Headwater, which
draws them at once. Doing it twice does no harm. What is refused is named (file:line) and does
not stop the rest; the exit code is 1 then. With --url the numbers come from the server's totals,
so they include what jobs send meanwhile.

  headwater journal import documents.jsonl --data /srv/headwater
  headwater journal import driver.log _LINEAGE --url http://127.0.0.1:8080
  headwater journal import -""",
    )
    imported.add_argument("files", nargs="+", metavar="FILE", help="- for standard input")
    imported.add_argument("--url", help="the running Headwater to go through")
    return imported


def _add_consume(commands: Any) -> None:
    added = _add(
        commands,
        "consume",
        None,
        "take documents from a queue",
        """\
For agents that do not report over HTTP.

  headwater consume kafka --bootstrap broker:9092 --topic spline""",
    )
    sources = added.add_subparsers(metavar="SOURCE", required=True)
    kafka = _add(
        sources,
        "kafka",
        consume_kafka,
        "take what the Kafka dispatcher of the Spline agent sends, until Ctrl-C",
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
        type=_label,
        metavar="NAME=VALUE",
        help="a setting of librdkafka, such as sasl.mechanism=PLAIN",
    )
    kafka.add_argument("--dead-letter", metavar="FILE", help="add refused records, as JSON lines")
    way = kafka.add_mutually_exclusive_group()
    _add_url(way)
    way.add_argument("--direct", action="store_true", help="straight into the data folder")
    _add_settings(kafka, "data", "log_level")


def _add_journal_list(actions: Any) -> None:
    listed = _add(
        actions,
        "list",
        journal_list,
        "list documents, newest first",
        "  headwater journal list --state failed --limit 20",
    )
    listed.add_argument("--state", choices=("waiting", "pending", "projected", "failed"))
    listed.add_argument("--kind", choices=("plan", "event"))
    listed.add_argument("--limit", type=_limit, default=100, help="1 to 1000 (default: 100)")
    _add_settings(listed, "data")


def _limit(text: str) -> int:
    number = int(text)
    if not 1 <= number <= 1000:
        raise argparse.ArgumentTypeError("expected 1 to 1000")
    return number


def _add_replay(commands: Any) -> None:
    added = _add(
        commands,
        "replay",
        replay,
        "try documents again that could not be translated",
        """\
Asks the running server. What still fails is listed again, with its reason.

  headwater replay
  headwater replay --state waiting""",
    )
    added.add_argument("--state", choices=("failed", "waiting"), default="failed")
    _add_url(added)


def _add_rebuild(commands: Any) -> None:
    added = _add(
        commands,
        "rebuild",
        rebuild,
        "build graph and catalogue anew from the journal",
        """\
Graph and catalogue hold nothing that the journal does not say. The running server projects every
document again while it serves; it adds what is missing and removes nothing. With --at-next-start
the next headwater serve empties both first: a rebuild from nothing.

  headwater rebuild
  headwater rebuild --at-next-start --data /srv/headwater""",
    )
    added.add_argument(
        "--at-next-start", action="store_true", help="from nothing, when the server next starts"
    )
    _add_url(added)
    _add_settings(added, "data")


def _add_doctor(commands: Any) -> None:
    added = _add(
        commands,
        "doctor",
        doctor,
        "look at everything that a start needs, and say what to do",
        """\
  headwater doctor
  headwater doctor --port 8081 --data /srv/headwater""",
    )
    _add_settings(added, "host", "port", "data", "gremlin_port")


if __name__ == "__main__":
    main()
