"""The databases of journal and catalogue, from the settings, and the locks on them.

HEADWATER_DATABASE empty    a SQLite file in the data folder; one Headwater a folder
HEADWATER_DATABASE=postg…   a PostgreSQL database, which several Headwaters may share as long
                            as they share a graph, too
HEADWATER_BODIES=s3://…     large bodies of the journal in a bucket, with either of them
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from api.settings import Settings
from graph_model.errors import ConfigurationError

if TYPE_CHECKING:
    from graph_model.stores.database import Claim, Database

DATABASE_FILE: Final = "headwater.db"
LOCK_FILE: Final = "headwater.lock"


def open_storage(settings: Settings, *, make: bool = False) -> Database:
    """The database of the settings. Raises ConfigurationError where there is none to open.

    ``make``: a SQLite file that is not there yet is made.
    """
    database = _open_server(settings) if settings.database else _open_file(settings, make=make)
    if settings.bodies:
        _keep_large_bodies(settings, database)
    return database


@contextmanager
def opened_storage(settings: Settings, *, make: bool = False) -> Iterator[Database]:
    """``open_storage`` for the length of a block."""
    database = open_storage(settings, make=make)
    try:
        yield database
    finally:
        database.dispose()


def _open_server(settings: Settings) -> Database:
    from graph_model.stores.database import open_database, verified_server

    if settings.database_iam and settings.database_secret:
        raise ConfigurationError(
            "HEADWATER_DATABASE_IAM and HEADWATER_DATABASE_SECRET: expected one of them"
        )
    if settings.database_iam:
        from graph_model.stores.aws import sign_in_by_token  # boto3: 0.2 s

        url, server = verified_server(settings.database)
        return open_database(url, sign_in_by_token(*server))
    if settings.database_secret:
        from graph_model.stores.aws import sign_in_by_secret

        return open_database(settings.database, sign_in_by_secret(settings.database_secret))
    return open_database(settings.database)


def _keep_large_bodies(settings: Settings, database: Database) -> None:
    from graph_model.stores.aws import LargeBodies, open_bodies
    from graph_model.stores.journal.stored_bodies import keep_large

    store = open_bodies(settings.bodies, settings.bodies_key)
    keep_large(database, LargeBodies(store, settings.bodies_above))


def _open_file(settings: Settings, *, make: bool) -> Database:
    # SQLAlchemy: 0.2 s that --help saves
    from graph_model.stores.database import DiskReserve, keep_reserve, open_database

    place = settings.data / DATABASE_FILE
    if not make and not place.is_file():
        raise ConfigurationError(
            f"there is no journal in {place.parent}: name its folder with --data, or start "
            "headwater serve once"
        )
    _refuse_emptied(place)
    database = open_database(place)
    if settings.disk_reserve_bytes:
        free = partial(free_bytes, place.parent)
        keep_reserve(database, DiskReserve(settings.disk_reserve_bytes, free))
    return database


def free_bytes(folder: Path) -> int:
    """The bytes that this process may still write to the disk of a folder. Raises OSError."""
    return shutil.disk_usage(folder).free


def _refuse_emptied(journal: Path) -> None:
    """A file of no bytes is a new database to SQLite. Beside a catalogue it was a journal."""
    if not journal.is_file() or journal.stat().st_size:
        return
    if any(journal.parent.glob("catalogue-*.db")):
        raise ConfigurationError(
            f"{journal} is empty, but beside it is a catalogue that was made from a journal:"
            " restore the newest backup into another data folder (headwater restore FILE --data"
            " FOLDER), or remove the empty file and start headwater serve --new-journal"
        )


@contextmanager
def claim(data: Path, file: str = LOCK_FILE) -> Iterator[None]:
    """Create the data folder and hold it by this file: one running Headwater a folder, and one
    process that sends documents on.

    Raises ConfigurationError when it cannot be written or another process holds it.
    """
    try:
        data.mkdir(parents=True, exist_ok=True)
        lock = (data / file).open("a+", encoding="utf-8")
    except OSError as error:
        raise _unwritable(data, error) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.seek(0)
            holder = lock.read().strip() or "unknown"
            raise ConfigurationError(
                f"the data folder {data} is in use by another Headwater (process {holder}): "
                "stop it, or choose another with DATA= (--data)"
            ) from error
        try:  # past the buffer, which would be written again at the end
            lock.truncate(0)
            os.write(lock.fileno(), f"{os.getpid()}\n".encode())
        except OSError as error:
            raise _unwritable(data, error) from error
        yield


def _unwritable(data: Path, error: OSError) -> ConfigurationError:
    free = "free space on its disk, or " if error.errno == errno.ENOSPC else ""
    return ConfigurationError(
        f"the data folder {data} cannot be written ({error.strerror}): "
        f"{free}choose another with DATA= (--data)"
    )


def is_held(data: Path) -> bool:
    """Whether a process holds the data folder."""
    try:
        with (data / LOCK_FILE).open(encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


@contextmanager
def hold_for_service(database: Database, *, own_graph: bool) -> Iterator[Claim]:
    """Hold a shared database while a service runs; a data folder is held by ``claim``.

    A Headwater with an engine of its own must be alone on its database: no other one would see its
    projections, and it would miss theirs. Raises ConfigurationError when it is not.
    """
    from graph_model.stores.database import claim_database

    with claim_database(database, shared=not own_graph) as held:
        if not held:
            raise ConfigurationError(
                "another Headwater works on this database: several of them need one graph that "
                "they share, so start each with HEADWATER_GREMLIN_URL (--gremlin-url)"
            )
        yield held


@contextmanager
def hold_alone(settings: Settings, database: Database) -> Iterator[None]:
    """Hold journal and catalogue with no service beside. Raises ConfigurationError otherwise."""
    from graph_model.stores.database import claim_database

    if not settings.database:
        with claim(settings.data):
            yield
        return
    with claim_database(database, shared=False) as held:
        if not held:
            raise ConfigurationError("a running Headwater uses this database: stop it first")
        yield
