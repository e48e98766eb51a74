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
from pathlib import Path
from types import FrameType
from typing import Any, Final, TextIO

from api import governing
from api.settings import ROWS, Settings, read_settings
from graph_model import console
from graph_model.errors import ConfigurationError, HeadwaterError, NotFound
from spark_agent_config.properties import FORMS, PLATFORMS, render_configuration

PROGRAM: Final = "headwater"
_ANSWER_SECONDS: Final = 30
_PROGRESS_EVERY: Final = 10_000


class Call(console.Call):
    """One call of the command, with its settings."""

    __slots__ = ()

    def settings(self) -> Settings:
        """The settings of the environment, overridden by options of the same name."""
        given = {
            row.variable: str(value)
            for row in ROWS
            if (value := getattr(self.options, row.field, None)) is not None
        }
        return read_settings({**self.environment, **given})


Command = Callable[[Call], int]


def main() -> None:
    """The console script."""
    sys.exit(run(sys.argv[1:], os.environ, sys.stdout, sys.stderr))


def run(
    arguments: Sequence[str], environment: Mapping[str, str], out: TextIO, errors: TextIO
) -> int:
    """Run one command; its exit code."""
    options = parser().parse_args(arguments)
    return console.run_command(PROGRAM, options.command, Call(options, environment, out), errors)


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
            api_key=(_api_key(call) or "YOUR-API-KEY") if options.api_key else None,
            labels=dict(options.label),
        )
    except ValueError as error:
        raise ConfigurationError(str(error)) from error
    call.out.write(text)
    return 0


def journal_summary(call: Call) -> int:
    """How many documents there are in which state, how much they take, how old they are."""
    from api.times import format_instant

    with _open_journal(call) as journal:
        counts, size = journal.summary(), journal.size()
    call.say(f"{counts.received:>10,} documents received")
    for state in ("projected", "pending", "waiting", "failed"):
        call.say(f"{getattr(counts, state):>10,} {state}")
    call.say(f"{size.stored_bytes / 1e6:>10,.1f} MB in the database, the catalogue included")
    if size.oldest is not None:
        call.say(f"the first came {format_instant(size.oldest)}")
        call.say(f"the last came  {format_instant(size.newest)}")
    return 0


def journal_check(call: Call) -> int:
    """Look for damage; 1 when there is some."""
    with _open_journal(call) as journal:
        problems = journal.verify(_progress(call, "bodies"))
        received = journal.summary().received
    for problem in problems:
        call.say(problem)
    said = f"{len(problems):,} to mend: restore a backup" if problems else "all is well"
    call.say(f"{received:,} documents checked, {said}")
    return 1 if problems else 0


def backup(call: Call) -> int:
    """Write the whole journal to a file."""
    from api.backup import write_backup
    from api.storage import open_storage

    with _disposing(open_storage(call.settings())) as database:
        contents = write_backup(
            database, Path(call.options.file), _now, _progress(call, "documents")
        )
    call.say(
        f"{contents.documents:,} documents, {contents.receipts:,} receipts: {call.options.file}"
    )
    return 0


def restore(call: Call) -> int:
    """Put a backup into the journal."""
    from api.backup import read_backup
    from api.storage import hold_alone, open_storage
    from graph_model.gremlin.checkpoints import MARK_KEY
    from graph_model.projector import EPOCH_KEY

    settings = call.settings()
    anew = {EPOCH_KEY: "", MARK_KEY: ""}  # an unknown epoch, no checkpoint: all is built anew
    with _disposing(open_storage(settings, make=True)) as database, hold_alone(settings, database):
        contents = read_backup(
            database,
            Path(call.options.file),
            anew,
            replace=call.options.replace,
            progress=_progress(call, "documents"),
        )
    call.say(f"{contents.documents:,} documents, {contents.receipts:,} receipts restored")
    call.say("the next headwater serve builds graph and catalogue from them")
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
    with _destination_of_documents(
        call, direct=not call.options.url, route="import", principal="console"
    ) as taking:
        tally = import_files(call.options.files, taking, call.say, limit)
    call.say(str(tally))
    if tally.imported and not call.options.url:
        call.say("the next headwater serve draws them")
    return 1 if tally.refused else 0


