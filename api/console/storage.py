"""What is kept: ``headwater storage``, ``forget`` and ``prune``, ``backup`` and ``restore``.

``storage`` shows disk space, its growth, and the date when it is full. ``forget`` and ``prune``
request a dry run from the server, show its result, and give the command only with ``--yes``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import uuid
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from api.console.call import Call, add_command, add_settings, add_url, report_progress
from graph_model.errors import ConfigurationError, HeadwaterError, InvalidInput
from graph_model.retention.forecast import describe_full
from graph_model.stores.durability import make_durable

if TYPE_CHECKING:
    from graph_model.stores.database import Database, DiskReserve
    from graph_model.stores.journal.archive import Contents, Progress


_SHOWN: Final = 5
_TEXT: Final = """\
Asks a running Headwater. Sizes are the databases' own statistics; growth is that of the last week's
days, measured once an hour: the first figure exists ten minutes after the first start, and warns
after a day. The shares of the journal are estimated from a sample of 1,000 documents. \"At most\":
the runs behind today's lineage stay under any HEADWATER_KEEP, all runs of an append-only table
among them; headwater prune counts exactly, and removes nothing without --yes.

  headwater storage
  headwater storage --json | jq .full.disk.days"""


def storage(call: Call) -> int:
    """Print the use of disk space and memory."""
    report = call.ask("GET", "/storage")
    if call.options.json:
        call.out.write(json.dumps(report, indent=2) + "\n")
        return 0
    for line in describe_storage(report):
        call.say(line)
    return 0


def describe_storage(report: Mapping[str, Any]) -> Iterator[str]:
    """The answer in lines."""
    growth = report["growth"]
    yield from _describe_stored(report)
    if growth["bytes"] is None:
        since = report["measuredSince"]
        period = "" if since is None else f", since {since}"
        yield f"growth is known after ten minutes of measurements{period}"
    else:
        more = "" if growth["elements"] is None else f", {growth['elements']:,.0f} elements"
        yield f"a day: {growth['documents']:,.0f} documents, {_bytes(growth['bytes'])}{more}"
    for name, part in sorted(report["full"].items()):
        if part["days"] is not None:
            yield describe_full(name, part["days"])
    for field, shares in report["by"].items():
        named = [share for share in shares if share["name"]][:_SHOWN]
        listed = ", ".join(f"{share['name']} {share['share']:.0%}" for share in named)
        yield f"journal by {field}: {listed or 'nothing yet'}"
    for setting, size in report["saved"].items():
        if size:
            yield f"{setting} would give back at most {_bytes(size)}"
    if any(report["saved"].values()):
        yield report["savedNote"]
    if report["keep"] is not None:
        yield f"in force: HEADWATER_KEEP={report['keep']}"
    runs = report["runs"]
    yield f"runs in the graph ({runs['setting']}) take about {_elements(runs)}"
    for setting, saving in runs["saved"].items():
        if saving["elements"]:
            yield f"{setting} would save about {_elements(saving)}"
    if report["tooEarly"] is not None:
        yield report["tooEarly"]
    if report["warning"]:
        yield f"warning: {report['warning']}"


def _describe_stored(report: Mapping[str, Any]) -> Iterator[str]:
    stored = report["stored"]
    yield f"{_bytes(stored['journal']):>12}  journal ({report['documents']:,} documents came)"
    yield f"{_bytes(stored['catalogue']):>12}  catalogue"
    if stored["log"]:
        yield f"{_bytes(stored['log']):>12}  write-ahead logs"
    if stored["elements"] is not None:
        heap = "" if stored["heap"] is None else f" ({_bytes(stored['heap'])} of its heap)"
        yield f"{stored['elements']:>12,}  vertices and edges in the engine{heap}"


def _elements(estimate: Mapping[str, Any]) -> str:
    heap = (
        "" if estimate["bytes"] is None else f", {_bytes(estimate['bytes'])} of the engine's heap"
    )
    return f"{estimate['elements']:,} vertices and edges{heap}"


def _bytes(size: float) -> str:
    """``1_230_000 => 1.2 MB``."""
    for unit, least in (("GB", 1e9), ("MB", 1e6)):
        if size >= least:
            return f"{size / least:,.1f} {unit}"
    return f"{size / 1e3:,.1f} kB"


def add_storage(commands: Any) -> None:
    added = add_command(
        commands, "storage", storage, "disk and memory use, and the dates when they are full", _TEXT
    )
    added.add_argument("--json", action="store_true", help="the whole answer as JSON")
    add_url(added)


# The file of a backup: the whole journal and the API keys.
#
# The file is gzip around the lines of ``graph_model.stores.journal.archive``, the same from SQLite
# and from PostgreSQL, so a backup also moves a journal from one to the other. It appears under its
# name only when it is complete and on disk: a backup that fails leaves the one before as it was.

_LEVEL: Final = 6
_RESERVE_ALONE: Final = (
    "the disk has only the reserve of the data folder left (HEADWATER_DISK_RESERVE): make the "
    "backup on another disk"
)
_PRIVATE: Final = 0o600  # plans disclose the computations of a company


def write_backup(
    database: Database, file: Path, clock: Callable[[], int], progress: Progress
) -> Contents:
    """Write a backup, read it again, and give it its name; returns its content.

    Works while a service runs. Raises HeadwaterError if it cannot be written.
    """
    from graph_model.stores.journal.archive import examine

    _prepare(database)
    partial = file.with_name(f"{file.name}.partial")
    try:
        _write(database, partial, clock(), progress)
        contents = examine(read_lines(partial))
        partial.replace(file)
        make_durable(file.parent)
    except OSError as error:
        raise HeadwaterError(f"{error.filename or file}: {error.strerror or error}") from error
    finally:
        partial.unlink(missing_ok=True)
    return contents


def _prepare(database: Database) -> None:
    """Tables of another version are refused, those that are missing made."""
    from graph_model.stores.journal import Journal
    from graph_model.stores.keys import SqlKeys

    Journal(database)
    SqlKeys(database)


def _write(database: Database, partial: Path, created_at: int, progress: Progress) -> None:
    from graph_model.stores.journal.archive import dump

    partial.unlink(missing_ok=True)
    reserve = _reserve_on(partial.parent, database)
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE)
    with open(descriptor, "wb") as raw:
        with gzip.GzipFile("", "wb", _LEVEL, raw, mtime=created_at // 1000) as packed:
            for line in dump(database, created_at, progress):
                if reserve is not None and reserve.is_reached:
                    raise HeadwaterError(f"{partial.parent}: {_RESERVE_ALONE}")
                packed.write(line)
        raw.flush()
        os.fsync(raw.fileno())


def _reserve_on(folder: Path, database: Database) -> DiskReserve | None:
    """The reserve of the database's disk if the folder is on that disk, too."""
    from graph_model.stores.database import reserve_of

    reserve, place = reserve_of(database), database.url.database
    if reserve is None or not place:
        return None
    return reserve if folder.stat().st_dev == Path(place).stat().st_dev else None


