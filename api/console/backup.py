"""``headwater backup`` and ``restore``."""

from __future__ import annotations

import gzip
import os
import uuid
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from api.console.call import Call, add_command, add_settings, report_progress
from graph_model.errors import HeadwaterError, InvalidInput
from graph_model.stores.durability import make_durable

if TYPE_CHECKING:
    from graph_model.stores.database import Database, DiskReserve
    from graph_model.stores.journal.archive import Contents, Progress


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