def consume_kafka(call: Call) -> int:
    """Take documents from a topic until Ctrl-C."""
    from api.kafka import consume, dead_letters, kafka_source
    from api.logs import set_up_logging

    options, settings = call.options, call.settings()
    set_up_logging(settings.log_level, settings.log_format)
    with (
        _destination_of_documents(
            call, direct=options.direct, route="kafka", principal=f"kafka:{options.group}"
        ) as taking,
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


def keys_create(call: Call) -> int:
    """Make an API key and print it, once."""
    from api.keys import create
    from graph_model.keys import KeyRequest, Role

    options = call.options
    roles = frozenset(map(Role, options.role))
    with _open_keys(call, make=True) as keys:
        for line in create(
            keys, KeyRequest(options.name, roles, options.scope, options.rate), _now()
        ):
            call.say(line)
    return 0


def keys_list(call: Call) -> int:
    """List API keys, oldest first."""
    from api.keys import listing

    with _open_keys(call) as keys:
        for line in listing(keys.list()):
            call.say(line)
    return 0


def keys_revoke(call: Call) -> int:
    """End an API key; a running server refuses it at once."""
    with _open_keys(call) as keys:
        key = keys.revoke(call.options.key, _now())
    call.say(f"{key.name} (…{key.last_four}) is revoked")
    return 0


def replay(call: Call) -> int:
    """Ask a running server to try documents again."""
    answer = _ask(call, "POST", "/journal/replay", {"state": call.options.state})
    call.say(f"{answer['reopened']} documents are tried again; headwater journal list shows them")
    return 0


def rebuild(call: Call) -> int:
    """Project everything anew from the journal, now or at the next start."""
    if call.options.at_next_start:
        from graph_model.projector import EPOCH_KEY, FROM_NOTHING

        with _open_journal(call) as journal:
            journal.set_meta(EPOCH_KEY, FROM_NOTHING)
        call.say("graph and catalogue are built from nothing at the next start of headwater serve")
        return 0
    from api.rebuilds import follow

    return follow(lambda method, path: _ask(call, method, path), call.say, time.sleep)


def forget(call: Call) -> int:
    """Forget a job, a dataset or a document for good."""
    return _order(call, {"command": "forget", "node": call.options.node})


def prune(call: Call) -> int:
    """Take away executions that today's lineage does not rest on."""
    options = call.options
    if options.before is None and options.keep is None:
        raise ConfigurationError("prune: say how much stays, with --before, --keep or both")
    given = {"before": options.before, "keep": options.keep}
    wish = {name: value for name, value in given.items() if value is not None}
    return _order(call, {"command": "prune", "dropBodies": options.drop_bodies, **wish})


def _governing(action: governing.Action) -> Command:
    """What people state of the graph, through a running server."""
    return lambda call: action(
        lambda method, path, body: _ask(call, method, path, body), call.say, call.options
    )


def _order(call: Call, wish: dict[str, Any]) -> int:
    from api.ordering import order

    wish = {**wish, "note": call.options.note}
    return order(
        lambda method, path, body: _ask(call, method, path, body),
        call.say,
        wish,
        agreed=call.options.yes,
    )


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
    """The journal of the settings; a running server does not mind."""
    from api.storage import open_storage
    from graph_model.journal import SqlJournal

    journal = SqlJournal(open_storage(call.settings()))
    try:
        yield journal
    finally:
        journal.close()


@contextmanager
def _open_keys(call: Call, *, make: bool = False) -> Iterator[Any]:
    """The keys of the database, which is made where the first key comes before all else."""
    from api.storage import DATABASE_FILE, open_storage
    from graph_model.keys import SqlKeys

    settings = call.settings()
    if not (make or settings.database or (settings.data / DATABASE_FILE).is_file()):
        raise ConfigurationError(f"there is no key in {settings.data}: name its folder with --data")
    database = open_storage(settings, make=True)
    try:
        yield SqlKeys(database)
    finally:
        database.dispose()


@contextmanager
def _disposing(database: Any) -> Iterator[Any]:
    try:
        yield database
    finally:
        database.dispose()


def _progress(call: Call, what: str) -> Callable[[int, int], None]:
    """Says at every ten thousand how far it is."""
    said = 0

    def progress(done: int, total: int) -> None:
        nonlocal said
        if done - said >= _PROGRESS_EVERY:
            said = done
            call.say(f"  {done:,} of {total:,} {what}")

    return progress


def _now() -> int:
    """Epoch milliseconds."""
    return time.time_ns() // 1_000_000


def _api_key(call: Call) -> str | None:
    """The key for a running server. No option: other users of this computer see those."""
    return call.environment.get("HEADWATER_API_KEY") or None


@contextmanager
def _destination_of_documents(
    call: Call, *, direct: bool, route: str, principal: str
) -> Iterator[Any]:
    """The data folder's journal, held, or the running server."""
    from api.destinations import ServerDestination, claimed_journal

    if not direct:
        yield ServerDestination(_url(call), _api_key(call))
        return
    with claimed_journal(call.settings(), _url(call), _now, route, principal) as journal:
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
    from graph_model.store import walk_pages

    for page in walk_pages(lambda cursor: journal.entries(limit=1000, cursor=cursor)):
        yield from page.items


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
    if api_key := _api_key(call):
        request.add_unredirected_header("X-API-Key", api_key)
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
    _add_keys(commands)
    _add_backup(commands)
    _add_replay(commands)
    _add_rebuild(commands)
    _add_forget(commands)
    _add_prune(commands)
    governing.add_parsers(commands, _add, _add_url, _governing)
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
                default=argparse.SUPPRESS,  # one given before an action is not undone by it
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
        added, "host", "port", "data", "database", "gremlin_port", "gremlin_url", "threads",
        "log_level", "log_format",
    )  # fmt: skip


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
    added.add_argument(
        "--api-key",
        action="store_true",
        help="send an API key: $HEADWATER_API_KEY, else a place to put one",
    )