def read_backup(
    database: Database,
    file: Path,
    settings: Mapping[str, str],
    *,
    replace: bool,
    progress: Progress,
) -> Contents:
    """Put a backup into the journal, all of it or nothing; see ``archive.load``."""
    from graph_model.stores.journal.archive import load

    _prepare(database)
    return load(database, lambda: read_lines(file), settings, replace=replace, progress=progress)


def read_lines(file: Path) -> Iterator[bytes]:
    """The lines of a backup. Raises InvalidInput for a file that is cut off or no backup."""
    try:
        with gzip.open(file, "rb") as packed:
            yield from packed
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InvalidInput(f"{file} is no whole backup: {error}") from error


# --------------------------------------------------------------------------------------------------


def backup(call: Call) -> int:
    """Write the whole journal to a file."""
    from api.serving.storage import opened_storage
    from graph_model.values import now

    with opened_storage(call.settings()) as database:
        contents = write_backup(
            database, Path(call.options.file), now, report_progress(call, "documents")
        )
    call.say(f"{_counted(contents)}: {call.options.file}")
    _say_damaged(call, contents)
    return 1 if contents.damaged else 0


def restore(call: Call) -> int:
    """Put a backup into the journal."""
    from api.serving.storage import hold_alone, opened_storage
    from graph_model.projection.projector import EPOCH_KEY
    from graph_model.stores.journal.journal import ID_KEY

    settings = call.settings()
    # An unknown epoch, another journal: all is built anew.
    anew = {EPOCH_KEY: "", ID_KEY: uuid.uuid4().hex}
    with opened_storage(settings, make=True) as database, hold_alone(settings, database):
        contents = read_backup(
            database,
            Path(call.options.file),
            anew,
            replace=call.options.replace,
            progress=report_progress(call, "documents"),
        )
    call.say(f"{_counted(contents)} restored")
    _say_damaged(call, contents)
    call.say("the next headwater serve builds graph and catalogue from them")
    return 0


def _counted(contents: Contents) -> str:
    counted = f"{contents.documents:,} documents, {contents.receipts:,} receipts"
    return f"{counted}, {contents.keys:,} API keys" if contents.keys else counted


def _say_damaged(call: Call, contents: Contents) -> None:
    for sentence in contents.damaged:
        call.say(sentence)
    if contents.damaged:
        call.say(f"{len(contents.damaged):,} damaged: an older backup may hold them whole")


def add_backup(commands: Any) -> None:
    saved = add_command(
        commands,
        "backup",
        backup,
        "write the whole journal to a file",
        """\
One compressed file with every document, receipt and state, the same from SQLite and PostgreSQL.
Works while the server runs. The file gets its name when it is complete, on disk and read again.
A document whose stored body is damaged is named and left out, and the exit code is then 1: keep the
backup before, which may hold it.
Graph and catalogue are not in it: they are built from the journal. API keys are in it as they are
kept: hashes, roles, scopes and rates, no secrets.

  headwater backup /backup/headwater-2026-01-31.gz
  headwater backup moved.gz --data /srv/headwater""",
    )
    restored = add_command(
        commands,
        "restore",
        restore,
        "put a backup into the journal",
        """\
Everything is checked first; then all of it is restored or nothing. The server must not be running.
Documents in the journal are kept, and the backup is refused, unless --replace is given. API keys
are added to those that there are: a key that is known (and perhaps revoked) stays as it is.

  headwater restore /backup/headwater-2026-01-31.gz
  headwater restore moved.gz --database postgresql://me@db.example.org/headwater""",
    )
    restored.add_argument("--replace", action="store_true", help="empty the journal, then restore")
    for added in (saved, restored):
        added.add_argument("file", metavar="FILE")
        add_settings(added, "data", "database")


