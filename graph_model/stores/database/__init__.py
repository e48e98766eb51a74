"""The relational database under the journal and the catalogue: one engine, opened here.

SQLite in one file (WAL, every commit an fsync) on a laptop or a single node; PostgreSQL is another
URL. Only this package knows the differences between the two: the setup of a connection, the start
of a transaction, inserts that skip known rows, locks between processes, errors that pass by
themselves.

    engine = open_database("data/headwater.db")
    prepare(engine, "journal", 1, metadata)
    with read(engine, JournalUnavailable) as connection: ...
    write(engine, work, JournalUnavailable)         # work(connection) may run more than once

Errors of the drivers stop here; only a broken constraint or a refused statement, which would be a
bug of ours, passes through.

In reading order:

``opening``       an engine for a database file or a URL; versions of tables; temporary databases
``transactions``  one state to read, writes that take turns, many requests in one; locks
``statements``    types of columns, statements and errors that mean the same on both engines
``upkeep``        the reserve of the disk, sizes, checks and the space of deleted rows
"""

from graph_model.stores.database.opening import (
    Credentials,
    Database,
    KeptContents,
    NotedIds,
    engine_for_schema,
    open_database,
    prepare,
    shown,
    verified_server,
)
from graph_model.stores.database.statements import (
    POSTGRESQL,
    JsonCell,
    JsonRows,
    PackedId,
    StoredId,
    StoredText,
    after_keys,
    chunks,
    count_from,
    count_rows,
    in_list,
    insert_new,
    insert_rows,
    is_busy,
    none_of,
    noted_damage,
    rows_of,
    serial,
    tells_damage,
)
from graph_model.stores.database.transactions import (
    Claim,
    GroupCommit,
    Lease,
    Lock,
    alone,
    claim_database,
    is_in_memory,
    keep_order,
    read,
    write,
)
from graph_model.stores.database.upkeep import (
    STEP_PAGES,
    DiskReserve,
    damage,
    database_bytes,
    is_short,
    keep_reserve,
    reserve_of,
    tidy,
    used_bytes,
)

__all__ = [
    "POSTGRESQL",
    "STEP_PAGES",
    "Claim",
    "Credentials",
    "Database",
    "DiskReserve",
    "GroupCommit",
    "JsonCell",
    "JsonRows",
    "KeptContents",
    "Lease",
    "Lock",
    "NotedIds",
    "PackedId",
    "StoredId",
    "StoredText",
    "after_keys",
    "alone",
    "chunks",
    "claim_database",
    "count_from",
    "count_rows",
    "damage",
    "database_bytes",
    "engine_for_schema",
    "in_list",
    "insert_new",
    "insert_rows",
    "is_busy",
    "is_in_memory",
    "is_short",
    "keep_order",
    "keep_reserve",
    "none_of",
    "noted_damage",
    "open_database",
    "prepare",
    "read",
    "reserve_of",
    "rows_of",
    "serial",
    "shown",
    "tells_damage",
    "tidy",
    "used_bytes",
    "verified_server",
    "write",
]
