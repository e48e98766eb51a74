"""``headwater backup`` and ``restore``."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from api.console.call import Call, add_command, add_settings, report_progress

if TYPE_CHECKING:
    from graph_model.stores.journal.archive import Contents


def backup(call: Call) -> int:
    """Write the whole journal to a file."""
    from api.console.backup_file import write_backup
    from api.serving.storage import opened_storage
    from graph_model.instants import now

    with opened_storage(call.settings()) as database:
        contents = write_backup(
            database, Path(call.options.file), now, report_progress(call, "documents")
        )
    call.say(f"{_counted(contents)}: {call.options.file}")
    _say_damaged(call, contents)
    return 1 if contents.damaged else 0


def restore(call: Call) -> int:
    """Put a backup into the journal."""
    from api.console.backup_file import read_backup
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