Ask = Callable[[str, str, Mapping[str, Any]], Mapping[str, Any]]
"""Method, path and JSON body -> the JSON answer of the server."""

_COMMANDS_ROUTE: Final = "/commands"
_DOCUMENTS_SHOWN: Final = 20
_SEARCH_SECONDS: Final = 1_800
"""How long the server may search for a command's documents: half a minute on an estate of a million
runs."""


def forget(call: Call) -> int:
    """Forget a job, a dataset or a document for good."""
    return _run(call, {"command": "forget", "node": call.options.node})


def prune(call: Call) -> int:
    """Take away executions that today's lineage does not rest on."""
    options = call.options
    if options.before is None and options.newest_runs is None:
        raise ConfigurationError("prune needs --before, --keep or both")
    given = {"before": options.before, "keep": options.newest_runs}
    wish = {name: value for name, value in given.items() if value is not None}
    call.say("looking for the executions that today's lineage does not rest on …")
    return _run(call, {"command": "prune", "dropBodies": options.drop_bodies, **wish})


def _run(call: Call, wish: dict[str, Any]) -> int:
    ask = partial(call.ask, seconds=_SEARCH_SECONDS)
    return give_command(ask, call.say, {**wish, "note": call.options.note}, agreed=call.options.yes)


def give_command(
    ask: Ask, say: Callable[[str], None], wish: Mapping[str, Any], *, agreed: bool
) -> int:
    """Print the documents of a command; give the command if it is ``agreed``; the exit code."""
    covered = ask("POST", _COMMANDS_ROUTE, {**wish, "dryRun": True})
    for line in describe(covered):
        say(line)
    if not (covered["documents"] or covered["executions"]):
        return 0
    if not agreed:
        say("nothing was done: --yes gives the command")
        return 0
    given = ask("POST", _COMMANDS_ROUTE, {**wish, "dryRun": False})
    positions = ", ".join(map(str, given["positions"]))
    done = "given" if "pending" in given else "done"
    say(f"{done}: document{'s' if len(given['positions']) > 1 else ''} {positions} of the journal")
    if "pending" in given:
        say(given["pending"])
    return 0


def describe(covered: Mapping[str, Any]) -> list[str]:
    """The coverage of a command, in lines."""
    if covered["command"] == "forget":
        return [
            f"{covered['documents']:,} documents of {covered['planIds']:,} plans are forgotten: "
            "they go from every answer and from the journal, for good"
        ]
    cutoffs = covered["cutoffs"]
    lines = [
        f"  {cutoff['executions']:>8,} executions before {cutoff['before']} of {cutoff['job']} "
        f"-> {cutoff['dataset']}"
        for cutoff in cutoffs[:_DOCUMENTS_SHOWN]
    ]
    if len(cutoffs) > _DOCUMENTS_SHOWN:
        lines.append(f"  and {len(cutoffs) - _DOCUMENTS_SHOWN:,} more")
    return [*lines, f"{covered['executions']:,} executions are pruned; today's lineage stays"]


def add_forget(commands: Any) -> None:
    added = add_command(
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
    _add_agreement(added)


def add_prune(commands: Any) -> None:
    added = add_command(
        commands,
        "prune",
        prune,
        "remove old executions",
        """\
Removes executions older than --before, or than the --keep newest runs of their job, and all facts
that only these executions support. With both options an execution is removed only if neither keeps
it. An application of Spark is one run, however many tables it writes; of a stream stay the newest
1,000 executions for each run that --keep asks for.
The executions behind today's lineage stay: the last full overwrite of every dataset, later writes
of it, and everything that those executions read. Without --yes the command only lists its effect.
--drop-bodies removes the documents from the journal as well.

  headwater prune --before 2026-01-01
  headwater prune --keep 100 --drop-bodies --yes""",
    )
    added.add_argument("--before", metavar="TIME", help="epoch milliseconds or ISO 8601")
    added.add_argument(
        "--keep",
        dest="newest_runs",  # ``keep`` would be read as the setting HEADWATER_KEEP
        type=int,
        metavar="N",
        help="the newest runs of each job stay",
    )
    added.add_argument(
        "--drop-bodies", action="store_true", help="the journal drops their documents as well"
    )
    _add_agreement(added)


def _add_agreement(added: argparse.ArgumentParser) -> None:
    added.add_argument(
        "--yes", action="store_true", help="do it; without it only the effect is listed"
    )
    added.add_argument("--note", default="", help="why, for the record")
    add_url(added)
