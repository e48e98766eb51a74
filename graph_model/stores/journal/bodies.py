"""Bodies from the database: each verified by its hash; a damaged one does not stop the others.

    [3, 4, 5] => {3: Body(b"{…}"), 4: Body(b"", "cannot be inflated: …"), 5: Body(b"{…}")}

A body may be damaged (a changed byte), be gone, or lie on a page that SQLite cannot read. It comes
with that reason, and the caller decides on it. A large one may lie outside of the database
(``large_bodies``).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import sqlalchemy as sa
from sqlalchemy import exc
from sqlalchemy.engine import Connection

from graph_model.stores.database import chunks, in_list, tells_damage
from graph_model.stores.journal.content import read_body
from graph_model.stores.journal.large_bodies import fetch
from graph_model.stores.journal.tables import bodies, documents
from graph_model.stores.protocols import Body

# An outer join: of a body that is gone its document must tell. Made once: to put it together anew
# takes longer than the database does.
_PACKED: Final = (
    sa.select(
        documents.c.position,
        documents.c.content_hash,
        documents.c.kind,
        bodies.c.api_version,
        bodies.c.packed,
    )
    .outerjoin_from(documents, bodies, documents.c.content_hash == bodies.c.content_hash)
    .where(in_list(documents.c.position, "positions"))
)


def read_bodies(connection: Connection, positions: Collection[int]) -> dict[int, Body]:
    """The bodies of the documents known among these."""
    found: dict[int, Body] = {}
    for chunk in chunks(sorted(set(positions))):
        try:
            found |= _read(connection, chunk)
        except exc.DBAPIError as error:
            if connection.dialect.name != "sqlite" or not tells_damage(error):
                raise  # elsewhere an error ends the transaction
            for position in chunk:
                found |= _read_alone(connection, position)
    return found


def _read_alone(connection: Connection, position: int) -> dict[int, Body]:
    try:
        return _read(connection, [position])
    except exc.DBAPIError as error:
        if not tells_damage(error):
            raise
        return {position: Body(b"", "lies on a damaged page of the database")}


def _read(connection: Connection, positions: Sequence[int]) -> dict[int, Body]:
    return {
        row.position: read_body(
            fetch(connection, row.content_hash, row.packed),
            row.kind,
            row.api_version,
            row.content_hash,
        )
        for row in connection.execute(_PACKED, {"positions": positions})
    }
