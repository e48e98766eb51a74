"""The command ``headwater-pipeline``: each sub-command is one function, and its --help teaches it.

Exit codes: 0 success, 1 failure or an incomplete result, 2 a wrong call. Errors are one line on
standard error; ``--debug`` shows their traceback.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

from graph_model.errors import (
    ConfigurationError,
    HeadwaterError,
    InvalidInput,
    ProgramCall,
    run_command,
)
from graph_model.producers.bounds import TOLERANCE_MS, read_tolerance
from graph_model.projection.run_window import DEFAULT, RunWindow, read_run_window

if TYPE_CHECKING:
    from graph_model.stores.graph import Graph
    from pipeline.result import Manifest, Result

PROGRAM: Final = "headwater-pipeline"
PASSWORD: Final = "HEADWATER_DATABASE_PASSWORD"  # noqa: S105 - where it stands
DATABASE: Final = "HEADWATER_DATABASE"
CLOCK_TOLERANCE: Final = "HEADWATER_CLOCK_TOLERANCE"
GRAPH_RUNS: Final = "HEADWATER_GRAPH_RUNS"
_SHOWN: Final = 20


Command = Callable[[ProgramCall], int]


def main() -> None:
    """The console script."""
    sys.exit(run(sys.argv[1:], os.environ, sys.stdout, sys.stderr))


def run(
    arguments: Sequence[str], environment: Mapping[str, str], out: TextIO, errors: TextIO
) -> int:
    """Run one command; its exit code."""
    options = parser().parse_args(arguments)
    return run_command(PROGRAM, options.command, ProgramCall(options, environment, out), errors)


# --- the sub-commands ----------------------------------------------------------------------------


def rebuild(call: ProgramCall) -> int:
    """Translate a journal with Spark."""
    if find_spec("pyspark") is None:
        raise ConfigurationError("PySpark is not installed here: pip install 'pyspark>=3.5,<3.6'")
    from graph_model.producers.registry import PRODUCERS
    from pipeline.journal import open_session, open_source
    from pipeline.rebuild import Request
    from pipeline.rebuild import rebuild as run_job

    options = call.options
    request = Request(
        source=open_source(options.sources, call.environment.get(PASSWORD)),
        destination=options.destination,
        created_at=int(time.time() * 1000),
        file_bytes=int(options.file_megabytes * 1_000_000),
        partitions=options.partitions,
        keep_work=options.keep_work,
        producers=PRODUCERS.tolerating(_tolerance_of(call.environment)),
        runs=options.graph_runs or _runs_of(call.environment),
    )
    spark = open_session(options.master, dict(options.conf))
    try:
        manifest = run_job(spark, request, call.say)
    finally:
        spark.stop()
    tell(manifest, call.say)
    if manifest.journal.refused_lines or set(manifest.journal.states) - {"projected"}:
        call.say(f"untranslated plans, with reasons: {options.destination}/set_aside/")
    return 0 if manifest.complete else 1


def _runs_of(environment: Mapping[str, str]) -> RunWindow:
    text = environment.get(GRAPH_RUNS, "").strip()
    try:
        return read_run_window(text) if text else DEFAULT
    except ValueError as error:
        raise ConfigurationError(f"{GRAPH_RUNS} is {text!r}, expected {error}") from error


def _tolerance_of(environment: Mapping[str, str]) -> int:
    text = environment.get(CLOCK_TOLERANCE, "").strip()
    try:
        return read_tolerance(text) if text else TOLERANCE_MS
    except ValueError as error:
        raise ConfigurationError(f"{CLOCK_TOLERANCE} is {text!r}, expected {error}") from error


def show(call: ProgramCall) -> int:
    """Print the content of a result, and its set-aside documents."""
    result = _result(call)
    manifest = result.manifest()
    tell(manifest, call.say)
    listed = 0
    for text in result.set_aside():
        listed += 1
        if listed <= _SHOWN:
            item = json.loads(text)
            call.say(f"  {item['state']} {item['planId']} {item['positions']}: {item['reason']}")
    if listed > _SHOWN:
        call.say(f"  and {listed - _SHOWN:,} more")
    return 0 if manifest.complete else 1


def verify(call: ProgramCall) -> int:
    """Load everything into an embedded graph and an empty catalogue, and print their hashes."""
    from graph_model.stores.catalogue import Catalogue
    from graph_model.stores.database import open_database
    from pipeline.loading import load

    with (
        tempfile.TemporaryDirectory(prefix="headwater-pipeline-") as folder,
        _graph(call, Path(folder)) as graph,
        closing(Catalogue(open_database(Path(folder) / "catalogue.db"))) as catalogue,
    ):
        loaded = load(_result(call), graph, catalogue, call.say)
    call.say(f"elements  {loaded.elements_digest}")
    call.say(f"catalogue {loaded.catalogue_digest}")
    call.say(f"both      {loaded.whole}")
    expected = call.options.expect
    if expected is None:
        return 0
    if expected not in {loaded.whole, loaded.elements_digest, loaded.catalogue_digest}:
        raise HeadwaterError(f"none of these is {expected}")
    call.say("equal to the expected output")
    return 0


def load_neptune(call: ProgramCall) -> int:
    """Have Neptune's bulk loader take vertices and edges."""
    from pipeline.loading import BulkLoad, LoadRequest, open_client

    options = call.options
    client = open_client(options.endpoint, options.region)
    load = BulkLoad(client, call.say, time.sleep, every_seconds=options.every)
    if options.resume:
        load.watch(*options.resume)
        return 0
    request = LoadRequest(
        options.source, options.region, options.role, options.parallelism, not options.go_on
    )
    _check_complete(_result(call).manifest(), accept=options.incomplete)
    load.run(request)
    return 0


