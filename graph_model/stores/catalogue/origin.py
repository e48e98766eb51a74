"""Proof of the journal that a catalogue was made from, and of its position there.

    round n   catalogue: rows, Origin(journal, n, position)     one transaction
              journal:   states, round n                        the next one

A crash between the two leaves the catalogue one round ahead, and the projector repeats the round.
Any other difference means a file that was lost, restored or replaced by hand: the projector makes
the catalogue anew from the journal.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model.stores.catalogue.tables import origins
from graph_model.stores.protocols import Origin


def read_origin(connection: Connection) -> Origin | None:
    """None for a catalogue that was never stamped, or was emptied."""
    row = connection.execute(sa.select(origins)).first()
    return None if row is None else Origin(*row)


def stamp(connection: Connection, origin: Origin) -> None:
    """Note the origin of the rows of this transaction; the position never goes back."""
    known = read_origin(connection)
    values = {"journal": origin.journal, "round": origin.round, "position": origin.position}
    if known is None:
        connection.execute(origins.insert(), values)
        return
    if known.journal == origin.journal:
        values["position"] = max(known.position, origin.position)
    connection.execute(origins.update().values(values))


def mismatch_with(found: Origin | None, journal: str, concluded: int, newest: int) -> str | None:
    """The reason for which a catalogue does not match this journal as it is now; None if it does.

    ``concluded`` is the last round of the journal, ``newest`` the position of its newest document.
    """
    if found is None:
        return "it was missing or empty"
    if found.journal != journal:
        return f"it was made from another journal ({found.journal[:8]}, this one is {journal[:8]})"
    if found.round < concluded:
        return f"it is older than the journal: round {found.round:,} of {concluded:,}"
    if found.round > concluded + 1 or found.position > newest:
        return (
            f"it is newer than the journal: round {found.round:,} and document {found.position:,},"
            f" the journal has {concluded:,} and {newest:,}"
        )
    return None