def _label(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not (name and separator and value):
        raise argparse.ArgumentTypeError("expected NAME=VALUE")
    return name, value


def _add_keys(commands: Any) -> None:
    added = _add(
        commands,
        "keys",
        None,
        "make, list and revoke API keys",
        """\
As long as no key was ever made, everybody who reaches Headwater may do everything, so it listens
on this computer only. From the first key on every request needs one. Works on the data folder,
whether or not the server is running, also before its first start.

  headwater keys create nightly-jobs --role producer --scope emr-prod
  headwater keys create analysts --role reader --rate 600
  headwater keys list
  headwater keys revoke nightly-jobs""",
    )
    actions = added.add_subparsers(metavar="ACTION", required=True)
    revoked = _add(
        actions,
        "revoke",
        keys_revoke,
        "end a key",
        "  headwater keys revoke nightly-jobs",
    )
    revoked.add_argument("key", metavar="NAME", help="its name or its id")
    listed = _add(
        actions, "list", keys_list, "list keys, without their secrets", "  headwater keys list"
    )
    for action in (_add_keys_create(actions), listed, revoked):
        _add_settings(action, "data", "database")


def _add_keys_create(actions: Any) -> argparse.ArgumentParser:
    created = _add(
        actions,
        "create",
        keys_create,
        "make a key and print it, once",
        """\
reader asks, producer reports, admin does everything. Names are never given twice: the journal
says who sent what.

  headwater keys create nightly-jobs --role producer --scope emr-prod
  headwater keys create importer --role producer --role reader
  headwater keys create me --role admin""",
    )
    created.add_argument("name", metavar="NAME", help="letters, digits, dots, dashes, underscores")
    created.add_argument(
        "--role",
        action="append",
        required=True,
        choices=("reader", "producer", "admin"),
        help="may be given several times",
    )
    created.add_argument(
        "--scope",
        default="",
        help="capture scope of what it reports without the label captureScope",
    )
    created.add_argument(
        "--rate", type=int, default=0, metavar="N", help="requests a minute (default: no limit)"
    )
    return created


def _add_journal(commands: Any) -> None:
    added = _add(
        commands,
        "journal",
        journal_summary,
        "look at what was received, take it elsewhere and bring it in",
        """\
Without an action: how much there is, and how old. Reads the database itself, whether or not the
server is running.

  headwater journal
  headwater journal check
  headwater journal list --state failed
  headwater journal show 42
  headwater journal export documents.jsonl
  headwater journal import documents.jsonl""",
    )
    _add_settings(added, "data", "database")
    actions = added.add_subparsers(metavar="ACTION")
    _add_journal_list(actions)
    checked = _add(
        actions,
        "check",
        journal_check,
        "look for damage: every body, every row",
        """\
Works out the hash of every body again and holds documents, bodies and receipts to each other; on
SQLite the file itself is checked, too. Repairs nothing. The exit code is 1 when something is wrong.

  headwater journal check""",
    )
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
    for action in (checked, shown, exported, _add_journal_import(actions)):
        _add_settings(action, "data", "database")


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
    _add_settings(kafka, "data", "database", "log_level")


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
    _add_settings(listed, "data", "database")


def _add_backup(commands: Any) -> None:
    saved = _add(
        commands,
        "backup",
        backup,
        "write the whole journal to a file",
        """\
One compressed file with every document, receipt and state, the same from SQLite and PostgreSQL.
Works while the server runs. The file gets its name when it is complete, on disk and read again.
Graph and catalogue are not in it: they are built from the journal. Nor are API keys.

  headwater backup /backup/headwater-2026-01-31.gz
  headwater backup moved.gz --data /srv/headwater""",
    )
    restored = _add(
        commands,
        "restore",
        restore,
        "put a backup into the journal",
        """\
Everything is checked first; then all of it is restored or nothing. The server must not be running.
What the journal holds already is kept, and the backup refused, unless --replace is given.

  headwater restore /backup/headwater-2026-01-31.gz
  headwater restore moved.gz --database postgresql://me@db.example.org/headwater""",
    )
    restored.add_argument(
        "--replace", action="store_true", help="remove what the journal holds, then restore"
    )
    for added in (saved, restored):
        added.add_argument("file", metavar="FILE")
        _add_settings(added, "data", "database")


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
        "project everything anew from the journal",
        """\
Graph and catalogue hold nothing that the journal does not say. The running server translates every
document again beside what stands, puts the result in force, removes what is too much, and tells a
hash over all elements and rows before and after. Questions are answered all the while. With
--at-next-start the next headwater serve empties both first: a rebuild from nothing.

  headwater rebuild
  headwater rebuild --at-next-start --data /srv/headwater""",
    )
    added.add_argument(
        "--at-next-start", action="store_true", help="from nothing, when the server next starts"
    )
    _add_url(added)
    _add_settings(added, "data", "database")