def load_catalogue(call: ProgramCall) -> int:
    """Put the rows into a catalogue, and that in force with --in-force."""
    from graph_model.stores.database import open_database
    from pipeline.loading import place_catalogue

    url = call.options.database or call.environment.get(DATABASE)
    if not url:
        raise ConfigurationError(f"name the database with --database or {DATABASE}")
    result = _result(call)
    manifest = result.manifest()
    _check_complete(manifest, accept=call.options.incomplete)
    database = open_database(url)
    try:
        digest = place_catalogue(result, database, call.say, in_force=call.options.in_force)
    finally:
        database.dispose()
    call.say(f"catalogue {digest}")
    return 0


# --- their parts ---------------------------------------------------------------------------------


def tell(manifest: Manifest, say: Callable[[str], None]) -> None:
    """Print the result in a few lines."""
    journal = manifest.journal
    states = ", ".join(f"{count:,} {state}" for state, count in journal.states.items())
    vertices, edges = manifest.elements
    say(f"{journal.documents:,} documents of {journal.plan_ids:,} plan ids: {states or 'none'}")
    say(f"{vertices:,} vertices, {edges:,} edges, {manifest.row_count:,} catalogue rows")
    say(f"elements {manifest.elements_digest}")
    if journal.refused_lines:
        say(f"not complete: {journal.refused_lines:,} lines could not be read")
    for problem in manifest.problems:
        say(f"not complete: {problem}")
    if manifest.conflict_count:
        say(f"not complete: {manifest.conflict_count:,} ids with different content:")
        for conflict in manifest.conflicts[:_SHOWN]:
            say(f"  {conflict}")


def _result(call: ProgramCall) -> Result:
    from pipeline.result import Result, open_files

    return Result(open_files(call.options.source))


def _check_complete(manifest: Manifest, *, accept: bool) -> None:
    if not (manifest.complete or accept):
        raise InvalidInput(
            "the rebuild is not complete (headwater-pipeline show gives the reason):"
            " --incomplete loads it nevertheless"
        )


@contextmanager
def _graph(call: ProgramCall, folder: Path) -> Iterator[Graph]:
    """The graph that was named, else an embedded engine of our own."""
    from graph_model.stores.gremlin.engine.server import EmbeddedServer
    from graph_model.stores.gremlin.graph import open_graph

    if call.options.graph:
        with closing(open_graph(call.options.graph)) as graph:
            yield graph
        return
    engine = EmbeddedServer(
        folder, environment=call.environment, port=0, heap_mb=call.options.heap_megabytes
    )
    with engine, closing(open_graph(engine.url)) as graph:
        yield graph


# --- the parser ----------------------------------------------------------------------------------


