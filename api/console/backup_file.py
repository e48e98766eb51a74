"""The file of a backup: the whole journal and the API keys.

The file is gzip around the lines of ``graph_model.stores.journal.archive``, the same from SQLite
and from PostgreSQL, so a backup also moves a journal from one to the other. It appears under its
name only when it is complete and on disk: a backup that fails leaves the one before as it was.
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from graph_model.errors import HeadwaterError, InvalidInput
from graph_model.stores.database import DiskReserve, reserve_of
from graph_model.stores.durability import make_durable
from graph_model.stores.journal import Journal
from graph_model.stores.journal.archive import Contents, Progress, dump, examine, load
from graph_model.stores.keys import SqlKeys

if TYPE_CHECKING:
    from graph_model.stores.database import Database

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
    Journal(database)
    SqlKeys(database)


def _write(database: Database, partial: Path, created_at: int, progress: Progress) -> None:
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
    _prepare(database)
    return load(database, lambda: read_lines(file), settings, replace=replace, progress=progress)


def read_lines(file: Path) -> Iterator[bytes]:
    """The lines of a backup. Raises InvalidInput for a file that is cut off or no backup."""
    try:
        with gzip.open(file, "rb") as packed:
            yield from packed
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InvalidInput(f"{file} is no whole backup: {error}") from error