def _add_forget(commands: Any) -> None:
    added = _add(
        commands,
        "forget",
        forget,
        "forget a job, a dataset or a document for good",
        """\
Names every document of the job's plans, or of the plans that touch the dataset, and shows how many
they are. With --yes they go from all answers and from the journal, and stay gone when they are
sent again or everything is projected anew. Later runs of a forgotten job are new.

  headwater forget job:default/payroll
  headwater forget dataset:s3://lake/people --yes --note "request 4711"
  headwater forget document:42 --yes""",
    )
    added.add_argument("node", help="job:…, dataset:…, an id of either, or document:<position>")
    _add_order(added)


def _add_prune(commands: Any) -> None:
    added = _add(
        commands,
        "prune",
        prune,
        "take away old executions",
        """\
Executions older than --before, or beyond the --keep newest of their job, go, with what only they
held up; where both are given, what either keeps stays. What today's lineage rests on is kept: the
last full overwrite of every dataset, what came after it, and what those executions read. Without
--yes it only shows what would go. --drop-bodies takes the documents out of the journal as well.

  headwater prune --before 2026-01-01
  headwater prune --keep 100 --drop-bodies --yes""",
    )
    added.add_argument("--before", metavar="TIME", help="epoch milliseconds or ISO 8601")
    added.add_argument("--keep", type=int, metavar="N", help="executions of each job")
    added.add_argument(
        "--drop-bodies", action="store_true", help="the journal drops their documents as well"
    )
    _add_order(added)


def _add_order(added: argparse.ArgumentParser) -> None:
    added.add_argument("--yes", action="store_true", help="do it; else only show what it covers")
    added.add_argument("--note", default="", help="why, for the record")
    _add_url(added)


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
    _add_settings(added, "host", "port", "data", "database", "gremlin_port")


if __name__ == "__main__":
    main()