def parser() -> argparse.ArgumentParser:
    """Every sub-command with its options."""
    made = argparse.ArgumentParser(
        prog=PROGRAM,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Project a whole journal with Spark, and load the result.",
        epilog="""\
From a journal of any size to Neptune and PostgreSQL:

  headwater backup journal.gz
  headwater-pipeline rebuild --from journal.gz --to out
  headwater-pipeline verify --from out
  aws s3 sync out s3://bucket/lineage/2026-01-31
  headwater-pipeline load-neptune --from s3://bucket/lineage/2026-01-31 \\
      --endpoint my.cluster:8182 --region eu-west-1 --role arn:aws:iam::123456789012:role/load
  headwater-pipeline load-catalogue --from out --database postgresql://me@db/headwater --in-force
""",
    )
    commands = made.add_subparsers(metavar="COMMAND", required=True)
    for add in (_add_rebuild, _add_show, _add_verify, _add_load_neptune, _add_load_catalogue):
        add(commands)
    return made


def _add(commands: Any, name: str, command: Command, help: str, text: str) -> Any:
    added = commands.add_parser(
        name,
        help=help,
        description=f"{help[0].upper()}{help[1:]}.",
        epilog=text,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    added.set_defaults(command=command)
    added.add_argument("--debug", action="store_true", help="show where an error came from")
    return added


def _add_rebuild(commands: Any) -> None:
    added = _add(
        commands,
        "rebuild",
        rebuild,
        "translate a journal with Spark",
        f"""\
Reads backups (headwater backup), exports (headwater journal export), folders of them, or the
journal in PostgreSQL, and writes the facts of the service's projector: files for Neptune's bulk
loader (vertices/, edges/), the catalogue's rows (rows/), untranslated plans with the
reason (set_aside/), and manifest.json, last. Forget and prune commands are honoured.
The exit code is 1 when something was left out (lines that cannot be read, facts that contradict
each other); a plan that cannot be translated is listed, as the service does, and is no reason.

  {PROGRAM} rebuild --from journal.gz --to out
  {PROGRAM} rebuild --from exports/ --to s3a://bucket/lineage/2026-01-31
  {PASSWORD}=... {PROGRAM} rebuild --from postgresql://me@db/headwater --to out \\
      --conf spark.jars.packages=org.postgresql:postgresql:42.7.7
  spark-submit --py-files headwater.zip run_pipeline.py rebuild --from s3a://... --to s3a://...""",
    )
    added.add_argument(
        "--from", dest="sources", nargs="+", required=True, metavar="PLACE",
        help="files, folders, s3a:// prefixes, or one postgresql:// address; its password comes "
        f"from {PASSWORD}",
    )  # fmt: skip
    added.add_argument(
        "--to", dest="destination", required=True, metavar="FOLDER",
        help="an empty folder or a fresh s3a:// prefix",
    )  # fmt: skip
    added.add_argument(
        "--file-megabytes", type=_size, default=250, metavar="N",
        help="size of a file before compression (default: 250; the loader likes 100 to 500)",
    )  # fmt: skip
    added.add_argument(
        "--partitions", type=_positive, metavar="N",
        help="tasks that translate (default: three for each core of the cluster)",
    )  # fmt: skip
    added.add_argument(
        "--graph-runs", type=_run_window, metavar="WHICH",
        help="the runs in the graph: none or newest:3 (of each job), as the service "
        f"is set that goes on from there (default: {GRAPH_RUNS}, else {DEFAULT})",
    )  # fmt: skip
    added.add_argument("--master", help="Spark's master, without spark-submit: local[4] ...")
    added.add_argument(
        "--conf", action="append", default=[], type=_setting, metavar="NAME=VALUE",
        help="a property of Spark, without spark-submit",
    )  # fmt: skip
    added.add_argument(
        "--keep-work", action="store_true", help="keep the stages between, as Parquet"
    )


def _add_show(commands: Any) -> None:
    added = _add(
        commands,
        "show",
        show,
        "summarise a rebuild's output and refusals",
        f"  {PROGRAM} show --from s3://bucket/lineage/2026-01-31",
    )
    _add_source(added)


def _add_verify(commands: Any) -> None:
    added = _add(
        commands,
        "verify",
        verify,
        "prove a rebuild: load it here and print its hashes",
        f"""\
Reads every file as Neptune's loader would, loads all of it into a temporary embedded graph and an
empty catalogue, and prints their hashes. "both" is the hash that headwater rebuild prints for a
running service: equal hashes mean equal content. An embedded graph needs about 0.3 kB of
--heap-megabytes an element.

  {PROGRAM} verify --from out
  {PROGRAM} verify --from out --expect 0f3c...""",
    )
    _add_source(added)
    added.add_argument("--expect", metavar="HASH", help="fail unless one of the hashes is this")
    added.add_argument(
        "--graph", metavar="URL", help="an empty graph of yours: ws://host:port/gremlin"
    )
    added.add_argument("--heap-megabytes", type=_positive, default=2048, metavar="N")


def _two_loads(text: str) -> tuple[str, str]:
    vertices, comma, edges = (part.strip() for part in text.partition(","))
    if not (vertices and comma and edges) or "," in edges:
        raise argparse.ArgumentTypeError("the ids of two loads with a comma: vertices, then edges")
    return vertices, edges


def _add_load_neptune(commands: Any) -> None:
    added = _add(
        commands,
        "load-neptune",
        load_neptune,
        "have Neptune's bulk loader take a rebuild from S3",
        f"""\
Starts two loads, vertices and then edges, and watches them to their end; the errors of one that
fails are listed. The role must be attached to the cluster and may read the bucket, which is in the
same region, behind an S3 endpoint of the VPC. Load into an empty graph: the loader adds, it takes
nothing away.

  {PROGRAM} load-neptune --from s3://bucket/lineage/2026-01-31 --endpoint my.cluster:8182 \\
      --region eu-west-1 --role arn:aws:iam::123456789012:role/load --parallelism OVERSUBSCRIBE""",
    )
    _add_source(added)
    added.add_argument("--endpoint", required=True, help="host:8182 of the cluster's writer")
    added.add_argument("--region", required=True, help="region of bucket and cluster")
    added.add_argument("--role", required=True, help="ARN of the role that reads the bucket")
    added.add_argument(
        "--parallelism", default="HIGH", help="LOW, MEDIUM, HIGH (default) or OVERSUBSCRIBE"
    )
    added.add_argument("--go-on", action="store_true", help="skip records that cannot be loaded")
    added.add_argument("--every", type=_positive, default=10, metavar="SECONDS")
    added.add_argument(
        "--resume",
        type=_two_loads,
        metavar="VERTICES,EDGES",
        help="start nothing: watch these two loads, which an interrupted command started",
    )
    _add_incomplete(added)


def _add_load_catalogue(commands: Any) -> None:
    added = _add(
        commands,
        "load-catalogue",
        load_catalogue,
        "load the catalogue's rows of a rebuild",
        f"""\
Loads the rows into a new catalogue beside the current one. With --in-force the new one replaces it,
the journal of that database notes that everything up to the rebuild is projected, and the next
headwater serve continues from there: stop the service and load the graph first.

  {PROGRAM} load-catalogue --from out --database postgresql://me@db.example.org/headwater
  {PROGRAM} load-catalogue --from s3://bucket/lineage/2026-01-31 --in-force""",
    )
    _add_source(added)
    added.add_argument("--database", help=f"URL or SQLite file (default: {DATABASE})")
    added.add_argument("--in-force", action="store_true", help="put it in force")
    _add_incomplete(added)


def _add_source(added: Any) -> None:
    added.add_argument(
        "--from", dest="source", required=True, metavar="FOLDER", help="the output of a rebuild"
    )


def _add_incomplete(added: Any) -> None:
    added.add_argument("--incomplete", action="store_true", help="load an incomplete rebuild, too")


def _run_window(text: str) -> RunWindow:
    try:
        return read_run_window(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"expected {error}") from error


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("expected 1 or more")
    return number


def _size(text: str) -> float:
    number = float(text)
    if not 0.001 <= number <= 100_000:
        raise argparse.ArgumentTypeError("expected 0.001 to 100000")
    return number


def _setting(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not (name and separator):
        raise argparse.ArgumentTypeError("expected NAME=VALUE")
    return name, value
